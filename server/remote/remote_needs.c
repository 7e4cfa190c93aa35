/* SPDX-License-Identifier: Apache-2.0 */
#include "server/remote/remote_needs.h"

#include "server/remote/aws_credentials.h"
#include "server/remote/google_credentials.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_DNS = 53, PORT_HTTP = 80, PORT_HTTPS = 443 };

void remote_needs_files(void (*file)(void *context, const char *path), void *context)
{
    static const char *const FILES[] = {
        "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts",    "/etc/nsswitch.conf", "/etc/host.conf",
        "/etc/gai.conf",    "/etc/services",        "/etc/ssl",      "/etc/pki",           "/usr/share/ca-certificates",
        "/usr/lib/ssl",     "/etc/ca-certificates", "/etc/localtime"};
    static const char *const VARIABLES[] = {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};
    for (size_t at = 0; at < sizeof(FILES) / sizeof(FILES[0]); at++)
        file(context, FILES[at]);
    for (size_t at = 0; at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *named = getenv(VARIABLES[at]);
        if (named && named[0])
            file(context, named);
    }
    aws_credentials_each_file(file, context);
    google_credentials_each_file(file, context);
}

/* "http://host:8080/x", "host:8080", "[::1]:8080"; the scheme's own, or `usual`. */
static uint16_t port_of(const char *url, uint16_t usual)
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    size_t length = strcspn(host, "/?#");
    const char *at = memchr(host, '@', length);
    if (scheme)
        usual = strncmp(url, "https:", 6) == 0 ? PORT_HTTPS : strncmp(url, "http:", 5) == 0 ? PORT_HTTP : usual;
    length -= at ? (size_t)(at + 1 - host) : 0;
    host = at ? at + 1 : host;
    size_t digits = length; /* where those at the end begin; colons of an IPv6 address lie before a bracket */
    while (digits > 0 && isdigit((unsigned char)host[digits - 1]))
        digits--;
    bool has_port = digits < length && digits > 0 && host[digits - 1] == ':';
    unsigned long number = has_port ? strtoul(host + digits, NULL, 10) : 0;
    return number > 0 && number < 65536 ? (uint16_t)number : usual;
}

void remote_needs_ports(const char *address, void (*port)(void *context, uint16_t number), void *context)
{
    static const struct {
        const char *name;
        uint16_t usual;
    } VARIABLES[] = {
        {"AWS_ENDPOINT_URL", PORT_HTTPS},
        {"AWS_ENDPOINT_URL_S3", PORT_HTTPS},
        {"AWS_ENDPOINT_URL_STS", PORT_HTTPS},
        {"AWS_CONTAINER_CREDENTIALS_FULL_URI", PORT_HTTP},
        {"AWS_EC2_METADATA_SERVICE_ENDPOINT", PORT_HTTP},
        {"STORAGE_EMULATOR_HOST", PORT_HTTP},
        {"GCE_METADATA_HOST", PORT_HTTP},
        {"https_proxy", 1080},
        {"HTTPS_PROXY", 1080},
        {"http_proxy", 1080},
        {"all_proxy", 1080},
        {"ALL_PROXY", 1080},
    };
    port(context, PORT_DNS);
    port(context, PORT_HTTP); /* metadata servers */
    port(context, PORT_HTTPS);
    port(context, port_of(address, PORT_HTTPS));
    for (size_t at = 0; at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *url = getenv(VARIABLES[at].name);
        if (url && url[0])
            port(context, port_of(url, VARIABLES[at].usual));
    }
}
