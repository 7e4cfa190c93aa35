/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __has_feature
#define IS_CHECKED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_CHECKED 1
#else
#define IS_CHECKED 0
#endif

#if IS_CHECKED || !defined(MREMAP_MAYMOVE)

/* AddressSanitizer sees what is written behind a block of malloc, and not what in a page's rest; ThreadSanitizer does
 * not see pages move. For both, and where the
 * system cannot move pages, pages are few bytes and are copied. */
size_t pages_whole(size_t size)
{
    const size_t page = 16; /* aligned for any type */
    return size > SIZE_MAX - page ? SIZE_MAX : (size + page - 1) / page * page;
}

bool pages_resize(struct pages *pages, size_t size)
{
    void *at = NULL;
    if (size == 0)
        free(pages->at);
    else if ((at = realloc(pages->at, size)) == NULL)
        return false;
    if (size > pages->size)
        memset((char *)at + pages->size, 0, size - pages->size);
    *pages = (struct pages){at, size};
    return true;
}

bool pages_take(struct pages *pages, size_t at, struct pages *from)
{
    if (from->size > 0)
        memcpy(pages->at + at, from->at, from->size);
    return pages_resize(from, 0);
}

#else

static const int READ_WRITE = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS;

size_t pages_whole(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return size > SIZE_MAX - page ? SIZE_MAX : (size + page - 1) / page * page;
}

bool pages_resize(struct pages *pages, size_t size)
{
    struct pages resized = {pages->at, size};
    if (size < pages->size) {
        munmap(pages->at + size, pages->size - size);
        resized.at = size > 0 ? pages->at : NULL;
    } else if (size > pages->size) {
        void *at = pages->size > 0 ? mremap(pages->at, pages->size, size, MREMAP_MAYMOVE) : MAP_FAILED;
        if (at == MAP_FAILED) { /* nothing yet, or some were taken: these do not grow together */
            at = mmap(NULL, size, READ_WRITE, OWN, -1, 0);
            if (at == MAP_FAILED)
                return false;
            if (pages->size > 0) {
                memcpy(at, pages->at, pages->size);
                munmap(pages->at, pages->size);
            }
        }
        resized.at = at;
    }
    *pages = resized;
    return true;
}

bool pages_take(struct pages *pages, size_t at, struct pages *from)
{
    char *to = pages->at + at;
    if (from->size > 0 && mremap(from->at, from->size, from->size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        /* The room may be gone, which is given up before what comes there is moved; if not, this is refused. */
        void *again = mmap(to, from->size, READ_WRITE, OWN | MAP_FIXED_NOREPLACE, -1, 0);
        if (again == MAP_FAILED && errno != EEXIST)
            return false;
        memcpy(to, from->at, from->size);
        munmap(from->at, from->size);
    }
    *from = (struct pages){NULL, 0};
    return true;
}

#endif
