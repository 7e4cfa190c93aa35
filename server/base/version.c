/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/version.h"

/* BUILD_INFO_…: build_info.h, which the build writes and includes. */
#include <limits.h> /* for what tells the C library */

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef __GLIBC__
#define C_LIBRARY "glibc"
#else
#define C_LIBRARY "another C library, statically"
#endif

const char version_number[] = BUILD_INFO_VERSION;
const char version_commit[] = BUILD_INFO_COMMIT;
const char version_libraries[] = BUILD_INFO_LIBRARIES ", " C_LIBRARY "; " COMPILER;
