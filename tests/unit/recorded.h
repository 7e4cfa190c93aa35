/* SPDX-License-Identifier: Apache-2.0
 * recorded.h: a recording of PyTorch's allocator, written event by event, and what a change of the program makes of it.
 * It is included last, as arena.h is. */
#pragma once

#include "model/memory_profile/categories.h"
#include "model/memory_profile/model.h"
#include "model/memory_profile/replay_program.h"
#include "read/torch/torch_snapshot.h"

#include "arena.h"

#include "base/buf.h"

#define MIB (INT64_C(1) << 20)

/* What is written of a training: a weight, a forward pass, a backward pass, a step. */
static struct bytes bytes;
static struct memory_profile profile;
static struct buf text;
static const char *frames_of[64]; /* of each address: a free says where its block was asked for */
static uint64_t next_address;

#define MODULE "{\"name\":\"__init__\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":109}"
#define OWN "{\"name\":\"load\",\"filename\":\"/home/me/train.py\",\"line\":7}"
#define FORWARD "{\"name\":\"forward\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":134}"
#define BACKWARD ""
#define INIT_STATE "{\"name\":\"_init_group\",\"filename\":\"/x/torch/optim/adamw.py\",\"line\":150}"
#define STEP "{\"name\":\"step\",\"filename\":\"/x/torch/optim/adamw.py\",\"line\":230}"
#define QUANTIZED "{\"name\":\"init_state\",\"filename\":\"/x/bitsandbytes/optim/optimizer.py\",\"line\":500}"
#define QUANTIZED_TORCHAO "{\"name\":\"_new_buffer\",\"filename\":\"/x/torchao/optim/adam.py\",\"line\":60}"
#define CLIP "{\"name\":\"clip_grad_norm_\",\"filename\":\"/x/torch/nn/utils/clip_grad.py\",\"line\":20}"
#define CALL ",{\"name\":\"_call_impl\",\"filename\":\"/x/torch/nn/modules/module.py\",\"line\":1790}"
#define NET CALL ",{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":70}" CALL
#define ATTENTION(line) "{\"name\":\"attention\",\"filename\":\"/home/me/net.py\",\"line\":" line "}" NET
#define SCORES ATTENTION("12")
#define SOFTMAX "{\"name\":\"softmax\",\"filename\":\"/x/torch/nn/functional.py\",\"line\":2161}," ATTENTION("14")
#define OWN_ATTENTION "{\"name\":\"attention\",\"filename\":\"/home/me/net.py\",\"line\":12}"
#define RESULT ATTENTION("15")
#define ROUTER                                                                                                         \
    "{\"name\":\"softmax\",\"filename\":\"/x/torch/nn/functional.py\",\"line\":2161},"                                 \
    "{\"name\":\"route\",\"filename\":\"/home/me/net.py\",\"line\":40}" NET
#define SAMPLED "{\"name\":\"sample_token\",\"filename\":\"/home/me/train.py\",\"line\":9}" NET
#define GATE "{\"name\":\"forward\",\"filename\":\"/x/torch/nn/modules/linear.py\",\"line\":134}" CALL ","
#define PRODUCT(name) "{\"name\":\"at::_ops::" name "::call(at::Tensor const&)\",\"filename\":\"??\",\"line\":0},"
#define BLOCK(line) "{\"name\":\"forward\",\"filename\":\"/home/me/moe.py\",\"line\":" line "}" NET
#define SOFTMAX_OF(frames) "{\"name\":\"softmax\",\"filename\":\"/x/torch/nn/functional.py\",\"line\":2161}," frames
#define FIRST "{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":30}" NET
#define SECOND "{\"name\":\"forward\",\"filename\":\"/home/me/net.py\",\"line\":31}" NET
#define UNPACK "{\"name\":\"unpack_hook\",\"filename\":\"/x/torch/utils/checkpoint.py\",\"line\":1}"

static inline uint64_t ask(const char *frames, int64_t size_bytes)
{
    uint64_t address = next_address += UINT64_C(1) << 30;
    frames_of[(address >> 30) % 64] = frames;
    buf_format(&text, ",{\"action\":\"alloc\",\"addr\":%llu,\"size\":%lld,\"stream\":0,\"frames\":[%s]}",
               (unsigned long long)address, (long long)size_bytes, frames);
    return address;
}

static inline void let_go(uint64_t address)
{
    buf_format(&text, ",{\"action\":\"free_completed\",\"addr\":%llu,\"size\":0,\"stream\":0,\"frames\":[%s]}",
               (unsigned long long)address, frames_of[(address >> 30) % 64]);
}

static inline void begin(void)
{
    arena_begin();
    text = (struct buf)BUF_INIT;
    next_address = UINT64_C(1) << 40;
    buf_text(&text, "{\"segments\":[],\"device_traces\":[[{\"action\":\"segment_alloc\",\"addr\":1099511627776,"
                    "\"size\":2097152,\"stream\":0,\"frames\":[]}");
}

static inline void end(void)
{
    buf_free(&text);
    arena_end();
    bytes_close(&bytes);
}

static inline const struct memory_profile_replay *replay_of(void)
{
    static struct memory_events events;
    buf_text(&text, "]]}");
    bytes_open(&bytes, text.data, text.length);
    ck_assert_msg(torch_snapshot_read(&bytes.source, &arena, &events, &err), "%s", err.text);
    memory_profile_model_build(&profile, &events, NULL, &arena);
    memory_profile_categories_make(&profile, &arena);
    ck_assert_uint_eq(profile.pool_count, 1);
    const struct memory_profile_replay *replay = memory_profile_replay_of(&profile.pools[0], &arena);
    ck_assert_ptr_null(replay->why_not);
    return replay;
}

static inline struct memory_profile_replay_change changed(struct replay_program **program, const char *change)
{
    const struct memory_profile_replay *replay = replay_of();
    struct memory_profile_replay_change after;
    *program = replay_program_begin(replay, &arena);
    ck_assert_msg(replay_program_apply(*program, change, &err), "%s", err.text);
    memory_profile_replay_run(replay, &replay->settings, *program, false, &arena, &after);
    ck_assert_ptr_null(after.why_not);
    return after;
}

static inline void refused(const char *change, const char *words)
{
    struct err own_err = ERR_INIT;
    ck_assert(!replay_program_apply(replay_program_begin(replay_of(), &arena), change, &own_err));
    ck_assert_int_eq(own_err.code, ERR_argument);
    ck_assert_msg(strstr(own_err.text, words) != NULL, "%s", own_err.text);
}
