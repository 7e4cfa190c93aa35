/* SPDX-License-Identifier: Apache-2.0
 * run_address.h: under which address a person sees what a run left. */
#pragma once

#include <stdbool.h>

enum { RUN_ADDRESS_PORT = 6006 }; /* as --port has it */

/* URL of what is in the folder `run` below `all` (both absolute), on a daemon at the default port: of its dump and
 * log together, else of the page that lists all. Is a daemon there that serves `all`? free() it. */
char *run_address_make(const char *all, const char *run, bool *is_served);
/* The same as a line of the log, with the command that serves `all` where no daemon does. */
void run_address_say(const char *all, const char *run);
/* The same of the page of what runs in `all` have in use, whichever run that is. */
void run_address_say_live(const char *all);
