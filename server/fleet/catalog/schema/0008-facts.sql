-- SPDX-License-Identifier: Apache-2.0
-- What was found out by reading files and is in no row: which texts tell of no failure, what a memviewd.json says. A run that
-- meets the same file reads it not again. And by which memviewd rows were made, so that they can be made anew on purpose.

ALTER TABLE memviewd.files ADD COLUMN rules_version text COLLATE "C"; -- of the memviewd that made its rows; null: not known

CREATE TABLE memviewd.facts (
    fact_id text COLLATE "C" PRIMARY KEY, -- of logdir, file and kind
    logdir text COLLATE "C" NOT NULL,
    file text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, -- text, named, labels
    identity text COLLATE "C" NOT NULL, -- a digest of the size and times of the file, on a server of its ETag, too
    value text COLLATE "C" NOT NULL, -- for memviewd alone
    rules_version text COLLATE "C" NOT NULL, -- of the memviewd that found it out
    noted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX facts_logdir ON memviewd.facts (logdir);
