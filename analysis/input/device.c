/* SPDX-License-Identifier: Apache-2.0
 * device.c: see device.h. */
#include "input/device.h"

static const struct device devices[] = {
#define DEVICE(name, title, platform, physical, available, source) \
    {name, title, SPACE_PLATFORM_##platform, physical, available, source},
#include "input/device.def"
#undef DEVICE
};

const struct device *device_at(size_t at)
{
    return at < sizeof devices / sizeof devices[0] ? &devices[at] : NULL;
}
