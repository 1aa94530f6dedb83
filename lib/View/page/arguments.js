// Arguments: every dumped tensor as numbers, histogram and heat map; before beside after; what differs from another run.

const dumped = (() => {
  const from = object(data.arguments), names = list(from.names), contents = list(from.contents);
  const name = (at) => text(names[at]);
  const entries = list(from.entries).map((entry, number) => ({
    number, task: entry.task, kernel: name(entry.kernel), name: name(entry.name), index: entry.index, role: name(entry.role), after: entry.after,
    type: name(entry.type), value: entry.value, shape: list(entry.shape), box: entry.box === undefined ? '' : name(entry.box),
    contents: entry.contents >= 0 ? contents[entry.contents] : null, problem: text(entry.problem), buffer: entry.buffer,
  }));
  for (const found of list(object(data.difference).found)) if (entries[found.entry]) entries[found.entry].difference = found;
  return { entries, run: object(from.run) };
})();

panels.push({
  id: 'arguments', title: 'Arguments', count: () => dumped.entries.length,
  make(container) {
    if (!dumped.entries.length) {
      container.append(empty(data.arguments ? 'The dump is empty: no task ran.' : 'This folder holds no dump of arguments.', `kiln run PROG --record --out ${text(data.folder)}`));
      return {};
    }
    container.classList.add('fill');
    return new ArgumentsPanel(container).handle();
  },
});

const isOdd = (entry) => entry.difference || (entry.contents && (entry.contents.nan || entry.contents.inf));
const argumentColumns = `34px minmax(56px, 1.3fr) minmax(58px, .8fr) 48px minmax(92px, 1.2fr) 76px 76px ${dumped.entries.some(isOdd) ? '72px' : '0'}`;
/** A value in a column: fewer digits than where there is room for all. */
const shortValue = (value) => (typeof value === 'number' && !Number.isInteger(value) ? String(Number(value.toPrecision(5))) : valueText(value));

class ArgumentsPanel {
  constructor(container) {
    this.words = '';
    this.only = '';
    this.rows = new LongList(28, (at) => this.row(this.shown[at]));
    this.side = el('div', { class: 'side' });
    const filters = [['', 'all'], ['odd', 'with NaN or Inf'], ['after', 'outputs']];
    if (data.difference) filters.push(['different', `different from ${text(data.difference.other)}`]);
    const filter = el('select', { id: 'arguments-filter', 'aria-label': 'Which are listed', on: { change: () => { this.only = filter.value; this.list(); } } },
      ...filters.map(([value, words]) => el('option', { value }, words)));
    if (data.difference) { this.only = 'different'; filter.value = 'different'; }
    this.status = el('span', { class: 'hint' });
    const difference = object(data.difference);
    container.append(el('div', { class: 'bar' }, filter, this.status, el('span', { class: 'space' }),
      data.difference ? el('span', { class: 'hint' }, `${plural(number(difference.compared), 'tensor')} compared, ${list(difference.found).length} differ, ${number(difference.not_compared)} not in both; the worst first`) : null,
      el('span', { class: 'hint' }, `level ${text(dumped.run.level)}, ${bytesText(number(dumped.run.bytes))}`)),
    el('div', { class: 'args' }, el('div', { class: 'args-left' },
      el('div', { class: 'args-head', style: { gridTemplateColumns: argumentColumns } }, ...['task', 'kernel', 'argument', 'when', 'type', 'min', 'max', ''].map((head) => el('span', { class: /^m/.test(head) ? 'number' : '' }, head))),
      this.rows.element), this.side));
    this.list();
    this.select(this.shown[0] || dumped.entries[0]);
    this.rows.element.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = this.shown.indexOf(this.selected) + step;
      if (this.shown[at]) { this.select(this.shown[at]); this.rows.reveal(at); }
    });
  }
  handle() {
    return {
      show: () => this.rows.draw(),
      takesKeys: () => [this.rows.element, ...this.side.querySelectorAll('.map canvas')].slice(0, 2),
      search: (words, step) => { this.words = words.trim().toLowerCase(); this.list(); tellMatches(this.words ? this.shown.length : null); if (step && this.shown.length) this.select(this.shown[0]); },
      go: ({ task }) => {
        const found = dumped.entries.find((entry) => entry.task === task);
        if (!found) return;
        if (!this.shown.includes(found)) { this.only = ''; this.words = ''; document.getElementById('arguments-filter').value = ''; this.list(); }
        this.select(found);
        this.rows.reveal(this.shown.indexOf(found));
      },
    };
  }
  list() {
    const fits = (entry) => {
      if (this.only === 'odd' && !(entry.contents && (entry.contents.nan || entry.contents.inf))) return false;
      if (this.only === 'after' && !entry.after) return false;
      if (this.only === 'different' && !entry.difference) return false;
      return !this.words || `${entry.task} ${entry.kernel} ${entry.name} ${entry.type} ${entry.shape.join('x')}`.toLowerCase().includes(this.words);
    };
    this.shown = dumped.entries.filter(fits);
    if (this.only === 'different') {
      const order = new Map(list(object(data.difference).found).map((found, at) => [found.entry, at]));
      this.shown.sort((a, b) => order.get(a.number) - order.get(b.number));
    }
    this.status.textContent = `${this.shown.length.toLocaleString('en')} of ${plural(dumped.entries.length, 'record')}`;
    this.rows.setLength(this.shown.length);
  }
  row(entry) {
    const { contents } = entry;
    const badge = entry.difference ? ['bad', `±${shortValue(entry.difference.worst)}`] : contents && contents.nan ? ['bad', `${contents.nan} NaN`] : contents && contents.inf ? ['warn', `${contents.inf} Inf`] : null;
    return el('div', { class: 'item' + (entry === this.selected ? ' on' : ''), style: { gridTemplateColumns: argumentColumns }, on: { click: () => this.select(entry) } },
      el('span', { class: 'dim' }, String(entry.task)), el('span', null, entry.kernel), el('span', { class: 'mono' }, entry.name),
      el('span', { class: 'dim' }, entry.after ? 'after' : 'before'),
      el('span', { class: 'mono' }, entry.value !== undefined ? entry.type : `${entry.type}[${entry.shape.join('x')}]`),
      el('span', { class: 'number' }, entry.value !== undefined ? `= ${text(entry.value)}` : contents ? shortValue(contents.min) : ''),
      el('span', { class: 'number' }, contents ? shortValue(contents.max) : ''), badge ? el('span', { class: 'badge ' + badge[0] }, badge[1]) : el('span'));
  }
  select(entry) {
    if (!entry) return;
    this.selected = entry;
    this.rows.draw();
    const facts = el('dl', null, el('dt', null, 'task'), el('dd', null, graph.tasks[entry.task] ? link(`${entry.task}: ${entry.kernel}`, () => go('graph', { task: entry.task })) : `${entry.task}: ${entry.kernel}`),
      el('dt', null, 'argument'), el('dd', null, `${entry.role} ${entry.type}${entry.shape.length ? `[${entry.shape.join(', ')}]` : ''}, number ${entry.index}`),
      ...(entry.box ? [el('dt', null, 'a block touches'), el('dd', { class: 'mono' }, entry.box)] : []),
      ...(entry.buffer ? [el('dt', null, 'buffer'), el('dd', null, String(entry.buffer))] : []));
    const parts = [el('h2', { style: { margin: '0 0 8px', fontSize: '16px' } }, entry.name, el('span', { class: 'dim', style: { fontWeight: '400' } }, entry.after ? ' after the task' : ' before the task')), facts];
    if (entry.value !== undefined) parts.push(el('p', { class: 'mono', style: { fontSize: '20px' } }, text(entry.value)));
    else if (!entry.contents) parts.push(el('p', { class: 'problem', style: { marginTop: '12px' } }, `No values: ${entry.problem}`));
    else parts.push(...this.values(entry));
    this.side.replaceChildren(...parts);
  }
  values(entry) {
    const { contents } = entry;
    const cell = (title, value, isBad) => el('div', { class: isBad ? 'bad' : '' }, el('b', null, title), el('span', null, value));
    const numbers = el('div', { class: 'numbers', id: 'statistics' }, cell('min', valueText(contents.min)), cell('max', valueText(contents.max)), cell('mean', valueText(contents.mean)),
      cell('deviation', valueText(contents.deviation)), cell('elements', contents.count.toLocaleString('en')), cell('zeros', contents.zero.toLocaleString('en')),
      cell('NaN', contents.nan.toLocaleString('en'), contents.nan > 0), cell('Inf', contents.inf.toLocaleString('en'), contents.inf > 0));
    const twin = dumped.entries.find((other) => other.task === entry.task && other.index === entry.index && other.after !== entry.after && other.contents && other.contents.preview);
    const under = el('div', { class: 'under', id: 'under' }, ' ');
    const maps = el('div', { class: 'maps' }), heat = [];
    const addMap = (title, which, preview, low, high) => {
      const map = new HeatMap(which, preview, low, high, (words) => { under.textContent = words || ' '; }, heat);
      heat.push(map);
      maps.append(el('div', null, el('div', { class: 'map-title' }, title), map.surface.element, colourScale(low, high)));
      return map;
    };
    if (contents.preview) {
      const low = Math.min(number(contents.min), twin ? number(twin.contents.min) : Infinity), high = Math.max(number(contents.max), twin ? number(twin.contents.max) : -Infinity);
      const both = twin ? [entry, twin].sort((a, b) => a.after - b.after) : [entry];
      for (const which of both) addMap(twin ? (which.after ? 'after the task' : 'before the task') : 'values', which, which.contents.preview, low, high);
    }
    const { difference } = entry;
    if (difference && difference.preview) addMap(`difference from ${text(data.difference.other)}`, { ...entry, isDifference: true }, difference.preview, 0, number(difference.worst, 1));
    const worst = difference ? el('table', { id: 'worst' }, el('tr', null, el('th', null, 'element'), el('th', { class: 'number' }, 'here'), el('th', { class: 'number' }, 'there')),
      ...list(difference.elements).map((each) => el('tr', null, el('td', null, link(`[${list(each.index).join(', ')}]`, () => heat.forEach((map) => map.show(list(each.index))))),
        el('td', { class: 'number' }, valueText(each.here)), el('td', { class: 'number' }, valueText(each.there))))) : null;
    return [numbers, difference ? el('p', { class: difference.explained ? 'dim' : 'bad' }, `${plural(difference.different, 'element')} differ; ${difference.explained ? 'rounding explains it' : 'more than rounding explains'}`) : null, worst,
      maps, under, histogram(contents), el('p', { class: 'hint' }, contents.preview && !contents.preview.exact && !data.served
        ? 'Each cell is the mean of the elements behind it. kiln view --serve shows every element.' : 'wheel: zoom · drag: move · 0: all', contents.nan || contents.inf ? ' · magenta: NaN · orange, light blue: infinite' : '')].filter(Boolean);
  }
}

/** Which colour stands for which value. */
function colourScale(low, high) {
  const surface = new Surface((context, width, height) => {
    for (let x = 0; x < width; ++x) {
      context.fillStyle = `rgb(${heatColour(low + (high - low) * x / Math.max(1, width - 1), low, high).map(Math.round).join(' ')})`;
      context.fillRect(x, 0, 1, height);
    }
  }, {}, 'Colours of values');
  surface.element.classList.add('scale');
  surface.canvas.removeAttribute('tabindex');
  return el('div', { class: 'scale-row' }, el('span', null, valueText(low)), surface.element, el('span', null, valueText(high)));
}

function histogram(contents) {
  const bins = list(contents.histogram);
  if (!bins.length) return null;
  const most = Math.max(1, ...bins);
  const surface = new Surface((context, width, height) => {
    const step = width / bins.length;
    context.fillStyle = colour('accent');
    bins.forEach((count, at) => { const high = count ? Math.max(1.5, count / most * (height - 24)) : 0; context.fillRect(at * step + 1, height - 16 - high, step - 2, high); });
    context.fillStyle = colour('dim');
    context.font = '11px system-ui, sans-serif';
    context.fillText(valueText(contents.min), 4, height - 4);
    context.textAlign = 'right';
    context.fillText(valueText(contents.max), width - 4, height - 4);
    context.textAlign = 'left';
  }, { hover: (x, y, event) => {
    const at = Math.min(bins.length - 1, Math.max(0, Math.floor(x / surface.width * bins.length))), step = (contents.max - contents.min) / bins.length;
    showTip(event, `${valueText(contents.min + at * step)} to ${valueText(contents.min + (at + 1) * step)}: ${bins[at].toLocaleString('en')}`);
  } }, 'Histogram');
  surface.element.classList.add('histogram');
  return surface.element;
}

function decodeFloats(base64) {
  const bytes = Uint8Array.from(atob(text(base64)), (c) => c.charCodeAt(0));
  return new Float32Array(bytes.buffer, 0, bytes.length >> 2);
}

/** A colour for a value: two ways from white where there are both signs, else from dark to bright. */
function heatColour(value, low, high) {
  if (Number.isNaN(value)) return [255, 0, 200];
  if (!Number.isFinite(value)) return value > 0 ? [255, 170, 0] : [0, 190, 255];
  if (low < 0 && high > 0) {
    const share = Math.max(-1, Math.min(1, value / Math.max(-low, high)));
    const strength = Math.sqrt(Math.abs(share)), base = theme.isDark ? [32, 38, 50] : [250, 250, 250], end = share < 0 ? [38, 110, 220] : [214, 60, 50];
    return base.map((from, i) => from + (end[i] - from) * strength);
  }
  const share = high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : .5;
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const at = Math.min(3, Math.floor(share * 4)), part = share * 4 - at;
  return stops[at].map((from, i) => from + (stops[at + 1][i] - from) * part);
}

class HeatMap {
  constructor(entry, preview, low, high, tell, others) {
    Object.assign(this, { entry, preview, low, high, tell, others });
    this.cells = decodeFloats(preview.cells);
    this.cols = entry.shape.length ? entry.shape[entry.shape.length - 1] : 1;
    this.rows = Math.max(1, entry.shape.slice(0, -1).reduce((product, extent) => product * extent, 1));
    this.x = new Range(0, this.cols, 2);
    this.y = new Range(0, this.rows, 2);
    this.isDarkImage = null;
    this.surface = new Surface((context, width, height) => this.draw(context, width, height), {
      drag: (dx, dy) => this.both((map) => { map.x.move(-dx / this.surface.width * this.x.length); map.y.move(-dy / this.surface.height * this.y.length); }),
      zoom: (factor, x, y) => { const [col, row] = this.at(x, y); this.both((map) => { map.x.zoom(factor, col); map.y.zoom(factor, row); }); },
      hover: (x, y) => this.hover(x, y), click: (x, y) => this.hover(x, y), leave: () => this.tell(''),
      key: (event) => { if (event.key !== '0') return false; this.both((map) => { map.x.reset(); map.y.reset(); }); return true; },
    }, 'Heat map');
    this.surface.element.classList.add('map');
  }
  both(move) { for (const map of this.others) { move(map); map.surface.draw(); } }
  at(x, y) { return [this.x.from + x / this.surface.width * this.x.length, this.y.from + y / this.surface.height * this.y.length]; }
  /** The index of an element as the program writes it. */
  indexText(row, col) {
    const index = [col];
    for (let axis = this.entry.shape.length - 2; axis >= 0; --axis) { index.unshift(row % this.entry.shape[axis]); row = Math.floor(row / this.entry.shape[axis]); }
    return `[${index.join(', ')}]`;
  }
  show(index) {
    const col = number(index[index.length - 1]);
    const row = index.slice(0, -1).reduce((sum, at, axis) => sum * this.entry.shape[axis] + number(at), 0);
    this.x.set(col - 8, col + 8);
    this.y.set(row - 8, row + 8);
    this.marked = [row, col];
    this.surface.draw();
  }
  exactAt(row, col) {
    const { preview, window: part } = this;
    if (preview.exact) return this.cells[row * preview.cols + col];
    if (part && row >= part.row && row < part.row + part.rows && col >= part.col && col < part.col + part.cols) return part.values[(row - part.row) * part.cols + col - part.col];
    return undefined;
  }
  hover(x, y) {
    const [colAt, rowAt] = this.at(x, y), col = Math.floor(colAt), row = Math.floor(rowAt);
    if (col < 0 || row < 0 || col >= this.cols || row >= this.rows) return this.tell('');
    const what = this.entry.isDifference ? `|difference| at ${this.indexText(row, col)}` : `${this.entry.name}${this.indexText(row, col)}`;
    const exact = this.exactAt(row, col);
    if (exact !== undefined) return this.tell(`${what} = ${valueText(exact)}`);
    const { preview } = this, r = Math.min(preview.rows - 1, Math.floor(row * preview.rows / this.rows)), c = Math.min(preview.cols - 1, Math.floor(col * preview.cols / this.cols));
    this.tell(`${what}: mean of the cell around it ${valueText(this.cells[r * preview.cols + c])}`);
  }
  image() {
    if (this.isDarkImage === theme.isDark) return this.picture;
    const { rows, cols } = this.preview;
    this.picture = paintCells(this.cells, rows, cols, this.low, this.high);
    this.isDarkImage = theme.isDark;
    if (this.window) this.window.picture = paintCells(this.window.values, this.window.rows, this.window.cols, this.low, this.high);
    return this.picture;
  }
  draw(context, width, height) {
    const { preview, x, y } = this;
    context.imageSmoothingEnabled = false;
    const fx = preview.cols / this.cols, fy = preview.rows / this.rows;
    context.drawImage(this.image(), x.from * fx, y.from * fy, x.length * fx, y.length * fy, 0, 0, width, height);
    this.ask();
    const part = this.window, toX = (col) => (col - x.from) / x.length * width, toY = (row) => (row - y.from) / y.length * height;
    if (part) context.drawImage(part.picture, toX(part.col), toY(part.row), toX(part.col + part.cols) - toX(part.col), toY(part.row + part.rows) - toY(part.row));
    const wide = width / x.length, high = height / y.length;
    if (wide > 46 && high > 15) {
      context.font = '11px ui-monospace, monospace';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      for (let row = Math.floor(y.from); row < y.to; ++row)
        for (let col = Math.floor(x.from); col < x.to; ++col) {
          const value = this.exactAt(row, col);
          if (value === undefined) continue;
          const [r, g, b] = heatColour(value, this.low, this.high);
          context.fillStyle = r * .3 + g * .59 + b * .11 > 140 ? '#111' : '#fff';
          context.fillText(Number.isFinite(value) ? String(Number(value.toPrecision(4))) : valueText(value), toX(col + .5), toY(row + .5));
        }
      context.textAlign = 'left';
    }
    if (this.marked) {
      context.strokeStyle = colour('bad');
      context.lineWidth = 2;
      context.strokeRect(toX(this.marked[1]), toY(this.marked[0]), Math.max(wide, 4), Math.max(high, 4));
      context.lineWidth = 1;
    }
  }
  /** Asks the server for the elements that are seen, where there is one and they are few enough. */
  ask() {
    if (!data.served || this.preview.exact || this.entry.isDifference || this.isAsking) return;
    const row = Math.floor(this.y.from), col = Math.floor(this.x.from), rows = Math.min(this.rows, Math.ceil(this.y.to)) - row, cols = Math.min(this.cols, Math.ceil(this.x.to)) - col;
    const part = this.window;
    if (rows * cols > 160 * 160 || (part && part.row <= row && part.col <= col && part.row + part.rows >= row + rows && part.col + part.cols >= col + cols)) return;
    this.isAsking = true;
    fetch(`values?entry=${this.entry.number}&row=${row}&col=${col}&rows=${rows}&cols=${cols}`).then((answer) => (answer.ok ? answer.arrayBuffer() : null)).then((bytes) => {
      this.isAsking = false;
      if (!bytes || bytes.byteLength !== rows * cols * 8) return;
      const values = new Float64Array(bytes);
      this.window = { row, col, rows, cols, values, picture: paintCells(values, rows, cols, this.low, this.high) };
      this.surface.draw();
    }, () => { this.isAsking = false; });
  }
}

function paintCells(cells, rows, cols, low, high) {
  const picture = document.createElement('canvas');
  picture.width = Math.max(1, cols);
  picture.height = Math.max(1, rows);
  const context = picture.getContext('2d'), image = context.createImageData(picture.width, picture.height);
  for (let i = 0; i < rows * cols; ++i) {
    const [r, g, b] = heatColour(cells[i], low, high);
    image.data.set([r, g, b, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return picture;
}
