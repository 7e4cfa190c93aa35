/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/diff.h"

enum { AROUND_LINES = 3 };

/* Whole lines, from 0, that edits replace; none: `to` equals `from`, and lines are put before `from`. */
struct block {
    uint32_t from, to;
    uint32_t edit_first, edit_count;
};

struct lines {
    struct str text;
    uint32_t *begins; /* and behind the last one the end of the text */
    uint32_t count;
};

static struct lines lines_of(struct str text, struct arena *arena)
{
    struct lines lines = {.text = text};
    uint32_t count = 1;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\n';
    lines.begins = arena_array(arena, uint32_t, (size_t)count + 1);
    for (uint32_t at = 0; at < text.length;) {
        const char *end = memchr(text.data + at, '\n', text.length - at);
        lines.begins[lines.count++] = at;
        at = end != NULL ? (uint32_t)(end - text.data) + 1 : (uint32_t)text.length;
    }
    lines.begins[lines.count] = (uint32_t)text.length;
    return lines;
}

static uint32_t line_of(const struct lines *lines, uint32_t offset)
{
    uint32_t low = 0, high = lines->count;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lines->begins[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct block block_of(const struct lines *lines, const struct diff_edit *edit, uint32_t at)
{
    struct block block = {.edit_first = at, .edit_count = 1};
    bool is_line = edit->begin == edit->end && str_ends(str_of(edit->text), STR("\n"));
    block.from = line_of(lines, edit->begin);
    is_line = is_line && lines->begins[block.from] == edit->begin;
    block.to = is_line ? block.from : line_of(lines, edit->end > edit->begin ? edit->end - 1 : edit->end) + 1;
    return block;
}

static uint32_t blocks_make(const struct lines *lines, const struct diff_edit *edits, uint32_t count,
                            struct block *blocks)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct block block = block_of(lines, &edits[i], i);
        struct block *last = made > 0 ? &blocks[made - 1] : NULL;
        if (last != NULL && block.from < last->to) {
            last->to = block.to > last->to ? block.to : last->to;
            last->edit_count++;
        } else {
            blocks[made++] = block;
        }
    }
    return made;
}

/* The lines of a text, each behind a mark. */
static void marked_write(struct buf *out, char mark, struct str text)
{
    for (size_t at = 0; at < text.length;) {
        const char *end = memchr(text.data + at, '\n', text.length - at);
        size_t next = end != NULL ? (size_t)(end - text.data) + 1 : text.length;
        buf_char(out, mark);
        buf_add(out, text.data + at, next - at);
        if (end == NULL)
            buf_text(out, "\n\\ No newline at end of file\n");
        at = next;
    }
}

static struct str lines_text(const struct lines *lines, uint32_t from, uint32_t to)
{
    return (struct str){lines->text.data + lines->begins[from], lines->begins[to] - lines->begins[from]};
}

static char *diff_copied(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
    return to + length;
}

/* A block's lines as the edits leave them; in the arena. */
static struct str edited(const struct lines *lines, const struct block *block, const struct diff_edit *edits,
                         struct arena *arena)
{
    uint32_t from = lines->begins[block->from], to = lines->begins[block->to];
    size_t length = to - from;
    for (uint32_t i = 0; i < block->edit_count; i++)
        length += strlen(edits[block->edit_first + i].text);
    char *text = arena_raw(arena, length + 1), *end = text;
    for (uint32_t i = 0; i < block->edit_count; i++) {
        const struct diff_edit *edit = &edits[block->edit_first + i];
        end = diff_copied(end, lines->text.data + from, edit->begin - from);
        end = diff_copied(end, edit->text, strlen(edit->text));
        from = edit->end;
    }
    end = diff_copied(end, lines->text.data + from, to > from ? to - from : 0);
    return (struct str){text, (size_t)(end - text)};
}

static uint32_t count_lines(struct str text)
{
    uint32_t count = text.length > 0 && text.data[text.length - 1] != '\n';
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\n';
    return count;
}

/* Blocks [first, end), which share their context. `shift`: lines that earlier ones have added; the new one. */
static int64_t hunk_write(struct buf *out, const struct lines *lines, const struct block *blocks, uint32_t count,
                          const struct diff_edit *edits, int64_t shift, struct arena *arena)
{
    uint32_t from = blocks[0].from > AROUND_LINES ? blocks[0].from - AROUND_LINES : 0;
    uint32_t to = blocks[count - 1].to, at = from;
    to = to + AROUND_LINES < lines->count ? to + AROUND_LINES : lines->count;
    struct str *news = arena_array(arena, struct str, count);
    int64_t added = 0;
    for (uint32_t i = 0; i < count; i++) {
        news[i] = edited(lines, &blocks[i], edits, arena);
        added += (int64_t)count_lines(news[i]) - (blocks[i].to - blocks[i].from);
    }
    buf_format(out, "@@ -%lld,%lld +%lld,%lld @@\n", (long long)from + (to > from), (long long)to - from,
               (long long)from + (to - from + added > 0) + shift, (long long)to - from + added);
    for (uint32_t i = 0; i < count; i++) {
        marked_write(out, ' ', lines_text(lines, at, blocks[i].from));
        marked_write(out, '-', lines_text(lines, blocks[i].from, blocks[i].to));
        marked_write(out, '+', news[i]);
        at = blocks[i].to;
    }
    marked_write(out, ' ', lines_text(lines, at, to));
    return shift + added;
}

const char *diff_write(const char *path, struct str text, const struct diff_edit *edits, uint32_t count,
                       struct buf *scratch, struct arena *arena)
{
    struct lines lines = lines_of(text, arena);
    struct block *blocks = arena_array(arena, struct block, (size_t)count + 1);
    uint32_t block_count = blocks_make(&lines, edits, count, blocks);
    const char *behind = strchr(path, ' ') != NULL ? "\t" : ""; /* ends a name with spaces in it */
    int64_t shift = 0;
    buf_free(scratch);
    buf_format(scratch, "--- a/%s%s\n+++ b/%s%s\n", path, behind, path, behind);
    for (uint32_t first = 0, end; first < block_count; first = end) {
        for (end = first + 1; end < block_count && blocks[end].from <= blocks[end - 1].to + 2 * AROUND_LINES;)
            end++;
        shift = hunk_write(scratch, &lines, &blocks[first], end - first, edits, shift, arena);
    }
    const char *diff = scratch->failed ? NULL : arena_text(arena, (struct str){scratch->data, scratch->length});
    buf_free(scratch);
    return diff;
}

bool diff_is_path(const char *path)
{
    if (path[0] == '\0' || path[0] == '/' || path[0] == '"')
        return false;
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
    }
    for (const char *at = path; *at != '\0'; at++)
        if (str_is_control(*at) || *at == '"' || *at == '\\')
            return false;
    return true;
}
