/* SPDX-License-Identifier: Apache-2.0
 * steps.c: what is allocated and freed in a step, and when. */
#include "tests/bench/trace/world.h"

#include <inttypes.h>
#include <stdio.h>

enum { BEFORE_CHUNKS = 16 };

/* splitmix64 */
static uint64_t draw(struct world *world)
{
    uint64_t z = world->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* ---- what is allocated ------------------------------------------------------------------------ */

static void name_tensor(struct world *world, int at, const char *op, const char *region, const char *shape,
                        int64_t type, int64_t bytes)
{
    snprintf(world->names[at][0], NAME_BYTES, "%s", op);
    snprintf(world->names[at][1], NAME_BYTES, "%s", shape);
    world->tensors[at] = (struct tensor){world->names[at][0], region, world->names[at][1], type, bytes};
}

static void name_tensors(struct world *world)
{
    static const struct {
        const char *op, *shape;
        int64_t type, bytes;
    } kinds[KINDS] = {
        {"attention/qkv/MatMul", "[8,2048,3072]", 14, 8LL * 2048 * 3072 * 2},
        {"attention/logits", "[8,16,512,512]", 14, 8LL * 16 * 512 * 512 * 2},
        {"mlp/up/MatMul", "[8,2048,4096]", 14, 8LL * 2048 * 4096 * 2},
        {"mlp/down/MatMul", "[8,2048,1000]", 14, 8LL * 2048 * 1000 * 2},
        {"norm/Mul", "[8,2048]", 1, 8LL * 2048 * 4},
    };
    for (int at = 0; at < LAYERS * KINDS; at++) {
        char op[NAME_BYTES];
        snprintf(op, sizeof(op), "layer_%d/%s", at / KINDS, kinds[at % KINDS].op);
        name_tensor(world, at, op, "output", kinds[at % KINDS].shape, kinds[at % KINDS].type, kinds[at % KINDS].bytes);
    }
    char shape[NAME_BYTES];
    snprintf(shape, sizeof(shape), "[%" PRId64 "]", world->options.leak_bytes);
    name_tensor(world, T_SCRATCH, "gradients/AddN", "temp", "[2048,4099]", 1, 2048LL * 4099 * 4);
    name_tensor(world, T_SLOT, "optimizer/slot", "persist", "[4096,4096]", 1, 4096LL * 4096 * 4);
    name_tensor(world, T_BATCH, "input/batch", "dynamic", "[8,2048]", 3, 8LL * 2048 * 4);
    name_tensor(world, T_LEAK, "metrics/append", "persist", shape, 4, world->options.leak_bytes);
    name_tensor(world, T_CACHE, "embedding/cache", "persist", "[8192,1024]", 1, 8192LL * 1024 * 4);
    name_tensor(world, T_SMALL, "norm/scale", "output", "[2048]", 1, 2048LL * 4);
}

static struct chunk allocate(struct world *world, struct pool *pool, struct line *line, int64_t at_ps, int tensor)
{
    struct chunk chunk = pool_allocate(pool, &world->tensors[tensor]);
    events_memory(world, pool, line, at_ps, &chunk, true);
    return chunk;
}

static void release(struct world *world, struct pool *pool, struct line *line, int64_t at_ps, struct chunk chunk)
{
    pool_free(pool, chunk);
    events_memory(world, pool, line, at_ps, &chunk, false);
}

/* ---- one step ------------------------------------------------------------------------------------ */

/* Large ones while there is room. */
static int next_activation(struct world *world, const struct pool *pool)
{
    uint64_t random = draw(world);
    bool is_full = pool->in_use_bytes > pool->capacity_bytes / 4 * 3;
    return is_full ? T_SMALL : (int)(random % (LAYERS * KINDS));
}

struct place {
    struct pool *pool;
    struct line *line, *free_line;
    int64_t at_ps[SLOTS];
};

static void free_before(struct world *world, const struct place *place, int slot)
{
    if (place->pool->before.count > 0)
        release(world, place->pool, place->free_line, place->at_ps[slot], chunk_pop(&place->pool->before));
    else
        allocate(world, place->pool, place->line, place->at_ps[slot], T_CACHE);
}

static void scratch(struct world *world, const struct place *place)
{
    struct chunk chunk = allocate(world, place->pool, place->line, place->at_ps[1], T_SCRATCH);
    release(world, place->pool, place->free_line, place->at_ps[2], chunk);
}

static void first_chunk(struct world *world, const struct place *place, int64_t step)
{
    struct pool *pool = place->pool;
    struct chunk slot = allocate(world, pool, place->line, place->at_ps[0], T_SLOT);
    if (step > 0)
        release(world, pool, place->free_line, place->at_ps[1], pool->slot);
    else
        free_before(world, place, 1);
    pool->slot = slot;
    if (world->options.leak_bytes)
        allocate(world, pool, place->line, place->at_ps[2], T_LEAK);
    else
        pool->batch = allocate(world, pool, place->line, place->at_ps[2], T_BATCH);
}

static void run_chunk(struct world *world, const struct place *place, int64_t step, int64_t chunk)
{
    struct pool *pool = place->pool;
    int64_t head = world->options.leak_bytes ? 1 : 2;
    int64_t middle = head + (world->chunks_per_step - head) / 2;
    if (chunk == 0) {
        first_chunk(world, place, step);
    } else if (chunk < head) {
        release(world, pool, place->free_line, place->at_ps[0], pool->batch);
        scratch(world, place);
    } else if (chunk < middle) {
        int tensor = next_activation(world, pool);
        chunk_push(&pool->held, allocate(world, pool, place->line, place->at_ps[0], tensor));
        if (chunk == head && step > 1 && step == world->steps / 2) {
            allocate(world, pool, place->line, place->at_ps[1], T_CACHE);
            free_before(world, place, 2);
        } else {
            scratch(world, place);
        }
    } else {
        release(world, pool, place->free_line, place->at_ps[0], chunk_pop(&pool->held));
        if (chunk == middle && step > 0 && step < 4 && pool->before.count > 2) {
            free_before(world, place, 1);
            free_before(world, place, 2);
        } else {
            scratch(world, place);
        }
    }
}

/* The op around the memory events of a chunk, and events of the thread pool. */
static void other_events(struct world *world, struct line *line, int64_t from_ps, int64_t random)
{
    struct bytes event;
    for (int64_t i = 0; i < world->options.others; i++) {
        bool is_op = i == 0;
        events_begin(&event, line, is_op ? E_OPS + random % (LAYERS * KINDS) : E_RECORD,
                     from_ps - TICK_PS / 4 + i * 1000, is_op ? SLOTS * TICK_PS : 0);
        if (!is_op) {
            events_add_int(&event, S_PT, 15);
            events_add_int(&event, S_P, i);
        }
        events_put(world, line, &event);
    }
}

int64_t steps_length_ps(const struct world *world)
{
    return (world->chunks_per_step * SLOTS * world->options.allocators + 8) * TICK_PS;
}

/* `train` and `FunctionRun` on the first line lead to `ExecutorState::Process` on each other. */
static void step_events(struct world *world, int64_t step, int64_t from_ps)
{
    struct bytes event;
    struct line *first = &world->lines[0];
    int64_t length_ps = steps_length_ps(world) - 2 * TICK_PS;
    events_begin(&event, first, E_TRAIN, from_ps, length_ps);
    events_add_int(&event, S_STEP_NUM, step);
    events_add_int(&event, S_R, 1);
    events_put(world, first, &event);
    events_begin(&event, first, E_FUNCTION_RUN, from_ps + TICK_PS / 2, TICK_PS / 4);
    events_add_int(&event, S_PT, 2);
    events_add_int(&event, S_P, step + 1);
    events_put(world, first, &event);
    for (int64_t i = world->options.lines > 1; i < world->options.lines; i++) {
        struct line *line = &world->lines[i];
        events_begin(&event, line, E_EXECUTOR, from_ps + TICK_PS, length_ps - 2 * TICK_PS);
        events_add_int(&event, S_ITER_NUM, 0);
        events_add_int(&event, S_CT, 2);
        events_add_int(&event, S_C, step + 1);
        events_put(world, line, &event);
    }
}

static void run_step(struct world *world, int64_t step)
{
    int64_t from_ps = START_PS + step * steps_length_ps(world);
    int64_t workers = world->options.lines > 1 ? world->options.lines - 1 : 1;
    struct line *first = &world->lines[world->options.lines > 1];
    step_events(world, step, from_ps);
    for (int64_t at = 0; at < world->chunks_per_step * world->options.allocators; at++) {
        if (world->done_events + SLOTS > world->options.events)
            return;
        int64_t chunk = at / world->options.allocators, number = at % world->options.allocators;
        struct place place = {.pool = &world->pools[number]};
        uint64_t random = draw(world);
        place.line = first + number % workers;
        place.free_line = random % 4 ? place.line : first + (number + 1) % workers;
        for (int slot = 0; slot < SLOTS; slot++) {
            int64_t jitter_ps = (int64_t)(random >> (8 * slot + 8) & 255) * (TICK_PS / 2048);
            place.at_ps[slot] = from_ps + (at * SLOTS + slot + 3) * TICK_PS + jitter_ps;
            world->now_ps = place.at_ps[slot];
        }
        other_events(world, place.line, from_ps + (at * SLOTS + 3) * TICK_PS, (int64_t)(random >> 40));
        run_chunk(world, &place, step, chunk);
    }
}

void steps_play(struct world *world)
{
    world->done_events = 0;
    world->now_ps = START_PS;
    world->state = (uint64_t)world->options.seed;
    for (int64_t i = 0; i < world->options.allocators; i++) {
        int64_t before = world->options.before_bytes / 16 * (16 - i % 8);
        pool_open(&world->pools[i], 0x7f0000000000u + ((uint64_t)i << 38), world->options.capacity_bytes, before,
                  BEFORE_CHUNKS);
    }
    for (int64_t step = 0; world->done_events + SLOTS <= world->options.events; step++)
        run_step(world, step);
    while (world->done_events < world->options.events) {
        world->now_ps += TICK_PS;
        allocate(world, &world->pools[0], &world->lines[world->options.lines > 1], world->now_ps, T_SMALL);
    }
    for (int64_t i = 0; i < world->options.allocators; i++)
        pool_close(&world->pools[i]);
    for (int64_t i = 0; i < world->options.lines; i++)
        events_put_kept(world, &world->lines[i]);
}

/* A step has as many forward ops as backward ones. */
void steps_plan(struct world *world)
{
    const struct options *options = &world->options;
    int64_t a_step = options->steps ? options->events / options->steps / options->allocators : 1200;
    int64_t head = options->leak_bytes ? 1 : 2, pairs = (a_step / SLOTS - head) / 2;
    world->chunks_per_step = head + 2 * (pairs > 1 ? pairs : 1);
    int64_t step_events = world->chunks_per_step * SLOTS * options->allocators;
    world->steps = (options->events + step_events - 1) / step_events;
    name_tensors(world);
}
