# SPDX-License-Identifier: Apache-2.0
"""show(): the daemon behind it, the page in scripts and notebooks. %memviewd."""

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
import types
import urllib.request
from unittest import mock

import memviewd
from memviewd import _binary, _daemon, _magic, _oom, _session, _show
from python_box import COMPILE_TEXT, FIXTURES, Case, until

DUMP = os.path.realpath(os.path.join(FIXTURES, "dumps", "d-tile-padding"))


class ShowCase(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(_daemon.stop_all)
        self.printed = io.StringIO()
        stack = contextlib.ExitStack()
        stack.enter_context(contextlib.redirect_stdout(self.printed))
        self.addCleanup(stack.close)
        # whatever else runs on this machine
        self.addCleanup(mock.patch.stopall)
        mock.patch.object(_daemon, "running", lambda root: None).start()

    def run_folder(self, name="run-2026-01-09-101500-4711"):
        path = os.path.join(self.logdir, name)
        os.makedirs(path)
        for file in ("run.lock", "output.log"):
            with open(os.path.join(path, file), "w", encoding="utf-8") as out:
                out.write(COMPILE_TEXT if file == "output.log" else "")
        return path

    def notebook(self, url="http://localhost:8888/", base_url="/user/me/", has_option=True, has_proxy=False):
        mock.patch.object(_show, "_shell", lambda: types.SimpleNamespace(kernel=object())).start()
        mock.patch.object(_show, "_jupyter", lambda: {"url": url, "base_url": base_url}).start()
        mock.patch.object(_show, "_has_proxy", lambda: has_proxy).start()
        mock.patch.object(_binary, "has_option", lambda option: has_option and option == "frame-ancestors").start()


class Showing(ShowCase):
    def test_the_page_is_fetched(self):
        page = memviewd.show(DUMP)
        self.assertRegex(self.printed.getvalue(), r"^memviewd: http://127\.0\.0\.1:\d+/\n$")
        with urllib.request.urlopen(page.url, timeout=20) as answer:
            self.assertIn(b"<!DOCTYPE html>", answer.read())
        self.assertEqual(page.daemon.get("about")["roots"][0]["path"], DUMP)

    def test_a_run_is_shown_beside_the_others_and_the_daemon_is_the_same(self):
        first, second = self.run_folder("run-1"), self.run_folder("run-2")
        pages = [memviewd.show(path) for path in (first, second)]
        self.assertEqual([page.session["name"] for page in pages], ["run-1/output.log", "run-2/output.log"])
        self.assertEqual(pages[0].daemon.url, pages[1].daemon.url)
        by_id = memviewd.show(pages[0].session["id"], logdir=self.logdir)
        self.assertEqual(by_id.url, pages[0].url)
        self.assertEqual(memviewd.show("run-2/output.log", logdir=self.logdir).url, pages[1].url)
        with self.assertRaisesRegex(FileNotFoundError, "neither a path nor a session"):
            memviewd.show("run-3", logdir=self.logdir)

    def test_one_that_is_made_later_is_waited_for(self):
        self.run_folder("run-1")
        memviewd.show(logdir=self.logdir)
        self.assertEqual(memviewd.show(self.run_folder("run-2")).session["name"], "run-2/output.log")

    def test_a_file_and_nothing(self):
        path = os.path.join(DUMP, "error.txt")
        self.assertEqual(len(memviewd.show(path).daemon.get("sessions")["sessions"]), 1)
        self.assertRaises(FileNotFoundError, memviewd.show)

    def test_on_oom_tells_the_address_of_a_daemon_that_is_there(self):
        session = _session.open_new(self.logdir)
        session.write("output.log", COMPILE_TEXT)
        page = memviewd.show(session.path)
        self.assertEqual(_oom._address(session), page.url)
        session.close()

    def test_a_daemon_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(RuntimeError, "--no-such"):
            _daemon.serve(self.folder, ["--no-such"])

    def test_the_daemon_is_gone_when_we_are_killed(self):
        code = (
            "import sys; sys.path[:0] = {!r}\nfrom memviewd import _daemon\n"
            "print(_daemon.serve({!r}).url, flush=True)\nimport time; time.sleep(600)\n"
        ).format(sys.path[:2], self.folder)
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        daemon = _daemon.Daemon(process.stdout.readline().strip(), self.folder)
        self.assertTrue(daemon.serves(self.folder))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        until(lambda: not daemon.serves(self.folder), "it still answers")

    def test_a_daemon_that_died_is_started_again(self):
        first = _daemon.serve(self.folder)
        first.stop()
        second = _daemon.serve(self.folder)
        self.assertTrue(second.serves(self.folder))

    def test_what_else_listens_is_no_daemon(self):
        self.assertFalse(_daemon.Daemon("http://127.0.0.1:1/", self.folder).serves(self.folder))


class Pictures(ShowCase):
    """the page of `memviewd export`, whole, in what a notebook keeps"""

    def shown(self, path):
        self.notebook()
        return memviewd.show(path)._repr_html_()

    def test_of_a_dump(self):
        shown = self.shown(DUMP)
        self.assertRegex(shown, '^<iframe srcdoc="&lt;!(doctype|DOCTYPE) html')
        self.assertIn('sandbox="allow-scripts"', shown)
        self.assertIn('<a href="http://127.0.0.1:', shown)

    def test_without_a_program_or_of_one_that_is_too_large_it_is_the_page(self):
        self.assertNotIn("srcdoc", self.shown(self.run_folder()))
        mock.patch.object(_show, "PICTURE_MAX_BYTES", 1000).start()
        self.assertRegex(self.shown(DUMP), "^<iframe src=")


class Framing(ShowCase):
    def page(self):
        mock.patch.object(_show, "picture_of", lambda *_: "").start()
        # Whether the program knows the option or not: it is asked for, and not given to this one.
        with mock.patch.object(
            _daemon,
            "_start",
            lambda root, options, start=_daemon._start: (self.asked.append(options), start(root, ()))[1],
        ):
            self.asked = []
            return memviewd.show(DUMP)

    def test_beside_a_server_on_this_machine(self):
        self.notebook()
        shown = self.page()._repr_html_()
        self.assertEqual(
            self.asked, [("--frame-ancestors=http://localhost:8888", "--frame-ancestors=http://127.0.0.1:8888")]
        )
        self.assertRegex(shown, r'<iframe src="http://127\.0\.0\.1:\d+/" width="100%" height="800"')
        self.assertEqual(self.printed.getvalue(), "")

    def test_behind_its_proxy(self):
        self.notebook("https://hub.example.com/user/me/", has_proxy=True)
        page = self.page()
        self.assertEqual(self.asked, [("--frame-ancestors=https://hub.example.com",)])
        self.assertIn('<iframe src="/user/me/proxy/{}/"'.format(page.daemon.port), page._repr_html_())

    def test_without_the_option_or_without_a_known_server_it_is_a_link(self):
        for given in ({"has_option": False}, {"url": ""}):
            self.notebook(**given)
            shown = self.page()._repr_html_()
            self.assertEqual(self.asked if given.get("has_option", True) else [()], [()])
            self.assertNotIn("iframe", shown)
            self.assertIn('<a href="http://127.0.0.1:', shown)
            _daemon.stop_all()

    def test_in_colab(self):
        self.notebook()
        served = mock.Mock()
        self.put_module("google", types.ModuleType("google"))
        self.put_module("google.colab", types.SimpleNamespace(output=served))
        page = self.page()
        self.assertEqual(self.asked, [("--frame-ancestors=" + _show.COLAB,)])
        page._ipython_display_()
        served.serve_kernel_port_as_iframe.assert_called_once_with(page.daemon.port, path="/", height=800)
        mock.patch.object(_binary, "has_option", lambda option: False).start()
        self.page()._ipython_display_()
        self.assertEqual(served.serve_kernel_port_as_window.call_count, 1)


class Magic(ShowCase):
    def test_a_call_is_explained_and_not_made(self):
        calls = []
        with mock.patch("memviewd._explain.explain", lambda f, *args, **kwargs: (f, args, kwargs)):
            found = _magic.magic(
                "explain model.step({'a': x}, *more, rate=0.1)",
                {"model": types.SimpleNamespace(step=calls.append), "x": 1, "more": [2, 3]},
            )
        self.assertEqual(found, (calls.append, ({"a": 1}, 2, 3), {"rate": 0.1}))
        self.assertEqual(calls, [])
        with self.assertRaisesRegex(SyntaxError, "a call is needed"):
            _magic.magic("explain x + 1", {})

    def test_show_takes_a_path_or_a_variable(self):
        shutil.copytree(DUMP, "a dump")
        first = _magic.magic("show a dump", {})
        second = _magic.magic("show where", {"where": os.path.join(self.folder, "a dump")})
        self.assertEqual(first.url, second.url)

    def test_other_words_are_told_what_there_is(self):
        for line in ("", "explain", "what", "install now"):
            self.assertIsNone(_magic.magic(line, {}))
        self.assertEqual(self.printed.getvalue().count("%memviewd explain f(x"), 4)
