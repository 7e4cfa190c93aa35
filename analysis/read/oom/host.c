/* SPDX-License-Identifier: Apache-2.0
 * host.c: memory of the host, where no pattern can tell a failure from ordinary text: what the kernel says when it
 * kills, exits by signal 9, Kubernetes' reasons. A word alone is none; what stands around it decides. */
#include "read/oom/cursor.h"
#include "read/oom/handlers.h"
#include "read/oom/quantity.h"

#include <ctype.h>

enum { NEAR = 96 << 10, LINE = 400, MAKE_TARGET = 160 };

#define FIGURE_OF(failure, name) (&(failure)->figures[OOM_##name])

static const char *const ends[] = {
#define ENDED(word) word,
#include "read/oom/host.def"
};
static const char *const exits[] = {
#define EXIT(word) word,
#include "read/oom/host.def"
};
static const char *const meanings[] = {
#define MEANING(word) word,
#include "read/oom/host.def"
};
static const char *const code_words[] = {
#define CODE_WORD(word) word,
#include "read/oom/host.def"
};
static const char *const code_fillers[] = {
#define CODE_FILLER(word) word,
#include "read/oom/host.def"
};
static const char *const reasons[] = {
#define REASON(word) word,
#include "read/oom/host.def"
};
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

/* ---- lines ---- */

/* Where the digits that end at `at` begin; `at` when there are none. */
static size_t digits_begin(const struct oom_text *text, size_t at)
{
    while (at > 0 && isdigit((unsigned char)text->bytes[at - 1]))
        at--;
    return at;
}

/* ---- the kernel ---- */

/* A kill is told in several lines; the one with the size of the process is the last. */
static struct oom_failure *kill_open(struct oom_reader *reader, size_t from, size_t at)
{
    struct oom_failure *failure = &reader->draft.failure;
    if (oom_draft_takes(reader, OOM_FAMILY_linux_kill, from, NEAR) && !FIGURE_OF(failure, process_bytes)->is_known)
        return failure;
    return oom_draft_begin(reader, OOM_FAMILY_linux_kill, "system", from, at);
}

/* "31451456kB" */
static bool kilobytes_take(const struct oom_text *text, size_t *at, struct oom_figure *figure)
{
    size_t end = *at;
    if (!oom_cursor_take_amount(text, &end, 'K', figure) || !oom_cursor_take(text, &end, "kB"))
        return false;
    *at = end;
    return true;
}

/* "memory: usage 2097152kB, limit 2097152kB, failcnt 1234" */
static size_t usage_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure used, limit;
    if (!kilobytes_take(text, &at, &used) || !oom_cursor_take(text, &at, ",limit") ||
        !kilobytes_take(text, &at, &limit) || !oom_cursor_take(text, &at, ",failcnt"))
        return 0;
    struct oom_failure *failure = kill_open(reader, from, at);
    failure->form = "cgroup";
    *FIGURE_OF(failure, total_bytes) = used;
    *FIGURE_OF(failure, capacity_bytes) = limit;
    return oom_draft_reach(reader, at);
}

/* "oom-kill:constraint=CONSTRAINT_MEMCG,…,task=python,pid=7899,uid=0" */
static size_t constraint_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t end = at, task, task_end;
    bool is_group = oom_cursor_take(text, &end, "CONSTRAINT_MEMCG");
    if (!oom_cursor_find(text, &end, ",task=", LINE * 2))
        return 0;
    task = task_end = end;
    if (!oom_cursor_skip_to(text, &task_end, ",", 40))
        return 0;
    struct oom_failure *failure = kill_open(reader, from, task_end);
    if (is_group)
        failure->form = "cgroup";
    if (failure->module.text.data == NULL)
        oom_draft_name(reader, &failure->module, task, task_end);
    return oom_draft_reach(reader, task_end);
}

/* "Memory cgroup stats for /kubepods/…: cache:0KB rss:613460KB": of a dump whose other lines may be missing. */
static size_t group_read(struct oom_reader *reader, size_t from, size_t at)
{
    size_t end = at;
    if (!oom_cursor_find(&reader->text, &end, "rss:", LINE))
        return 0;
    kill_open(reader, from, at)->form = "cgroup";
    return oom_draft_reach(reader, at);
}

/* "python invoked oom-killer: gfp_mask=…": who asked last, which need not be who is killed. */
static size_t invoked_read(struct oom_reader *reader, size_t from, size_t at)
{
    kill_open(reader, from, at);
    return oom_draft_reach(reader, at);
}

/* "Out of memory: Kill process 29956 (python) score 862 or sacrifice child", until Linux 5.3. */
static size_t victim_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure number;
    size_t name = at, name_end;
    if (!oom_cursor_take_number(text, &name, &number) || !oom_cursor_take(text, &name, "("))
        return 0;
    name_end = name;
    if (!oom_cursor_skip_to(text, &name_end, ")", 40))
        return 0;
    struct oom_failure *failure = kill_open(reader, from, name_end);
    if (failure->module.text.data == NULL)
        oom_draft_name(reader, &failure->module, name, name_end);
    return oom_draft_reach(reader, name_end);
}

/* Said of memory by the words before, where the sizes behind are left out. */
static bool is_killed_for_memory(const struct oom_text *text, size_t from)
{
    return oom_text_is_before(text, from, "outofmemory:") || oom_text_is_before(text, from, "Outofmemory:");
}

/* "Killed process 25315 (python3) total-vm:53312244kB, anon-rss:31451456kB, …"; some kernels print a UID between. */
static size_t process_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    struct oom_figure number, figure = {.is_known = false};
    size_t name = at, name_end, end;
    if (!oom_cursor_take_number(text, &name, &number) || !oom_cursor_find(text, &name, "(", 20))
        return 0;
    name_end = name;
    if (!oom_cursor_skip_to(text, &name_end, ")", 40))
        return 0;
    end = name_end;
    bool has_sizes = oom_cursor_find(text, &end, "total-vm:", 8) && kilobytes_take(text, &end, &figure) &&
                     oom_cursor_take(text, &end, ",anon-rss:") && kilobytes_take(text, &end, &figure);
    if (!has_sizes && !is_killed_for_memory(text, from))
        return 0;
    if (!has_sizes) {
        figure.is_known = false;
        end = name_end;
    }
    struct oom_failure *failure = kill_open(reader, from, end);
    if (oom_text_is_before(text, from, "Memorycgroupoutofmemory:"))
        failure->form = "cgroup";
    *FIGURE_OF(failure, process_bytes) = figure;
    if (failure->module.text.data == NULL)
        oom_draft_name(reader, &failure->module, name, name_end);
    return oom_draft_reach(reader, end);
}

/* "oom_reaper: reaped process 4242 (python), now anon-rss:0kB": what is left of a kill, where its own line is not
 * there. */
static size_t reaper_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t name = at, name_end;
    if (oom_draft_takes(reader, OOM_FAMILY_linux_kill, from, NEAR))
        return oom_draft_reach(reader, at);
    if (!oom_cursor_find(text, &name, "(", 20))
        return 0;
    name_end = name;
    if (!oom_cursor_skip_to(text, &name_end, ")", 40))
        return 0;
    struct oom_failure *failure = kill_open(reader, from, name_end);
    oom_draft_name(reader, &failure->module, name, name_end);
    return oom_draft_reach(reader, name_end);
}

/* ---- exits ---- */

static size_t exit_read(struct oom_reader *reader, size_t from, size_t at)
{
    if (!oom_text_is_line_end(&reader->text, at))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_killed, "exit", from, at);
    return oom_draft_reach(reader, at);
}

/* Does one of the words, in letters of either case, end before clean byte `at`? Goes back to where it begins. */
static bool word_back(const struct oom_text *text, size_t *at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (oom_cursor_is_folded_before(text, *at, words[i])) {
            *at -= strlen(words[i]);
            return true;
        }
    return false;
}

/* Does the line say before clean byte `at` that a process ended? */
static bool has_ended(const struct oom_text *text, size_t at)
{
    enum { WITHIN = 80 };
    for (size_t back = 0; back < WITHIN && at > back; back++) {
        size_t end = at - back;
        if (word_back(text, &end, ends, COUNT(ends)))
            return true;
        if (oom_text_is_line_begin(text, at - back))
            return false;
    }
    return false;
}

/* "exit code: 137", "Exit code 137", "exit status 137": the status of a process, though no verb says that it ended; of
 * the words "exit code 137" alone it is not known whether they tell of one that did. */
static bool is_status(const struct oom_text *text, size_t begin, size_t from, bool is_marked)
{
    size_t exit = begin;
    bool is_exit = word_back(text, &exit, exits, COUNT(exits));
    bool is_named = is_exit && text->bytes[exit] == 'E';
    return is_exit && (is_marked || is_named || text->bytes[begin] == 's' || from == begin);
}

/* What may stand behind a status: the end of the line, of a bracket or of a value of JSON, or what the number means. A
 * sentence about it goes on in words. */
static bool is_behind_status(const struct oom_text *text, size_t at)
{
    if (oom_text_is_line_end(text, at) || at >= text->length)
        return true;
    for (size_t i = 0; i < COUNT(meanings); i++) {
        size_t end = at;
        if (oom_cursor_take(text, &end, meanings[i]))
            return true;
    }
    return strchr(")]}\";", text->bytes[at]) != NULL ||
           (strchr(".,", text->bytes[at]) != NULL && oom_text_is_line_end(text, at + 1));
}

/* "exited with code 137", "exit status: 137", "exit_code=-9", "\"ExitCode\": 137", "exit status (137)": the word of a
 * status before the number of signal 9. In backquotes somebody writes of one. */
static size_t code_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t begin = from;
    bool is_joined = at < text->length && text->raw_of[at] == text->raw_of[at - 1] + 1;
    if (is_joined && (isalnum((unsigned char)text->bytes[at]) || text->bytes[at] == '%' || text->bytes[at] == '_'))
        return 0;
    if (text->bytes[from] == '1' && from > 0 && isdigit((unsigned char)text->bytes[from - 1]) &&
        text->raw_of[from] == text->raw_of[from - 1] + 1)
        return 0;
    while (begin > 0 && from - begin < 3 && strchr(":=(\"'[", text->bytes[begin - 1]) != NULL)
        begin--;
    bool is_marked = begin < from;
    word_back(text, &begin, code_fillers, COUNT(code_fillers));
    if (!word_back(text, &begin, code_words, COUNT(code_words)))
        return 0;
    bool is_one = is_status(text, begin, from, is_marked) || has_ended(text, from);
    if (!is_one || !is_behind_status(text, at))
        return 0;
    size_t raw = text->raw_of[begin];
    if ((raw > 0 && text->raw[raw - 1] == '`') || text->raw[text->raw_of[from] - 1] == '`')
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_killed, "exit", begin, at);
    return oom_draft_reach(reader, at);
}

/* A compiler that was ended while it built something. */
static size_t compiler_read(struct oom_reader *reader, size_t from, size_t at)
{
    oom_draft_begin(reader, OOM_FAMILY_killed, "compiler", from, at);
    return oom_draft_reach(reader, at);
}

/* Of a status that is told amid a line; in backquotes somebody writes of one. */
static size_t signal_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t raw = text->raw_of[from];
    if (raw > 0 && text->raw[raw - 1] == '`')
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_killed, "exit", from, at);
    return oom_draft_reach(reader, at);
}

/* What a shell adds in brackets behind its word: that a core was dumped, in any language. */
static size_t core_skip(const struct oom_text *text, size_t at)
{
    enum { WORDS = 80 };
    static const char *const brackets[][2] = {{"(", ")"}, {"（", "）"}};
    for (size_t i = 0; i < sizeof(brackets) / sizeof(brackets[0]); i++) {
        size_t end = at;
        if (oom_cursor_take(text, &end, brackets[i][0]) && oom_cursor_find(text, &end, brackets[i][1], WORDS))
            return end;
    }
    return at;
}

/* Where the colon begins that ends at `at`, of ASCII or as wide as a sign of Chinese; `at`: there is none. */
static size_t colon_begin(const struct oom_text *text, size_t at)
{
    return oom_text_is_before(text, at, ":") ? at - 1 : oom_text_is_before(text, at, "：") ? at - strlen("：") : at;
}

/* "run.sh: line 12: " before the number of the process that begins at `number`, in any language: between two colons one
 * number, before or behind the word for a line. */
static bool is_behind_script(const struct oom_text *text, size_t number)
{
    enum { WORDS = 24 };
    size_t end = colon_begin(text, number), runs = 0;
    for (size_t at = end; end < number && at > 0 && end - at < WORDS && !oom_text_is_line_begin(text, at); at--) {
        bool is_digit = isdigit((unsigned char)text->bytes[at - 1]) != 0;
        runs += is_digit && (at == end || !isdigit((unsigned char)text->bytes[at]));
        if (colon_begin(text, at) < at)
            return runs == 1;
    }
    return false;
}

size_t oom_host_shell(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    bool is_alone = (oom_text_is_line_begin(text, from) || oom_text_is_before(text, from, "/s]") ||
                     oom_text_is_before(text, from, "/it]")) &&
                    oom_text_is_line_end(text, core_skip(text, at)) &&
                    (at >= text->length || text->bytes[at] != '.' || text->bytes[from] == 'K');
    size_t number = digits_begin(text, from);
    bool is_of_script = number < from && is_behind_script(text, number);
    size_t target;
    bool is_of_make =
        oom_text_is_before(text, from, "]") && oom_cursor_find_before(text, from, "make", MAKE_TARGET, &target);
    if (!is_alone && !is_of_script && !is_of_make && !oom_text_is_before(text, from, "]+") &&
        !oom_text_is_before(text, from, "]-"))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_killed, "shell", from, at);
    return oom_draft_reach(reader, at);
}

/* ---- containers ---- */

/* "Limits: cpu: 1 memory: 300Mi", as kubectl describes the container behind the reason. Returns where it ends. */
static size_t limit_read(const struct oom_text *text, size_t at, struct oom_figure *limit)
{
    enum { STATE = 400, CPU = 60 };
    size_t end = at;
    struct oom_figure quantity = {.is_known = false};
    if (!oom_cursor_find(text, &end, "Limits:", STATE) || !oom_cursor_find(text, &end, "memory:", CPU) ||
        !oom_quantity_take(text, &end, &quantity))
        return at;
    *limit = quantity;
    return end;
}

/* "Reason: OOMKilled", "reason":"OOMKilled", "0/1 OOMKilled", "OOMKilled": true. */
static size_t container_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t ready = digits_begin(text, from), end = at;
    bool is_one = ready < from && oom_text_is_before(text, ready, "/");
    for (size_t i = 0; i < COUNT(reasons); i++)
        is_one |= oom_text_is_before(text, from, reasons[i]);
    is_one |= oom_text_is_before(text, from, "\"") && oom_cursor_take(text, &end, "\":true");
    is_one |= oom_cursor_take(text, &end, "(exitcode137)");
    is_one |= oom_text_is_before(text, from, "137(") && oom_cursor_take(text, &end, ")");
    if (!is_one)
        return 0;
    struct oom_failure *failure = oom_draft_begin(reader, OOM_FAMILY_kubernetes, "oom_killed", from, end);
    return oom_draft_reach(reader, limit_read(text, end, &failure->figures[OOM_capacity_bytes]));
}

/* "2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed …" */
static size_t workers_read(struct oom_reader *reader, size_t from, size_t at)
{
    const struct oom_text *text = &reader->text;
    size_t number = digits_begin(text, from);
    if (number == from || (number + 1 == from && text->bytes[number] == '0'))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_ray, "workers", number, at);
    return oom_draft_reach(reader, at);
}

/* "Task was killed due to the node running low on memory." A sentence with figures follows, unless the text was
 * shortened. */
static size_t node_read(struct oom_reader *reader, size_t from, size_t at)
{
    size_t next = at;
    if (oom_cursor_find(&reader->text, &next, "Memoryonthenode(", LINE * 2))
        return 0;
    oom_draft_begin(reader, OOM_FAMILY_ray, "node", from, at);
    return oom_draft_reach(reader, at);
}

size_t oom_host_compressed(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    size_t end = at;
    if (!oom_cursor_find(&reader->text, &end, "]", 80) ||
        !oom_cursor_take_size(&reader->text, &end, FIGURE_OF(failure, process_bytes)))
        return at;
    return end;
}

size_t oom_host_own_limit(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    (void)reader;
    failure->has_own_limit = true;
    return at;
}

size_t oom_host_unsaid(struct oom_reader *reader, size_t at, struct oom_failure *failure)
{
    (void)failure;
    oom_draft_note_owned(reader, "unsaid",
                         "The text does not say what ended the process. A lack of host memory is the usual cause; a "
                         "crash of native code looks the same. The kernel's log tells them apart: dmesg | grep -i oom");
    return at;
}

const struct oom_handler oom_host_handlers[] = {
    {"memory:usage", usage_read, false},
    {"Memorycgroupstatsfor/", group_read, false},
    {"oom-kill:constraint=", constraint_read, false},
    {"invokedoom-killer:", invoked_read, false},
    {"Outofmemory:Killprocess", victim_read, false},
    {"outofmemory:Killprocess", victim_read, false},
    {"Killedprocess", process_read, false},
    {"terminatedwithsignalSIGKILL", exit_read, false},
    {"diedwith<Signals.SIGKILL:9>", signal_read, false},
    {"Signal9(SIGKILL)receivedbyPID", signal_read, false},
    {"exitcode:-9)", signal_read, false},
    {"(interruptedbysignal9:SIGKILL)", signal_read, false},
    {"signal:killed", signal_read, false},
    {"exitedonsignal9(Killed)", signal_read, false},
    {"{SIGKILL(-9)", signal_read, false},
    {"zsh:killed", signal_read, false},
    {"neuronx-ccfailedwith-9", signal_read, false},
    {"Exitcode137returnedfromprocess", signal_read, false},
    {"returncodeNegsignal.SIGKILL", signal_read, false},
    {"prematurely:signal9(SIGKILL)", signal_read, false},
    {"exitedwith'signal9(SIGKILL)'", signal_read, false},
    {"wassentSIGKILL!Perhapsoutofmemory?", signal_read, false},
    {"Killedsignalterminatedprogram", compiler_read, false},
    {"diedduetosignal9(Killsignal)", signal_read, false},
    {"terminatedwithsignal9", signal_read, false},
    {"(signal:9,SIGKILL:kill)", signal_read, false},
    {"ERR!errno137", exit_read, false},
    {"exitcode:-9(pid:", signal_read, false},
    {"EXITSTRING:Killed(signal9)", signal_read, false},
    {"KILLEDBYSIGNAL:9(Killed)", signal_read, false},
    {"died,killedbysignal9", signal_read, false},
    {"(terminatedbySIGKILL", signal_read, false},
    {"failedwithsignal\"SIGKILL\"", signal_read, false},
    {"internalcompilererror:Killed(program", compiler_read, false},
    {"unabletoexecutecommand:Killed", compiler_read, false},
    {"diedthroughsignalKILL(9)", signal_read, false},
    {"=EXITCODE:9", exit_read, false},
    {"]Error137", exit_read, false},
    {"diedofsignal9", exit_read, false},
    {"137", code_read, false},
    {"-9", code_read, false},
    {"oom_reaper:reapedprocess", reaper_read, false},
    {"Killed", oom_host_shell, false},
    {"OOMKilled", container_read, false},
    {"Workers(tasks/actors)killedduetomemorypressure(OOM)", workers_read, false},
    {"killedduetothenoderunninglowonmemory", node_read, false},
    {NULL, NULL, false},
};
