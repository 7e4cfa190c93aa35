/* SPDX-License-Identifier: Apache-2.0
 * cmd_index_none.c: in the place of cmd_index.c in a build with FLEET=0. */
#include "server/base/log.h"
#include "server/base/version.h"
#include "server/cmd/commands.h"

int cmd_index(const struct options *options)
{
    (void)options;
    log_line("index: " VERSION_FLEETLESS);
    return COMMANDS_UNUSABLE;
}
