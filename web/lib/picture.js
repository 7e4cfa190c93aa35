/* SPDX-License-Identifier: Apache-2.0
 * picture.js: one drawing as a list, for a canvas of any scale and for SVG.
 *
 *   const picture = record(800, 300, (context) => paintBars(context, …));
 *   replay(picture, canvas.getContext('2d'));   toSvg(picture, 'Live at the peak');
 *
 * The recorder takes what paints a canvas, as long as it keeps to this part of a 2D context:
 * fillStyle strokeStyle (colours, linear gradients) lineWidth lineJoin lineCap globalAlpha font textAlign
 * textBaseline, setLineDash, save restore translate scale, beginPath moveTo lineTo closePath rect arc clip
 * fill stroke fillRect strokeRect clearRect (ignored) fillText strokeText measureText. No Path2D. */

const STYLES = {
  fillStyle: '#000000',
  strokeStyle: '#000000',
  lineWidth: 1,
  lineJoin: 'miter',
  lineCap: 'butt',
  globalAlpha: 1,
  font: '13px sans-serif',
  textAlign: 'left',
  textBaseline: 'alphabetic',
};
const CORNERS = { M: 2, L: 2 };

let ruler = null;

function measure(font, text) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = font;
  return ruler.measureText(text);
}

/* Width of a text in CSS pixels. */
export const textWidth = (font, text) => measure(font, text).width;

class Recorder {
  #list = [];
  #clips = [];
  #saved = [];
  #path = [];
  #place = { x: 0, y: 0, scale: 1, clips: [], dash: [] };

  constructor(width, height) {
    Object.assign(this, STYLES);
    this.canvas = { width, height };
  }

  get made() {
    return { width: this.canvas.width, height: this.canvas.height, list: this.#list, clips: this.#clips };
  }

  save() {
    const styles = Object.fromEntries(Object.keys(STYLES).map((name) => [name, this[name]]));
    this.#saved.push([styles, { ...this.#place }]);
  }
  restore() {
    const last = this.#saved.pop();
    if (!last) return;
    Object.assign(this, last[0]);
    this.#place = last[1];
  }
  translate(x, y) {
    const { scale } = this.#place;
    this.#place = { ...this.#place, x: this.#place.x + x * scale, y: this.#place.y + y * scale };
  }
  scale(by) {
    this.#place = { ...this.#place, scale: this.#place.scale * by };
  }
  setLineDash(dash) {
    this.#place = { ...this.#place, dash };
  }

  #at(x, y) {
    return [this.#place.x + x * this.#place.scale, this.#place.y + y * this.#place.scale];
  }
  beginPath() {
    this.#path = [];
  }
  moveTo(x, y) {
    this.#path.push(['M', ...this.#at(x, y)]);
  }
  lineTo(x, y) {
    this.#path.push([this.#path.length ? 'L' : 'M', ...this.#at(x, y)]);
  }
  closePath() {
    this.#path.push(['Z']);
  }
  rect(x, y, width, height) {
    this.#path.push(...boxPath(...this.#at(x, y), width * this.#place.scale, height * this.#place.scale));
  }
  /* Whole circles and parts of them, clockwise. */
  arc(x, y, radius, from, to) {
    const steps = Math.max(4, Math.ceil(Math.abs(to - from) * 8));
    for (let at = 0; at <= steps; at++) {
      const angle = from + ((to - from) * at) / steps;
      this.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
    }
  }
  clip() {
    this.#clips.push(this.#path);
    this.#place = { ...this.#place, clips: [...this.#place.clips, this.#clips.length - 1] };
  }

  #add(op) {
    const { clips, dash, scale } = this.#place;
    this.#list.push({
      alpha: this.globalAlpha,
      clips,
      ...op,
      ...(op.stroke ? { dash: dash.map((px) => px * scale) } : {}),
    });
  }
  #line() {
    const { lineJoin: join, lineCap: cap } = this;
    return { stroke: this.strokeStyle, width: this.lineWidth * this.#place.scale, join, cap };
  }
  #fillPath(path) {
    this.#add({ path, fill: this.fillStyle });
  }
  #strokePath(path) {
    this.#add({ path, ...this.#line() });
  }
  fill(path) {
    if (path instanceof Object) throw new TypeError('a picture takes no Path2D');
    this.#fillPath([...this.#path]);
  }
  stroke(path) {
    if (path instanceof Object) throw new TypeError('a picture takes no Path2D');
    this.#strokePath([...this.#path]);
  }
  fillRect(x, y, width, height) {
    this.#fillPath(boxPath(...this.#at(x, y), width * this.#place.scale, height * this.#place.scale));
  }
  strokeRect(x, y, width, height) {
    this.#strokePath(boxPath(...this.#at(x, y), width * this.#place.scale, height * this.#place.scale));
  }
  clearRect() {}

  measureText(text) {
    return measure(this.font, text);
  }
  #text(text, x, y, ink) {
    const { font, textAlign: align, textBaseline: baseline } = this;
    const [left, top] = this.#at(x, y);
    this.#add({ text: String(text), x: left, y: top, font, align, baseline, scale: this.#place.scale, ...ink });
  }
  fillText(text, x, y) {
    this.#text(text, x, y, { fill: this.fillStyle });
  }
  strokeText(text, x, y) {
    this.#text(text, x, y, this.#line());
  }
  createLinearGradient(x1, y1, x2, y2) {
    const [from, to] = [this.#at(x1, y1), this.#at(x2, y2)];
    const stops = [];
    return { from, to, stops, addColorStop: (share, colour) => stops.push([share, colour]) };
  }
}

function boxPath(x, y, width, height) {
  return [['M', x, y], ['L', x + width, y], ['L', x + width, y + height], ['L', x, y + height], ['Z']];
}

/* {width, height, list, clips} of what `paint(context)` draws on width × height CSS pixels. */
export function record(width, height, paint) {
  const context = new Recorder(width, height);
  paint(context);
  return context.made;
}

/* ---- to a canvas ------------------------------------------------------------- */

function inkOf(context, ink) {
  if (typeof ink === 'string') return ink;
  const gradient = context.createLinearGradient(...ink.from, ...ink.to);
  for (const [share, colour] of ink.stops) gradient.addColorStop(share, colour);
  return gradient;
}

function trace(context, path) {
  context.beginPath();
  for (const [kind, x, y] of path) {
    if (kind === 'M') context.moveTo(x, y);
    else if (kind === 'L') context.lineTo(x, y);
    else context.closePath();
  }
}

function sizedFont(op) {
  return op.scale === 1 ? op.font : op.font.replace(/[\d.]+px/, (px) => `${parseFloat(px) * op.scale}px`);
}

export function replay({ list, clips }, context) {
  for (const op of list) {
    context.save();
    for (const at of op.clips) {
      trace(context, clips[at]);
      context.clip();
    }
    context.globalAlpha = op.alpha;
    if (op.fill) context.fillStyle = inkOf(context, op.fill);
    if (op.stroke) {
      context.strokeStyle = inkOf(context, op.stroke);
      context.setLineDash(op.dash);
      Object.assign(context, { lineWidth: op.width, lineJoin: op.join, lineCap: op.cap });
    }
    if (op.path) {
      trace(context, op.path);
      if (op.fill) context.fill();
      else context.stroke();
    } else {
      Object.assign(context, { font: sizedFont(op), textAlign: op.align, textBaseline: op.baseline });
      if (op.fill) context.fillText(op.text, op.x, op.y);
      else context.strokeText(op.text, op.x, op.y);
    }
    context.restore();
  }
}

/* ---- to SVG ------------------------------------------------------------------ */

const ANCHORS = { left: 'start', start: 'start', center: 'middle', right: 'end', end: 'end' };
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeXml(text) {
  return String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, (sign) => ESCAPES[sign]);
}

const short = (value) => String(Math.round(value * 100) / 100);

function attributes(values) {
  return Object.entries(values)
    .filter(([, value]) => value != null && value !== '')
    .map(([name, value]) => ` ${name}="${escapeXml(typeof value === 'number' ? short(value) : value)}"`)
    .join('');
}

/* "#C8102E33" is a colour and an opacity in SVG. */
function paintOf(name, ink, defs) {
  if (typeof ink !== 'string') {
    const id = `g${defs.length}`;
    const stops = ink.stops.map(
      ([share, colour]) => `<stop${attributes({ offset: String(share), ...paintOf('stop-color', colour, defs) })}/>`,
    );
    const [[x1, y1], [x2, y2]] = [ink.from, ink.to];
    const placed = attributes({ id, gradientUnits: 'userSpaceOnUse', x1, y1, x2, y2 });
    defs.push(`<linearGradient${placed}>${stops.join('')}</linearGradient>`);
    return { [name]: `url(#${id})` };
  }
  const match = /^#([0-9a-f]{6})([0-9a-f]{2})$/i.exec(ink);
  if (!match) return { [name]: ink };
  const opacity = short(parseInt(match[2], 16) / 255);
  return { [name]: `#${match[1]}`, [`${name.replace('-color', '')}-opacity`]: opacity };
}

function pathText(path) {
  return path
    .map(
      ([kind, ...at]) =>
        kind +
        at
          .slice(0, CORNERS[kind] ?? 0)
          .map(short)
          .join(' '),
    )
    .join('');
}

function fontOf(op) {
  const match = /^(?:(\d{3}|bold)\s+)?([\d.]+)px\s+(.+)$/.exec(op.font) ?? [null, '', '13', 'sans-serif'];
  return { 'font-weight': match[1] ?? '', 'font-size': Number(match[2]) * op.scale, 'font-family': match[3] };
}

/* SVG places text by its baseline. */
function baselineOf(op) {
  const { fontBoundingBoxAscent: up = 0, fontBoundingBoxDescent: down = 0 } = measure(op.font, op.text);
  const shift = { top: up, hanging: up, bottom: -down, ideographic: -down, middle: (up - down) / 2 }[op.baseline] ?? 0;
  return op.y + shift * op.scale;
}

function elementOf(op, defs) {
  const ink = op.fill
    ? paintOf('fill', op.fill, defs)
    : {
        fill: 'none',
        ...paintOf('stroke', op.stroke, defs),
        'stroke-width': op.width,
        'stroke-linejoin': op.join,
        'stroke-dasharray': op.dash.join(' '),
      };
  const alpha = op.alpha === 1 ? {} : { opacity: String(op.alpha) };
  if (op.path) return `<path${attributes({ d: pathText(op.path), ...ink, ...alpha })}/>`;
  const place = { x: op.x, y: baselineOf(op), 'text-anchor': ANCHORS[op.align] };
  return `<text${attributes({ ...place, ...fontOf(op), ...ink, ...alpha })}>${escapeXml(op.text)}</text>`;
}

export function toSvg({ width, height, list, clips }, title) {
  const defs = clips.map((path, at) => `<clipPath id="c${at}"><path d="${pathText(path)}"/></clipPath>`);
  const body = list.map((op) =>
    op.clips.reduceRight((inner, at) => `<g clip-path="url(#c${at})">${inner}</g>`, elementOf(op, defs)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ` +
      `${short(width)} ${short(height)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<defs>${defs.join('')}</defs>`,
    ...body,
    '</svg>\n',
  ].join('\n');
}
