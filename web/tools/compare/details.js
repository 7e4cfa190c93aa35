/* SPDX-License-Identifier: Apache-2.0
 * details.js: what the pane says of a row: both sides of a pair, how sure it is, and where each is looked at.
 * Its own file: text.js is pure words. */

import { el, figure } from '../../lib/dom.js';
import { count, counted, signedBytes } from '../../lib/format.js';
import { parseReference } from '../../lib/reference.js';
import { fact, facts } from '../../widgets/details.js';
import { categoryWords } from '../../widgets/categories.js';
import { arrow } from './text.js';

/* How sure a pair is, by its key. */
const SURE = {
  scope_shape: 'the surest there is',
  scope: 'the scope agrees, the shape does not',
  op_shape: 'operation and shape agree, the scope does not',
  op_rank: 'operation and number of dimensions agree',
  line: 'only the source line agrees',
  new: 'nothing in A is like it',
  gone: 'nothing in B is like it',
};

function viewerLink(reference, id, word, context) {
  const { session, host, module, space, step } = parseReference(reference);
  const patch = {
    tool: 'memory_viewer',
    host,
    module,
    space: space === '' ? null : Number(space),
    step: step === '' ? null : Number(step),
    pin: { kind: 'b', id },
  };
  return id ? el('p', {}, el('a', { href: context.link(session, patch) }, word)) : null;
}

/* For details.show(). */
export function detailsOf(row, { sides }, context) {
  const one = !row.isGroup || row.count === 1;
  return {
    heading: one ? 'Buffer' : counted(row.count, 'buffer'),
    subject: row.b_name ?? row.a_name ?? '',
    parts: [
      facts(
        fact('Change', `${arrow(row.delta_bytes)} ${row.delta_bytes === 0 ? 'none' : signedBytes(row.delta_bytes)}`),
        fact('A', row.a_bytes == null ? 'not there' : figure(row.a_bytes), one && row.a_name ? ` ${row.a_name}` : ''),
        fact('B', row.b_bytes == null ? 'not there' : figure(row.b_bytes), one && row.b_name ? ` ${row.b_name}` : ''),
        fact('Match by', row.key_words, el('span', { class: 'dim' }, `: ${SURE[row.key]}`)),
        fact('Category', categoryWords(row.category)),
        fact('Scope', row.op_name),
        fact('Shape of A', row.a_shape),
        fact('Shape of B', row.b_shape),
        fact('Source', row.source),
        one ? null : fact('Buffers', count(row.count)),
      ),
      viewerLink(sides.a, row.a_id, one ? 'A in the Memory Viewer' : 'One of A in the Memory Viewer', context),
      viewerLink(sides.b, row.b_id, one ? 'B in the Memory Viewer' : 'One of B in the Memory Viewer', context),
    ],
  };
}
