/* SPDX-License-Identifier: Apache-2.0
 * size_option.c: see size_option.h. */
#include "server/cmd/size_option.h"

#include "server/base/log.h"

#include "base/size_text.h"

bool size_option_read(const char *option, const char *text, int64_t *bytes)
{
    uint64_t size;
    if (size_text_read(text, &size)) {
        *bytes = (int64_t)size;
        return true;
    }
    log_line("--%s: \"%s\" is no size: 15.75GiB, 16G or a number of bytes", option, text);
    return false;
}
