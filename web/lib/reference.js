/* SPDX-License-Identifier: Apache-2.0
 * reference.js: what a side of a comparison names: session/host/module/space/step, as a= and b= of the URL. Pure. */

const PARTS = ['session', 'host', 'module', 'space', 'step'];

/* Of a device profile it is session//profile, or //hash where it was dropped. */

/* "ID//ID/0" → {session, host, module, space, step}, each a text, "" where nothing is said. */
export function parseReference(text) {
  const said = text.split('/');
  return Object.fromEntries(PARTS.map((name, at) => [name, said[at] ?? '']));
}

/* Parts at the end that say nothing are left out. */
export function referenceText(parts) {
  return PARTS.map((name) => String(parts[name] ?? ''))
    .join('/')
    .replace(/\/+$/, '');
}

/* What the Memory Viewer shows, as a reference; "" where it shows no module. step: null at the peak. */
export function referenceOf({ session, host, module, space }, step = null) {
  if (!session || !module) return '';
  const isFirstHost = !host || host.id === session.hosts?.[0]?.id;
  return referenceText({
    session: session.id,
    host: isFirstHost ? '' : host.id,
    module: module.id,
    space: space?.space ?? '',
    step: step ?? '',
  });
}

/* What Device Memory shows, as a reference: the profile of the URL, else the last of the session. */
export function referenceOfProfile({ session }, { a, b, local }) {
  if (local) return referenceText({ module: local });
  return session ? referenceText({ session: session.id, module: b || a }) : '';
}
