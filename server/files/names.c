/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/names.h"

#include "analysis/analysis.h"
#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Length of `name` without `ending`, or 0 if it does not end so or has only the ending. */
static size_t without(const char *name, size_t length, const char *ending)
{
    size_t ending_length = strlen(ending);
    bool ends = length > ending_length && memcmp(name + length - ending_length, ending, ending_length) == 0;
    return ends ? length - ending_length : 0;
}

static size_t without_gzip(const char *name)
{
    size_t length = strlen(name), inner = without(name, length, ".gz");
    return inner ? inner : length;
}

bool names_is_gzip(const char *name) { return without_gzip(name) != strlen(name); }

size_t names_stamp_length(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && name[digits] == '.' ? digits + 1 : 0;
}

/* "module_0006." or, with time stamps in the names, "1700000000000000.module_0006." */
static bool is_dump_name(const char *name)
{
    name += names_stamp_length(name);
    if (strncmp(name, "module_", 7) != 0)
        return false;
    size_t digits = strspn(name + 7, "0123456789");
    return digits >= 4 && name[7 + digits] == '.';
}

bool names_claims_profile(const char *name)
{
    size_t length = without_gzip(name);
    return without(name, length, ".prof") || without(name, length, ".pprof");
}

/* Names under which pprof profiles are found: heap.pb.gz, profile.out, memory, heap.1.gz. */
static bool may_be_profile(const char *name, size_t length)
{
    bool has_word = strcasestr(name, "prof") || strcasestr(name, "heap") || strcasestr(name, "mem");
    bool has_dot = memchr(name, '.', length) != NULL;
    return without(name, length, ".pb") || without(name, length, ".heap") ||
           (has_word &&
            (!has_dot || names_is_gzip(name) || without(name, length, ".out") || without(name, length, ".bin")));
}

static size_t without_any(const char *name, size_t length, const char *const *endings, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        size_t inner = without(name, length, endings[at]);
        if (inner)
            return inner;
    }
    return 0;
}

size_t names_assignment_length(const char *name)
{
    static const char *const ENDINGS[] = {".buffer_assignment.pb", "_buffer_assignment.pb", "-buffer-assignment.pb",
                                          ".buffer-assignment.pb"};
    return without_any(name, strlen(name), ENDINGS, sizeof(ENDINGS) / sizeof(ENDINGS[0]));
}

static bool is_assignment(const char *name)
{
    return names_assignment_length(name) > 0 || strcmp(name, "buffer_assignment.pb") == 0 ||
           strcmp(name, "buffer-assignment.pb") == 0;
}

size_t names_assignment_text_length(const char *name)
{
    return is_dump_name(name) ? without(name, strlen(name), "-buffer-assignment.txt") : 0;
}

bool names_is_module_text(const char *name)
{
    static const char *const ENDINGS[] = {"before_optimizations.txt", "after_optimizations.txt",
                                          "oom_intermediate_module.txt"};
    return is_dump_name(name) && without_any(name, strlen(name), ENDINGS, sizeof(ENDINGS) / sizeof(ENDINGS[0])) > 0;
}

static bool is_pickle(const char *name)
{
    size_t length = without_gzip(name);
    return without(name, length, ".pickle") || without(name, length, ".pkl");
}

/* Those that are read; see names_is_archive. */
static bool is_read_archive(const char *name)
{
    size_t length = strlen(name);
    return without(name, without_gzip(name), ".tar") || without(name, length, ".tgz") || without(name, length, ".zip");
}

bool names_is_archive(const char *name)
{
    static const char *const OTHERS[] = {".tar.bz2", ".tar.xz", ".tar.zst", ".7z"};
    return is_read_archive(name) || without_any(name, strlen(name), OTHERS, sizeof(OTHERS) / sizeof(OTHERS[0]));
}

bool names_claims_kind(const char *name)
{
    return names_claims_profile(name) || is_pickle(name) || without(name, without_gzip(name), ".pt.trace.json");
}

/* Archives are left out: in a folder lie those of other things, too. */
static bool is_foreign(const char *name)
{
    size_t length = 0;
    char *stem = analysis_foreign_name(name, &length) ? memory_format("%.*s", (int)length, name) : NULL;
    enum names_kind kind = stem && !names_is_archive(stem) ? names_kind_of(stem) : NAMES_OTHER;
    free(stem);
    return kind != NAMES_OTHER && kind != NAMES_PROFILE && kind != NAMES_FOREIGN;
}

enum names_kind names_kind_of(const char *name)
{
    size_t length = without_gzip(name);
    if (is_foreign(name))
        return NAMES_FOREIGN;
    if (without(name, length, ".xplane.pb"))
        return NAMES_TRACE;
    if (without(name, length, ".hlo_proto.pb"))
        return NAMES_XPROF_CACHE;
    if (is_dump_name(name))
        return without(name, length, ".hlo.pb") ? NAMES_DUMP_MODULE : NAMES_DUMP_SIBLING;
    if (without(name, length, ".hlo.pb") || without(name, length, ".hlo.txt"))
        return NAMES_HLO;
    if (is_assignment(name))
        return NAMES_ASSIGNMENT;
    if (is_pickle(name) || without(name, length, ".json") || without(name, length, ".html") ||
        without(name, length, ".htm") || without(name, length, ".zip") || is_read_archive(name))
        return NAMES_SNAPSHOT;
    if (strcmp(name, "error.txt") == 0 || strcmp(name, "error.txt.gz") == 0)
        return NAMES_ERROR_TEXT;
    if (without(name, length, ".log") || without(name, length, ".txt"))
        return NAMES_LOG;
    return names_claims_profile(name) || may_be_profile(name, length) ? NAMES_PROFILE : NAMES_OTHER;
}

bool names_is_listed(const char *name)
{
    return names_kind_of(name) != NAMES_OTHER || strcmp(name, "topology.textproto") == 0;
}

enum names_kind names_kind_confirmed(enum names_kind kind, bool is_as_named)
{
    if (kind == NAMES_SNAPSHOT)
        return is_as_named ? NAMES_TRACE : NAMES_OTHER;
    return kind == NAMES_PROFILE && !is_as_named ? NAMES_OTHER : kind;
}

static const struct {
    const char *text;
    enum names_stage stage;
} STAGES[] = {
    {"after_optimizations", NAMES_STAGE_AFTER},
    {"oom_intermediate_module", NAMES_STAGE_OOM},
    {"before_optimizations", NAMES_STAGE_BEFORE},
};

const char *names_stage_text(enum names_stage stage)
{
    for (size_t at = 0; at < sizeof(STAGES) / sizeof(STAGES[0]); at++) {
        if (STAGES[at].stage == stage)
            return STAGES[at].text;
    }
    return NULL;
}

/* XLA writes "cpu_after_optimizations" and "sm_8.0_gpu_after_optimizations":
 * takes the part before the word back to the dot that ends the module's name. */
static size_t stem_before(const char *name, size_t word_at)
{
    if (word_at > 0 && name[word_at - 1] == '_') {
        const char *first = NULL;
        for (size_t at = 0; at < word_at && !first; at++) {
            bool begins = strncmp(name + at, ".sm_", 4) == 0 || strncmp(name + at, ".gfx", 4) == 0;
            if (begins && at > 0)
                first = name + at;
        }
        while (!first && word_at > 0 && name[word_at] != '.')
            word_at--;
        return first ? (size_t)(first - name) : word_at;
    }
    return word_at > 0 ? word_at - 1 : 0;
}

struct names_module names_module_of(const char *name)
{
    struct names_module module = {without_gzip(name), NAMES_STAGE_NONE};
    for (size_t at = 0; at < sizeof(STAGES) / sizeof(STAGES[0]); at++) {
        const char *word = strstr(name, STAGES[at].text);
        size_t stem = word ? stem_before(name, (size_t)(word - name)) : 0;
        if (stem > 0)
            return (struct names_module){stem, STAGES[at].stage};
    }
    size_t stem = without(name, module.stem_length, ".hlo.pb");
    if (!stem)
        stem = without(name, module.stem_length, ".hlo_proto.pb");
    if (stem)
        module.stem_length = stem;
    return module;
}

size_t names_host_length(const char *name) { return without(name, without_gzip(name), ".xplane.pb"); }

size_t names_title_length(const char *name)
{
    static const char *const ENDINGS[] = {".xplane.pb", ".hlo_proto.pb",  ".hlo.pb",   ".hlo.txt",  ".hlo_snapshot.pb",
                                          ".pb",        ".pt.trace.json", ".prof",     ".pprof",    ".pickle.zip",
                                          ".pickle",    ".pkl",           ".json.zip", ".html.zip", ".json",
                                          ".html",      ".htm",           ".zip",      ".tar",      ".tgz"};
    size_t length = without_gzip(name),
           inner = without_any(name, length, ENDINGS, sizeof(ENDINGS) / sizeof(ENDINGS[0]));
    return inner ? inner : length;
}

const char *names_word(const char *name)
{
    switch (names_kind_of(name)) {
    case NAMES_TRACE: return "trace";
    case NAMES_SNAPSHOT: return is_pickle(name) ? "snapshot" : "other"; /* that much others are called, too */
    case NAMES_HLO:
    case NAMES_XPROF_CACHE:
    case NAMES_DUMP_MODULE: return "hlo";
    case NAMES_ASSIGNMENT: return "buffer_assignment";
    case NAMES_ERROR_TEXT: return "error_text";
    case NAMES_LOG: return "log";
    case NAMES_PROFILE: return "profile";
    case NAMES_DUMP_SIBLING:
    case NAMES_OTHER:
    case NAMES_FOREIGN: break;
    }
    if (names_is_module_text(name))
        return "hlo";
    if (strstr(name, "-buffer-assignment"))
        return "buffer_assignment";
    if (strstr(name, "-memory-usage-report"))
        return "memory_usage_report";
    return strstr(name, "-live-range") ? "live_range" : "other";
}
