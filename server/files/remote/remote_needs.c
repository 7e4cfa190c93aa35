/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/remote_needs.h"

#include "server/files/remote/aws_credentials.h"
#include "server/files/remote/aws_process.h"
#include "server/files/remote/ca_file.h"
#include "server/files/remote/google_credentials.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_DNS = 53, PORT_HTTP = 80, PORT_HTTPS = 443, PORT_PROXY = 1080 };

void remote_needs_files(void (*file)(void *context, const char *path), void *context)
{
    static const char *const FILES[] = {"/etc/resolv.conf",
                                        "/run/systemd/resolve",
                                        "/etc/hosts",
                                        "/etc/nsswitch.conf",
                                        "/etc/host.conf",
                                        "/etc/gai.conf",
                                        "/etc/services",
                                        "/etc/ssl",
                                        "/etc/pki",
                                        "/usr/share/ca-certificates",
                                        "/usr/lib/ssl",
                                        "/etc/ca-certificates",
                                        "/var/lib/ca-certificates",
                                        "/etc/localtime"};
    static const char *const VARIABLES[] = {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};
    for (size_t at = 0; at < sizeof(FILES) / sizeof(FILES[0]); at++)
        file(context, FILES[at]);
    for (size_t at = 0; at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *named = getenv(VARIABLES[at]);
        if (named && named[0])
            file(context, named);
    }
    char why[CA_FILE_WHY_BYTES];
    const char *ca_file = ca_file_find(NULL, why);
    if (ca_file)
        file(context, ca_file); /* what it is a link to */
}

void remote_needs_program(const char *address)
{
    if (strncmp(address, "s3:", 3) == 0)
        aws_process_prepare();
}

void remote_needs_credentials(void (*file)(void *context, const char *path), void *context)
{
    aws_credentials_each_file(file, context);
    google_credentials_each_file(file, context);
}

/* The port in "http://host:8080/x", "host:8080", "[::1]:8080"; 0: it has none. */
static uint16_t port_said(const char *url)
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    size_t length = strcspn(host, "/?#"), digits = length; /* where those at the end begin */
    while (digits > 0 && isdigit((unsigned char)host[digits - 1]))
        digits--;
    bool has_port = digits < length && digits > 0 && host[digits - 1] == ':'; /* in IPv6 they lie before a bracket */
    unsigned long number = has_port ? strtoul(host + digits, NULL, 10) : 0;
    return number < 65536 ? (uint16_t)number : 0;
}

uint16_t remote_needs_port(const char *url, uint16_t usual)
{
    uint16_t said = port_said(url);
    if (strncmp(url, "https:", 6) == 0)
        usual = PORT_HTTPS;
    else if (strncmp(url, "http:", 5) == 0)
        usual = PORT_HTTP;
    return said ? said : usual;
}

/* Without a port, libcurl uses 1080, except for proxies with https. */
void remote_needs_proxy_ports(void (*port)(void *context, uint16_t number), void *context)
{
    static const char *const VARIABLES[] = {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"};
    for (size_t at = 0; at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *url = getenv(VARIABLES[at]);
        uint16_t said = url && url[0] ? port_said(url) : 0;
        if (url && url[0])
            port(context, said ? said : strncmp(url, "https:", 6) == 0 ? PORT_HTTPS : PORT_PROXY);
    }
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
    };
    port(context, PORT_DNS);
    port(context, PORT_HTTP); /* metadata servers */
    port(context, PORT_HTTPS);
    port(context, remote_needs_port(address, PORT_HTTPS));
    for (size_t at = 0; at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *url = getenv(VARIABLES[at].name);
        if (url && url[0])
            port(context, remote_needs_port(url, VARIABLES[at].usual));
    }
    remote_needs_proxy_ports(port, context);
}
