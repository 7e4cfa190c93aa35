/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex_parse.h"

#include "base/regex_set.h"

enum { DEEPEST = 200, MAX_REPEAT = 1000 };

struct flags {
    bool any_case, dot_takes_newline, many_lines;
};

struct parser {
    struct str pattern;
    size_t at;
    struct flags flags;
    struct arena *arena;
    struct regex_fault *fault;
    bool has_failed;
    unsigned depth;
};

static struct regex_parse_node *parse_choice(struct parser *parser);

static bool regex_parse_fail(struct parser *parser, size_t at, const char *text)
{
    if (!parser->has_failed)
        *parser->fault = (struct regex_fault){at, text};
    parser->has_failed = true;
    return false;
}

static bool is_at_end(const struct parser *parser) { return parser->at >= parser->pattern.length; }

static bool sees(const struct parser *parser, const char *text)
{
    struct str rest = {parser->pattern.data + parser->at, parser->pattern.length - parser->at};
    return str_starts(rest, str_of(text));
}

static bool regex_parse_take(struct parser *parser, const char *text)
{
    bool is_there = sees(parser, text);
    if (is_there)
        parser->at += strlen(text);
    return is_there;
}

/* The next character; a byte that is no UTF-8 counts as itself. */
static uint32_t next_rune(struct parser *parser)
{
    const unsigned char *at = (const unsigned char *)parser->pattern.data + parser->at;
    size_t length = str_utf8_length((const char *)at, parser->pattern.length - parser->at);
    uint32_t rune = at[0];
    if (length > 1) {
        rune = at[0] & (0x7Fu >> length);
        for (size_t i = 1; i < length; i++)
            rune = rune << 6 | (at[i] & 0x3Fu);
    }
    parser->at += length > 0 ? length : 1;
    return rune;
}

static struct regex_parse_node *node_new(struct parser *parser, enum regex_parse_kind kind)
{
    struct regex_parse_node *node = arena_array(parser->arena, struct regex_parse_node, 1);
    node->kind = kind;
    return node;
}

/* ---- classes ---- */

static struct regex_parse_node *set_node(struct parser *parser, struct regex_set *set, bool is_negated)
{
    struct regex_set others = {.count = 0};
    if (parser->flags.any_case)
        regex_set_add_other_case(set);
    if (set->is_full)
        regex_parse_fail(parser, parser->at, "too many ranges in a class");
    regex_set_sort(set);
    if (is_negated) {
        regex_set_add_others(&others, set->ranges, set->count);
        set = &others;
    }
    struct regex_parse_node *node = node_new(parser, REGEX_PARSE_RUNES);
    node->ranges = arena_array(parser->arena, struct regex_parse_range, (size_t)set->count + 1);
    memcpy(node->ranges, set->ranges, set->count * sizeof(*set->ranges));
    node->range_count = set->count;
    return node;
}

/* \d \D \s … at the backslash; false when it is none. */
static bool take_letter_class(struct parser *parser, struct regex_set *set)
{
    if (parser->at + 1 >= parser->pattern.length || parser->pattern.data[parser->at] != '\\')
        return false;
    char letter = parser->pattern.data[parser->at + 1];
    const struct regex_set_class *class;
    for (size_t i = 0; (class = regex_set_class_at(i)) != NULL; i++) {
        if (class->letter != 0 && (letter == class->letter || letter == class->letter - 32)) {
            parser->at += 2;
            regex_set_add_class(set, class, letter != class->letter);
            return true;
        }
    }
    return false;
}

/* [:alpha:] inside a class; false when it is none, or, with a fault, one that is not known. */
static bool take_named_class(struct parser *parser, struct regex_set *set)
{
    size_t begin = parser->at;
    if (!regex_parse_take(parser, "[:"))
        return false;
    bool is_negated = regex_parse_take(parser, "^");
    const struct regex_set_class *class;
    for (size_t i = 0; (class = regex_set_class_at(i)) != NULL; i++) {
        size_t name_at = parser->at;
        if (class->name[0] != '\0' && regex_parse_take(parser, class->name) && regex_parse_take(parser, ":]")) {
            regex_set_add_class(set, class, is_negated);
            return true;
        }
        parser->at = name_at;
    }
    for (; !is_at_end(parser); parser->at++)
        if (sees(parser, ":]"))
            return regex_parse_fail(parser, begin, "a class that is not known");
    parser->at = begin;
    return false;
}

/* ---- escapes ---- */

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool hex_escape(struct parser *parser, size_t begin, uint32_t *rune)
{
    bool has_braces = regex_parse_take(parser, "{");
    size_t digits = 0, max = has_braces ? 8 : 2;
    for (*rune = 0; digits < max && !is_at_end(parser) && hex_of(parser->pattern.data[parser->at]) >= 0; digits++)
        *rune = *rune * 16 + (uint32_t)hex_of(parser->pattern.data[parser->at++]);
    bool is_good =
        has_braces ? digits > 0 && regex_parse_take(parser, "}") && *rune <= REGEX_PARSE_LAST_RUNE : digits == 2;
    return is_good || regex_parse_fail(parser, begin, "\\x wants two hex digits, or {…}");
}

static bool sees_octal(const struct parser *parser)
{
    return !is_at_end(parser) && parser->pattern.data[parser->at] >= '0' && parser->pattern.data[parser->at] <= '7';
}

/* Reads up to three octal digits; the first is `rune`. One digit alone, unless it is 0, would be a back reference. */
static bool octal_escape(struct parser *parser, size_t begin, uint32_t *rune)
{
    if (*rune != '0' && !sees_octal(parser))
        return regex_parse_fail(parser, begin, "an escape that is not known");
    *rune -= '0';
    for (size_t digits = 1; digits < 3 && sees_octal(parser); digits++)
        *rune = *rune * 8 + (uint32_t)(parser->pattern.data[parser->at++] - '0');
    return true;
}

/* The character that an escape means; at the backslash. */
static bool escape(struct parser *parser, uint32_t *rune)
{
    static const char letters[] = "afnrtv", meant[] = "\a\f\n\r\t\v";
    size_t begin = parser->at++;
    if (is_at_end(parser))
        return regex_parse_fail(parser, begin, "a backslash at the end");
    *rune = next_rune(parser);
    if (*rune == 'x')
        return hex_escape(parser, begin, rune);
    if (*rune >= '0' && *rune <= '7')
        return octal_escape(parser, begin, rune);
    const char *letter = *rune < 128 && *rune > 0 ? strchr(letters, (int)*rune) : NULL;
    if (letter != NULL) {
        *rune = (uint32_t)meant[letter - letters];
        return true;
    }
    bool is_word = (*rune >= '0' && *rune <= '9') || (*rune >= 'a' && *rune <= 'z') || (*rune >= 'A' && *rune <= 'Z');
    return (!is_word && *rune < 128) || regex_parse_fail(parser, begin, "an escape that is not known");
}

static bool class_rune(struct parser *parser, uint32_t *rune)
{
    if (sees(parser, "\\"))
        return escape(parser, rune);
    *rune = next_rune(parser);
    return true;
}

/* After the [. */
static struct regex_parse_node *parse_class(struct parser *parser)
{
    struct regex_set set = {.count = 0};
    size_t begin = parser->at - 1;
    bool is_negated = regex_parse_take(parser, "^");
    for (bool is_first = true; !parser->has_failed; is_first = false) {
        uint32_t first, last;
        if (is_at_end(parser)) {
            regex_parse_fail(parser, begin, "missing ]");
            break;
        }
        if (!is_first && regex_parse_take(parser, "]"))
            return set_node(parser, &set, is_negated);
        if (take_named_class(parser, &set) || take_letter_class(parser, &set))
            continue;
        size_t range_at = parser->at;
        if (!class_rune(parser, &first))
            break;
        last = first;
        bool has_end =
            parser->at + 1 < parser->pattern.length && sees(parser, "-") && parser->pattern.data[parser->at + 1] != ']';
        if (has_end) {
            parser->at++;
            if (!class_rune(parser, &last))
                break;
        }
        if (last < first)
            regex_parse_fail(parser, range_at, "a range that goes backwards");
        regex_set_add(&set, first, last);
    }
    return NULL;
}

/* ---- the rest ---- */

static struct regex_parse_node *one_rune(struct parser *parser, uint32_t rune)
{
    struct regex_set set = {.count = 0};
    regex_set_add(&set, rune, rune);
    return set_node(parser, &set, false);
}

static struct regex_parse_node *any_rune(struct parser *parser)
{
    static const struct regex_parse_range newline[] = {{'\n', '\n'}};
    struct regex_set set = {.count = 0};
    regex_set_add_others(&set, newline, parser->flags.dot_takes_newline ? 0 : 1);
    return set_node(parser, &set, false);
}

static struct regex_parse_node *assertion(struct parser *parser, enum regex_parse_assertion which)
{
    struct regex_parse_node *node = node_new(parser, REGEX_PARSE_ASSERTION);
    node->assertion = which;
    return node;
}

/* (?flags) or (?flags: after the (?; false for other texts. */
static bool take_flags(struct parser *parser, bool *opens_group)
{
    size_t begin = parser->at;
    bool value = true;
    struct flags flags = parser->flags;
    for (char c, before = 0; !is_at_end(parser); before = c) {
        c = parser->pattern.data[parser->at++];
        bool is_odd_sign = (c == '-' && !value) || (before == '-' && (c == ')' || c == ':')); /* (?i-s-m) and (?i-) */
        if (is_odd_sign)
            return regex_parse_fail(parser, begin - 2, "a minus in front of no flag");
        switch (c) {
        case 'i': flags.any_case = value; break;
        case 's': flags.dot_takes_newline = value; break;
        case 'm': flags.many_lines = value; break;
        case 'U': break;
        case '-': value = false; break;
        case ')':
        case ':':
            parser->flags = flags;
            *opens_group = c == ':';
            return true;
        default:
            return regex_parse_fail(parser, begin - 2, "a group that is not known: (?:…), (?i) and (?P<name>…) are");
        }
    }
    return regex_parse_fail(parser, begin - 2, "missing )");
}

static bool is_of_name(char c)
{
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 128;
    return is_letter || (c >= '0' && c <= '9') || c == '_';
}

static bool take_name(struct parser *parser)
{
    if (!regex_parse_take(parser, "P<") && !regex_parse_take(parser, "<"))
        return false;
    if (sees(parser, "=") || sees(parser, "!"))
        return regex_parse_fail(parser, parser->at - 3, "looking behind is not possible");
    size_t begin = parser->at;
    for (; !is_at_end(parser) && !sees(parser, ">"); parser->at++)
        if (!is_of_name(parser->pattern.data[parser->at]))
            return regex_parse_fail(parser, parser->at, "a name is of letters, digits and _");
    if (parser->at == begin)
        return regex_parse_fail(parser, begin, "a group without its name");
    return regex_parse_take(parser, ">") || regex_parse_fail(parser, parser->at, "missing >");
}

/* After the (. NULL for flags alone, which match nothing by themselves. */
static struct regex_parse_node *parse_group(struct parser *parser)
{
    struct flags outer = parser->flags;
    size_t begin = parser->at - 1;
    bool opens_group = true;
    if (regex_parse_take(parser, "?") && !take_name(parser) &&
        (parser->has_failed || !take_flags(parser, &opens_group)))
        return NULL;
    if (!opens_group)
        return NULL; /* the flags hold to the end of the group around */
    if (++parser->depth > DEEPEST) {
        regex_parse_fail(parser, begin, "groups too deep in each other");
        return NULL;
    }
    struct regex_parse_node *node = parse_choice(parser);
    parser->depth--;
    if (!regex_parse_take(parser, ")"))
        regex_parse_fail(parser, begin, "missing )");
    parser->flags = outer;
    return node;
}

static struct regex_parse_node *parse_one(struct parser *parser)
{
    struct regex_set set = {.count = 0};
    uint32_t rune = 0;
    if (regex_parse_take(parser, "("))
        return parse_group(parser);
    if (regex_parse_take(parser, "["))
        return parse_class(parser);
    if (regex_parse_take(parser, "."))
        return any_rune(parser);
    if (regex_parse_take(parser, "^"))
        return assertion(parser, parser->flags.many_lines ? REGEX_PARSE_LINE_BEGIN : REGEX_PARSE_TEXT_BEGIN);
    if (regex_parse_take(parser, "$"))
        return assertion(parser, parser->flags.many_lines ? REGEX_PARSE_LINE_END : REGEX_PARSE_TEXT_END);
    if (regex_parse_take(parser, "\\A"))
        return assertion(parser, REGEX_PARSE_TEXT_BEGIN);
    if (regex_parse_take(parser, "\\z"))
        return assertion(parser, REGEX_PARSE_TEXT_END);
    if (regex_parse_take(parser, "\\b"))
        return assertion(parser, REGEX_PARSE_WORD_EDGE);
    if (regex_parse_take(parser, "\\B"))
        return assertion(parser, REGEX_PARSE_NO_WORD_EDGE);
    if (take_letter_class(parser, &set))
        return set_node(parser, &set, false);
    if (sees(parser, "\\"))
        return escape(parser, &rune) ? one_rune(parser, rune) : NULL;
    return one_rune(parser, next_rune(parser));
}

/* {n}, {n,}, {n,m}; anything else in braces is text, as in RE2. */
static bool take_braces(struct parser *parser, int *min, int *max)
{
    size_t begin = parser->at, digits[2] = {0, 0};
    long numbers[2] = {0, 0};
    bool has_comma = false;
    for (parser->at++; !is_at_end(parser) && !sees(parser, "}"); parser->at++) {
        char c = parser->pattern.data[parser->at];
        bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && (c != ',' || has_comma))
            break;
        has_comma |= c == ',';
        if (is_digit && digits[has_comma]++ < 6)
            numbers[has_comma] = numbers[has_comma] * 10 + (c - '0');
    }
    if (!regex_parse_take(parser, "}") || digits[0] == 0) {
        parser->at = begin;
        return false;
    }
    *min = (int)numbers[0];
    *max = !has_comma ? *min : digits[1] > 0 ? (int)numbers[1] : REGEX_PARSE_NO_MAX;
    if (*min > MAX_REPEAT || *max > MAX_REPEAT || (*max >= 0 && *max < *min))
        regex_parse_fail(parser, begin, "a repetition out of range (0 to 1000)");
    return true;
}

/* At a repetition of `node`: NULL when there is none here. */
static struct regex_parse_node *parse_repeat(struct parser *parser, struct regex_parse_node *node)
{
    int min = 0, max = REGEX_PARSE_NO_MAX;
    size_t begin = parser->at;
    if (regex_parse_take(parser, "+"))
        min = 1;
    else if (regex_parse_take(parser, "?"))
        max = 1;
    else if (!regex_parse_take(parser, "*") && !(sees(parser, "{") && take_braces(parser, &min, &max)))
        return NULL;
    regex_parse_take(parser, "?");
    if (node == NULL)
        regex_parse_fail(parser, begin, "nothing before it to repeat");
    struct regex_parse_node *repeat = node_new(parser, REGEX_PARSE_REPEAT);
    repeat->left = node;
    repeat->min = min;
    repeat->max = max;
    return repeat;
}

static struct regex_parse_node *regex_parse_joined(struct parser *parser, enum regex_parse_kind kind,
                                                   struct regex_parse_node *left, struct regex_parse_node *right)
{
    struct regex_parse_node *both = node_new(parser, kind);
    both->left = left;
    both->right = right;
    return both;
}

/* A repetition is of the last node alone: also of the last character of \Q…\E. */
static struct regex_parse_node *parse_sequence(struct parser *parser)
{
    struct regex_parse_node *all = node_new(parser, REGEX_PARSE_EMPTY), *last = NULL, *repeat;
    bool is_quoted = false, is_repeated = false;
    while (!parser->has_failed && !is_at_end(parser) && (is_quoted || (!sees(parser, "|") && !sees(parser, ")")))) {
        size_t begin = parser->at;
        bool was_repeated = is_repeated;
        is_repeated = false;
        if (regex_parse_take(parser, is_quoted ? "\\E" : "\\Q")) {
            is_quoted = !is_quoted;
            continue;
        }
        if (!is_quoted && (repeat = parse_repeat(parser, last)) != NULL) {
            last = repeat;
            is_repeated = true;
            if (was_repeated)
                regex_parse_fail(parser, begin, "a repetition of a repetition: put the inner one into (?:…)");
            continue;
        }
        struct regex_parse_node *next = is_quoted ? one_rune(parser, next_rune(parser)) : parse_one(parser);
        if (next == NULL)
            continue;
        all = last == NULL ? all : regex_parse_joined(parser, REGEX_PARSE_SEQUENCE, all, last);
        last = next;
    }
    return last == NULL ? all : regex_parse_joined(parser, REGEX_PARSE_SEQUENCE, all, last);
}

static struct regex_parse_node *parse_choice(struct parser *parser)
{
    struct regex_parse_node *all = parse_sequence(parser);
    while (!parser->has_failed && regex_parse_take(parser, "|"))
        all = regex_parse_joined(parser, REGEX_PARSE_CHOICE, all, parse_sequence(parser));
    return all;
}

struct regex_parse_node *regex_parse(struct str pattern, bool is_any_case, struct arena *arena,
                                     struct regex_fault *fault)
{
    struct parser parser = {.pattern = pattern, .flags.any_case = is_any_case, .arena = arena, .fault = fault};
    struct regex_parse_node *tree = parse_choice(&parser);
    if (!parser.has_failed && !is_at_end(&parser))
        regex_parse_fail(&parser, parser.at, "a ) without its (");
    return parser.has_failed ? NULL : tree;
}
