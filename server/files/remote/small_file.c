/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/small_file.h"

#include "server/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20 };

static char *read_all(int descriptor)
{
    char *text = memory_new(FILE_MAX_BYTES + 1);
    size_t length = 0;
    ssize_t count;
    while (length < FILE_MAX_BYTES && (count = read(descriptor, text + length, FILE_MAX_BYTES - length)) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            free(text);
            return NULL;
        }
        length += (size_t)count;
    }
    if (length < FILE_MAX_BYTES && strlen(text) == length)
        return text;
    free(text);
    errno = length < FILE_MAX_BYTES ? EINVAL : EFBIG;
    return NULL;
}

char *small_file_read(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return NULL;
    char *text = read_all(descriptor);
    int reason = errno;
    close(descriptor);
    errno = reason;
    return text;
}

char *small_file_word(const char *path)
{
    static const char SPACES[] = " \t\r\n";
    char *text = small_file_read(path);
    if (!text)
        return NULL;
    const char *begin = text + strspn(text, SPACES);
    size_t length = strlen(begin);
    while (length > 0 && strchr(SPACES, begin[length - 1]))
        length--;
    char *word = length > 0 ? memory_format("%.*s", (int)length, begin) : NULL;
    free(text);
    return word;
}
