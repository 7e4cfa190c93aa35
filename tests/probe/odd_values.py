# SPDX-License-Identifier: Apache-2.0
"""What one scalar of a nested value may become: by its path, one at a time."""

ABSENT = object()
# What cannot be, wherever it stands, and what may be somewhere.
IMPOSSIBLE = {
    "-1": -1,
    "2^63-1": (1 << 63) - 1,
    "2^63": 1 << 63,
    "2^64-1": (1 << 64) - 1,
    "NaN": float("nan"),
    "text": "x",
}
POSSIBLE = {"0": 0, "2^31": 1 << 31, "2^32": 1 << 32, "absent": ABSENT}
VALUES = {**IMPOSSIBLE, **POSSIBLE}


def scalars(value, path=()):
    """paths of all scalars, with what they are"""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from scalars(inside, (*path, key))
    elif isinstance(value, (list, tuple)):
        for at, inside in enumerate(value):
            yield from scalars(inside, (*path, at))
    else:
        yield path, value


def changed(value, path, new):
    """a copy with another scalar at the path; what lies beside the path is shared"""
    if not path:
        return new
    head, rest = path[0], path[1:]
    copy = dict(value) if isinstance(value, dict) else list(value)
    if new is ABSENT and not rest:
        del copy[head]
    else:
        copy[head] = changed(value[head], rest, new)
    return tuple(copy) if isinstance(value, tuple) else copy


def changes(value, random):
    """(path and value in words, the changed value) of each scalar and each odd value, in random order"""
    wanted = [
        (path, word)
        for path, old in scalars(value)
        for word, new in VALUES.items()
        if path and (new is ABSENT or type(new) is not type(old) or new != old)
    ]
    random.shuffle(wanted)
    for path, word in wanted:
        yield "/".join(map(str, path)) + "=" + word, changed(value, path, VALUES[word])


def cannot_be(description):
    return description.rpartition("=")[2] in IMPOSSIBLE
