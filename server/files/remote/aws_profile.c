/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/remote/aws_profile.h"

#include "base/str.h"
#include "server/base/memory.h"
#include "server/files/remote/setting.h"
#include "server/files/remote/small_file.h"

#include <stdlib.h>
#include <string.h>

static char *path_of(const char *variable, const char *below_home)
{
    const char *named = setting(variable), *home = setting("HOME");
    if (named)
        return memory_text(named);
    return home ? memory_format("%s/%s", home, below_home) : memory_text("");
}

char *aws_profile_credentials_path(void) { return path_of("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"); }

char *aws_profile_config_path(void) { return path_of("AWS_CONFIG_FILE", ".aws/config"); }

static struct str without_spaces(struct str text)
{
    while (text.length > 0 && strchr(" \t\r", text.data[0])) {
        text.data++;
        text.length--;
    }
    while (text.length > 0 && strchr(" \t\r", text.data[text.length - 1]))
        text.length--;
    return text;
}

char *aws_profile_find(const char *text, const char *section, const char *name)
{
    bool is_in = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        const struct str line = {text, length}, bare = without_spaces(line);
        const char *equals = memchr(line.data, '=', line.length);
        bool is_nested = length > 0 && (text[0] == ' ' || text[0] == '\t'); /* a value of several lines */
        if (bare.length > 0 && bare.data[0] == '[')
            is_in = str_equal(bare, str_of(section));
        else if (is_in && equals && !is_nested && line.data[0] != '#' && line.data[0] != ';') {
            const struct str key = without_spaces((struct str){line.data, (size_t)(equals - line.data)});
            const struct str value =
                without_spaces((struct str){equals + 1, length - (size_t)(equals + 1 - line.data)});
            if (str_equal_any_case(key, str_of(name)))
                return value.length > 0 ? memory_format("%.*s", (int)value.length, value.data) : NULL;
        }
        text += length + (text[length] == '\n');
    }
    return NULL;
}

static char *value_in(char *path, const char *section, const char *name)
{
    char *text = path[0] ? small_file_read(path) : NULL;
    char *value = text ? aws_profile_find(text, section, name) : NULL;
    free(text);
    free(path);
    return value;
}

const char *aws_profile_chosen(void)
{
    const char *profile = setting("AWS_PROFILE");
    return profile ? profile : "default";
}

char *aws_profile_value_of(const char *profile, const char *name)
{
    char *section = memory_format("[%s]", profile), *in_config = memory_format("[profile %s]", profile);
    char *value = value_in(aws_profile_credentials_path(), section, name);
    if (!value && strcmp(profile, "default") == 0)
        value = value_in(aws_profile_config_path(), section, name);
    if (!value)
        value = value_in(aws_profile_config_path(), in_config, name);
    free(section);
    free(in_config);
    return value;
}

char *aws_profile_value(const char *name) { return aws_profile_value_of(aws_profile_chosen(), name); }
