/* SPDX-License-Identifier: Apache-2.0
 * category.h: whose memory a buffer is: its category, how sure that is, and the rule that decided. */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum category {
#define CATEGORY(constant, name, words, is_of_arguments) CATEGORY_##constant,
#include "plan/category.def"
#undef CATEGORY
    CATEGORY_COUNT
};

/* How sure a category is. */
enum confidence {
    CONFIDENCE_EXACT, /* the file says so: an allocation's flag, the user's own rule */
    CONFIDENCE_RULE,  /* follows from how JAX and XLA name and connect values */
    CONFIDENCE_GUESS, /* rests on a name that could mean something else, or on a shape */
};

/* What decided, and how sure that is: rows of category_rules.def. */
enum category_rule {
#define CATEGORY_RULE(constant, name, confidence, text) CATEGORY_RULE_##constant,
#include "plan/category_rules.def"
#undef CATEGORY_RULE
    CATEGORY_RULE_COUNT
};

struct category_choice {
    uint8_t category; /* enum category */
    uint8_t rule;     /* enum category_rule */
};

static inline struct category_choice category_choice_of(enum category category, enum category_rule rule)
{
    return (struct category_choice){(uint8_t)category, (uint8_t)rule};
}

/* "saved_activation"; static storage. */
const char *category_name(enum category category);
/* "saved activations": in a sentence. */
const char *category_words(enum category category);
/* Only arguments of a program have it. */
bool category_is_of_arguments(enum category category);
/* False if no category has this name, nor these words: in any case, with spaces, hyphens or underscores. */
bool category_find(struct str name, enum category *category);

/* "exact", "rule", "guess". */
const char *category_confidence_name(enum confidence confidence);
/* A stable word, "argument_name", and the sentence that says what the rule looked at. */
const char *category_rule_name(enum category_rule rule);
const char *category_rule_text(enum category_rule rule);
enum confidence category_rule_confidence(enum category_rule rule);
