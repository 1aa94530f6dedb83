// What all panels share: the data, elements, words and numbers, and going from one panel to another.
// Every text of the data reaches the page through textContent or a canvas, so none of it is ever code.

const data = JSON.parse(document.getElementById('data').textContent);

// Files that are shown as they are may hold anything in any place.
const list = (x) => (Array.isArray(x) ? x : []);
const text = (x) => (typeof x === 'string' ? x : typeof x === 'number' || typeof x === 'boolean' ? String(x) : '');
const number = (x, fallback = 0) => (typeof x === 'number' && Number.isFinite(x) ? x : fallback);
const object = (x) => (x && typeof x === 'object' && !Array.isArray(x) ? x : {});

/** A browser lays out a text of megabytes for seconds. */
const mostLetters = 10000;
const cut = (words) => (typeof words === 'string' && words.length > mostLetters ? words.slice(0, mostLetters) + '…' : words);

/** What `make` makes of the first of many, which is as much as a browser lays out soon, and how many more there are. */
function upTo(most, many, make) {
  const made = many.slice(0, most).map(make);
  if (many.length > most) made.push(el('p', { class: 'hint' }, `and ${(many.length - most).toLocaleString('en')} more`));
  return made;
}

/** An element with properties, handlers ({on: {click}}) and children, which are elements or texts. */
function el(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === false) continue;
    if (name === 'on') for (const [event, handler] of Object.entries(value)) made.addEventListener(event, handler);
    else if (name === 'class') made.className = value;
    else if (name === 'style') Object.assign(made.style, value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) made.append(cut(child));
  return made;
}

function link(words, action, title) {
  return el('button', { class: 'link', type: 'button', title, on: { click: (event) => { event.stopPropagation(); action(); } } }, words);
}

function empty(message, command) {
  return el('div', { class: 'empty' }, el('p', null, message), command ? el('code', null, command) : null);
}

const plural = (count, word, many = word + 's') => `${count.toLocaleString('en')} ${count === 1 ? word : many}`;

function timeText(ns) {
  const size = Math.abs(ns);
  const [scale, unit] = size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, 'µs'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  const scaled = ns / scale;
  return `${scale === 1 ? Math.round(scaled) : Number(scaled.toPrecision(4))} ${unit}`;
}

function bytesText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (Math.abs(bytes) >= 1024 && at + 1 < units.length) { bytes /= 1024; ++at; }
  return `${Number(bytes.toPrecision(4))} ${units[at]}`;
}

/** A number of a tensor; NaN and the infinities come as words. */
function valueText(x) {
  if (typeof x === 'string') return x;
  if (typeof x !== 'number') return '';
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
  return String(Number(x.toPrecision(7)));
}

/** The index after which `isBefore` is false, in a list that is ordered by it. */
function lowerBound(length, isBefore) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1; else high = middle;
  }
  return low;
}

// Colours ----------------------------------------------------------------------------------------------------------

const theme = { values: {}, isDark: false };

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  theme.isDark = document.documentElement.dataset.theme === 'dark';
  for (const name of ['back', 'paper', 'ink', 'dim', 'line', 'soft', 'accent', 'accent-soft', 'good', 'bad', 'bad-soft', 'warn', 'raw',
    'war', 'waw', 'explicit', 'critical', 'mark', 'wait'])
    theme.values[name] = style.getPropertyValue('--' + name).trim();
}
const colour = (name) => theme.values[name] || '#888';

const hues = new Map();
/** The same for the same name, apart for the first ten or so. */
function hueOf(name) {
  if (!hues.has(name)) hues.set(name, (hues.size * 137.508 + 215) % 360);
  return hues.get(name);
}
const fillOf = (name) => `hsl(${hueOf(name).toFixed(0)} ${theme.isDark ? '42% 42%' : '62% 74%'})`;

// Without a prototype: a file may name what every object has.
const edgeColours = Object.assign(Object.create(null), { raw: 'raw', war: 'war', waw: 'waw', explicit: 'explicit' });
const edgeWords = Object.assign(Object.create(null), { raw: 'read after write', war: 'write after read', waw: 'write after write', explicit: 'explicit' });
const edgeColour = (kind) => colour(edgeColours[kind] || 'explicit');

// Tooltip ----------------------------------------------------------------------------------------------------------

const tip = document.getElementById('tip');
function showTip(event, words) {
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = cut(words);
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18) + 'px';
}
const hideTip = () => { tip.hidden = true; };

// The source -------------------------------------------------------------------------------------------------------

const files = list(object(data.code).files).map((file) => ({ name: text(object(file).name), text: text(object(file).text) }));
const fileLines = new Map();
function linesOf(fileName) {
  if (!fileLines.has(fileName)) {
    const file = files.find((each) => each.name === fileName);
    fileLines.set(fileName, file && file.text ? file.text.split('\n') : []);
  }
  return fileLines.get(fileName);
}

/** "file:line:col" of a location, which is an object or such a text already. */
function placeText(location) {
  if (typeof location === 'string') return location;
  const { file, line, column } = object(location);
  return text(file) + (number(line) ? `:${line}` : '') + (number(column) ? `:${column}` : '');
}
function parsePlace(location) {
  if (typeof location !== 'string') {
    const { file, line } = object(location);
    return { file: text(file), line: number(line) };
  }
  const parts = /^(.*?):(\d+)(?::\d+)?$/.exec(location);
  return parts ? { file: parts[1], line: Number(parts[2]) } : { file: location, line: 0 };
}
const shortPlace = (location) => placeText(location).replace(/^.*\//, '');

/** A place that leads to the Code panel, if that knows the file. */
function placeLink(location) {
  const place = parsePlace(location);
  if (!place.file) return null;
  return linesOf(place.file).length
    ? link(shortPlace(location), () => go('code', place), placeText(location))
    : el('span', { class: 'mono', title: placeText(location) }, shortPlace(location));
}

/** The lines around a location, its own marked. */
function excerpt(location, around = 3) {
  const place = parsePlace(location);
  const known = object(object(location).excerpt);
  let first = Math.max(1, number(known.first, 1)), lines = list(known.lines).map(text);
  if (!lines.length) {
    first = Math.max(1, place.line - around);
    lines = place.line ? linesOf(place.file).slice(first - 1, place.line + around) : [];
  }
  if (!lines.length) return null;
  return el('div', { class: 'source' }, ...upTo(50, lines, (line, at) => el('div', { class: 'row' + (first + at === place.line ? ' here' : '') },
    el('span', { class: 'n' }, String(first + at)), el('span', { class: 't' }, line))));
}

// A list of which only what is seen is made ------------------------------------------------------------------------

/** Rows of one height; `make(number)` gives the element of one. */
class LongList {
  constructor(rowHeight, make) {
    this.rowHeight = rowHeight;
    this.make = make;
    this.inner = el('div', { class: 'inner' });
    this.element = el('div', { class: 'list', tabindex: '0' }, this.inner);
    this.element.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.setLength(0);
  }
  setLength(length) {
    this.length = length;
    // Browsers hold no element higher than some 30 million pixels.
    this.scale = Math.min(1, 2e7 / Math.max(1, length * this.rowHeight));
    this.inner.style.height = length * this.rowHeight * this.scale + 'px';
    this.draw();
  }
  draw() {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.scale / this.rowHeight) - 4);
    const last = Math.min(this.length, first + Math.ceil(clientHeight / this.rowHeight) + 9);
    const rows = [];
    for (let row = first; row < last; ++row) {
      const made = this.make(row);
      made.style.top = (this.scale === 1 ? row * this.rowHeight : scrollTop + (row - first - 4) * this.rowHeight) + 'px';
      made.style.height = this.rowHeight + 'px';
      rows.push(made);
    }
    this.inner.replaceChildren(...rows);
  }
  reveal(row) {
    const top = row * this.rowHeight * this.scale, { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * this.rowHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 3);
    this.draw();
  }
}

// Tasks ------------------------------------------------------------------------------------------------------------

const graph = (() => {
  const from = object(data.graph), names = list(from.names);
  const name = (at) => text(names[at]);
  const tasks = list(from.tasks).map((task, index) => ({
    index, kernel: name(task.kernel) || '(dummy)', state: text(task.state), grid: name(task.grid), source: name(task.source),
    begin: task.begin, length: task.length, critical: task.critical, scope: task.scope,
    arguments: list(task.arguments).map((each) => ({
      name: name(each.name), type: name(each.type), value: each.value, shape: name(each.shape), role: name(each.role),
      buffer: number(each.buffer), bytes: number(each.bytes),
    })),
    before: [], after: [],
  }));
  const edges = list(from.edges).map(([source, target, kind, tensor, critical]) => ({
    from: source, to: target, kind: name(kind), tensor: name(tensor), critical: critical === 1,
  }));
  for (const edge of edges) {
    tasks[edge.from].after.push(edge);
    tasks[edge.to].before.push(edge);
  }
  return { tasks, edges, critical: number(from.critical_us) * 1e3, leftOut: number(from.left_out), notUnderstood: number(from.not_understood), isThere: !!data.graph };
})();

/** What is known of a task, for the side of a panel. */
function taskDetails(index, here) {
  const task = graph.tasks[index];
  if (!task) return [el('p', { class: 'dim' }, `Nothing is known of task ${index}.`)];
  const other = (edge, at) => el('tr', null,
    el('td', null, link(`${at}: ${graph.tasks[at].kernel}`, () => go(here, { task: at }))),
    el('td', { style: { color: `var(--${edgeColours[edge.kind] || 'explicit'})` } }, (edgeWords[edge.kind] || edge.kind) + (edge.tensor ? ' of ' + edge.tensor : '')));
  const edgeTable = (title, edges, side) => edges.length === 0 ? null : el('div', null, el('h3', null, `${title} (${edges.length})`),
    el('table', null, ...upTo(40, edges, (edge) => other(edge, edge[side]))));
  const hasDump = list(object(data.arguments).entries).some((entry) => entry.task === index);
  return [
    el('h2', null, task.kernel),
    el('p', { class: 'dim' }, `task ${index}, ${task.state}${task.critical ? ', on the critical path' : ''}`),
    el('dl', null,
      el('dt', null, 'grid'), el('dd', null, task.grid || '1'),
      ...(task.begin >= 0 ? [el('dt', null, 'begins'), el('dd', null, timeText(task.begin * 1e3)), el('dt', null, 'takes'), el('dd', null, timeText(task.length * 1e3))]
        : [el('dt', null, 'time'), el('dd', null, 'did not run')]),
      ...(task.source ? [el('dt', null, 'submitted'), el('dd', null, placeLink(task.source))] : [])),
    el('h3', null, 'Arguments'),
    el('table', null, ...upTo(500, task.arguments, (each) => el('tr', null, el('td', { class: 'mono' }, each.name),
      el('td', { class: 'mono' }, each.value !== undefined ? `${each.type} = ${each.value}` : `${each.role} ${each.type}[${each.shape}]`)))),
    hasDump && here !== 'arguments' ? el('p', null, link('Look at their values', () => go('arguments', { task: index }))) : null,
    here !== 'graph' && graph.isThere ? el('p', null, link('Show it in the graph', () => go('graph', { task: index }))) : null,
    here !== 'timeline' && data.timeline ? el('p', null, link('Show it in the timeline', () => go('timeline', { task: index }))) : null,
    edgeTable('Waits for', task.before, 'from'), edgeTable('Is waited for by', task.after, 'to'),
  ].filter(Boolean);
}

// Panels -----------------------------------------------------------------------------------------------------------

const panels = []; // {id, title, count, isBad, make(container) -> {show, search, go, takesKeys() -> elements}}
const made = new Map();
let current = null;

/** Goes to a panel, and there to something. */
function go(id, what) {
  const panel = panels.find((each) => each.id === id);
  if (!panel) return;
  if (!made.has(id)) {
    const container = el('section', { class: 'panel', id: 'panel-' + id, role: 'tabpanel', 'aria-label': panel.title });
    document.getElementById('main').append(container);
    let handle = {};
    try {
      handle = panel.make(container) || {};
    } catch (error) {
      console.warn(error);
      container.replaceChildren(empty(`This panel cannot be drawn: ${error.message}. The file it is made from is not what it should be.`));
    }
    made.set(id, { container, handle });
  }
  for (const [other, { container }] of made) container.hidden = other !== id;
  for (const tab of document.querySelectorAll('#tabs button')) {
    tab.setAttribute('aria-selected', String(tab.dataset.panel === id));
    if (tab.dataset.panel === id) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  current = id;
  hideTip();
  const { handle } = made.get(id);
  document.getElementById('search').disabled = !handle.search;
  document.getElementById('matches').textContent = '';
  try {
    if (handle.show) handle.show();
    if (what && handle.go) handle.go(what);
    const wanted = document.getElementById('search').value;
    if (handle.search && !what) handle.search(wanted, 0);
  } catch (error) {
    console.warn(error);
  }
  if (location.hash !== '#' + id) history.replaceState(null, '', '#' + id);
}

function tellMatches(count, at) {
  document.getElementById('matches').textContent = count === null ? '' : count === 0 ? 'none' : at === undefined ? `${count}` : `${at + 1} of ${count}`;
}
