/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/base64.h"

enum { LETTERS = 4096 }; /* that are read at a time: whole groups of four */

/* 0 to 63; -1 for what is no letter. */
static int value_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

size_t base64_decode(struct str text, void *into, size_t size)
{
    unsigned char *bytes = into;
    unsigned group = 0, bits = 0;
    size_t count = 0;
    for (size_t i = 0; i < text.length && count < size; i++) {
        int value = value_of(text.data[i]);
        if (value < 0)
            break;
        group = group << 6 | (unsigned)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[count++] = (unsigned char)(group >> bits);
        }
    }
    return count;
}

static int64_t read_plain(void *context, uint64_t offset, void *into, size_t size)
{
    const struct base64 *base64 = context;
    char letters[LETTERS];
    unsigned char plain[LETTERS / 4 * 3];
    size_t done = 0;
    while (done < size) {
        uint64_t group = (offset + done) / 3;
        size_t skipped = (size_t)((offset + done) % 3), wanted = sizeof(plain), part;
        if (group > (UINT64_MAX - base64->at) / 4)
            break;
        int64_t got = base64->text->read(base64->text->context, base64->at + 4 * group, letters, LETTERS);
        if (got < 0)
            return -1;
        size_t count = base64_decode((struct str){letters, (size_t)got}, plain, wanted);
        if (count <= skipped)
            break;
        part = count - skipped < size - done ? count - skipped : size - done;
        memcpy((unsigned char *)into + done, plain + skipped, part);
        done += part;
        if (count < wanted)
            break;
    }
    return (int64_t)done;
}

void base64_open(struct base64 *base64, const struct source *text, uint64_t at)
{
    *base64 = (struct base64){
        .source = {.context = base64, .read = read_plain, .size_bytes = UINT64_MAX}, .text = text, .at = at};
}
