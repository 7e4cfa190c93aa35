/* SPDX-License-Identifier: Apache-2.0
 * api_capacity.c: how much memory a device has: the table of devices, and what
 * an error text says of the one it was printed for. */
#include "server/api/api.h"

#include "analysis/analysis.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct response *api_devices(const struct server *server, const struct request *request)
{
    const char *text = request_param(request, "needed_bytes", "0");
    char *end;
    (void)server;
    const long long needed = strtoll(text, &end, 10);
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text) || needed < 0 || needed == LLONG_MAX)
        return response_problem(400, "argument", "needed_bytes must be a whole number");
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct analysis_device device;
    json_object_begin(&json);
    json_key_array(&json, "devices");
    for (size_t at = 0; analysis_device_at(at, &device); at++) {
        json_object_begin(&json);
        json_key_text(&json, "name", device.name);
        json_key_text(&json, "title", device.title);
        json_key_text(&json, "platform", device.platform);
        json_key_uint(&json, "physical_bytes", device.physical_bytes);
        json_key_known(&json, "available_bytes", device.available_bytes > 0 ? (int64_t)device.available_bytes : -1);
        json_key_text(&json, "source", device.source);
        if (needed > 0) {
            struct capacity chosen;
            capacity_choose(device.name, &chosen);
            struct capacity_stated capacity = capacity_core(&chosen);
            capacity.source = device.title;
            analysis_fit_write(&json, "fit", &capacity, (uint64_t)needed, request_param(request, "space_name", ""));
        }
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    return response_json(&buf);
}

struct response *api_capacity_read(const struct request *request, struct capacity *chosen)
{
    const char *text = request_param(request, "capacity", "");
    *chosen = (struct capacity){0};
    if (text[0] == '\0' || capacity_choose(text, chosen))
        return NULL;
    return response_problem(400, "argument", "capacity is the name of a device, as v5e, or a size, as 15.75GiB");
}

void api_write_capacity(struct json *json, const char *text, size_t length)
{
    struct analysis_capacity capacity;
    if (!json_key_object_if(json, "capacity", analysis_capacity_from_text(text, length, &capacity)))
        return;
    json_key_int(json, "space", capacity.space);
    json_key_uint(json, "available_bytes", capacity.available_bytes);
    json_key_uint(json, "half_unit_bytes", capacity.half_unit_bytes);
    json_key_known(json, "needed_bytes", capacity.has_needed ? (int64_t)capacity.needed_bytes : -1);
    json_key_uint(json, "offset_bytes", capacity.offset);
    json_key_uint(json, "length_bytes", capacity.length);
    json_object_end(json);
}
