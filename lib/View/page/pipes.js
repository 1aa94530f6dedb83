// Pipes: how full each was over time, and who waited for whom.

const pipeCounters = list(object(data.timeline).counters).filter((counter) => /(^|: )worker \d+ pipe ./.test(text(counter.name)));

/** "wait to pop from to_aic, filled by aiv": what for, and who ends it. */
function waitOf(name) {
  const parts = /^wait (to .*), (?:filled|emptied) by (.*)$/.exec(name);
  return parts ? { what: parts[1], whom: parts[2] } : { what: name.replace(/^wait /, ''), whom: '' };
}

panels.push({
  id: 'pipes', title: 'Pipes', count: () => pipeCounters.length,
  make(container) {
    const from = object(data.timeline), slices = object(from.slices), kinds = list(from.kinds), names = list(from.names), tracks = list(from.tracks);
    const waits = new Map();
    let begin = Infinity, end = 1;
    for (let i = 0; i < list(slices.begin).length; ++i) {
      begin = Math.min(begin, slices.begin[i]);
      end = Math.max(end, slices.begin[i] + slices.length[i]);
      if (kinds[slices.kind[i]] !== 'wait') continue;
      const key = `${tracks[slices.track[i]]}\n${names[slices.name[i]]}`;
      const known = waits.get(key) || { who: text(tracks[slices.track[i]]), ...waitOf(text(names[slices.name[i]])), count: 0, total: 0, longest: 0, end: 0 };
      known.count += 1;
      known.total += slices.length[i];
      known.longest = Math.max(known.longest, slices.length[i]);
      known.end = Math.max(known.end, slices.begin[i] + slices.length[i]);
      waits.set(key, known);
    }
    if (!pipeCounters.length && !waits.size) {
      container.append(empty('No pipe was used: the program has none, or its roles were merged into one function (the cpu does that; --fibers keeps them apart).',
        `kiln run PROG -p a2a3sim --record --out ${text(data.folder)}`));
      return {};
    }
    const range = new Range(Math.min(begin, end - 1), end, 10), charts = [];
    const rows = [...waits.values()].sort((a, b) => b.total - a.total);
    const table = el('table', { id: 'waits' });
    const fill = (words) => table.replaceChildren(
      el('tr', null, el('th', null, 'who'), el('th', null, 'waits for'), el('th', null, 'in order'), el('th', { class: 'number' }, 'times'), el('th', { class: 'number' }, 'in all'), el('th', { class: 'number' }, 'longest'), el('th', { class: 'number' }, 'of the run')),
      ...rows.filter((row) => `${row.who} ${row.whom} ${row.what}`.toLowerCase().includes(words)).slice(0, 300).map((row) => el('tr', null, el('td', null, row.who), el('td', null, row.whom), el('td', null, row.what), el('td', { class: 'number' }, row.count.toLocaleString('en')),
        el('td', { class: 'number' }, timeText(row.total)), el('td', { class: 'number' }, timeText(row.longest)), el('td', { class: 'number' }, `${(100 * row.total / (range.all[1] - range.all[0])).toFixed(1)} %`))));
    fill('');
    const body = el('div', { class: 'cards' }, el('div', { class: 'card wide' }, el('h2', null, 'Who waited for whom'),
      rows.length ? table : el('p', { class: 'dim' }, 'Nobody waited.')));
    const levels = el('div', { class: 'card wide' }, el('h2', null, 'Slots in use over time'), el('p', { class: 'hint' }, 'A pipe that is always full has a slow consumer; one that is always empty, a slow producer. Wheel: zoom, drag: move.'));
    for (const counter of pipeCounters.slice(0, 64)) {
      const slots = Number((/^of (\d+)/.exec(text(counter.unit)) || [])[1]) || counter.points.reduce((most, point, at) => (at % 2 ? Math.max(most, point) : most), 1);
      // The last level holds for as long as somebody waits for another one: for ever, in a deadlock.
      const [, worker, pipe] = /^(.*?worker \d+) pipe (.*)$/s.exec(text(counter.name)), { points } = counter, last = points[points.length - 2];
      const until = rows.reduce((most, row) => (row.who.startsWith(worker + ' ') && row.what.endsWith(' ' + pipe) ? Math.max(most, row.end) : most), last);
      let full = 0, empty_ = 0;
      for (let i = 0; i < points.length; i += 2) {
        const time = (i + 2 < points.length ? points[i + 2] : until) - points[i];
        if (points[i + 1] >= slots) full += time;
        if (points[i + 1] === 0) empty_ += time;
      }
      const whole = Math.max(1, until - points[0]);
      const surface = new Surface((context, width, height) => {
        const xOf = (time) => (time - range.from) / range.length * width, yOf = (value) => height - 18 - value / slots * (height - 28);
        context.strokeStyle = colour('line');
        context.fillStyle = colour('dim');
        context.font = '11px system-ui, sans-serif';
        for (let level = 0; level <= slots && slots <= 16; ++level) { context.beginPath(); context.moveTo(0, yOf(level) + .5); context.lineTo(width, yOf(level) + .5); context.stroke(); }
        drawSteps(context, counter.points, xOf, yOf, height - 18, range, range.length / width);
        context.fillStyle = colour('dim');
        for (const time of ticks(range.from, range.to, width / 130)) tickText(context, timeText(time), xOf(time) + 2, height - 4, width);
      }, {
        drag: (dx) => { range.move(-dx * range.length / surface.width); charts.forEach((chart) => chart.draw()); },
        zoom: (factor, x) => { range.zoom(factor, range.from + x / surface.width * range.length); charts.forEach((chart) => chart.draw()); },
        hover: (x, y, event) => {
          const time = range.from + x / surface.width * range.length, at = lowerBound(counter.points.length / 2, (i) => counter.points[2 * i] <= time) - 1;
          showTip(event, at < 0 ? '' : `${timeText(time)}: ${counter.points[2 * at + 1]} of ${plural(slots, 'slot')} in use`);
        },
        key: (event) => { if (event.key !== '0') return false; range.reset(); charts.forEach((chart) => chart.draw()); return true; },
      }, text(counter.name));
      charts.push(surface);
      surface.element.style.height = '96px';
      levels.append(el('div', { class: 'map-title' }, el('b', null, text(counter.name)), ` · ${plural(slots, 'slot')} · full ${(100 * full / whole).toFixed(0)} % of the time, empty ${(100 * empty_ / whole).toFixed(0)} %`), surface.element);
    }
    if (pipeCounters.length) body.append(levels);
    container.append(body);
    return { show: () => charts.forEach((chart) => chart.resize()), takesKeys: () => charts.slice(0, 1).map((chart) => chart.canvas), search: (words) => { fill(words.trim().toLowerCase()); tellMatches(null); } };
  },
});
