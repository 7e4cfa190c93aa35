/* SPDX-License-Identifier: Apache-2.0
 * google_credentials.h: tokens for Google Cloud Storage, from the places of Application Default Credentials, in their
 * order:
 *
 *   1. the file that GOOGLE_APPLICATION_CREDENTIALS names
 *   2. application_default_credentials.json of gcloud (CLOUDSDK_CONFIG, else ~/.config/gcloud)
 *   3. the metadata server of GCE, GKE (Workload Identity) and Cloud Run (GCE_METADATA_HOST), unless NO_GCE_CHECK
 *
 * A file is of an authorized_user (a refresh token), a service_account (a private key) or an external_account (workload
 * identity federation by a token file, with or without impersonation). What is in it goes to *.googleapis.com alone.
 * Where there are none, requests have no token: for public buckets. A token is kept and renewed before it ends; never
 * logged. Threads: any number. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* `token` gets a copy, free(); NULL: there are no credentials. False with `err` when those that there should be
 * cannot be had. */
bool google_credentials_token(char **token, struct err *err);
/* It was refused: the next call looks for another, but not within some seconds of the last look. */
void google_credentials_forget(void);

/* The files that are read, for the sandbox. */
void google_credentials_each_file(void (*file)(void *context, const char *path), void *context);
