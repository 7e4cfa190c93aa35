# SPDX-License-Identifier: Apache-2.0
"""Packages of PyPI, which make build/catalog-tools/ready fetches: asked by a Python of their own."""

import json
import os
import subprocess

from harness import ROOT, Skip

PYTHON = os.path.join(ROOT, "build", "catalog-tools", "bin", "python")


def python_of(folder, how):
    """of packages that are fetched on purpose"""
    python = os.path.join(ROOT, "build", folder, "bin", "python")
    if not os.path.exists(python):
        raise Skip(f"needs packages of PyPI ({how})")
    return python


def ask(program, *words, folder=None):
    """the JSON that a program in Python prints"""
    if not os.path.exists(PYTHON):
        raise Skip("needs packages of PyPI (make build/catalog-tools/ready)")
    done = subprocess.run([PYTHON, "-c", program, *words], capture_output=True, text=True, cwd=folder, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
