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

/* In a smaller block most bytes would be at its ends, where no large page fits. */
enum { LARGE_PAGE_BYTES = 2 << 20, FILLED_MIN_BYTES = 8 << 20 };

void pages_fill_soon(void *at, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = ((uintptr_t)at + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES,
              end = ((uintptr_t)at + size) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    if (size >= FILLED_MIN_BYTES)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
    (void)at, (void)size;
#endif
}

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
/* Sizes up to this come from malloc: mapping and unmapping pages takes longer than copying these bytes, above all in a
 * process with several threads, where each has to learn that a page is gone. */
static const size_t SMALL_BYTES = 64 << 10;

size_t pages_whole(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return size > SIZE_MAX - page ? SIZE_MAX : (size + page - 1) / page * page;
}

static bool is_small(const struct pages *pages) { return pages->size <= SMALL_BYTES; }

static void give_back(const struct pages *pages)
{
    if (is_small(pages))
        free(pages->at);
    else
        munmap(pages->at, pages->size);
}

static bool resize_small(struct pages *pages, size_t size)
{
    char *at = realloc(pages->at, size);
    if (at == NULL)
        return false;
    if (size > pages->size)
        memset(at + pages->size, 0, size - pages->size);
    *pages = (struct pages){at, size};
    return true;
}

/* Moves pages of one kind to the other. */
static bool move(struct pages *pages, size_t size)
{
    struct pages moved = {NULL, size};
    bool to_small = is_small(&moved);
    moved.at = to_small ? malloc(size) : mmap(NULL, size, READ_WRITE, OWN, -1, 0);
    if (moved.at == NULL || (!to_small && moved.at == MAP_FAILED))
        return false;
    size_t kept = size < pages->size ? size : pages->size;
    if (kept > 0)
        memcpy(moved.at, pages->at, kept);
    give_back(pages);
    *pages = moved;
    return true;
}

static bool resize_mapped(struct pages *pages, size_t size)
{
    if (size < pages->size) {
        munmap(pages->at + size, pages->size - size);
        pages->size = size;
        return true;
    }
    char *at = mremap(pages->at, pages->size, size, MREMAP_MAYMOVE);
    if (at == MAP_FAILED) /* some were taken: these do not grow together */
        return move(pages, size);
    *pages = (struct pages){at, size};
    return true;
}

bool pages_resize(struct pages *pages, size_t size)
{
    const struct pages wanted = {NULL, size};
    if (size == pages->size)
        return true;
    if (size == 0) {
        give_back(pages);
        *pages = wanted;
        return true;
    }
    if (is_small(pages) != is_small(&wanted))
        return move(pages, size);
    return (is_small(&wanted) ? resize_small : resize_mapped)(pages, size);
}

bool pages_take(struct pages *pages, size_t at, struct pages *from)
{
    char *to = pages->at + at;
    if (is_small(from) || is_small(pages)) {
        if (from->size > 0)
            memcpy(to, from->at, from->size);
        return pages_resize(from, 0);
    }
    if (mremap(from->at, from->size, from->size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
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
