/* SPDX-License-Identifier: Apache-2.0
 * SHA-256 against the examples of FIPS 180-4 and of NIST's SHA256ShortMsg.rsp, whole and in pieces of every size. */
#include "server/store/sha256.h"
#include "bytes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    size_t repeated; /* how often */
    const char *digest;
} VECTORS[] = {
    {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"\xd3", 1, "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"},
    {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

static char *repeated(size_t at, size_t *size)
{
    size_t length = strlen(VECTORS[at].text);
    char *bytes = malloc(length * VECTORS[at].repeated + 1);
    for (size_t i = 0; i < VECTORS[at].repeated; i++)
        memcpy(bytes + i * length, VECTORS[at].text, length);
    *size = length * VECTORS[at].repeated;
    return bytes;
}

START_TEST(published_examples)
{
    for (size_t at = 0; at < sizeof(VECTORS) / sizeof(VECTORS[0]); at++) {
        char digest[SHA256_TEXT_SIZE];
        size_t size;
        char *bytes = repeated(at, &size);
        sha256_text(bytes, size, digest);
        ck_assert_str_eq(digest, VECTORS[at].digest);
        for (size_t piece = 1; piece < 200; piece += size > 1000 ? 66 : 1) {
            struct sha256_stream stream;
            sha256_begin(&stream);
            for (size_t from = 0; from < size; from += piece)
                sha256_add(&stream, bytes + from, piece < size - from ? piece : size - from);
            sha256_end(&stream, digest);
            ck_assert_str_eq(digest, VECTORS[at].digest);
        }
        free(bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sha256");
    TCase *tests = tcase_create("sha256");
    tcase_add_test(tests, published_examples);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
