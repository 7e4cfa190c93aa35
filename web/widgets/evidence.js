/* SPDX-License-Identifier: Apache-2.0
 * evidence.js: a figure of the verdict opens its evidence, as the core says it: a page with rows that add up to it, the
 * place in the text, or a card that says how it is worked out. */

import { el } from '../lib/dom.js';
import { bytes, counted, exactBytes, visible } from '../lib/format.js';
import { explained, withText } from './explain.js';

/* What a click shows, for the title of a figure. */
function whereWords({ kind, sentence, count, sum_bytes: sum, rest_bytes: rest, rest: words, column }) {
  if (kind !== 'buffers') return sentence;
  const shown = `Shows ${counted(count, 'buffer')}, ${bytes(sum)}${column === 'padding' ? ' of padding' : ''}`;
  if (!rest) return `${shown}.`;
  return rest > 0
    ? `${shown}; the other ${bytes(rest)}: ${visible(words)}.`
    : `${shown}, ${bytes(-rest)} more than this: ${visible(words)}.`;
}

/* Pure: every evidence of a verdict, as its number there, by the bytes of its figure, of those of its text `failure`
   too; of equal figures the
 * first. */
function byBytesOf(
  { fit, where, where_bytes: whole, where_evidence: sum, categories, peak, ledger, cause, further },
  failure,
) {
  const all = [
    ...['needed', 'capacity', 'over', 'free'].map((name) => [fit[`${name}_bytes`], fit.evidence[name]]),
    [whole, sum],
    ...[...where, ...categories, ...peak.patterns, ...peak.groups, ...ledger.bars, { ...peak }, cause].map((row) => [
      row.bytes,
      row.evidence,
    ]),
    ...[...peak.patterns.flatMap(({ figures }) => figures), ...further].map((figure) => [
      figure.bytes,
      figure.evidence,
    ]),
    [failure?.verdict.over_bytes ?? null, fit.evidence.over],
    ...Object.keys(failure?.ranges ?? {}).map((key) => [
      typeof failure[key] === 'number' ? failure[key] : null,
      { kind: 'text', tool: 'oom', key, sentence: 'The error text states it.', file: null, range: failure.ranges[key] },
    ]),
  ];
  const found = new Map();
  for (const [value, evidence] of all)
    if (value != null && evidence != null && !found.has(value)) found.set(value, evidence);
  return found;
}

/* An evidence is its number in `verdict.evidence`, where each stands once; or one that the page made.
 * figures: of marked.js, whose text is that of `failure`; both null without a text. Out: {whole(evidence) → all of it,
 * or undefined; viewer(more), tool(name, more), href(evidence) → address or null, figure(value, evidence, text,
 * className) → node, sentence(text, figures) → nodes, of(bytes) → evidence or null, cardOf(number) → card of
 * explain.js}. */
export function evidenceLinks(context, verdict, figures, failure = null) {
  const { capacity } = context.route;
  const {
    module,
    session,
    file: ownFile,
    trace_session: ofTrace,
    profile_session: ofProfiles,
    trace_host: ofHost,
  } = verdict;
  const cards = [];
  const known = byBytesOf(verdict, failure);
  const whole = (evidence) => (typeof evidence === 'number' ? verdict.evidence[evidence] : evidence);
  const viewer = (more) =>
    module ? context.link(module.session, { tool: 'memory_viewer', module: module.id, capacity, ...more }) : null;
  const tool = (name, more = {}) => {
    if (name === 'memory_viewer') return viewer(more);
    const place = { memory_profile: ofTrace, device_memory: ofProfiles }[name] ?? session;
    const host = name === 'memory_profile' && ofHost ? { host: ofHost } : {};
    return place ? context.link(place, { tool: name, ...host, ...more }) : null;
  };
  const isOwnText = ({ kind, file }) => kind === 'text' || (file != null && file === ownFile);
  function href(of) {
    const evidence = whole(of);
    if (!evidence?.tool) return null;
    const { kind, space, filter, view, file, change, memory, time_ps: time } = evidence;
    if (kind === 'change')
      return evidence.tool !== 'memory_viewer' ? null : viewer({ space, whatif: [change], drawer: 'whatif' });
    if (kind === 'buffers')
      return viewer({
        space,
        filter,
        pin: /^group:\w+$/.test(filter) ? { kind: 'g', id: filter.slice('group:'.length) } : null,
      });
    if (evidence.tool === 'oom') return isOwnText(evidence) ? null : tool('oom', { file: file ?? '' });
    return tool(evidence.tool, {
      filter: filter ?? '',
      view: view ?? '',
      files: file == null ? [] : [file],
      memory: memory ?? '',
      ...(Number.isInteger(time) ? { time } : {}),
    });
  }
  function figure(value, of, text = bytes(value), className = 'strong') {
    const evidence = whole(of);
    if (!evidence) return el('span', { class: `figure ${className}`, title: exactBytes(value) }, text);
    const address = href(evidence);
    if (address)
      return el(
        'a',
        {
          href: address,
          class: `figure figure-link ${className}`,
          title: `${exactBytes(value)}. ${whereWords(evidence)}`,
        },
        text,
      );
    if (figures && evidence.key && evidence.kind === 'text') return figures.node(value, evidence.key, className, text);
    cards.push({ value, evidence });
    return explained(`evidence:${cards.length - 1}`, value, text, `figure-link ${className}`);
  }
  return {
    whole,
    viewer,
    tool,
    href,
    figure,
    of: (value) => known.get(value) ?? null,
    /* A sentence of the core with its sizes as figures. */
    sentence(text, mentions) {
      const nodes = [];
      let from = 0;
      for (const mention of mentions) {
        const at = text.indexOf(mention.text, from);
        if (at < 0) continue;
        withText(nodes, visible(text.slice(from, at))).push(figure(mention.bytes, mention.evidence, mention.text, ''));
        from = at + mention.text.length;
      }
      return withText(nodes, visible(text.slice(from)));
    },
    cardOf(number) {
      const card = cards[Number(number)];
      if (!card) return null;
      const { value, evidence } = card;
      return {
        title: bytes(value),
        formula: whereWords(evidence),
        inputs: [{ name: 'this figure', bytes: value }],
        file: evidence.file ?? '',
        field: evidence.range
          ? `bytes ${evidence.range[0]} to ${evidence.range[1]}`
          : evidence.device
            ? `device ${evidence.device}`
            : '',
      };
    },
  };
}
