# SPDX-License-Identifier: Apache-2.0
"""Each scalar of a JSON value (an allocator snapshot, a trace of torch.profiler) becomes odd, one at a time."""

import json

import odd_values


def variants(data, random):
    for description, value in odd_values.changes(json.loads(data), random):
        yield description, json.dumps(value).encode()
