#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""buckets.py FOLDER S3_PORT GCS_PORT: an S3 (moto) and a GCS (gcp-storage-emulator) on this machine, each with a bucket
`profiles` of what lies below FOLDER/s3 and FOLDER/gcs, written at the times that its files have. Prints "ready"; ends
when it is told.

By the Python that has tests/remote/requirements.txt. One that is killed and started again holds the same objects."""

import datetime
import os
import sys

import gcp_storage_emulator.handlers.objects as gcs_objects
import moto.s3.models as s3_models
from gcp_storage_emulator.server import create_server
from moto.server import ThreadedMotoServer

BUCKET = "profiles"
at_s = 0.0  # when the object that is put was written


class Then(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(at_s, tz)


class Clock:
    @staticmethod
    def time_ns():
        return int(at_s * 1e9)

    @staticmethod
    def time():
        return at_s


def files_of(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, folder), file.read(), os.path.getmtime(path)


def serve_s3(folder, port):
    """put without HTTP, which would take the time of now"""
    global at_s
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    backend = s3_models.s3_backends["123456789012"]["aws"]
    backend.create_bucket(BUCKET, "us-east-1")
    usual, s3_models.utcnow = (
        s3_models.utcnow,
        lambda: datetime.datetime.fromtimestamp(at_s, datetime.timezone.utc).replace(tzinfo=None),
    )
    for path, data, at_s in files_of(folder):
        backend.put_object(BUCKET, path, data)
    s3_models.utcnow = usual
    server.start()


def serve_gcs(folder, port):
    global at_s
    import http.client
    import urllib.parse

    server = create_server("127.0.0.1", port, in_memory=True, default_bucket=BUCKET)
    server.start()
    usual = gcs_objects.datetime, gcs_objects.time
    gcs_objects.datetime, gcs_objects.time = Then, Clock
    for path, data, at_s in files_of(folder):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request(
            "POST",
            f"/upload/storage/v1/b/{BUCKET}/o?{urllib.parse.urlencode({'uploadType': 'media', 'name': path})}",
            data,
        )
        assert connection.getresponse().status == 200, path
        connection.close()
    gcs_objects.datetime, gcs_objects.time = usual


def main(folder, s3_port, gcs_port):
    serve_s3(os.path.join(folder, "s3"), int(s3_port))
    serve_gcs(os.path.join(folder, "gcs"), int(gcs_port))
    print("ready", flush=True)
    sys.stdin.read()  # to its end: whoever started this is gone
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
