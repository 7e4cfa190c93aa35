/* SPDX-License-Identifier: Apache-2.0
 * entries.js: the files of folders that were dropped. */

const MOST_FILES = 5000;
const MOST_DEPTH = 8;

/* Files of a folder come in pieces, until a piece is empty. */
async function entriesOf(folder) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0 || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}

async function collect(entry, into, depth = 0) {
  if (entry.name.startsWith('.') || into.length >= MOST_FILES || depth > MOST_DEPTH) return;
  if (entry.isFile) {
    const blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
    into.push({ name: entry.fullPath.replace(/^\/+/, ''), blob });
    return;
  }
  for (const each of await entriesOf(entry)) await collect(each, into, depth + 1);
}

/* [{name: with its folders, blob}] of FileSystemEntry objects; hidden ones are left out. */
export async function filesBelow(entries) {
  const all = [];
  for (const entry of entries) await collect(entry, all);
  return all;
}
