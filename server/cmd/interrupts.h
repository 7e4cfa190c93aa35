/* SPDX-License-Identifier: Apache-2.0
 * interrupts.h: a command that compiles or records is interrupted: what it began is ended, and its folder removed,
 * before this process ends. One for the process. */
#pragma once

#include <stdatomic.h>

/* From here on SIGINT, SIGTERM and SIGHUP only set the flag; those that were ignored (nohup) stay so. */
void interrupts_take(void);
/* True once one came. */
const atomic_bool *interrupts_flag(void);
/* Exit status of a command that was interrupted: 128 and the signal; of SIGINT, where none came. */
int interrupts_status(void);
/* Ends this process by the signal that came, if one did: to be called when all is printed. */
void interrupts_end(void);
