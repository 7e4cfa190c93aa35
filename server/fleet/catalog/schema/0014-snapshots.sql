-- SPDX-License-Identifier: Apache-2.0
-- What an allocator snapshot of PyTorch tells. Rows that were written before have neither until their file is read again.
ALTER TABLE memviewd.rows ADD COLUMN snapshot_reserved_bytes bigint, ADD COLUMN snapshot_retry_count bigint;
ALTER TABLE memviewd.points ADD COLUMN snapshot_reserved_bytes bigint, ADD COLUMN snapshot_retry_count bigint;
