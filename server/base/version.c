/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/version.h"

/* BUILD_INFO_…: build_info.h, which the build writes and includes. */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef MEMVIEWD_STATIC
#define C_LIBRARY "musl, linked statically"
#elif defined(__APPLE__)
#define C_LIBRARY "macOS"
#else
#define C_LIBRARY "glibc"
#endif

const char version_number[] = BUILD_INFO_VERSION;
const char version_commit[] = BUILD_INFO_COMMIT;
const char version_libraries[] = BUILD_INFO_LIBRARIES ", " C_LIBRARY "; " COMPILER;
#ifdef MEMVIEWD_FLEETLESS
const bool version_has_fleet = false;
#else
const bool version_has_fleet = true;
#endif
