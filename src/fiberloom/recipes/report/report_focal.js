// SPDX-License-Identifier: BSD-3-Clause
// The focal plane: each fibre where it stood, coloured by one of its numbers. Where FIBERMAP tells no places, fibres in
// order of their number, a bundle a row.
'use strict';

const Focal = (() => {
  const {h, brief} = Page;
  const PAD = 30, TYPES = ['--fibre-0', '--fibre-1', '--fibre-2', '--fibre-3', '--fibre-4', '--fibre-5', '--fibre-6', '--fibre-7'];

  const KINDS = [{key: 'snr', name: 'signal to noise', unit: ''}, {key: 'light', name: 'light of the lines', unit: 'of the median fibre'},
    {key: 'chi2', name: 'chi2 of pixels', unit: ''}, {key: 'fwhm', name: 'resolution, FWHM', unit: 'Å'},
    {key: 'flagged', name: 'flagged bins', unit: 'of its bins'}, {key: 'type', name: 'type of target', unit: ''}];

  /** Fibres of the shown frame, and of others of the same band and exposure (other spectrographs). */
  function items(number, metas) {
    const own = metas[number], tile = (m) => m.exposure.split('/').slice(0, 2).join('/');
    const out = [];
    metas.forEach((meta, k) => {
      const same = k === number || (own.exposure && meta.exposure && meta.exposure !== own.exposure && meta.band === own.band && tile(meta) === tile(own));
      if (!same || (k !== number && meta.targets.x.length === 0)) return;
      meta.fibers.forEach((fiber, s) => out.push({meta, number: k, s, fiber, x: meta.targets.x[s], y: meta.targets.y[s]}));
    });
    if (own.targets.x.length) return {items: out.filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y)), unit: own.targets.unit};
    const size = own.bundle_size;
    return {unit: '', items: out.filter((one) => one.number === number).map((one) => {
      const place = own.bundles[0].index + one.s;
      return {...one, x: place % size, y: -Math.floor(place / size)};
    })};
  }

  /** The card; pick(number, row) is called on a click. */
  function make(number, metas, pick) {
    const found = items(number, metas), list = found.items, sky = found.unit === 'deg';
    const value = (one, key) => key === 'type' ? one.meta.targets.types[one.s] : one.meta.table[key][one.s];
    const kinds = KINDS.filter(({key}) => list.some((one) => key === 'type' ? value(one, key) : Number.isFinite(value(one, key))));
    const select = h('select', {'aria-label': 'what the focal plane shows', id: 'focal-kind'}, ...kinds.map((kind, k) => h('option', {value: k}, kind.name)));
    const canvas = h('canvas', {}), box = h('div', {class: 'focal', role: 'img'}, canvas), under = h('div', {});
    const note = found.unit ? '' : 'FIBERMAP tells no places (FIBER_X, FIBER_Y): fibres by number, a bundle a row';
    const card = h('section', {class: 'card', id: 'focal'}, h('div', {class: 'bar'}, h('h2', {}, sky ? 'Fibres on the sky' : found.unit ? 'Focal plane' : 'Fibres'), select),
      box, under, note ? h('p', {class: 'note'}, note) : null);
    let marked = [], places = [];

    function range(kind) {
      const sorted = list.map((one) => value(one, kind.key)).filter(Number.isFinite).sort((a, b) => a - b);
      const at = (part) => sorted[Math.floor(part * (sorted.length - 1))];
      let [low, high] = [at(0.02), at(0.98)];
      if (kind.key === 'chi2') [low, high] = [0.25, 4];
      if (kind.key === 'flagged') [low, high] = [0, Math.max(0.02, at(1))];
      if (!(high > low)) [low, high] = [low - 0.5 * (Math.abs(low) || 1), low + 0.5 * (Math.abs(low) || 1)];
      const place = kind.key === 'chi2' ? (v) => 0.5 + Math.log2(v) / 4 : (v) => (v - low) / (high - low);
      return {place, ticks: kind.key === 'chi2' ? [0.25, 0.5, 1, 2, 4] : Page.ticks(low, high, 4), palette: kind.key === 'chi2' ? 'diverging' : 'sequential'};
    }

    function typeColours() {
      const names = [...new Set(list.map((one) => value(one, 'type')))].filter(Boolean).sort();
      return new Map(names.map((name, k) => [name, Axes.colour(TYPES[k % TYPES.length])]));
    }

    /** Pixels of the fibres: both axes to the same scale but for the grid of numbers; right ascension to the left. */
    function lay(w, tall) {
      const xs = list.map((one) => one.x), ys = list.map((one) => one.y);
      const [x0, x1, y0, y1] = [xs, ys].flatMap((v) => [v.reduce((a, b) => Math.min(a, b), Infinity), v.reduce((a, b) => Math.max(a, b), -Infinity)]);
      const squeeze = sky ? Math.max(0.05, Math.cos((y0 + y1) / 2 * Math.PI / 180)) : 1;
      let kx = (w - 2 * PAD) / (((x1 - x0) * squeeze) || 1), ky = (tall - 2 * PAD) / ((y1 - y0) || 1);
      if (found.unit) kx = ky = Math.min(kx, ky);
      const mx = (x0 + x1) / 2, my = (y0 + y1) / 2, side = sky ? -1 : 1;
      places = list.map((one) => [w / 2 + side * (one.x - mx) * squeeze * kx, tall / 2 - (one.y - my) * ky]);
      return {x0, x1, y0, y1};
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, w = box.clientWidth, tall = box.clientHeight;
      if (w < 60 || !kinds.length) return;
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(tall * ratio);
      const g = canvas.getContext('2d'), kind = kinds[Number(select.value)];
      g.scale(ratio, ratio);
      g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      const ends = lay(w, tall), size = Math.max(1.5, Math.min(6, Math.sqrt(w * tall / list.length) / 4));
      const types = kind.key === 'type' ? typeColours() : null, span = types ? null : range(kind);
      const colours = types ? null : Figures.lookup(span.palette), none = Axes.colour('--none'), edge = Axes.colour('--faint');
      list.forEach((one, k) => {
        const v = value(one, kind.key), [x, y] = places[k];
        g.globalAlpha = one.number === number ? 1 : 0.45;
        if (types) g.fillStyle = types.get(v) || none;
        else g.fillStyle = Number.isFinite(v) ? `rgb(${colours[Math.round(255 * Math.max(0, Math.min(1, span.place(v))))]})` : none;
        g.beginPath();
        g.arc(x, y, size, 0, 2 * Math.PI);
        g.fill();
        g.strokeStyle = edge;  // dark dots on a dark page
        g.lineWidth = 0.6;
        g.stroke();
        if (one.meta.targets.status[one.s]) {  // known to be broken: a cross
          g.strokeStyle = Axes.colour('--bad');
          g.lineWidth = 1.4;
          g.beginPath();
          g.moveTo(x - size, y - size);
          g.lineTo(x + size, y + size);
          g.moveTo(x + size, y - size);
          g.lineTo(x - size, y + size);
          g.stroke();
        }
      });
      g.globalAlpha = 1;
      g.strokeStyle = Axes.colour('--text');
      g.lineWidth = 2;
      list.forEach((one, k) => {
        if (one.number !== number || !marked.includes(one.s)) return;
        g.beginPath();
        g.arc(places[k][0], places[k][1], size + 4, 0, 2 * Math.PI);
        g.stroke();
      });
      g.fillStyle = Axes.colour('--soft');
      g.textAlign = 'left';
      const text = sky ? `RA ${brief(ends.x1, 6)} to ${brief(ends.x0, 6)} (east left), Dec ${brief(ends.y0, 5)} to ${brief(ends.y1, 5)} deg` :
        found.unit ? `x ${brief(ends.x0, 4)} to ${brief(ends.x1, 4)}, y ${brief(ends.y0, 4)} to ${brief(ends.y1, 4)} ${found.unit}` : '';
      g.fillText(text, 4, tall - 6, w - 8);
      box.setAttribute('aria-label', `${kind.name} of ${list.length} fibres by place`);
      const broken = list.some((one) => one.meta.targets.status[one.s]) ? h('span', {}, '× known to be broken') : null;
      under.replaceChildren(types ? h('div', {class: 'keys'}, ...[...types].map(([name, ink]) => h('span', {}, h('i', {style: 'background:' + ink}), name)), ...[broken].filter(Boolean)) :
        h('div', {}, Figures.scale(span.palette, span.ticks, span.place, kind.unit), h('div', {class: 'keys'}, ...[broken].filter(Boolean))));
    }

    function nearest(event) {
      const place = box.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
      let best = -1, least = 20 ** 2;
      places.forEach(([px, py], k) => { const d = (px - x) ** 2 + (py - y) ** 2; if (d < least) { least = d; best = k; } });
      return best < 0 ? null : list[best];
    }

    box.addEventListener('pointermove', (event) => {
      const one = nearest(event);
      if (!one) { Page.hideTip(); return; }
      const {types, ids, status} = one.meta.targets;
      const lines = [`fibre ${one.fiber}${types[one.s] ? ', ' + types[one.s] : ''}${status[one.s] ? ', known to be broken' : ''}`,
        ids[one.s] ? 'TARGETID ' + ids[one.s] : '', ...kinds.filter((k) => k.key !== 'type').map((k) => `${k.name} ${brief(value(one, k.key), 3)} ${k.unit}`)];
      Page.showTip(lines.filter(Boolean).join('\n'), event.clientX, event.clientY);
    });
    box.addEventListener('pointerleave', Page.hideTip);
    box.addEventListener('click', (event) => { const one = nearest(event); if (one) pick(one.number, one.s); });
    select.addEventListener('change', draw);
    return {card, draw, mark(rows) { marked = rows; draw(); }};
  }

  return {make};
})();
