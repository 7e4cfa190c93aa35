/* SPDX-License-Identifier: Apache-2.0
 * Every sentence of families.def with each of its optional clauses left out, cut short, and all of PyTorch's clauses
 * moved: a figure is read under its own word or not at all. */
#include "oom.h"

#include <ctype.h>

static const struct {
    const char *family, *form, *pattern, *then;
} sentences[] = {
#define SENTENCE(family, form, phase, space, pattern, then) {#family, form, pattern, #then},
#define STATEMENT(family, form, phase, space, pattern, then) {#family, form, pattern, #then},
#include "read/oom/families.def"
};
enum { SENTENCE_COUNT = sizeof(sentences) / sizeof(sentences[0]), TEXT = 4096, GROUPS = 24 };

static const char *const figures[] = {
#define FIGURE(name, line, word) #name,
#include "read/oom/figures.def"
#undef FIGURE
};
enum { FIGURE_COUNT = sizeof(figures) / sizeof(figures[0]) };

/* Whole MiB, so that any unit states it exactly; another for each figure. */
static uint64_t value_of(size_t figure) { return (uint64_t)(figure + 3) * 1048576 * 1024; }

static size_t figure_named(const char *name, size_t length)
{
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (strncmp(figures[i], name, length) == 0 && strcmp(figures[i] + length, "_bytes") == 0)
            return i;
    return FIGURE_COUNT;
}

struct writing {
    char text[TEXT];
    size_t length;
    int left_out, cut; /* a group by its number; -1: none */
    int group;         /* the number of the next */
};

static void put(struct writing *writing, const char *text)
{
    writing->length += (size_t)snprintf(writing->text + writing->length, TEXT - writing->length, "%s", text);
}

static void put_figure(struct writing *writing, size_t figure, char unit)
{
    uint64_t bytes = value_of(figure);
    char number[40];
    if (unit == 'x')
        snprintf(number, sizeof(number), "0x%llx ", (unsigned long long)bytes);
    else if (unit == 'G')
        snprintf(number, sizeof(number), "%llu.00", (unsigned long long)(bytes >> 30));
    else if (unit == 'M')
        snprintf(number, sizeof(number), "%llu", (unsigned long long)(bytes >> 20));
    else if (unit == 'K')
        snprintf(number, sizeof(number), "%llu", (unsigned long long)(bytes >> 10));
    else if (unit == 'B')
        snprintf(number, sizeof(number), "%llu", (unsigned long long)bytes);
    else
        snprintf(number, sizeof(number), "%llu.00GiB ", (unsigned long long)(bytes >> 30));
    put(writing, number);
}

static void put_placeholder(struct writing *writing, const char *name, size_t length)
{
    bool has_unit = *name == '!', is_in_unit = name[1] == ':';
    size_t mark = is_in_unit ? 2 : has_unit, figure = figure_named(name + mark, length - mark);
    if (memchr(name, '|', length) != NULL) {
        size_t first = strcspn(name, "|");
        char word[80];
        snprintf(word, sizeof(word), "%.*s", (int)first, name);
        put(writing, word);
    } else if (figure < FIGURE_COUNT) {
        put_figure(writing, figure, is_in_unit ? *name : '!');
    } else {
        put(writing, *name == '#'                             ? " : "
                     : strncmp(name, "..", 2) == 0            ? " "
                     : strncmp(name, "device", 6) == 0        ? " 3"
                     : strncmp(name, "chip", 4) == 0          ? "0x0x0_HBM0;"
                     : strncmp(name, "memory_space", 12) == 0 ? (strncmp(name + 12, "}{", 2) == 0 ? "hbm. " : "hbm ")
                     : strncmp(name, "module", 6) == 0        ? "jit_f'"
                                                              : "");
    }
}

/* Writes up to the bracket that closes; returns what follows it. */
static const char *write_group(struct writing *writing, const char *pattern, bool is_written)
{
    struct writing skipped = *writing;
    struct writing *to = is_written ? writing : &skipped;
    while (*pattern != '\0' && *pattern != ']' && *pattern != '>') {
        if (*pattern == '[' || *pattern == '<') {
            int number = to->group++;
            size_t begin = to->length;
            pattern = write_group(to, pattern + 1, to->left_out != number);
            if (to->cut == number && to->length > begin + 2 &&
                isalpha((unsigned char)to->text[to->length - 1])) /* its last letters are other ones */
                memcpy(to->text + to->length - 2, "~ ", 2);
        } else if (*pattern == '{') {
            const char *close = strchr(pattern, '}');
            put_placeholder(to, pattern + 1, (size_t)(close - pattern - 1));
            pattern = close + 1;
        } else {
            char letter[2] = {*pattern++, '\0'};
            put(to, letter);
        }
    }
    writing->group = to->group;
    return *pattern == '\0' ? pattern : pattern + 1;
}

/* No figure is reported as another. */
static void check(const char *family, const char *text, size_t length)
{
    struct oom_answer answer = oom_ask(text, length);
    cJSON *failure;
    cJSON_ArrayForEach(failure, answer.failures)
    {
        for (size_t i = 0; i < FIGURE_COUNT; i++) {
            const cJSON *value = cJSON_GetObjectItemCaseSensitive(failure, figures[i]);
            ck_assert_msg(!cJSON_IsNumber(value) || value->valuedouble == (double)value_of(i),
                          "%s: %s is read as %.0f in: %s", family, figures[i], value->valuedouble, text);
        }
    }
    cJSON_Delete(answer.failures);
}

START_TEST(clauses_left_out_or_cut_lend_no_figure)
{
    for (int group = -1; group < GROUPS; group++)
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            struct writing writing = {.left_out = is_cut ? -1 : group, .cut = is_cut ? group : -1};
            write_group(&writing, sentences[_i].pattern, true);
            if (group >= writing.group)
                break;
            put(&writing, "\nAnother line, of 7.00 GiB.\n");
            check(sentences[_i].family, writing.text, writing.length);
        }
}
END_TEST

/* Each of them has to contain a search word that the reader knows. */
START_TEST(sentences_are_found_in_a_log)
{
    struct writing writing = {.left_out = -1, .cut = -1};
    put(&writing, "step 12 of 100, loss 0.51\n");
    write_group(&writing, sentences[_i].pattern, true);
    put(&writing, "\n");
    struct oom_answer answer = oom_ask(writing.text, writing.length);
    ck_assert_msg(answer.explanation.failure_count + answer.explanation.given_up_count > 0, "%s: %s",
                  sentences[_i].family, writing.text);
    cJSON_Delete(answer.failures);
}
END_TEST

/* Is there a failure of this row's family and form, in which each figure of the pattern is known? Says which is not. */
static bool is_read_by_row(const char *text, size_t length, int row, const char **missing)
{
    struct oom_answer answer = oom_ask(text, length);
    bool is_read = false;
    cJSON *failure;
    *missing = "the sentence";
    cJSON_ArrayForEach(failure, answer.failures)
    {
        char family[128], form[128], value[128], name[64];
        if (strcmp(oom_value(failure, "family", family), sentences[row].family) != 0 ||
            strcmp(oom_value(failure, "form", form), sentences[row].form) != 0)
            continue;
        is_read = true;
        for (size_t i = 0; i < FIGURE_COUNT && is_read; i++) {
            snprintf(name, sizeof(name), "%.*s}", (int)strlen(figures[i]) - 6, figures[i]);
            const char *at = strstr(sentences[row].pattern, name);
            bool is_wanted = at != NULL && strchr("{!:", at[-1]) != NULL;
            if (is_wanted && strcmp(oom_value(failure, figures[i], value), "null") == 0) {
                is_read = false;
                *missing = figures[i];
            }
        }
        if (is_read)
            break;
    }
    cJSON_Delete(answer.failures);
    return is_read;
}

/* A row of which nothing matches, or a clause that never does, tells nobody. */
START_TEST(each_row_and_each_clause_can_match)
{
    struct writing writing = {.left_out = -1, .cut = -1};
    const char *missing;
    write_group(&writing, sentences[_i].pattern, true);
    put(&writing, "\n");
    bool is_read = is_read_by_row(writing.text, writing.length, _i, &missing);
    bool is_never_first = strcmp(sentences[_i].form, "pinned") == 0 || /* ggml goes on without: it is given up */
                          strcmp(sentences[_i].then, "oom_compile_scoped_short") == 0; /* asks for what follows */
    ck_assert_msg(is_read || is_never_first, "%s of %s %s is not read in: %s", missing, sentences[_i].family,
                  sentences[_i].form, writing.text);
}
END_TEST

/* ---- PyTorch ---- */

static const char *const old_clauses[] = {"13.00 GiB already allocated; ", "13.00 GiB current active; ",
                                          "7.00 GiB free; ", "4.00 GiB total capacity; ",
                                          "15.00 GiB reserved in total by PyTorch; "};
static const char *const new_clauses[] = {
    "GPU 3 has a total capacity of 4.00 GiB of which 7.00 GiB is free. ",
    "Including non-PyTorch memory, this process has 20.00 GiB memory in use. ",
    "Process 88 has 21.00 GiB memory in use. ",
    "Of the allocated memory 18.00 GiB is allocated by PyTorch, ",
    "with 46.00 MiB allocated in private pools (e.g., CUDA Graphs), ",
    "and 19.00 GiB is reserved by PyTorch but unallocated. ",
};

/* Each of `count` clauses left out in turn, the others rotated. */
static void check_clauses(const char *begin, const char *const *clauses, size_t count)
{
    for (size_t left_out = 0; left_out <= count; left_out++)
        for (size_t turn = 0; turn < count; turn++) {
            char text[1024], value[128];
            size_t length = (size_t)snprintf(text, sizeof(text), "%s", begin);
            for (size_t i = 0; i < count; i++)
                if ((i + turn) % count != left_out)
                    length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", clauses[(i + turn) % count]);
            struct oom_answer answer = oom_ask(text, length);
            static const struct {
                const char *word, *key;
                uint64_t gibibytes;
            } said[] = {{" free", "free_bytes", 7},
                        {"total capacity", "capacity_bytes", 4},
                        {"already", "allocated_bytes", 13},
                        {"reserved in total", "reserved_bytes", 15},
                        {"this process", "process_bytes", 20},
                        {"Process 88", "others_bytes", 21},
                        {"is allocated by", "allocated_bytes", 18},
                        {"unallocated", "unallocated_bytes", 19}};
            for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
                if (strstr(text, said[i].word) != NULL)
                    ck_assert_msg(strtoull(oom_value(answer.failures->child, said[i].key, value), NULL, 10) ==
                                      said[i].gibibytes << 30,
                                  "%s is %s in: %s", said[i].key, value, text);
            ck_assert_msg(strstr(text, " free") != NULL ||
                              strcmp(oom_value(answer.failures->child, "free_bytes", value), "null") == 0,
                          "free_bytes is %s in: %s", value, text);
            cJSON_Delete(answer.failures);
        }
}

/* One that does not would be tried at every letter of a log, or at none: oom_pattern_firsts looks at the first one. */
START_TEST(sentences_begin_with_a_letter_of_their_own)
{
    const char *pattern = sentences[_i].pattern;
    ck_assert_msg(strchr("{[<]>", pattern[0]) == NULL, "%s: %s", sentences[_i].family, pattern);
    for (int depth = 0; *pattern != '\0'; pattern++) { /* a bracket that none opened would end it */
        if (*pattern == '{')
            pattern = strchr(pattern, '}');
        depth += (*pattern == '[' || *pattern == '<') - (*pattern == ']' || *pattern == '>');
        ck_assert_msg(depth >= 0, "%s: %s", sentences[_i].family, sentences[_i].pattern);
    }
}
END_TEST

/* Of Elasticsearch, whose row has brackets of the text in it. */
START_TEST(brackets_of_the_text_are_matched)
{
    static const char text[] = "[parent] Data too large, data for [<http_request>] would be [4294967296/4gb], which is "
                               "larger than the limit of [3221225472/3gb]\n";
    char value[128];
    struct oom_answer answer = oom_ask(text, strlen(text));
    ck_assert_str_eq(oom_value(answer.failures->child, "capacity_bytes", value), "3221225472");
    cJSON_Delete(answer.failures);
}
END_TEST

START_TEST(clauses_of_torch_are_read_in_any_order)
{
    check_clauses("XPU out of memory. Tried to allocate 5.12 GiB (GPU 0; ", old_clauses, 5);
    check_clauses("CUDA out of memory. Tried to allocate 5.12 GiB. ", new_clauses, 6);
}
END_TEST

/* ---- numbers ---- */

START_TEST(numbers_are_read_with_any_separators)
{
    static const struct {
        const char *text, *bytes;
    } numbers[] = {
        {"4,000,000,000 bytes", "4000000000"},
        {"4000000000 bytes", "4000000000"},
        {"5030,00 MiB", "5274337280"},
        {"1,5 GiB", "1610612736"},
        {"12,345 bytes", "12345"},
        {"1,024.50 MiB", "1074266112"},
        {"4,000,000,000", "4000000000"},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char text[200], value[128];
        size_t length = (size_t)snprintf(
            text, sizeof(text), "RESOURCE_EXHAUSTED: Out of memory allocating %s. It ends.\n", numbers[i].text);
        struct oom_answer answer = oom_ask(text, length);
        ck_assert_msg(strcmp(oom_value(answer.failures->child, "needed_bytes", value), numbers[i].bytes) == 0,
                      "%s is read as %s", numbers[i].text, value);
        cJSON_Delete(answer.failures);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom_clauses");
    TCase *cases = tcase_create("clauses");
    suite_add_tcase(suite, cases);
    tcase_add_loop_test(cases, sentences_begin_with_a_letter_of_their_own, 0, SENTENCE_COUNT);
    tcase_add_loop_test(cases, sentences_are_found_in_a_log, 0, SENTENCE_COUNT);
    tcase_add_loop_test(cases, each_row_and_each_clause_can_match, 0, SENTENCE_COUNT);
    tcase_add_loop_test(cases, clauses_left_out_or_cut_lend_no_figure, 0, SENTENCE_COUNT);
    tcase_add_test(cases, brackets_of_the_text_are_matched);
    tcase_add_test(cases, clauses_of_torch_are_read_in_any_order);
    tcase_add_test(cases, numbers_are_read_with_any_separators);
    return bytes_run(suite);
}
