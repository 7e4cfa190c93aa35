/* SPDX-License-Identifier: Apache-2.0
 * cmd_watch.c: `memviewd run` that shows what its processes have in use while they run. */
#include "server/base/log.h"
#include "server/cmd/commands.h"
#include "server/cmd/options.h"
#include "server/cmd/watch_show.h"

int cmd_watch(const struct options *options)
{
    if (watch_show_every_ms(options->watch_every) > 0)
        return cmd_run(options);
    log_line("--every must be a number of seconds, from 0.01 to 3600");
    return COMMANDS_UNUSABLE;
}
