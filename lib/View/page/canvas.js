// A canvas that is as large as its place, sharp on every screen, drawn at most once a frame, and moved with pointer and keys.

class Surface {
  /** `draw(context, width, height)`; `moves`: {drag(dx, dy), zoom(factor, x, y), click(x, y), hover(x, y, event), key(event)} */
  constructor(draw, moves, label) {
    this.canvas = el('canvas', { tabindex: '0', role: 'img', 'aria-label': label });
    this.element = el('div', { class: 'stage' }, this.canvas);
    this.context = this.canvas.getContext('2d');
    this.drawNow = draw;
    this.isWaiting = false;
    new ResizeObserver(() => this.resize()).observe(this.element);
    surfaces.add(this);
    this.listen(moves);
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint();
  }
  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.paint(); });
  }
  paint() {
    if (!this.width) return;
    this.context.clearRect(0, 0, this.width, this.height);
    this.drawNow(this.context, this.width, this.height);
  }

  listen(moves) {
    const { canvas } = this;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let held = null, moved = 0;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      held = at(event);
      moved = 0;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      const [x, y] = at(event);
      if (held) {
        moved += Math.abs(x - held[0]) + Math.abs(y - held[1]);
        if (moves.drag && moved > 3) { moves.drag(x - held[0], y - held[1]); held = [x, y]; this.draw(); }
      } else if (moves.hover) moves.hover(x, y, event);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (held && moved <= 3 && moves.click) { moves.click(...at(event)); this.draw(); }
      held = null;
    });
    canvas.addEventListener('pointerleave', () => { hideTip(); if (moves.leave) moves.leave(); });
    canvas.addEventListener('wheel', (event) => {
      if (!moves.zoom) return;
      event.preventDefault();
      const [x, y] = at(event);
      const pixels = event.deltaMode === 1 ? 30 : 1;
      if (event.shiftKey && moves.drag) moves.drag(-(event.deltaX || event.deltaY) * pixels, 0);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && moves.drag) moves.drag(-event.deltaX * pixels, 0);
      else moves.zoom(Math.exp(-event.deltaY * pixels * 0.0015), x, y);
      this.draw();
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const middle = [this.width / 2, this.height / 2];
      const step = { ArrowLeft: [80, 0], a: [80, 0], ArrowRight: [-80, 0], d: [-80, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      const factor = { '+': 1.4, '=': 1.4, w: 1.4, '-': 1 / 1.4, s: 1 / 1.4 }[event.key];
      if (step && moves.drag) moves.drag(...step);
      else if (factor && moves.zoom) moves.zoom(factor, ...middle);
      else if (!(moves.key && moves.key(event))) return;
      event.preventDefault();
      this.draw();
    });
  }
}
const surfaces = new Set();

/** A part of a long axis, which can be moved and stretched but not left. */
class Range {
  constructor(from, to, least) {
    this.all = [from, to > from ? to : from + 1];
    this.least = least || (this.all[1] - this.all[0]) * 1e-7;
    this.reset();
  }
  reset() { [this.from, this.to] = this.all; }
  get length() { return this.to - this.from; }
  move(by) { this.set(this.from + by, this.to + by); }
  zoom(factor, around) {
    const length = Math.max(this.least, this.length / factor);
    const share = (around - this.from) / this.length;
    this.set(around - share * length, around + (1 - share) * length);
  }
  set(from, to) {
    const most = this.all[1] - this.all[0], length = Math.min(to - from, most);
    this.from = Math.max(this.all[0], Math.min(from, this.all[1] - length));
    this.to = this.from + length;
  }
}

/** Round numbers for an axis; of bytes, powers of two. */
function ticks(from, to, count, isBytes) {
  const rough = (to - from) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = isBytes ? 2 ** Math.ceil(Math.log2(Math.max(rough, 1))) : [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) || power;
  const marks = [];
  for (let at = Math.ceil(from / step) * step; at <= to && marks.length < 100; at += step) marks.push(at);
  return marks;
}

/** Text that is cut where it would leave its place. */
function fitText(context, words, x, y, width) {
  if (width < 14) return;
  let shown = words.length > 200 ? words.slice(0, 200) : words;
  const size = context.measureText(shown).width;
  if (size > width) {
    let keep = Math.floor(shown.length * width / size);
    const cut = () => shown.slice(0, keep) + '…';
    while (keep >= 2 && context.measureText(cut()).width > width) --keep;
    if (keep < 2) return;
    shown = cut();
  }
  context.fillText(shown, x, y);
}

/** What is written beside a mark of an axis, unless it would leave the drawing. */
function tickText(context, words, x, y, width) {
  if (x + context.measureText(words).width <= width) context.fillText(words, x, y);
}

function hatch(context) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const on = tile.getContext('2d');
  on.strokeStyle = colour('wait');
  on.lineWidth = 1.5;
  on.beginPath();
  on.moveTo(-1, 7); on.lineTo(7, -1);
  on.stroke();
  return context.createPattern(tile, 'repeat');
}
