// Code: the source, the program after each pass with what that changed, and the emitted code. A line leads to those it comes from.

const mostStages = 1000; // passes; no platform has a hundred

const code = (() => {
  const from = object(data.code), stages = [];
  for (const stage of list(from.stages).slice(0, mostStages).map(object)) {
    const before = stages[stages.length - 1];
    stages.push(stage.same === true && before ? { ...before, name: text(stage.name), isSame: true }
      : { name: text(stage.name), text: text(stage.text), lines: list(stage.lines).map(list) });
  }
  return { stages, leftOut: Math.max(0, list(from.stages).length - mostStages), emitted: list(from.emitted).slice(0, mostStages).map(object).map((each) => ({ name: text(each.name), text: text(each.text), lines: list(each.lines).map(list) })) };
})();

/** A line without the numbers of values, which change with every value that is added before them. */
const withoutNumbers = (line) => line.replace(/%(\w*_)?\d+/g, '%').replace(/#map\d*/g, '#map');

/** Lines of two texts as [kind, line before, line after]: ' ' in both, '-' only before, '+' only after. Null if they are too different to say. */
function compareLines(linesBefore, linesAfter) {
  const before = linesBefore.map(withoutNumbers), after = linesAfter.map(withoutNumbers);
  let start = 0, beforeEnd = before.length, afterEnd = after.length;
  while (start < beforeEnd && start < afterEnd && before[start] === after[start]) ++start;
  while (beforeEnd > start && afterEnd > start && before[beforeEnd - 1] === after[afterEnd - 1]) { --beforeEnd; --afterEnd; }
  const a = before.slice(start, beforeEnd), b = after.slice(start, afterEnd);
  // Myers: the shortest way from one to the other, found by the number of changes.
  const most = Math.min(a.length + b.length, 1500), offset = most + 1, reach = new Int32Array(2 * most + 3), steps = [];
  let found = -1;
  for (let d = 0; d <= most && found < 0; ++d) {
    steps.push(reach.slice(offset - d - 1, offset + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && reach[offset + k - 1] < reach[offset + k + 1]) ? reach[offset + k + 1] : reach[offset + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      reach[offset + k] = x;
      if (x >= a.length && x - k >= b.length) { found = d; break; }
    }
  }
  if (found < 0) return null;
  const middle = [];
  let x = a.length, y = b.length;
  for (let d = found; d > 0; --d) {
    const row = steps[d], at = (k) => row[k + d + 1], k = x - y;
    const from = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const fromX = at(from), fromY = fromX - from;
    while (x > fromX && y > fromY) { --x; --y; middle.push([' ', x, y]); }
    if (from === k + 1) { --y; middle.push(['+', -1, y]); } else { --x; middle.push(['-', x, -1]); }
  }
  while (x > 0 && y > 0) { --x; --y; middle.push([' ', x, y]); }
  middle.reverse();
  const rows = [];
  for (let i = 0; i < start; ++i) rows.push([' ', i, i]);
  for (const [kind, i, j] of middle) rows.push([kind, i < 0 ? -1 : i + start, j < 0 ? -1 : j + start]);
  for (let i = 0; beforeEnd + i < before.length; ++i) rows.push([' ', beforeEnd + i, afterEnd + i]);
  return rows;
}

panels.push({
  id: 'code', title: 'Code', count: () => code.stages.length,
  make(container) {
    if (!code.stages.length && !files.length) {
      container.append(empty('This folder does not hold the program’s code.', `kiln run PROG --record --out ${text(data.folder)}`));
      return {};
    }
    container.classList.add('fill');
    return new CodePanel(container).handle();
  },
});

class CodePanel {
  constructor(container) {
    this.file = files.find((file) => file.text) || files[0] || { name: '', text: '' };
    this.marked = new Set(); // lines of the source, as "file:line"
    this.words = '';
    this.showsChanges = true;
    this.sourceList = new LongList(19, (at) => this.sourceRow(at));
    this.codeList = new LongList(19, (at) => this.codeRow(at));
    this.sourceHead = el('div', { class: 'code-head' });
    this.codeHead = el('div', { class: 'code-head' });
    this.stageList = el('div', { class: 'stages' });
    const fileChooser = files.length > 1 ? el('select', { id: 'code-file', 'aria-label': 'File', on: { change: () => this.showFile(files[Number(fileChooser.value)].name) } },
      ...upTo(2000, files, (file, at) => el('option', { value: at }, file.name.replace(/^.*\//, '')))) : null;
    this.fileChooser = fileChooser;
    const changes = el('button', { type: 'button', 'aria-pressed': 'true', id: 'code-changes', on: { click: () => {
      this.showsChanges = !this.showsChanges;
      changes.setAttribute('aria-pressed', String(this.showsChanges));
      this.choose(this.chosen);
    } } }, 'What a pass changed');
    container.append(el('div', { class: 'bar' }, fileChooser, changes, el('span', { class: 'hint' }, 'Click a line: its source, or what it became, is marked.')),
      el('div', { class: 'code' }, el('div', null, this.sourceHead, this.sourceList.element), this.stageList, el('div', null, this.codeHead, this.codeList.element)));
    this.showFile(this.file.name);
    this.makeStages();
    this.choose(code.stages[0] || code.emitted[0]);
  }
  handle() {
    return {
      show: () => { this.sourceList.draw(); this.codeList.draw(); },
      search: (words, step) => this.search(words, step),
      go: ({ file, line }) => { this.showFile(file); this.mark(file, line); this.sourceList.reveal(line - 1); this.revealCode(); },
    };
  }
  showFile(name) {
    const at = files.findIndex((file) => file.name === name);
    if (at < 0) return;
    this.file = files[at];
    if (this.fileChooser) this.fileChooser.value = String(at);
    this.source = linesOf(name);
    this.sourceHead.textContent = this.source.length ? name : `${name} cannot be read`;
    this.sourceList.setLength(this.source.length);
  }
  makeStages() {
    const button = (each, extra, isUnchanged) => {
      each.button = el('button', { type: 'button', 'aria-pressed': 'false', class: isUnchanged ? 'unchanged' : '', title: each.name, on: { click: () => this.choose(each) } }, el('span', null, each.name), extra);
      return each.button;
    };
    const rows = [el('h3', null, 'After each pass')], uncounted = [];
    code.stages.forEach((stage, at) => {
      const before = code.stages[at - 1];
      stage.rows = () => (stage.known = stage.known || { rows: before && !stage.isSame ? compareLines(before.text.split('\n'), stage.text.split('\n')) : null });
      let extra = el('span', { class: 'dim' }, at === 0 ? '' : 'same');
      if (before && !stage.isSame) {
        extra = el('span', null, '…');
        uncounted.push({ stage, counts: extra });
      }
      rows.push(button(stage, extra, stage.isSame));
    });
    if (code.leftOut) rows.push(el('p', { class: 'hint' }, `and ${plural(code.leftOut, 'pass', 'passes')} more`));
    if (code.emitted.length) rows.push(el('h3', null, 'Emitted'), ...code.emitted.map((each) => button(each, el('span', { class: 'dim' }, `${each.text.split('\n').length} lines`))));
    this.stageList.replaceChildren(...rows);
    // One after the other, so that the page answers meanwhile.
    const countNext = () => {
      const next = uncounted.shift();
      if (!next) return;
      const rowsOf = next.stage.rows().rows, count = (kind) => rowsOf.filter((row) => row[0] === kind).length;
      next.counts.replaceChildren(...(rowsOf ? [el('span', { class: 'good' }, `+${count('+')}`), ' ', el('span', { class: 'bad' }, `−${count('-')}`)] : ['rewritten']));
      setTimeout(countNext);
    };
    setTimeout(countNext);
  }
  choose(stage) {
    if (!stage) return;
    this.chosen = stage;
    for (const each of [...code.stages, ...code.emitted]) each.button.setAttribute('aria-pressed', String(each === stage));
    const after = stage.text.split('\n'), at = code.stages.indexOf(stage);
    const changed = this.showsChanges && at > 0 && !stage.isSame ? stage.rows().rows : null;
    const before = changed ? code.stages[at - 1].text.split('\n') : [];
    const origin = new Map(stage.lines.map(([line, file, source]) => [line, { file: text(object(files[file]).name), line: number(source) }]));
    this.rows = changed ? changed.map(([kind, i, j]) => ({ kind, number: j < 0 ? '' : j + 1, text: j < 0 ? before[i] : after[j], origin: j < 0 ? null : origin.get(j + 1) }))
      : after.map((line, i) => ({ kind: ' ', number: i + 1, text: line, origin: origin.get(i + 1) }));
    this.codeHead.textContent = stage.name + (stage.isSame ? ' (as before)' : changed ? ' (with what it changed)' : '');
    this.codeList.setLength(this.rows.length);
    const firstChange = this.rows.findIndex((row) => row.kind !== ' ');
    if (this.marked.size) this.revealCode();
    else this.codeList.reveal(Math.max(0, firstChange - 3));
  }
  isMarked(origin) { return !!origin && this.marked.has(`${origin.file}:${origin.line}`); }
  mark(file, line) {
    this.marked = new Set([`${file}:${line}`]);
    this.sourceList.draw();
    this.codeList.draw();
  }
  revealCode() {
    const at = this.rows.findIndex((row) => this.isMarked(row.origin));
    if (at >= 0) this.codeList.reveal(at);
  }
  sourceRow(at) {
    const line = this.source[at], isFound = this.words && line.toLowerCase().includes(this.words);
    return el('div', { class: 'line' + (this.marked.has(`${this.file.name}:${at + 1}`) ? ' on' : '') + (isFound ? ' found' : ''), on: { click: () => { this.mark(this.file.name, at + 1); this.revealCode(); } } },
      el('span', { class: 'n' }, String(at + 1)), el('span', { class: 't' }, line));
  }
  codeRow(at) {
    const row = this.rows[at], isFound = this.words && row.text.toLowerCase().includes(this.words);
    return el('div', { class: 'line' + ({ '+': ' plus', '-': ' minus' }[row.kind] || '') + (this.isMarked(row.origin) ? ' on' : '') + (isFound ? ' found' : ''), on: { click: () => {
      if (!row.origin) return;
      this.showFile(row.origin.file);
      this.mark(row.origin.file, row.origin.line);
      this.sourceList.reveal(row.origin.line - 1);
    } } }, el('span', { class: 'n' }, String(row.number)), el('span', { class: 's' }, row.kind === '-' ? '−' : row.kind), el('span', { class: 't' }, row.text));
  }
  search(words, step) {
    this.words = words.trim().toLowerCase();
    const found = [];
    if (this.words) {
      this.source.forEach((line, at) => { if (line.toLowerCase().includes(this.words)) found.push([this.sourceList, at]); });
      this.rows.forEach((row, at) => { if (row.text.toLowerCase().includes(this.words)) found.push([this.codeList, at]); });
    }
    this.foundAt = step ? ((this.foundAt === undefined ? -1 : this.foundAt) + step + found.length) % Math.max(1, found.length) : undefined;
    if (step && found.length) found[this.foundAt][0].reveal(found[this.foundAt][1]);
    tellMatches(this.words ? found.length : null, step && found.length ? this.foundAt : undefined);
    this.sourceList.draw();
    this.codeList.draw();
  }
}
