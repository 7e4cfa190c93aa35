/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/capacity_option.h"

#include "server/base/log.h"

bool capacity_option_read(const char *option, const char *text, struct capacity *capacity)
{
    bool is_read = capacity_choose(text, capacity);
    if (!is_read)
        log_line("--%s: \"%s\" is neither a device (v5e, H100-80G, …) nor a size (15.75GiB, 16G or a number of bytes)",
                 option, text);
    return is_read;
}
