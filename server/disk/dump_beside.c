/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/dump_beside.h"

#include "analysis/analysis.h"
#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 22 };

_Static_assert(sizeof(((struct dump_beside *)0)->topology) >= COMPILE_INPUT_TOPOLOGY_SIZE, "a topology fits");

/* Length of the path up to the stage in its name: "…/module_0000.jit_f.cl_1"; 0: it has none. */
static size_t stem_length(const char *path)
{
    static const char *const stages[] = {".before_optimizations", ".after_optimizations"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t at = 0; at < sizeof(stages) / sizeof(stages[0]); at++) {
        const char *stage = strstr(name, stages[at]);
        if (stage && stage > name)
            return (size_t)(stage - path);
    }
    return 0;
}

/* A file at the stem; false if there is none. */
static bool read_one(const struct files_place *place, size_t stem, bool is_path, const char *end, struct buf *out)
{
    const char *whole = is_path ? place->path : place->root;
    struct err err = ERR_INIT;
    char *path = memory_format("%.*s%s", (int)stem, whole, end);
    const struct files_place beside = {.root = is_path ? place->root : path, .path = is_path ? path : ""};
    bool is_read = files_read_text(&beside, MAX_BYTES, out, &err) && !out->failed;
    free(path);
    return is_read;
}

void dump_beside_read(const struct files_place *place, struct dump_beside *beside)
{
    static const struct {
        const char *end, *source;
    } files[] = {{".target_arguments.pb", "target_arguments.pb"}, {"/topology.pb", "topology.pb"}};
    *beside = (struct dump_beside){.options = BUF_INIT};
    bool is_path = place->path && place->path[0] != '\0';
    size_t stem = place->bytes ? 0 : stem_length(is_path ? place->path : place->root);
    for (size_t at = 0; stem > 0 && at < sizeof(files) / sizeof(files[0]) && beside->topology[0] == '\0'; at++) {
        struct buf bytes = BUF_INIT;
        struct err err = ERR_INIT;
        if (read_one(place, stem, is_path, files[at].end, &bytes) &&
            compile_input_topology((struct str){bytes.data, bytes.length}, beside->topology, &err))
            beside->source = files[at].source;
        else
            beside->topology[0] = '\0';
        buf_free(&bytes);
    }
    if (stem > 0 && !read_one(place, stem, is_path, "/compile_options.pb", &beside->options))
        buf_free(&beside->options);
}

void dump_beside_free(struct dump_beside *beside) { buf_free(&beside->options); }
