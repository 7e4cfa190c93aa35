/* SPDX-License-Identifier: Apache-2.0
 * prefix.c: see prefix.h. In a pattern `9` is a digit, `A` a capital, `W` a
 * byte of a name or path, `N` any byte of a line but a closing bracket, a space one or
 * more blanks; `+` repeats what it stands behind, and all else means itself. */
#include "read/oom/prefix.h"

#include <ctype.h>

enum { LONGEST = 200, MAX_PREFIXES = 8 };

struct form {
    const char *pattern;
    bool is_inner; /* only behind another prefix */
};

/* clang-format off */
static const struct form forms[] = {
    {"A9999 99:99:99N+] ", false},               /* glog */
    {"A W+:9+] ", true},                         /* TensorFlow, behind its time */
    {"A 9+ W+:9+] ", true},                      /* the same with a thread */
    {"W+:9+] ", false}, {":9+] ", false}, {"9+] ", false}, /* what is left of them behind a cut */
    {"(pid=N+) ", false}, {"(N+ pid=N+) ", false}, {"(ip=N+) ", false}, /* Ray */
    {"stdout A ", true}, {"stderr A ", true},    /* Kubernetes' log files */
    {"[pod/N+] ", false},                        /* kubectl logs --prefix */
    {"W+ | ", false}, {"| ", false}, {"> ", false}, {"&gt; ", false}, /* Docker compose, tables, quotes */
    {"WWW 9+ 99:99:99 W+ W+[9+]: ", false},      /* syslog */
    {"[rank9+]: ", false}, {"[default9+]:", false}, {"[9+]: ", false}, {"[9+,9+]<W+>:", false}, /* ranks */
    {"9+: ", false}, {"W+-9+: ", false},         /* srun -l, pdsh */
    {"AAAA+:W+:", false},                        /* Python's logging: ERROR:root: */
    {"AAA+ 99-99 99:99:99 [W+:9+] ", false},
    {"- W+ - A+ - ", true}, {"[A+] ", true}, {"{W+:9+} A+ - ", true}, {"[W+:9+] ", true},
};
/* clang-format on */
static const char *const levels[] = {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "FATAL"};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_member(char class, char c)
{
    switch (class) {
    case '9': return isdigit((unsigned char)c) != 0;
    case 'A': return c >= 'A' && c <= 'Z';
    case 'W': return isalnum((unsigned char)c) || (c != '\0' && strchr("_./-", c) != NULL);
    case 'N': return (unsigned char)c >= ' ' && c != ')' && c != ']';
    case ' ': return is_blank(c);
    default: return c == class;
    }
}

static size_t run_length(char class, struct str line, size_t at)
{
    size_t length = 0;
    while (length < LONGEST && at + length < line.length && is_member(class, line.data[at + length]))
        length++;
    return length;
}

/* Just behind what `pattern` matches at `at`, or 0 (no pattern is empty). Only a run
 * of names or of anything is ever given back, so the work is at most its length squared. */
static size_t prefix_match(const char *pattern, struct str line, size_t at)
{
    for (; *pattern != '\0'; pattern++) {
        size_t run = *pattern == ' ' || pattern[1] == '+' ? run_length(*pattern, line, at)
                                                          : at < line.length && is_member(*pattern, line.data[at]);
        if (run == 0)
            return 0;
        if (pattern[1] == '+' && (*pattern == 'W' || *pattern == 'N')) {
            for (; run > 0; run--) {
                size_t end = prefix_match(pattern + 2, line, at + run);
                if (end > 0)
                    return end;
            }
            return 0;
        }
        at += run;
        pattern += pattern[1] == '+';
    }
    return at;
}

/* A level of a log, as a word, behind another prefix. */
static size_t level_length(struct str line)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        struct str level = str_of(levels[i]);
        if (str_starts(line, level) && line.length > level.length && is_blank(line.data[level.length]))
            return level.length + 1;
    }
    return 0;
}

/* A time of day with or without its date, in brackets or not, up to the blank behind it. */
static size_t time_length(struct str line)
{
    static const char *const times[] = {"9999-99-99T99:99:99", "9999-99-99 99:99:99", "9999-WWW-99 99:99:99",
                                        "99-99 99:99:99", "99:99:99"};
    bool has_bracket = line.length > 0 && line.data[0] == '[';
    size_t at = 0;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]) && at == 0; i++)
        at = prefix_match(times[i], line, has_bracket);
    if (at == 0)
        return 0;
    while (at < line.length && (isdigit((unsigned char)line.data[at]) ||
                                (line.data[at] != '\0' && strchr(".,:Z+-", line.data[at]) != NULL)))
        at++;
    if (has_bracket && at < line.length && line.data[at] == ']')
        at++;
    return at < line.length && is_blank(line.data[at]) ? at + 1 : 0;
}

size_t oom_prefix_escape_length(struct str text)
{
    if (text.length < 2 || text.data[0] != '\x1b')
        return 0;
    size_t at = 2;
    if (text.data[1] == '[') {
        while (at < text.length && at < LONGEST && text.data[at] >= ' ' && text.data[at] < '@')
            at++;
        return at < text.length ? at + 1 : at;
    }
    if (text.data[1] != ']')
        return 2;
    while (at < text.length && at < LONGEST && text.data[at] != '\a' && text.data[at] != '\x1b' &&
           text.data[at] != '\n')
        at++;
    return at < text.length && text.data[at] == '\a' ? at + 1 : at;
}

/* pytest marks the lines of an exception with an E and some blanks. */
static size_t pytest_length(struct str line)
{
    return str_starts(line, STR("E   ")) ? 4 : str_starts(line, STR("E\n")) ? 1 : 0;
}

static size_t one_length(struct str line, bool is_inner)
{
    size_t length = time_length(line);
    if (length == 0)
        length = is_inner ? level_length(line) : pytest_length(line);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && length == 0; i++)
        if (is_inner || !forms[i].is_inner)
            length = prefix_match(forms[i].pattern, line, 0);
    return length;
}

size_t oom_prefix_drawn_length(struct str text)
{
    if (text.length < 3 || text.data[0] != '\xE2')
        return 0;
    unsigned char second = (unsigned char)text.data[1];
    return second >= 0x94 && second <= 0x96 && ((unsigned char)text.data[2] & 0xC0) == 0x80 ? 3 : 0;
}

static size_t blank_length(struct str line)
{
    size_t at = 0;
    while (at < line.length) {
        struct str rest = {line.data + at, line.length - at};
        size_t unseen = oom_prefix_escape_length(rest) + oom_prefix_drawn_length(rest);
        if (unseen == 0 && !is_blank(line.data[at]))
            break;
        at += unseen > 0 ? unseen : 1;
    }
    return at;
}

size_t oom_prefix_length(struct str line)
{
    size_t at = 0, end = 0;
    for (int i = 0; i < MAX_PREFIXES; i++) {
        at += blank_length((struct str){line.data + at, line.length - at});
        size_t length = one_length((struct str){line.data + at, line.length - at}, i > 0);
        if (length == 0)
            break;
        at += length;
        end = at;
    }
    return end;
}
