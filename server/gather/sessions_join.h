/* SPDX-License-Identifier: Apache-2.0
 * sessions_join.h: a log that lies above or below a dump, and is of it, becomes a text of that session.
 *
 * People keep job.log in the folder of a run, and the dump in a folder of it, or the other way round. A log joins a
 * dump or HLO session of its root up to two folders away, up or down, if that one alone is there; of several the one
 * that has the module which the log names. A log that names a module which is not there stays a session of its own. */
#pragma once

#include "server/gather/sessions_folder.h"

/* Sessions from `first` on, all of one root. */
void sessions_join(struct sessions_builder *builder, size_t first);
