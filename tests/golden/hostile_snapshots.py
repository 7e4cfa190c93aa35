# SPDX-License-Identifier: Apache-2.0
"""Bytes that begin as an allocator snapshot does and go wrong: name to bytes, by what is wrong with them."""

import gzip
import io
import pickle
import struct
import zipfile
import zlib

HEAD = b"\x80\x04}\x94\x8c\x08segments\x94"  # a dict, and the key that a snapshot begins with
CODE = b"cos\nsystem\n"

# Each opcode that would run code, or load it, as the first of its kind.
CALLING = {
    "GLOBAL": HEAD + CODE + b"s.",
    "STACK_GLOBAL": HEAD + b"\x8c\x02os\x8c\x06system\x93s.",
    "REDUCE": HEAD + b"\x8c\x01x)Rs.",
    "BUILD": HEAD + b"}}bs.",
    "INST": HEAD + b"(ios\nsystem\ns.",
    "OBJ": HEAD + b"(\x8c\x01x\x8c\x01yos.",
    "NEWOBJ": HEAD + b"\x8c\x01x)\x81s.",
    "NEWOBJ_EX": HEAD + b"\x8c\x01x)}\x92s.",
    "PERSID": HEAD + b"Pstorage\ns.",
    "BINPERSID": HEAD + b"\x8c\x07storageQs.",
    "EXT1": HEAD + b"\x82\x01s.",
    "EXT2": HEAD + b"\x83\x01\x01s.",
    "EXT4": HEAD + b"\x84\x01\x01\x01\x01s.",
    "NEXT_BUFFER": HEAD + b"\x97s.",
    "READONLY_BUFFER": HEAD + b"\x97\x98s.",
    "behind a frame": b"\x80\x04\x95" + struct.pack("<Q", 1000) + HEAD[2:] + CODE + b"s.",
    "in a list of a list": HEAD + b"]]" + CODE + b"aas.",
    "behind 100,000 rows": HEAD + b"](" + b"}" * 100000 + b"e" + CODE + b"s.",
}

# A length that goes on beyond the bytes: what pickletools says of it begins with the opcode.
LONG = {
    "BINBYTES8": HEAD + b"\x8e" + struct.pack("<Q", 1 << 40) + b"x",
    "BINBYTES": HEAD + b"B" + struct.pack("<I", 0xFFFFFFFF) + b"x",
    "SHORT_BINBYTES": HEAD + b"C\xffx",
    "BINUNICODE": HEAD + b"X" + struct.pack("<I", 1 << 20) + b"x",
    "SHORT_BINUNICODE": HEAD + b"\x8c\xffx",
    "BINFLOAT": HEAD + b"G\x00\x00",
    "BININT": HEAD + b"J\x00",
    "FRAME": HEAD + b"\x95\x00",
}

# What the stack machine cannot do.
BROKEN = {
    "takes from an empty stack": HEAD + b"sss.",
    "puts into what is no dict": HEAD + b"NN)ss.",
    "an odd number of keys and values": HEAD + b"0(\x8c\x01xu.",
    "reads an empty place of the memo": HEAD + b"h\x50s.",
    "fills the memo far away": HEAD + b"Nr\xff\xff\xff\x7fs.",
    "a mark that nothing made": HEAD + b"Ne.",
    "marks alone": HEAD + b"(" * 5000,
    "things on the stack alone": HEAD + b"N" * 1_200_000,
    "a protocol that is none": b"\x80\x09" + HEAD[2:] + b"Ns.",
    "an opcode that is none": HEAD + b"\xfe.",
    "ends with two things": HEAD + b".",
}


def itself():
    """lists and dicts that hold themselves, which Python writes"""
    rows, frames, block = [], [], {"state": "active_allocated", "size": 1}
    rows.append(rows)
    frames.append(frames)
    block["frames"] = frames
    block["history"] = [block]
    trace = [{"action": "alloc", "addr": 1, "size": 1, "frames": frames}]
    trace.append(trace)
    return {
        "a list in itself": pickle.dumps({"segments": rows, "device_traces": rows}, 4),
        "frames and history in themselves": pickle.dumps(
            {"segments": [{"blocks": [block, block], "total_size": 1}], "device_traces": [trace, trace]}, 4
        ),
    }


def laughs():
    """a list of two of a list of two …, sixty times, and a frame that 2^20 frames are"""
    laugh, text = [[]], [{"name": "f", "filename": "f.py", "line": 1}]
    for _ in range(60):
        laugh = [laugh, laugh]
    for _ in range(20):
        text = text + text if len(text) < 1024 else [text, text]
    return {
        "doubled sixty times": pickle.dumps({"segments": laugh, "device_traces": []}, 4),
        "frames doubled": pickle.dumps(
            {"segments": [], "device_traces": [[{"action": "alloc", "size": 1, "frames": text}]]}, 4
        ),
    }


def archive(**members):
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as out:
        for name, data in members.items():
            out.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
    return into.getvalue()


def archive_of_wide_sizes(name, data):
    """one stored member whose sizes and places stand in the records of 64 bits, as those of more than 4 GiB do"""
    wide, none = struct.pack("<QQ", len(data), len(data)), 0xFFFFFFFF
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 33, zlib.crc32(data), none, none, len(name), 20)
    local += name + struct.pack("<HH", 1, 16) + wide
    entry = struct.pack(
        "<IHHHHHHIIIHHHHHII",
        0x02014B50,
        45,
        45,
        0,
        0,
        0,
        33,
        zlib.crc32(data),
        none,
        none,
        len(name),
        28,
        0,
        0,
        0,
        0,
        none,
    )
    entry += name + struct.pack("<HH", 1, 24) + wide + struct.pack("<Q", 0)
    at = len(local) + len(data)
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(entry), at)
    locator = struct.pack("<IIQI", 0x07064B50, 0, at + len(entry), 1)
    return (
        local + data + entry + end + locator + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, none, none, 0)
    )


def archives_of_several(data):
    """name to an archive of some ranks' snapshots: as people pack them, and as nobody should"""
    ranks = {"job/rank0.pickle": data, "job/rank1.pickle.gz": gzip.compress(data, mtime=0), "job/notes.md": b"x"}
    whole = archive(**ranks)
    second = whole.rindex(b"PK\1\2")
    return {
        "whole": whole,
        "cut": whole[:-40],
        "a name that leads out": archive(**ranks, **{"../rank2.pickle": data}),
        "a member that grows": patched(whole, whole.index(b"PK\1\2") + 24, b"\xff\xff\xff\x7f"),
        "shared bytes": patched(whole, second + 42, b"\0\0\0\0"),
        "an archive inside": archive(**ranks, **{"inner.zip": whole}),
    }


def patched(data, at, value):
    """with other bytes from a place on, counted from the end when it is below 0"""
    at %= len(data)
    return data[:at] + value + data[at + len(value) :]


def broken_archives():
    """name to (bytes, what is said of them)"""
    one, into = archive(**{"s.pickle": HEAD + b"Ns."}), io.BytesIO()
    listed, text = one.rindex(b"PK\1\2"), archive(**{"s.json": b'{"segments": [], "device_traces": []}'})
    wide = archive_of_wide_sizes(b"s.pickle", HEAD + b"Ns.")
    with zipfile.ZipFile(into, "w", zipfile.ZIP_BZIP2) as out:
        out.writestr(zipfile.ZipInfo("s.pickle"), b"x" * 99, zipfile.ZIP_BZIP2)
    return {
        "encrypted": (patched(one, listed + 8, b"\1"), "is encrypted"),
        "packed otherwise": (into.getvalue(), "packed by method 12"),
        "of two": (archive(a=b"x", b=b"y"), "a zip archive of 2 files"),
        "of none": (patched(archive(a=b"x"), -12, bytes(8)), "a zip archive"),
        "with a damaged list": (patched(one, listed, b"XX"), "list of the zip archive is damaged"),
        "without the member": (patched(one, listed + 42, b"\4"), "no member where it should be"),
        "with a member behind its end": (patched(one, listed + 20, b"\xff\xff\xff\x7f"), "is cut"),
        "with a list behind its end": (patched(one, -6, b"\xff\xff\xff\x7f"), "is cut"),
        "with too many members": (patched(wide, -98 + 32, struct.pack("<Q", 1 << 40)), "more than 65,536"),
        "without its wide list": (patched(wide, wide.index(b"PK\6\6"), b"XX"), "no list where it should be"),
        "without an end": (one[:-10], "is cut"),
        "with another sum": (patched(text, text.rindex(b"PK\1\2") + 16, b"\1\2\3\4"), "damaged"),
    }


JSON = b'{"segments": [], "device_traces": '
# Every one is no JSON by Python's reader either.
BROKEN_JSON = {
    "nothing behind the key": JSON,
    "a comma too many": JSON + b"[1,]}",
    "a comma too many in an object": JSON + b'{"a": 1,}}',
    "no comma": JSON + b"[1 2]}",
    "no colon": JSON + b'{"a" 1}}',
    "a key without marks": JSON + b"{a: 1}}",
    "a single mark": JSON + b"'a'}",
    "a zero before": JSON + b"012}",
    "a plus before": JSON + b"+1}",
    "a point alone": JSON + b"1.}",
    "no exponent": JSON + b"1e}",
    "a minus alone": JSON + b"-}",
    "half a word": JSON + b"tru}",
    "a comment": JSON + b"[] /* x */}",
    "an escape that is none": JSON + b'"\\x"}',
    "half an escape": JSON + b'"\\u12"}',
    "a control character": JSON + b'"a\nb"}',
    "the other bracket": JSON + b"[}",
    "too much": JSON + b"[]}]",
    "an end in a text": JSON + b'"abc',
    "an end in an escape": JSON + b'"\\',
    "an end in an array": JSON + b"[[[[",
}
# What Python's reader takes, as it is or by its own limits.
ODD_JSON = {
    "keys twice": JSON
    + b'[[{"action": "alloc", "size": 1, "size": 512, "addr": 7, "time_us": 5, "frames": []}]], "device_traces": '
    b'[[{"action": "alloc", "size": 512, "addr": 7, "time_us": 5, "frames": []}]]}',
    "huge numbers": JSON
    + b'[[{"action": "alloc", "size": '
    + b"9" * 300
    + b', "addr": 1e999, "time_us": -1e-999, "frames": []}]]}',
    "words of Python": JSON + b"[NaN, Infinity, -Infinity, null, true, false]}",
    "letters of all kinds": JSON
    + b'[[{"action": "alloc", "size": 1, "frames": [{"filename": "'
    + "é\\ud83d\\ude00\\ud800".encode()
    + b'", "name": "\\u0000"}]}]]}',
    "a mark of the byte order": b"\xef\xbb\xbf" + JSON + b"[]}",
    "keys alone": b'{"device_traces": ' + b'{"k": ' * 900 + b"0" + b"}" * 901,
}
# What is no UTF-8 is shown as it can be; Python's reader refuses it.
STRAY_JSON = {
    "bytes that are no letters": JSON
    + b'[[{"action": "alloc", "size": 1, "frames": [{"filename": "\xff\xc0\x80", "name": "x", "line": 1}]}]]}'
}
DEEP_JSON = {"arrays": JSON + b"[" * 2_000_000, "objects": JSON + b'{"a":' * 400_000}
# One number or text that is too long for anything: Python's reader takes the text, and a number of up to 4,300 digits.
EVENT = b'[[{"action": "alloc", "size": 512, "addr": 7, "time_us": 5, "frames": [], "user_metadata": '
LONG_JSON = {
    "a long text": JSON + EVENT + b'"' + b"x" * (17 << 20) + b'"}]]}',
    "a long number": JSON + EVENT + b"1" * 5000 + b"}]]}",
    "a long fraction": JSON + EVENT + b"0." + b"1" * 5000 + b"}]]}",
}


def bombs():
    """a few kB that inflate to 128 MiB, in any form"""
    blanks, zeros = JSON + b" " * (128 << 20), HEAD + b"N0" * (64 << 20)
    return {"a zip of blanks": archive(a=blanks), "a gzip of opcodes": gzip.compress(zeros, 9)}


CHECKPOINTS = {
    "of torch.save": archive(**{"archive/data.pkl": b"\x80\x02}q\x00.", "archive/version": b"3\n"}),
    "of torch.jit.save": archive(
        **{"m/code/__torch__.py": b"", "m/data.pkl": b"\x80\x02}q\x00.", "m/constants.pkl": b""}
    ),
    "of before PyTorch 1.6": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00.",
}
