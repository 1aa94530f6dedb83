// Graph: tasks in layers from left to right. Where there are many, those of one scope or of one kernel in one layer are one box.

panels.push({
  id: 'graph', title: 'Graph', count: () => graph.tasks.length,
  make(container) {
    if (!graph.tasks.length) {
      container.append(empty(graph.isThere ? 'The program submitted no task.' : 'This folder holds no task graph.', `kiln run PROG --record --out ${text(data.folder)}`));
      return {};
    }
    container.classList.add('fill');
    return new GraphPanel(container).handle();
  },
});

const boxHeight = 34, layerGap = 70, rowGap = 12;

class GraphPanel {
  constructor(container) {
    this.hasScopes = new Set(graph.tasks.map((task) => task.scope)).size > 1;
    this.mode = graph.tasks.length <= 250 ? 'tasks' : this.hasScopes ? 'scope' : 'kernel';
    this.opened = new Set(); // keys of groups that are shown task by task
    this.kinds = new Set(Object.keys(edgeWords));
    this.selected = null;
    this.scale = 1;
    this.x = this.y = 0;
    this.build(container);
    this.layOut();
  }

  build(container) {
    const modes = el('select', { id: 'graph-mode', 'aria-label': 'What is one box', on: { change: () => { this.mode = modes.value; this.opened.clear(); this.selected = null; this.layOut(); this.fit(true); } } },
      el('option', { value: 'tasks' }, 'every task'), el('option', { value: 'kernel' }, 'by kernel and layer'),
      this.hasScopes ? el('option', { value: 'scope' }, 'by scope') : null);
    modes.value = this.mode;
    const kindButtons = Object.entries(edgeWords).map(([kind, words]) => {
      const count = graph.edges.filter((edge) => edge.kind === kind).length;
      if (!count) return null;
      const button = el('button', { type: 'button', 'aria-pressed': 'true', title: plural(count, 'edge'), on: { click: () => {
        if (this.kinds.has(kind)) this.kinds.delete(kind); else this.kinds.add(kind);
        button.setAttribute('aria-pressed', String(this.kinds.has(kind)));
        this.surface.draw();
      } } }, el('span', { class: 'legend' }, el('i', { style: { borderColor: `var(--${edgeColours[kind]})` } }), words));
      return button;
    });
    this.status = el('span', { class: 'hint' });
    container.append(el('div', { class: 'bar' }, el('button', { type: 'button', id: 'graph-fit', on: { click: () => this.fit() } }, 'All'), modes, ...kindButtons.filter(Boolean),
      el('span', { class: 'legend' }, el('i', { style: { borderColor: 'var(--critical)' } }), 'critical path'), el('span', { class: 'space' }),
      graph.notUnderstood ? el('span', { class: 'badge warn' }, `${plural(graph.notUnderstood, 'task or edge', 'tasks or edges')} not understood`) : null,
      graph.leftOut ? el('span', { class: 'badge warn' }, `${plural(graph.leftOut, 'later task')} not drawn`) : null, this.status));
    this.surface = new Surface((context, width, height) => this.draw(context, width, height), {
      drag: (dx, dy) => { this.x += dx; this.y += dy; },
      zoom: (factor, x, y) => {
        const scale = Math.max(this.least(), Math.min(3, this.scale * factor));
        this.x = x - (x - this.x) * scale / this.scale;
        this.y = y - (y - this.y) * scale / this.scale;
        this.scale = scale;
      },
      click: (x, y) => this.click(this.hit(x, y)),
      hover: (x, y, event) => { const box = this.hit(x, y); showTip(event, box ? this.words(box) : ''); },
      key: (event) => { if (event.key !== '0') return false; this.fit(); return true; },
    }, 'Graph of tasks');
    this.side = el('div', { class: 'side' }, el('p', { class: 'dim' }, 'Click a box to see its tasks, what they wait for and why.'));
    container.append(el('div', { class: 'split' }, this.surface.element, this.side));
  }

  handle() {
    return {
      show: () => { this.surface.resize(); if (!this.isFitted) { this.isFitted = true; this.fit(true); } },
      takesKeys: () => [this.surface.canvas],
      search: (words, step) => this.search(words, step),
      go: ({ task }) => this.reveal(task),
    };
  }

  /** Which box a task is in. */
  keyOf(task) {
    if (this.mode === 'scope' && task.scope) return `scope ${task.scope}`;
    if (this.mode === 'tasks') return `task ${task.index}`;
    return `${task.kernel} ${this.depth[task.index]} ${this.mode === 'scope' ? '' : task.scope}`;
  }

  layOut() {
    // Edges lead from earlier tasks to later ones.
    this.depth = new Int32Array(graph.tasks.length);
    for (const task of graph.tasks)
      for (const edge of task.before) this.depth[task.index] = Math.max(this.depth[task.index], this.depth[edge.from] + 1);
    const boxes = new Map();
    this.boxOf = new Array(graph.tasks.length);
    for (const task of graph.tasks) {
      let key = this.keyOf(task);
      if (this.opened.has(key)) key = `task ${task.index}`;
      if (!boxes.has(key)) boxes.set(key, { key, tasks: [], layer: 0, critical: false, before: new Map(), after: new Map() });
      const box = boxes.get(key);
      box.tasks.push(task);
      box.critical = box.critical || task.critical;
      this.boxOf[task.index] = box;
    }
    this.boxes = [...boxes.values()];
    this.arrows = [];
    for (const edge of graph.edges) {
      const source = this.boxOf[edge.from], target = this.boxOf[edge.to];
      if (source === target) continue;
      const key = edge.kind;
      let known = source.after.get(target);
      if (!known) { known = new Map(); source.after.set(target, known); target.before.set(source, known); }
      const arrow = known.get(key) || { source, target, kind: edge.kind, critical: false, count: 0, tensor: edge.tensor };
      if (!known.has(key)) { known.set(key, arrow); this.arrows.push(arrow); }
      arrow.critical = arrow.critical || edge.critical;
      arrow.count += 1;
    }
    this.arrows.sort((a, b) => a.critical - b.critical); // the critical path is drawn over the rest
    // Boxes in the order of their first task; what leads back from a later box does not count for layers.
    this.boxes.forEach((box, at) => { box.order = at; });
    for (const box of this.boxes)
      for (const source of box.before.keys()) if (source.order < box.order) box.layer = Math.max(box.layer, source.layer + 1);
    this.place();
    this.status.textContent = `${plural(graph.tasks.length, 'task')} in ${plural(this.boxes.length, 'box', 'boxes')}, ${plural(graph.edges.length, 'edge')}`;
  }

  place() {
    const layers = [];
    for (const box of this.boxes) (layers[box.layer] = layers[box.layer] || []).push(box);
    this.layers = layers.map((layer) => layer || []);
    this.layers.forEach((layer) => layer.forEach((box, row) => { box.row = row; }));
    const middle = (box, sides) => {
      let sum = 0, count = 0;
      for (const other of sides.keys()) { sum += other.row / Math.max(1, this.layers[other.layer].length); ++count; }
      return count ? sum / count : box.row / Math.max(1, this.layers[box.layer].length);
    };
    if (this.boxes.length < 20000)
      for (let sweep = 0; sweep < 4; ++sweep) {
        const order = sweep % 2 ? [...this.layers].reverse() : this.layers;
        for (const layer of order) {
          const weight = new Map(layer.map((box) => [box, middle(box, sweep % 2 ? box.after : box.before)]));
          layer.sort((a, b) => weight.get(a) - weight.get(b) || a.order - b.order);
          layer.forEach((box, row) => { box.row = row; });
        }
      }
    let x = 0;
    const tallest = this.layers.reduce((most, layer) => Math.max(most, layer.length), 1);
    for (const layer of this.layers) {
      const width = layer.reduce((most, box) => Math.max(most, Math.min(240, 30 + 7.2 * this.title(box).length)), 80);
      layer.forEach((box, row) => {
        box.x = x;
        box.y = (row + (tallest - layer.length) / 2) * (boxHeight + rowGap);
        box.width = width;
      });
      x += width + layerGap;
    }
    this.size = { width: Math.max(1, x - layerGap), height: tallest * (boxHeight + rowGap) };
    // Boxes by layer, ordered from top to bottom, so that drawing and pointing need not look at all of them.
    this.layerX = this.layers.map((layer) => (layer[0] ? layer[0].x : 0));
  }

  title(box) {
    const [first] = box.tasks;
    if (box.tasks.length === 1) return `${first.index}: ${first.kernel}`;
    if (box.key.startsWith('scope ')) {
      const kernels = [...new Set(box.tasks.map((task) => task.kernel))];
      return `${box.key}: ${kernels.slice(0, 2).join(', ')}${kernels.length > 2 ? ', …' : ''} ×${box.tasks.length}`;
    }
    return `${first.kernel} ×${box.tasks.length}`;
  }
  words(box) {
    const time = box.tasks.reduce((sum, task) => sum + task.length * 1e3, 0);
    return `${this.title(box)}\n${timeText(time)}${box.tasks.length > 1 ? ' in all; click to see, twice to open' : ''}\nwaits for ${plural(box.before.size, 'box', 'boxes')}`;
  }

  least() { return Math.min(.05, this.surface.width / this.size.width / 2, this.surface.height / this.size.height / 2); }
  fit(isFirst) {
    const { width, height } = this.surface;
    if (!width) return;
    const whole = Math.min(width / (this.size.width + 60), height / (this.size.height + 60), 1.4);
    // At first what can be read matters more than all of it.
    this.scale = isFirst && whole < .65 ? .8 : whole;
    this.x = Math.max(30, (width - this.size.width * this.scale) / 2);
    this.y = (height - this.size.height * this.scale) / 2;
    if (this.scale > whole) {
      this.x = 30;
      const first = this.layers[0][0];
      if (this.size.height * this.scale > height) this.y = height / 2 - (first.y + boxHeight / 2) * this.scale;
    }
    this.surface.draw();
  }

  hit(x, y) {
    const wx = (x - this.x) / this.scale, wy = (y - this.y) / this.scale;
    const at = lowerBound(this.layerX.length, (i) => this.layerX[i] <= wx) - 1;
    if (at < 0) return null;
    return this.layers[at].find((box) => wx <= box.x + box.width && wy >= box.y && wy <= box.y + boxHeight) || null;
  }
  click(box) {
    if (!box) { this.selected = null; this.side.replaceChildren(el('p', { class: 'dim' }, 'Click a box to see its tasks, what they wait for and why.')); return; }
    if (this.selected === box && box.tasks.length > 1) { this.open(box); return; }
    this.selected = box;
    if (box.tasks.length === 1) return this.side.replaceChildren(...taskDetails(box.tasks[0].index, 'graph'));
    this.side.replaceChildren(el('h2', null, this.title(box)), el('p', null, el('button', { type: 'button', id: 'graph-open', on: { click: () => this.open(box) } }, 'Show its tasks one by one')),
      el('h3', null, `Tasks (${box.tasks.length})`),
      el('table', null, ...upTo(200, box.tasks, (task) => el('tr', null, el('td', null, link(`${task.index}: ${task.kernel}`, () => this.side.replaceChildren(...taskDetails(task.index, 'graph')))),
        el('td', { class: 'number' }, timeText(task.length * 1e3))))));
  }
  open(box) {
    this.opened.add(box.key);
    const [first] = box.tasks;
    this.layOut();
    this.reveal(first.index);
  }
  reveal(index) {
    const box = this.boxOf[index];
    if (!box) return;
    if (this.scale < .5) this.scale = .8;
    this.x = this.surface.width / 2 - (box.x + box.width / 2) * this.scale;
    this.y = this.surface.height / 2 - (box.y + boxHeight / 2) * this.scale;
    this.isFitted = true;
    this.selected = box;
    this.side.replaceChildren(...taskDetails(index, 'graph'));
    this.surface.draw();
  }
  search(words, step) {
    const wanted = words.trim().toLowerCase();
    this.wanted = wanted;
    if (!wanted) { this.found = null; tellMatches(null); this.surface.draw(); return; }
    if (!this.found || this.found.words !== wanted)
      this.found = { words: wanted, at: -1, tasks: graph.tasks.filter((task) => `${task.index}: ${task.kernel} ${task.source}`.toLowerCase().includes(wanted)) };
    const { tasks } = this.found;
    if (step && tasks.length) {
      this.found.at = (this.found.at + step + tasks.length) % tasks.length;
      this.reveal(tasks[this.found.at].index);
      tellMatches(tasks.length, this.found.at);
    } else tellMatches(tasks.length);
    this.surface.draw();
  }

  draw(context, width, height) {
    context.save();
    context.translate(this.x, this.y);
    context.scale(this.scale, this.scale);
    const view = { left: -this.x / this.scale, top: -this.y / this.scale, right: (width - this.x) / this.scale, bottom: (height - this.y) / this.scale };
    const isSeen = (box) => box.x < view.right && box.x + box.width > view.left && box.y < view.bottom && box.y + boxHeight > view.top;
    this.drawArrows(context, view);
    const firstLayer = Math.max(0, lowerBound(this.layerX.length, (i) => this.layerX[i] < view.left) - 1);
    context.font = '12.5px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (let at = firstLayer; at < this.layers.length && this.layerX[at] < view.right; ++at)
      for (const box of this.layers[at]) if (isSeen(box)) this.drawBox(context, box);
    context.restore();
  }
  drawArrows(context, view) {
    const isPlain = this.scale < .25 || this.arrows.length > 20000;
    for (const arrow of this.arrows) {
      if (!this.kinds.has(arrow.kind)) continue;
      const { source, target } = arrow;
      const left = Math.min(source.x, target.x), right = Math.max(source.x + source.width, target.x + target.width);
      if (right < view.left || left > view.right) continue;
      const top = Math.min(source.y, target.y), bottom = Math.max(source.y, target.y) + boxHeight;
      if (bottom < view.top || top > view.bottom) continue;
      const isChosen = this.selected && (source === this.selected || target === this.selected);
      context.globalAlpha = isChosen ? 1 : this.selected ? .18 : .65;
      context.strokeStyle = arrow.critical ? colour('critical') : edgeColour(arrow.kind);
      context.lineWidth = (arrow.critical || isChosen ? 2.4 : 1.3) / Math.max(this.scale, .4);
      if (arrow.kind === 'explicit') context.setLineDash([6, 4]);
      const x1 = source.x + source.width, y1 = source.y + boxHeight / 2, x2 = target.x, y2 = target.y + boxHeight / 2;
      context.beginPath();
      context.moveTo(x1, y1);
      if (isPlain) context.lineTo(x2, y2);
      else {
        const bend = Math.max(30, (x2 - x1) / 2);
        // What skips layers in one row would be hidden by the boxes between: it goes round them.
        const layers = target.layer - source.layer, lift = layers > 1 && Math.abs(y2 - y1) < boxHeight ? boxHeight * Math.min(1.2 + .4 * layers, 4) : 0;
        context.bezierCurveTo(x1 + bend, y1 - lift, x2 - bend, y2 - lift, x2, y2);
      }
      context.stroke();
      context.setLineDash([]);
      if (this.scale > .3) {
        context.beginPath();
        context.moveTo(x2 - 8, y2 - 4.5); context.lineTo(x2, y2); context.lineTo(x2 - 8, y2 + 4.5);
        context.stroke();
      }
      if (isChosen && arrow.tensor && this.scale > .45) {
        context.fillStyle = context.strokeStyle;
        context.font = '11px system-ui, sans-serif';
        const [x, y] = source === this.selected ? [x2 - 14, y2 - 9] : [x1 + 14, y1 - 9];
        context.textAlign = source === this.selected ? 'right' : 'left';
        context.fillText(arrow.tensor + (arrow.count > 1 ? ` ×${arrow.count}` : ''), x, y);
        context.textAlign = 'left';
      }
    }
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }
  drawBox(context, box) {
    const [first] = box.tasks, isFitting = !this.wanted || box.tasks.some((task) => `${task.index}: ${task.kernel} ${task.source}`.toLowerCase().includes(this.wanted));
    context.globalAlpha = isFitting ? 1 : .25;
    context.fillStyle = fillOf(first.kernel);
    context.strokeStyle = box === this.selected ? colour('ink') : box.critical ? colour('critical') : colour('line');
    context.lineWidth = box === this.selected ? 2.5 : box.critical ? 2 : 1;
    if (box.tasks.length > 1) { context.fillRect(box.x + 4, box.y + 4, box.width, boxHeight); context.strokeRect(box.x + 4, box.y + 4, box.width, boxHeight); }
    context.beginPath();
    context.roundRect(box.x, box.y, box.width, boxHeight, 6);
    context.fill();
    context.stroke();
    if (this.scale > .3) {
      context.fillStyle = colour('ink');
      fitText(context, this.title(box), box.x + 10, box.y + boxHeight / 2, box.width - 16);
    }
    const failed = box.tasks.some((task) => task.state === 'failed');
    if (failed) { context.fillStyle = colour('bad'); context.fillRect(box.x, box.y, 5, boxHeight); }
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }
}
