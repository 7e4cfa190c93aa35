# SPDX-License-Identifier: Apache-2.0
"""Each scalar of an allocator snapshot (pickle) becomes odd, one at a time."""

import pickle

import odd_values


def variants(data, random):
    for description, value in odd_values.changes(pickle.loads(data), random):
        yield description, pickle.dumps(value, random.choice((2, 4)))
