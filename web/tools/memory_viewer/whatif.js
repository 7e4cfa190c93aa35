/* SPDX-License-Identifier: Apache-2.0
 * whatif.js: the drawer of changes: what each would save alone, what those that are ticked come to, the curve before
 * and after, and the sets that would make the program fit. Figures, sentences, refusals and lines of code are the
 * daemon's; what is ticked stands in the URL. Loaded when it is first opened.
 *
 * The row of acts under the answer is where an act on the ticked changes has its button. */

import { isAbort, Problem, problemText } from '../../lib/api.js';
import { button, el, fill, keepingFocus, loadStyle } from '../../lib/dom.js';
import { bytes, capital, counted, visible } from '../../lib/format.js';
import {
  callLine,
  computeWords,
  confidenceButton,
  fitNodes,
  landingFigure,
  savingFigure,
} from '../../widgets/fit_sets.js';
import { createPanel, message } from '../../widgets/panel.js';
import { createConfirm } from './confirm.js';
import { capacityBytes, chosenDevice, createChooser } from './capacity.js';
import { failed } from './empty.js';
import { unitWord } from './text.js';
import { createWhatifCurve } from './whatif_curve.js';
import { ALL_ROWS, createPeak, FEW_ROWS } from './whatif_peak.js';

/* Predictions are of the device's own memory. */
const SPACE = 0;
/* Of the two curves; as many points as the page's own has at least. */
const WIDTH = 1024;
/* In the URL as drawer: what is ticked holds, and the page is seen whole. */
const FOLDED = 'folded';

/* Pure: the ticked changes with one more, or without it. */
export const toggledChange = (ticked, change) =>
  ticked.includes(change) ? ticked.filter((each) => each !== change) : [...ticked, change];

const isSame = (a, b) => a.length === b.length && a.every((each) => b.includes(each));

/* ---- the list ---------------------------------------------------------------- */

/* What it saves and becomes; of a change without a figure the daemon's sums are those of the program before it. */
const savesNode = (row) => (row.has_no_figure ? el('span', { class: 'dim' }, 'not known') : savingFigure(row));
const becomesNode = (row) => (row.has_no_figure ? el('span', { class: 'dim' }, 'not known') : landingFigure(row));

/* Two lines of the table: figures, then the line to write and, if it is open, the reason. */
function changeRows(row, at, { ticked, opened, onTick }) {
  const box = el('input', {
    type: 'checkbox',
    id: `whatif-${at}`,
    'data-key': `tick ${row.change}`,
    on: { change: () => onTick(row.change) },
  });
  box.checked = ticked.includes(row.change);
  const why = `whatif-why-${at}`;
  const fits =
    row.fits == null ? null : el('span', { class: row.fits ? 'whatif-fits' : 'dim' }, row.fits ? 'fits' : 'over');
  return [
    el(
      'tr',
      { class: box.checked ? 'is-ticked' : null },
      el(
        'th',
        { scope: 'row' },
        el(
          'label',
          {},
          box,
          el('span', {}, el('code', {}, visible(row.change)), el('span', { class: 'dim' }, visible(row.words))),
        ),
      ),
      el('td', { class: 'number' }, savesNode(row)),
      el('td', { class: 'number' }, becomesNode(row), ' ', fits),
      el('td', { class: 'number' }, computeWords(row)),
      el('td', {}, confidenceButton({ key: row.change, word: row.confidence, id: why, opened })),
    ),
    el(
      'tr',
      { class: 'whatif-more' },
      el(
        'td',
        { colspan: '5' },
        callLine(row.call),
        el('p', { class: 'dim', id: why, hidden: !opened.has(row.change) }, visible(row.reason)),
      ),
    ),
  ];
}

function listNodes(data, about) {
  const rows = data.alone.filter(({ refusal }) => refusal == null);
  const refused = data.alone.filter(({ refusal }) => refusal != null);
  const heads = ['Change', 'Saves', 'Becomes', 'Compute', 'How sure'].map((word, at) =>
    el('th', { scope: 'col', class: at && at < 4 ? 'number' : null }, word),
  );
  return [
    rows.length
      ? el(
          'table',
          { class: 'whatif-list' },
          el('caption', { class: 'hidden' }, 'Changes, each one alone, compared with the unchanged program'),
          el('thead', {}, el('tr', {}, heads)),
          el(
            'tbody',
            {},
            rows.map((row, at) => changeRows(row, at, about)),
          ),
        )
      : el('p', {}, 'No change of the list applies here.'),
    refused.length
      ? el(
          'details',
          { class: 'folded', open: rows.length === 0 },
          el(
            'summary',
            { 'data-key': 'refused' },
            `${counted(refused.length, 'change')} of the list ${refused.length === 1 ? 'does' : 'do'} not apply`,
          ),
          el(
            'ul',
            {},
            refused.map(({ refusal }) => el('li', {}, visible(refusal))),
          ),
        )
      : null,
  ];
}

/* Those that are ticked, one behind the other; a refused one keeps its place and its reason. */
function togetherNodes(data, { onTick }) {
  const { changes } = data;
  if (changes.length < 2 && !changes.some(({ refusal }) => refusal != null)) return null;
  return [
    el('h3', {}, 'Together, in this order'),
    el(
      'ol',
      { class: 'whatif-together' },
      changes.map((row) =>
        el(
          'li',
          {},
          el('code', {}, visible(row.change)),
          row.refusal == null
            ? [
                el('span', {}, 'saves ', savesNode(row)),
                el('span', {}, 'becomes ', becomesNode(row)),
                el('span', { class: 'dim' }, row.confidence),
              ]
            : el('span', { class: 'caution' }, visible(row.refusal)),
          button('icon-button', () => onTick(row.change), '×', {
            'aria-label': `Take ${visible(row.change)} away`,
            'data-key': `away ${row.change}`,
          }),
        ),
      ),
    ),
  ];
}

/* ---- the fields -------------------------------------------------------------- */

/* A field with a word before it and a button behind; run(text) → a fault to be said under it, or "". */
function createField({ id, word, act, hint, run }) {
  const said = el('p', { class: 'caution', id: `${id}-said`, role: 'alert', hidden: true });
  const input = el('input', {
    type: 'text',
    id,
    class: 'small-field',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: hint,
    'aria-describedby': `${id}-said`,
  });
  const submit = async (event) => {
    event.preventDefault();
    const fault = await run(input.value.trim());
    fill(said, fault);
    said.hidden = !fault;
    input.setAttribute('aria-invalid', String(Boolean(fault)));
    if (!fault) input.focus();
  };
  const node = el(
    'form',
    { class: 'whatif-field', on: { submit } },
    el('label', { for: id }, word),
    input,
    el('button', { class: 'text-button' }, act),
    said,
  );
  return { node, input };
}

/* ---- the drawer -------------------------------------------------------------- */

/* Nodes of the drawer, and what is written into them. */
function build(view, acts) {
  const panel = createPanel('panel-whatif', 'What if');
  const close = button('icon-button', acts.close, '×', {
    'aria-label': 'Close what-if, untick all',
    title: 'Unticks all and closes (Esc)',
  });
  const fold = button('text-button', acts.fold, 'See the page', {
    title: 'Hides this; ticked changes stay, and the curve shows them',
  });
  const parts = Object.fromEntries(
    ['says', 'fit', 'list', 'together'].map((name) => [name, el('div', { class: `whatif-${name}` })]),
  );
  const curve = createWhatifCurve();
  const peak = createPeak({ onPin: (id) => view.context.pin(id), onAll: acts.allRows });
  const chooser = createChooser(view.program, view.context.setCapacity);
  const fit = button('text-button', acts.fit, 'Fit');
  const clear = button('text-button', acts.clear, 'Untick all');
  const glob = createField({
    id: 'whatif-glob',
    word: 'Of what',
    act: 'Show',
    hint: 'all, or layer_*, opt_state*.mu*, attention_scores',
    run: acts.ofWhat,
  });
  const more = createField({
    id: 'whatif-more',
    word: 'Another change',
    act: 'Add',
    hint: 'batch=0.25, shard=*:8, offload=*.nu*',
    run: acts.add,
  });
  const confirm = createConfirm({
    place: () => view.program.place,
    device: () => chosenDevice(view.program),
    changes: () => view.context.route.whatif.filter((change) => !acts.refused.has(change)),
    tell: view.context.tell,
  });
  panel.head.querySelector('.panel-more').append(fold, close);
  panel.node.tabIndex = -1;
  panel.body.append(
    parts.says,
    el('div', { class: 'whatif-acts' }, fit, clear, confirm.act, chooser.node),
    confirm.node,
    parts.fit,
    curve.node,
    parts.together,
    glob.node,
    parts.list,
    more.node,
    peak.node,
  );
  return { panel, parts, curve, peak, chooser, fit, clear, fold, glob, more, confirm };
}

/* What can be done in the drawer; moreInput() → the field of another change; allRows() asks for the whole table. */
function actsOf({ context, program }, moreInput, allRows) {
  const choose = (patch) => context.choose({ drawer: context.route.drawer || 'whatif', ...patch });
  return {
    allRows,
    fold: () => choose({ drawer: FOLDED }),
    refused: new Set(), // of those that are ticked
    close: () => context.choose({ drawer: '', glob: '', whatif: [] }),
    fit: () => choose({ drawer: context.route.drawer === 'fit' ? 'whatif' : 'fit' }),
    clear: () => choose({ whatif: [] }),
    apply: (changes) => choose({ whatif: changes }),
    onTick: (change) => choose({ whatif: toggledChange(context.route.whatif, change) }),
    ofWhat(glob) {
      choose({ glob });
      return '';
    },
    /* The daemon reads it first: what it refuses is said under the field, and the URL stays. */
    async add(change) {
      if (!change) return 'The field is empty.';
      const { whatif: ticked } = context.route;
      if (ticked.includes(change)) return 'It is ticked already.';
      try {
        const { changes } = (
          await program.ask('whatif', { change: [...ticked, change], alone: 1 }, new AbortController().signal)
        ).data;
        const { refusal } = changes[changes.length - 1];
        if (refusal != null) return capital(visible(refusal));
      } catch (error) {
        if (isAbort(error)) return '';
        if (error instanceof Problem) return capital(visible(error.message));
        throw error;
      }
      choose({ whatif: [...ticked, change] });
      moreInput().value = '';
      return '';
    },
  };
}

/* fit: of the answer; null while nothing can be held against a capacity. */
function drawFit(drawer, { route }, acts, fit, capacity) {
  const isOpen = route.drawer === 'fit';
  drawer.fit.setAttribute('aria-pressed', String(isOpen));
  drawer.parts.fit.hidden = !isOpen;
  if (!isOpen) return;
  const apply = (changes) => {
    const isOn = isSame(changes, route.whatif);
    return button('text-button', () => acts.apply(changes), isOn ? 'Applied' : 'Apply', {
      'aria-pressed': String(isOn),
      'data-key': `set ${changes.join('&')}`,
    });
  };
  fill(
    drawer.parts.fit,
    capacity == null
      ? el('p', {}, 'The capacity of the device is not known: choose a device to see what fits.')
      : fitNodes(fit, apply),
  );
}

/* What the daemon said: data, fit (null: not asked), held against the capacity (null: not known). */
function draw(drawer, { context, program }, acts, opened, { data, fit, capacity }) {
  const { panel, parts, curve } = drawer;
  const { whatif: ticked } = context.route;
  const space = program.spaces.find((each) => each.space === SPACE);
  panel.setTitle('What if', space ? el('span', { class: 'dim' }, ` · ${visible(space.name)}`) : '');
  keepingFocus(panel.node, () => {
    fill(parts.says, el('p', { class: 'whatif-answer' }, visible(data.sentence)));
    drawFit(drawer, context, acts, fit, capacity);
    fill(parts.list, listNodes(data, { ticked, opened, onTick: acts.onTick }));
    fill(parts.together, togetherNodes(data, acts));
  });
  drawer.chooser.set();
  acts.refused = new Set(data.changes.filter(({ refusal }) => refusal != null).map(({ change }) => change));
  drawer.confirm.set();
  drawer.clear.hidden = drawer.fold.hidden = ticked.length === 0;
  curve.node.hidden = !data.curve;
  const isApplied = data.changes.some(({ refusal }) => refusal == null);
  keepingFocus(panel.node, () => drawer.peak.show(isApplied ? data : { rows: [] }, unitWord(space ?? program.space)));
  const line =
    capacity == null
      ? null
      : { bytes: capacity, text: `capacity ${bytes(capacity)}`, isOver: data.fits_before === false };
  if (data.curve) curve.show(data.curve, line, unitWord(space ?? program.space), isApplied);
  panel.show();
  context.tell(data.sentence);
}

/* view: of page.js. Out: {hear(route), take(), shut(), has(node), close(), destroy()}. */
export function createWhatif(view) {
  const { program } = view;
  const styled = loadStyle('whatif.css');
  const state = { question: '', asked: null, opener: null, opened: new Set(), rows: FEW_ROWS };
  const acts = actsOf(
    view,
    () => drawer.more.input,
    () => {
      state.rows = ALL_ROWS;
      void load(view.context.route);
    },
  );
  const drawer = build(view, acts);
  const { panel } = drawer;
  view.root.firstElementChild.append(panel.node);
  panel.node.hidden = true;

  async function load(route) {
    const { space, ask } = program;
    const capacity = await capacityBytes(program, SPACE, route.capacity);
    const params = {
      change: [...new Set(route.whatif)],
      glob: route.glob,
      capacity: route.capacity ?? '',
      capacity_bytes: capacity ?? '',
      alone: 1,
      width: WIDTH,
      rows: state.rows,
    };
    const isFit = route.drawer === 'fit' && capacity != null;
    const question = JSON.stringify([ask.serial, params, isFit]);
    if (question === state.question || program.space !== space) return;
    state.asked?.abort();
    const { signal } = (state.asked = new AbortController());
    const end = panel.wait('', null);
    try {
      const asked = [
        ask('whatif', params, signal),
        isFit ? ask('whatif', { capacity: route.capacity ?? '', capacity_bytes: capacity, fit: 1 }) : null,
        styled,
      ];
      const [{ data }, fit] = await Promise.all(asked);
      if (signal.aborted || program.space !== space) return;
      state.question = question;
      draw(drawer, view, acts, state.opened, { data, fit: fit?.data.fit ?? null, capacity });
      view.predict(data);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      panel.say(
        error.status === 404
          ? message({ title: 'Nothing is predicted here.', text: capital(problemText(error)) })
          : failed('The prediction', error),
      );
    } finally {
      end();
    }
  }

  return {
    hear(route) {
      if (!program.space) return null;
      const isFolded = route.drawer === FOLDED;
      const hadFocus = isFolded && panel.node.contains(document.activeElement);
      panel.node.hidden = isFolded;
      if (hadFocus) view.curve.focus();
      if (drawer.glob.input !== document.activeElement) drawer.glob.input.value = route.glob;
      return load(route);
    },
    /* Opened by hand: the focus goes there, and back when it is closed. */
    take() {
      state.opener ??= document.activeElement;
      styled.then(() => panel.node.focus());
    },
    shut() {
      state.asked?.abort();
      state.question = '';
      view.predict(null);
      if (panel.node.hidden) return;
      const hadFocus = panel.node.contains(document.activeElement);
      panel.node.hidden = true;
      if (hadFocus && state.opener?.isConnected) state.opener.focus();
      state.opener = null;
    },
    has: (node) => panel.node.contains(node),
    close: acts.close,
    destroy() {
      state.asked?.abort();
      drawer.confirm.destroy();
      drawer.curve.destroy();
    },
  };
}
