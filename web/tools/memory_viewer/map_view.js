/* SPDX-License-Identifier: Apache-2.0
 * map_view.js: what stands in the panel of the allocation map: the picture and its controls:
 * colour, search. */

import { el, fill } from '../../lib/dom.js';
import { later } from '../../lib/activity.js';
import { isAbort, Problem, problemText } from '../../lib/api.js';
import { bytes, count, counted, percent, spokenBytes, visible } from '../../lib/format.js';
import { around, whole } from '../../lib/range.js';
import { createMap, MIN_BYTES } from '../../widgets/map.js';
import { COLOUR_WORDS, COLOURS } from '../../widgets/map_colours.js';
import { message } from '../../widgets/panel.js';
import { isPhone } from '../../widgets/phone_tabs.js';
import { askFiltered } from './load.js';
import { mergedText, nameOf, unitWord } from './text.js';

const ASK_AFTER_MS = 120;
const MAX_FOUND = 1000;
const ROOM = 0.25;

/* Pure: tooltip of a rectangle or band: name; size and share; source and life. */
export function mapLines(item, space) {
  const share = `${percent(item.bytes, space.peak_bytes)} of the peak`;
  const life =
    item.from === undefined
      ? 'lives for the whole program'
      : `${unitWord(space)}s ${count(item.from)} to ${count(item.to)}`;
  if (item.id === null) return [[mergedText(item)], [`together ${share}`], [life]];
  const padding = item.padding_bytes > 0 ? ` · padding ${bytes(item.padding_bytes)}` : '';
  const source = (item.source ?? '').slice((item.source ?? '').lastIndexOf('/') + 1);
  return [nameOf(item), [`${bytes(item.bytes)} · ${share}${padding}`], source ? [{ name: source }, ` · ${life}`] : [life]];
}

function sentenceOf(item, space) {
  if (item.id === null) return `${counted(item.count, 'buffer')} drawn as one, ${spokenBytes(item.bytes)}.`;
  const life =
    item.from === undefined ? 'alive for the whole program' : `alive from ${unitWord(space)} ${count(item.from)} to ${count(item.to)}`;
  return `${visible(item.name).slice(0, 200)}, ${spokenBytes(item.bytes)}, ${percent(item.bytes, space.peak_bytes).replace(' %', ' percent').replace('<', 'under')} of the peak, ${life}.`;
}

function labelOf(answer, space) {
  return `Allocation map of ${visible(space.name)}: ${counted(answer.rectangle_count, 'buffer')} in ${spokenBytes(answer.height_bytes)} over ${count(answer.step_count)} ${unitWord(space)}s, ${counted(answer.indefinite_count, 'buffer')} for the whole program.`;
}

function legendOf(classes) {
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Colours of the map' },
    classes.map((look) => {
      const square = el('span', { class: 'swatch swatch-any', 'aria-hidden': 'true' });
      square.style.background = look.fill();
      return el('li', {}, square, look.word);
    }),
  );
}

/* panel, isShown(): where it is drawn, and whether it is not folded; actions: onHover(item, mark, lines), onLeave(),
 * onPin(item), onStep(step | null), onHint(). Out: {map, start(), load(), hear(route), setView(), setPlace(), fit(offsets), mark(hover, pin, group),
 * search(direction), focusFind(), nextColour(), destroy()}. */
export function createMapView(view, panel, isShown, actions) {
  const { context, place } = view;
  const byBytes = () => (place.bytes ? { low: place.bytes[0], high: place.bytes[1] } : { low: 0, high: height });
  const drawnPlace = () => ({ moment: place.moment, window: place.shownWindow, offsets: place.offsets, marks: place.marks });
  let height = 1;
  let colour = 'category';
  let find = '';
  let matches = [];
  let asked = { question: '', controller: null, done: null };
  let takeBack = null;

  const map = createMap({
    ...actions,
    onHover: (item, mark) => actions.onHover(item, mark, mapLines(item, view.space)),
    sentence: (item) => sentenceOf(item, view.space),
    onMoment: (step) => place.setMoment(step),
    onWindow: (window, offsets) => place.setWindow(window, offsets),
    onView: ({ from, to, low, high }) => {
      place.setBytes(low <= 0 && high >= height ? null : [low, high]);
      place.setRange([from, to]);
    },
    onAll: () => view.showAll(),
    onOpen: (item) => open(item),
    onWidth: () => asked.question && soon(),
  });
  /* Zooms until the item, or the parts of it, fill the view. */
  const open = (item) => {
    if (item.from === undefined) return;
    place.setBytes(around([item.low_bytes, item.high_bytes], [0, height], MIN_BYTES, item.id === null ? 0 : ROOM));
    place.setRange(around([item.from, item.to], [0, view.space.step_count], 8, item.id === null ? 0 : ROOM));
  };
  const chooser = el(
    'select',
    { class: 'small-select', 'aria-label': 'Colour by', on: { change: () => context.choose({ color: chooser.value === 'category' ? '' : chooser.value }) } },
    COLOURS.map((name) => el('option', { value: name }, `by ${COLOUR_WORDS[name]}`)),
  );
  const input = el('input', {
    class: 'small-field',
    type: 'search',
    placeholder: 'find',
    'aria-label': 'Find buffers on the map',
    on: {
      input: () => context.move({ find: input.value.trim() }),
      keydown: (event) => {
        if (event.key === 'Enter') byMatch(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') input.blur();
        else return;
        event.preventDefault();
      },
    },
  });
  const found = el('span', { class: 'dim', role: 'status' });
  const legend = el('span');
  const controls = el('span', { class: 'map-controls' }, chooser, input, found);
  panel.setAside(legend, controls);
  panel.body.append(map.node);
  /* The same question again has the same answer. */
  const load = () => {
    const { space } = view;
    if (!space || space.replay_error || space.step_unit === 'none' || !isShown()) return null;
    const [from, to] = whole(place.range);
    const [low, high] = place.bytes ? whole(place.bytes) : [null, null];
    const width = Math.ceil(map.width / 64) * 64;
    const params = { space: space.space, width, from, to, low, high, filter: context.route.filter };
    const question = JSON.stringify([view.ask.serial, params]);
    if (question !== asked.question) {
      asked.controller?.abort();
      asked = { question, controller: new AbortController() };
      asked.done = read(params, asked);
    }
    return asked.done;
  };
  const read = async (params, mine) => {
    const { space } = view;
    try {
      const { data } = await askFiltered(view, 'map', params, mine.controller.signal);
      if (view.space !== space) return;
      height = Math.max(1, data.height_bytes);
      view.records.add(data.rectangles.map(recordOf));
      view.records.add(data.indefinite.map((item) => ({ ...item, is_indefinite: true })));
      panel.show();
      map.setColour(colour);
      map.draw(data, labelOf(data, space));
      map.setView({ from: place.range[0], to: place.range[1], ...byBytes() });
      map.setPlace({ ...drawnPlace(), peak: space.peak_step });
      sayTitle(data, space);
      drawLegend();
      if (data.rectangle_count === 0 && place.isWhole && !place.bytes && !(params.filter && data.indefinite.length)) panel.say(message(params.filter ? NOTHING_MATCHES : nothingMoves(space)));
    } catch (error) {
      if (isAbort(error)) return;
      mine.question = '';
      if (!(error instanceof Problem)) throw error;
      if (error.status === 400 && params.filter) return;
      panel.say(message({ kind: 'error', title: 'The map could not be read.', text: problemText(error) }));
    }
  };
  const soon = () => {
    takeBack?.();
    takeBack = later(load, ASK_AFTER_MS);
  };
  const sayTitle = (data, space) => {
    const isMerged = data.rectangles.some((item) => item.id === null);
    panel.setTitle(
      'Allocation map',
      el(
        'span',
        { class: 'dim' },
        ` ${unitWord(space)}s × offset · ${counted(data.rectangle_count, 'buffer')}${isMerged ? ', small ones merged: zoom in' : ''}`,
      ),
    );
  };
  /* The kinds have their legend above the strips, which a phone does not show beside the map. */
  const drawLegend = () => fill(legend, colour === 'category' && !isPhone() ? null : legendOf(map.classes));

  const search = async () => {
    const { space } = view;
    if (!space || !find) {
      matches = [];
      fill(found, '');
      map.setMatches([]);
      return;
    }
    const text = find;
    try {
      const params = { space: space.space, step: 'all', filter: text, sort: 'born', limit: MAX_FOUND };
      const { data } = await view.ask('buffers', params);
      if (text !== find || view.space !== space) return;
      matches = data.rows.map((row) => itemOfRow(row, space));
      view.records.add(data.rows);
      input.removeAttribute('aria-invalid');
      fill(found, data.matched_count === 0 ? 'none found' : `${count(data.matched_count)} found · n, N`);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      matches = [];
      input.setAttribute('aria-invalid', 'true');
      fill(found, problemText(error));
    }
    map.setMatches(matches);
  };
  /* Pins the next match and brings it into view. */
  const byMatch = (direction) => {
    if (matches.length === 0) return;
    const at = matches.findIndex((item) => item.id === view.store.state.pin);
    const next = matches[(at < 0 ? (direction > 0 ? 0 : matches.length - 1) : at + direction + matches.length) % matches.length];
    context.pin(next.id);
    show(next);
  };
  const show = (item) => {
    if (item.from === undefined) return;
    const [from, to] = place.range;
    if (item.to <= from || item.from >= to) place.setRange(around([item.from, item.to], [0, view.space.step_count], to - from, 0));
    const [low, high] = place.bytes ?? [0, height];
    if (item.high_bytes <= low || item.low_bytes >= high)
      place.setBytes(around([item.low_bytes, item.high_bytes], [0, height], high - low, 0));
  };
  const itemOf = (id) => {
    const record = id === null ? null : view.records.get(id);
    return id === null ? null : (map.itemOf(id) ?? (record?.allocation ? itemOfRow(record, view.space) : null));
  };

  const NONE = [];
  let ofGroup = { group: null, items: NONE };
  const itemsOf = (group) => {
    if (group !== ofGroup.group)
      ofGroup = { group, items: group ? group.all.rows.map((row) => itemOfRow(row, view.space)) : NONE };
    return ofGroup.items;
  };

  const hear = (route, isFirst = false) => {
    const next = COLOURS.includes(route.color) ? route.color : 'category';
    if (next === (route.color || 'category')) context.banners.drop('color');
    else if (isFirst)
      context.banners.set('color', { text: `There is no colour by ${visible(route.color).slice(0, 40)} here; colouring by category.` });
    if (next !== colour || isFirst) {
      colour = next;
      chooser.value = next;
      map.setColour(next);
      if (!isFirst) drawLegend();
    }
    if (route.find !== find || isFirst) {
      find = route.find;
      if (document.activeElement !== input) input.value = find;
      takeBack?.();
      if (!isFirst) takeBack = later(search, ASK_AFTER_MS);
    }
  };

  return {
    map,
    load,
    search: byMatch,
    focusFind: () => input.focus(),
    nextColour: () => context.choose({ color: colourAfter(colour) }),
    /* A space was opened. */
    async start() {
      hear(context.route, true);
      await load();
      await search();
    },
    hear,
    setView: () => map.setView({ from: place.range[0], to: place.range[1], ...byBytes() }),
    setPlace: () => map.setPlace(drawnPlace()),
    /* Offsets that are to fill the view. */
    fit: (offsets) => height > 1 && place.setBytes(around(offsets, [0, height], MIN_BYTES, 0)),
    mark: (hover, pin, group) => map.mark({ hover: itemOf(hover), pin: itemOf(pin), group: itemsOf(group) }),
    destroy() {
      takeBack?.();
      map.destroy();
    },
  };
}

/* As it stands in the URL, where the first is left out. */
function colourAfter(colour) {
  const next = COLOURS[(COLOURS.indexOf(colour) + 1) % COLOURS.length];
  return next === COLOURS[0] ? '' : next;
}

/* What is known of a buffer from its rectangle. */
function recordOf(item) {
  return { id: item.id, name: item.name, is_cut: item.is_cut, bytes: item.bytes, padding_bytes: item.padding_bytes, category: item.category, born_step: item.from, dies_step: item.to };
}

/* The rectangle of a row of the table. */
function itemOfRow(row, space) {
  if (row.is_indefinite) return { ...row, from: undefined };
  const low = row.allocation.offset_bytes;
  return { ...row, from: row.born_step, to: row.dies_step ?? space.step_count, low_bytes: low, high_bytes: low + row.bytes };
}

const NOTHING_MATCHES = { title: 'Nothing matches the filter.', text: 'No buffer of any step passes it.' };

function nothingMoves(space) {
  return {
    title: 'Nothing has an offset that changes.',
    text:
      space.indefinite_bytes === 0
        ? `No buffer of ${visible(space.name)} is born or dies.`
        : `Every buffer of ${visible(space.name)} lives for the whole program; the strips above show them by size.`,
  };
}
