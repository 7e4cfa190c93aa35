/* SPDX-License-Identifier: Apache-2.0
 * category_rules.c: see category_rules.h. */
#include "server/cmd/category_rules.h"

#include "analysis/analysis.h"
#include "server/base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the core takes, so that it says itself what is too long. */
enum { SIZE_MAX_BYTES = 1 << 20 };

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, SIZE_MAX_BYTES + 1) : NULL;
    if (!text) {
        log_line("%s: %s", path, strerror(errno));
    } else if (fread(text, 1, SIZE_MAX_BYTES, file) == 0 && ferror(file)) {
        log_line("%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

bool category_rules_load_libraries(const char *path, char **lines)
{
    *lines = path ? read_text(path) : NULL;
    return *lines || !path;
}

bool category_rules_load(const char *path, char **lines)
{
    struct err err = ERR_INIT;
    if (!path)
        return true;
    *lines = read_text(path);
    if (!*lines || analysis_category_rules_check(*lines, &err))
        return *lines;
    log_line("%s: %s", path, err.text);
    free(*lines);
    *lines = NULL;
    return false;
}
