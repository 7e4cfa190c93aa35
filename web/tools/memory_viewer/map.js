/* SPDX-License-Identifier: Apache-2.0
 * map.js: the panel of the allocation map: the picture and its colours. What it asks for fills the stripes of the
 * curve too, in whose place it stands. */

import { later, nextFrame } from '../../lib/activity.js';
import { isAbort, Problem, problemText } from '../../lib/api.js';
import { el, fill } from '../../lib/dom.js';
import { baseName, bytes, count, counted, percent, spokenBytes, visible } from '../../lib/format.js';
import { lazy } from '../../lib/lazy.js';
import { around, MIN_BYTES, whole } from '../../lib/range.js';
import { explainEntry } from '../../widgets/explain.js';
import { exportEntries } from '../../widgets/export_menu.js';
import { COLOUR_WORDS, COLOURS } from '../../widgets/map_colours.js';
import { createPanel, message } from '../../widgets/panel.js';
import { isPhone } from '../../widgets/phone_tabs.js';
import { capacityLabel } from './answer.js';
import { askFiltered } from './load.js';
import { itemOfRow, itemsOf, recordOf, stripesOf } from './map_items.js';
import { mergedText, nameOf, unitWord } from './text.js';

const ASK_AFTER_MS = 120;
const ROOM = 0.25;
const BESIDE_PX = 86; // axis and edges

/* Pure: tooltip of a rectangle or band: name; size and share; source and life. */
export function mapLines(item, space) {
  const share = `${percent(item.bytes, space.peak_bytes)} of the peak`;
  const life =
    item.from === undefined
      ? 'lives for the whole program'
      : `${unitWord(space)}s ${count(item.from)} to ${count(item.to)}`;
  if (item.id == null) return [[mergedText(item)], [`together ${share}`], [life]];
  const padding = item.padding_bytes > 0 ? ` · padding ${bytes(item.padding_bytes)}` : '';
  const source = baseName(item.source);
  return [
    nameOf(item),
    [`${bytes(item.bytes)} · ${share}${padding}`],
    source ? [{ name: source }, ` · ${life}`] : [life],
  ];
}

/* Pure: what is said of the stripe under the pointer, beside the reading of the step. */
export function stripeLine(item, space) {
  const [name, figures, [source]] = mapLines(item, space);
  return [name[0], ` · ${figures[0]}`, ...(source.name ? [' · ', source] : [])];
}

function sentenceOf(item, space) {
  if (item.id == null) return `${counted(item.count, 'buffer')} drawn as one, ${spokenBytes(item.bytes)}.`;
  const life =
    item.from === undefined
      ? 'alive for the whole program'
      : `alive from ${unitWord(space)} ${count(item.from)} to ` + `${count(item.to)}`;
  return (
    `${visible(item.name).slice(0, 200)}, ${spokenBytes(item.bytes)}, ` +
    `${percent(item.bytes, space.peak_bytes).replace(' %', ' percent').replace('<', 'under')} of the peak, ${life}.`
  );
}

function labelOf(answer, space) {
  return (
    `Allocation map of ${visible(space.name)}: ${counted(answer.rectangle_count, 'buffer')} in ` +
    `${spokenBytes(answer.height_bytes)} over ${count(answer.step_count)} ${unitWord(space)}s, ` +
    `${counted(answer.indefinite_count, 'buffer')} for the whole program.`
  );
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

/* ---- colours ---- */

/* As it stands in the URL, where the first is left out. */
const inUrl = (colour) => (colour === COLOURS[0] ? '' : colour);

/* The choice of a colour and the legend. */
function createColours(context, map) {
  let colour = COLOURS[0];
  const legend = el('span');
  const chooser = el(
    'select',
    {
      class: 'small-select',
      'aria-label': 'Colour by',
      on: { change: () => context.choose({ color: inUrl(chooser.value) }) },
    },
    COLOURS.map((name) => el('option', { value: name }, `by ${COLOUR_WORDS[name]}`)),
  );
  /* The kinds have their legend above the strips, which a phone does not show beside the map. */
  const draw = () =>
    fill(legend, !map.now || (colour === COLOURS[0] && !isPhone()) ? null : legendOf(map.now.classes()));
  return {
    chooser,
    legend,
    draw,
    next: () =>
      context.choose({ stack: 'offsets', color: inUrl(COLOURS[(COLOURS.indexOf(colour) + 1) % COLOURS.length]) }),
    hear(wanted, isFirst = false) {
      const next = COLOURS.includes(wanted) ? wanted : COLOURS[0];
      if (next === (wanted || COLOURS[0])) context.banners.drop('color');
      else if (isFirst)
        context.banners.set('color', {
          text: `There is no colour by ${visible(wanted).slice(0, 40)} here; colouring ` + `by category.`,
        });
      if (next === colour && !isFirst) return;
      colour = next;
      chooser.value = next;
      map.setColour(next);
      if (!isFirst) draw();
    },
  };
}

/* ---- the panel ---- */

/* The map of widgets/map.js, which is loaded once its picture is to be seen: what was said to it until then it hears
   then.
 * actions: of createMap; onThere(node). */
function createLateMap(actions, onThere) {
  const said = new Map();
  const make = ({ createMap }) => {
    const map = createMap(actions);
    onThere(map.node);
    for (const [name, values] of said) map[name](...values);
    return map;
  };
  const part = lazy(() => import('../../widgets/map.js'), make);
  const say =
    (name) =>
    (...values) => {
      said.delete(name); // in the order in which it was said last
      said.set(name, values);
      return part.now?.[name](...values);
    };
  const tell = Object.fromEntries(
    ['draw', 'setView', 'setColour', 'setMatches', 'setPlace', 'setLimit', 'mark', 'showStep'].map((name) => [
      name,
      say(name),
    ]),
  );
  return {
    ...tell,
    get now() {
      return part.now;
    },
    /* Its picture is to be seen; then() once it is. */
    need: (then) => part.with(then),
  };
}

/* What is asked of the map: the steps and offsets in view. onData(data, params), onProblem(error, params).
 * Out: {load() → once it is drawn, isAsked()}. The same question again has the same answer. */
function createLoader({ program, context, place }, { widthOf, onData, onProblem }) {
  let asked = { question: '', controller: null, done: null };
  const read = async (params, mine) => {
    const { space } = program;
    try {
      const { data } = await askFiltered(program, 'map', params, mine.controller.signal);
      if (program.space === space) onData(data, params);
    } catch (error) {
      if (isAbort(error)) return;
      mine.question = '';
      if (!(error instanceof Problem)) throw error;
      onProblem(error, params);
    }
  };
  return {
    isAsked: () => asked.question !== '',
    load() {
      const { space } = program;
      if (!space || space.replay_error || space.step_unit === 'none') return null;
      const [from, to] = whole(place.range);
      const [bottom, top] = place.bytes ? whole(place.bytes) : [null, null];
      const width = Math.ceil(widthOf() / 64) * 64;
      const params = { space: space.space, width, from, to, low: bottom, high: top, filter: context.route.filter };
      const question = JSON.stringify([program.ask.serial, params]);
      if (question !== asked.question) {
        asked.controller?.abort();
        asked = { question, controller: new AbortController() };
        asked.done = read(params, asked);
      }
      return asked.done;
    },
  };
}

/* What the map does with the place: it sets it, and shows it. height(): bytes of all offsets. */
function placeOnMap({ program, place }, height) {
  const fitBytes = (offsets, room) => place.setBytes(around(offsets, [0, height()], MIN_BYTES, room));
  return {
    shown: () => ({ moment: place.moment, window: place.shownWindow, offsets: place.offsets, marks: place.marks }),
    inView: () => ({
      from: place.range[0],
      to: place.range[1],
      low: place.bytes?.[0] ?? 0,
      high: place.bytes?.[1] ?? height(),
    }),
    fitBytes,
    setView({ from, to, low: bottom, high: top }) {
      place.setBytes(bottom <= 0 && top >= height() ? null : [bottom, top]);
      place.setRange([from, to]);
    },
    /* Zooms until the item, or the parts of it, fill the view. */
    open(item) {
      if (item.from === undefined) return;
      const room = item.id == null ? 0 : ROOM;
      fitBytes([item.low_bytes, item.high_bytes], room);
      place.setRange(around([item.from, item.to], [0, program.space.step_count], 8, room));
    },
    /* Moves until the item is in view. */
    bring(item) {
      if (item.from === undefined) return;
      const [from, to] = place.range;
      if (item.to <= from || item.from >= to)
        place.setRange(around([item.from, item.to], [0, program.space.step_count], to - from, 0));
      const [bottom, top] = place.bytes ?? [0, height()];
      if (item.high_bytes <= bottom || item.low_bytes >= top)
        place.setBytes(around([item.low_bytes, item.high_bytes], [0, height()], top - bottom, 0));
    },
  };
}

function titleOf(data, space) {
  const isMerged = data.rectangles.some((item) => item.id == null);
  const merged = isMerged ? ', small ones merged: zoom in' : '';
  return el(
    'span',
    { class: 'dim' },
    ` ${unitWord(space)}s × offset · ` + `${counted(data.rectangle_count, 'buffer')}${merged}`,
  );
}

/* What the map does; at: of placeOnMap. */
const actsOf = ({ program, place }, actions, at) => ({
  ...actions,
  onHover: (item) => actions.onHover(item, mapLines(item, program.space)),
  sentence: (item) => sentenceOf(item, program.space),
  onMoment: (step) => place.setMoment(step),
  onWindow: (window, offsets) => place.setWindow(window, offsets),
  onView: at.setView,
  onAll: () => place.showAll(),
  onOpen: at.open,
});

/* page: {program: what is open, context, place, records, width() of the page, pinned() → id | null}; actions:
   onHover(item, lines), onLeave(),
 * onPin(item), onCentre() the pin, onStep(step | null), onBuffers(those with a stripe, are they a part?), onHint(),
 * onDraw(). Out: {panel, load(), show(), start(route), hear(route), setView(), setPlace(), setLimit(), fit(offsets),
 * mark(hover, pin, group), setMatches(items), bring(item) into view, showStep(step), nextColour(), cancel(),
 * destroy()}.
 */
export function createMapPanel(page, actions) {
  const { program, context, place, records, pinned } = page;
  let height = 1;
  let takeBack = null;
  const at = placeOnMap(page, () => height);
  const onWidth = () => {
    if (!loader.isAsked()) return;
    takeBack?.();
    takeBack = later(loader.load, ASK_AFTER_MS);
  };
  const map = createLateMap({ ...actsOf(page, actions, at), onWidth }, (node) => panel.body.append(node));
  const exports = exportEntries({
    name: 'map',
    title: 'Allocation map',
    drawing: () => (panel.body.hidden ? null : (map.now?.drawing() ?? null)),
    table: () => map.now.table(),
  });
  const panel = createPanel('panel-map', 'Allocation map', {
    hasReading: true,
    menu: () => [
      exports(),
      { word: 'Show all', key: '0', run: () => place.showAll() },
      { word: 'Next colour', key: 'c', run: colours.next },
      {
        word: 'Centre the pin',
        key: 'f',
        run: () => actions.onCentre(),
        why: pinned() == null ? 'nothing is pinned' : '',
      },
      explainEntry('map'),
    ],
  });
  const colours = createColours(context, map);
  panel.node.dataset.explain = 'map';
  panel.setAside(colours.legend, el('span', { class: 'map-controls' }, colours.chooser));

  const onData = (data, { filter }) => {
    const { space } = program;
    height = Math.max(1, data.height_bytes);
    records.add(data.rectangles.map(recordOf));
    records.add(data.indefinite.map((item) => ({ ...item, is_indefinite: true })));
    panel.show();
    map.draw(data, labelOf(data, space));
    map.setView(at.inView());
    map.setPlace({ ...at.shown(), peak: space.peak_step });
    map.setLimit(limitOf(program));
    panel.setTitle('Allocation map', titleOf(data, space));
    colours.draw();
    if (data.rectangle_count === 0 && place.isWhole && !place.bytes && !(filter && data.indefinite.length))
      panel.say(message(filter ? NOTHING_MATCHES : nothingMoves(space)));
    if (!place.bytes) actions.onBuffers(stripesOf(data), Boolean(filter));
    nextFrame(actions.onDraw);
  };
  const onProblem = (error, { filter }) => {
    /* A filter that cannot be read is explained where it is typed. */
    if (error.status === 400 && filter) return;
    panel.say(message({ kind: 'error', title: 'The map could not be read.', text: problemText(error) }));
  };
  /* Where the map does not stand, its picture is as wide as the page. */
  const widthOf = () => (map.now?.node.clientWidth ? map.now.width() : Math.max(64, page.width() - BESIDE_PX));
  const loader = createLoader(page, { widthOf, onData, onProblem });
  const itemOf = (id) => {
    const record = id == null ? null : records.get(id);
    return id == null ? null : (map.now?.itemOf(id) ?? (record?.allocation ? itemOfRow(record, program.space) : null));
  };

  return {
    panel,
    load: loader.load,
    /* Its picture is to be seen. */
    show: () =>
      map.now ||
      map.need(() => {
        colours.draw();
        actions.onDraw();
      }),
    /* A space was opened. */
    async start(route) {
      colours.hear(route.color, true);
      await loader.load();
    },
    hear(route) {
      colours.hear(route.color);
    },
    setView: () => map.setView(at.inView()),
    setPlace: () => map.setPlace({ ...at.shown(), peak: program.space?.peak_step ?? null }),
    setLimit: () => map.setLimit(limitOf(program)),
    /* Offsets that are to fill the view. */
    fit: (offsets) => height > 1 && at.fitBytes(offsets, 0),
    mark: (hover, pin, group) =>
      map.mark({ hover: itemOf(hover), pin: itemOf(pin), group: itemsOf(group, program.space) }),
    showStep: map.showStep,
    setMatches: map.setMatches,
    bring: at.bring,
    nextColour: colours.next,
    cancel: () => map.now?.cancel() ?? false,
    destroy() {
      takeBack?.();
      map.now?.destroy();
    },
  };
}

/* Where the capacity lies among offsets: what lives from begin to end has none, and takes its part of it. */
function limitOf({ space, capacity }) {
  if (!capacity || !space) return null;
  const { indefinite_bytes: whole } = space;
  const less = whole > 0 ? ` less ${bytes(whole)}` : '';
  const text = capacityLabel(space, capacity);
  return {
    bytes: capacity.bytes - whole,
    text: `${text}${less}${less && ' for the whole program'}`,
    short: `${text}${less}`,
    isOver: space.fit.word === 'over',
  };
}

const NOTHING_MATCHES = { title: 'Nothing matches the filter.', text: 'No buffer at any step passes it.' };

function nothingMoves(space) {
  return {
    title: 'Nothing has an offset that changes.',
    text:
      space.indefinite_bytes === 0
        ? `No buffer of ${visible(space.name)} is born or dies.`
        : `Every buffer of ${visible(space.name)} lives for the whole program; the strips below show them by size.`,
  };
}
