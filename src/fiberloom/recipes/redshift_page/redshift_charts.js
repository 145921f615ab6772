// SPDX-License-Identifier: BSD-3-Clause
// Sums over the rows shown: n(z) of each class, and how often each bit of ZWARN is set.
'use strict';

const Charts = (() => {
  const {h, svg, byId, brief, count} = Page;
  const BINS = 40, LEAST = 200, GAP = 12;  // of a panel, pixels: as the grid in redshift.css
  const CLASSES = ['GALAXY', 'QSO', 'STAR'];

  const ink = (type) => CLASSES.includes(type) ? `--class-${type.toLowerCase()}` : '--soft';

  /** n(z) of one class: bars over its own range. */
  function panel(type, zs, sure, width) {
    const W = Math.max(200, width), H = 116, L = 38, R = 6, T = 8, B = 26;
    const low = zs.reduce((a, b) => Math.min(a, b), 0), high = zs.reduce((a, b) => Math.max(a, b), 0);
    const end = high > low ? high + 1e-9 * (high - low) : low + 0.01, step = (end - low) / BINS;
    const all = new Array(BINS).fill(0), good = new Array(BINS).fill(0);
    zs.forEach((z, k) => {
      const bin = Math.min(BINS - 1, Math.floor((z - low) / step));
      all[bin] += 1;
      if (sure[k]) good[bin] += 1;
    });
    const top = Math.max(1, ...all), x = (v) => L + (W - L - R) * (v - low) / (end - low), y = (c) => H - B - (H - T - B) * c / (1.05 * top);
    const root = svg('svg', {viewBox: `0 0 ${W} ${H}`, height: H, role: 'img', 'aria-label': `redshifts of ${type}: ${zs.length} targets from ${brief(low, 3)} to ${brief(high, 3)}`});
    for (const c of Page.ticks(0, top, 3).filter(Number.isInteger)) {
      root.append(svg('line', {class: 'axis', x1: L, x2: W - R, y1: y(c), y2: y(c)}), svg('text', {x: L - 5, y: y(c) + 4, 'text-anchor': 'end'}, count(c)));
    }
    const bars = (counts) => counts.map((c, k) => c ? `M${x(low + k * step).toFixed(1)} ${y(0)}V${y(c).toFixed(1)}H${x(low + (k + 1) * step).toFixed(1)}V${y(0)}Z` : '').join('');
    root.append(svg('path', {d: bars(all), style: `fill:var(${ink(type)});opacity:.35`}), svg('path', {d: bars(good), style: `fill:var(${ink(type)})`}));
    for (const t of Page.ticks(low, end, W / 90)) root.append(svg('text', {x: x(t), y: H - 10, 'text-anchor': 'middle'}, brief(t, 3)));
    return h('div', {class: 'histogram'}, h('p', {class: 'note'}, h('b', {}, type), ` ${count(zs.length)}, `, `${count(good.reduce((a, b) => a + b, 0))} with ZWARN 0`), root);
  }

  /** Draws both for `rows`; only(conditions) is called when a bit is clicked. */
  function draw(meta, table, rows, only) {
    const types = new Map(), bits = new Map();
    let clean = 0;
    for (const row of rows) {
      const type = table.text('SPECTYPE', row) || 'unknown', zwarn = table.value('ZWARN', row) || 0, z = table.value('Z', row);
      if (zwarn === 0) clean += 1;
      for (const word of Rows.warnings(meta, zwarn)) bits.set(word, (bits.get(word) || 0) + 1);
      if (z === null || zwarn & 512) continue;
      if (!types.has(type)) types.set(type, {zs: [], sure: []});
      types.get(type).zs.push(z);
      types.get(type).sure.push(zwarn === 0);
    }
    const box = byId('nz'), known = [...CLASSES, ...types.keys()].filter((t, k, all) => types.has(t) && all.indexOf(t) === k);
    const across = Math.min(known.length, Math.max(1, Math.floor((box.clientWidth + GAP) / (LEAST + GAP)))), wide = Math.floor((box.clientWidth - (across - 1) * GAP) / across);
    box.replaceChildren(...(known.length ? known.map((type) => panel(type, types.get(type).zs, types.get(type).sure, wide)) : [h('p', {class: 'note'}, 'no redshift among the rows shown')]));
    const share = (n) => h('span', {class: 'bar-of'}, h('i', {style: `width:${rows.length ? 100 * n / rows.length : 0}%`}));
    const names = [...meta.zwarn, ...bits.keys()].filter((w, k, all) => bits.has(w) && all.indexOf(w) === k);
    const line = (word, n, conditions) => {
      const button = h('button', {type: 'button', class: 'plain'}, word);
      button.addEventListener('click', () => only(conditions));
      return h('tr', {}, h('td', {}, button), h('td', {class: 'n'}, count(n)), h('td', {class: 'wide'}, share(n)));
    };
    byId('zwarn-list').replaceChildren(h('tbody', {}, line('none (ZWARN 0)', clean, 'ZWARN==0'),
      ...names.map((word) => line(word, bits.get(word), meta.zwarn.includes(word) ? `ZWARN & ${2 ** meta.zwarn.indexOf(word)}` : `ZWARN & ${2 ** Number(word.slice(4))}`))));
  }

  return {draw, ink};
})();
