// Findings: what a check found, and the schedule that shows it, step by step: a lane for each instance, time downwards.

const findings = [...list(object(data.check).findings), ...list(object(data.run).findings)].map(object);

panels.push({
  id: 'findings', title: 'Findings', count: () => findings.length, isBad: () => findings.length > 0,
  make(container) {
    const check = object(data.check);
    if (!data.check && !findings.length) {
      container.append(empty('This folder holds no check.', `kiln check PROG --record --out ${text(data.folder)}`));
      return {};
    }
    if (!findings.length) {
      container.append(el('div', { class: 'cards' }, verdictCard(check)));
      return {};
    }
    container.classList.add('fill');
    return new FindingsPanel(container, check).handle();
  },
});

function verdictCard(check) {
  const verdict = text(check.verdict), plan = object(check.plan), kind = { CLEAN: 'good', FINDINGS: 'bad', INCOMPLETE: 'warn' }[verdict] || '';
  return el('div', { class: 'card wide' }, el('h2', null, el('span', { class: 'pill ' + kind }, verdict || 'checked while it ran')),
    plan.cases === undefined ? null : el('p', null, `${plural(number(plan.cases), 'case')} tried, the first under ${plural(number(plan.seeds), 'schedule')}; ${number(plan.refused)} not allowed by the program; ${number(plan.compared_with_formula)} compared with the formula`),
    ...upTo(200, list(check.groups).map(object), (group) => el('p', null, 'pipes of ', el('code', null, '@' + text(group.name)), `: ${text(group.verdict)}${group.condition ? ` if ${text(group.condition)}` : ''}`)),
    ...upTo(200, list(check.incomplete).map(object), (gap) => el('div', { class: 'problem' }, el('p', { class: 'message' }, text(gap.what)), gap.location ? placeLink(text(gap.location)) : null, el('p', { class: 'dim' }, text(gap.remedy)))));
}

class FindingsPanel {
  constructor(container, check) {
    this.check = check;
    this.left = el('div', { class: 'left' });
    this.right = el('div', { class: 'right' });
    const made = upTo(1000, findings, (finding, at) => el('button', { type: 'button', 'aria-pressed': 'false', on: { click: () => this.choose(at) } },
      el('div', null, el('span', { class: 'badge bad' }, text(finding.kind)), ' ', el('span', { class: 'dim mono' }, shortPlace(finding.location))), el('div', { class: 'words' }, text(finding.message))));
    this.buttons = made.filter((each) => each.tagName === 'BUTTON');
    this.left.append(...made);
    container.append(el('div', { class: 'findings' }, this.left, this.right));
    this.choose(0);
  }
  handle() {
    return { takesKeys: () => this.right.querySelectorAll('.lanes'), search: (words) => {
      const wanted = words.trim().toLowerCase();
      let count = 0;
      this.buttons.forEach((button, at) => {
        const fits = JSON.stringify([findings[at].message, findings[at].kind, placeText(findings[at].location)]).toLowerCase().includes(wanted);
        button.hidden = !fits;
        count += fits;
      });
      tellMatches(wanted ? count : null);
    } };
  }
  choose(at) {
    this.buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(i === at)));
    const finding = findings[at];
    const notes = list(finding.notes).map(object);
    const schedule = object(finding.schedule);
    this.right.replaceChildren(
      el('div', { class: 'card' }, el('p', null, el('span', { class: 'badge bad' }, text(finding.kind)),
        el('span', { class: 'dim' }, ' ' + [
          finding.instance ? `in ${text(finding.instance)}, block [${list(finding.block).join(', ')}] of task ${text(finding.task)}` : '',
          finding.seed !== undefined ? `schedule ${text(finding.seed)}` : '',
          number(finding.count, 1) > 1 ? `found ${finding.count} times` : ''].filter(Boolean).join(', '))),
      el('p', { class: 'message', style: { fontSize: '15px' } }, text(finding.message)), excerpt(finding.location), el('p', null, placeLink(finding.location))),
      notes.length ? el('div', { class: 'card' }, el('h2', null, 'What belongs to it'), ...upTo(100, notes, (note) => el('div', { style: { marginBottom: '10px' } }, el('p', { class: 'message' }, text(note.message), note.location ? el('span', { class: 'dim' }, ' ') : null, note.location ? placeLink(note.location) : null), excerpt(note.location, 1)))) : '',
      list(schedule.steps).length ? this.lanes(finding, schedule) : '',
      finding.replay ? el('div', { class: 'card' }, el('h2', null, 'To see it again'), el('pre', { class: 'message' }, text(finding.replay))) : '',
      verdictCard(this.check));
  }
  /** Where the lanes are wider than their place: what a step does is seen, too. */
  showLane(body, act) {
    const seen = body.getBoundingClientRect(), wanted = act ? act.getBoundingClientRect() : seen;
    if (wanted.left < seen.left) body.scrollLeft -= seen.left - wanted.left + 12;
    else if (wanted.right > seen.right) body.scrollLeft += Math.min(wanted.right - seen.right, wanted.left - seen.left) + 12;
  }
  lanes(finding, schedule) {
    const lanes = list(schedule.lanes).map(object), steps = list(schedule.steps).slice(-1000).map(object); // the finding comes behind the last
    // Few lanes are wide enough to read; those that have the last steps matter most.
    const last = new Map();
    steps.forEach((step, at) => last.set(number(step.lane), at));
    const shown = [...last.keys()].sort((a, b) => last.get(b) - last.get(a)).slice(0, 12).sort((a, b) => a - b);
    const column = new Map(shown.map((lane, at) => [lane, at]));
    const several = new Set(lanes.map((lane) => text(lane.task))).size > 1, blocks = new Set(lanes.map((lane) => list(lane.block).join())).size > 1;
    let now = steps.length - 1;
    const rows = steps.map((step, at) => el('tr', { on: { click: () => move(at) } }, el('td', null, String(at + 1)), ...shown.map((lane) => el('td', null, number(step.lane) === lane
      ? el('div', { class: 'act ' + (/^[a-z]+$/.test(text(step.kind)) ? step.kind : '') }, text(step.what), step.location ? el('small', null, shortPlace(step.location)) : null) : null))));
    const ending = el('tr', { class: 'end' }, el('td', null, ''), el('td', { colspan: shown.length }, el('div', { class: 'act fault' }, text(finding.message).split(/[;\n]/)[0].slice(0, 300))));
    const source = el('div', { id: 'step-source' }), status = el('span', { class: 'hint', id: 'step-status' });
    const slider = el('input', { type: 'range', min: 0, max: steps.length - 1, value: now, 'aria-label': 'Step', style: { flex: '1', minWidth: '120px' }, on: { input: () => move(Number(slider.value)) } });
    const body = el('div', { class: 'lanes', tabindex: '0' }, el('table', null, el('tr', null, el('th', null, 'step'), ...shown.map((lane) => el('th', null, text(object(lanes[lane]).instance),
      el('div', { class: 'dim', style: { fontWeight: '400', fontSize: '11px' } }, [several ? `task ${text(object(lanes[lane]).task)}` : '', blocks ? `block [${list(object(lanes[lane]).block).join(', ')}]` : ''].filter(Boolean).join(', '))))), ...rows, ending));
    const move = (at) => {
      now = Math.max(0, Math.min(steps.length - 1, at));
      rows.forEach((row, i) => { row.className = i === now ? 'on' : i > now ? 'later' : ''; });
      ending.className = now === steps.length - 1 ? 'end' : 'end later';
      slider.value = String(now);
      status.textContent = `step ${now + 1} of ${steps.length}${shown.length < lanes.length ? `, ${lanes.length - shown.length} lanes not drawn` : ''}`;
      const step = steps[now], shownSource = excerpt(step.location, 2);
      source.replaceChildren(el('p', { class: 'message', style: { marginTop: '10px' } }, el('b', null, text(object(lanes[number(step.lane)]).instance)), ' ', text(step.what), ' ', placeLink(step.location) || ''), shownSource || '');
      const row = rows[now];
      if (body.clientHeight) { const top = row.offsetTop - 40; if (top < body.scrollTop || top > body.scrollTop + body.clientHeight - 100) body.scrollTop = Math.max(0, top - body.clientHeight / 2); this.showLane(body, row.querySelector('.act')); }
    };
    const button = (words, title, action) => el('button', { type: 'button', title, on: { click: action } }, words);
    let timer = 0;
    const play = button('Play', 'Step through it', () => {
      if (timer) { clearInterval(timer); timer = 0; play.textContent = 'Play'; return; }
      if (now === steps.length - 1) move(0);
      play.textContent = 'Stop';
      timer = setInterval(() => { if (now >= steps.length - 1 || !play.isConnected) { clearInterval(timer); timer = 0; play.textContent = 'Play'; } else move(now + 1); }, 350);
    });
    body.addEventListener('keydown', (event) => {
      const to = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: steps.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      move(to);
    });
    requestAnimationFrame(() => move(now));
    return el('div', { class: 'card', id: 'schedule' }, el('h2', null, 'The schedule that shows it'),
      el('div', { class: 'steps' }, button('|◀', 'First step', () => move(0)), button('◀', 'Step back', () => move(now - 1)), play, button('▶', 'Step on', () => move(now + 1)), button('▶|', 'Last step', () => move(steps.length - 1)), slider, status),
      body, source);
  }
}
