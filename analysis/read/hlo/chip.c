/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/chip.h"

#include "compile.fields.h"
#include "wire/wire.h"

#include <stdio.h>

enum { MAX_CHIPS_ALONG = 4096 };
/* More is damage: far more than any device has. */
#define MEMORY_MAX_BYTES (UINT64_C(1) << 48)

static const struct row {
    uint64_t generation;
    const char *code_name, *variant; /* "": any that is not of another row */
    const char *topology_name, *device;
    int axis_count;
} ROWS[] = {
    {1, "JELLYFISH", "", "v2", "v2", 2},       {2, "DRAGONFISH", "", "v3", "v3", 2},
    {3, "PUFFERFISH", "", "v4", "v4", 3},      {4, "VIPERFISH", "", "v5p", "v5p", 3},
    {4, "VIPERFISH", "lite", "v5e", "v5e", 2}, {5, "GHOSTLITE", "", "v6e", "v6e", 2},
    {6, "GHOSTFISH", "", "tpu7x", "v7x", 3},
};

/* What a file says. */
struct said {
    uint64_t generation;
    struct str code_name; /* instead of the generation, in texts */
    struct str variant, kind;
    uint64_t chips[3];
    uint64_t memory_bytes; /* of a GPU */
};

/* ---- protos ---- */

/* Multiplies: chips of a host by hosts. What is out of bounds becomes 0. */
static void bounds_multiply(const uint64_t sizes[3], uint64_t chips[3])
{
    for (int axis = 0; axis < 3; axis++)
        chips[axis] = sizes[axis] > MAX_CHIPS_ALONG || chips[axis] > MAX_CHIPS_ALONG ? 0 : chips[axis] * sizes[axis];
}

static void bounds_read(struct wire wire, uint64_t chips[3])
{
    uint64_t sizes[3] = {1, 1, 1};
    while (wire_next(&wire))
        if (wire.number >= TPU_TOPOLOGY_BOUNDS_X && wire.number <= TPU_TOPOLOGY_BOUNDS_Z)
            sizes[wire.number - TPU_TOPOLOGY_BOUNDS_X] = wire_uint(&wire);
    bounds_multiply(sizes, chips);
}

static void topology_read(struct wire wire, struct said *said)
{
    while (wire_next(&wire)) {
        switch (wire.number) {
        case TPU_TOPOLOGY_GENERATION: said->generation = wire_uint(&wire); break;
        case TPU_TOPOLOGY_VARIANT: said->variant = wire_text(&wire); break;
        case TPU_TOPOLOGY_CHIPS_PER_HOST:
        case TPU_TOPOLOGY_HOSTS: bounds_read(wire_message(&wire), said->chips); break;
        default: break;
        }
    }
}

/* The first field `number` of a message, as a message of its own; empty if there is none. */
static struct wire field_of(struct wire wire, uint32_t number)
{
    while (wire_next(&wire))
        if (wire.number == number)
            return wire_message(&wire);
    return wire_open((struct str){NULL, 0}, 0, wire.err);
}

/* What XLA on GPUs writes into topology.pb: false for what libtpu does. */
static bool gpu_read(struct str file, struct said *said)
{
    struct err err = ERR_INIT;
    struct wire any = field_of(wire_open(file, 0, &err), PJ_RT_TOPOLOGY_DESCRIPTION_PROTO_PLATFORM_SPECIFIC_TOPOLOGY);
    struct wire gpu = wire_open((struct str){NULL, 0}, 0, &err);
    bool is_gpu = false;
    while (wire_next(&any)) {
        if (any.number == PJ_RT_TOPOLOGY_DESCRIPTION_PROTO_ANY_TYPE_URL)
            is_gpu = str_ends(wire_text(&any), STR("xla.GpuTopologyProto"));
        else if (any.number == PJ_RT_TOPOLOGY_DESCRIPTION_PROTO_ANY_VALUE)
            gpu = wire_message(&any);
    }
    while (is_gpu && wire_next(&gpu)) {
        if (gpu.number == GPU_TOPOLOGY_PROTO_PLATFORM_VERSION)
            said->kind = wire_text(&gpu);
        if (gpu.number != GPU_TOPOLOGY_PROTO_GPU_TARGET_CONFIG)
            continue;
        struct wire info = field_of(wire_message(&gpu), GPU_TARGET_CONFIG_PROTO_GPU_DEVICE_INFO);
        while (wire_next(&info))
            if (info.number == GPU_DEVICE_INFO_PROTO_DEVICE_MEMORY_SIZE)
                said->memory_bytes = wire_uint(&info);
    }
    if (!is_gpu || err_is_set(&err))
        *said = (struct said){.chips = {1, 1, 1}};
    return is_gpu && !err_is_set(&err);
}

static void proto_read(struct str file, struct said *said)
{
    struct err err = ERR_INIT;
    if (gpu_read(file, said))
        return;
    topology_read(field_of(wire_open(file, 0, &err), TPU_TARGET_ARGUMENTS_TOPOLOGY), said);
    if (said->generation > 0)
        return;
    struct wire any = field_of(wire_open(file, 0, &err), PJ_RT_TOPOLOGY_DESCRIPTION_PROTO_PLATFORM_SPECIFIC_TOPOLOGY);
    struct wire description = field_of(any, PJ_RT_TOPOLOGY_DESCRIPTION_PROTO_ANY_VALUE);
    topology_read(field_of(description, TPU_TOPOLOGY_DESCRIPTION_TOPOLOGY), said);
    if (err_is_set(&err))
        *said = (struct said){.chips = {1, 1, 1}};
}

/* ---- texts ---- */

/* The next line without the white space around it; false at the end. */
static bool line_next(struct str *rest, struct str *line)
{
    if (rest->length == 0)
        return false;
    const char *end = memchr(rest->data, '\n', rest->length);
    size_t length = end ? (size_t)(end - rest->data) : rest->length, used = length + (end != NULL);
    *line = (struct str){rest->data, length};
    *rest = (struct str){rest->data + used, rest->length - used};
    while (line->length > 0 && line->data[0] == ' ')
        *line = (struct str){line->data + 1, line->length - 1};
    return true;
}

/* The text after `name` on the line, without quotes. */
static bool value_of(struct str line, const char *name, struct str *value)
{
    size_t length = strlen(name);
    if (!str_starts(line, str_of(name)))
        return false;
    *value = (struct str){line.data + length, line.length - length};
    if (value->length >= 2 && value->data[0] == '"' && value->data[value->length - 1] == '"')
        *value = (struct str){value->data + 1, value->length - 2};
    return true;
}

static uint64_t number_of(struct str text)
{
    uint64_t number = 0;
    size_t digits = str_digits(text, 0);
    for (size_t at = 0; at < digits && number <= MAX_CHIPS_ALONG; at++)
        number = number * 10 + (uint64_t)(text.data[at] - '0');
    return digits > 0 ? number : 1;
}

static void bounds_read_text(struct str *rest, uint64_t chips[3])
{
    uint64_t sizes[3] = {1, 1, 1};
    struct str line, value;
    while (line_next(rest, &line) && !str_starts(line, STR("}"))) {
        for (int axis = 0; axis < 3; axis++) {
            const char name[] = {"xyz"[axis], ':', ' ', '\0'};
            if (value_of(line, name, &value))
                sizes[axis] = number_of(value);
        }
    }
    bounds_multiply(sizes, chips);
}

/* "TFRT TPU v5 lite\nBuilt on …", the break as two characters. */
static struct str kind_of_version(struct str version)
{
    size_t length = 0;
    while (length < version.length && version.data[length] != '\\')
        length++;
    return (struct str){version.data, length};
}

/* 0: it is damaged. */
static uint64_t memory_of(struct str text)
{
    uint64_t bytes = 0;
    size_t digits = str_digits(text, 0);
    for (size_t at = 0; at < digits && bytes <= MEMORY_MAX_BYTES; at++)
        bytes = bytes * 10 + (uint64_t)(text.data[at] - '0');
    return bytes;
}

static void text_read(struct str rest, struct said *said)
{
    struct str line, value;
    while (line_next(&rest, &line)) {
        if (value_of(line, "version: TPU_VERSION_", &value))
            said->code_name = value;
        else if (value_of(line, "variant: ", &value))
            said->variant = value;
        else if (value_of(line, "chips_per_host_bounds {", &value) || value_of(line, "host_bounds {", &value))
            bounds_read_text(&rest, said->chips);
        else if (value_of(line, "platform_version: \"TFRT ", &value))
            said->kind = kind_of_version(value);
        else if (value_of(line, "device_description_str: ", &value))
            said->kind = value;
        else if (value_of(line, "device_memory_size: ", &value))
            said->memory_bytes = memory_of(value);
    }
}

/* ---- the row ---- */

static bool is_row(const struct row *row, const struct said *said)
{
    if (said->generation > 0 || said->code_name.length > 0)
        return (said->generation == row->generation || str_equal(said->code_name, str_of(row->code_name))) &&
               str_equal(said->variant, str_of(row->variant));
    const struct device *device = device_of_kind(said->kind);
    return device != NULL && strcmp(device->name, row->device) == 0;
}

static bool gpu_of(const struct said *said, struct chip *chip)
{
    const struct device *device = device_of_kind(said->kind);
    if (device == NULL || device->platform != SPACE_PLATFORM_GPU)
        return false;
    *chip = (struct chip){.device = device,
                          .memory_bytes = said->memory_bytes <= MEMORY_MAX_BYTES ? said->memory_bytes : 0};
    return true;
}

bool chip_read(struct str file, struct chip *chip, struct err *err)
{
    struct said said = {.chips = {1, 1, 1}};
    proto_read(file, &said);
    if (said.generation == 0 && said.kind.length == 0)
        text_read(file, &said);
    if (str_contains(file, STR("xla.CpuTopologyProto")))
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "compiled for the host's processor");
    if (said.generation == 0 && said.code_name.length == 0 && said.kind.length == 0)
        return err_set(err, ERR_malformed, ERR_NO_OFFSET, "says nothing of a chip");
    if (gpu_of(&said, chip))
        return true;
    for (size_t at = 0; at < sizeof(ROWS) / sizeof(ROWS[0]); at++) {
        if (!is_row(&ROWS[at], &said))
            continue;
        *chip = (struct chip){device_named(ROWS[at].device), ROWS[at].topology_name, ROWS[at].axis_count, {0}, 0};
        bool is_told = said.generation > 0 || said.code_name.length > 0;
        memcpy(chip->chips, said.chips, is_told ? sizeof(chip->chips) : 0);
        return true;
    }
    return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "a chip that is not known: generation %llu",
                   (unsigned long long)said.generation);
}

bool chip_of_device(const struct device *device, struct chip *chip)
{
    for (size_t at = 0; at < sizeof(ROWS) / sizeof(ROWS[0]); at++) {
        if (device_named(ROWS[at].device) != device)
            continue;
        *chip = (struct chip){device, ROWS[at].topology_name, ROWS[at].axis_count, {2, 2, 1}, 0};
        return true;
    }
    return false;
}

bool chip_topology(const struct chip *chip, char name[CHIP_TOPOLOGY_SIZE], struct err *err)
{
    const uint64_t *chips = chip->chips;
    if (chip->topology_name == NULL)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET, "libtpu compiles for no GPU");
    int length = snprintf(name, CHIP_TOPOLOGY_SIZE, "%s:%llux%llu", chip->topology_name, (unsigned long long)chips[0],
                          (unsigned long long)chips[1]);
    if (chip->axis_count == 3)
        snprintf(name + length, CHIP_TOPOLOGY_SIZE - (size_t)length, "x%llu", (unsigned long long)chips[2]);
    return (chips[0] > 0 && chips[1] > 0 && chips[2] > 0) ||
           err_set(err, ERR_unsupported, ERR_NO_OFFSET, "how many chips there are is not told, or out of bounds");
}
