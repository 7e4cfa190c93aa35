#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GET /metrics, read by Prometheus' own client library, and held against what promtool asks of names.

  metrics_format.py --binary PATH

`make metrics-format-test` runs it with the Python that has the library. The last line is "N passed, N failed, N
skipped".
"""

import argparse
import re
import subprocess
import sys
import traceback
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

# As promtool check metrics: seconds and bytes, no milliseconds, megabytes or percent.
ODD_UNITS = re.compile("_(milliseconds|ms|microseconds|us|minutes|kilobytes|kib|megabytes|mib|gigabytes|percent)(_|$)")


def ask(address, path, body=None):
    headers = {"Content-Type": "application/octet-stream", "X-Requested-With": "test"} if body else {}
    with urllib.request.urlopen(urllib.request.Request(address + path, body, headers), timeout=60) as answer:
        return answer.read().decode("utf-8")


def families_of(address):
    ask(address, "/app.js")
    ask(address, "/api/v1/uploads?name=job.log", b"RESOURCE_EXHAUSTED\n" * 1000)
    return list(text_string_to_metric_families(ask(address, "/metrics")))


def test_each_family_has_type_help_and_one_place(families):
    names = [family.name for family in families]
    assert len(names) > 15 and len(set(names)) == len(names), names
    for family in families:
        assert family.type in ("counter", "gauge", "histogram") and family.documentation.endswith("."), family.name
        assert family.samples, family.name


def test_names_follow_the_rules(families):
    for family in families:
        for sample in family.samples:
            assert re.fullmatch("[a-z_]+", sample.name) and not ODD_UNITS.search(sample.name), sample.name
            assert sample.name.endswith("_total") == (family.type == "counter"), sample.name
            assert all(re.fullmatch("[a-z_]+", label) for label in sample.labels), sample


def test_no_sample_stands_twice_and_counters_are_not_negative(families):
    seen = set()
    for family in families:
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in seen, key
            seen.add(key)
            assert family.type == "gauge" or sample.value >= 0, sample


def test_histograms_add_up(families):
    for family in families:
        if family.type != "histogram":
            continue
        for route in {sample.labels["route"] for sample in family.samples}:
            of = [sample for sample in family.samples if sample.labels["route"] == route]
            buckets = [sample.value for sample in of if sample.name.endswith("_bucket")]
            count = [sample.value for sample in of if sample.name.endswith("_count")]
            assert buckets == sorted(buckets) and [buckets[-1]] == count, (route, buckets, count)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    daemon = subprocess.Popen([options.binary, "--demo", "--port=0"], stdout=subprocess.PIPE)
    passed = failed = 0
    try:
        families = families_of(daemon.stdout.readline().decode().strip().rstrip("/"))
        for name, function in [item for item in globals().items() if item[0].startswith("test_")]:
            try:
                function(families)
                passed += 1
                print("ok     ", name[len("test_") :])
            except Exception:  # noqa: a test may fail in any way
                failed += 1
                print("FAILED ", name[len("test_") :], traceback.format_exc())
    finally:
        daemon.terminate()
        daemon.wait()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
