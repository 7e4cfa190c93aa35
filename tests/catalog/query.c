/* SPDX-License-Identifier: Apache-2.0
 * query.c: asks the catalog as the daemon does, for tests: query URL SQL [PARAMETER…]… with "--" between statements. Of
 * each a line for each row, cells apart by tabs, null as \\N, heads first; or "CODE: TEXT" of an error. With the word
 * "sleep" in the place of a statement it waits for a line on standard input. */
#include "server/fleet/catalog/catalog.h"

#include <stdio.h>
#include <string.h>

enum { PARAMETERS_MAX = 16 };

static void print_row(const struct catalog_answer *answer, size_t row, bool is_head)
{
    for (size_t at = 0; at < answer->column_count; at++) {
        const char *text = is_head ? catalog_head(answer, at) : catalog_cell(answer, row, at);
        printf("%s%s", at > 0 ? "\t" : "", text ? text : "\\N");
    }
    putchar('\n');
}

static void ask(struct catalog *catalog, const char *sql, const char *const *parameters, size_t count)
{
    struct err err = ERR_INIT;
    struct catalog_answer answer;
    if (!catalog_query(catalog, sql, parameters, count, &answer, &err)) {
        printf("%s: %s\n", err_name(err.code), err.text);
        return;
    }
    print_row(&answer, 0, true);
    for (size_t at = 0; at < answer.row_count; at++)
        print_row(&answer, at, false);
    catalog_answer_free(&answer);
}

int main(int count, char **words)
{
    struct err err = ERR_INIT;
    char line[16];
    struct catalog *catalog = catalog_open(count > 1 ? words[1] : "", &err);
    for (int at = 2; catalog && at < count; at++) {
        const char *sql = words[at], *parameters[PARAMETERS_MAX];
        size_t used = 0;
        while (at + 1 < count && strcmp(words[at + 1], "--") != 0 && used < PARAMETERS_MAX)
            parameters[used++] = words[++at];
        at++;
        if (strcmp(sql, "sleep") == 0) {
            if (!fgets(line, sizeof(line), stdin))
                break;
        } else
            ask(catalog, sql, parameters, used);
        fflush(stdout);
    }
    if (!catalog)
        printf("%s: %s\n", err_name(err.code), err.text);
    catalog_close(catalog);
    return 0;
}
