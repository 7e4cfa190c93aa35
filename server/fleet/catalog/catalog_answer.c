/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/catalog.h"

#include <string.h>

/* Places are offsets into the texts, one more so that 0 is null; those of the heads come first. */
static const char *text_at(const struct catalog_answer *answer, size_t at)
{
    size_t place;
    memcpy(&place, answer->places.data + at * sizeof(place), sizeof(place));
    return place > 0 ? answer->texts.data + place - 1 : NULL;
}

const char *catalog_head(const struct catalog_answer *answer, size_t column) { return text_at(answer, column); }

const char *catalog_cell(const struct catalog_answer *answer, size_t row, size_t column)
{
    return text_at(answer, (row + 1) * answer->column_count + column);
}

void catalog_answer_free(struct catalog_answer *answer)
{
    buf_free(&answer->texts);
    buf_free(&answer->places);
    *answer = (struct catalog_answer){.texts = BUF_INIT, .places = BUF_INIT};
}
