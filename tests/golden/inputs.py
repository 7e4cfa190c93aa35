# SPDX-License-Identifier: Apache-2.0
"""Where the recorded inputs lie: in data/ of --shared, and without it a subset of them in tests/fixtures."""

import glob
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def add_argument(parser):
    parser.add_argument("--shared", help="without it: what tests/fixtures has of it")


def data_of(options):
    return os.path.join(options.shared, "data") if options.shared else os.path.join(HERE, "..", "fixtures")


def present(options, data, folder, names):
    """of these names those that the subset has; with --shared all, so that what is absent there is a fault"""
    return [name for name in names if options.shared or os.path.isdir(os.path.join(data, folder, name))]


def programs_of(data, root, ending):
    """the files of programs in a folder of dumps, as XLA wrote them or packed"""
    return sorted(glob.glob(f"{data}/{root}/*/*{ending}") + glob.glob(f"{data}/{root}/*/*{ending}.gz"))
