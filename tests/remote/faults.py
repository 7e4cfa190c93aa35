# SPDX-License-Identifier: Apache-2.0
"""What stands between is slow, cuts, refuses or lies: the answer is right, or a clear error."""

import os
import time

import harness
import servers

FILE = "modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz"
ADDRESS = "s3://profiles/lab a/" + FILE


def through(t, fault=None, change=None, delay_s=0):
    """a proxy before moto, and the environment that leads there"""
    proxy = servers.Proxy(t.s3().port, fault, delay_s, change)
    return proxy, t.keys(proxy.url)


def is_get(request):
    return request[0] == "GET" and "list-type" not in request[1]


def expect_same(t, environ, address=ADDRESS):
    expected = t.command("whose", "--json", os.path.join(harness.FIXTURES, FILE)).stdout
    harness.equal(t.command("whose", "--json", address, **environ).stdout, expected, "answer")


def test_what_a_server_is_too_busy_for_is_asked_again(t):
    def busy(handler, request, count):
        if count >= 2:
            return False
        handler.reply((503, 429)[count], {"Content-Type": "application/xml"}, b"<Error><Code>SlowDown</Code></Error>")
        return True

    proxy, environ = through(t, busy)
    expect_same(t, environ)
    assert max(proxy.counts.values()) == 3


def test_retry_after_is_kept(t):
    def later(handler, request, count):
        if count or not is_get(request):
            return False
        handler.reply(503, {"Retry-After": "2"})
        return True

    proxy, environ = through(t, later)
    began = time.monotonic()
    expect_same(t, environ)
    assert time.monotonic() - began >= 2


def test_what_is_cut_goes_on_where_it_ended(t):
    def cut(handler, request, count):
        if not is_get(request) or len(bodies) >= 3:
            return False
        first, last = (int(part) for part in request[2]["Range"][6:].split("-"))
        bodies.append(first)
        with open(os.path.join(harness.FIXTURES, FILE), "rb") as file:
            data = file.read()
        piece = data[first : min(last + 1, first + 3000)]
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        handler.send_header("Content-Length", str(last + 1 - first))
        handler.end_headers()
        handler.wfile.write(piece)
        handler.wfile.flush()
        handler.close_connection = True
        return True

    bodies = []
    proxy, environ = through(t, cut)
    expect_same(t, environ)
    harness.equal(bodies, [0, 3000, 6000], "where each range began")


def test_what_is_cut_and_then_refused_is_an_error(t):
    """asked anew from its beginning, the bytes would land behind those that had come"""

    def cut(handler, request, count):
        if not is_get(request):
            return False
        asked.append(request[2]["Range"])
        if len(asked) == 1:
            handler.send_response(206)
            handler.send_header(
                "Content-Range", f"bytes {asked[0][6:]}/{os.path.getsize(os.path.join(harness.FIXTURES, FILE))}"
            )
            handler.send_header("Content-Length", str(1 + int(asked[0].split("-")[1])))
            handler.end_headers()
            handler.wfile.write(b"x" * 3000)
            handler.wfile.flush()
            handler.close_connection = True
            return True
        if len(asked) == 2:
            handler.reply(
                400,
                {"Content-Type": "application/xml", "x-amz-bucket-region": "eu-west-1"},
                b"<Error><Code>ExpiredToken</Code></Error>",
            )
            return True
        return False

    asked = []
    _, environ = through(t, cut)
    ended = t.command("whose", ADDRESS, status=2, **environ)
    assert "400 ExpiredToken" in ended.stderr, ended.stderr
    assert asked[1].startswith("bytes=3000-"), asked


def test_no_password_of_an_endpoint_is_shown(t):
    for options, environ in (
        (("--endpoint-url=http://ann:very-secret@127.0.0.1:1",), {}),
        ((), {"AWS_ENDPOINT_URL": "http://ann:very-secret@127.0.0.1:1"}),
    ):
        ended = t.command("whose", ADDRESS, *options, status=2, **environ)
        assert "does not belong in" in ended.stderr and "very-secret" not in ended.stderr, ended.stderr


def test_what_is_refused_is_named(t):
    def refuse(handler, request, count):
        if not is_get(request):
            return False
        handler.reply(403, {"Content-Type": "application/xml"}, b"<Error><Code>AccessDenied</Code></Error>")
        return True

    _, environ = through(t, refuse)
    ended = t.command("whose", ADDRESS, status=2, **environ)
    assert "may not be read: 403 AccessDenied" in ended.stderr, ended.stderr
    _, environ = through(t, lambda handler, request, count: handler.reply(403) is None)
    assert "403" in t.command("whose", "s3://profiles/lab a/", status=2, **environ).stderr


def test_other_ranges_and_other_objects_are_refused(t):
    def other_range(request, status, headers, body):
        if status == 206:
            headers["Content-Range"] = headers["Content-Range"].replace("bytes 0-", "bytes 1-")
        return status, headers, body

    def other_etag(request, status, headers, body):
        if status == 206:
            headers["Etag"] = '"0000"'
        return status, headers, body

    def other_size(request, status, headers, body):
        if status == 206:
            headers["Content-Range"] = headers["Content-Range"].rsplit("/", 1)[0] + "/99999999"
        return status, headers, body

    for change, words in ((other_range, "other bytes"), (other_etag, "changed"), (other_size, "changed")):
        _, environ = through(t, change=change)
        ended = t.command("whose", ADDRESS, status=None, **environ)
        assert ended.returncode != 0 and words in ended.stderr, (change.__name__, ended.stderr)


def test_an_object_that_is_overwritten_meanwhile_is_changed(t):
    client, key = t.s3().client("s3"), "changing.hlo.pb.gz"
    with open(os.path.join(harness.FIXTURES, FILE), "rb") as file:
        data = file.read()
    client.create_bucket(Bucket="changing")
    client.put_object(Bucket="changing", Key=key, Body=data)

    def overwrite(handler, request, count):
        if is_get(request) and not done:
            done.append(True)
            client.put_object(Bucket="changing", Key=key, Body=data[::-1])
        return False

    done = []
    _, environ = through(t, overwrite)
    ended = t.command("whose", f"s3://changing/{key}", status=None, **environ)
    assert done and ended.returncode != 0 and "changed while it was read" in ended.stderr, ended.stderr


def test_a_server_without_ranges_is_read_all_the_same(t):
    def whole(handler, request, count):
        if not is_get(request):
            return False
        with open(os.path.join(harness.FIXTURES, FILE), "rb") as file:
            handler.reply(200, {}, file.read())
        return True

    _, environ = through(t, whole)
    expect_same(t, environ)


def test_lists_without_end_and_lists_that_are_none(t):
    def circle(handler, request, count):
        handler.reply(
            200,
            {},
            b"<ListBucketResult><Contents><Key>lab a/x.hlo.pb</Key><Size>1</Size></Contents>"
            b"<NextContinuationToken>again</NextContinuationToken></ListBucketResult>",
        )
        return True

    def ring(handler, request, count):
        handler.reply(
            200,
            {},
            b"<ListBucketResult><NextContinuationToken>%d</NextContinuationToken></ListBucketResult>" % (count % 7),
        )
        return True

    def endless(handler, request, count):
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"<ListBucketResult>" + b" " * 100000)
        except OSError:
            return True

    for fault, words in (
        (circle, "leads back to itself"),
        (ring, "leads back to itself"),
        (endless, "too large"),
        (lambda handler, request, count: handler.reply(200, {}, b"<html>Sign in</html>") is None, "list of the bucket"),
    ):
        _, environ = through(t, fault)
        ended = t.command("summary", "s3://profiles/lab a/", status=2, **environ)
        assert words in ended.stderr, ended.stderr


def test_no_more_requests_than_are_polite(t):
    proxy, environ = through(t, delay_s=0.05)
    t.command("index", "s3://profiles/lab a", **environ)
    assert 0 < proxy.most_in_flight <= 16, proxy.most_in_flight


def test_redirects_take_no_credentials_along(t):
    other = servers.Server(lambda handler, request: handler.reply(200, {}, b""))
    _, environ = through(
        t, lambda handler, request, count: handler.reply(307, {"Location": other.url + request[1]}) is None
    )
    assert "307" in t.command("summary", "s3://profiles/lab a/", status=2, **environ).stderr
    harness.equal(other.requests, [], "requests to another server")
