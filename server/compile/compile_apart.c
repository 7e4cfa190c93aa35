/* SPDX-License-Identifier: Apache-2.0
 * compile_apart.c: both ends. They are the same program; still neither takes a length or a number of the other on
 * trust. */
#include "server/compile/compile_apart.h"

#include "server/base/descriptors.h"
#include "server/base/memory.h"
#include "server/sandbox/helper.h"
#include "server/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOPOLOGY_MAX = 64, PATH_TEXT_MAX = 4096, LOOK_MS = 50, TEXT_COUNT = 5 };

enum kind {
    FIND,     /* → FOUND */
    COMPILE,  /* with the program, the options and the target in one file → PROGRESS…, RESULT, MODULE; or DIED */
    CANCEL,   /* while it compiles */
    FOUND,    /* */
    PROGRESS, /* */
    RESULT,   /* with its texts in one file, each ending with NUL */
    MODULE,   /* with the module, or with nothing */
    DIED,
};

struct message {
    uint32_t kind;
    union {
        struct {
            uint64_t module_bytes, option_bytes, target_bytes, limit_bytes;
            int64_t limit_ms, partition_count;
            uint32_t has_topology, with_code;
            char topology[TOPOLOGY_MAX];
        } compile;
        struct {
            uint32_t is_found, has_version, kind;
            char path[PATH_TEXT_MAX], version[128];
            struct err err;
        } found;
        struct compile_progress progress;
        struct {
            struct compile_result result;    /* pointers mean nothing; of a text: whether there is one */
            uint64_t text_bytes[TEXT_COUNT]; /* with their NULs; 0: none */
        } result;
    };
};

/* The texts of a result, in the order in which they are sent. */
static void texts_of(struct compile_result *result, char **texts[TEXT_COUNT])
{
    texts[0] = &result->sentence;
    texts[1] = &result->text;
    texts[2] = &result->module_path;
    texts[3] = &result->plugin;
    texts[4] = &result->plugin_version;
}

/* ---- bytes in a file that has no name ------------------------------------------------------ */

static bool bytes_add(int file, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t part = write(file, (const char *)bytes + at, size - at);
        if (part < 0 && errno != EINTR)
            return false;
        at += part > 0 ? (size_t)part : 0;
    }
    return true;
}

/* `size` of its bytes from `offset` on, NUL behind them; NULL when it has fewer. free(). */
static char *bytes_read(int file, uint64_t offset, uint64_t size)
{
    char *bytes = size < SIZE_MAX / 2 ? malloc((size_t)size + 1) : NULL;
    size_t at = 0;
    ssize_t part = 1;
    while (bytes && at < size && part > 0) {
        part = pread(file, bytes + at, (size_t)size - at, (off_t)(offset + at));
        at += part > 0 ? (size_t)part : 0;
    }
    if (!bytes || at < size) {
        free(bytes);
        return NULL;
    }
    bytes[size] = '\0';
    return bytes;
}

/* ---- the process that compiles once --------------------------------------------------------- */

struct work {
    int socket;
    atomic_bool is_cancelled;
};

static void compile_apart_tell(void *context, const struct compile_progress *progress)
{
    struct work *work = context;
    struct message message = {.kind = PROGRESS, .progress = *progress}, heard;
    ssize_t length;
    while ((length = helper_receive(work->socket, &heard, sizeof(heard), NULL, false)) > 0)
        if (heard.kind == CANCEL)
            atomic_store(&work->is_cancelled, true);
    if (length == 0) /* the daemon is gone */
        atomic_store(&work->is_cancelled, true);
    helper_send(work->socket, &message, sizeof(message), -1);
}

static void box_put_on(void)
{
    const char *scratch = getenv("TMPDIR");
    struct sandbox *sandbox = sandbox_new(SANDBOX_STARTER);
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) {
        if (write(score, "1000", 4) != 4) { /* its children have it, too */
            /* then the kernel ends it no sooner than others */
        }
        close(score);
    }
    sandbox_reads(sandbox, "/");
    sandbox_writes(sandbox, scratch && scratch[0] == '/' ? scratch : "/tmp");
    sandbox_enter(sandbox, NULL);
}

static void compile_apart_answer(struct work *work, struct compile_result *result)
{
    struct message message = {.kind = RESULT, .result.result = *result};
    struct message last = {.kind = MODULE};
    char **texts[TEXT_COUNT];
    int file = descriptors_memory_file(), module = -1;
    texts_of(result, texts);
    bool is_good = file >= 0;
    for (size_t at = 0; at < TEXT_COUNT; at++) {
        message.result.text_bytes[at] = *texts[at] ? strlen(*texts[at]) + 1 : 0;
        is_good = is_good && bytes_add(file, *texts[at], message.result.text_bytes[at]);
    }
    if (result->module_path)
        module = open(result->module_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    compile_drop_files(result);
    if (!is_good || !helper_send(work->socket, &message, sizeof(message), file) ||
        !helper_send(work->socket, &last, sizeof(last), module))
        _exit(1);
}

static void compile_once(int socket, const struct message *asked, int file, const struct compile_apart_named *named)
{
    struct work work = {.socket = socket};
    struct compile_result result;
    char *module = bytes_read(file, 0, asked->compile.module_bytes);
    char *options = bytes_read(file, asked->compile.module_bytes, asked->compile.option_bytes);
    char *target =
        bytes_read(file, asked->compile.module_bytes + asked->compile.option_bytes, asked->compile.target_bytes);
    char topology[TOPOLOGY_MAX];
    memcpy(topology, asked->compile.topology, sizeof(topology));
    topology[TOPOLOGY_MAX - 1] = '\0';
    if (!module || !options || !target)
        _exit(1);
    const struct compile_request request = {.module = {module, (size_t)asked->compile.module_bytes},
                                            .options = {options, (size_t)asked->compile.option_bytes},
                                            .target = {target, (size_t)asked->compile.target_bytes},
                                            .partition_count = asked->compile.partition_count,
                                            .topology = asked->compile.has_topology ? topology : NULL,
                                            .plugin = asked->compile.target_bytes > 0 ? named->cuda : named->libtpu,
                                            .limit_ms = asked->compile.limit_ms,
                                            .limit_bytes = asked->compile.limit_bytes,
                                            .with_code = asked->compile.with_code,
                                            .progress = compile_apart_tell,
                                            .context = &work,
                                            .is_cancelled = &work.is_cancelled};
    box_put_on();
    compile_run(&request, &result);
    compile_apart_answer(&work, &result);
    _exit(0);
}

/* ---- the process that starts them ------------------------------------------------------------- */

/* Finds libtpu, else the plug-in for CUDA; if there is neither, the reason is that for libtpu. */
static void compile_apart_find_one(int socket, const struct compile_apart_named *named, struct plugin *found)
{
    struct plugin cuda = {.kind = PLUGIN_CUDA};
    struct err unsaid = ERR_INIT;
    struct message message = {.kind = FOUND, .found.err = ERR_INIT};
    message.found.is_found = found->path || plugin_find(PLUGIN_TPU, named->libtpu, found, &message.found.err);
    if (!message.found.is_found && plugin_find(PLUGIN_CUDA, named->cuda, &cuda, &unsaid)) {
        plugin_free(found);
        *found = cuda;
        cuda = (struct plugin){.kind = PLUGIN_CUDA};
        message.found.is_found = true;
    }
    plugin_free(&cuda);
    message.found.kind = found->kind;
    if (message.found.is_found && strlen(found->path) < sizeof(message.found.path)) {
        memcpy(message.found.path, found->path, strlen(found->path) + 1);
        message.found.has_version = found->version && strlen(found->version) < sizeof(message.found.version);
        if (message.found.has_version)
            memcpy(message.found.version, found->version, strlen(found->version) + 1);
    } else {
        plugin_free(found);
    }
    helper_send(socket, &message, sizeof(message), -1);
}

static void start_one(int socket, const struct message *asked, int file, const struct compile_apart_named *named)
{
    const struct message died = {.kind = DIED};
    int status = -1;
    pid_t id = fork();
    if (id == 0)
        compile_once(socket, asked, file, named);
    while (id > 0 && waitpid(id, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        helper_send(socket, &died, sizeof(died), -1);
}

static void work_until_closed(int socket, void *context)
{
    const struct compile_apart_named *named = context;
    static struct message asked;
    struct plugin found = {.kind = PLUGIN_TPU};
    int file;
    while (helper_receive(socket, &asked, sizeof(asked), &file, true) > 0) {
        if (asked.kind == FIND)
            compile_apart_find_one(socket, named, &found);
        else if (asked.kind == COMPILE)
            start_one(
                socket, &asked, file,
                &(struct compile_apart_named){found.path && found.kind == PLUGIN_TPU ? found.path : named->libtpu,
                                              found.path && found.kind == PLUGIN_CUDA ? found.path : named->cuda});
        if (file >= 0)
            close(file);
    }
}

/* ---- the process that asks ---------------------------------------------------------------------- */

struct compile_apart {
    int socket;
    pthread_mutex_t lock; /* one question at a time */
};

struct compile_apart *compile_apart_start(const struct compile_apart_named *named)
{
    int socket = helper_start("memviewd-start", work_until_closed, (void *)(uintptr_t)named);
    if (socket < 0)
        return NULL;
    struct compile_apart *apart = memory_new(sizeof(*apart));
    apart->socket = socket;
    pthread_mutex_init(&apart->lock, NULL);
    return apart;
}

void compile_apart_free(struct compile_apart *apart)
{
    if (!apart)
        return;
    close(apart->socket);
    pthread_mutex_destroy(&apart->lock);
    free(apart);
}

bool compile_apart_find(struct compile_apart *apart, struct plugin *out, struct err *err)
{
    const struct message asked = {.kind = FIND};
    struct message *heard = memory_new(sizeof(*heard));
    *out = (struct plugin){.kind = PLUGIN_TPU};
    pthread_mutex_lock(&apart->lock);
    bool is_heard = helper_send(apart->socket, &asked, sizeof(asked), -1);
    while (is_heard && heard->kind != FOUND)
        is_heard = helper_receive(apart->socket, heard, sizeof(*heard), NULL, true) == (ssize_t)sizeof(*heard);
    pthread_mutex_unlock(&apart->lock);
    if (!is_heard) {
        err_set(err, ERR_io, ERR_NO_OFFSET, "the process that looks for libtpu.so has ended");
    } else if (!heard->found.is_found) {
        *err = heard->found.err;
        err->text[sizeof(err->text) - 1] = '\0';
    } else {
        out->kind = heard->found.kind == PLUGIN_CUDA ? PLUGIN_CUDA : PLUGIN_TPU;
        out->path = memory_format("%.*s", PATH_TEXT_MAX - 1, heard->found.path);
        out->version = heard->found.has_version ? memory_format("%.127s", heard->found.version) : NULL;
    }
    free(heard);
    return out->path != NULL;
}

static bool send_request(struct compile_apart *apart, const struct compile_request *request)
{
    struct message asked = {.kind = COMPILE};
    asked.compile.module_bytes = request->module.length;
    asked.compile.option_bytes = request->options.length;
    asked.compile.target_bytes = request->target.length;
    asked.compile.limit_ms = request->limit_ms;
    asked.compile.limit_bytes = request->limit_bytes;
    asked.compile.partition_count = request->partition_count;
    asked.compile.with_code = request->with_code;
    asked.compile.has_topology = request->topology != NULL;
    size_t length = request->topology ? strlen(request->topology) : 0;
    if (length < sizeof(asked.compile.topology)) /* else it is none */
        memcpy(asked.compile.topology, request->topology ? request->topology : "", length);
    int file = descriptors_memory_file();
    bool is_sent = file >= 0 && bytes_add(file, request->module.data, request->module.length) &&
                   bytes_add(file, request->options.data, request->options.length) &&
                   bytes_add(file, request->target.data, request->target.length) &&
                   helper_send(apart->socket, &asked, sizeof(asked), file);
    if (file >= 0)
        close(file);
    return is_sent;
}

static bool take_result(const struct message *heard, int file, struct compile_result *result)
{
    char **texts[TEXT_COUNT];
    uint64_t at = 0;
    *result = heard->result.result;
    result->folder = result->work = NULL;
    result->module_descriptor = -1;
    texts_of(result, texts);
    for (size_t i = 0; i < TEXT_COUNT; i++)
        *texts[i] = NULL;
    bool is_good = result->status <= COMPILE_CANNOT_START;
    for (size_t i = 0; i < TEXT_COUNT && is_good; i++) {
        uint64_t size = heard->result.text_bytes[i];
        *texts[i] = size > 0 ? bytes_read(file, at, size) : NULL;
        is_good = size == 0 || *texts[i];
        at += size;
    }
    return is_good && result->sentence;
}

/* Until the answer is complete; false when there will be none. */
static bool hear(struct compile_apart *apart, const struct compile_request *request, struct compile_result *result)
{
    const struct message cancel = {.kind = CANCEL};
    struct message *heard = memory_new(sizeof(*heard));
    bool is_cancelled = false, is_good = true, has_result = false, is_over = false;
    while (!is_over) {
        struct pollfd socket = {apart->socket, POLLIN, 0};
        if (request->is_cancelled && atomic_load(request->is_cancelled) && !is_cancelled)
            is_cancelled = helper_send(apart->socket, &cancel, sizeof(cancel), -1);
        if (poll(&socket, 1, LOOK_MS) <= 0)
            continue;
        int file;
        bool is_heard = helper_receive(apart->socket, heard, sizeof(*heard), &file, true) == (ssize_t)sizeof(*heard);
        is_over = !is_heard || heard->kind == DIED || heard->kind == MODULE;
        if (!is_over && heard->kind == PROGRESS && heard->progress.stage <= COMPILE_STAGE_CODE && request->progress) {
            request->progress(request->context, &heard->progress);
        } else if (!is_over && heard->kind == RESULT && !has_result) {
            is_good = take_result(heard, file, result);
            has_result = true;
        } else if (is_heard && heard->kind == MODULE && has_result) {
            result->module_descriptor = file;
            file = -1;
        } else if (is_over) {
            is_good = false;
        }
        if (file >= 0)
            close(file);
    }
    free(heard);
    return is_good && has_result;
}

void compile_apart_run(struct compile_apart *apart, const struct compile_request *request,
                       struct compile_result *result)
{
    *result = (struct compile_result){.module_descriptor = -1};
    pthread_mutex_lock(&apart->lock);
    bool is_answered = send_request(apart, request) && hear(apart, request, result);
    pthread_mutex_unlock(&apart->lock);
    if (is_answered)
        return;
    compile_free(result);
    *result = (struct compile_result){.status = COMPILE_CANNOT_START, .peak_bytes = -1, .module_descriptor = -1};
    result->sentence = memory_text("The compile could not be started: the process that does it has ended.");
}
