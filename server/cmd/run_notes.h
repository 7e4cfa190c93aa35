/* SPDX-License-Identifier: Apache-2.0
 * run_notes.h: what `memviewd run --help` tells besides its options. Figures: make bench-run. */
#pragma once

static const char RUN_NOTES[] =
    "\n"
    "The command gets our stdin, terminal, signals and environment; stdout and stderr come through byte for byte.\n"
    "XLA_FLAGS gets --xla_dump_to and --xla_dump_hlo_as_proto behind what it has; an --xla_dump_to of yours is used\n"
    "instead, and that dump is left as it is. A program out of JAX's compilation cache is not compiled and leaves no plan.\n"
    "MEMVIEWD_RUN is the folder of the run: profiles that the command writes there are shown with it.\n"
    "\n"
    "When it ends for lack of memory, of the device or of the host, the verdict and the address of the page are printed on\n"
    "stderr, and its output (the last 8 to 16 MiB) and its programs stay in DIR. Else nothing is printed and nothing stays.\n"
    "Where no --logdir is given and the working folder cannot be written, DIR is memviewd-runs-UID, with the number of the\n"
    "user, in $TMPDIR (else in /tmp).\n"
    "\n"
    "Exit status: that of the command; ended by a signal, the same signal ends us (128 and its number where it cannot).\n"
    "125: DIR cannot be written, 126: the command cannot be executed, 127: it is not there, 2: wrong usage.\n"
    "\n"
    "What it costs a program that fits, in processor time of the compile and on disk while it runs (medians of 5 rounds,\n"
    "jax 0.10.2): a transformer's train step of 12 layers for CPU 1.33 s instead of 1.22 s, 3.1 MiB; of 2 layers for TPU v5e\n"
    "(libtpu 0.0.52) 6.90 s instead of 7.02 s, no difference beside that from round to round, 1.1 MiB.\n";
