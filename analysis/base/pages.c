/* SPDX-License-Identifier: Apache-2.0
 * pages.c: see pages.h. */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *pages_new(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED ? at : NULL;
}

size_t pages_whole(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return size > SIZE_MAX - page ? SIZE_MAX : (size + page - 1) / page * page;
}

bool pages_resize(struct pages *pages, size_t size)
{
    void *at = pages->at;
    if (size < pages->size) {
        munmap(pages->at + size, pages->size - size);
        at = size > 0 ? at : NULL;
    } else if (size > pages->size) {
        at = pages->size > 0 ? mremap(pages->at, pages->size, size, MREMAP_MAYMOVE) : MAP_FAILED;
        if (at == MAP_FAILED) { /* nothing yet, or pages that were taken, which do not grow together */
            at = pages_new(size);
            if (at == NULL)
                return false;
            if (pages->size > 0) {
                memcpy(at, pages->at, pages->size);
                munmap(pages->at, pages->size);
            }
        }
    }
    *pages = (struct pages){at, size};
    return true;
}

void pages_take(struct pages *pages, size_t at, struct pages *from)
{
    char *to = pages->at + at;
    if (from->size > 0 && mremap(from->at, from->size, from->size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        memcpy(to, from->at, from->size);
        munmap(from->at, from->size);
    }
    *from = (struct pages){NULL, 0};
}
