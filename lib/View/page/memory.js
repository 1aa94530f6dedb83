// Memory: what lies where and how long. Of a role, what the compiler planned; of the run, the buffers that tasks use.

panels.push({
  id: 'memory', title: 'Memory',
  make(container) {
    const functions = list(object(data.memory).functions).map(object);
    const plans = functions.flatMap((each) => list(each.memories).map((memory) => ({ name: text(each.name), role: text(each.role), memory: object(memory) })));
    const buffers = taskBuffers();
    if (!plans.length && !buffers.length) {
      container.append(empty('This folder says nothing about memory: machines with memories of their own have a plan, and a recorded run has buffers.', `kiln run PROG -p a2a3sim --record --out ${text(data.folder)}`));
      return {};
    }
    container.classList.add('fill');
    const side = el('div', { class: 'side' }), stage = el('div', { class: 'scrolls', style: { padding: '14px' } }), charts = [];
    let wanted = '';
    const tell = (...parts) => side.replaceChildren(...parts);
    const groups = [...new Set(plans.map((plan) => plan.name))];
    const choices = [...groups.map((name) => ({ id: name, title: `@${name}` })), ...(buffers.length ? [{ id: '', title: 'buffers of the run' }] : [])];
    const chooser = el('select', { id: 'memory-function', 'aria-label': 'Function', on: { change: () => show(chooser.value) } }, ...upTo(2000, choices, (each) => el('option', { value: each.id }, each.title)));
    const show = (name) => {
      charts.length = 0;
      tell(el('p', { class: 'dim' }, name ? 'Across: the operations of a role in their order. Upwards: addresses. Click a tile to see where it comes from.'
        : 'Across: the tasks in the order of submission. Each bar is a buffer, from the first task that uses it to the last. Click one to see its tasks.'));
      const parts = name ? upTo(40, planCharts(plans.filter((plan) => plan.name === name), tell, () => wanted), (make) => make()) : [bufferChart(buffers, tell, () => wanted)];
      stage.replaceChildren(...parts.map((part) => part.element || part));
      charts.push(...parts.flatMap((part) => part.surfaces || []));
    };
    container.append(el('div', { class: 'bar' }, el('span', { class: 'dim' }, 'Memory of'), chooser, el('span', { class: 'hint' }, 'wheel: zoom · drag: move · 0: all')),
      el('div', { class: 'split' }, stage, side));
    show(choices[0].id);
    return { show: () => charts.forEach((chart) => chart.resize()), takesKeys: () => charts.slice(0, 1).map((chart) => chart.canvas), search: (words) => { wanted = words.trim().toLowerCase(); tellMatches(null); charts.forEach((chart) => chart.draw()); } };
  },
});

const mostRectangles = 20000; // what is drawn in a frame

/** A chart of rectangles: {x0, x1, y0, y1, label, colour, details()}. */
function rectangleChart(title, note, all, xRange, yRange, axis, height, tell, wanted) {
  const x = new Range(...xRange, 1), y = new Range(...yRange), rectangles = all.slice(0, mostRectangles);
  if (all.length > mostRectangles) note += `; only the first ${mostRectangles.toLocaleString('en')} are drawn`;
  let chosen = null;
  const left = 84, bottom = 22;
  const hit = (surface, px, py) => {
    const vx = x.from + (px - left) / (surface.width - left) * x.length, vy = y.to - py / (surface.height - bottom) * y.length;
    return rectangles.findLast((each) => vx >= each.x0 && vx <= each.x1 && vy >= each.y0 && vy <= each.y1);
  };
  const surface = new Surface((context, width, high) => {
    const toX = (value) => left + (value - x.from) / x.length * (width - left), toY = (value) => (y.to - value) / y.length * (high - bottom);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.strokeStyle = colour('line');
    context.fillStyle = colour('dim');
    for (const value of ticks(y.from, y.to, high / 42, axis.isBytes)) {
      const at = Math.round(toY(value)) + .5;
      context.beginPath(); context.moveTo(left, at); context.lineTo(width, at); context.stroke();
      context.textAlign = 'right';
      context.fillText(axis.y(value), left - 8, Math.max(at, 8));
    }
    context.textAlign = 'left';
    // Operations and tasks are counted: there is nothing between two of them.
    for (const value of ticks(x.from, x.to, Math.min(width / 120, x.length))) if (Number.isInteger(value)) tickText(context, axis.x(value), toX(value) + 2, high - bottom / 2, width);
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left, high - bottom);
    context.clip();
    for (const each of rectangles) {
      const x0 = toX(each.x0), x1 = toX(each.x1), y1 = toY(each.y0), y0 = toY(each.y1);
      if (x1 < left || x0 > width || y1 < 0 || y0 > high) continue;
      context.globalAlpha = wanted() && !each.label.toLowerCase().includes(wanted()) ? .2 : 1;
      context.fillStyle = each.isRing ? colour('accent-soft') : fillOf(each.colour);
      context.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
      context.strokeStyle = each === chosen ? colour('ink') : colour('paper');
      context.lineWidth = each === chosen ? 2.5 : 1;
      context.strokeRect(x0, y0, Math.max(1, x1 - x0), Math.max(1, y1 - y0));
      if (y1 - y0 > 12) { context.fillStyle = colour('ink'); fitText(context, each.label, Math.max(x0, left) + 5, (y0 + y1) / 2, x1 - Math.max(x0, left) - 8); }
    }
    context.restore();
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }, {
    drag: (dx, dy) => { x.move(-dx * x.length / (surface.width - left)); y.move(dy * y.length / (surface.height - bottom)); },
    zoom: (factor, px, py) => { x.zoom(factor, x.from + (px - left) / (surface.width - left) * x.length); y.zoom(factor, y.to - py / (surface.height - bottom) * y.length); },
    click: (px, py) => { chosen = hit(surface, px, py) || null; if (chosen) tell(...chosen.details()); },
    hover: (px, py, event) => { const each = px > left && hit(surface, px, py); showTip(event, each ? each.label : ''); },
    key: (event) => { if (event.key !== '0') return false; x.reset(); y.reset(); return true; },
  }, title);
  surface.element.style.height = height + 'px';
  return { element: el('div', { class: 'card' }, el('h2', null, title), el('p', { class: 'dim', style: { margin: '-6px 0 8px' } }, note), surface.element), surfaces: [surface] };
}

/** What makes the memories of a role, one below the other: an operation stands at the same place in all of them. */
function planCharts(plans, tell, wanted) {
  let last = 1;
  for (const { memory } of plans)
    for (const buffer of list(memory.buffers).map(object)) for (const span of list(buffer.alive)) last = Math.max(last, number(list(span)[1]) + 1);
  return plans.map((plan) => () => planChart(plan, last, tell, wanted));
}

function planChart({ name, role, memory }, last, tell, wanted) {
  const capacity = Math.max(1, number(memory.capacity)), used = number(memory.used);
  const rings = list(memory.rings).map(object), placed = list(memory.buffers).map(object);
  const rectangles = rings.slice(0, 1000).flatMap((ring) => Array.from({ length: Math.min(64, number(ring.slots)) }, (_, slot) => {
    const at = number(ring.address) + slot * number(ring.slot_bytes);
    const label = `ring of ${text(ring.pipe)}, slot ${slot}`;
    return { x0: 0, x1: last, y0: at, y1: at + number(ring.slot_bytes), label, isRing: true, colour: '', details: () => [el('h2', null, label),
      el('dl', null, el('dt', null, 'address'), el('dd', null, String(at)), el('dt', null, 'bytes'), el('dd', null, bytesText(number(ring.slot_bytes))), el('dt', null, 'slots'), el('dd', null, text(ring.slots)))] };
  }));
  for (const buffer of placed)
    for (const [at, span] of list(buffer.alive).slice(0, mostRectangles).map(list).entries()) {
      if (rectangles.length > mostRectangles) break;
      // The operation that ends one may begin the next.
      const next = list(list(buffer.alive)[at + 1])[0], end = number(next) > number(span[0]) ? Math.min(number(span[1]) + 1, next) : number(span[1]) + 1;
      const tiles = list(buffer.tiles).map(object), label = `${text(object(tiles[0]).tile)}${number(buffer.copies) > 1 ? ` ×${buffer.copies}` : ''} ${shortPlace(object(tiles[0]).location)}`;
      rectangles.push({ x0: number(span[0]), x1: end, y0: number(buffer.address), y1: number(buffer.address) + number(buffer.bytes), label, colour: text(object(tiles[0]).location), details: () => [
        el('h2', null, text(object(tiles[0]).tile)), el('dl', null, el('dt', null, 'address'), el('dd', null, text(buffer.address)), el('dt', null, 'bytes'), el('dd', null, bytesText(number(buffer.bytes))),
          el('dt', null, 'copies'), el('dd', null, text(buffer.copies)), el('dt', null, 'alive'), el('dd', null, list(buffer.alive).map((each) => `operations ${list(each).join(' to ')}`).join(', '))),
        el('h3', null, 'Tiles that share it'), el('table', null, ...tiles.slice(0, 100).map((tile) => el('tr', null, el('td', { class: 'mono' }, text(tile.tile)), el('td', null, placeLink(text(tile.location))))))] });
    }
  const top = used > capacity * .25 ? Math.max(capacity, used) : used * 1.15 || capacity;
  return rectangleChart(`${text(memory.name)} of @${name} (${role})`, `${bytesText(used)} of ${bytesText(capacity)} in use at the most (${(100 * used / capacity).toFixed(0)} %), ${plural(placed.length, 'buffer')}${rings.length ? `, ${plural(rings.length, 'ring')}` : ''}`,
    rectangles, [0, last], [0, top], { x: (value) => `op ${value}`, y: (value) => bytesText(value), isBytes: true }, 260, tell, wanted);
}

/** Buffers of the run, from the first task that names them to the last. */
function taskBuffers() {
  const known = new Map();
  for (const task of graph.tasks)
    for (const argument of task.arguments) {
      if (!argument.buffer) continue;
      const buffer = known.get(argument.buffer) || { id: argument.buffer, first: task.index, last: task.index, bytes: 0, names: new Set(), uses: [] };
      buffer.last = task.index;
      buffer.bytes = Math.max(buffer.bytes, argument.bytes);
      if (buffer.names.size < 4) buffer.names.add(argument.name);
      if (buffer.uses.length < 200) buffer.uses.push({ task, argument });
      known.set(argument.buffer, buffer);
    }
  return [...known.values()].sort((a, b) => a.first - b.first || a.id - b.id);
}

function bufferChart(buffers, tell, wanted) {
  const rectangles = buffers.map((buffer, row) => ({
    x0: buffer.first, x1: buffer.last + 1, y0: row + .1, y1: row + .9, label: `${[...buffer.names].join(', ')} ${bytesText(buffer.bytes)}`, colour: [...buffer.names][0] || '', details: () => [
      el('h2', null, [...buffer.names].join(', ')), el('p', { class: 'dim' }, `buffer ${buffer.id}, ${bytesText(buffer.bytes)} in the largest view`), el('h3', null, `Used by (${buffer.uses.length})`),
      el('table', null, ...buffer.uses.map(({ task, argument }) => el('tr', null, el('td', null, link(`${task.index}: ${task.kernel}`, () => go('graph', { task: task.index }))), el('td', { class: 'mono' }, `${argument.role} ${argument.name}`))))],
  }));
  const height = Math.max(200, Math.min(640, buffers.length * 24 + 40));
  return rectangleChart('Buffers of the run', `${plural(buffers.length, 'buffer')}, each from the first task that uses it to the last`, rectangles, [0, Math.max(1, graph.tasks.length)], [0, buffers.length],
    { x: (value) => `task ${value}`, y: () => '' }, height, tell, wanted);
}
