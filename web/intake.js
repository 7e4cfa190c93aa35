/* SPDX-License-Identifier: Apache-2.0
 * intake.js: what a dropped file or a pasted text is, and where it opens. The first row that knows it
 * says so; nothing leaves the present view before the reader agrees. */

import { post, Problem, problemText } from './lib/api.js';
import { keepDropped } from './lib/dropped.js';
import { bytes, count, counted, cutMiddle, visible } from './lib/format.js';
import { pageOf } from './pages.js';

const HEAD_BYTES = 4096;
const PHASES = { compile: 'compile-time', load: 'load-time', run: 'run-time' };
const MAKERS = { tpu_compile: 'TPU', tpu_program_load: 'TPU', tpu_buffer: 'TPU', gpu_xla: 'GPU', gpu_bfc: 'GPU', cpu_alloc: 'CPU' };

const short = (text) => cutMiddle(visible(text), 60);
const isGzip = ({ head }) => head[0] === 0x1f && head[1] === 0x8b;
/* Two bytes a letter, as some shells write their logs. */
const isWide = ({ head }) => (head[0] ^ head[1]) === 1 && head[0] >= 0xfe;
const isText = ({ head }) => isWide({ head }) || (!head.includes(0) && !isGzip({ head }));
const ends = (...list) => ({ name }) => list.some((end) => name.toLowerCase().endsWith(end));

/* Pure: "a TPU compile-time OOM: jit_train_step needs 33.49 GiB, 15.75 GiB are available". */
export function failureWords(failure) {
  const what = [MAKERS[failure.family], PHASES[failure.phase], 'OOM'].filter(Boolean).join(' ');
  const who = failure.module ? short(failure.module) : 'the program';
  const needed = failure.needed_bytes === null ? '' : `: ${who} needs ${bytes(failure.needed_bytes)}`;
  const there = failure.capacity_bytes === null ? '' : `, ${bytes(failure.capacity_bytes)} are available`;
  return `a ${what}${needed}${there}`;
}

/* Pure: what the answer to a text says, and whether there is something to open. */
export function textWords(answer) {
  const { failures, report_line_count: lines, lines: found } = answer;
  if (failures.length)
    return {
      text: `This looks like ${failureWords(failures[0])}${failures.length > 1 ? `; and ${counted(failures.length - 1, 'other failure')}` : ''}.`,
      label: 'Open verdict',
    };
  if (lines > 0 || answer.usage) return { text: 'No failure here: the text holds a memory report and no error.', label: 'Open report' };
  return {
    text: `No out-of-memory report found in ${counted(found?.line_count ?? 0, 'line')}; ${count(found?.mention_count ?? 0)} of them mention memory.`,
    label: 'Open text',
  };
}

/* A row: is(file) → may it be this; take(file) → {text, label, link: parts of the URL} or null when it is
 * not; a file: {name, size_bytes, head: its first bytes, blob}. */
const KINDS = [
  {
    is: ends('.xplane.pb', '.hlo_proto.pb', '.hlo.pb', '.hlo.pb.gz', '-buffer-assignment.txt', '.trace.json.gz'),
    take: async ({ name }) => ({
      text: `${short(name)} is a trace or a dump: the daemon reads those from disk, with the files beside them. Put it into a watched folder, or start \`memviewd FILE_OR_DIR\`.`,
    }),
  },
  {
    is: (file) => ends('.prof', '.pprof', '.pb.gz', '.pb')(file) || isGzip(file) || !isText(file),
    async take({ name, size_bytes, blob }) {
      const profile = await post('profiles', blob, 'application/octet-stream', { name });
      keepDropped(profile.id, { name, size_bytes });
      return {
        text: `${short(name)} is a device profile with ${counted(profile.sample_count, 'sample')}.`,
        label: 'Open profile',
        link: { tool: 'device_memory', local: profile.id },
      };
    },
  },
  {
    is: (file) => isText(file) || isGzip(file),
    async take({ name, size_bytes, head, blob }) {
      const answer = await post('oom', blob, 'application/octet-stream');
      const text = size_bytes <= 1 << 20 && !isWide({ head }) ? await blob.text() : null;
      keepDropped(answer.local, { name, size_bytes, text });
      return { ...textWords(answer), link: { tool: 'oom', local: answer.local } };
    },
  },
];

/* No file of this kind: the next row may know it. */
const isOther = (error) => error instanceof Problem && [404, 405, 415, 422].includes(error.status);

/* blob: a File, or a Blob of a pasted text. Out: {text, label, link} for a banner; link and label are
 * left out when there is nothing to open, or no page for it. */
export async function recognise(blob, name = blob.name ?? 'the pasted text') {
  const head = new Uint8Array(await blob.slice(0, HEAD_BYTES).arrayBuffer());
  const file = { name, size_bytes: blob.size, head, blob };
  let why = '';
  if (blob.size === 0) return { text: `${short(name)} is empty.` };
  for (const kind of KINDS.filter((each) => each.is(file))) {
    try {
      const { text, label, link } = await kind.take(file);
      return link && pageOf(link.tool) ? { text, label, link } : { text };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      why = problemText(error);
      if (!isOther(error)) break;
    }
  }
  return { text: `${short(name)} cannot be used. ${why}` };
}
