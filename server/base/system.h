/* SPDX-License-Identifier: Apache-2.0
 * system.h: what a process asks of the system about itself, where systems differ: system.c for Linux, system_other.c
 * for macOS. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* What memviewd cannot do on this system, for --version; "" on Linux. */
extern const char system_lacks[];

/* The file of this program; free(). */
char *system_own_program(void);
/* The processors that this process may run on; at least 1. */
size_t system_processor_count(void);
/* As ps shows this process, at most 15 letters. */
void system_name_process(const char *name);
/* Ends this process when its parent ends, as far as the system does that; whether it has ended by now is for the caller
 * to see. */
void system_end_with_parent(void);
/* No file of this process's memory is written when a signal ends it. */
void system_keep_no_core(void);

struct system_signal {
    int number;
    bool is_by_process; /* sent to us by a process, not by the kernel or a terminal to our whole group */
};

/* Waits for a signal of `set`, which are blocked: at most `wait_ms`, or without end for -1. False when none came. */
bool system_signal_wait(const sigset_t *set, int wait_ms, struct system_signal *out);
