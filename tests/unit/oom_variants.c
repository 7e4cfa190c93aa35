/* SPDX-License-Identifier: Apache-2.0
 * The texts of tests/fixtures/oom as they arrive: wrapped, prefixed, escaped, repeated,
 * cut. None of that may change a figure. */
#include "oom.h"
#include "part.h"

/* clang-format off */
static const char *const names[] = {
    "0.10.0-libtpu0.0.40-v5e-adamlin",  "0.10.0-libtpu0.0.40-v5e-argsonly3",   "0.10.0-libtpu0.0.40-v5e-scoped",
    "0.10.1-libtpu0.0.40-v5e-half",     "0.10.2-cpu-jit10T",                   "0.10.2-libtpu0.0.52-v5e-dots",
    "0.10.2-libtpu0.0.52-v5e-vmemarr",  "0.4.35-libtpu0.0.2-v5e-seed",         "0.4.35-libtpu0.0.2-v5e-smem16",
    "0.4.38-libtpu0.0.7-v5e-little",    "0.6.2-libtpu0.0.17-v5e-padsort",      "0.6.2-libtpu0.0.17-v5e-scoped",
    "0.6.2-libtpu0.0.17-v5e-seed-exit1", "0.8.3-libtpu0.0.32.1-v5e-linnodon",
    "torch-2024-others", "torch-2020", "kernel-group", "numpy", "vllm-request", "ray", "triton",
};
/* clang-format on */
/* One kernel that was tried is no failure of a log that goes on: the last name. */
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]), LASTING_COUNT = NAME_COUNT - 1 };

static void load(struct bytes *bytes, int at)
{
    char path[200];
    snprintf(path, sizeof(path), "tests/fixtures/oom/%s.txt", names[at]);
    bytes_load(bytes, path);
}

/* ---- comparing ---- */

/* Places and notes differ by nature. The words of a front end may be around one copy only. The spaces at the place
 * where a line was broken cannot always be known. */
static bool is_left_out(const char *key)
{
    static const char *const keys[] = {"ranges",      "notes",     "replicas", "label",    "op_name",
                                       "source_file", "framework", "program",  "activity", "whose"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Those that are compared: what is left out may be absent from one of the two. */
static int compared_count(const cJSON *whole)
{
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, whole) count += item->string == NULL || !is_left_out(item->string);
    return count;
}

static bool is_same(const cJSON *wanted, const cJSON *got, const char **where)
{
    const cJSON *item;
    if (!cJSON_IsObject(wanted) && !cJSON_IsArray(wanted))
        return cJSON_Compare(wanted, got, true);
    if (compared_count(wanted) != compared_count(got))
        return false;
    int at = 0;
    cJSON_ArrayForEach(item, wanted)
    {
        const cJSON *other =
            item->string != NULL ? cJSON_GetObjectItemCaseSensitive(got, item->string) : cJSON_GetArrayItem(got, at++);
        if (item->string != NULL && is_left_out(item->string))
            continue;
        if (!is_same(item, other, where)) {
            *where = item->string != NULL ? item->string : *where;
            return false;
        }
    }
    return true;
}

static void check_same(const struct bytes *whole, const char *text, size_t length, const char *what, int replica_count)
{
    struct oom_answer wanted = oom_ask(whole->data, whole->length), got = oom_ask(text, length);
    const char *where = "?";
    char replicas[128];
    ck_assert_msg(is_same(wanted.failures, got.failures, &where), "%s: %s differs in:\n%.300s", what, where, text);
    ck_assert_msg(atoi(oom_value(got.failures->child, "replicas", replicas)) == replica_count, "%s: %s replicas", what,
                  replicas);
    cJSON_Delete(wanted.failures);
    cJSON_Delete(got.failures);
}

/* ---- changing ---- */

struct text {
    char *data;
    size_t length;
};

static struct text text_new(const struct bytes *bytes)
{
    return (struct text){calloc(bytes->length * 24 + 4096, 1), 0};
}

static void put(struct text *text, const char *data)
{
    size_t length = strlen(data);
    memcpy(text->data + text->length, data, length);
    text->length += length;
}

static void put_byte(struct text *text, char c) { text->data[text->length++] = c; }

/* Lines of at most `width`: broken anywhere, or at spaces where there are some. */
static struct text wrapped(const struct bytes *bytes, size_t width, bool at_spaces, const char *indent)
{
    struct text text = text_new(bytes);
    size_t column = 0, space_at = 0, space_column = 0;
    for (size_t i = 0; i < bytes->length; i++) {
        if (column == width && bytes->data[i] != '\n') {
            bool goes_back = at_spaces && space_column > width / 2;
            if (goes_back) {
                i -= text.length - space_at;
                text.length = space_at;
                i++;
            }
            put_byte(&text, '\n');
            put(&text, indent);
            column = space_column = 0;
        }
        if (bytes->data[i] == ' ') {
            space_at = text.length;
            space_column = column;
        }
        put_byte(&text, bytes->data[i]);
        column = bytes->data[i] == '\n' ? 0 : column + 1;
        if (column == 0)
            space_column = 0;
    }
    return text;
}

static struct text prefixed(const struct bytes *bytes, const char *prefix)
{
    struct text text = text_new(bytes);
    put(&text, prefix);
    for (size_t i = 0; i < bytes->length; i++) {
        put_byte(&text, bytes->data[i]);
        if (bytes->data[i] == '\n')
            put(&text, prefix);
    }
    return text;
}

/* Each of `from` becomes its word of `to`. */
static struct text replaced(const struct bytes *bytes, const char *from, const char *const *to)
{
    struct text text = text_new(bytes);
    for (size_t i = 0; i < bytes->length; i++) {
        const char *found = strchr(from, bytes->data[i]);
        if (found != NULL && *found != '\0')
            put(&text, to[found - from]);
        else
            put_byte(&text, bytes->data[i]);
    }
    return text;
}

/* ---- tests ---- */

START_TEST(any_width_reads_alike)
{
    struct bytes bytes;
    load(&bytes, _i);
    for (size_t width = 40; width <= 200; width++)
        for (int at_spaces = 0; at_spaces < 2 && part_has(width + (size_t)_i); at_spaces++) {
            static const char *const indents[] = {"        ", "", "\xE2\x96\x8E "};
            char what[100];
            struct text text = wrapped(&bytes, width, at_spaces, indents[width % 3]);
            snprintf(what, sizeof(what), "%s wrapped at %zu%s", names[_i], width, at_spaces ? " between words" : "");
            check_same(&bytes, text.data, text.length, what, 1);
            free(text.data);
        }
    bytes_close(&bytes);
}
END_TEST

static const char *const prefixes[] = {
    "E0528 07:02:44.350251   27487 pjrt_stream_executor_client.cc:2826] ",
    "2020-05-04 09:05:40.721128: E    1578 tensorflow/compiler/xla/xla_client/xla_util.cc:76] ",
    "2024-05-28 07:02:44.350162: W external/tsl/tsl/framework/bfc_allocator.cc:494] ",
    "(RayTrainWorker pid=1234, ip=10.68.3.4) ",
    "\x1b[36m(pid=77, ip=10.68.9.4)\x1b[0m I0320 03:59:34.722540 855 deepsea_compiler_backend.cc:2163] ",
    "2024-05-28T07:02:44.349554123Z stderr F ",
    "[pod/train-0-abcde/jax-tpu] ",
    "trainer-1  | ",
    "May 28 07:02:44 t1v-n-0 python3[1234]: ",
    "[rank3]: ",
    "[1,0]<stderr>:",
    "12: ",
    "tpu-vm-3: ",
    "E       ",
    "2024-05-28 07:02:44,123 - trainer - ERROR - ",
    "(EngineCore_DP0 pid=1234) ERROR 05-28 07:02:44 [core.py:700] ",
    "[2024-05-28 07:02:44,123] {taskinstance.py:12} ERROR - ",
    "ERROR:root:",
    "> > ",
    "&gt; ",
    "| ",
    "\xE2\x96\x8E ",
    "\xE2\x94\x82 ERROR 05-28 07:02:44 [core.py:700] ",
    "\t\t",
};

START_TEST(any_logger_reads_alike)
{
    struct bytes bytes;
    load(&bytes, _i);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        struct text text = prefixed(&bytes, prefixes[i]);
        check_same(&bytes, text.data, text.length, prefixes[i], 1);
        free(text.data);
    }
    bytes_close(&bytes);
}
END_TEST

START_TEST(any_escape_reads_alike)
{
    static const struct {
        const char *what, *from;
        const char *to[6];
    } escapes[] = {
        {"escaped line ends", "\n", {"\\n"}},
        {"a JSON string", "\n\"", {"\\n", "\\\""}},
        {"a JSON string in a JSON string", "\n\"", {"\\\\n", "\\\\\\\""}},
        {"HTML", "<>\"&", {"&lt;", "&gt;", "&quot;", "&amp;"}},
        {"Markdown", "_*[", {"\\_", "\\*", "\\["}},
        {"CRLF", "\n", {"\r\n"}},
        {"one line", "\n", {" "}},
    };
    struct bytes bytes;
    load(&bytes, _i);
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        struct text text = replaced(&bytes, escapes[i].from, escapes[i].to);
        check_same(&bytes, text.data, text.length, escapes[i].what, 1);
        free(text.data);
    }
    bytes_close(&bytes);
}
END_TEST

START_TEST(wide_letters_read_alike)
{
    struct bytes bytes;
    load(&bytes, _i);
    struct text text = text_new(&bytes);
    put(&text, "\xff\xfe");
    for (size_t i = 0; i < bytes.length; i++) {
        put_byte(&text, bytes.data[i]);
        put_byte(&text, '\0');
    }
    check_same(&bytes, text.data, text.length, "UTF-16", 1);
    free(text.data);
    bytes_close(&bytes);
}
END_TEST

START_TEST(replicas_are_counted)
{
    struct bytes bytes;
    load(&bytes, _i);
    struct text text = text_new(&bytes), mixed = text_new(&bytes);
    for (int i = 0; i < 3; i++) {
        put(&text,
            i == 1 ? "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\njax.errors.JaxRuntimeError: "
                   : "");
        bytes.data[bytes.length] = '\0';
        put(&text, bytes.data);
        put(&text, "\n");
    }
    check_same(&bytes, text.data, text.length, "three copies", 3);
    for (char *line = bytes.data, *end; line < bytes.data + bytes.length; line = end + 1) {
        end = strchr(line, '\n') != NULL ? strchr(line, '\n') : bytes.data + bytes.length;
        for (int i = 0; i < 3; i++) {
            put(&mixed, i == 0 ? "(w pid=1) " : i == 1 ? "(w pid=2) " : "(w pid=3) ");
            for (char *c = line; c < end; c++)
                put_byte(&mixed, *c);
            put(&mixed, "\n");
        }
    }
    check_same(&bytes, mixed.data, mixed.length, "three copies line by line", 3);
    free(text.data);
    free(mixed.data);
    bytes_close(&bytes);
}
END_TEST

/* What a cut text states, the whole one states alike. */
static void check_cut(const cJSON *whole, const cJSON *cut, size_t length)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cut)
    {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(whole, item->string);
        bool is_size = strstr(item->string, "_bytes") != NULL;
        ck_assert_msg(!is_size || cJSON_IsNull(item) || cJSON_Compare(item, other, true),
                      "cut at %zu: %s is %.0f, not %.0f", length, item->string, item->valuedouble,
                      other != NULL ? other->valuedouble : -1);
    }
}

START_TEST(a_cut_text_states_nothing_wrong)
{
    struct bytes bytes;
    load(&bytes, _i);
    struct oom_answer whole = oom_ask(bytes.data, bytes.length);
    for (size_t length = 0; length < bytes.length; length += length < 2000 ? 1 : 7) {
        if (!part_has(length + (size_t)_i))
            continue;
        struct oom_answer cut = oom_ask(bytes.data, length);
        ck_assert_msg(cut.explanation.failure_count <= 1, "cut at %zu: %zu failures", length,
                      cut.explanation.failure_count);
        if (cut.failures->child != NULL)
            check_cut(whole.failures->child, cut.failures->child, length);
        cJSON_Delete(cut.failures);
    }
    cJSON_Delete(whole.failures);
    bytes_close(&bytes);
}
END_TEST

/* The text before and behind a report is so long that the report crosses the reader's windows. */
START_TEST(a_report_deep_in_a_log_is_found)
{
    struct bytes bytes;
    load(&bytes, _i);
    static const char line[] = "I0528 07:02:44.350251 27487 train.py:12] step 12 loss=0.5 examples/sec=123.4\n";
    for (size_t before = (1 << 20) - 3000; before < (1 << 20) + 5000; before += 777) {
        if (!part_has(before + (size_t)_i))
            continue;
        struct text text = {calloc((size_t)4 << 20, 1), 0};
        while (text.length < before)
            put(&text, line);
        memcpy(text.data + text.length, bytes.data, bytes.length);
        text.length += bytes.length;
        put(&text, "\n");
        while (text.length < (size_t)3 << 20)
            put(&text, line);
        check_same(&bytes, text.data, text.length, "in a log", 1);
        free(text.data);
    }
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom_variants");
    TCase *tests = tcase_create("oom_variants");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, any_width_reads_alike, 0, NAME_COUNT);
    tcase_add_loop_test(tests, any_logger_reads_alike, 0, NAME_COUNT);
    tcase_add_loop_test(tests, any_escape_reads_alike, 0, NAME_COUNT);
    tcase_add_loop_test(tests, wide_letters_read_alike, 0, NAME_COUNT);
    tcase_add_loop_test(tests, replicas_are_counted, 0, NAME_COUNT);
    tcase_add_loop_test(tests, a_cut_text_states_nothing_wrong, 0, NAME_COUNT);
    tcase_add_loop_test(tests, a_report_deep_in_a_log_is_found, 0, LASTING_COUNT);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
