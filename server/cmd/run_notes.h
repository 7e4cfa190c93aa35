/* SPDX-License-Identifier: Apache-2.0
 * run_notes.h: what `memviewd run --help` prints after its options. Figures: make bench-run. */
#pragma once

static const char RUN_NOTES[] =
    "\n"
    "The command gets memviewd's stdin, terminal, signals and environment. Its stdout and stderr pass through\n"
    "byte for byte. memviewd appends --xla_dump_to, --xla_dump_hlo_as_proto and --xla_dump_include_timestamp=true to\n"
    "XLA_FLAGS. If you set --xla_dump_to yourself, memviewd uses your dump and leaves it unchanged. A program from\n"
    "JAX's compilation cache is not compiled and leaves no plan. MEMVIEWD_RUN is the folder of the run; profiles that\n"
    "the command writes there are shown with it.\n"
    "\n"
    "Each Python below the command (3.8 or newer) finds memviewd's hook in front of PYTHONPATH; your own\n"
    "sitecustomize runs as before. PyTorch with CUDA or ROCm records its newest N allocator events with Python\n"
    "stacks, and writes a snapshot when a request fails, also if your program catches the error: the first and the\n"
    "last of each process stay. A program that records its own history keeps its settings. When an exception ends\n"
    "the program or a thread, JAX's device profile and largest live arrays are saved. Python with -I, -E or -S and\n"
    "programs that set PYTHONPATH anew are not armed; memviewd says so. --no-inject turns it off.\n"
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
    "for TPU v5e (libtpu 0.0.52) 6.90 s instead of 7.02 s, which is within the noise between rounds, 1.1 MiB.\n"
    "The hook adds 0.7 ms to the start of a Python. At a failure a snapshot of 100,000 events with 13 frames each\n"
    "takes 70 MiB of host memory, 0.3 s and 11 MiB on disk (Python 3.11, without the allocator's own part). What\n"
    "recording costs a step on a GPU was not measured.\n";
