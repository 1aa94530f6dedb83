// Timeline: who was busy with what, when. A slice is found by its track and the time under the pointer.

panels.push({
  id: 'timeline', title: 'Timeline', count: () => list(object(object(data.timeline).slices).begin).length,
  make(container) {
    const from = object(data.timeline), slices = object(from.slices);
    if (!list(slices.begin).length) {
      container.append(empty(data.timeline ? 'No task ran, so there is nothing to draw.' : 'This folder holds no timeline.', `kiln run PROG --record --out ${text(data.folder)}`));
      return {};
    }
    container.classList.add('fill');
    return new TimelinePanel(container, from, slices).handle();
  },
});

const gutter = 168, axisHeight = 26;

class TimelinePanel {
  constructor(container, from, slices) {
    this.slices = slices;
    this.names = list(from.names);
    this.kinds = list(from.kinds);
    this.tracks = list(from.tracks).map((name) => ({ name: text(name), main: [], parts: [] }));
    this.ofTask = new Map();
    let end = 0, begin = Infinity;
    const count = slices.begin.length;
    for (let i = 0; i < count; ++i) {
      const kind = this.kinds[slices.kind[i]];
      (kind === 'blocks' ? this.tracks[slices.track[i]].parts : this.tracks[slices.track[i]].main).push(i);
      begin = Math.min(begin, slices.begin[i]);
      end = Math.max(end, slices.begin[i] + slices.length[i]);
      if (kind === 'task' || kind === 'collective') this.ofTask.has(slices.task[i]) ? this.ofTask.get(slices.task[i]).push(i) : this.ofTask.set(slices.task[i], [i]);
    }
    const byBegin = (a, b) => slices.begin[a] - slices.begin[b];
    for (const track of this.tracks) {
      track.main = Int32Array.from(track.main).sort(byBegin);
      track.parts = Int32Array.from(track.parts).sort(byBegin);
      track.isRole = /(^|: )worker \d+ ./.test(track.name);
    }
    this.tracks = this.tracks.map((track, at) => ({ ...track, at })).filter((track) => track.main.length);
    this.counters = list(from.counters).filter((counter) => counter.points.length);
    this.range = new Range(begin, end, 10);
    this.scroll = 0;
    this.selected = -1;
    this.showsCritical = graph.tasks.some((task) => task.critical);
    this.matches = null;
    this.build(container, from);
  }

  build(container, from) {
    const critical = el('button', { type: 'button', 'aria-pressed': String(this.showsCritical), on: { click: () => {
      this.showsCritical = !this.showsCritical;
      critical.setAttribute('aria-pressed', String(this.showsCritical));
      this.surface.draw();
    } } }, 'Critical path');
    const legend = (name, words) => el('span', { class: 'legend' }, el('b', { style: { background: `var(--${name})` } }), words);
    container.append(el('div', { class: 'bar' },
      el('button', { type: 'button', id: 'timeline-fit', on: { click: () => { this.range.reset(); this.surface.draw(); } } }, 'All'),
      critical, legend('wait', 'wait at a pipe'), legend('critical', 'critical path'),
      el('span', { class: 'hint' }, 'wheel or w, s: zoom · drag or a, d: move · click: details · 0: all'),
      el('span', { class: 'space' }),
      from.left_out ? el('span', { class: 'badge warn' }, `${plural(from.left_out, 'slice')} not drawn`) : null,
      from.not_understood ? el('span', { class: 'badge warn' }, `${plural(from.not_understood, 'event')} not understood`) : null));
    this.surface = new Surface((context, width, height) => this.draw(context, width, height), {
      drag: (dx, dy) => { this.range.move(-dx * this.range.length / this.span()); this.scrollBy(-dy); },
      zoom: (factor, x) => this.range.zoom(factor, this.timeAt(x)),
      click: (x, y) => this.select(this.hit(x, y)),
      hover: (x, y, event) => this.hover(x, y, event),
      key: (event) => {
        if (event.key === '0') this.range.reset();
        else if (event.key === 'Escape') this.select(-1);
        else return false;
        return true;
      },
    }, 'Timeline: one track for each worker and role');
    this.side = el('div', { class: 'side' });
    container.append(el('div', { class: 'split' }, this.surface.element, this.side));
    this.describeAll();
  }

  handle() {
    return {
      show: () => this.surface.resize(),
      takesKeys: () => [this.surface.canvas],
      search: (words, step) => this.search(words, step),
      go: ({ task }) => {
        const found = this.ofTask.get(task);
        if (found) this.reveal(found[0]); else this.describe(task);
      },
    };
  }

  span() { return Math.max(1, this.surface.width - gutter - 12); }
  timeAt(x) { return this.range.from + (x - gutter) / this.span() * this.range.length; }
  xOf(time) { return gutter + (time - this.range.from) / this.range.length * this.span(); }
  heightOf(track) { return (track.isRole ? 18 : 22) + (track.parts.length ? 10 : 0) + 6; }
  totalHeight() { return axisHeight + this.tracks.reduce((sum, track) => sum + this.heightOf(track), 0) + this.counters.length * 44 + 12; }
  scrollBy(by) { this.scroll = Math.max(0, Math.min(this.scroll + by, this.totalHeight() - this.surface.height)); }

  /** The slice of a list that a moment lies in, or -1. */
  at(track, time) {
    const { begin, length } = this.slices, order = track;
    let found = lowerBound(order.length, (i) => begin[order[i]] <= time) - 1;
    const slack = this.range.length / this.span() * 2;
    for (let back = 0; found >= 0 && back < 4; --found, ++back)
      if (begin[order[found]] + length[order[found]] + slack >= time) return order[found];
    return -1;
  }
  hit(x, y) {
    if (x < gutter) return -1;
    let top = axisHeight - this.scroll;
    for (const track of this.tracks) {
      const height = this.heightOf(track);
      if (y >= top && y < top + height) {
        const isPart = track.parts.length && y > top + 23;
        return this.at(isPart ? track.parts : track.main, this.timeAt(x));
      }
      top += height;
    }
    return -1;
  }
  hover(x, y, event) {
    const slice = this.hit(x, y);
    if (slice < 0) return showTip(event, this.counterTip(x, y));
    const { begin, length, task, name } = this.slices;
    showTip(event, `${text(this.names[name[slice]])}\n${timeText(length[slice])}, from ${timeText(begin[slice])}${task[slice] >= 0 ? `\ntask ${task[slice]}` : ''}`);
  }
  counterTip(x, y) {
    let top = axisHeight - this.scroll + this.tracks.reduce((sum, track) => sum + this.heightOf(track), 0);
    for (const counter of this.counters) {
      if (y >= top && y < top + 44 && x >= gutter) {
        const { points } = counter, time = this.timeAt(x);
        const at = lowerBound(points.length / 2, (i) => points[2 * i] <= time) - 1;
        return at < 0 ? '' : `${text(counter.name)}: ${valueText(points[2 * at + 1])} ${text(counter.unit)}`;
      }
      top += 44;
    }
    return '';
  }

  select(slice) {
    this.selected = slice;
    if (slice < 0) return this.describeAll();
    const task = this.slices.task[slice], kind = this.kinds[this.slices.kind[slice]];
    const { begin, length, name } = this.slices;
    const isTask = kind === 'task' || kind === 'collective', isKnown = !!graph.tasks[task];
    const about = isTask && isKnown ? [] : [el('h2', null, text(this.names[name[slice]])),
      el('p', { class: 'dim' }, `${timeText(length[slice])}, from ${timeText(begin[slice])}${isTask ? `, task ${task}` : ''}`), isKnown ? el('h3', null, 'It belongs to') : ''];
    this.side.replaceChildren(...about, ...(isKnown ? taskDetails(task, 'timeline') : []));
  }
  describe(task) { this.side.replaceChildren(...taskDetails(task, 'timeline')); }
  describeAll() {
    const rows = upTo(200, this.tracks, (track) => {
      let busy = 0, wait = 0;
      for (const i of track.main) (this.kinds[this.slices.kind[i]] === 'wait' ? wait += this.slices.length[i] : busy += this.slices.length[i]);
      const all = this.range.all[1] - this.range.all[0];
      return el('tr', null, el('td', null, track.name), el('td', { class: 'number' }, `${(100 * busy / all).toFixed(0)} %`),
        el('td', { class: 'number' }, wait ? `${(100 * wait / all).toFixed(0)} %` : ''));
    });
    this.side.replaceChildren(el('h2', null, timeText(this.range.all[1] - this.range.all[0])),
      el('p', { class: 'dim' }, 'from the first submission to the last end. Click a slice to see what it is.'),
      el('table', null, el('tr', null, el('th', null, 'track'), el('th', { class: 'number' }, 'busy'), el('th', { class: 'number' }, 'waits')), ...rows));
  }
  reveal(slice) {
    const { begin, length } = this.slices, width = Math.max(length[slice] * 6, this.range.least * 20);
    const middle = begin[slice] + length[slice] / 2;
    if (begin[slice] < this.range.from || begin[slice] + length[slice] > this.range.to || length[slice] < this.range.length / 400)
      this.range.set(middle - width / 2, middle + width / 2);
    let top = 0;
    for (const track of this.tracks) {
      if (track.at === this.slices.track[slice]) break;
      top += this.heightOf(track);
    }
    if (top < this.scroll || top > this.scroll + this.surface.height - 80) { this.scroll = 0; this.scrollBy(top - 60); }
    this.select(slice);
    this.surface.draw();
  }
  search(words, step) {
    const wanted = words.trim().toLowerCase();
    if (!wanted) {
      this.matches = null;
      tellMatches(null);
      return this.surface.draw();
    }
    const fitting = this.names.map((name) => text(name).toLowerCase().includes(wanted));
    if (!this.matches || this.matches.words !== wanted) {
      const found = [];
      for (let i = 0; i < this.slices.begin.length; ++i) if (fitting[this.slices.name[i]]) found.push(i);
      // Tasks come before what was done for them.
      found.sort((a, b) => this.slices.kind[a] - this.slices.kind[b] || this.slices.begin[a] - this.slices.begin[b]);
      this.matches = { words: wanted, fitting, found, at: -1 };
    }
    const { found } = this.matches;
    if (step && found.length) {
      this.matches.at = (this.matches.at + step + found.length) % found.length;
      this.reveal(found[this.matches.at]);
      tellMatches(found.length, this.matches.at);
    } else tellMatches(found.length);
    this.surface.draw();
  }

  draw(context, width, height) {
    this.scrollBy(0);
    context.font = '11.5px system-ui, sans-serif';
    context.textBaseline = 'middle';
    this.pattern = hatch(context);
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, width, height - axisHeight);
    context.clip();
    let top = axisHeight - this.scroll;
    const places = new Map();
    this.tracks.forEach((track, row) => {
      const size = this.heightOf(track);
      places.set(track.at, top);
      if (top + size > axisHeight && top < height) this.drawTrack(context, track, top, size, width, row);
      top += size;
    });
    for (const counter of this.counters) {
      if (top + 44 > axisHeight && top < height) this.drawCounter(context, counter, top, width);
      top += 44;
    }
    if (this.selected >= 0) this.drawArrows(context, places);
    context.restore();
    this.drawAxis(context, width);
  }
  drawAxis(context, width) {
    context.fillStyle = colour('paper');
    context.fillRect(0, 0, width, axisHeight);
    context.strokeStyle = colour('line');
    context.fillStyle = colour('dim');
    context.beginPath();
    context.moveTo(0, axisHeight - .5); context.lineTo(width, axisHeight - .5);
    for (const time of ticks(this.range.from, this.range.to, this.span() / 80)) {
      const x = Math.round(this.xOf(time)) + .5;
      context.moveTo(x, axisHeight - 6); context.lineTo(x, axisHeight);
      tickText(context, timeText(time), x + 4, axisHeight / 2, width);
    }
    context.stroke();
  }
  drawTrack(context, track, top, size, width, row) {
    if (row % 2 === 0) {
      context.fillStyle = colour('paper');
      context.fillRect(0, top, width, size);
    }
    context.fillStyle = track.isRole ? colour('dim') : colour('ink');
    fitText(context, track.isRole ? '    ' + track.name.replace(/^.*worker \d+ /, '') : track.name, 12, top + size / 2 - (track.parts.length ? 4 : 0), gutter - 20);
    context.save();
    context.beginPath();
    context.rect(gutter, top, width - gutter, size);
    context.clip();
    const high = track.isRole ? 16 : 20;
    this.drawSlices(context, track.main, top + 3, high, true);
    if (track.parts.length) this.drawSlices(context, track.parts, top + 24, 7, false);
    context.restore();
  }
  drawSlices(context, order, y, high, named) {
    const { begin, length, name, kind, task } = this.slices, pixel = this.range.length / this.span();
    let i = Math.max(0, lowerBound(order.length, (at) => begin[order[at]] < this.range.from) - 1);
    while (i < order.length && begin[order[i]] < this.range.to) {
      const slice = order[i], x = this.xOf(begin[slice]), wide = Math.max(length[slice] / pixel, 1);
      const isWait = this.kinds[kind[slice]] === 'wait', isDim = this.matches && !this.matches.fitting[name[slice]];
      const words = text(this.names[name[slice]]);
      context.globalAlpha = isDim ? .22 : named ? 1 : .75;
      context.fillStyle = isWait ? colour('soft') : fillOf(words.replace(/^submit /, ''));
      context.fillRect(x, y, wide, high);
      if (isWait && wide > 3) { context.fillStyle = this.pattern; context.fillRect(x, y, wide, high); }
      if (named && wide > 4) {
        const isCritical = this.showsCritical && this.kinds[kind[slice]] === 'task' && graph.tasks[task[slice]] && graph.tasks[task[slice]].critical;
        if (isCritical) { context.fillStyle = colour('critical'); context.fillRect(x, y + high - 3, wide, 3); }
        if (wide > 30) { context.fillStyle = colour('ink'); fitText(context, words, Math.max(x, gutter) + 5, y + high / 2, wide - (Math.max(x, gutter) - x) - 9); }
      }
      if (slice === this.selected) {
        context.globalAlpha = 1;
        context.strokeStyle = colour('ink');
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(wide - 2, 1), high - 2);
        context.lineWidth = 1;
      }
      context.globalAlpha = 1;
      // What begins in the same pixel as a narrow slice would only be painted over it.
      i = wide > 2 ? i + 1 : Math.max(i + 1, lowerBound(order.length, (at) => begin[order[at]] < begin[slice] + pixel));
    }
  }
  drawCounter(context, counter, top, width) {
    const { points } = counter, count = points.length / 2;
    let most = 1;
    for (let i = 0; i < count; ++i) most = Math.max(most, points[2 * i + 1]);
    const slots = /^of (\d+) slots?$/.exec(text(counter.unit));
    if (slots) most = Math.max(most, Number(slots[1]));
    context.fillStyle = colour('dim');
    fitText(context, text(counter.name), 12, top + 14, gutter - 20);
    fitText(context, `up to ${counter.unit === 'bytes' ? bytesText(most) : plural(most, slots ? 'slot' : text(counter.unit).replace(/s$/, ''))}`, 12, top + 28, gutter - 20);
    context.save();
    context.beginPath();
    context.rect(gutter, top, width - gutter, 44);
    context.clip();
    drawSteps(context, points, (time) => this.xOf(time), (value) => top + 40 - value / most * 34, top + 40, this.range, this.range.length / this.span());
    context.restore();
  }
  drawArrows(context, places) {
    const task = this.slices.task[this.selected];
    const ends = (index) => {
      const found = this.ofTask.get(index);
      return found && places.has(this.slices.track[found[0]]) ? found[0] : -1;
    };
    const here = graph.tasks[task];
    if (!here) return;
    for (const edge of [...here.before, ...here.after].slice(0, 400)) {
      const source = ends(edge.from), target = ends(edge.to);
      if (source < 0 || target < 0) continue;
      const x1 = this.xOf(this.slices.begin[source] + this.slices.length[source]), y1 = places.get(this.slices.track[source]) + 13;
      const x2 = this.xOf(this.slices.begin[target]), y2 = places.get(this.slices.track[target]) + 13;
      const bend = Math.max(16, Math.abs(x2 - x1) / 3);
      context.strokeStyle = edgeColour(edge.kind);
      context.lineWidth = 1.6;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      context.moveTo(x2 - 6, y2 - 4); context.lineTo(x2, y2); context.lineTo(x2 - 6, y2 + 4);
      context.stroke();
      context.lineWidth = 1;
    }
  }
}

/** A level over time, as steps: [time, value, time, value, ...]. Of many points in a pixel the highest is drawn. */
function drawSteps(context, points, xOf, yOf, bottom, range, pixel) {
  const count = points.length / 2;
  let i = Math.max(0, lowerBound(count, (at) => points[2 * at] < range.from) - 1);
  context.beginPath();
  context.moveTo(xOf(Math.max(points[2 * i], range.from)), bottom);
  let last = null;
  while (i < count && points[2 * i] <= range.to) {
    let next = i + 1, highest = points[2 * i + 1];
    while (next < count && points[2 * next] < points[2 * i] + pixel) highest = Math.max(highest, points[2 * next++ + 1]);
    const x = xOf(points[2 * i]);
    if (last !== null) context.lineTo(x, last);
    context.lineTo(x, yOf(highest));
    last = yOf(points[2 * (next - 1) + 1]);
    context.lineTo(x, last);
    i = next;
  }
  const end = xOf(Math.min(range.to, i < count ? points[2 * i] : range.all[1]));
  if (last !== null) context.lineTo(end, last);
  context.lineTo(end, bottom);
  context.fillStyle = colour('accent-soft');
  context.fill();
  context.strokeStyle = colour('accent');
  context.stroke();
}
