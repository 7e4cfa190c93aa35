/* SPDX-License-Identifier: Apache-2.0
 * version.h: which build this is. Its own file, so that another commit compiles nothing else again. */
#pragma once

#include <stdbool.h>

extern const char version_number[]; /* "0.1.0" */
extern const char
    version_commit[]; /* of the source, "-dirty" behind it if that was changed; "" where it is not known */
extern const char
    version_libraries[]; /* "libmicrohttpd 0.9.75, …": what it was built with, the C library and the compiler last */
extern const bool version_has_fleet; /* false: built with FLEET=0, and what takes it says VERSION_FLEETLESS */
#define VERSION_FLEETLESS "this memviewd was built without fleet (FLEET=0)"
