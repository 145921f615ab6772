// SPDX-License-Identifier: BSD-3-Clause
// What the status page says of the frames themselves: words for their numbers, history over the night, outliers. The
// verdicts come with the data; no limit is decided here.
'use strict';

const Quality = (() => {
  const {h, svg, byId, setText, counted} = Page;
  const VERDICTS = ['good', 'odd', 'bad'];
  const METRICS = [
    {name: 'snr', title: 'S/N', long: 'median S/N of a bin', text: (v) => Page.brief(v, 3)},
    {name: 'chi2', title: 'χ²', long: 'median χ² of the fit', text: (v) => Page.brief(v, 3)},
    {name: 'flagged', title: 'flagged', long: 'bins with a flag', text: (v) => Page.brief(100 * v, 2) + ' %'},
    {name: 'resolution', title: 'resolution', long: 'median wavelength / FWHM', text: (v) => (v > 0 ? Page.brief(v, 3) : '–')},
  ];
  const ARMS = ['b', 'r', 'z'];
  const HEIGHT = 190, LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 22, MOST_OUTLIERS = 12, NEAR = 18;

  /** The worst verdict of a frame, or that of one metric; null where it has no numbers. */
  function verdict(frame, metric) {
    if (!frame.quality) return null;
    const worst = metric === undefined ? Math.max(...frame.verdicts) : frame.verdicts[metric];
    return VERDICTS[worst];
  }

  function lines(frame) {
    if (!frame.quality) return [];
    return METRICS.map((m, k) => `${m.title} ${m.text(frame.quality[k])}` +
      (frame.verdicts[k] ? `  (${VERDICTS[frame.verdicts[k]]})` : ''));
  }

  /** Buttons of which one is pressed. */
  function choice(box, items, picked) {
    const buttons = items.map(([value, text, title]) => {
      const button = h('button', {type: 'button', title, 'aria-pressed': 'false'}, text);
      button.addEventListener('click', () => { press(value); picked(value); });
      return [value, button];
    });
    function press(value) {
      for (const [of, button] of buttons) button.setAttribute('aria-pressed', String(of === value));
    }
    box.append(...buttons.map(([, button]) => button));
    press(items[0][0]);
  }

  const state = {metric: 0, camera: '', frames: [], limits: [], points: [], near: null};

  /** Highest value to draw: one wild frame must not flatten the others; it is drawn at the edge. */
  function topOf(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const most = sorted[Math.floor(0.98 * (sorted.length - 1))], last = sorted[sorted.length - 1];
    return last > 3 * most && most > 0 ? 2 * most : last;
  }

  /** [low, high] with room for the limits that are near. */
  function rangeOf(values, limits) {
    let low = Math.min(...values), high = topOf(values);
    for (const limit of limits) {
      if (limit <= high + 0.6 * (high - low) && limit >= low - 0.6 * (high - low)) {
        low = Math.min(low, limit);
        high = Math.max(high, limit);
      }
    }
    const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
  }

  function drawHistory() {
    const holder = byId('history'), metric = METRICS[state.metric];
    holder.textContent = '';
    const shown = state.frames.filter((f) => f.quality && (state.camera === '' || f.camera === state.camera) &&
      (metric.name !== 'resolution' || f.quality[3] > 0));
    state.points = [];
    if (shown.length === 0) {
      holder.append(h('p', {class: 'empty'}, 'no frame has been made yet'));
      return;
    }
    const exposures = [...new Set(state.frames.map((f) => f.night + '/' + f.expid))];
    const place = new Map(exposures.map((key, k) => [key, k]));
    const width = Math.max(240, holder.clientWidth);
    const limits = metric.name === 'resolution' ? [] : state.limits[state.metric];
    const [low, high] = rangeOf(shown.map((f) => f.quality[state.metric]), limits);
    const last = Math.max(1, exposures.length - 1);
    const x = (f) => LEFT + (width - LEFT - RIGHT) * (exposures.length === 1 ? 0.5 : place.get(f.night + '/' + f.expid) / last);
    const y = (v) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (Math.min(high, Math.max(low, v)) - low) / (high - low));
    const root = svg('svg', {viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: 'img',
      'aria-label': `${metric.long} of ${counted(shown.length, 'frame')} over the night`});
    for (const tick of Page.ticks(low, high, 4)) {
      root.append(svg('line', {class: 'axis', x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick)}),
        svg('text', {x: LEFT - 6, y: y(tick) + 4, 'text-anchor': 'end'}, metric.text(tick)));
    }
    const step = Math.max(1, Math.ceil(exposures.length / (width / 80)));
    for (let k = 0; k < exposures.length; k += step) {
      const at = LEFT + (width - LEFT - RIGHT) * (exposures.length === 1 ? 0.5 : k / last);
      root.append(svg('text', {x: at, y: HEIGHT - 5, 'text-anchor': at > width - 30 ? 'end' : 'middle'},
        exposures[k].split('/')[1]));
    }
    let named = -Infinity;  // where the last name stands: they must not lie on each other
    limits.forEach((limit, k) => {
      if (limit < low || limit > high) return;
      root.append(svg('line', {class: 'limit ' + VERDICTS[k + 1], x1: LEFT, x2: width - RIGHT, y1: y(limit), y2: y(limit)}));
      if (Math.abs(y(limit) - named) < 11) return;
      named = y(limit);
      root.append(svg('text', {class: 'limit-name', x: width - RIGHT, y: named - 3, 'text-anchor': 'end'}, VERDICTS[k + 1]));
    });
    state.points = shown.map((f) => ({x: x(f), y: y(f.quality[state.metric]), frame: f}));
    if (state.camera !== '') {
      root.append(svg('path', {class: 'thread', d: state.points.map((p, k) => (k ? 'L' : 'M') + p.x.toFixed(1) + ' ' + p.y.toFixed(1)).join('')}));
    }
    const dots = (points) => points.map((p) => `M${p.x.toFixed(1)} ${p.y.toFixed(1)}h0`).join('');
    ARMS.forEach((arm, k) => {
      root.append(svg('path', {class: 'dots s' + k, d: dots(state.points.filter((p) => p.frame.camera[0] === arm))}));
    });
    for (const word of [1, 2]) {
      root.append(svg('path', {class: 'rings ' + VERDICTS[word],
        d: dots(state.points.filter((p) => p.frame.verdicts[state.metric] === word))}));
    }
    holder.append(root);
  }

  function nearest(event) {
    const box = byId('history').getBoundingClientRect();
    let best = null, distance = NEAR * NEAR;
    for (const p of state.points) {
      const d = (p.x - event.clientX + box.left) ** 2 + (p.y - event.clientY + box.top) ** 2;
      if (d < distance) { best = p; distance = d; }
    }
    return best;
  }

  function cameras(list) {
    const select = byId('history-camera');
    const names = [...new Set(list.map((f) => f.camera))].sort();
    if (select.options.length === names.length + 1) return;
    select.replaceChildren(h('option', {value: ''}, 'all cameras'), ...names.map((name) => h('option', {value: name}, name)));
    select.value = names.includes(state.camera) ? state.camera : '';
    state.camera = select.value;
  }

  /** Name of a frame, a link where it has a report. */
  const nameOf = (frame) => (frame.report ? h('a', {href: frame.report}, frame.name) : frame.name);

  function drawOutliers(d, list) {
    const rows = d.outliers.slice(0, MOST_OUTLIERS).map(([frame, metric, value, median, sigmas]) => {
      const f = list[frame], m = METRICS[metric];
      return h('tr', {}, h('td', {}, nameOf(f)), h('td', {}, m.title), h('td', {class: 'n'}, m.text(value)),
        h('td', {class: 'n soft'}, m.text(median)), h('td', {class: 'n'}, `${Page.brief(Math.min(sigmas, 999), 2)} σ`));
    });
    setText(byId('outlier-count'), d.outlier_count > rows.length ? `${rows.length} of ${d.outlier_count}` : '');
    byId('outliers').hidden = rows.length === 0;
    byId('no-outliers').hidden = rows.length > 0;
    byId('outliers').tBodies[0].replaceChildren(...rows);
  }

  /** `describe`: what the tip says of a frame. */
  function start(describe) {
    choice(byId('history-metric'), METRICS.map((m, k) => [k, m.title, m.long]), (k) => { state.metric = k; drawHistory(); });
    byId('history-camera').addEventListener('change', (event) => { state.camera = event.target.value; drawHistory(); });
    const box = byId('history');
    box.addEventListener('pointermove', (event) => {
      const p = nearest(event);
      box.classList.toggle('linked', Boolean(p && p.frame.report));
      if (p) Page.showTip(describe(p.frame), event.clientX, event.clientY); else Page.hideTip();
    });
    box.addEventListener('pointerleave', Page.hideTip);
    box.addEventListener('click', (event) => {
      const p = nearest(event);
      if (p && p.frame.report) location.assign(p.frame.report);
    });
    let drawn = 0;
    if (window.ResizeObserver) {
      new ResizeObserver(() => {
        if (Math.abs(box.clientWidth - drawn) > 1) { drawn = box.clientWidth; drawHistory(); }
      }).observe(box);
    }
  }

  function show(d, list) {
    state.frames = list;
    state.limits = d.limits;
    cameras(list);
    drawHistory();
    drawOutliers(d, list);
  }

  return {METRICS, VERDICTS, verdict, lines, choice, nameOf, start, show};
})();
