/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/interrupts.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

enum { STATUS_SIGNAL = 128 };

static atomic_bool is_interrupted;
static volatile sig_atomic_t interrupted_by;
static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

static void interrupt(int number)
{
    interrupted_by = number;
    atomic_store(&is_interrupted, true);
}

void interrupts_take(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART}, now;
    for (size_t i = 0; i < sizeof(interrupts) / sizeof(interrupts[0]); i++)
        if (sigaction(interrupts[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup */
            sigaction(interrupts[i], &action, NULL);
}

int interrupts_status(void) { return STATUS_SIGNAL + (interrupted_by ? interrupted_by : SIGINT); }

const atomic_bool *interrupts_flag(void) { return &is_interrupted; }

void interrupts_end(void)
{
    if (!atomic_load(&is_interrupted))
        return;
    fflush(stdout);
    signal(interrupted_by, SIG_DFL);
    raise(interrupted_by);
}
