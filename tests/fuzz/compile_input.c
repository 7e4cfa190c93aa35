/* SPDX-License-Identifier: Apache-2.0
 * compile_input.c: the same bytes as a program, as files that tell a chip, as compile options, and as
 * the number and the name of a device. */
#include "read/hlo/compile_input.h"
#include "analysis/analysis.h"
#include "read/hlo/chip.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void ask_program(struct str bytes)
{
    struct compile_input input;
    struct err err = ERR_INIT;
    if (!compile_input_read(bytes, &input, &err)) {
        check(err_is_set(&err));
        return;
    }
    check(input.module.data >= bytes.data && input.module.data + input.module.length <= bytes.data + bytes.length);
    check(input.replica_count >= 1 && input.partition_count >= 1);
}

static void ask_topology(struct str bytes)
{
    char name[CHIP_TOPOLOGY_SIZE];
    struct err err = ERR_INIT;
    struct chip chip;
    bool is_known = chip_read(bytes, &chip, &err);
    check(!is_known || (chip.device != NULL && chip.topology_name != NULL));
    is_known = is_known && chip_topology(&chip, name, &err);
    check(is_known != err_is_set(&err));
    check(!is_known || name[0] != '\0');
    compile_input_is_topology(bytes);
}

/* What was written is read again, and stays as it is. */
static void ask_options(struct str bytes, int64_t partition_count)
{
    const struct compile_input input = {.replica_count = 1, .partition_count = 1, .has_shardy = partition_count == 4};
    struct buf once = BUF_INIT, twice = BUF_INIT;
    struct err err = ERR_INIT;
    if (compile_input_options(&input, bytes, partition_count, STR("/dump"), &once, &err)) {
        check(compile_input_options(&input, (struct str){once.data, once.length}, partition_count, STR("/dump"), &twice,
                                    &err));
        check(str_equal((struct str){once.data, once.length}, (struct str){twice.data, twice.length}));
    } else {
        check(err_is_set(&err));
    }
    buf_free(&once);
    buf_free(&twice);
}

/* A device of the table, by its number, and by its name: what is written of it for a compiler is read as that
 * device. */
static void ask_device(struct str bytes)
{
    struct analysis_device device, same;
    struct buf target = BUF_INIT;
    char name[32] = "";
    uint64_t capacity_bytes;
    memcpy(name, bytes.data, bytes.length < sizeof(name) - 1 ? bytes.length : sizeof(name) - 1);
    analysis_device_find(name, &device);
    analysis_capacity_read(name, &capacity_bytes, &device);
    if (bytes.length == 0 || !analysis_device_at((unsigned char)bytes.data[0], &device))
        return;
    check(analysis_device_find(device.name, &same) && strcmp(same.name, device.name) == 0);
    if (analysis_device_target(device.name, &target)) {
        struct err err = ERR_INIT;
        struct chip chip;
        check(chip_read((struct str){target.data, target.length}, &chip, &err) &&
              strcmp(chip.device->name, device.name) == 0);
    }
    buf_free(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str bytes = {(const char *)data, size};
    ask_program(bytes);
    ask_topology(bytes);
    ask_options(bytes, 0);
    ask_options(bytes, 2);
    ask_options(bytes, 4);
    ask_device(bytes);
    return 0;
}
