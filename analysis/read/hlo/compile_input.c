/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/compile_input.h"
#include "read/hlo/chip.h"

#include "compile.fields.h"
#include "hlo.fields.h"
#include "read/hlo/hlo.h"
#include "wire/wire.h"
#include "wire/wire_write.h"

/* ---- The program -------------------------------------------------------------- */

static int64_t device_count(uint64_t value) { return value >= 1 && value <= HLO_DEVICES_MAX ? (int64_t)value : 1; }

static void assignment_read(struct wire wire, struct compile_input *input)
{
    while (wire_next(&wire)) {
        if (wire.number == DEVICE_ASSIGNMENT_PROTO_REPLICA_COUNT)
            input->replica_count = device_count(wire_uint(&wire));
        else if (wire.number == DEVICE_ASSIGNMENT_PROTO_COMPUTATION_COUNT)
            input->partition_count = device_count(wire_uint(&wire));
    }
}

/* Shardy's meshes are named on the module; JAX writes "xla.sdy.meshes", and "mhlo.…" nowhere. */
static bool has_meshes(struct wire attributes)
{
    while (wire_next(&attributes)) {
        struct wire entry = wire_message(&attributes);
        while (attributes.number == FRONTEND_ATTRIBUTES_MAP && wire_next(&entry))
            if (entry.number == FRONTEND_ATTRIBUTES_ENTRY_KEY && str_equal(wire_text(&entry), STR("xla.sdy.meshes")))
                return true;
    }
    return false;
}

/* Fills all but the span; true if the bytes have what a module has: a name, computations and an entry. */
static bool module_read(struct str bytes, struct compile_input *input, struct err *err)
{
    struct wire wire = wire_open(bytes, 0, err);
    bool has_computation = false, has_entry = false;
    *input = (struct compile_input){.module = bytes, .replica_count = 1, .partition_count = 1};
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HLO_MODULE_PROTO_COMPUTATIONS: has_computation |= wire.type == WIRE_BYTES; break;
        case HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME: has_entry |= wire.type == WIRE_BYTES; break;
        case HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID: has_entry |= wire.type == WIRE_VARINT; break;
        case HLO_MODULE_PROTO_DEVICE_ASSIGNMENT: assignment_read(wire_message(&wire), input); break;
        case HLO_MODULE_PROTO_FRONTEND_ATTRIBUTES: input->has_shardy |= has_meshes(wire_message(&wire)); break;
        default: break;
        }
    }
    return !err_is_set(err) && has_computation && has_entry;
}

bool compile_input_read(struct str program, struct compile_input *input, struct err *err)
{
    struct err bare = ERR_INIT;
    if (module_read(program, input, &bare))
        return true;
    struct str module = {NULL, 0};
    struct wire wire = wire_open(program, 0, err);
    while (wire_next(&wire))
        if (wire.number == HLO_PROTO_HLO_MODULE)
            module = wire_text(&wire);
    if (err_is_set(err))
        return false;
    return (module.length > 0 && module_read(module, input, err)) ||
           err_set(err, ERR_malformed, 0, "not an HLO program: no module with computations and an entry");
}

/* ---- The chip ----------------------------------------------------------------- */

bool compile_input_is_topology(struct str name)
{
    size_t at = 0, axis_count = 0;
    while (at < name.length && ((name.data[at] >= 'a' && name.data[at] <= 'z') || str_digits(name, at) > 0))
        at++;
    if (at == 0 || at == name.length || name.data[at] != ':' || name.length >= CHIP_TOPOLOGY_SIZE)
        return false;
    do {
        size_t digits = str_digits(name, ++at);
        if (digits == 0 || digits > 4)
            return false;
        at += digits;
        axis_count++;
    } while (at < name.length && name.data[at] == 'x');
    return at == name.length && (axis_count == 2 || axis_count == 3);
}

/* ---- Compile options ---------------------------------------------------------- */

/* A list rather than a rule, because the file does not contain the names of flags. */
static bool is_about_dumps(uint32_t flag)
{
    static const uint16_t flags[] = {
        DEBUG_OPTIONS_XLA_DUMP_TO,
        DEBUG_OPTIONS_XLA_DUMP_HLO_MODULE_RE,
        DEBUG_OPTIONS_XLA_DUMP_HLO_PASS_RE,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_TEXT,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_PROTO,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_DOT,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_URL,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_HTML,
        DEBUG_OPTIONS_XLA_DUMP_HLO_SNAPSHOTS,
        DEBUG_OPTIONS_XLA_DUMP_INCLUDE_TIMESTAMP,
        DEBUG_OPTIONS_XLA_DUMP_MAX_HLO_MODULES,
        DEBUG_OPTIONS_XLA_DUMP_MODULE_METADATA,
        DEBUG_OPTIONS_XLA_DUMP_FUSION_VISUALIZATION,
        DEBUG_OPTIONS_XLA_DUMP_COMPRESS_PROTOS,
        DEBUG_OPTIONS_XLA_DUMP_DISABLE_METADATA,
        DEBUG_OPTIONS_XLA_DUMP_HLO_PIPELINE_RE,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_LONG_TEXT,
        DEBUG_OPTIONS_XLA_DUMP_LATENCY_HIDING_SCHEDULE,
        DEBUG_OPTIONS_XLA_ENABLE_DUMPING,
        DEBUG_OPTIONS_XLA_DUMP_LARGE_CONSTANTS,
        DEBUG_OPTIONS_XLA_DUMP_FULL_HLO_CONFIG,
        DEBUG_OPTIONS_XLA_DUMP_HLO_UNOPTIMIZED_SNAPSHOTS,
        DEBUG_OPTIONS_XLA_DUMP_EMITTER_RE,
        DEBUG_OPTIONS_XLA_DUMP_BUFFER_ASSIGNMENT_ANALYSIS,
        DEBUG_OPTIONS_XLA_DUMP_HLO_AS_RIEGELI,
        DEBUG_OPTIONS_XLA_DUMP_HLO_TO_SUBFOLDER,
    };
    for (size_t at = 0; at < sizeof(flags) / sizeof(flags[0]); at++)
        if (flags[at] == flag)
            return true;
    return false;
}

/* Flags in the options take precedence over XLA_FLAGS: a dump would go where the one in the file went. */
static void debug_options_write(struct wire wire, struct str dump_folder, struct buf *out)
{
    struct buf flags = BUF_INIT;
    const uint8_t *from = wire.at;
    for (; wire_next(&wire); from = wire.at)
        if (!is_about_dumps(wire.number))
            buf_add(&flags, from, (size_t)(wire.at - from));
    wire_write_bytes(&flags, DEBUG_OPTIONS_XLA_DUMP_TO, dump_folder);
    wire_write_number(&flags, DEBUG_OPTIONS_XLA_DUMP_HLO_AS_PROTO, 1);
    wire_write_number(&flags, DEBUG_OPTIONS_XLA_DUMP_MAX_HLO_MODULES, UINT64_MAX);
    wire_write_number(&flags, DEBUG_OPTIONS_XLA_ENABLE_DUMPING, 1);
    wire_write_bytes(out, EXECUTABLE_BUILD_OPTIONS_PROTO_DEBUG_OPTIONS, (struct str){flags.data, flags.length});
    buf_fail_with(out, &flags);
    buf_free(&flags);
}

struct build_options {
    struct buf devices; /* the fields that say over how many and how, as they are */
    struct buf others;  /* all other fields, as they are but for the dumps */
    int64_t replica_count, partition_count;
};

static void build_options_read(struct wire wire, struct str dump_folder, struct build_options *options)
{
    const uint8_t *from = wire.at;
    for (; wire_next(&wire); from = wire.at) {
        struct buf *to = &options->devices;
        switch (wire.number) {
        case EXECUTABLE_BUILD_OPTIONS_PROTO_NUM_REPLICAS: options->replica_count = wire_int(&wire); break;
        case EXECUTABLE_BUILD_OPTIONS_PROTO_NUM_PARTITIONS: options->partition_count = wire_int(&wire); break;
        case EXECUTABLE_BUILD_OPTIONS_PROTO_USE_SPMD_PARTITIONING:
        case EXECUTABLE_BUILD_OPTIONS_PROTO_DEVICE_ASSIGNMENT:
        case EXECUTABLE_BUILD_OPTIONS_PROTO_ALLOW_SPMD_SHARDING_PROPAGATION_TO_OUTPUT:
        case EXECUTABLE_BUILD_OPTIONS_PROTO_USE_SHARDY_PARTITIONER: break;
        default: to = &options->others; break;
        }
        if (wire.number == EXECUTABLE_BUILD_OPTIONS_PROTO_DEBUG_OPTIONS)
            debug_options_write(wire_message(&wire), dump_folder, to);
        else
            buf_add(to, from, (size_t)(wire.at - from));
    }
}

static void devices_write(const struct compile_input *input, int64_t partition_count, struct buf *out)
{
    wire_write_number(out, EXECUTABLE_BUILD_OPTIONS_PROTO_NUM_REPLICAS, (uint64_t)input->replica_count);
    wire_write_number(out, EXECUTABLE_BUILD_OPTIONS_PROTO_NUM_PARTITIONS, (uint64_t)partition_count);
    if (partition_count == 1)
        return;
    wire_write_number(out, EXECUTABLE_BUILD_OPTIONS_PROTO_USE_SPMD_PARTITIONING, 1);
    if (input->has_shardy)
        wire_write_number(out, EXECUTABLE_BUILD_OPTIONS_PROTO_USE_SHARDY_PARTITIONER, 1);
    else
        wire_write_number(out, EXECUTABLE_BUILD_OPTIONS_PROTO_ALLOW_SPMD_SHARDING_PROPAGATION_TO_OUTPUT, 1);
}

/* An entry of the map, whose flag is one of dumps: those would come before ours. */
static bool overrides_dumps(struct wire entry)
{
    while (wire_next(&entry))
        if (entry.number == COMPILE_OPTIONS_PROTO_OVERRIDE_KEY)
            return str_starts(wire_text(&entry), STR("xla_dump_")) ||
                   str_equal(wire_text(&entry), STR("xla_enable_dumping"));
    return false;
}

bool compile_input_options(const struct compile_input *input, struct str options, int64_t partition_count,
                           struct str dump_folder, struct buf *out, struct err *err)
{
    struct build_options build = {.devices = BUF_INIT, .others = BUF_INIT};
    struct wire wire = wire_open(options, 0, err);
    partition_count = partition_count > 0 ? partition_count : input->partition_count;
    const uint8_t *from = wire.at;
    for (; wire_next(&wire); from = wire.at) {
        if (wire.number == COMPILE_OPTIONS_PROTO_EXECUTABLE_BUILD_OPTIONS)
            build_options_read(wire_message(&wire), dump_folder, &build);
        else if (wire.number != COMPILE_OPTIONS_PROTO_ENV_OPTION_OVERRIDES || !overrides_dumps(wire_message(&wire)))
            buf_add(out, from, (size_t)(wire.at - from));
    }
    if (options.length == 0)
        wire_write_number(&build.others, EXECUTABLE_BUILD_OPTIONS_PROTO_DEVICE_ORDINAL, UINT64_MAX);
    if (build.replica_count == input->replica_count && build.partition_count == partition_count)
        buf_add(&build.others, build.devices.data, build.devices.length);
    else
        devices_write(input, partition_count, &build.others);
    wire_write_bytes(out, COMPILE_OPTIONS_PROTO_EXECUTABLE_BUILD_OPTIONS,
                     (struct str){build.others.data, build.others.length});
    buf_fail_with(out, &build.devices);
    buf_fail_with(out, &build.others);
    buf_is_whole(out, "what the compiler is told", err);
    buf_free(&build.devices);
    buf_free(&build.others);
    return !err_is_set(err);
}
