/* SPDX-License-Identifier: Apache-2.0
 * no_http2.c: loaded before libcurl, makes it one that was built without HTTP/2. */
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dlfcn.h>

curl_version_info_data *curl_version_info(CURLversion version)
{
    static curl_version_info_data without;
    curl_version_info_data *(*of_library)(CURLversion) = dlsym(RTLD_NEXT, "curl_version_info");
    without = *of_library(version);
    without.features &= ~CURL_VERSION_HTTP2;
    return &without;
}
