/* SPDX-License-Identifier: Apache-2.0
 * gcs.h: Google Cloud Storage, by its JSON interface. The generation of an object is its ETag here: it changes with
 * each write and with nothing else. */
#pragma once

#include "server/files/remote/remote_service.h"

/* The server that STORAGE_EMULATOR_HOST names, which is asked instead of Google's and gets no credentials; NULL:
 * Google's. */
const char *gcs_endpoint(void);
