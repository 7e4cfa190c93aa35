/* SPDX-License-Identifier: Apache-2.0 */
#include "views/tool.h"

#include "base/nearest.h"

#include <errno.h>
#include <stdlib.h>

const char *tool_param_text(const struct tool_request *request, const char *name)
{
    for (size_t i = 0; i < request->param_count; i++)
        if (strcmp(request->params[i].name, name) == 0)
            return request->params[i].value;
    return NULL;
}

bool tool_param_number(const struct tool_request *request, const char *name, int64_t min, int64_t max,
                       int64_t default_value, int64_t *value, struct err *err)
{
    const char *text = tool_param_text(request, name);
    *value = default_value;
    if (text == NULL || text[0] == '\0')
        return true;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool is_plain = (text[0] >= '0' && text[0] <= '9') || text[0] == '-'; /* strtoll takes spaces and + too */
    if (*end != '\0' || errno != 0 || !is_plain)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: \"%.40s\" is not a whole number", name, text);
    if (number < min || number > max)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: %lld is not between %lld and %lld", name, number,
                       (long long)min, (long long)max);
    *value = number;
    return true;
}

bool tool_param_format(const struct tool_request *request, bool *is_text, struct err *err)
{
    static const char *const formats[] = {"json", "text"};
    const char *format = tool_param_text(request, "format");
    size_t at = 0;
    if (format != NULL && !nearest_choose("format", "format", str_of(format), formats, 2, &at, err))
        return false;
    *is_text = at == 1;
    return true;
}

void tool_note(const struct tool_request *request, const char *code, uint64_t count, const char *text)
{
    struct notes *notes = request->notes;
    if (count == 0)
        return;
    notes->items = arena_grown(request->arena, notes->items, notes->count + 1, &notes->capacity, sizeof(*notes->items));
    notes->items[notes->count++] = (struct note){code, count, text};
}
