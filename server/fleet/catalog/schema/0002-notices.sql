-- SPDX-License-Identifier: Apache-2.0
-- What a receiver is to be told (memviewd --notify): written before the rows that it is about, and sent by whichever process comes
-- to it first. Its rows stay, so that nothing is told twice.

CREATE TABLE memviewd.notices (
    id text PRIMARY KEY, -- of a failure that of its row
    kind text NOT NULL, -- failure, regression
    body text NOT NULL, -- the JSON that is sent, byte by byte
    made_at timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz, -- when the receiver took it; until then it waits
    not_before timestamptz NOT NULL DEFAULT now(), -- until then a process sends it, or waits after a failure
    tries bigint NOT NULL DEFAULT 0, -- that failed
    fault text -- of the last of them
);
CREATE INDEX notices_waiting ON memviewd.notices (not_before) WHERE sent_at IS NULL;
