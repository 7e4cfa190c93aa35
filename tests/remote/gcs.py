# SPDX-License-Identifier: Apache-2.0
"""Google Cloud Storage by gcp-storage-emulator, which others wrote."""

import harness
import same
import servers

PLACE = "gs://profiles/lab a"


def server(t):
    def make():
        gcs = servers.Gcs()
        gcs.put(harness.FIXTURES, "lab a/")
        return gcs

    return t.of_all("gcs", make)


def test_each_file_is_answered_as_on_disk(t):
    environ = {"STORAGE_EMULATOR_HOST": server(t).url}
    count = same.files(t, harness.FIXTURES, PLACE, environ, lambda path: "after_optimizations.hlo" in path)
    assert count > 10, count


def test_the_rows_of_all_are_those_of_the_folder(t):
    environ = {"STORAGE_EMULATOR_HOST": f"127.0.0.1:{server(t).port}"}
    same.equal_lines(same.rows(t, PLACE, environ), same.rows(t, harness.FIXTURES, {}), "rows")


def test_what_is_not_there_is_named(t):
    environ = {"STORAGE_EMULATOR_HOST": server(t).url}
    assert "404" in t.command("summary", "gs://nobody-has-this/x", status=2, **environ).stderr
