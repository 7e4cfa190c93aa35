/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/watch_show.h"

#include "analysis/analysis.h"
#include "base/size_text.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/run/live_files.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MIN_MS = 200 }; /* a terminal needs at most five lines a second */
enum { SAY_MS = 60000, MS_PER_S = 1000, NS_PER_MS = 1000000, GROWING_SAID_MAX = 3 };
enum { LEAST_STEP_BYTES = 16 << 20 }; /* of a peak, where the size of the device is not known */
/* Times what a look took: a fiftieth of one core at most, as for each process that is watched. */
enum { LEAST_REST = 49 };

struct watch_show {
    const char *folder;
    struct tee *tee;
    int64_t every_ms;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_over;
    bool is_terminal;
    /* What the last lines said, if there is no terminal. */
    int64_t said_ms, said_peak_bytes; /* 0: none */
    bool is_growth_said;
};

int64_t watch_show_every_ms(const char *every)
{
    char *end;
    double seconds = strtod(every, &end);
    return end != every && *end == '\0' && seconds >= 0.01 && seconds <= 3600 ? (int64_t)(seconds * MS_PER_S) : 0;
}

/* NULL: nothing is recorded, or it cannot be read now. */
static struct analysis_live *live_of(const char *folder)
{
    struct live_files files;
    struct err err = ERR_INIT;
    char *all = memory_format("%.*s", (int)(strrchr(folder, '/') - folder), folder);
    live_files_read(all, strrchr(folder, '/') + 1, &files);
    free(all);
    struct analysis_live *live = files.count > 0 ? analysis_live_read(files.items, files.count, &err) : NULL;
    live_files_free(&files);
    if (live && analysis_live_model(live)->count == 0) {
        analysis_live_free(live);
        live = NULL;
    }
    return live;
}

/* ---- while it runs ---- */

static const struct live_line *growing_of(const struct live *live)
{
    for (size_t at = 0; at < live->count; at++)
        if (live->lines[at].finding && !live->lines[at].is_ended)
            return &live->lines[at];
    return NULL;
}

/* "cuda:0: 1.00 GiB in use, …, of rank3.4711 (and 7 more)"; free() */
static char *words_of(const struct live *live)
{
    const struct live_line *line = &live->lines[0];
    char *more = live->count > 1 ? memory_format(" (fullest of %zu)", live->count + live->left_out_count) : NULL;
    char *words = memory_format("%s; %s%s", line->sentence, line->process, more ? more : "");
    free(more);
    return words;
}

/* Names are the program's: what is no letter of ASCII takes no place on a line of a terminal that is known. */
static void ascii_make(char *text)
{
    for (; *text; text++)
        *text = *text >= ' ' && *text <= '~' ? *text : '?';
}

static void line_follow(struct watch_show *show, const struct live *live)
{
    const struct live_line *growing = growing_of(live);
    char rate[SIZE_TEXT_BYTES];
    char *words = words_of(live);
    char *text = growing ? memory_format("memviewd: grows %s a minute | %s",
                                         size_text(rate, (uint64_t)growing->grown_per_minute_bytes), words)
                         : memory_format("memviewd: %s", words);
    ascii_make(text);
    tee_show(show->tee, text);
    free(text);
    free(words);
}

/* By how much the peak has to rise to be said again. */
static bool is_new_peak(const struct watch_show *show, const struct live_line *highest)
{
    int64_t quarter = show->said_peak_bytes / 4;
    int64_t step = highest->total_bytes > 0     ? highest->total_bytes / 10
                   : quarter > LEAST_STEP_BYTES ? quarter
                                                : LEAST_STEP_BYTES;
    return highest->peak_bytes > show->said_peak_bytes + step;
}

static void line_say(struct watch_show *show, const struct live *live)
{
    const struct live_line *growing = growing_of(live);
    int64_t now_ms = clock_ms();
    if (show->said_ms == 0 || now_ms - show->said_ms >= SAY_MS || is_new_peak(show, live->highest)) {
        char *words = words_of(live);
        log_line("%s", words);
        free(words);
        show->said_ms = now_ms;
        show->said_peak_bytes = live->highest->peak_bytes;
    }
    if (growing && !show->is_growth_said)
        log_line("%s", growing->growth_sentence);
    show->is_growth_said |= growing != NULL;
}

static void look(struct watch_show *show)
{
    struct analysis_live *live = live_of(show->folder);
    if (live)
        (show->is_terminal ? line_follow : line_say)(show, analysis_live_model(live));
    analysis_live_free(live);
}

static void *show_run(void *context)
{
    struct watch_show *show = context;
    int64_t wait_ms = show->every_ms;
    pthread_mutex_lock(&show->mutex);
    while (!show->is_over) {
        struct timespec then = clock_after(wait_ms);
        pthread_cond_timedwait(&show->condition, &show->mutex, &then);
        pthread_mutex_unlock(&show->mutex);
        int64_t began_ms = clock_ms();
        look(show);
        int64_t rest_ms = LEAST_REST * (clock_ms() - began_ms);
        wait_ms = rest_ms > show->every_ms ? rest_ms : show->every_ms;
        pthread_mutex_lock(&show->mutex);
    }
    pthread_mutex_unlock(&show->mutex);
    return NULL;
}

static void show_release(struct watch_show *show)
{
    pthread_cond_destroy(&show->condition);
    pthread_mutex_destroy(&show->mutex);
    free(show);
}

struct watch_show *watch_show_new(const char *run_folder, struct tee *tee, int64_t every_ms)
{
    struct watch_show *show = memory_new(sizeof(*show));
    *show = (struct watch_show){.folder = run_folder,
                                .tee = tee,
                                .every_ms = every_ms > LOOK_MIN_MS ? every_ms : LOOK_MIN_MS,
                                .is_terminal = isatty(STDERR_FILENO)};
    pthread_mutex_init(&show->mutex, NULL);
    clock_cond_init(&show->condition);
    if (pthread_create(&show->thread, NULL, show_run, show) == 0)
        return show;
    show_release(show);
    return NULL;
}

void watch_show_free(struct watch_show *show)
{
    pthread_mutex_lock(&show->mutex);
    show->is_over = true;
    pthread_cond_signal(&show->condition);
    pthread_mutex_unlock(&show->mutex);
    pthread_join(show->thread, NULL);
    tee_show(show->tee, NULL);
    show_release(show);
}

/* ---- afterwards ---- */

/* "14:03:22", by the clock of the wall here */
static void clock_words(int64_t ms, char out[16])
{
    time_t seconds = (time_t)(ms / MS_PER_S);
    struct tm parts;
    if (!localtime_r(&seconds, &parts) || strftime(out, 16, "%H:%M:%S", &parts) == 0)
        out[0] = '\0';
}

static void say_highest(const struct live *live, int64_t began_ns)
{
    const struct live_line *line = live->highest;
    char peak[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES], at[16];
    int64_t after_ms = line->peak_ms - began_ns / NS_PER_MS;
    clock_words(line->peak_ms, at);
    log_line("most in use: %s%s%s, %s, %" PRId64 " s after the start, at %s",
             size_text(peak, (uint64_t)line->peak_bytes), line->total_bytes > 0 ? " of " : "",
             line->total_bytes > 0 ? size_text(total, (uint64_t)line->total_bytes) : "", line->name,
             after_ms > 0 ? after_ms / MS_PER_S : 0, at);
}

bool watch_show_say_end(const char *run_folder, int64_t began_ns)
{
    struct analysis_live *live = live_of(run_folder);
    const struct live *model = live ? analysis_live_model(live) : NULL;
    size_t said_count = 0;
    if (!model)
        return false;
    say_highest(model, began_ns);
    for (size_t at = 0; at < model->count && said_count < GROWING_SAID_MAX; at++) {
        const struct live_line *line = &model->lines[at];
        if (line->finding)
            log_line("%s", line->growth_sentence);
        said_count += line->finding != NULL;
    }
    analysis_live_free(live);
    return true;
}
