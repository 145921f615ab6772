// SPDX-License-Identifier: BSD-3-Clause
// The status page: draws the data that stand in the page, then takes newer data from the same file, loaded unseen in a
// frame (this also works from file://, where scripts may not read files), and changes only what has changed: no flicker.
'use strict';

(() => {
  const {h, byId, setText, duration, count, counted} = Page;
  const embedded = JSON.parse(byId('data').textContent);
  if (window.parent !== window && location.hash === '#feed') {
    window.parent.postMessage({fiberloomStatus: embedded}, location.protocol === 'file:' ? '*' : location.origin);
    return;
  }

  // The order is the one in which states are listed; words are those of status.json.
  const GLYPHS = {done: '✓', 'up-to-date': '=', computing: '▶', reading: '↓', writing: '↑', claimed: '…', waiting: '·',
    failed: '✕', missing: '?', abandoned: '■'};
  const MEANING = {done: 'done', 'up-to-date': 'up to date', computing: 'computing', reading: 'reading',
    writing: 'writing', claimed: 'in another run', waiting: 'waiting', failed: 'failed', missing: 'input missing',
    abandoned: 'stopped'};
  const ARMS = ['b', 'r', 'z'];
  const SETTLED = new Set(['done', 'up-to-date', 'failed', 'missing']);
  const MAX_ROWS = 12, MAX_FAILURES = 200;
  const VERDICT_GLYPHS = {good: '✓', odd: '!', bad: '‼'};
  let view = 'verdict';  // what colours the cells: the worst verdict, that of one metric, or the state alone

  const charts = {
    rate: Charts.make(byId('rate'), ['frames an hour']),
    stages: Charts.make(byId('stages'), ['read', 'compute', 'write']),
    queue: Charts.make(byId('queue'), ['waiting']),
  };
  let data = null, rowsOfGrid = [], cursor = null, shape = '';

  /** Row of the data's table as an object: name, night, expid, camera, state, ... */
  function frames(d) {
    return d.frames.map((row) => Object.fromEntries(d.columns.map((name, k) => [name, row[k]])));
  }

  function tally(list) {
    const n = Object.fromEntries(Object.keys(GLYPHS).map((state) => [state, 0]));
    for (const frame of list) n[frame.state] += 1;
    return n;
  }

  function drawBar(n, total) {
    const order = ['done', 'up-to-date', 'failed', 'missing', 'abandoned', 'writing', 'computing', 'reading', 'claimed'];
    const parts = order.filter((state) => n[state] > 0);
    byId('bar').replaceChildren(...parts.map((state) => h('span', {class: state, title: `${n[state]} ${MEANING[state]}`,
      style: `width:${(100 * n[state] / total).toFixed(3)}%`})));
    byId('bar').setAttribute('aria-label', parts.map((state) => `${n[state]} ${MEANING[state]}`).join(', ') +
      ` of ${total} frames`);
    const shown = Object.keys(GLYPHS).filter((state) => n[state] > 0);
    byId('legend').replaceChildren(...shown.map((state) => h('li', {},
      h('span', {class: 'cell ' + state, 'aria-hidden': 'true'}, GLYPHS[state]), `${count(n[state])} ${MEANING[state]}`)));
  }

  function tile(name, value, unit, meter) {
    const dd = h('dd', {}, value, unit ? h('small', {}, unit) : null);
    if (meter !== undefined) {
      dd.append(h('div', {class: 'meter' + (meter > 1 ? ' over' : '')},
        h('i', {style: `width:${Math.min(100, 100 * meter).toFixed(1)}%`})));
    }
    return h('div', {}, h('dt', {}, name), dd);
  }

  function drawTiles(d, n, total) {
    const settled = Object.keys(n).reduce((sum, state) => sum + (SETTLED.has(state) ? n[state] : 0), 0);
    const tiles = [tile('settled', count(settled), 'of ' + count(total))];
    tiles.push(tile('rate', d.frames_per_node_hour > 0 ? Page.brief(d.frames_per_node_hour, 4) : '–', 'frames a node-hour'));
    tiles.push(tile('elapsed', duration(d.elapsed_s)));
    if (!d.finished) tiles.push(tile('time left', d.left_s >= 0 ? duration(d.left_s) : '–', d.left_s >= 0 ? 'expected' : 'not known yet'));
    if (d.memory_budget_bytes > 0) {
      tiles.push(tile('memory', Page.bytes(d.memory_bytes), 'of ' + Page.bytes(d.memory_budget_bytes),
        d.memory_bytes / d.memory_budget_bytes));
    } else {
      tiles.push(tile('memory', Page.bytes(d.memory_bytes)));
    }
    tiles.push(tile('read', Page.bytes(d.bytes_in)), tile('written', Page.bytes(d.bytes_out)));
    byId('tiles').replaceChildren(...tiles);
  }

  function drawPhase(d) {
    const age = Date.now() / 1000 - d.updated_unix_s;
    const phase = byId('phase');
    const stale = !d.finished && age > 60;
    phase.className = 'phase' + (stale ? ' stale' : d.finished ? '' : ' running');
    setText(phase, d.finished ? 'finished' : stale ? `no news for ${duration(age)}` :
      d.watching ? 'running, waits for new exposures' : 'running');
    const clock = (unix) => unix > 0 ? new Date(1000 * unix).toLocaleString() : '–';
    setText(byId('where'), `${d.program} on ${d.host || 'an unnamed host'} · ${counted(d.ranks, 'rank')} x ` +
      `${counted(d.threads, 'thread')} · started ${clock(d.started_unix_s)} · as of ${clock(d.updated_unix_s)}`);
  }

  function drawLists(d, list) {
    const warnings = byId('warnings');
    warnings.hidden = d.warnings.length === 0;
    warnings.querySelector('ul').replaceChildren(...d.warnings.map((text) => h('li', {class: 'wrap'}, text)));
    const failed = list.filter((f) => f.state === 'failed' || f.state === 'missing');
    byId('failures').hidden = failed.length === 0;
    setText(byId('failure-count'), count(failed.length));
    byId('failures').querySelector('tbody').replaceChildren(...failed.slice(0, MAX_FAILURES).map((f) => h('tr', {},
      h('td', {}, f.name), h('td', {}, f.message || MEANING[f.state]), h('td', {class: 'n'}, f.exit_code ? String(f.exit_code) : ''),
      h('td', {class: 'n'}, f.attempts ? String(f.attempts) : ''))));
    setText(byId('more-failures'), failed.length > MAX_FAILURES ? `and ${failed.length - MAX_FAILURES} more; all are in status.json` : '');
    const slowest = list.filter((f) => f.seconds > 0 && f.state !== 'up-to-date' && f.state !== 'claimed')
      .sort((a, b) => b.seconds - a.seconds).slice(0, MAX_ROWS);
    byId('slowest').tBodies[0].replaceChildren(...slowest.map((f) => h('tr', {}, h('td', {}, Quality.nameOf(f)),
      h('td', {class: 'spark'}, h('i', {style: `width:${(100 * f.seconds / slowest[0].seconds).toFixed(1)}%`})),
      h('td', {class: 'n'}, duration(f.seconds)), h('td', {class: 'soft'}, SETTLED.has(f.state) ? '' : MEANING[f.state]))));
    if (slowest.length === 0) byId('slowest').tBodies[0].append(h('tr', {}, h('td', {class: 'soft'}, 'none has been in work yet')));
  }

  function splitCamera(name) {
    const match = /^([a-z]+)(\d+)$/.exec(name);
    return match ? {arm: match[1], unit: Number(match[2])} : {arm: name, unit: Infinity};
  }

  function cameraOrder(a, b) {
    const p = splitCamera(a), q = splitCamera(b);
    const arm = (c) => ARMS.indexOf(c.arm) < 0 ? ARMS.length : ARMS.indexOf(c.arm);
    return (p.unit === q.unit ? 0 : p.unit - q.unit) || arm(p) - arm(q) || (a < b ? -1 : 1);
  }

  /** Builds the empty grid; cells are filled by fillGrid. */
  function buildGrid(list, cameras) {
    const units = [];
    for (const camera of cameras) {
      const {unit} = splitCamera(camera);
      if (units.length && units[units.length - 1].unit === unit) units[units.length - 1].n += 1;
      else units.push({unit, n: 1, camera});
    }
    const firsts = new Set(units.slice(1).map((u) => u.camera));
    const head = h('thead', {}, h('tr', {}, h('th', {}), ...units.map((u) => h('th', {colspan: u.n,
      class: firsts.has(u.camera) ? 'first' : null, scope: 'colgroup'}, Number.isFinite(u.unit) ? String(u.unit) : ''))),
    h('tr', {}, h('th', {scope: 'col'}, 'exp.'), ...cameras.map((camera) => h('th', {scope: 'col', title: camera,
      class: 'camera' + (firsts.has(camera) ? ' first' : '')}, splitCamera(camera).arm))));
    const body = h('tbody', {});
    const rows = new Map();
    const nights = new Set(list.map((f) => f.night));
    let night = null;
    rowsOfGrid = [];
    for (const frame of list) {
      const key = frame.night + '/' + frame.expid;
      if (rows.has(key)) continue;
      if (nights.size > 1 && frame.night !== night) {
        body.append(h('tr', {class: 'night'}, h('th', {colspan: cameras.length + 1}, frame.night || 'no night')));
      }
      night = frame.night;
      const cells = cameras.map((camera) => h('td', {class: firsts.has(camera) ? 'first' : null}));
      rows.set(key, cells);
      rowsOfGrid.push(cells);
      body.append(h('tr', {}, h('th', {scope: 'row'}, String(frame.expid)), ...cells));
    }
    byId('grid').replaceChildren(head, body);
    return rows;
  }

  /** Class and glyph of a frame's cell. */
  function look(frame) {
    const word = view === 'state' ? null : Quality.verdict(frame, view === 'verdict' ? undefined : view);
    return word ? [word, VERDICT_GLYPHS[word], `${MEANING[frame.state]}, ${word}`] :
      [frame.state, GLYPHS[frame.state], MEANING[frame.state]];
  }

  function drawVerdicts(list) {
    const words = list.map((f) => (view === 'state' ? null : Quality.verdict(f, view === 'verdict' ? undefined : view)));
    byId('verdicts').replaceChildren(...Quality.VERDICTS.filter((word) => words.includes(word)).map((word) => h('li', {},
      h('span', {class: 'cell ' + word, 'aria-hidden': 'true'}, VERDICT_GLYPHS[word]),
      `${count(words.filter((w) => w === word).length)} ${word}`)));
  }

  let cellsOf = new Map();
  function fillGrid(list) {
    const cameras = [...new Set(list.map((f) => f.camera))].sort(cameraOrder);
    const now = cameras.join() + '|' + [...new Set(list.map((f) => f.night + '/' + f.expid))].join();
    if (now !== shape) {
      shape = now;
      cellsOf = buildGrid(list, cameras);
      cursor = null;
    }
    for (const frame of list) {
      const cell = cellsOf.get(frame.night + '/' + frame.expid)[cameras.indexOf(frame.camera)];
      const [word, glyph, meaning] = look(frame);
      const name = 'cell ' + word + (cell.classList.contains('first') ? ' first' : '') + (cell === cursor ? ' at' : '');
      if (cell.className !== name) cell.className = name;
      const label = `${frame.name} ${meaning}${frame.report ? ', report' : ''}`;
      if (cell.getAttribute('aria-label') !== label || cell.frame.report !== frame.report) {
        cell.replaceChildren(frame.report ? h('a', {href: frame.report, tabindex: '-1'}, glyph) : glyph);
        cell.setAttribute('aria-label', label);
      }
      cell.frame = frame;
    }
    drawVerdicts(list);
    setText(byId('grid-note'), `${counted(cellsOf.size, 'exposure')}, ${counted(cameras.length, 'camera')}`);
  }

  function describe(f) {
    const lines = [`${f.name}  ${MEANING[f.state]}`];
    if (f.seconds > 0) lines.push(`${duration(f.seconds)}${data.ranks > 1 ? ` on rank ${f.rank}` : ''}`);
    lines.push(...Quality.lines(f));
    if (f.attempts > 1) lines.push(`${f.attempts} tries`);
    if (f.report) lines.push('click: its report');
    if (f.message) lines.push(f.message);
    return lines.join('\n');
  }

  function point(cell, x, y) {
    if (!cell || !cell.frame) { Page.hideTip(); return; }
    Page.showTip(describe(cell.frame), x, y);
  }

  function watchGrid() {
    const box = byId('grid-box');
    const over = (event) => point(event.target.closest('td.cell'), event.clientX, event.clientY);
    box.addEventListener('pointermove', over);
    box.addEventListener('pointerdown', over);
    box.addEventListener('pointerleave', Page.hideTip);
    box.addEventListener('scroll', Page.hideTip, {passive: true});
    box.addEventListener('blur', () => { if (cursor) cursor.classList.remove('at'); cursor = null; Page.hideTip(); });
    box.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && cursor && cursor.frame && cursor.frame.report) location.assign(cursor.frame.report);
      const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!step || rowsOfGrid.length === 0) return;
      event.preventDefault();
      let row = rowsOfGrid.findIndex((cells) => cells.includes(cursor));
      let column = row < 0 ? 0 : rowsOfGrid[row].indexOf(cursor);
      row = row < 0 ? 0 : Math.max(0, Math.min(rowsOfGrid.length - 1, row + step[0]));
      column = cursor === null ? 0 : Math.max(0, Math.min(rowsOfGrid[0].length - 1, column + step[1]));
      if (cursor) cursor.classList.remove('at');
      cursor = rowsOfGrid[row][column];
      cursor.classList.add('at');
      cursor.scrollIntoView({block: 'nearest', inline: 'nearest'});
      const place = cursor.getBoundingClientRect();
      point(cursor, place.right, place.bottom);
    });
  }

  function drawCharts(d) {
    const t = d.samples.map((s) => s[0]);
    const finished = d.samples.map((s) => s[1] + s[2]);
    charts.rate.show(t, [Charts.rates(t, finished)], (v) => Page.brief(v, 3));
    charts.stages.show(t, [3, 4, 5].map((k) => d.samples.map((s) => s[k])), (v) => Math.round(100 * v) + ' %', 1);
    charts.queue.show(t, [d.samples.map((s) => s[6])], (v) => Page.brief(v, 2));
  }

  function show(d) {
    data = d;
    const list = frames(d), n = tally(list);
    const settled = list.filter((f) => SETTLED.has(f.state)).length;
    setText(byId('title'), d.title);
    document.title = `${list.length ? Math.floor(100 * settled / list.length) + ' % ' : ''}${d.title} - Fiberloom`;
    drawPhase(d);
    drawBar(n, Math.max(1, list.length));
    drawTiles(d, n, list.length);
    drawLists(d, list);
    fillGrid(list);
    Quality.show(d, list);
    drawCharts(d);
  }

  // The unseen frame. Every load runs this script in it, which posts its data and stops there.
  let feed = null, heard = false, lost = 0;
  function ask() {
    if (feed) feed.remove();
    lost += 1;
    if (!heard && lost > 4) {  // frames are forbidden here: load the whole page
      location.reload();
      return;
    }
    feed = h('iframe', {hidden: '', title: 'newer data', 'aria-hidden': 'true', tabindex: '-1',
      src: location.pathname + '?at=' + Date.now() + '#feed'});
    document.body.append(feed);
  }
  window.addEventListener('message', (event) => {
    if (!feed || event.source !== feed.contentWindow || !event.data || !event.data.fiberloomStatus) return;
    heard = true;
    lost = 0;
    const next = event.data.fiberloomStatus;
    if (next.schema === data.schema && JSON.stringify(next) !== JSON.stringify(data)) show(next);
    else drawPhase(data);
  });
  function again() {
    if (!document.hidden) ask();
    setTimeout(again, data.finished ? 30000 : Math.max(2000, 0.3 * data.frames.length));
  }

  byId('page').hidden = false;
  watchGrid();
  Quality.choice(byId('view'), [['verdict', 'verdict', 'the worst of the four'],
    ...Quality.METRICS.map((m, k) => [k, m.title, m.long]), ['state', 'progress', 'what has been done']],
  (value) => { view = value; fillGrid(frames(data)); });
  Quality.start(describe);
  show(embedded);
  setTimeout(again, 2000);
})();
