/* SPDX-License-Identifier: Apache-2.0
 * shells.c: what shells say of a program that signal 9 ended, in other languages than English. */
#include "read/oom/shells.h"

#include "read/oom/handlers.h"

const struct oom_handler oom_shells_handlers[] = {
#define KILLED(word, needle) {word, oom_host_shell, false},
#include "read/oom/shells.def"
    {NULL, NULL, false},
};

const char *oom_shells_needle(size_t at)
{
    static const char *const needles[] = {
#define KILLED(word, needle) needle,
#include "read/oom/shells.def"
    };
    return at < sizeof(needles) / sizeof(needles[0]) ? needles[at] : NULL;
}

const char *oom_shells_sign(size_t at)
{
    static const char *const words[] = {
#define KILLED(word, needle) word,
#include "read/oom/shells.def"
    };
    return at < sizeof(words) / sizeof(words[0]) ? words[at] : NULL;
}
