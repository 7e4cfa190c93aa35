#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Addresses of buckets and https servers, against servers that others wrote (servers.py).

  run.py --binary PATH [--shared DIR] [--only TEXT]...

By the Python that has requirements.txt. Each file that THEMES names is a theme, each function in it that begins with
test_ a test: it gets a Toolbox. The last line is "N passed, N failed, N skipped".
"""
import argparse
import importlib
import os
import subprocess
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import servers

THEMES = ["s3", "gcs", "https", "faults", "credentials", "following"]
# Nothing of the person who runs the tests: no credentials, no proxies, no servers of a cloud.
CLEAN = {name: "" for name in (
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL "
    "AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL_STS AWS_ENDPOINT_URL_SSO AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI "
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE GOOGLE_APPLICATION_CREDENTIALS "
    "STORAGE_EMULATOR_HOST GCE_METADATA_HOST CLOUDSDK_CONFIG http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy").split()}
CLEAN.update(AWS_EC2_METADATA_DISABLED="true", NO_GCE_CHECK="1", no_proxy="*")


class Toolbox(harness.Toolbox):
    """commands and daemons with a home and an environment of the test alone"""

    shared_servers = {}

    def environ(self, **more):
        return {**os.environ, **CLEAN, "HOME": self.folder("home"), **more}

    def command(self, *arguments, status=0, **more):
        ended = subprocess.run([self.binary, *arguments], capture_output=True, text=True, timeout=harness.PATIENCE_SECONDS, env=self.environ(**more))
        assert status is None or ended.returncode == status, (arguments, ended.returncode, ended.stderr)
        return ended

    def daemon(self, *arguments, **more):
        return self.serve(*arguments, environ={**CLEAN, "HOME": self.folder("home"), **more})

    def of_all(self, name, make):
        """a server that all tests use"""
        if name not in self.shared_servers:
            self.shared_servers[name] = make()
        return self.shared_servers[name]

    def s3(self):
        """moto, in which the bucket "profiles" has this project's fixtures below "lab a/" """
        def make():
            moto = servers.Moto()
            moto.put("profiles", harness.FIXTURES, "lab a/")
            return moto
        return self.of_all("s3", make)

    def keys(self, url=None, **more):
        return {"AWS_ACCESS_KEY_ID": servers.KEY, "AWS_SECRET_ACCESS_KEY": servers.SECRET, "AWS_ENDPOINT_URL": url or self.s3().url, **more}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    tests = [(f"{theme}.{name[5:]}", function) for theme in THEMES
             for name, function in vars(importlib.import_module(theme)).items() if name.startswith("test_")]
    for name, function in tests:
        if not any(text in name for text in options.only or [""]):
            continue
        began = time.monotonic()
        try:
            with Toolbox(options.binary, options.shared) as toolbox:
                function(toolbox)
            outcome, words = "passed", f"ok      {name} ({time.monotonic() - began:.1f} s)"
        except harness.Skip as reason:
            outcome, words = "skipped", f"skipped {name}: {reason}"
        except Exception:  # noqa: a test may fail in any way
            outcome, words = "failed", f"FAILED  {name}\n    " + traceback.format_exc().replace("\n", "\n    ").rstrip()
        counts[outcome] += 1
        print(words, flush=True)
    for server in Toolbox.shared_servers.values():
        server.stop()
    print(", ".join(f"{count} {what}" for what, count in counts.items()), flush=True)
    os._exit(1 if counts["failed"] else 0)  # threads of servers are of no further use


if __name__ == "__main__":
    main()
