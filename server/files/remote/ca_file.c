/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/ca_file.h"

#include "server/files/remote/setting.h"

#include <stdio.h>
#include <unistd.h>

/* With the name of a server before it, it has to fit into an err. */
#define NO_CERTIFICATES "no certificates to check the server by: "

static const char *const PLACES[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Ubuntu, Alpine, Arch, Nix */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora, RHEL and their derivatives */
    "/etc/ssl/ca-bundle.pem",                            /* SUSE */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL without the link above */
    "/etc/ssl/cert.pem",                                 /* Alpine without its package of certificates */
};

enum { PLACE_COUNT = sizeof(PLACES) / sizeof(PLACES[0]) };

/* As curl's own program has it; the library does not look at the environment for them. */
static const char *named_by_environment(void)
{
    const char *found = setting("CURL_CA_BUNDLE");
    return found ? found : setting("SSL_CERT_FILE");
}

const char *ca_file_find(const char *named, char *why)
{
    const char *said = named && named[0] ? named : named_by_environment();
    for (size_t at = 0; !said && at < PLACE_COUNT; at++) {
        if (access(PLACES[at], R_OK) == 0)
            return PLACES[at];
    }
    if (said && access(said, R_OK) == 0)
        return said;
#ifndef MEMVIEWD_STATIC
    if (!said)
        return "";
#endif
    if (said)
        snprintf(why, CA_FILE_WHY_BYTES, NO_CERTIFICATES "%s cannot be read", said);
    else
        snprintf(why, CA_FILE_WHY_BYTES,
                 NO_CERTIFICATES
                 "SSL_CERT_FILE is not set, and neither %s nor its like in /etc/pki and /etc/ssl is there",
                 PLACES[0]);
    return NULL;
}
