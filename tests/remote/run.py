#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Addresses of buckets and https servers, against servers that others wrote (servers.py).

  run.py --binary PATH [--shared DIR] [--only TEXT]...

By the Python that has requirements.txt. Each file that THEMES names is a theme, each function in it that begins with
test_ a test: it gets a Toolbox. The last line is "N passed, N failed, N skipped".
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http")]
import harness
import running
import servers

THEMES = ["s3", "gcs", "https", "faults", "credentials", "google_credentials", "following"]
# Nothing of the person who runs the tests: no credentials, no proxies, no servers of a cloud.
CLEAN = {
    name: ""
    for name in (
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION "
        "AWS_ENDPOINT_URL "
        "AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL_STS AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE "
        "AWS_CONTAINER_CREDENTIALS_FULL_URI "
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE "
        "GOOGLE_APPLICATION_CREDENTIALS "
        "STORAGE_EMULATOR_HOST GCE_METADATA_HOST CLOUDSDK_CONFIG http_proxy https_proxy HTTP_PROXY HTTPS_PROXY "
        "ALL_PROXY all_proxy"
    ).split()
}
CLEAN.update(AWS_EC2_METADATA_DISABLED="true", NO_GCE_CHECK="1", no_proxy="*")


class Toolbox(harness.Toolbox):
    """commands and daemons with a home and an environment of the test alone"""

    shared_servers = {}

    def environ(self, **more):
        return {**os.environ, **CLEAN, "HOME": self.folder("home"), **more}

    def command(self, *arguments, status=0, **more):
        ended = subprocess.run(
            [self.binary, *arguments],
            capture_output=True,
            text=True,
            timeout=harness.PATIENCE_SECONDS,
            env=self.environ(**more),
        )
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
        return {
            "AWS_ACCESS_KEY_ID": servers.KEY,
            "AWS_SECRET_ACCESS_KEY": servers.SECRET,
            "AWS_ENDPOINT_URL": url or self.s3().url,
            **more,
        }


def main():
    options = running.parser_of(__doc__).parse_args()

    def run_one(name, function):
        return running.run_one(name, function, Toolbox(os.path.abspath(options.binary), options.shared))

    outcomes = running.in_turn(running.chosen_of(THEMES, options.only), run_one)
    outcomes.settle()
    for server in Toolbox.shared_servers.values():
        server.stop()
    os._exit(outcomes.end())  # threads of servers are of no further use


if __name__ == "__main__":
    main()
