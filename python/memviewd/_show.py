# SPDX-License-Identifier: Apache-2.0
"""The page of a folder, in a notebook or as an address."""

import html
import importlib.util
import os
import sys
import urllib.parse
import webbrowser
from typing import Any, Dict, Optional

from . import _binary, _daemon, _session

HEIGHT = 800
PICTURE_MAX_BYTES = 8 << 20  # of a picture in a notebook's file
COLAB = "https://colab.research.google.com"


# ---- where we are -----------------------------------------------------------------------


def _shell():
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def is_notebook():
    """Is what we return shown by a browser? Not so in a terminal with IPython."""
    return getattr(_shell(), "kernel", None) is not None


def is_colab():
    return "google.colab" in sys.modules


def _jupyter():
    """What the Jupyter server around this kernel says of itself: {"url", "base_url"}; {} where none is known."""
    try:
        from jupyter_server.serverapp import list_running_servers

        servers = list(list_running_servers())
    except Exception:  # not installed, or one that keeps its list elsewhere
        return {}
    parent = os.environ.get("JPY_PARENT_PID")
    mine = [each for each in servers if str(each.get("pid")) == parent]
    return mine[0] if mine else servers[0] if len(servers) == 1 else {}


def _has_proxy():
    return importlib.util.find_spec("jupyter_server_proxy") is not None


def _base_url():
    return os.environ.get("JUPYTERHUB_SERVICE_PREFIX") or _jupyter().get("base_url") or "/"


def _ancestors():
    """Origins of the pages that may show ours in a frame."""
    if is_colab():
        return [COLAB]
    host = urllib.parse.urlsplit(_jupyter().get("url") or "")
    if not host.hostname:
        return []
    names = ["localhost", "127.0.0.1"] if host.hostname in ("localhost", "127.0.0.1", "::1") else [host.hostname]
    port = ":{}".format(host.port) if host.port else ""
    return ["{}://{}{}".format(host.scheme, name, port) for name in names]


def frame_options():
    """Options of a daemon whose page a notebook may show; without such an option the page is a link."""
    ancestors = _ancestors() if is_notebook() and _binary.has_option("frame-ancestors") else []
    return tuple("--frame-ancestors=" + origin for origin in ancestors)


# ---- a picture ---------------------------------------------------------------------------


def picture_of(path, height=HEIGHT):
    """A frame that holds the whole page `memviewd export` makes of programs in `path`. It asks nobody: it is there on a
    hub, and in a saved notebook. "" if there is no program, or the page would be too large for a notebook."""
    done = _binary.run("export", "--format=html", path)
    if done.returncode != 0 or not 0 < len(done.stdout) <= PICTURE_MAX_BYTES:
        return ""
    page = html.escape(done.stdout.decode("utf-8", "replace"))
    return '<iframe srcdoc="{}" sandbox="allow-scripts" width="100%" height="{}" style="border:0"></iframe>'.format(
        page, int(height)
    )


# ---- a page ------------------------------------------------------------------------------


class Page:
    """url: its address on this machine. A notebook shows a picture of its programs, which stays in the saved notebook,
    else the page; open() shows the page in the browser."""

    url: str
    session: Optional[Dict[str, Any]]
    height: int

    def __init__(
        self,
        daemon: Any,
        session: Optional[Dict[str, Any]] = None,
        height: int = HEIGHT,
        path: Optional[str] = None,
        **more: Any,
    ) -> None:
        self.daemon, self.session, self.height = daemon, session, height
        self._of = path
        self.url = daemon.page(session, **more)
        self._is_framed = bool(frame_options())

    def open(self) -> bool:
        """Opens this machine's browser; returns False if there is none."""
        return webbrowser.open(self.url)

    def _path(self):
        return self.url[len(self.daemon.url) :]

    @property
    def shown_url(self) -> str:
        """The address for the browser that shows the notebook: through the proxy of its server where there is one."""
        if is_notebook() and _has_proxy():
            return "{}proxy/{}/{}".format(_base_url(), self.daemon.port, self._path())
        return self.url

    def _repr_html_(self) -> str:
        link = html.escape(self.shown_url)
        frame = picture_of(self._of, self.height) if self._of else ""
        if not frame and self._is_framed:
            frame = (
                '<iframe src="{}" width="100%" height="{}" style="border:0" allow="clipboard-write"></iframe>'.format(
                    link, int(self.height)
                )
            )
        return '{}<p>memviewd: <a href="{}" target="_blank" rel="noopener">{}</a></p>'.format(frame, link, link)

    def __repr__(self) -> str:
        return "memviewd: {}".format(self.url)

    def _ipython_display_(self) -> None:
        if is_colab():
            _show_in_colab(self)
        elif is_notebook():
            from IPython.display import HTML, display

            display(HTML(self._repr_html_()))
        else:
            print(repr(self))


def _show_in_colab(page):
    from google.colab import output

    path = "/" + page._path()
    if page._is_framed:
        output.serve_kernel_port_as_iframe(page.daemon.port, path=path, height=page.height)
    else:
        output.serve_kernel_port_as_window(page.daemon.port, path=path)


# ---- what is shown -----------------------------------------------------------------------


def _root_of(path):
    """A run is shown beside the other runs; another folder or a file by itself."""
    is_run = os.path.exists(os.path.join(path, _session.LOCK_NAME))
    return os.path.dirname(path) if is_run else path


def daemon_for(root):
    """In a notebook one of our own, which may be framed; else one that serves this folder already."""
    options = frame_options()
    if options:
        return _daemon.serve(root, options)
    return _daemon.ours(root) or _daemon.running(root) or _daemon.serve(root)


def page_of(
    path: _session.Path, root: Optional[str] = None, height: int = HEIGHT, kind: Optional[str] = None, **more: Any
) -> Page:
    """The page of a folder or file; `root`: what is served, path itself or a folder above it; `kind` and `more` as for
    the daemon's session_in() and page(). Raises FileNotFoundError, and NotFound, RuntimeError or OSError when the
    daemon cannot be had."""
    path = os.path.realpath(os.fspath(path))
    if not os.path.exists(path):
        raise FileNotFoundError("{} is neither a file nor a folder".format(path))
    root = os.path.realpath(root) if root else _root_of(path)
    daemon = daemon_for(root)
    session = daemon.session_in(path, kind) if path != root else None
    is_one = session is not None or len(daemon.get("sessions")["sessions"]) == 1
    is_of_programs = kind is None and not more and is_one
    return Page(daemon, session, height, path if is_of_programs else None, **more)


def _page_of_id(session, logdir, height):
    daemon = daemon_for(_session.default_all(logdir))
    for each in daemon.get("sessions", filter=session)["sessions"] + daemon.get("sessions")["sessions"]:
        if session in (each["id"], each["name"]):
            return Page(daemon, each, height)
    raise FileNotFoundError("{!r} is neither a path nor a session of {}".format(session, daemon.root))


def show(session_or_path: Any = None, logdir: Optional[_session.Path] = None, height: int = HEIGHT) -> Page:
    """Shows the page of a folder, a file, a session of `logdir` (its id or name), or what explain() or watch()
    returned; without an argument, of `logdir` (./memviewd-runs). Uses a daemon that serves it already, else starts one
    on a free port, which ends with this program. A notebook shows the page; otherwise its address is printed.

    Returns a Page, which IPython shows. Raises FileNotFoundError if the path does not exist, NotFound without the
    memviewd program, RuntimeError or OSError if the daemon does not start.
    """
    what = getattr(session_or_path, "page", session_or_path)
    if callable(what):
        page = what(height)
    elif what is None:
        page = page_of(_session.default_all(logdir), height=height)
    elif os.path.exists(what):
        page = page_of(what, height=height)
    else:
        page = _page_of_id(os.fspath(what), logdir, height)
    if _shell() is None:  # else IPython shows what it gets
        print(repr(page))
    return page
