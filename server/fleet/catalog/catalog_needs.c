/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog_needs.h"

#include "server/base/memory.h"

#include <libpq-fe.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the address says, else the environment and libpq itself. */
struct settings {
    PQconninfoOption *of_url, *usual;
};

static const char *catalog_needs_find(const PQconninfoOption *options, const char *keyword)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0 && options->val && options->val[0])
            return options->val;
    return NULL;
}

static const char *value_of(const struct settings *settings, const char *keyword)
{
    const char *value = catalog_needs_find(settings->of_url, keyword);
    return value ? value : catalog_needs_find(settings->usual, keyword);
}

static struct settings settings_read(const char *url)
{
    struct settings settings = {PQconninfoParse(url, NULL), NULL};
    settings.usual = settings.of_url ? PQconndefaults() : NULL;
    return settings;
}

static void settings_free(struct settings *settings)
{
    PQconninfoFree(settings->of_url);
    PQconninfoFree(settings->usual);
}

/* A path is that of a Unix socket; without any host it is one, too. */
static bool has_socket(const struct settings *settings)
{
    const char *host = value_of(settings, "host");
    return (!host && !value_of(settings, "hostaddr")) || (host && strchr("/@", host[0])) ||
           (host && strstr(host, ",/"));
}

void catalog_needs_ports(const char *url, void (*port)(void *context, uint16_t number), void *context)
{
    struct settings settings = settings_read(url);
    const char *ports = value_of(&settings, "port");
    for (const char *at = ports; at; at = strchr(at, ',')) {
        at += *at == ',';
        unsigned long number = strtoul(at, NULL, 10);
        if (number > 0 && number <= UINT16_MAX)
            port(context, (uint16_t)number);
    }
    if (settings.of_url && has_socket(&settings))
        port(context, 0);
    settings_free(&settings);
}

void catalog_needs_files(const char *url, void (*file)(void *context, const char *path), void *context)
{
    static const char *const words[] = {"passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"};
    static const char *const names[] = {".pgpass", ".postgresql", ".pg_service.conf"};
    struct settings settings = settings_read(url);
    const struct passwd *user = getpwuid(geteuid());
    const char *home = getenv("HOME"), *services = getenv("PGSERVICEFILE");
    home = home && home[0] ? home : user ? user->pw_dir : NULL;
    for (size_t at = 0; at < sizeof(words) / sizeof(words[0]); at++)
        if (value_of(&settings, words[at]))
            file(context, value_of(&settings, words[at]));
    for (size_t at = 0; home && at < sizeof(names) / sizeof(names[0]); at++) {
        char *path = memory_format("%s/%s", home, names[at]);
        file(context, path);
        free(path);
    }
    if (services)
        file(context, services);
    file(context, "/etc/passwd"); /* whose name libpq takes for the user's */
    settings_free(&settings);
}
