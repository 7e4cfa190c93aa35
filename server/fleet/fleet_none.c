/* SPDX-License-Identifier: Apache-2.0
 * fleet_none.c: in the place of rows, labels, notifications and regressions in a build with FLEET=0: what others call
 * of them. catalog_none.c is in the catalog's. */
#include "server/base/memory.h"
#include "server/base/version.h"
#include "server/fleet/catalog/fleet_files.h"
#include "server/fleet/notify/notify.h"
#include "server/fleet/notify/webhook.h"

#include <stdlib.h>

/* ---- catalog/fleet_files.h ---- */

struct fleet_files *fleet_files_new(const char *const *patterns, size_t pattern_count, const char *environment)
{
    (void)patterns;
    (void)pattern_count;
    (void)environment;
    return memory_new(1);
}

void fleet_files_free(struct fleet_files *files) { free(files); }

/* ---- notify/webhook.h ---- */

struct webhook *webhook_open(const char *url, const char *secret_path, enum notice_form form, struct err *err)
{
    (void)url, (void)secret_path, (void)form;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET, VERSION_FLEETLESS);
    return NULL;
}

void webhook_free(struct webhook *webhook) { (void)webhook; }

void webhook_ports(const char *url, void (*port)(void *context, uint16_t number), void *context)
{
    (void)url, (void)port, (void)context;
}

/* ---- notify/notice_form.h ---- */

/* Only the default form: the address of --notify reports that there is no --notify. */
bool notice_form_read(const char *name, enum notice_form *form)
{
    (void)name;
    *form = NOTICE_FORM_MEMVIEWD;
    return true;
}

const char *notice_form_names(void) { return ""; }

/* ---- notify/notify.h ---- */

struct notify *notify_start(const struct notify_settings *settings, struct err *err)
{
    (void)settings;
    err_set(err, ERR_unsupported, ERR_NO_OFFSET, VERSION_FLEETLESS);
    return NULL;
}

void notify_stop(struct notify *notify) { (void)notify; }
