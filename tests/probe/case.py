# SPDX-License-Identifier: Apache-2.0
"""What the modules of this folder hand to run.py."""

import dataclasses

ODD = "odd"  # the new value cannot be: a sum that changes has to come with a note
LEGAL = "legal"  # another value that may be: sums may change
SAME = "same"  # says nothing new: the answers have to be those about the unchanged file, byte for byte


@dataclasses.dataclass(frozen=True)
class Case:
    """One input, and how it is changed.

    variants(data, random) yields (description, bytes) or (description, bytes, ODD | LEGAL | SAME); without a word it is
    LEGAL. `commands` are words of the command line, before the path of the file. Of a gzip file `variants` gets the
    inside; it is packed again. `beside`: (name, path) of files that lie in the same folder as they are; then `asked` is
    the one that is asked about. `refused`: (expression over descriptions, reason): the variants that are right to be
    refused. `changes`: the same for odd values that change a sum without a note.
    """

    name: str
    path: str  # below the repository, or below ../shared where it begins with "shared/"
    variants: object
    commands: tuple
    file: str = ""  # name of the changed file, or its path in the folder; without it the name of `path`
    beside: tuple = ()
    asked: str = ""  # without it the changed file
    refused: tuple = ()
    changes: tuple = ()
    always: str = "$^"  # expression over descriptions: the variants that are tried whatever the seed is
    count: int = 40  # how many variants are tried without --every
