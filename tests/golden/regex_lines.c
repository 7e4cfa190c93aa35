/* SPDX-License-Identifier: Apache-2.0
 * regex_lines.c: base/regex on lines of stdin, for regex_against_re2.py. A line: the pattern and its texts in
 * hexadecimal, a blank between them. Its answer, a line of stdout: one of 0 and 1 for each text, or ! where the pattern
 * is refused. */
#include "base/arena.h"
#include "base/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORK_STEPS = 100000000 };

struct line {
    struct arena *arena;
    char *hex;
};

/* The bytes that a word says, written over it. */
static struct str unhexed(char *hex)
{
    size_t length = strlen(hex) / 2;

    for (size_t at = 0; at < length; at++) {
        char digits[3] = {hex[2 * at], hex[2 * at + 1], '\0'};
        hex[at] = (char)strtoul(digits, NULL, 16);
    }
    return (struct str){hex, length};
}

static void answer_line(void *context)
{
    struct line *line = context;
    struct regex_fault fault;
    char *rest = line->hex, *word = strsep(&rest, " ");
    struct regex *regex = regex_read(unhexed(word), false, line->arena, &fault);

    if (regex == NULL)
        putchar('!');
    while (regex != NULL && (word = strsep(&rest, " ")) != NULL)
        putchar(regex_matches(regex, unhexed(word)) ? '1' : '0');
    putchar('\n');
}

int main(void)
{
    char *hex = NULL;
    size_t room = 0;

    while (getline(&hex, &room, stdin) > 0) {
        struct err err = ERR_INIT;
        struct arena arena;

        hex[strcspn(hex, "\n")] = '\0';
        arena_init(&arena, 0, &err);
        arena_allot_work(&arena, WORK_STEPS);
        bool is_done = arena_try(&arena, answer_line, &(struct line){&arena, hex});
        arena_free(&arena);
        if (!is_done) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
    }
    free(hex);
    return 0;
}
