/* SPDX-License-Identifier: Apache-2.0
 * run_notes.h: what `memviewd run --help` prints after its options. Figures: make bench-run. */
#pragma once

static const char RUN_NOTES[] =
    "\n"
    "The command gets memviewd's stdin, terminal, signals and environment. Its stdout and stderr pass through\n"
    "byte for byte. memviewd appends --xla_dump_to and --xla_dump_hlo_as_proto to XLA_FLAGS. If you set\n"
    "--xla_dump_to yourself, memviewd uses your dump and leaves it unchanged. A program from JAX's compilation\n"
    "cache is not compiled and leaves no plan. MEMVIEWD_RUN is the folder of the run; profiles that the command\n"
    "writes there are shown with it.\n"
    "\n"
    "If the command runs out of device or host memory, memviewd prints the verdict and the address of the page on\n"
    "stderr. The last 8 to 16 MiB of output and the programs stay in DIR. Otherwise it prints nothing and leaves\n"
    "no files. Without --logdir, if the working folder cannot be written, DIR is memviewd-runs-UID in $TMPDIR\n"
    "(else in /tmp), where UID is the number of the user.\n"
    "\n"
    "Exit status: that of the command. If a signal ends the command, the same signal ends memviewd (128 plus its\n"
    "number if it cannot). 125: DIR cannot be written. 126: the command cannot be executed. 127: there is no such\n"
    "command. 2: usage error.\n"
    "\n"
    "Cost for a program that fits, in processor time of the compile and disk while it runs (medians of 5 rounds,\n"
    "jax 0.10.2): a transformer's train step of 12 layers for CPU 1.33 s instead of 1.22 s, 3.1 MiB; of 2 layers\n"
    "for TPU v5e (libtpu 0.0.52) 6.90 s instead of 7.02 s, which is within the noise between rounds, 1.1 MiB.\n";
