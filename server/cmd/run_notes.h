/* SPDX-License-Identifier: Apache-2.0
 * run_notes.h: what `memviewd run --help` and `memviewd watch --help` print after their options. Figures: make
 * bench-run. */
#pragma once

static const char WATCH_NOTES[] =
    "\n"
    "Each process with PyTorch on CUDA or ROCm, or with JAX, writes what it has in use into the folder of the run:\n"
    "what the allocator has handed out and reserved, its peak, and free memory of the device; for JAX on the CPU the\n"
    "sum of its live arrays. Sampling uses no device. On a terminal, one line at the bottom shows the fullest device.\n"
    "Elsewhere memviewd prints one line a minute, one when the peak rises by a tenth of the device, and one when\n"
    "memory grows that no step gives back. At the end it prints the peak and its time. The page Live shows all\n"
    "devices over time. Sampling takes at most 2 % of one core. A file has at most 768 samples for each device; older\n"
    "samples are merged.\n";

static const char RUN_NOTES[] =
    "\n"
    "The command gets memviewd's stdin, terminal, signals and environment. Its stdout and stderr pass through\n"
    "byte for byte. memviewd appends --xla_dump_to, --xla_dump_hlo_as_proto and --xla_dump_include_timestamp=true to\n"
    "XLA_FLAGS; the last one not if JAX_COMPILATION_CACHE_DIR is set, because it would change the keys of that cache.\n"
    "If you set --xla_dump_to yourself, memviewd uses your dump and leaves it unchanged. A program from JAX's\n"
    "compilation cache is not compiled and leaves no plan. MEMVIEWD_RUN is the folder of the run; profiles that the\n"
    "command writes there are shown with the run.\n"
    "\n"
    "Each Python below the command (3.8 or newer) finds memviewd's hook in front of PYTHONPATH; your own\n"
    "sitecustomize runs as before. PyTorch with CUDA or ROCm records its newest N allocator events with Python\n"
    "stacks. It writes a snapshot when a request fails, even if your program catches the error; the first and the\n"
    "last snapshot of each process are kept. A program that records its own history keeps its settings. When an\n"
    "exception ends the program or a thread, JAX's device profile and largest live arrays are saved. The hook does\n"
    "not run (memviewd prints \"not armed\") in Python with -I, -E or -S, or if a program replaces PYTHONPATH.\n"
    "--no-inject turns it off.\n"
    "\n"
    "If the command runs out of device or host memory, memviewd prints the verdict and the address of the page on\n"
    "stderr. The last 8 to 16 MiB of output and the programs stay in DIR. Otherwise run prints nothing, and neither\n"
    "run nor watch leaves files. While it runs, memviewd capture DIR asks its Python processes what they hold now;\n"
    "what they write stays. Without --logdir, if the working folder cannot be written, DIR is memviewd-runs-UID in\n"
    "$TMPDIR (else in /tmp), where UID is your user id.\n"
    "\n"
    "Exit status: that of the command. If a signal ends the command, the same signal ends memviewd (128 plus its\n"
    "number if it cannot). 125: DIR cannot be written. 126: the command cannot be executed. 127: the command was\n"
    "not found. 2: usage error.\n"
    "\n"
    "Cost for a program that fits: CPU time to compile, and disk space while it runs (medians of 5 rounds, jax\n"
    "0.10.2). Train step of a 12-layer transformer on CPU: 1.33 s instead of 1.22 s, 3.1 MiB. With 2 layers for TPU\n"
    "v5e (libtpu 0.0.52): 6.90 s instead of 7.02 s, within the noise between rounds, 1.1 MiB. The hook adds 0.7 ms to\n"
    "the start of each Python process. At a failure, a snapshot of 100,000 events with 13 frames each takes 70 MiB of\n"
    "host memory, 0.3 s and 11 MiB on disk (Python 3.11, without the allocator's own part). The cost of recording per\n"
    "step on a GPU was not measured.\n";
