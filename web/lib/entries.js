/* SPDX-License-Identifier: Apache-2.0
 * entries.js: the files of folders that were dropped. */

const MOST_FILES = 5000;
const MOST_DEPTH = 8;

/* Files of a folder come in pieces, until a piece is empty; one that may not be read ends there. */
async function entriesOf(folder, refused) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve) =>
      reader.readEntries(resolve, () => {
        refused.push(nameOf(folder));
        resolve([]);
      }),
    );
    if (some.length === 0 || all.length > MOST_FILES) return all;
    all.push(...some);
  }
}

const nameOf = (entry) => entry.fullPath.replace(/^\/+/, '');

async function collect(entry, into, refused, depth = 0) {
  if (entry.name.startsWith('.') || into.length >= MOST_FILES || depth > MOST_DEPTH) return;
  if (entry.isFile) {
    const blob = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
    if (blob) into.push({ name: nameOf(entry), blob });
    else refused.push(nameOf(entry));
    return;
  }
  for (const each of await entriesOf(entry, refused)) await collect(each, into, refused, depth + 1);
}

/* {files: [{name: with its folders, blob}], refused: names of what the browser may not read} of FileSystemEntry
 * objects; hidden ones are left out. */
export async function filesBelow(entries) {
  const files = [];
  const refused = [];
  for (const entry of entries) await collect(entry, files, refused);
  return { files, refused };
}
