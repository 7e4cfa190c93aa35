/* SPDX-License-Identifier: Apache-2.0
 * pjrt.h: the part of PJRT's C interface by which a program is compiled ahead of time.
 *
 * A library gives a table (GetPjrtApi); every entry of it takes one struct, which begins with its own size and a
 * pointer to extensions (NULL here), and most return NULL or an error that is to be destroyed. Entries and members are
 * only ever added at the end while the major version stays: what is declared here has its place in every version from
 * PJRT_MIN_MINOR to PJRT_MAX_MINOR. Versions beyond are refused until somebody has looked at them.
 * Source: xla/pjrt/c/pjrt_c_api.h of XLA (version 0.90 of it, in tensorflow 2.21.0); tables of libtpu 0.0.17 (0.69),
 * 0.0.30 (0.81), 0.0.40 (0.103) and 0.0.52 (0.117), each of which compiled with these declarations. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PJRT_MAJOR = 0, PJRT_MIN_MINOR = 69, PJRT_MAX_MINOR = 117 };

enum { PJRT_RESOURCE_EXHAUSTED = 8 };

struct pjrt_error;
struct pjrt_topology;
struct pjrt_executable;

struct pjrt_head {
    size_t struct_size; /* of the whole struct, by who calls */
    void *extension_start;
};

struct pjrt_error_destroy {
    struct pjrt_head head;
    struct pjrt_error *error;
};

struct pjrt_error_message {
    struct pjrt_head head;
    const struct pjrt_error *error;
    const char *message; /* out; as long as the error lives */
    size_t message_size; /* out */
};

struct pjrt_error_code {
    struct pjrt_head head;
    const struct pjrt_error *error;
    int code; /* out */
};

enum { PJRT_NAMED_VALUE_STRING = 0 };

/* An option; of five types the one that is needed. */
struct pjrt_named_value {
    struct pjrt_head head;
    const char *name;
    size_t name_size;
    int type;
    const char *text; /* of a union of 8 bytes */
    size_t value_size;
};

struct pjrt_topology_create {
    struct pjrt_head head;
    const char *topology_name;
    size_t topology_name_size;
    const struct pjrt_named_value *create_options;
    size_t create_option_count;
    struct pjrt_topology *topology; /* out */
};

struct pjrt_topology_version {
    struct pjrt_head head;
    struct pjrt_topology *topology;
    const char *version; /* out; as long as the topology lives */
    size_t version_size; /* out */
};

struct pjrt_program {
    struct pjrt_head head;
    char *code;
    size_t code_size;
    const char *format; /* "hlo": a HloModuleProto */
    size_t format_size;
};

struct pjrt_compile {
    struct pjrt_head head;
    const struct pjrt_topology *topology;
    const struct pjrt_program *program;
    const char *options; /* a CompileOptionsProto */
    size_t option_size;
    void *client;                       /* NULL: ahead of time */
    struct pjrt_executable *executable; /* out */
};

/* All but the head: out. */
struct pjrt_memory_stats {
    struct pjrt_head head;
    struct pjrt_executable *executable;
    int64_t generated_code_bytes, argument_bytes, output_bytes, alias_bytes, temporary_bytes;
    int64_t host_generated_code_bytes, host_argument_bytes, host_output_bytes, host_alias_bytes, host_temporary_bytes;
    int64_t peak_bytes, total_bytes; /* total: something else than the sum of the others */
};

typedef struct pjrt_error *pjrt_call(void *arguments);
typedef void pjrt_note(void *arguments); /* of the two entries that return nothing */

/* Places of the entries, counted from the first behind the version. */
enum {
    PJRT_ERROR_DESTROY = 0, /* pjrt_note */
    PJRT_ERROR_MESSAGE = 1, /* pjrt_note */
    PJRT_ERROR_GET_CODE = 2,
    PJRT_PLUGIN_INITIALIZE = 3,
    PJRT_TOPOLOGY_CREATE = 82,
    PJRT_TOPOLOGY_PLATFORM_VERSION = 85,
    PJRT_COMPILE = 89,
    PJRT_EXECUTABLE_GET_MEMORY_STATS = 96,
    PJRT_ENTRY_COUNT
};

struct pjrt_api {
    struct pjrt_head head;
    struct {
        struct pjrt_head head;
        int major, minor;
    } version;
    void (*entries[PJRT_ENTRY_COUNT])(void); /* each a pjrt_call, or a pjrt_note; more follow */
};
