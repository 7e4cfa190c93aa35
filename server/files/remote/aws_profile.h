/* SPDX-License-Identifier: Apache-2.0
 * aws_profile.h: values of a profile in the files that AWS's programs share. */
#pragma once

#include <stdbool.h>

/* Where the files are: free(). "" where there is no home. */
char *aws_profile_credentials_path(void);
char *aws_profile_config_path(void);

/* AWS_PROFILE, else "default"; borrowed. */
const char *aws_profile_chosen(void);
/* The value of `name` in a profile, in the credentials before the config. NULL when it is nowhere; free(). */
char *aws_profile_value_of(const char *profile, const char *name);
/* The same in the profile that is chosen. */
char *aws_profile_value(const char *name);

/* The value in a text of that form; `section`: "[default]". NULL; free(). */
char *aws_profile_find(const char *text, const char *section, const char *name);
