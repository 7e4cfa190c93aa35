/* SPDX-License-Identifier: Apache-2.0
 * pages.c: see pages.h. */
#include "base/pages.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

/* Moves pages, to `to` or to wherever there is room; MAP_FAILED when they are to be copied: when they do not grow
 * together because some were taken, or ThreadSanitizer looks on, which does not see them move and takes who wrote to the
 * new place before for who wrote what is there. */
static void *pages_move(const struct pages *pages, size_t size, char *to)
{
#ifdef __SANITIZE_THREAD__
    (void)pages, (void)size, (void)to;
    return MAP_FAILED;
#else
    return to == NULL ? mremap(pages->at, pages->size, size, MREMAP_MAYMOVE)
                      : mremap(pages->at, pages->size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
#endif
}

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
        at = pages->size > 0 ? pages_move(pages, size, NULL) : MAP_FAILED;
        if (at == MAP_FAILED) {
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
    if (from->size > 0 && pages_move(from, from->size, to) == MAP_FAILED) {
        memcpy(to, from->at, from->size);
        munmap(from->at, from->size);
    }
    *from = (struct pages){NULL, 0};
}
