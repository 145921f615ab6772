// SPDX-License-Identifier: BSD-3-Clause
// Lines over time as inline SVG, drawn in the width there is, with a cursor that reads the values.
'use strict';

const Charts = (() => {
  const {h, svg} = Page;
  const HEIGHT = 118, LEFT = 42, RIGHT = 8, TOP = 6, BOTTOM = 20;

  function timeText(seconds) {
    if (seconds < 120) return Math.round(seconds) + ' s';
    if (seconds < 7200) return Math.round(seconds / 6) / 10 + ' min';
    return Math.round(seconds / 360) / 10 + ' h';
  }

  /** Ticks that are round in the unit in which they are written. */
  function timeTicks(last, n) {
    const unit = last < 120 ? 1 : last < 7200 ? 60 : 3600;
    const ticks = Page.ticks(0, last / unit, n);
    return ticks.filter((t) => unit > 1 || Number.isInteger(t)).map((t) => t * unit);
  }

  /** A chart that lives in `box`; show(t, lines, format, yMax) draws anew. */
  function make(box, names) {
    const keys = h('div', {class: 'keys'});
    const holder = h('div', {});
    box.append(keys, holder);
    let state = null, cursor = null;

    function draw() {
      if (!state) return;
      const {t, lines, format} = state;
      holder.textContent = '';
      if (t.length < 2) {
        keys.textContent = '';
        holder.append(h('p', {class: 'empty'}, 'not enough time has passed yet'));
        return;
      }
      const width = Math.max(220, holder.clientWidth);
      const last = t[t.length - 1] || 1;
      const most = Math.max(0, ...lines.flat().filter(Number.isFinite));
      const high = state.yMax || (most > 0 ? 1.08 * most : 1);  // at the start all is 0
      const x = (v) => LEFT + (width - LEFT - RIGHT) * v / last;
      const y = (v) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.min(v, high) / high);
      const root = svg('svg', {viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: 'img',
        'aria-label': names.map((name, i) => `${name}: now ${format(lines[i][t.length - 1])}`).join('; ')});
      for (const tick of Page.ticks(0, high, 3)) {
        root.append(svg('line', {class: 'axis', x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick)}),
          svg('text', {x: LEFT - 6, y: y(tick) + 4, 'text-anchor': 'end'}, format(tick)));
      }
      for (const tick of timeTicks(last, width / 90)) {
        const anchor = tick === 0 ? 'start' : x(tick) > width - 30 ? 'end' : 'middle';
        root.append(svg('text', {x: x(tick), y: HEIGHT - 4, 'text-anchor': anchor}, timeText(tick)));
      }
      lines.forEach((values, i) => {
        const path = values.map((v, k) => (k ? 'L' : 'M') + x(t[k]).toFixed(1) + ' ' + y(v || 0).toFixed(1)).join('');
        if (lines.length === 1) {
          root.append(svg('path', {class: 'area', d: `${path}L${x(last).toFixed(1)} ${y(0)}L${x(t[0]).toFixed(1)} ${y(0)}Z`}));
        }
        root.append(svg('path', {class: 's' + i, d: path}));
      });
      const line = svg('line', {class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden'});
      root.append(line);
      const read = () => {
        const at = cursor === null ? t.length - 1 : Math.min(cursor, t.length - 1);
        line.setAttribute('visibility', cursor === null ? 'hidden' : 'visible');
        line.setAttribute('x1', x(t[at]));
        line.setAttribute('x2', x(t[at]));
        keys.replaceChildren(...names.map((name, i) => h('span', {},
          names.length > 1 ? h('span', {class: 'key s' + i}) : null, `${name} ${format(lines[i][at])}`)),
        h('span', {class: 'soft'}, cursor === null ? 'now' : 'at ' + timeText(t[at])));
      };
      root.addEventListener('pointermove', (event) => {
        const where = (event.clientX - root.getBoundingClientRect().left - LEFT) / (width - LEFT - RIGHT) * last;
        let best = 0;
        t.forEach((v, k) => { if (Math.abs(v - where) < Math.abs(t[best] - where)) best = k; });
        cursor = best;
        read();
      });
      root.addEventListener('pointerleave', () => { cursor = null; read(); });
      holder.append(root);
      read();
    }

    let drawn = 0;
    if (window.ResizeObserver) {
      new ResizeObserver(() => {
        if (Math.abs(holder.clientWidth - drawn) > 1) { drawn = holder.clientWidth; draw(); }
      }).observe(holder);
    }
    return {show(t, lines, format, yMax) { state = {t, lines, format, yMax}; draw(); }};
  }

  /** Frames an hour from the running count, each over a stretch long enough to be a rate. */
  function rates(t, finished) {
    const stretch = Math.max((t[t.length - 1] || 0) / 20, 1);
    let from = 0;
    return t.map((now, k) => {
      while (from + 1 < k && t[from + 1] <= now - stretch) from += 1;
      const start = k === 0 ? 0 : t[from], before = k === 0 ? 0 : finished[from];
      return now > start ? 3600 * (finished[k] - before) / (now - start) : 0;
    });
  }

  return {make, rates};
})();
