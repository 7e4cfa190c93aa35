/* SPDX-License-Identifier: Apache-2.0
 * jax_words.c: see jax_words.h. */
#include "plan/jax_words.h"

bool jax_words_has(enum jax_words kind, struct str text)
{
    static const struct {
        struct str text;
        unsigned kinds;
    } words[] = {
#define JAX_WORD(text, kinds) {{text, sizeof(text) - 1}, kinds},
#include "plan/jax_words.def"
#undef JAX_WORD
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((words[i].kinds & kind) && str_equal(words[i].text, text))
            return true;
    return false;
}
