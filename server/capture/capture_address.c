/* SPDX-License-Identifier: Apache-2.0 */
#include "server/capture/capture_address.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { HOST_MAX = 253, PORT_MAX = 65535, PORT_DIGITS_MAX = 5, TEXT_MAX_SHOWN = 80 };

/* Length of the host that `text` begins with; 0: it is none. */
static size_t host_length(const char *text)
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    if (text[0] == '[') {
        size_t length = strspn(text + 1, "0123456789abcdefABCDEF:.");
        return length > 1 && text[length + 1] == ']' ? length + 2 : 0;
    }
    return text[0] == '-' || text[0] == '.' ? 0 : strspn(text, NAME);
}

bool capture_address_read(const char *text, struct capture_address *address, struct err *err)
{
    size_t length = host_length(text);
    const char *port = text + length + (text[length] == ':');
    size_t digits = strspn(port, "0123456789");
    bool is_address = length > 0 && length <= HOST_MAX && text[length] == ':' && digits > 0 &&
                      digits <= PORT_DIGITS_MAX && port[digits] == '\0';
    long number = is_address ? strtol(port, NULL, 10) : 0;
    if (number < 1 || number > PORT_MAX)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "%.*s is no HOST:PORT, such as localhost:9999 or [::1]:9999",
                       TEXT_MAX_SHOWN, text);
    *address = (struct capture_address){memory_text(text), (uint16_t)number};
    return true;
}

void capture_address_free(struct capture_address *address)
{
    free(address->text);
    address->text = NULL;
}
