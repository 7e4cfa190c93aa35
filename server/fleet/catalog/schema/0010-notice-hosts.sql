-- SPDX-License-Identifier: Apache-2.0
-- What one notice is about: a job that fails on 64 hosts is one message, which waits a few seconds for the others of them.

CREATE TABLE memviewd.notice_hosts (
    notice_id text NOT NULL,
    row_id text NOT NULL, -- of the failure
    host text NOT NULL, -- a JSON object: host or file, program, needed_bytes, capacity_bytes
    PRIMARY KEY (notice_id, row_id)
);
