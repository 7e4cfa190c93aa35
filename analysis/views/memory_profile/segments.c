/* SPDX-License-Identifier: Apache-2.0
 * segments.c: the view "segments": what PyTorch held of a device at a moment, segment by segment, and the blocks in
 * each. */
#include "base/nearest.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/held.h"
#include "views/finding_write.h"
#include "views/memory_profile/pieces.h"
#include "views/memory_profile/sentences.h"
#include "views/memory_profile/views.h"
#include "views/table.h"

enum { WIDTH_MAX = 8192 };

/* The bytes that `width` pixels represent. */
enum scale { SCALE_LARGEST, SCALE_ALL };
static const char *const scale_names[] = {"largest", "all"};

/* A row is a segment. */
struct segments_listing {
    const struct tool_request *request;
    const struct memory_profile_pool *pool;
    struct memory_profile_moment moment;
    struct memory_profile_held held;
    uint64_t pixel; /* bytes that are drawn as one */
};

static const struct memory_profile_segment *segment_of(const void *context, uint32_t row)
{
    const struct segments_listing *listing = context;
    return &listing->held.segments[row];
}

static int64_t free_of(const struct memory_profile_segment *segment)
{
    return (int64_t)(segment->size_bytes - segment->used_bytes);
}

/* What of the free bytes is outside of the largest hole. */
static double fragmentation_of(uint64_t free_bytes, uint64_t largest_bytes)
{
    return free_bytes == 0 ? 0 : 1 - (double)largest_bytes / (double)free_bytes;
}

static struct str text_of(const struct segments_listing *listing, const char *format, uint64_t a, uint64_t b)
{
    struct buf *scratch = listing->request->scratch;
    scratch->length = 0;
    buf_format(scratch, format, (unsigned long long)a, (unsigned long long)b);
    return (struct str){scratch->data, scratch->length};
}

/* "default", or the two numbers of a private pool of CUDA graphs, or of a MemPool. */
static struct str pool_text(const struct segments_listing *listing, const struct memory_profile_segment *segment)
{
    return segment->pool_id[0] == 0 && segment->pool_id[1] == 0
               ? STR("default")
               : text_of(listing, "%llu.%llu", (uint64_t)segment->pool_id[0], (uint64_t)segment->pool_id[1]);
}

static struct str class_text(enum memory_profile_class class)
{
    return class == PROFILE_CLASS_SMALL ? STR("small") : class == PROFILE_CLASS_LARGE ? STR("large") : STR("");
}

/* Whoever asked for the segment; known of those that are there at the end. */
static struct str op_text(const struct segments_listing *listing, const struct memory_profile_segment *segment)
{
    const struct memory_profile *profile = listing->pool->profile;
    if (segment->number == PROFILE_NONE)
        return (struct str){"", 0};
    uint32_t what = profile->events.snapshot->segments[segment->number].what;
    return memory_profile_text(profile, profile->events.whats[what].op);
}

#define VALUE(name, expression)                                                                                        \
    TABLE_VALUE(name, const struct memory_profile_segment *segment = segment_of(context, row), expression)

VALUE(address, table_text(text_of(context, "0x%llx", segment->address, 0)))
VALUE(address_number, table_real((double)segment->address))
VALUE(size, table_integer((int64_t)segment->size_bytes))
VALUE(used, table_integer((int64_t)segment->used_bytes))
VALUE(requested, table_integer((int64_t)segment->requested_bytes))
VALUE(pending, table_integer((int64_t)segment->pending_bytes))
VALUE(free_bytes, table_integer(free_of(segment)))
VALUE(hole, table_integer((int64_t)segment->largest_hole_bytes))
VALUE(fragmentation, table_real(fragmentation_of((uint64_t)free_of(segment), segment->largest_hole_bytes)))
VALUE(holes, table_integer(segment->hole_count))
VALUE(blocks, table_integer(segment->block_count))
VALUE(stream, table_integer(segment->stream))
VALUE(pool, table_text(pool_text(context, segment)))
VALUE(serves, table_text_if_any(class_text(segment->class)))
VALUE(grows, table_text(segment->is_expandable ? STR("yes") : STR("no")))
VALUE(op, table_text_if_any(op_text(context, segment)))

static void pieces_write(struct json *json, const void *context, uint32_t row)
{
    const struct segments_listing *listing = context;
    const struct memory_profile_segment *segment = segment_of(context, row);
    struct memory_profile_pieces pieces = {listing->pool, json, segment->address, listing->pixel, {.count = 0}};
    uint64_t to = segment->address, end = to + segment->size_bytes;
    json_array_begin(json);
    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct memory_profile_block block =
            memory_profile_address_blocks_of_held(&listing->held.blocks[segment->first_block + i], end);
        uint64_t begin = block.address > to ? block.address : to, block_end = block.address + block.size;
        if (begin > to)
            memory_profile_pieces_add_hole(&pieces, to, begin);
        if (block_end > begin)
            memory_profile_pieces_add_block(&pieces, &block, begin, block_end);
        to = block_end > begin ? block_end : begin;
    }
    if (end > to)
        memory_profile_pieces_add_hole(&pieces, to, end);
    memory_profile_pieces_end(&pieces);
    json_array_end(json);
}

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_TEXT("address", address), .order = address_number, .json = "address", .csv = "address", .title = "Address",
     .help = "0x7f…"},
    {COLUMN_NUMBER("size", size, "bytes"), .is_main = true, .json = "size_bytes", .csv = "size_bytes", .title = "Size",
     .help = "what it holds of the device: size:>20MiB"},
    {COLUMN_NUMBER("used", used, "bytes"), .json = "used_bytes", .csv = "used_bytes", .title = "Used",
     .help = "in blocks, as they are rounded"},
    {COLUMN_NUMBER("requested", requested, "bytes"), .json = "requested_bytes", .csv = "requested_bytes",
     .title = "Requested",
     .help = "of these, requested bytes"},
    {COLUMN_NUMBER("pending", pending, "bytes"), .json = "pending_bytes", .csv = "pending_bytes",
     .title = "Pending free",
     .help = "of these, whose free waits for a stream"},
    {COLUMN_NUMBER("free", free_bytes, "bytes"), .json = "free_bytes", .csv = "free_bytes", .title = "Free",
     .help = "in no block: free:>1MiB"},
    {COLUMN_NUMBER("hole", hole, "bytes"), .json = "largest_hole_bytes", .csv = "largest_hole_bytes",
     .title = "Largest hole",
     .help = "the largest stretch of it: hole:>1MiB"},
    {COLUMN_NUMBER("fragmentation", fragmentation, NULL), .json = "fragmentation", .csv = "fragmentation",
     .help = "share of the free memory outside the largest hole, 0 to 1"},
    {COLUMN_NUMBER("holes", holes, "count"), .json = "hole_count", .csv = "hole_count", .title = "Holes"},
    {COLUMN_NUMBER("blocks", blocks, "count"), .json = "block_count", .csv = "block_count", .title = "Blocks",
     .help = "blocks that are not free: blocks:0"},
    {COLUMN_NUMBER("stream", stream, NULL), .json = "stream", .csv = "stream", .title = "Stream", .help = "stream:0"},
    {COLUMN_TEXT("pool", pool), .json = "pool", .csv = "pool", .title = "Pool",
     .help = "default, or a private pool: pool:1.0"},
    {COLUMN_TEXT("for", serves), .json = "for", .csv = "for", .title = "For",
     .help = "small requests (up to 1 MiB) or large ones: for:small"},
    {COLUMN_TEXT("expandable", grows), .json = "expandable", .csv = "expandable", .title = "Expandable",
     .help = "expandable:yes, it can grow and shrink"},
    {COLUMN_TEXT("op", op), .is_searched = true, .json = "op", .csv = "op", .title = "Op",
     .help = "what requested it; known for segments that exist at the end"},
    {COLUMN_TEXT("", NULL), .write = pieces_write, .json = "pieces"},
    {.name = NULL},
};
/* clang-format on */
static const struct table_spec spec = {.columns = columns, .sort = "-size,address"};

/* `failure`: of that moment; NULL: none. */
static void sums_write(struct json *json, const struct memory_profile_held *held,
                       const struct memory_profile_failure *failure, struct arena *arena)
{
    uint64_t free_bytes = held->reserved_bytes - held->used_bytes, unused = 0;
    uint32_t hole_count = 0;
    const struct memory_profile_segment *largest = NULL;
    for (uint32_t i = 0; i < held->segment_count; i++) {
        const struct memory_profile_segment *segment = &held->segments[i];
        hole_count += segment->hole_count;
        unused += segment->block_count == 0 ? segment->size_bytes : 0;
        if (segment->largest_hole_bytes > (largest == NULL ? 0 : largest->largest_hole_bytes))
            largest = segment;
    }
    json_key_uint(json, "segment_count", held->segment_count);
    json_key_uint(json, "block_count", held->block_count);
    json_key_uint(json, "reserved_bytes", held->reserved_bytes);
    json_key_uint(json, "used_bytes", held->used_bytes);
    json_key_uint(json, "requested_bytes", held->requested_bytes);
    json_key_uint(json, "pending_bytes", held->pending_bytes);
    json_key_uint(json, "free_bytes", free_bytes);
    json_key_uint(json, "unused_segments_bytes", unused);
    json_key_uint(json, "outside_bytes", held->outside_bytes);
    json_key_uint(json, "hole_count", hole_count);
    if (json_key_object_if(json, "largest_hole", largest != NULL)) {
        memory_profile_views_address(json, "address", largest->largest_hole_address, true);
        json_key_uint(json, "size_bytes", largest->largest_hole_bytes);
        if (failure != NULL)
            json_key_bool(json, "is_usable", memory_profile_failures_is_usable(failure, largest));
        json_object_end(json);
    }
    json_key_double(json, "fragmentation",
                    fragmentation_of(free_bytes, largest == NULL ? 0 : largest->largest_hole_bytes));
    const struct memory_profile_sentences_sums sums = {free_bytes, unused,
                                                       largest == NULL ? 0 : largest->largest_hole_bytes, hole_count};
    finding_write_sentences(json, "said", memory_profile_sentences_segments(held, &sums, arena));
}

/* All rows are drawn on one scale: that of the largest one, or of all of them in one picture. */
static uint64_t pixel_of(const struct memory_profile_held *held, enum scale scale, int64_t width)
{
    uint64_t max = scale == SCALE_ALL ? held->reserved_bytes : 0;
    for (uint32_t i = 0; i < held->segment_count && scale == SCALE_LARGEST; i++)
        max = held->segments[i].size_bytes > max ? held->segments[i].size_bytes : max;
    return max / (uint64_t)width;
}

/* The request that failed at the moment that is asked for: the segments are then those that it met. NULL: none did. */
static const struct memory_profile_failure *failure_of(struct segments_listing *listing)
{
    if (tool_param_text(listing->request, "event") != NULL || !listing->pool->torch.is_known)
        return NULL;
    const struct memory_profile_failure *failure = memory_profile_failures_at(listing->pool, listing->moment.time_ps);
    if (failure != NULL)
        listing->moment = memory_profile_failures_moment(failure);
    return failure;
}

bool memory_profile_segments(const struct tool_request *request, struct json *json, struct err *err)
{
    struct segments_listing *listing = arena_array(request->arena, struct segments_listing, 1);
    struct table_rows rows;
    const struct memory_profile_failure *failure;
    const char *scale_text = tool_param_text(request, "scale");
    size_t scale = SCALE_LARGEST;
    int64_t width;
    *listing = (struct segments_listing){.request = request, .pool = memory_profile_views_pool(request, err)};
    if (listing->pool == NULL || !memory_profile_views_moment(request, listing->pool, &listing->moment, err) ||
        !tool_param_number(request, "width", 1, WIDTH_MAX, 256, &width, err) ||
        (scale_text != NULL && scale_text[0] != '\0' &&
         !nearest_choose("scale", "scale", str_of(scale_text), scale_names, 2, &scale, err)) ||
        !table_read(&rows, request, &spec, listing, err))
        return false;
    failure = failure_of(listing);
    if (listing->pool->torch.is_known)
        memory_profile_held_find(listing->pool, &listing->moment, request->arena, &listing->held);
    listing->pixel = pixel_of(&listing->held, (enum scale)scale, width);
    table_begin(&rows, listing->held.segment_count);
    for (uint32_t row = 0; row < listing->held.segment_count; row++)
        table_take(&rows, row);
    table_sort(&rows);
    if (table_is_lines(&rows)) {
        table_lines_write(&rows, NULL);
        return true;
    }
    json_object_begin(json);
    memory_profile_views_memory(json, listing->pool);
    json_key_int(json, "time_ps", listing->moment.time_ps);
    json_key_known(json, "event", (int64_t)listing->moment.count - 1);
    json_key(json, "reason");
    memory_profile_views_reason(json, listing->held.segment_count > 0 ? NULL : "no_segments",
                                listing->pool->torch.is_known
                                    ? "PyTorch holds no segment of this device at this time."
                                    : "Only allocator snapshots of PyTorch tell segments; the address map shows what a "
                                      "trace knows.");
    sums_write(json, &listing->held, failure, request->arena);
    if (failure != NULL) {
        json_key(json, "failure");
        memory_profile_views_failure(json, listing->pool, failure);
        finding_write(json, memory_profile_failures_met(failure, request->arena));
    }
    table_head_write(&rows, json);
    table_rows_write(&rows, "rows", json);
    json_object_end(json);
    return true;
}
