-- SPDX-License-Identifier: Apache-2.0
-- The newest points, those of no known time last and equal ones always in the same order: that order has the index.

DROP INDEX memviewd.points_last;
CREATE INDEX points_last ON memviewd.points (last_at DESC NULLS LAST, point_id);
