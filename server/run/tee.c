/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/tee.h"

#include "server/base/clock.h"
#include "server/base/descriptors.h"
#include "server/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

enum { PART_BYTES = 1 << 16 };
/* After the child's end what it wrote is there, if a moment later of a terminal. Others that hold the stream open and
 * go on writing are not waited for; the time that writing takes us is not counted. */
enum { QUIET_MS = 50, LAST_MS = 1000 };
enum { SHOWN_BYTES = 256, COLUMNS_UNKNOWN = 80 };

/* The terminal that stderr is, with a line of ours that whoever writes there wipes first. */
struct screen {
    pthread_mutex_t mutex;
    char line[SHOWN_BYTES];          /* empty: none */
    bool is_at_begin, is_line_drawn; /* of the terminal's line: is the cursor at its begin, and does it show our line */
};

struct stream {
    int outer;        /* 1 or 2: ours */
    int inner, child; /* our end and the child's */
    bool is_terminal, has_thread;
    pthread_t thread;
    pthread_mutex_t mutex; /* of `inner`, which the thread closes */
    int over;              /* at its end once the child has ended */
    struct run_log *log;
    struct screen *screen;
};

struct tee {
    struct screen screen;
    struct stream streams[2];
    size_t stream_count;
    bool is_shared; /* the only stream is of both */
    int over[2];    /* a pipe: its second end is closed once the child has ended */
};

static void size_copy(struct stream *stream)
{
    struct winsize size;
    pthread_mutex_lock(&stream->mutex);
    if (stream->inner >= 0 && ioctl(stream->outer, TIOCGWINSZ, &size) == 0)
        ioctl(stream->inner, TIOCSWINSZ, &size);
    pthread_mutex_unlock(&stream->mutex);
}

/* As ours in all but this: it changes no byte on its way. */
static void settings_copy(const struct stream *stream)
{
    struct termios settings;
    if (tcgetattr(stream->outer, &settings) != 0)
        return;
    settings.c_oflag &= ~(tcflag_t)OPOST;
    settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    tcsetattr(stream->child, TCSANOW, &settings);
}

static bool terminal_open(struct stream *stream)
{
    char name[64];
    stream->inner = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->inner < 0 || grantpt(stream->inner) != 0 || unlockpt(stream->inner) != 0 ||
        ptsname_r(stream->inner, name, sizeof(name)) != 0)
        return false;
    stream->child = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->child < 0)
        return false;
    size_copy(stream);
    settings_copy(stream);
    return true;
}

static bool pipe_open(struct stream *stream)
{
    int ends[2];
    if (!descriptors_pipe(ends))
        return false;
    stream->inner = ends[0];
    stream->child = ends[1];
    return true;
}

static bool stream_open(struct tee *tee, int outer, struct run_log *log)
{
    struct stream *stream = &tee->streams[tee->stream_count++];
    *stream = (struct stream){.outer = outer,
                              .inner = -1,
                              .child = -1,
                              .is_terminal = isatty(outer),
                              .over = tee->over[0],
                              .log = log,
                              .screen = &tee->screen};
    pthread_mutex_init(&stream->mutex, NULL);
    return stream->is_terminal ? terminal_open(stream) : pipe_open(stream);
}

static void end_close(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static bool is_given(int descriptor)
{
    int flags = fcntl(descriptor, F_GETFD);
    return flags >= 0 && !(flags & FD_CLOEXEC);
}

void tee_reserve(void)
{
    for (int at = 0; at <= 2; at++) {
        if (fcntl(at, F_GETFD) < 0)
            open("/dev/null", O_RDWR | O_CLOEXEC); /* the lowest number that is free */
    }
}

struct tee *tee_new(struct run_log *log, struct err *err)
{
    struct tee *tee = memory_new(sizeof(*tee));
    struct stat ours[2];
    tee->screen.is_at_begin = true;
    pthread_mutex_init(&tee->screen.mutex, NULL);
    bool is_there[2] = {is_given(1) && fstat(1, &ours[0]) == 0, is_given(2) && fstat(2, &ours[1]) == 0};
    tee->is_shared = is_there[0] && is_there[1] && ours[0].st_dev == ours[1].st_dev &&
                     ours[0].st_ino == ours[1].st_ino && ours[0].st_rdev == ours[1].st_rdev;
    bool is_open = descriptors_pipe(tee->over);
    if (!is_open)
        tee->over[0] = tee->over[1] = -1;
    for (int at = 0; at < 2 && is_open; at++) {
        if (is_there[at] && !(at == 1 && tee->is_shared))
            is_open = stream_open(tee, at + 1, log);
    }
    if (is_open)
        return tee;
    err_set(err, ERR_io, ERR_NO_OFFSET, "%s", strerror(errno));
    tee_free(tee);
    return NULL;
}

void tee_enter(const struct tee *tee)
{
    for (size_t at = 0; at < tee->stream_count; at++)
        dup2(tee->streams[at].child, tee->streams[at].outer);
    if (tee->is_shared)
        dup2(tee->streams[0].child, 2);
}

void tee_resize(struct tee *tee)
{
    for (size_t at = 0; at < tee->stream_count; at++) {
        if (tee->streams[at].is_terminal)
            size_copy(&tee->streams[at]);
    }
}

/* ---- Copying -------------------------------------------------------------------- */

/* False when it can no longer be written. */
static bool all_write(int outer, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(outer, bytes, size);
        if (written < 0 && errno == EAGAIN) { /* the process that started us set O_NONBLOCK */
            struct pollfd room = {outer, POLLOUT, 0};
            poll(&room, 1, -1);
        } else if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* ---- Our line ------------------------------------------------------------------- */

/* With the screen's mutex. The cursor stays at the beginning. */
static void line_draw(struct screen *screen)
{
    struct winsize size;
    char text[SHOWN_BYTES + 8];
    bool has_size = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    int columns = (has_size ? size.ws_col : COLUMNS_UNKNOWN) - 1; /* in the last one a terminal may go on */
    if (screen->line[0] == '\0' || !screen->is_at_begin)
        return;
    int length = snprintf(text, sizeof(text), "\r\033[K%.*s\r", columns > 0 ? columns : 0, screen->line);
    screen->is_line_drawn = all_write(STDERR_FILENO, text, (size_t)length);
}

static void line_wipe(struct screen *screen)
{
    static const char wiped[] = "\r\033[K";
    if (screen->is_line_drawn)
        all_write(STDERR_FILENO, wiped, sizeof(wiped) - 1);
    screen->is_line_drawn = false;
}

void tee_show(struct tee *tee, const char *line)
{
    struct screen *screen = &tee->screen;
    if (!isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&screen->mutex);
    bool is_same = line && screen->is_line_drawn && strncmp(screen->line, line, sizeof(screen->line) - 1) == 0;
    if (!line)
        line_wipe(screen);
    snprintf(screen->line, sizeof(screen->line), "%s", line ? line : "");
    if (!is_same)
        line_draw(screen);
    pthread_mutex_unlock(&screen->mutex);
}

/* What the child has printed; false when it can no longer be written. */
static bool part_show(const struct stream *stream, const char *part, size_t length)
{
    struct screen *screen = stream->screen;
    if (!stream->is_terminal)
        return all_write(stream->outer, part, length);
    pthread_mutex_lock(&screen->mutex);
    line_wipe(screen);
    bool is_written = all_write(stream->outer, part, length);
    screen->is_at_begin = part[length - 1] == '\n';
    line_draw(screen);
    pthread_mutex_unlock(&screen->mutex);
    return is_written;
}

/* ---- The threads ---------------------------------------------------------------- */

/* Waits for bytes, or the end of the child: then for a while only. False when there will be none. */
static bool is_ready(const struct stream *stream, bool *is_over)
{
    struct pollfd ends[] = {{stream->inner, POLLIN, 0}, {stream->over, POLLIN, 0}};
    while (poll(ends, *is_over ? 1 : 2, *is_over ? QUIET_MS : -1) < 0 && errno == EINTR)
        ;
    *is_over |= ends[1].revents != 0;
    return ends[0].revents != 0 || (ends[1].revents != 0 && is_ready(stream, is_over));
}

static void *stream_copy(void *context)
{
    struct stream *stream = context;
    char part[PART_BYTES];
    bool is_over = false;
    for (int64_t last_ms = 0; last_ms <= LAST_MS;) {
        int64_t begin_ms = clock_ms();
        bool was_over = is_over;
        ssize_t length = is_ready(stream, &is_over) ? read(stream->inner, part, sizeof(part)) : 0;
        last_ms += was_over ? clock_ms() - begin_ms : 0;
        if (length <= 0) /* a terminal that everybody closed is an error */
            break;
        run_log_add(stream->log, part, (size_t)length);
        if (!part_show(stream, part, (size_t)length))
            break;
    }
    pthread_mutex_lock(&stream->mutex);
    end_close(&stream->inner);
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

bool tee_start(struct tee *tee)
{
    bool is_started = true;
    for (size_t at = 0; at < tee->stream_count; at++) {
        struct stream *stream = &tee->streams[at];
        end_close(&stream->child);
        stream->has_thread = pthread_create(&stream->thread, NULL, stream_copy, stream) == 0;
        is_started &= stream->has_thread;
    }
    return is_started;
}

void tee_free(struct tee *tee)
{
    end_close(&tee->over[1]);
    for (size_t at = 0; at < tee->stream_count; at++) {
        struct stream *stream = &tee->streams[at];
        if (stream->has_thread)
            pthread_join(stream->thread, NULL);
        end_close(&stream->inner);
        end_close(&stream->child);
        pthread_mutex_destroy(&stream->mutex);
    }
    end_close(&tee->over[0]);
    pthread_mutex_destroy(&tee->screen.mutex);
    free(tee);
}
