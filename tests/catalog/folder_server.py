# SPDX-License-Identifier: Apache-2.0
"""A folder by http, as on any web server, which refuses what it is told to."""

import hashlib
import http.server
import io
import os
import threading

from harness import Skip

FIRST_BLOCK_BYTES = 256 << 10  # what is read of a file to see of what kind it is


def need_libcurl(t):
    if "libcurl" not in t.run("--version").stdout:
        raise Skip("libcurl, which this memviewd was built without")


class FolderServer:
    """a folder by http as on any web server; where it `refuses` (a status), only the first block of each file is
    given"""

    def __init__(self, folder):
        outer, self.refuses = self, None

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def answer(self):
                path = self.translate_path(self.path)
                if not os.path.isfile(path):
                    return self.send_head()
                with open(path, "rb") as file:
                    data = file.read()
                first, last = 0, len(data) - 1
                is_part = "Range" in self.headers
                if is_part:
                    first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
                if outer.refuses and first > 0:
                    self.send_error(outer.refuses)
                    return None
                self.send_response(206 if is_part else 200)
                if is_part:
                    self.send_header("Content-Range", f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}")
                self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
                self.send_header("Content-Length", str(len(data[first : last + 1])))
                self.end_headers()
                return io.BytesIO(data[first : last + 1])

            def do_GET(self):
                body = self.answer()
                if body:
                    self.wfile.write(body.read())

            def do_HEAD(self):
                self.answer()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *why):
        self.server.shutdown()
        self.server.server_close()
