/* SPDX-License-Identifier: Apache-2.0
 * category.c: see category.h. */
#include "plan/category.h"

#include <ctype.h>

static const struct {
    const char *name, *words;
    bool is_of_arguments;
} categories[] = {
#define CATEGORY(constant, name, words, is_of_arguments) {name, words, is_of_arguments},
#include "plan/category.def"
#undef CATEGORY
};

static const struct {
    const char *name, *text;
    enum confidence confidence;
} rules[] = {
#define CATEGORY_RULE(constant, name, confidence, text) {name, text, CONFIDENCE_##confidence},
#include "plan/category_rules.def"
#undef CATEGORY_RULE
};

const char *category_name(enum category category) { return categories[category].name; }
const char *category_words(enum category category) { return categories[category].words; }
bool category_is_of_arguments(enum category category) { return categories[category].is_of_arguments; }

const char *category_rule_name(enum category_rule rule) { return rules[rule].name; }
const char *category_rule_text(enum category_rule rule) { return rules[rule].text; }
enum confidence category_rule_confidence(enum category_rule rule) { return rules[rule].confidence; }

const char *category_confidence_name(enum confidence confidence)
{
    static const char *const names[] = {"exact", "rule", "guess"};
    return names[confidence];
}

static char as_letter(char c) { return c == '_' || c == '-' ? ' ' : (char)tolower((unsigned char)c); }

static bool is_same_word(struct str text, const char *name)
{
    bool is_same = text.length == strlen(name);
    for (size_t i = 0; is_same && i < text.length; i++)
        is_same = as_letter(text.data[i]) == as_letter(name[i]);
    return is_same;
}

bool category_find(struct str name, enum category *category)
{
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (is_same_word(name, categories[i].name) || is_same_word(name, categories[i].words)) {
            *category = (enum category)i;
            return true;
        }
    return false;
}
