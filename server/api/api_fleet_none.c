/* SPDX-License-Identifier: Apache-2.0
 * api_fleet_none.c: in the place of api_fleet.c in a build with FLEET=0. */
#include "server/api/api.h"
#include "server/base/version.h"

struct cache *api_fleet_cache_new(void) { return NULL; }

void api_fleet_cache_expire(struct cache *fleets) { (void)fleets; }

struct response *api_fleet(const struct server *server, const struct request *request, const struct analysis_view *view)
{
    struct err err = ERR_INIT;
    (void)server, (void)request, (void)view;
    err_set(&err, ERR_unsupported, ERR_NO_OFFSET, VERSION_FLEETLESS);
    return response_failure(&err, false, NULL);
}
