-- SPDX-License-Identifier: Apache-2.0
-- The word and the sentence of `memviewd fit`. Rows that were written before have neither until their file is read again.
ALTER TABLE memviewd.rows ADD COLUMN fit_word text COLLATE "C", ADD COLUMN fit_sentence text COLLATE "C";
ALTER TABLE memviewd.points ADD COLUMN fit_word text COLLATE "C", ADD COLUMN fit_sentence text COLLATE "C";
