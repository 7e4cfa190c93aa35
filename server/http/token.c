/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/token.h"

#include "server/files/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANDOM_BYTES = 16, MIN = 16 };

bool token_make(struct token *token)
{
    unsigned char bytes[RANDOM_BYTES];
    if (getentropy(bytes, sizeof(bytes)) != 0)
        return false;
    for (size_t at = 0; at < sizeof(bytes); at++)
        snprintf(token->text + at * 2, 3, "%02x", bytes[at]);
    return true;
}

bool token_read(struct token *token, const char *path, char *reason, size_t reason_size)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    char line[TOKEN_MAX + 3] = "";
    struct stat status;
    int descriptor = opener_open_root(path, O_RDONLY | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (!file) {
        snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
        return false;
    }
    if (fstat(fileno(file), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        snprintf(reason, reason_size, "%s: other users may open the file of the token (mode %04o): chmod 600 it", path,
                 (unsigned)status.st_mode & 07777);
        fclose(file);
        return false;
    }
    size_t count = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[count] = '\0';
    size_t length = strcspn(line, " \t\r\n");
    if (length < MIN || length > TOKEN_MAX || strspn(line, GOOD) != length) {
        snprintf(reason, reason_size, "%s: a token is %d to %d letters, digits or -._~ in the first line", path, MIN,
                 TOKEN_MAX);
        return false;
    }
    memcpy(token->text, line, length);
    token->text[length] = '\0';
    return true;
}

bool token_matches(const struct token *token, const char *text, size_t length)
{
    size_t own_length = strlen(token->text);
    unsigned differs = length != own_length;
    for (size_t at = 0; at < own_length; at++)
        differs |= (unsigned)(unsigned char)token->text[at] ^ (unsigned)(unsigned char)(at < length ? text[at] : 0);
    return differs == 0;
}
