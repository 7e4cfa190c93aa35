/* SPDX-License-Identifier: Apache-2.0
 * export.js: the verdict as it leaves the page. Pure but for the clipboard and the file. */

import { markdownText, saveText, shownTable } from '../../lib/export.js';
import { bytes, visible } from '../../lib/format.js';
import { factsLine, fileName } from '../../lib/subject.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { copyText } from '../../widgets/toast.js';
import { barText } from './bar.js';
import { tableOf } from './buffers.js';
import * as say from './text.js';

/* Pure: the whole verdict for a bug report. */
export function verdictText(failure, rows, facts) {
  const { verdict } = failure;
  const lines = [
    `**${say.plain([...verdict.answer, ' ', ...verdict.more]).trim()}**`,
    facts,
    ...verdict.figures.map((row) => `- ${row.word}: ${row.text ?? bytes(row.bytes)}${row.after ? ` (${visible(row.after)})` : ''}`),
    verdict.bar ? `- where: ${barText(verdict.bar)}` : '',
    say.plain(verdict.cause_text),
  ].filter(Boolean);
  const table = rows.length ? markdownText(shownTable(tableOf(rows)), 'Largest buffers', '') : '';
  return `${lines.join('\n')}\n${table ? `\n${table}` : ''}`;
}

/* now() → {failure, rows}. Entries of the ⋯ menu. */
export function menuOf(now) {
  const table = exportEntries({ name: 'oom', title: () => visible(now().failure.verdict.title), table: () => tableOf(now().rows) });
  return () => {
    const { failure } = now();
    if (!failure) return [];
    return [
      { word: 'Verdict (Markdown) to the clipboard', run: () => copyText(verdictText(failure, now().rows, factsLine())) },
      { word: 'Figures (JSON)', run: () => saveText(`${JSON.stringify([failure], null, 1)}\n`, fileName('oom', 'json'), 'application/json') },
      table(),
    ];
  };
}
