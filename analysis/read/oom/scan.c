/* SPDX-License-Identifier: Apache-2.0
 * scan.c: see scan.h. A window of the input holds a block, what may belong to
 * a sentence that begins in it (AHEAD), and a little of what was before (BEHIND: status
 * words and codes stand there). */
#include "read/oom/scan.h"

#include "read/oom/around.h"
#include "read/oom/chain.h"
#include "read/oom/lack.h"
#include "read/oom/patterns.h"
#include "read/oom/read.h"
#include "read/oom/shells.h"
#include "read/oom/sieve.h"
#include "read/oom/status.h"

#include <assert.h>

enum { BEHIND = 4 << 10, BLOCK = 1 << 20, AHEAD = 512 << 10, LINE = 64 << 10, AROUND = 160, FEW_CLEAN = 2 * AROUND };

struct scan {
    const struct source *source;
    struct err *err;
    struct oom_reader *reader;
    char *window;
    struct oom_sieve needles, signs, folded; /* folded: in small letters, without '_' */
    size_t window_size;
    uint64_t window_at; /* input offset of window[0] */
    size_t length;
    bool is_end;  /* the window reaches to the end of the input */
    bool is_wide; /* two bytes a letter: nothing can be searched for unread */
};

/* Fills the window from input offset `at` on. */
static bool window_fill(struct scan *scan, uint64_t at, size_t size)
{
    scan->window_at = at;
    scan->length = 0;
    scan->is_end = false;
    if (size > scan->window_size)
        size = scan->window_size;
    while (scan->length < size) {
        int64_t got = scan->source->read(scan->source->context, at + scan->length, scan->window + scan->length,
                                         size - scan->length);
        if (got < 0)
            return err_set(scan->err, ERR_io, at + scan->length, "the bytes cannot be read");
        if (got == 0) {
            scan->is_end = true;
            break;
        }
        scan->length += (size_t)got;
    }
    scan->is_end |= at + scan->length >= scan->source->size_bytes;
    return true;
}

/* ---- is there anything in a block? ---- */

/* Every text that is looked for has one of these, most have two, so that one line break cannot hide them. */
/* clang-format off */
static const char *const needles[] = {
    "emory", "ESOUR", "lloca", "xceed", "XHAUS", "usage", "EMORY", "alloc", "ALLOC", "ptxas", "esour", "illed",
    "kill ", "oom-k", "oom_k", "OOMKi", "e 137", ": 137", "s 137", "e = -9", "r 145", "SIGKI", "exitc", "o spa",
    "q len", "KV ca", "bus e", "Bus e", "le RAM", "Dst te", "ache (", "uffic", "lid bu", "NDArr", "ill sig", "ode -9",
    "(137)", "e=137", "s=137", "\":137", "VmRSS", "t is full", "eateBu", "PU RAM", "ith -9", "_BUFFE", "mem_bu",
    "mum of", "207001", " OOM ",
    "cuMem", "CUresu", "hipErr", "much s", "d /dev", "o 1455", "h spac", "too la", "over m", "clCre", "clEnq",
    "clFin", "penCL", "zeMem", "urUSM", "vkQue", "vkCre", "VkRes", "07000E", "07000e", "aclrt", "aclnn", "nrt_l",
    "nrt_t", "cuCtx", "cuMod", "cuLau", "BLAS e", "DA err", "NOMEM", " VRAM", "NoMem", "cublas", "g file", "r 1816",
    "abrup", "NvMap", "ns nul", "(OOM)", "oom_s", "oom_a", "pears to", "ernel crashed", "xpectedly ter",
    "Buffer siz", "Buffer bin", "Binding si", "by signal 9", "o 137", "tus -9", "heap sp", "tch size f", "Impossible",
    "block of siz", "to free", "workers died", "Error 137", "InPaged", " MEM usa", "oom_r",
    "or only one", "f signal 9", "CODE: 9", "l KILL", "l swap u",
    "killing", "w virt", "GC over", "etaspace", "d class", "n_batch = 1,", "KV slo", "TaskOO", "F_ME+", "AllocF",
    "lAlloc", "p exha", "PGA mem", "rialized re", "room to add", "at this scale", "lable resou", "emory Q", ": 1285",
    "= 1285", ": 0x505", ": 0x0505", "eate buf", "vmaCre", "re than the m", "resource poo",
};

/* What makes a place worth reading, without white space: what is no sentence of families.def, of which each brings its
 * own (oom_pattern_signs). */
static const char *const signs[] = {
    "utofmemory", "utofMemory", "utofhostmemory", "RESOURCE_EXHAUSTED", "esourceexhausted", "Allocation(size=",
    "wouldexceedmemory", "Attemptingto", "notpossible.There", "enoughmemory", "enoughdevicememory", "exceedsavailable",
    "exceedingavailable", "OOMwhen", "OOMDebugging", "ailedtoallocate", "ailedtoalloc", "exceedsthememorylimit",
    "PAbudget", "memref.allo", "usage>=", ".Exceeded", "programHBM", "programVMEM", "AllocationFailure", "HbmOom",
    "VmemOom", "capacityby", "memorysummary:", "memory_limit_", "BFCAllocator", "Allocatordump", "Triedtoallocate",
    "llocationondevice", "Top-of-Memory", "HBMcapacity", "reducememoryuse", "memoryinmemory", "requirement",
    "bytesinpool:", "usagefromdevice:", "ouldnotallocate", "youtriedtoallocate", "Buserror", "buserror", "Nospaceleft",
    "OUT_OF_MEMORY", "OutOfMemory", "pinnedhostmemory", "ALLOC_FAILED", "cublashandle", "outofresource:",
    "memorysizelimit", "availablesharedmemory", "toomuchshareddata", "toCUDA", "creatingsharedmemory",
    "forthecacheblocks", "modelsmaxseqlen", "model'smaxseqlen", "KVcacheis", "reememoryondevice", "mem-fraction-static",
    "prefilltokens", "nabletoallocate", "bad_alloc", "Cannotallocatememory", "maximumallowedbuffersize",
    "memorypressure", "memoryused", "OOMkiller", "'oom-kill'", "oom_kill", "oom-kill", "resource:memory", "memorylimit",
    "runninglowonmemory", "Memoryonthenode", "memory:usage", "Killed", "zsh:killed", "code137", "code:137", "SIGKILL",
    "exitcode:-9", "OOMKilled", "MemoryError", "allocatememory", "OUT_OF_DEVICE_MEMORY", "OUT_OF_HOST_MEMORY",
    "OUT_OF_RESOURCES", "OutOfDeviceMemory", "allocationofsize", "nsufficientmemory", "nsufficientMemory",
    "nsufficientGPUmemory", "exceedsthebaselimit", "llocationfail", "llocationFail", "Allocation_Failure",
    "freepagesduring", "etal::malloc", "HAMI-core", "signal:killed", "returncode=-9", "137(interrupted", "status137",
    "OutofGPUmemory", "moresystemmemory", "toolargeforsystem", "allocatecompute", "error1455", "Error1455", "rrno1455",
    "runsoutofmemory", "ALLOCATION_FAILURE", "couldnotbeallocated", "couldn'tbeallocated",
    "jobkilled:", "TERM_MEMLIMIT", "overmemorylimit", "allavailableRAM", "morememorythanisavailable", "withmorememory",
    "OOM-killed", "memorybudget", "out-of-memoryandexited", "exceededmemorylimit", "signal9(Killed)", "mallocofsize",
    "Dsttensor", "nsufficientVRAM", "CUresulterror", "hipError_terror", "can'tallocate", "circularbuffers",
    "memoryoutofbound",
    "memoryallocationof", "allocatevectorofsize", "allocfailed", "memfailed", "emoryfailed",
    "validbuffersize", "totalbytesofNDArray", "tommap", "memorypool(", "spaceinthebuffer",
    "forkvcache", "thekvcache", "Javaheapspace", "GCoverhead", "Metaspace", "Compressedclass",
    "thecomputebuffer", "layoutcannotbe", "KVcachememory:-",
    "KVCacheis-", "isunbalanced", "failedwith-9", "peakHBMusage", "GPUmemorysize", "rrorallocating", "mem_buffer",
    "totalmemsize", "buffermaximum", "BUFFER_SIZE", "npumemory",
    "toallocatebuffer", "nsufficientspacein", "codeis207001", "maxsizeofmemory", "ailtoalloc", "xited(137)",
    "Code:137", "Code\":137", "_code:137", "returncode-9",
    "ttempttoallocate", "codeis137", "llocatememoryfailed", "oolargeforthe", "GPURAMtofit", "swapspace",
    "smallerthanrequested", "badallocation", "l1memorythan", "failtoalloc", "ocateadevice", "outofGPU",
    "HBMlimit", "outofmemoryontile", "modelweightsize", "AlignedAllocator", "allocatingmemoryfor", "toolargeforthe",
    "Memorynotenough", "code207001", "memoryisn'tenough", "devicememoryfailed", "gpumemoryfor", "FAILED_ALLOC",
    "insufficientworkspace", "poolsizeexceeded", "extend/dev/shm", "posix_fallocate", "killsignal", "Killsignal",
    "commit_memory", "JavaRuntime", "vectormemory", "arraysizepreference", "byYARN", "exceedingmemory",
    "VmRSS", "MEMORYLIMIT", "emorylimitof", "emorylimitexceeded", "emoryquota", "objectstore", "memoryexhausted",
    "exitcode-9", "withstatus-9", "exitstatus-9", "Error137", "ofsignal9", "EXITCODE:9", "oom_reaper", "killedbysignal",
    "errno137", "code-9", "code=-9", "code:-9", "atus-9", "tus(137", "ode(137", "code=137", "tus=137", "tus:137",
    "atus\":137", "ode\":137", "Code137", "KILL(9)", "SIGNAL:9", "Killed(sig",
    "oom-killer", "cgroupstats", "Killprocess", "Cannotallocate", "cannotallocate", "directmemory",
};
/* clang-format on */

/* Some of the words of `sign` are too short for a sieve: others stand beside them. */
static size_t signs_add(const char **all, size_t room, size_t count, const char *(*sign)(size_t at))
{
    for (size_t i = 0; sign(i) != NULL; i++)
        if (strlen(sign(i)) >= OOM_SIEVE_MIN) {
            assert(count < room); /* of rows that are compiled in */
            all[count++] = sign(i);
        }
    return count;
}

static struct oom_sieve signs_new(struct arena *arena)
{
    enum { COUNT = sizeof(signs) / sizeof(signs[0]), ROOM = COUNT + OOM_SENTENCE_COUNT + 512 };
    const char **all = arena_array(arena, const char *, ROOM);
    memcpy(all, signs, sizeof(signs));
    size_t count = COUNT + oom_pattern_signs(arena, all + COUNT);
    count = signs_add(all, ROOM, count, oom_shells_sign);
    return oom_sieve_new(arena, all, signs_add(all, ROOM, count, oom_status_sign));
}

static struct oom_sieve folded_new(struct arena *arena)
{
    enum { ROOM = OOM_LACK_SIGNS + 64 };
    const char **all = arena_array(arena, const char *, ROOM);
    return oom_sieve_new(arena, all, signs_add(all, ROOM, oom_lack_signs(arena, all), oom_status_part));
}

static struct oom_sieve needles_new(struct arena *arena)
{
    enum { COUNT = sizeof(needles) / sizeof(needles[0]), ROOM = COUNT + 128 };
    const char **all = arena_array(arena, const char *, ROOM);
    memcpy(all, needles, sizeof(needles));
    return oom_sieve_new(arena, all, signs_add(all, ROOM, COUNT, oom_shells_needle));
}

/* Of a needle in other letters than those of signs nothing else is looked for. */
static bool is_foreign_needle(const struct scan *scan, size_t at)
{
    bool is_foreign = false;
    for (size_t i = at; i < at + OOM_SIEVE_MIN && i < scan->length; i++)
        is_foreign |= (unsigned char)scan->window[i] >= 0x80;
    return is_foreign;
}

/* The bytes around `at` without what cannot be seen, what is no letter of a sign and what quotes a line. No branches:
 * it is asked for each line that speaks of memory. */
static size_t around_clean(const struct scan *scan, size_t at, char *clean)
{
    size_t from = at > AROUND ? at - AROUND : 0, length = 0;
    size_t to = at + AROUND < scan->length ? at + AROUND : scan->length;
    unsigned char before = 0;
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)scan->window[i];
        clean[length] = (char)c;
        length += (size_t)((unsigned)(c > ' ') & (unsigned)(c < 0x7f) & (unsigned)(c != '|') &
                           (unsigned)!((unsigned)(c == '>') & (unsigned)(before == '\n')));
        before = c;
    }
    return length;
}

static bool is_sign_near(const struct scan *scan, size_t at)
{
    char clean[FEW_CLEAN];
    size_t length = around_clean(scan, at, clean), folded = 0;
    if (oom_sieve_find(&scan->signs, clean, 0, length) < length)
        return true;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)clean[i];
        clean[folded] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        folded += (size_t)(c != '_');
    }
    return oom_sieve_find(&scan->folded, clean, 0, folded) < folded;
}

/* The first place in [from, to) of the window that is worth reading, or `to`. */
static size_t place_find(const struct scan *scan, size_t from, size_t to)
{
    for (size_t at = from; (at = oom_sieve_find(&scan->needles, scan->window, at, to)) < to; at += AROUND / 2)
        if (is_foreign_needle(scan, at) || is_sign_near(scan, at))
            return at;
    return to;
}

/* ---- reading ---- */

/* Where the line of `at` begins, if that is not far. */
static size_t line_begin(const struct scan *scan, size_t at, size_t min)
{
    size_t begin = at;
    while (begin > min && at - begin < LINE && scan->window[begin - 1] != '\n')
        begin--;
    return begin > min && at - begin >= LINE ? at : begin;
}

/* Cleans the window from some way before `at` on and reads what begins at [from_at, to_at). */
static uint64_t text_read(struct scan *scan, size_t at, uint64_t from_at, uint64_t to_at)
{
    size_t before = at > BEHIND ? at - BEHIND : 0;
    size_t begin = line_begin(scan, before, 0);
    if (scan->reader->text.bytes ==
        NULL) /* six bytes for each of the window's: only where there is something to read */
        oom_text_init(&scan->reader->text, scan->reader->arena, scan->window_size);
    bool at_line_start = begin == 0 ? scan->window_at == 0 : scan->window[begin - 1] == '\n';
    oom_text_clean(&scan->reader->text, (struct str){scan->window + begin, scan->length - begin},
                   scan->window_at + begin, at_line_start);
    return oom_read_text(scan->reader, from_at, to_at);
}

/* May the failure that is being read go on at input offset `at`? Not every line of a
 * report, and hardly one of an allocator's dump, has a needle. */
static bool is_going_on(const struct scan *scan, uint64_t at)
{
    const struct oom_draft *draft = &scan->reader->draft;
    bool is_dump = draft->has_dump && !draft->is_dump_over;
    return draft->is_open && draft->failure.end_at + (is_dump ? BLOCK : LINE) > at;
}

/* Reads the block at input offset `at`; returns where the next begins, or 0 at the end or on an error. */
static uint64_t block_read(struct scan *scan, uint64_t at)
{
    uint64_t behind = at < BEHIND ? at : BEHIND;
    if (!window_fill(scan, at - behind, (size_t)behind + BLOCK))
        return 0;
    size_t begin = (size_t)behind;
    if (scan->length <= begin)
        return 0;
    size_t stop = scan->is_end ? scan->length : line_begin(scan, scan->length, begin + 1);
    bool is_last = scan->is_end;
    size_t place = scan->is_wide || is_going_on(scan, at) ? begin : place_find(scan, begin, scan->length);
    uint64_t next = scan->window_at + stop;
    if (place < scan->length) {
        if (!is_last && !window_fill(scan, at - behind, (size_t)behind + BLOCK + AHEAD))
            return 0;
        uint64_t from_at = place > begin + AROUND ? scan->window_at + place - AROUND : at;
        next = text_read(scan, (size_t)(from_at - scan->window_at), from_at, next);
        is_last = scan->is_end && next >= scan->window_at + scan->length;
    }
    return is_last ? 0 : next;
}

/* What the lines around each failure tell, and which of them are one event. */
static void events_find(struct scan *scan, struct arena *arena, struct oom_result *out)
{
    struct oom_reader *reader = scan->reader;
    struct oom_failure *given_up = arena_array(arena, struct oom_failure, reader->failure_count + 1);
    *out = (struct oom_result){.given_up = given_up};
    oom_around_read(scan->source, arena, reader->failures, reader->failure_count, scan->err);
    reader->failure_count = oom_chain_join(reader->failures, reader->failure_count, arena);
    oom_around_judge(scan->source, arena, reader->failures, reader->failure_count, scan->err);
    reader->failure_count = oom_chain_part(reader->failures, reader->failure_count, given_up, &out->given_up_count);
}

bool oom_scan(const struct source *source, struct arena *arena, struct oom_result *out, struct err *err)
{
    struct scan scan = {.source = source, .err = err};
    unsigned char mark[2] = {0, 0};
    size_t size = source->size_bytes < BEHIND + BLOCK + AHEAD ? (size_t)source->size_bytes : BEHIND + BLOCK + AHEAD;
    scan.window = arena_raw(arena, size + 1);
    scan.window_size = size;
    scan.needles = needles_new(arena);
    scan.signs = signs_new(arena);
    scan.folded = folded_new(arena);
    scan.reader = oom_draft_reader_new(arena);
    scan.reader->sentences = oom_pattern_index_new(arena);
    scan.is_wide = source->read(source->context, 0, mark, 2) == 2 && (mark[0] ^ mark[1]) == 1 && mark[0] >= 0xFE;
    for (uint64_t at = 0, next; (next = block_read(&scan, at)) > 0 && !err_is_set(err); at = next)
        if (next <= at)
            break;
    oom_draft_end(scan.reader);
    events_find(&scan, arena, out);
    *out = (struct oom_result){
        .failures = scan.reader->failures,
        .failure_count = scan.reader->failure_count,
        .given_up = out->given_up,
        .given_up_count = out->given_up_count,
        .left_out_count = scan.reader->left_out_count,
        .report_line_count = scan.reader->report_line_count,
        .usage = scan.reader->usage,
        .size_bytes = scan.window_at + scan.length,
        .encoding = !scan.is_wide     ? "utf-8"
                    : mark[0] == 0xFF ? "utf-16le"
                                      : "utf-16be",
    };
    return !err_is_set(err);
}
