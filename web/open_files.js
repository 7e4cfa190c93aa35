/* SPDX-License-Identifier: Apache-2.0
 * open_files.js: what dropped files or a pasted text are, and where they open. The first row that knows a file
 * says so; nothing leaves the present view before the reader agrees. */

import { get, post, Problem, problemText } from './lib/api.js';
import { keepUpload, UPLOADS } from './lib/uploads.js';
import { button, el } from './lib/dom.js';
import { baseName, bytes, count, counted, cutMiddle, visible } from './lib/format.js';
import { nameOf, pageOf, defaultPage } from './pages.js';
import { dialogHead, openDialog } from './widgets/dialog.js';
import { foundText, lookAt } from './tools/home/found.js';

const HEAD_BYTES = 4096;
const MAX_FILES = 1000;
const MAX_ENTRIES = 5000;
const MAX_DEPTH = 8;

const short = (text) => cutMiddle(visible(text), 60);
const isGzip = ({ head }) => head[0] === 0x1f && head[1] === 0x8b;
/* Two bytes a letter, as some shells write their logs. */
const isWide = ({ head }) => (head[0] ^ head[1]) === 1 && head[0] >= 0xfe;
const isText = ({ head }) => isWide({ head }) || (!head.includes(0) && !isGzip({ head }));
const ends =
  (...list) =>
  ({ name }) =>
    list.some((end) => name.toLowerCase().endsWith(end));

/* What XLA and the profiler write beside what can be opened. */
const isBeside = ends(
  '-buffer-assignment.txt',
  '-live-range.txt',
  '-memory-usage-report.txt',
  '-memory-usage-report.pb',
  '.trace.json.gz',
  '.trace.json',
);
const isProgram = ends('.xplane.pb', '.xplane.pb.gz', '.hlo_proto.pb', '.hlo_proto.pb.gz', '.hlo.pb', '.hlo.pb.gz');
const isProfile = ends('.prof', '.pprof', '.pb.gz', '.pb');

/* Pure: "a TPU compile-time OOM: jit_train_step needs 33.49 GiB, 15.75 GiB are available". */
export function failureWords(failure) {
  const { title, limit_bytes: limit, limit_phrase: phrase } = failure.verdict ?? failure;
  const who = failure.module ? short(failure.module) : 'the program';
  const needed = failure.needed_bytes == null ? '' : `: ${who} needs ${bytes(failure.needed_bytes)}`;
  const there = limit == null ? '' : `, ${bytes(limit)} ${phrase}`;
  return `${/^[AEIOU]/.test(title) ? 'an' : 'a'} ${visible(title)}${needed}${there}`;
}

/* Pure: what the answer to a text says, and whether there is something to open. */
export function textWords(answer) {
  const { failures, report_line_count: lines, lines: found } = answer;
  if (failures.length)
    return {
      text: `This looks like ${failureWords(failures[0])}${
        failures.length > 1 ? `; and ` + `${counted(failures.length - 1, 'other failure')}` : ''
      }.`,
      label: 'Open verdict',
    };
  if (lines > 0 || answer.usage)
    return { text: 'No failure here: the text has a memory report but no error.', label: 'Open report' };
  return {
    text:
      `No out-of-memory report found in ${counted(found?.line_count ?? 0, 'line')}; ` +
      `${count(found?.mention_count ?? 0)} of them mention memory.`,
    label: 'Open text',
  };
}

/* ---- files that are opened like those of a folder ------------------------------------------- */

/* The session to open first: one with a failure, else one with figures, else the first. */
const leading = (sessions) =>
  sessions.find((each) => each.failure) ??
  sessions.find((each) => each.module_count !== 0 || each.profile_count) ??
  sessions[0];

const HOLDS = {
  trace: ({ worst, total }) =>
    total === 0
      ? 'a profiler trace without programs'
      : `a profiler trace with ${counted(total, 'module')}${
          worst?.bytes ? `; the largest needs ` + `${bytes(worst.bytes)}` : ''
        }`,
  dump: ({ worst }) =>
    `an XLA dump${worst?.bytes ? `: ${short(worst.name)} needs ${bytes(worst.bytes)}` : ' without sizes'}`,
  hlo: ({ worst }) =>
    `an HLO program${worst?.bytes ? `: ${short(worst.name)} needs ${bytes(worst.bytes)}` : ' without sizes'}`,
  profiles: ({ session, worst }) => `${foundText(session)}${worst?.bytes ? ` of up to ${bytes(worst.bytes)}` : ''}`,
};

/* "a, b and 3 others" */
const named = (list) =>
  `${list.slice(0, 2).map(short).join(', ')}${list.length > 2 ? ` and ${counted(list.length - 2, 'other')}` : ''}`;

/* Pure: "9 files: an XLA dump: jit_train_step needs 33.49 GiB." */
export function heldWords(session, found, { name, fileTotal, sessionTotal, left }) {
  const what = session.failure
    ? failureWords(session.failure)
    : (HOLDS[session.kind]?.({ session, worst: found.worst, total: found.module_count }) ?? foundText(session));
  const who = fileTotal > 1 ? `${counted(fileTotal, 'file')}: ${what}` : `${short(name)} is ${what}`;
  const more = sessionTotal > 1 ? ` ${counted(sessionTotal - 1, 'other session')} beside it: see Home.` : '';
  const unused = left.length ? ` Not used: ${named(left)}.` : '';
  const clause = found.finding ? `: ${visible(found.finding.sentence)}` : '';
  return `${who}${clause}.${more}${unused}`;
}

/* Pure: " Not read: a.log.gz: inflates to more than 256 times its size." Of several the first with its reason. */
export function notReadWords(list) {
  if (list.length === 0) return '';
  const [{ file, reason }] = list;
  return ` Not read: ${short(file)}: ${visible(reason)}${
    list.length > 1 ? `; and ` + `${counted(list.length - 1, 'other')}` : ''
  }.`;
}

const withoutFigures = { worst: null };

/* What the daemon makes of files that it holds: {text, label, link}. */
async function lookAtHeld(uploaded, { name, left }, signal) {
  const { sessions, not_read: notRead } = await get(`${UPLOADS}/${uploaded.id}`, {}, { signal });
  const fileTotal = uploaded.files.length;
  const who = fileTotal > 1 ? counted(fileTotal, 'file') : short(name);
  if (sessions.length === 0) return { text: `${who}: nothing in there can be opened.${notReadWords(notRead)}` };
  const session = leading(sessions);
  const found = await lookAt(session, { signal }).catch((error) => {
    if (!(error instanceof Problem)) throw error;
    return withoutFigures; /* the page that opens says why */
  });
  const counts = { ...session, module_count: found.module_count ?? session.module_count };
  const page = session.failure ? pageOf('oom') : defaultPage(counts);
  keepUpload(uploaded.id, {
    name: fileTotal > 1 ? counted(fileTotal, 'file') : name,
    size_bytes: uploaded.files.reduce((sum, file) => sum + file.size_bytes, 0),
  });
  const held = heldWords(counts, found, { name, fileTotal, sessionTotal: sessions.length, left });
  return {
    text: `${held}${notReadWords(notRead)}`,
    label: session.failure ? 'Open verdict' : `Open ${nameOf(page)}`,
    link: { tool: page.tool, session: session.id },
  };
}

const upload = ({ name, blob }, before, signal) =>
  post(UPLOADS, blob, 'application/octet-stream', { name, with: before?.id ?? '' }, { signal });

async function takeHeld(file, { signal }) {
  const uploaded = await upload(file, null, signal);
  /* A text has its own page. */
  return uploaded.files[0].kind === 'text' ? null : lookAtHeld(uploaded, { name: file.name, left: [] }, signal);
}

/* ---- one file --------------------------------------------------------------------------- */

/* A row: is(file) → may it be this; take(file, {signal}) → {text, label, link: parts of the URL} or null when
 * it is not; a file: {name, size_bytes, head: its first bytes, blob}. */
const KINDS = [
  {
    is: isBeside,
    take: async ({ name }) => ({
      text:
        `${short(name)} is a report that belongs to another file. Drop its folder, or the \`*.hlo.pb\`, ` +
        `\`*.xplane.pb\` or \`error.txt\` of it.`,
    }),
  },
  { is: isProgram, take: takeHeld },
  {
    is: (file) => isProfile(file),
    async take({ name, size_bytes, blob }, { signal }) {
      const profile = await post('profiles', blob, 'application/octet-stream', { name }, { signal });
      keepUpload(profile.id, { name, size_bytes });
      return {
        text: `${short(name)} is a device profile with ${counted(profile.sample_count, 'sample')}.`,
        label: 'Open profile',
        link: { tool: 'device_memory', local: profile.id },
      };
    },
  },
  { is: (file) => isGzip(file) || !isText(file), take: takeHeld },
  {
    is: (file) => !isProgram(file) && (isText(file) || isGzip(file)),
    async take({ name, size_bytes, head, blob }, { signal }) {
      const answer = await post('oom', blob, 'application/octet-stream', {}, { signal });
      const text = size_bytes <= 1 << 20 && !isWide({ head }) ? await blob.text() : null;
      keepUpload(answer.local, { name, size_bytes, text });
      return { ...textWords(answer), link: { tool: 'oom', local: answer.local } };
    },
  },
];

/* No file of this kind: the next row may know it. */
const isOther = (error) => error instanceof Problem && [404, 405, 415, 422].includes(error.status);

/* Its first bytes; null where the browser may not read it, or it changed since. */
const headOf = (blob) =>
  blob
    .slice(0, HEAD_BYTES)
    .arrayBuffer()
    .then((buffer) => new Uint8Array(buffer))
    .catch(() => null);

/* The first refusal says most: it is that of the kind which the name promises. */
async function recogniseOne({ name, blob }, options) {
  const base = baseName(name);
  if (blob.size === 0) return { text: `${short(base)} is empty.` };
  const head = await headOf(blob);
  if (!head) return { text: `${short(base)} cannot be read: it was removed, or you have no read access.` };
  const file = { name: base, size_bytes: blob.size, head, blob };
  let why = '';
  const rows = KINDS.filter((each) => each.is(file));
  for (const kind of rows.filter((each, at) => rows.findIndex(({ take }) => take === each.take) === at)) {
    try {
      const taken = await kind.take(file, options);
      if (taken) return taken;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      error.file = null; /* its name is said already */
      why ||= problemText(error);
      if (!isOther(error)) break;
    }
  }
  return { text: `${short(base)} cannot be used. ${why.slice(0, 1).toUpperCase()}${why.slice(1)}` };
}

/* ---- several ------------------------------------------------------------------------------ */

/* The daemon was started anew, or let go of what came before: those files have to come again. */
const isForgotten = (error, uploaded) => uploaded && error instanceof Problem && error.status === 404;

/* {uploaded: the last answer or null, left: names of those that are not used}. */
async function sendAll(sent, { signal, onProgress, mayRestart }) {
  const left = [];
  let uploaded = null;
  for (const [at, file] of sent.entries()) {
    onProgress(
      `Sending ${count(at + 1)} of ${counted(sent.length, 'file')}: ${short(file.name)}, ${bytes(file.blob.size)}.`,
    );
    try {
      if (await headOf(file.blob)) uploaded = await upload(file, uploaded, signal);
      else left.push(file.name);
    } catch (error) {
      if (isForgotten(error, uploaded)) {
        if (mayRestart) return sendAll(sent, { signal, onProgress, mayRestart: false });
        throw new Problem({
          code: 'notfound',
          detail:
            'the daemon dropped the first files before the last one arrived: it was restarted, or it has too little ' +
            'memory for all of them',
        });
      }
      if (!isOther(error) && error.status !== 413) throw error;
      left.push(file.name);
    }
  }
  return { uploaded, left };
}

async function recogniseAll(files, { signal, onProgress }) {
  const { uploaded, left } = await sendAll(files.slice(0, MAX_FILES), { signal, onProgress, mayRestart: true });
  left.push(...files.slice(MAX_FILES).map((file) => file.name));
  if (!uploaded)
    return {
      text: `None of ${counted(files.length, 'file')} can be used: no trace, HLO file, device profile or text.`,
    };
  return lookAtHeld(uploaded, { name: uploaded.files[0].name, left }, signal);
}

/* files: [{name, blob}], the name with its folders; a blob is a File, or a Blob of a pasted text. Out: {text,
 * label, link} for a banner; link and label are left out when there is nothing to open, or no page for it. */
async function recognise(files, options) {
  const useful = files.length > 1 ? files.filter((file) => file.blob.size > 0 && !isBeside(file)) : files;
  if (files.length === 0) return { text: 'The folder has no file that can be read.' };
  if (useful.length === 0)
    return {
      text:
        `None of ${counted(files.length, 'file')} can be opened: they are empty, or reports that belong to other ` +
        `files.`,
    };
  const { text, label, link } = await (useful.length > 1
    ? recogniseAll(useful, options)
    : recogniseOne(useful[0], options));
  return link && pageOf(link.tool) ? { text, label, link } : { text };
}

/* ---- the files of folders that were dropped ----------------------------------------------- */

/* Files of a folder come in pieces, until a piece is empty; one that may not be read ends there. */
async function entriesOf(folder, refused) {
  const reader = folder.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve) =>
      reader.readEntries(resolve, () => {
        refused.push(pathOf(folder));
        resolve([]);
      }),
    );
    if (some.length === 0 || all.length > MAX_ENTRIES) return all;
    all.push(...some);
  }
}

const pathOf = (entry) => entry.fullPath.replace(/^\/+/, '');

async function collect(entry, into, refused, depth = 0) {
  if (entry.name.startsWith('.') || into.length >= MAX_ENTRIES || depth > MAX_DEPTH) return;
  if (entry.isFile) {
    const blob = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
    if (blob) into.push({ name: pathOf(entry), blob });
    else refused.push(pathOf(entry));
    return;
  }
  for (const each of await entriesOf(entry, refused)) await collect(each, into, refused, depth + 1);
}

/* {files: [{name: with its folders, blob}], refused: names of what the browser may not read} of FileSystemEntry
 * objects; hidden ones are left out. */
async function filesBelow(entries) {
  const files = [];
  const refused = [];
  for (const entry of entries) await collect(entry, files, refused);
  return { files, refused };
}

/* ---- the way of all of them --------------------------------------------------------------- */

/* Sessions of the same files: their ids begin with the hash of them. */
const sameFiles = (a, b) => a.split('-')[0] === b.split('-')[0];

let underWay = null;

/* dropped: of drop_zone.js. The frame: {banners, route(): the state in the URL, again(): shows it anew, open(link)}. */
export async function takeIn(dropped, { banners, route, again, open }) {
  underWay?.abort();
  const own = new AbortController();
  const { signal } = own;
  const onProgress = (text) =>
    signal.aborted || banners.set('files', { text, action: { label: 'Cancel', run: () => own.abort() } });
  underWay = own;
  try {
    onProgress('Looking at what was dropped.');
    const { files, refused } = dropped.files
      ? { files: dropped.files, refused: [] }
      : await filesBelow(dropped.entries);
    if (files.length === 1) onProgress(`Looking at ${short(files[0].name)}.`);
    const { text, label, link } = await recognise(files, { signal, onProgress });
    signal.throwIfAborted();
    const unread = refused.length ? ` The browser may not read ${named(refused)}.` : '';
    const run = () => {
      banners.drop('files');
      /* What the URL names already, dropped once more: the same view of it. */
      const { local, session, tool } = route();
      const isAwaited = link.session ? sameFiles(session, link.session) : link.local === local && link.tool === tool;
      if (isAwaited) again();
      else open(link);
    };
    banners.set('files', { text: text + unread, action: link && { label, run } });
  } catch (error) {
    if (underWay === own) banners.drop('files');
    throw error;
  }
}

/* ---- for those who do not drop ------------------------------------------------------------ */

/* A text to paste or files to choose; take({files: [{name, blob}]}) */
export function openFilesDialog(take) {
  const field = el('textarea', {
    class: 'files-text mono',
    rows: '10',
    spellcheck: 'false',
    'aria-label': 'Error text or log',
    placeholder: 'RESOURCE_EXHAUSTED: …',
  });
  openDialog({
    title: 'Paste a text or choose files',
    className: 'files-dialog',
    content: (close) => {
      const file = el('input', {
        type: 'file',
        class: 'files-choose',
        multiple: true,
        'aria-label': 'Choose files',
        on: {
          change: () => {
            close();
            take({ files: [...file.files].map((blob) => ({ name: blob.name, blob })) });
          },
        },
      });
      const go = () => {
        if (!field.value.trim()) return;
        close();
        take({ files: [{ name: 'the pasted text', blob: new Blob([field.value], { type: 'text/plain' }) }] });
      };
      field.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) go();
      });
      return [
        dialogHead('Paste an error text, or choose files', close),
        el('div', { class: 'dialog-body' }, field, file),
        el('footer', { class: 'dialog-foot' }, button('text-button', go, 'Look at the text')),
      ];
    },
  });
  field.focus();
}
