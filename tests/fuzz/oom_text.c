/* SPDX-License-Identifier: Apache-2.0
 * oom_text.c: any bytes as the text of an out-of-memory error. */
#include "analysis/analysis.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct analysis_capacity capacity;
    struct analysis_device device;

    if (analysis_capacity_from_text((const char *)data, size, &capacity)) {
        if (capacity.offset > size || capacity.length > size - capacity.offset)
            abort(); /* the place lies inside the text */
    }
    for (size_t at = 0; analysis_device_at(at, &device); at++) {
        if (!device.name || !device.title || !device.source)
            abort();
    }
    return 0;
}
