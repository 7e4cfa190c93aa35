/* SPDX-License-Identifier: Apache-2.0
 * oom.c: see oom.h. */
#include "input/oom/oom.h"

const char *oom_family_name(enum oom_family family)
{
    static const char *const names[] = {
#define FAMILY(name, phase, title, heading, who) #name,
#include "input/oom/families.def"
#undef FAMILY
    };
    return names[family];
}

const char *oom_looked_for(size_t at)
{
    static const char *const kinds[] = {
        "TPU compiler: \"Ran out of memory in memory space hbm. Used … of … hbm.\" and the report behind it",
        "TPU compiler: \"Ran out of memory on HBM, … exceeds available HBM\"",
        "TPU compiler: \"Aborting compilation early because it's unlikely to have enough memory\"",
        "TPU compiler: \"Allocation (size=…) would exceed memory (size=…)\"",
        "TPU compiler: \"… while allocating on stack … Scoped allocation with size …\", SparseCore allocations",
        "TPU runtime: \"Attempting to allocate …\" and \"Attempting to reserve … at the bottom of memory. That was not possible.\"",
        "GPU: \"Out of memory while trying to allocate …\", \"Failed to allocate request for …\", \"BufferAssignment OOM Debugging\"",
        "GPU: the BFC allocator's \"ran out of memory trying to allocate …\" and its dump",
        "TensorFlow: \"OOM when allocating tensor with shape …\"",
        "CPU and others: \"Out of memory allocating … bytes\", \"RESOURCE_EXHAUSTED\" with one of the codes E0100, E0101, E1000, E1001, E3000",
    };
    return at < sizeof kinds / sizeof kinds[0] ? kinds[at] : NULL;
}
