/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory_profile/what.h"

#include "model/memory_profile/naming.h"
#include "read/torch/torch_snapshot.h"

const struct memory_what *memory_profile_what_at(const struct memory_profile *profile, uint32_t event, uint32_t kept)
{
    uint32_t what = event != PROFILE_NONE ? profile->what[event] : profile->events.snapshot->blocks[kept].what;
    return &profile->events.whats[what];
}

/* JAX records no data type, but a shape that begins with one: "f32[8,128]{1,0}". */
struct str memory_profile_what_data_type(const struct memory_profile *profile, const struct memory_what *what)
{
    const char *name = memory_profile_data_type(what->data_type);
    if (name != NULL)
        return str_of(name);
    struct str shape = memory_profile_text(profile, what->shape);
    size_t length = 0;
    while (length < shape.length && length < 24 && shape.data[length] != '[' && shape.data[length] != '(')
        length++;
    return length < shape.length && shape.data[length] == '[' ? (struct str){shape.data, length} : (struct str){"", 0};
}

struct str memory_profile_what_program(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess == NULL ? (struct str){"", 0} : guess->program;
}

struct str memory_profile_what_role(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess == NULL ? (struct str){"", 0} : guess->role;
}

struct str memory_profile_what_confidence(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess == NULL ? (struct str){"", 0} : str_of(memory_profile_naming_confidence(guess));
}

struct str memory_profile_what_category(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess == NULL || !guess->has_category ? (struct str){"", 0}
                                                 : str_of(category_name((enum category)guess->choice.category));
}

struct str memory_profile_what_category_word(const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    return guess == NULL || !guess->has_category ? (struct str){"", 0}
                                                 : str_of(category_words((enum category)guess->choice.category));
}
