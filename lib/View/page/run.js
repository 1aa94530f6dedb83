// Run: what ran where, how it ended, and what was wrong.

const outcome = (() => {
  const run = object(data.run), dumped = object(object(data.arguments).run), check = object(data.check);
  const words = { pass: ['passed', 'good'], ran: ['ran', 'good'], fail: ['failed', 'bad'], error: ['error', 'bad'], unfinished: ['did not finish', 'warn'] };
  const [word, kind] = words[run.outcome]
    || { ok: ['ran', 'good'], failed: ['failed', 'bad'], interrupted: ['interrupted', 'warn'] }[dumped.status] || [null, ''];
  return {
    program: text(run.program) || text(dumped.program) || text(check.program) || text(object(data.timeline).title) || text(object(data.graph).title) || text(data.folder),
    platform: text(run.platform) || text(dumped.platform) || text(check.platform),
    word, kind, verdict: text(check.verdict),
  };
})();

panels.push({
  id: 'run', title: 'Run',
  make(container) {
    const run = object(data.run), report = object(run.report), dumped = object(object(data.arguments).run);
    const cards = el('div', { class: 'cards' });
    container.append(cards);
    for (const problem of list(data.problems))
      cards.append(el('div', { class: 'problem wide' }, `${text(object(problem).file)} is left out: ${text(object(problem).message)}`));

    const errors = list(run.errors).map(object);
    if (!errors.length && text(dumped.error)) errors.push({ message: dumped.error });
    if (errors.length)
      cards.append(el('div', { class: 'card wide', id: 'errors' }, el('h2', { class: 'bad' }, errors.length === 1 ? 'Error' : plural(errors.length, 'error')),
        ...upTo(100, errors, (error) => el('div', null, el('p', { class: 'message' }, text(error.message)), excerpt(error.location),
          el('p', null, placeLink(error.location))))));

    const facts = [
      ['program', outcome.program], ['platform', outcome.platform], ['machine', text(run.machine)], ['host', text(run.host)],
      ['outcome', outcome.word], ['check', outcome.verdict],
      ['time', number(report.seconds) > 0 ? timeText(number(report.seconds) * 1e9) : ''],
      ['compiled in', report.compile_seconds !== undefined ? timeText(number(report.compile_seconds) * 1e9) + (report.from_cache ? ' (from the cache)' : '') : ''],
      ['schedule', run.seed !== undefined ? `seed ${text(run.seed)}` : ''], ['inputs', run.data_seed !== undefined ? `seed ${text(run.data_seed)}` : ''],
      ['started', text(run.started)], ['command', text(run.command) || text(object(data.check).command)],
      ['versions', run.kiln ? `Kiln ${text(run.kiln)}, LLVM ${text(run.llvm)}` : `Kiln ${text(data.version)}`], ['folder', text(data.folder)],
    ].filter(([, value]) => value);
    cards.append(el('div', { class: 'card' }, el('h2', null, 'Run'),
      el('dl', null, ...facts.flatMap(([name, value]) => [el('dt', null, name), el('dd', { class: name === 'command' || name === 'folder' ? 'mono' : '' }, value)]))));

    const config = Object.entries(object(run.config)).slice(0, 1000);
    const given = list(run.arguments).map(object);
    if (given.length || config.length)
      cards.append(el('div', { class: 'card' }, el('h2', null, 'Arguments and parameters'),
        given.length ? el('table', null, el('tr', null, ...['name', '', 'type', 'given'].map((head) => el('th', null, head))),
          ...upTo(1000, given, (arg) => el('tr', null, el('td', { class: 'mono' }, text(arg.name)), el('td', { class: 'dim' }, text(arg.direction)),
            el('td', { class: 'mono' }, text(arg.type) + (arg.value !== undefined ? ` = ${text(arg.value)}` : '')), el('td', { class: 'mono dim' }, text(arg.given))))) : null,
        config.length ? el('dl', { style: { marginTop: '12px' } }, ...config.flatMap(([name, value]) => [el('dt', null, '--' + name), el('dd', { class: 'mono' }, text(value))])) : null));

    const checks = list(report.checks).map(object);
    const unwritten = list(report.unwritten).map(object);
    if (checks.length || unwritten.length || list(report.skipped).length)
      cards.append(el('div', { class: 'card' }, el('h2', null, 'Results'),
        el('table', null, el('tr', null, el('th', null, 'output'), el('th', null, 'against'), el('th', { class: 'number' }, 'largest error'), el('th', null, '')),
          ...upTo(1000, checks, (check) => el('tr', null, el('td', { class: 'mono' }, text(check.output)), el('td', null, text(check.against)),
            el('td', { class: 'number' }, check.max_error === null ? 'NaN' : valueText(check.max_error)),
            el('td', { class: check.ok === true ? 'good' : 'bad' }, check.ok === true ? 'ok' : `wrong: ${text(check.worst)}`))),
          ...upTo(1000, unwritten, (each) => el('tr', null, el('td', { class: 'mono' }, text(each.output)), el('td', null, 'written whole'), el('td', { class: 'number' }, ''),
            el('td', { class: 'bad' }, `${text(each.elements)} of ${text(each.of)} elements were not written, the first ${text(each.first)}`)))),
        ...upTo(100, list(report.skipped), (reason) => el('p', { class: 'dim' }, 'skipped: ' + text(reason)))));

    if (graph.isThere) {
      const kernels = new Map();
      let busy = 0;
      for (const task of graph.tasks) {
        const known = kernels.get(task.kernel) || { count: 0, time: 0 };
        known.count += 1;
        known.time += task.length * 1e3;
        busy += task.length * 1e3;
        kernels.set(task.kernel, known);
      }
      const rows = [...kernels].sort((a, b) => b[1].time - a[1].time).slice(0, 12);
      cards.append(el('div', { class: 'card' }, el('h2', null, 'Where the time went'),
        el('p', { class: 'dim' }, `${plural(graph.tasks.length, 'task')}, critical path ${timeText(graph.critical)}`),
        el('table', null, el('tr', null, el('th', null, 'kernel'), el('th', { class: 'number' }, 'tasks'), el('th', { class: 'number' }, 'time'), el('th', { class: 'number' }, 'share')),
          ...rows.map(([name, { count, time }]) => el('tr', null, el('td', { class: 'mono' }, name), el('td', { class: 'number' }, String(count)),
            el('td', { class: 'number' }, timeText(time)), el('td', { class: 'number' }, busy ? `${(100 * time / busy).toFixed(0)} %` : ''))))));
    }
  },
});
