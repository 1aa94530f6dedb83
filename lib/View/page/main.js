// The frame around the panels: head, tabs, search, theme and keys.

const order = ['run', 'timeline', 'graph', 'arguments', 'pipes', 'memory', 'code', 'findings'];
panels.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));

document.title = `${outcome.program} – Kiln`;
document.getElementById('title').textContent = outcome.program;
document.getElementById('pills').append(...[
  outcome.platform ? el('span', { class: 'pill' }, outcome.platform) : null,
  outcome.word ? el('span', { class: 'pill ' + outcome.kind }, outcome.word) : null,
  outcome.verdict ? el('span', { class: 'pill ' + ({ CLEAN: 'good', FINDINGS: 'bad' }[outcome.verdict] || 'warn') }, outcome.verdict.toLowerCase()) : null,
  list(data.problems).length ? el('span', { class: 'pill warn' }, plural(data.problems.length, 'file') + ' left out') : null,
].filter(Boolean));

document.getElementById('tabs').append(...panels.map((panel, at) => {
  const count = panel.count ? panel.count() : 0;
  return el('button', { type: 'button', role: 'tab', 'data-panel': panel.id, 'aria-selected': 'false', title: `${panel.title} (${at + 1})`, on: { click: () => go(panel.id) } },
    panel.title, count ? el('span', { class: 'count' + (panel.isBad && panel.isBad() ? ' bad' : '') }, count.toLocaleString('en')) : null);
}));

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  for (const surface of surfaces) if (surface.canvas.isConnected) surface.draw(); else surfaces.delete(surface);
}
const wantsDark = matchMedia('(prefers-color-scheme: dark)');
wantsDark.addEventListener('change', () => setTheme(wantsDark.matches ? 'dark' : 'light'));
document.getElementById('theme').addEventListener('click', () => setTheme(theme.isDark ? 'light' : 'dark'));
setTheme(wantsDark.matches ? 'dark' : 'light');

const search = document.getElementById('search');
function searchNow(step) {
  const { handle } = made.get(current) || {};
  if (handle && handle.search) handle.search(search.value, step);
}
search.addEventListener('input', () => searchNow(0));
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') searchNow(event.shiftKey ? -1 : 1);
  else if (event.key === 'Escape') { search.value = ''; searchNow(0); search.blur(); }
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === '/') { event.preventDefault(); search.focus(); search.select(); }
  else if (/^[1-8]$/.test(event.key) && panels[Number(event.key) - 1]) go(panels[Number(event.key) - 1].id);
  else if (!event.target.closest('.panel')) passKey(event);
});
/** A key that nothing in the panel was given, as after choosing it: for what it has that takes keys, one after the other. */
function passKey(event) {
  const { handle } = made.get(current) || {};
  for (const element of handle && handle.takesKeys ? handle.takesKeys() : []) {
    const passed = new KeyboardEvent('keydown', { key: event.key, shiftKey: event.shiftKey, cancelable: true });
    if (!element.dispatchEvent(passed)) return event.preventDefault();
  }
}

// First what matters most: what went wrong, then what was run.
const asked = location.hash.slice(1);
const first = panels.some((panel) => panel.id === asked) ? asked : findings.length && !list(object(data.run).errors).length ? 'findings' : 'run';
go(first);
addEventListener('hashchange', () => { if (location.hash.slice(1) !== current) go(location.hash.slice(1)); });
