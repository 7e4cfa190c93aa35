/* SPDX-License-Identifier: Apache-2.0
 * advice.js: what will make it fit: each piece of advice with what it saves, where that lands, how sure that is, where
 * it is seen and the line to write. Those that are ticked are predicted together, and stand in the URL. All of it is
 * decided by the daemon. */

import { get, isAbort, Problem, problemText } from '../../lib/api.js';
import { button, el, fill } from '../../lib/dom.js';
import { capital, counted, visible } from '../../lib/format.js';
import { predictedFit, predictedSigns } from '../../lib/predicted.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { callLine, computeWords, confidenceButton } from '../../widgets/fit_sets.js';
import { createPanel } from '../../widgets/panel.js';

/* More stand behind a word. */
const AT_ONCE = 6;
const COLUMNS = [
  'title',
  'change',
  'saves_bytes',
  'lands_at_bytes',
  'over_bytes',
  'fits',
  'confidence',
  'reason',
  'do',
].map((key) => ({ key, title: key }));

const fitsNode = (item) => {
  const words = predictedFit(item);
  return words && el(item.fits === 'yes' ? 'strong' : 'span', { class: item.fits === 'no' ? 'dim' : null }, words);
};

function figuresNode(item, links) {
  const { saves_bytes: saves, lands_at_bytes: lands, evidence } = item;
  if (saves == null && lands == null) return el('span', { class: 'dim' }, 'how much it saves is not known');
  const [most, least] = predictedSigns(item);
  return [
    saves > 0 ? el('span', {}, 'saves ', most, links.figure(saves, evidence.saves)) : null,
    lands == null
      ? null
      : el('span', {}, '→ ', least, links.figure(lands, evidence.lands_at, undefined, ''), ' ', fitsNode(item)),
    item.extra_flops_percent ? el('span', { class: 'dim' }, `${computeWords(item)} compute`) : null,
  ];
}

/* What it rests on, where the page does not say it yet. */
const evidenceNode = ({ sentence, figures }, links, isSaid) =>
  isSaid ? null : el('p', { class: 'advice-evidence' }, links.sentence(sentence, figures));

/* Pure: which of the sentences that advice rests on stand elsewhere on the page, or with advice before it. */
function saidAlready({ verdict, cause, peak, advice }) {
  const said = new Set([verdict, cause.text, ...peak.patterns.map(({ sentence }) => sentence)]);
  return advice.map(({ evidence: { sentence } }) => {
    const isSaid = !sentence || said.has(sentence);
    said.add(sentence);
    return isSaid;
  });
}

/* One piece; what nothing predicts cannot be ticked, and has no box. */
function adviceNode(item, at, { links, said, opened, onTick }) {
  const href = links.href(item.evidence.open);
  const id = `advice-${at}`;
  const box =
    item.change == null
      ? null
      : el('input', { type: 'checkbox', id, 'data-change': item.change, on: { change: () => onTick(item.change) } });
  const title = box
    ? el('label', { for: id }, box, el('span', {}, visible(item.title)))
    : el('span', { class: 'advice-plain' }, visible(item.title));
  return el(
    'li',
    { class: 'advice' },
    el(
      'div',
      { class: 'advice-head' },
      title,
      el(
        'span',
        { class: 'advice-figures' },
        figuresNode(item, links),
        confidenceButton({ key: id, word: item.confidence, id: `${id}-why`, opened }),
        href ? el('a', { href }, 'See it') : null,
      ),
    ),
    el('p', { class: 'dim', id: `${id}-why`, hidden: !opened.has(id) }, visible(item.reason)),
    evidenceNode(item.evidence, links, said[at]),
    callLine(item.do),
  );
}

/* What the ticked ones leave, held against the capacity; the sentence above says it. */
function leftNode({ total_bytes_before: before, total_bytes_after: after, capacity_bytes: capacity }) {
  if (after == null || capacity == null) return null;
  const scale = Math.max(before, after, capacity, 1);
  const share = (size) => `${(100 * size) / scale}%`;
  const [within, over, tick] = ['ledger-part', 'ledger-over', 'ledger-capacity'].map((name) =>
    el('span', { class: name }),
  );
  within.style.width = share(Math.min(after, capacity));
  over.style.width = share(Math.max(0, after - capacity));
  tick.style.left = share(capacity);
  return el('span', { class: 'ledger-bar oom-left-over', 'aria-hidden': 'true' }, within, over, tick);
}

/* What the ticked ones come to, in the daemon's words; each that does not apply with its reason. */
function togetherNodes(data, ticked, links) {
  const drawer = links.viewer({ whatif: ticked, drawer: 'whatif' });
  return [
    el('p', { class: 'oom-sum' }, visible(data.sentence)),
    leftNode(data),
    data.changes
      .filter(({ refusal }) => refusal)
      .map(({ refusal }) => el('p', { class: 'caution' }, capital(visible(refusal)))),
    drawer ? el('p', {}, el('a', { href: drawer }, 'See the new curve, and ask the compiler')) : null,
  ];
}

/* Who predicts the ticked ones: of a program its compiled heap, of a snapshot of PyTorch its replay; null: nobody. */
function predictorOf({ module, trace_session: session, trace_host: host, advice }, links) {
  if (module)
    return {
      view: 'memory_viewer/whatif',
      about: { session: module.session, module: module.id, alone: 1, category_rules: '' },
    };
  const memory = advice
    .map(({ evidence }) => links.whole(evidence.saves))
    .find((row) => row?.tool === 'memory_profile')?.memory;
  return session && memory ? { view: 'memory_profile/whatif', about: { session, host: host ?? '', memory } } : null;
}

/* Out: {panel, show(verdict, links, signal), hear(), focus()}. */
export function createAdvice(context) {
  const opened = new Set();
  const list = el('ol', { class: 'advice-list' });
  const rest = el('ol', { class: 'advice-list' });
  const more = el('details', { class: 'folded' }, el('summary', {}, ''), rest);
  const says = el('p', { class: 'advice-says' });
  const together = el('div', { class: 'oom-together', 'aria-live': 'polite' });
  const state = { verdict: null, links: null, asked: null };
  const menu = exportEntries({
    name: 'advice',
    title: 'What will make it fit',
    table: () => ({ columns: COLUMNS, rows: state.verdict?.advice ?? [] }),
  });
  const panel = createPanel('panel-oom-advice', 'What will make it fit?', { menu: () => [menu()] });
  panel.body.append(says, list, more, together);

  const onTick = (change) => {
    const { whatif } = context.route;
    context.choose({
      whatif: whatif.includes(change) ? whatif.filter((each) => each !== change) : [...whatif, change],
    });
  };

  async function drawTogether(ticked) {
    const { verdict, links } = state;
    state.asked?.abort();
    const { signal } = (state.asked = new AbortController());
    const predictor = ticked.length === 0 ? null : predictorOf(verdict, links);
    together.hidden = predictor == null;
    if (together.hidden) {
      fill(together);
      return;
    }
    try {
      const about = { ...predictor.about, change: ticked, capacity_bytes: verdict.fit.capacity_bytes ?? '' };
      const { data } = await get(predictor.view, about, { signal });
      fill(
        together,
        togetherNodes(data, ticked, links),
        button('text-button', () => context.choose({ whatif: [] }), 'Untick all'),
      );
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      fill(together, el('p', { class: 'caution' }, `These cannot be predicted together: ${problemText(error)}`));
    }
  }

  function hear() {
    if (!state.verdict) return null;
    const ticked = [...new Set(context.route.whatif)];
    for (const box of panel.body.querySelectorAll('input[data-change]'))
      box.checked = ticked.includes(box.dataset.change);
    return drawTogether(ticked);
  }

  return {
    panel,
    hear,
    focus() {
      panel.node.scrollIntoView({ block: 'start' });
      panel.body.querySelector('input, summary, a, button')?.focus({ preventScroll: true });
    },
    show(verdict, links) {
      Object.assign(state, { verdict, links });
      const { advice, advice_is_idle: isIdle, advice_sentence: sentence } = verdict;
      panel.node.hidden = advice.length === 0 && (!sentence || verdict.fits === 'yes');
      const about = { links, said: saidAlready(verdict), opened, onTick };
      const nodes = advice.map((item, at) => adviceNode(item, at, about));
      panel.setTitle(verdict.fits === 'yes' ? 'What would save more?' : 'What will make it fit?');
      fill(says, sentence ? links.sentence(sentence, verdict.advice_figures) : '');
      says.hidden = !sentence;
      const atOnce = isIdle ? 0 : AT_ONCE;
      fill(list, nodes.slice(0, atOnce));
      list.hidden = atOnce === 0;
      fill(rest, nodes.slice(atOnce));
      fill(
        more.firstElementChild,
        isIdle ? `Show ${counted(nodes.length, 'possible saving')}` : `${nodes.length - atOnce} more`,
      );
      more.hidden = nodes.length <= atOnce;
      more.open ||= advice.slice(atOnce).some(({ change }) => change != null && context.route.whatif.includes(change));
      return hear();
    },
    stop: () => state.asked?.abort(),
  };
}
