#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `memviewd explain --json` reads out of recorded error texts.

  oom.py --binary build/release/memviewd [--shared ../shared]

The texts of tests/fixtures/oom with their figures always; with --shared all of
data/oom-logs/tpu-aot against its expected.json, every key, and the numbered logs against
oom_logs.json: families, forms and the figures that a person reads in them. oom_families.json holds for every family its
wordings, typed after public threads (`sources`), what is read in each, and words that the next steps, that the advice
must hold, and that neither must. No advice speaks in the words of another framework or of other memory. oom_public.json
has whole public texts in the same form; those with a count of 0 tell of no failure.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from members import loads

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures", "oom")


def explain(binary, path, text=None):
    done = subprocess.run([binary, "explain", "--json", path], capture_output=True, input=text, timeout=60)
    return done.returncode, loads(done.stdout), done.stderr.decode()


def differences(wanted, got, where=""):
    """the keys of `wanted` that `got` does not hold alike"""
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [f"{where}: {got!r} is no object"]
        return [line for key, value in wanted.items() for line in differences(value, got.get(key), f"{where}.{key}")]
    if isinstance(wanted, list) and isinstance(got, list):
        short = [f"{where}: {len(got)} items, not {len(wanted)}"] if len(got) < len(wanted) else []
        return short + [
            line for at, pair in enumerate(zip(wanted, got)) for line in differences(*pair, f"{where}[{at}]")
        ]
    return [] if wanted == got else [f"{where}: {got!r}, not {wanted!r}"]


def check_ranges(text, failure):
    """every figure stands where its range says"""
    lines = []
    for key, value in failure["ranges"].items():
        for at, place in enumerate(value if key.endswith("buffers") else [{key: value}]):
            for name, (begin, end) in place.items():
                part = text[begin:end]
                if not 0 <= begin < end <= len(text):
                    lines.append(f"range of {key}[{at}].{name} is [{begin}, {end})")
                elif name.endswith("_bytes") and not part[:1].isdigit():
                    lines.append(f"range of {key}[{at}].{name} holds {part!r}")
    return lines


# Words of a framework or a memory, and the frameworks and memories that they may be said to.
OF_JAX = re.compile(r"\bjax\.|jnp\.|\bJAX\b|XLA_PYTHON|x\[:")
OF_PALLAS = re.compile(r"\bpl\.|pltpu\.|plgpu\.")
OF_TORCH = re.compile(r"\btorch\.(?!utils\.data)|PYTORCH_|PyTorch")
OF_DEVICE = re.compile(r"nvidia-smi|CUDA_VISIBLE|checkpoint|donate|larger chip|MEM_FRACTION|\bGPU\b")
OF_TPU = re.compile(r"\bTPU\b|\bv5e\b")
OF_VMEM = re.compile(r"vmem|VMEM|BlockSpec|block_shape")
JAX_FAMILIES = {
    "other",
    "cpu_alloc",
    "gpu_kernel",
    "nccl",
    "gpu_driver",
    "gpu_library",
}  # where the framework is not known
JAX, TORCH = {"jax", "xla", None}, {"torch", "torch_xla", None}
HOST = {"host", "page_locked", "shared_memory"}


def advice_words(answer):
    """all that the advice says, but for what the error says of itself"""
    parts = [answer["advice_sentence"] or ""]
    for one in answer["advice"]:
        parts += [one["title"], one["do"], one["reason"]]
    return "\n".join(parts)


def check_advice(failure):
    """every piece says what, how sure, why and where it is seen, and none of it is of another framework or memory"""
    answer, framework, memory = failure["answer"], failure["framework"], failure["memory_class"]
    said, lines = advice_words(answer) + "\n" + "\n".join(step["text"] for step in failure["answer"]["next_steps"]), []
    lines += [f"{one['kind']}: no {key}" for one in answer["advice"] for key in ("title", "reason") if not one[key]]
    lines += [f"{one['kind']}: no evidence" for one in answer["advice"] if not one["evidence"]["sentence"]]
    lines += [
        f"{one['kind']} fits {one['fits']} as a guess"
        for one in answer["advice"]
        if one["fits"] == "yes" and one["confidence"] == "guess"
    ]
    lines += [
        f"{one['kind']}: {one['do']} stands in the next steps too"
        for one in answer["advice"]
        if one["do"] and one["do"] in [step["text"].strip() for step in failure["answer"]["next_steps"]]
    ]
    if not answer["advice"] and not answer["advice_sentence"]:
        lines.append("no advice, and no word why")
    for pattern, may in (
        (OF_JAX, framework in JAX and (framework or failure["family"] in JAX_FAMILIES)),
        (OF_TORCH, framework in TORCH),
        (OF_DEVICE, memory not in HOST),
        (OF_PALLAS, framework in JAX or memory in ("vmem", "smem")),
        (OF_VMEM, memory != "smem"),
        (OF_TPU, failure["family"].startswith("tpu")),
    ):
        found = pattern.search(said)
        if found and not may:
            lines.append(f"advice of {framework}, {memory} speaks of {found.group()!r}")
    return lines


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def add(self, name, lines):
        self.passed, self.failed = self.passed + (not lines), self.failed + bool(lines)
        for line in lines[:12]:
            print(f"{name}: {line}")


def check_expected(binary, folder, count):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    for name, wanted in expected.items():
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            text = file.read()
        status, failures, _ = explain(binary, path)
        lines = [f"exit status {status}"] if status else []
        lines += [f"{len(failures)} failures"] if len(failures) != 1 else []
        for failure in failures[:1]:
            lines += differences(wanted, failure) + check_ranges(text, failure)
            lines += [
                f"{key}: {len(failure[key])} listed, {failure[count_key]} counted"
                for key, count_key in (("buffers", "buffer_count"), ("io_buffers", "io_buffer_count"))
                if len(failure[key]) != (failure[count_key] or 0)
            ]
        count.add(name, lines)


def check_logs(binary, folder, count):
    with open(os.path.join(HERE, "oom_logs.json"), encoding="utf-8") as file:
        logs = json.load(file)
    for name, wanted in logs.items():
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            text = file.read()
        status, failures, _ = explain(binary, path)
        lines = [f"exit status {status}"] if status else []
        lines += [f"{len(failures)} failures, not {len(wanted)}"] if len(failures) != len(wanted) else []
        lines += differences(wanted, failures)
        lines += [line for failure in failures for line in check_ranges(text, failure)]
        count.add(name, lines)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".txt") and name not in logs:
            count.add(name, ["no figures recorded for it"])


def cases_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


def check_sources(cases, count):
    for case in cases:
        if len(set(case["sources"])) < 2 and not case.get("only"):
            count.add(case["name"], ["one public thread, and no word why"])


def check_cases(binary, cases, count):
    for case in cases:
        text = case["text"].encode()
        status, failures, _ = explain(binary, "-", text)
        lines = [f"exit status {status}"] if status > (case["count"] == 0) else []
        lines += [f"{len(failures)} failures, not {case['count']}"] if len(failures) != case["count"] else []
        for failure in failures[:1]:
            steps = " ".join(step["text"] for step in failure["answer"]["next_steps"])
            lines += differences(case["wanted"], failure) + check_ranges(text, failure)
            lines += [
                f"a sentence hides a command: {step['text']}"
                for step in failure["answer"]["next_steps"]
                if step["kind"] == "text"
                and re.search(r"jax\.|pltpu\.|torch(_xla)?\.|[A-Z]_[A-Z]+=|--\w", step["text"])
            ]
            said = advice_words(failure["answer"])
            lines += check_advice(failure)
            lines += [f"next steps lack {word!r}" for word in case["steps"] if word not in steps]
            lines += [f"advice lacks {word!r}" for word in case["advice"] if word not in said]
            lines += [f"next steps or advice speak of {word!r}" for word in case["never"] if word in steps + said]
        count.add(case["name"], lines)


def check_refusals(binary, count):
    status, failures, error = explain(binary, os.devnull)
    count.add("/dev/null", [] if (status, failures) == (1, []) and "looked for" in error else [f"status {status}"])
    done = subprocess.run([binary, "explain", "/does/not/exist"], capture_output=True, text=True, timeout=60)
    count.add("missing file", [] if done.returncode == 2 else [f"status {done.returncode}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    options = parser.parse_args()
    count = Count()
    check_expected(options.binary, FIXTURES, count)
    families = cases_of("oom_families.json")
    check_sources(families, count)
    check_cases(options.binary, families, count)
    check_cases(options.binary, cases_of("oom_public.json"), count)
    check_refusals(options.binary, count)
    if options.shared:
        logs = os.path.join(options.shared, "data", "oom-logs")
        check_expected(options.binary, os.path.join(logs, "tpu-aot"), count)
        check_logs(options.binary, logs, count)
    print(f"{count.passed} passed, {count.failed} failed, {0 if options.shared else 2} skipped")
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
