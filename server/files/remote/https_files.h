/* SPDX-License-Identifier: Apache-2.0
 * https_files.h: files on any web server: a folder is what its page lists (https_page.h), and each file in it is
 * asked for its size and ETag. No credentials are sent. */
#pragma once

#include "server/files/remote/remote_service.h"
