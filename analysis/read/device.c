/* SPDX-License-Identifier: Apache-2.0 */
#include "read/device.h"

static const struct device devices[] = {
#define DEVICE(name, title, platform, physical, available, source, kinds)                                              \
    {name, title, SPACE_PLATFORM_##platform, physical, available, source, kinds},
#include "read/device.def"
#undef DEVICE
};

const struct device *device_at(size_t at) { return at < sizeof(devices) / sizeof(devices[0]) ? &devices[at] : NULL; }

const struct device *device_named(const char *name)
{
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
        if (str_equal_any_case(str_of(devices[i].name), str_of(name)))
            return &devices[i];
    return NULL;
}

const struct device *device_of_family(const char *name)
{
    const struct device *device = device_named(name);
    size_t length = strlen(name);
    for (size_t i = 0; length > 0 && device == NULL && i < sizeof(devices) / sizeof(devices[0]); i++) {
        const char *row = devices[i].name;
        if (strlen(row) > length && row[length] == '-' &&
            str_equal_any_case((struct str){row, length}, (struct str){name, length}))
            device = &devices[i];
    }
    return device;
}

const struct device *device_of_kind(struct str kind)
{
    for (size_t i = 0; kind.length > 0 && i < sizeof(devices) / sizeof(devices[0]); i++) {
        for (const char *at = devices[i].kinds; *at != '\0';) {
            size_t length = strcspn(at, "|");
            if (str_equal_any_case((struct str){at, length}, kind))
                return &devices[i];
            at += length + (at[length] == '|');
        }
    }
    return NULL;
}
