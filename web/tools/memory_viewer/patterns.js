/* SPDX-License-Identifier: Apache-2.0
 * patterns.js: the panel of patterns: ways of spending memory that have a name, each with its sentence, the rule and
 * what it looks like when it is gone. It stands where the map is, while the URL says view=patterns. A click filters the
 * other views by a pattern's buffers. Its own file: loaded when it is first asked for. */

import { isAbort, problemText } from '../../lib/api.js';
import { button, el, fill, loadStyle } from '../../lib/dom.js';
import { counted } from '../../lib/format.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { message } from '../../widgets/panel.js';
import { openWhatif } from './look.js';

const TERM = /(?:^|\s)pattern:[a-z_]+(?=\s|$)/g;
const termOf = (kind) => `pattern:${kind}`;
const isShown = ({ context: { route } }) => route.view === 'patterns';

/* Pure: the filter with this pattern alone; without any, if it was there. */
export function toggledPattern(filter, kind) {
  const rest = filter.replace(TERM, ' ').trim();
  return filter.split(/\s+/).includes(termOf(kind)) ? rest : `${termOf(kind)} ${rest}`.trim();
}

const COLUMNS = [
  ['kind', 'Pattern'],
  ['bytes', 'Size'],
  ['saves_bytes', 'Saves'],
  ['sentence', 'Sentence'],
  ['rule', 'Rule'],
  ['when_gone', 'Without it'],
];

/* Out: {load(), reveal(kind), focus(), destroy()}. */
export function createPatterns(page, panel) {
  const { context, program } = page;
  const state = { question: '', asked: null, patterns: [], remark: '' };
  const list = el('ol', { class: 'patterns' });
  const styled = loadStyle('code.css');
  const exports = exportEntries({
    name: 'patterns',
    title: () => 'Patterns at the peak',
    drawing: () => null,
    table: () => ({
      heads: COLUMNS.map(([, title]) => title),
      rows: state.patterns.map((pattern) => COLUMNS.map(([name]) => String(pattern[name]))),
    }),
  });
  panel.setMenu(() => exports());
  panel.body.append(list);

  const row = (pattern) => {
    const isOn = context.route.filter.split(/\s+/).includes(termOf(pattern.kind));
    const show = button(
      'text-button',
      () => context.choose({ filter: toggledPattern(context.route.filter, pattern.kind) }),
      isOn ? 'Show all buffers' : `Show its ${counted(pattern.buffers.length, 'buffer')}`,
      { 'aria-pressed': String(isOn) },
    );
    return el(
      'li',
      { class: isOn ? 'pattern is-on' : 'pattern', 'data-kind': pattern.kind },
      el(
        'p',
        { class: 'pattern-says' },
        pattern.sentence,
        ' ',
        show,
        ' ',
        button('text-button', () => openWhatif(page, { glob: pattern.kind }), 'What if…'),
      ),
      el(
        'p',
        { class: 'second' },
        el('b', {}, 'Saves: '),
        pattern.saving_sentence,
        el('span', { class: 'dim' }, ' (bound)'),
      ),
      el('p', { class: 'second' }, el('b', {}, 'Rule: '), pattern.rule),
      el('p', { class: 'second' }, el('b', {}, 'Without it: '), pattern.when_gone),
    );
  };

  function draw() {
    panel.setTitle('Patterns at the peak');
    panel.setAside(state.patterns.length ? state.remark : '');
    fill(list, state.patterns.map(row));
    if (state.patterns.length) panel.show();
    else panel.say(message({ text: state.remark }));
  }

  async function load() {
    const { space } = program;
    if (!space || !isShown(page)) return;
    const params = { space: space.space };
    const question = JSON.stringify([program.ask.serial, params]);
    if (question === state.question) return void draw();
    state.asked?.abort();
    const mine = (state.asked = new AbortController());
    try {
      await styled;
      const { data } = await program.ask('whose', params, mine.signal);
      if (program.space !== space || mine.signal.aborted) return;
      state.question = question;
      state.patterns = data.patterns;
      state.remark = data.patterns_remark;
      draw();
    } catch (error) {
      if (!isAbort(error))
        panel.say(message({ kind: 'error', title: 'The patterns could not be read.', text: problemText(error) }));
    }
  }

  return {
    load,
    /* The one that a search found, with an edge around it. */
    reveal(kind) {
      for (const each of list.children) each.classList.toggle('is-found', each.dataset.kind === kind);
      list.querySelector('.is-found')?.scrollIntoView({ block: 'nearest' });
    },
    focus: () => list.querySelector('button')?.focus(),
    destroy: () => state.asked?.abort(),
  };
}
