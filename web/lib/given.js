/* SPDX-License-Identifier: Apache-2.0
 * given.js: a text that the reader pasted or dropped: sent to the daemon, which keeps it in memory, and
 * kept in this tab, so that a reload finds it again. Never in the URL, never on disk. */

import { post } from './api.js';

const MOST_KEPT = 1 << 20;
const KEY = 'memviewd.text.';

/* Sentences that open an out-of-memory text, with what it is called; the first that occurs counts. */
const SIGNS = [
  [/E0101|loading\s+program[^]{0,200}?Attempting\s+to\s+(?:reserve|allocate)|at\s+the\s+bottom\s+of\s+memory/, 'a TPU program that finds no place'],
  [/E0100|Attempting\s+to\s+allocate[^]{0,80}?not\s+possible/, 'a TPU array that finds no place'],
  [/E1001|scoped\s+vmem|while\s+allocating\s+on\s+stack/i, 'a TPU kernel out of VMEM'],
  [/E1000|out\s+of\s+memory\s+(?:in\s+memory\s+space|on\s+HBM)|Aborting\s+compilation\s+early|would\s+exceed\s+memory/, 'a TPU compile-time OOM'],
  [/E3000|SparseCore[^]{0,200}?(?:exceed|alloca)/, 'a SparseCore allocation failure'],
  [/[Oo]ut\s+of\s+(?:host\s+)?memory\s+(?:while\s+)?trying\s+to\s+allocate|BFCAllocator|OOM\s+when\s+allocating|BufferAssignment\s+OOM|CUDA_?\s?(?:ERROR_)?OUT_OF_MEMORY|HIP_ERROR_OutOfMemory|CUDA out of memory/, 'a GPU OOM'],
  [/RESOURCE_EXHAUSTED|[Rr]esource\s+exhausted|[Oo]ut\s+of\s+memory/, 'an out-of-memory text'],
];

/* Pure: "a TPU compile-time OOM" for a text that looks like one, else "". */
export function nameText(text) {
  return SIGNS.find(([sign]) => sign.test(text))?.[1] ?? '';
}

function keep(id, text) {
  if (text.length > MOST_KEPT) return;
  try {
    sessionStorage.setItem(KEY + id, text);
  } catch {
    /* full: the daemon has it, and after its end it is asked for again */
  }
}

/* Text or Blob → the answer of api/v1/oom, whose `local` names it from then on. */
export async function giveText(given, signal = null) {
  const answer = await post('oom', given, 'text/plain; charset=utf-8', {}, { signal });
  const text = typeof given === 'string' ? given : given.size <= MOST_KEPT ? await given.text() : null;
  if (text !== null) keep(answer.local, text);
  return answer;
}

/* The text of that name, if this tab still has it. */
export function keptText(id) {
  try {
    return sessionStorage.getItem(KEY + id);
  } catch {
    return null;
  }
}
