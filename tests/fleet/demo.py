#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py --binary PATH --shared DIR: what story.py tries, brought up and left running until Ctrl-C
(scripts/fleet-demo)."""

import argparse
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "http"), os.path.join(HERE, "..", "catalog")]
import harness  # noqa: E402: its folder is added above
from nginx import PASSWORD, USER  # noqa: E402
from place import Place  # noqa: E402


def show(place, nginx):
    print(
        f"""
page           https://127.0.0.1:{nginx.port}/   as {USER}, password {PASSWORD}; its certificate is its own
fleet          https://127.0.0.1:{nginx.port}/?tool=fleet
replicas       {", ".join(f"http://127.0.0.1:{port}" for port in place.ports)}, behind nginx
catalog        {place.database.url}
buckets        {place.environ["AWS_ENDPOINT_URL_S3"]} (S3), {place.environ["STORAGE_EMULATOR_HOST"]} (GCS)
Ctrl-C ends all of it. What the webhook is told:
""",
        flush=True,
    )


def sentence_of(message):
    if message["kind"] == "regression":
        return message["regression"]["sentence"]
    return message["verdict"]["verdict"] if message["verdict"] else message["error"]


def tell(place, seen):
    for message in place.receiver.taken[len(seen) :]:
        seen.append(message)
        print(
            f"  {message['kind']}: {message['logdir']}/{message['file']} (job {message['job']}, commit "
            f"{message['commit']}): {sentence_of(message)}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seen = []
    try:
        with harness.Toolbox(os.path.abspath(options.binary), options.shared) as toolbox, Place(toolbox) as place:
            print("".join(place.index()), end="", flush=True)
            for at in range(2):
                place.start_replica(at)
            with place.nginx().running() as nginx:
                show(place, nginx)
                while True:
                    tell(place, seen)
                    time.sleep(1)
    except harness.Skip as missing:
        print(f"needs {missing}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
