/* SPDX-License-Identifier: Apache-2.0
 * version.h: which build this is. Its own file, so that another commit compiles nothing else again. */
#pragma once

extern const char version_number[]; /* "0.1.0" */
extern const char
    version_commit[]; /* of the source, "-dirty" behind it if that was changed; "" where it is not known */
extern const char
    version_libraries[]; /* "libmicrohttpd 0.9.75, …": what it was built with, the C library and the compiler last */
