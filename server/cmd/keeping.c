/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/keeping.h"

#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/base/system.h"
#include "server/base/version.h"
#include "server/store/sha256.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_texts(char text[SHA256_TEXT_SIZE], const char *rules, const char *libraries)
{
    char *both =
        memory_format("%zu:%s%s", rules ? strlen(rules) + 1 : 0, rules ? rules : "", libraries ? libraries : "");
    sha256_text(both, strlen(both), text);
    free(both);
}

/* What answers rest on beside files and questions: this very program (two builds may have one version) and what options
 * tell to all questions alike. */
static char *about(const struct options *options, const char *category_rules, const char *libraries)
{
    struct stat program = {.st_size = 0};
    char texts[SHA256_TEXT_SIZE];
    put_texts(texts, category_rules, libraries);
    char *own = system_own_program();
    stat(own, &program);
    free(own);
    return memory_format("memviewd %s %s, %" PRIdMAX " bytes of %" PRIdMAX ".%09ld\nsources %d\nrules %s",
                         version_number, version_commit, (intmax_t)program.st_size, (intmax_t)program.st_mtim.tv_sec,
                         program.st_mtim.tv_nsec, options->source_roots.count > 0, texts);
}

bool keeping_open(const struct options *options, const char *category_rules, const char *libraries,
                  struct disk_cache **cache, char *reason, size_t reason_size)
{
    *cache = NULL;
    if (!options->cache_folder)
        return true;
    char *text = about(options, category_rules, libraries);
    *cache =
        disk_cache_open(options->cache_folder, (uint64_t)options->cache_limit_mib << 20, text, reason, reason_size);
    free(text);
    return *cache != NULL;
}
