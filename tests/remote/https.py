# SPDX-License-Identifier: Apache-2.0
"""https and folders of web servers, by nginx."""

import os
import shutil

import harness
import same
import servers


def server(t):
    def make():
        work = harness.tempfile.mkdtemp(prefix="memviewd-nginx-")
        files = os.path.join(work, "files")
        shutil.copytree(harness.FIXTURES, files)
        shutil.copy(
            os.path.join(files, "hlo", "jit_step(22).hlo_proto.pb"),
            os.path.join(files, "hlo", "a b&c;d'é%.hlo_proto.pb"),
        )
        return servers.Nginx(files, work)

    return t.of_all("nginx", make)


def test_a_folder_is_what_its_page_lists(t):
    nginx = server(t)
    folder = os.path.join(nginx.work, "files")
    for place in (nginx.url + "/", nginx.url + "/json/"):
        same.equal_lines(same.rows(t, place, {"CURL_CA_BUNDLE": nginx.ca}), same.rows(t, folder, {}), place)


def test_one_file(t):
    nginx = server(t)
    mine = t.command("whose", "--json", os.path.join(nginx.work, "files", "hlo", "a b&c;d'é%.hlo_proto.pb"))
    other = t.command(
        "whose", "--json", nginx.url + "/hlo/a%20b%26c%3Bd%27%C3%A9%25.hlo_proto.pb", CURL_CA_BUNDLE=nginx.ca
    )
    harness.equal(other.stdout, mine.stdout)
    assert "HTTP/2.0" in nginx.asked()


def test_certificates_are_checked(t):
    refused = t.command("summary", server(t).url + "/", status=2)
    assert "certificate" in refused.stderr.lower() or "peer" in refused.stderr.lower(), refused.stderr
    unreadable = t.command(
        "summary", server(t).url + "/", status=2, SSL_CERT_FILE="/nothing/here.pem", CURL_CA_BUNDLE=""
    )
    assert "no certificates to check the server by: /nothing/here.pem cannot be read" in unreadable.stderr, (
        unreadable.stderr
    )


def test_the_daemon_in_its_sandbox(t):
    nginx = server(t)
    disk = t.daemon(f"--logdir={os.path.join(nginx.work, 'files')}")
    remote = t.daemon(f"--logdir={nginx.url}/", CURL_CA_BUNDLE=nginx.ca)
    harness.wait_until(
        lambda: sorted(same.api_paths(remote)) == sorted(same.api_paths(disk)), 120, "the same sessions and modules"
    )
    assert "connects to https://localhost" in remote.log()


def test_both_versions_of_tls(t):
    nginx = server(t)
    path = "hlo/jit_step(22).hlo_proto.pb"
    expected = t.command("whose", "--json", os.path.join(nginx.work, "files", path)).stdout
    for version, port in nginx.only.items():
        harness.equal(
            t.command(
                "whose", "--json", f"https://localhost:{port}/{path}", SSL_CERT_FILE=nginx.ca, CURL_CA_BUNDLE=""
            ).stdout,
            expected,
            version,
        )
