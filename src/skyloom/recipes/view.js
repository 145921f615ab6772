// SPDX-License-Identifier: BSD-3-Clause
// Maps between two colours, their parts, convergence and spectra.
'use strict';

const View = (() => {
  const {h, svg, byId, setText, levels, brief, count} = Page;
  const data = JSON.parse(byId('data').textContent);
  const NO_NUMBER = 65535;
  const pictures = [];
  const STOPS = [[12, 60, 140], [110, 170, 225], [247, 247, 247], [240, 160, 80], [140, 50, 0]];

  /** From blue by white to orange; counts begin at white. */
  function colour(share, stops) {
    const at = Math.max(0, Math.min(1, share)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
    return stops[k].map((v, i) => v + (at - k) * (stops[k + 1][i] - v));
  }

  const table = (stops) => Array.from({length: 256}, (_, i) => colour(i / 255, stops));
  const BOTH_WAYS = table(STOPS), UPWARDS = table(STOPS.slice(2));

  /** The middle of the window stays, its width follows the slider. */
  function windowOf(map) {
    const [low, high] = map.window, span = Number(byId('span').value);
    if (map.of === 'hits') return [0, high * span];
    const middle = map.of === 'difference' ? 0 : (low + high) / 2;
    const half = map.of === 'difference' ? Math.max(Math.abs(low), Math.abs(high)) : (high - low) / 2;
    return [middle - half * span, middle + half * span];
  }

  function draw(one) {
    const [low, high] = windowOf(one.map), {picture, canvas, pixels} = one;
    const context = canvas.getContext('2d');
    const image = context.createImageData(picture.width, picture.height);
    const scale = high > low ? 255 / (high - low) : 0, colours = one.map.of === 'hits' ? UPWARDS : BOTH_WAYS;
    for (let i = 0; i < pixels.length; i += 1) {
      if (pixels[i] === NO_NUMBER) {
        const inside = one.inside(i);
        image.data.set([128, 128, 128, inside ? 70 : 0], 4 * i);
        continue;
      }
      const level = Math.max(0, Math.min(255, Math.round((picture.low + picture.step * pixels[i] - low) * scale)));
      image.data.set([...colours[scale > 0 ? level : 128], 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
    setText(one.texts[0], brief(low));
    setText(one.texts[1], brief(high));
  }

  const drawAll = () => {
    setText(byId('span-text'), `${Number(byId('span').value).toFixed(2)} times 98 % of the pixels`);
    pictures.forEach(draw);
  };

  /** Longitude and latitude under a point of the whole sky; null in the corners. */
  function place(x, y) {
    if (x * x + y * y >= 1) return null;
    const theta = Math.asin(y);
    const lat = Math.asin((2 * theta + Math.sin(2 * theta)) / Math.PI) * 180 / Math.PI;
    const lon = -180 * x / Math.cos(theta);
    return [(lon + 360) % 360, lat];
  }

  /** The same on a flat map: of a point of its picture, 0 to 1 to the right and down. */
  function flatPlace(picture, right, down) {
    const g = data.grid, degree = Math.PI / 180, [column, row, columns, rows] = picture.cells;
    const east = (g.column - column - right * columns - 0.5) * g.cell, north = (row + (1 - down) * rows + 0.5 - g.row) * g.cell;
    if (g.projection === 'CAR') return [((g.lon + east) % 360 + 360) % 360, north];
    const e = east * degree, n = north * degree, lat = g.lat * degree, flat = Math.cos(lat) - n * Math.sin(lat);
    const lon = g.lon + Math.atan2(e, flat) / degree;
    return [(lon % 360 + 360) % 360, Math.atan2(Math.sin(lat) + n * Math.cos(lat), Math.hypot(e, flat)) / degree];
  }

  /** Of a pixel of a picture; null where that is not told. */
  function placeAt(picture, whole, x, y) {
    if (data.grid) return flatPlace(picture, (x + 0.5) / picture.width, (y + 0.5) / picture.height);
    return whole ? place((x + 0.5) / (picture.width / 2) - 1, 1 - (y + 0.5) / (picture.height / 2)) : null;
  }

  function tell(one, whole) {
    one.canvas.addEventListener('pointermove', (event) => {
      const {picture} = one, box = one.canvas.getBoundingClientRect();
      const x = Math.min(picture.width - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * picture.width)));
      const y = Math.min(picture.height - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * picture.height)));
      const level = one.pixels[y * picture.width + x];
      const at = placeAt(picture, whole, x, y);
      if (whole && at === null) return Page.hideTip();
      const value = level === NO_NUMBER ? 'not seen' : `${brief(picture.low + picture.step * level, 5)} ${one.map.of === 'hits' ? 'samples' : data.unit}`;
      Page.showTip(value + (at ? `\nlongitude ${at[0].toFixed(1)}°, latitude ${at[1].toFixed(1)}°` : ''), event.clientX, event.clientY);
      return undefined;
    });
    one.canvas.addEventListener('pointerleave', Page.hideTip);
  }

  function add(map) {
    const of = {map: '', other: ' of the other', difference: ', difference', hits: ''}[map.of];
    const texts = [h('span', {}), h('span', {})];
    const make = (picture, label, part) => {
      const canvas = h('canvas', {width: picture.width, height: picture.height, role: 'img', 'aria-label': `${map.name}${of}, ${label}`, class: part ? 'part' : data.grid ? 'flat' : null});
      if (data.grid && !part) canvas.style.maxWidth = `${Math.round(480 * picture.width / picture.height)}px`;
      const inside = part || data.grid ? () => true : (i) => placeAt(picture, true, i % picture.width, Math.floor(i / picture.width)) !== null;
      const one = {map, picture, canvas, pixels: levels(picture.data), texts, inside};
      tell(one, !part);
      pictures.push(one);
      return canvas;
    };
    byId('maps').append(h('section', {class: 'card'}, h('h2', {}, map.name + of, h('small', {}, map.of === 'hits' ? 'samples' : data.unit)),
      make(map.whole, data.grid ? 'the whole map' : 'the whole sky', false), map.part ? make(map.part, 'a part', true) : null,
      h('div', {class: 'bar'}, texts[0], h('i', {class: map.of === 'hits' ? 'up' : null}), texts[1])));
  }

  /** 1, 2, 5 of each power of ten, or powers alone where they are many. */
  function decades([low, high]) {
    const out = [];
    for (let k = Math.floor(low); k <= high; k += 1) {
      for (const m of high - low > 3 ? [1] : [1, 2, 5]) out.push(Number(`${m}e${k}`));
    }
    return out.filter((v) => Math.log10(v) >= low && Math.log10(v) <= high);
  }

  /** Curves on axes whose logarithms (base 10) are `x` and `y`. */
  function plot(id, curves, x, y, xIsLog) {
    const box = {left: 52, right: 630, top: 10, bottom: 228};
    const px = (v) => box.left + (box.right - box.left) * (v - x[0]) / (x[1] - x[0] || 1);
    const py = (v) => box.bottom - (box.bottom - box.top) * (v - y[0]) / (y[1] - y[0] || 1);
    const out = byId(id);
    const every = Math.max(1, Math.ceil((y[1] - y[0]) / 8));
    for (let k = Math.ceil(y[0]); k <= y[1]; k += every) {
      out.append(svg('line', {x1: box.left, x2: box.right, y1: py(k), y2: py(k)}), svg('text', {x: box.left - 5, y: py(k) + 4, 'text-anchor': 'end'}, `1e${k}`));
    }
    const marks = xIsLog ? decades(x) : Page.ticks(x[0], x[1], 6);
    for (const v of marks) out.append(svg('text', {x: px(xIsLog ? Math.log10(v) : v), y: 248, 'text-anchor': 'middle'}, brief(v)));
    for (const {points, stroke, dashes, band} of curves) {
      const path = points.map(([a, b], i) => `${i === 0 ? 'M' : 'L'}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join('');
      if (path) out.append(svg('path', {d: path, stroke, 'stroke-dasharray': dashes, class: band ? 'band' : null}));
    }
  }

  function range(curves, k) {
    const all = curves.flatMap((c) => c.points.map((p) => p[k]));
    return all.length === 0 ? [0, 1] : [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  }

  function convergence() {
    const residuals = (data.run && data.run.residuals) || [];
    if (residuals.length < 2) return;
    byId('convergence').hidden = false;
    setText(byId('steps'), `${count(residuals.length)} iterations, residual ${brief(residuals[residuals.length - 1])}`);
    const curves = [{points: residuals.filter((r) => r > 0).map((r, i) => [i + 1, Math.log10(r)]), stroke: 'var(--accent)'}];
    plot('residuals', curves, range(curves, 0), range(curves, 1), false);
  }

  function spectra() {
    if (data.spectra.length === 0) return;
    byId('power').hidden = false;
    setText(byId('share'), `l (l + 1) C_l / 2π, ${(100 * data.spectra[0].sky_share).toFixed(0)} % of the sky, Nside ${data.spectra[0].nside}`);
    const curves = [];
    for (const one of data.spectra) {
      for (const [name, stroke] of [['tt', 'var(--accent)'], ['ee', 'var(--amber)'], ['bb', 'var(--third)']]) {
        const points = one[name].map((c, l) => [l, l * (l + 1) * c / (2 * Math.PI)]).filter(([l, v]) => l >= 2 && v > 0)
          .map(([l, v]) => [Math.log10(l), Math.log10(v)]);
        curves.push({points, stroke, dashes: {map: null, other: '6 3', difference: '2 3'}[one.of]});
      }
    }
    plot('spectra', curves, range(curves, 0), range(curves, 1), true);
    const lines = data.other ? '; the other map is dashed, the difference dotted' : '';
    setText(byId('legend'), `Blue TT${data.spectra[0].ee.length > 0 ? ', amber EE, green BB' : ''} of the pixels that were seen, without corrections for mask or beam${lines}`);
  }

  const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

  /** All detectors, or one: what its samples have, beside what the model has. */
  function noise() {
    const of = data.noise;
    if (!of) return;
    byId('noise').hidden = false;
    setText(byId('noise-of'), `K √s, ${of.name}, ${count(of.detectors.length)} of ${count(of.all)} detectors`);
    byId('detector').append(h('option', {value: ''}, 'all'), ...of.detectors.map((d, i) => h('option', {value: i}, d.name)));
    const line = (values) => values.map((v, i) => [Math.log10(of.frequencies[i]), Math.log10(v)]).filter((p) => Number.isFinite(p[1]));
    const low = line(of.low), high = line(of.high), both = [low, high, line(of.model), ...of.detectors.map((d) => line(d.model))];
    const x = range(both.map((points) => ({points})), 0), y = range(both.map((points) => ({points})), 1);
    const show = () => {
      const which = byId('detector').value, one = which === '' ? null : of.detectors[which];
      const found = one ? one.found : of.median, model = one ? one.model : of.model;
      const points = line(found), heights = range([{points}], 1);
      byId('densities').replaceChildren();
      plot('densities', [{points: [...low, ...[...high].reverse()], band: true}, {points, stroke: 'var(--accent)'},
        {points: line(model), stroke: 'var(--amber)', dashes: '6 3'}], x, [Math.min(y[0], heights[0]), Math.max(y[1], heights[1])], true);
      const upper = of.frequencies.map((f, i) => [f, found[i] / model[i]]).filter(([f]) => f > of.rate / 4).map((p) => p[1]);
      setText(byId('noise-legend'), `Blue: ${one ? 'the detector' : 'the median'}, light: what eight of ten detectors lie between, amber: the model; ` +
        `Hz to the right. Above a quarter of the rate ${brief(middle(upper), 3)} of the model. Of the samples as they are, with what is seen of the sky`);
    };
    byId('detector').addEventListener('change', show);
    show();
  }

  function rows(id, pairs) {
    for (const [name, value] of pairs) byId(id).append(h('tr', {}, h('th', {scope: 'row'}, name), h('td', {class: 'wrap'}, value)));
  }

  /** What is shown, in a line. */
  function facts() {
    if (data.maps.length === 0) return `observation ${data.noise.observation}, ${count(data.noise.samples)} samples at ${brief(data.noise.rate)} Hz`;
    const g = data.grid, frame = {C: 'equatorial', E: 'ecliptic', G: 'galactic'}[data.frame] || data.frame;
    const pixels = g ? `${g.projection}, ${count(g.columns)} × ${count(g.rows)} cells of ${brief(g.cell)}°` : `Nside ${data.nside}`;
    const part = data.maps[0].part ? `; the part is ${brief(data.size)}° wide around longitude ${data.middle[0].toFixed(1)}°, latitude ${data.middle[1].toFixed(1)}°` : '';
    return `${pixels}, ${count(data.seen)} of ${count(data.pixels)} ${g ? 'cells' : 'pixels'} seen; ${frame}${part}${g ? '; north is up, east to the left; power spectra are of HEALPix maps alone' : ''}`;
  }

  function start() {
    byId('controls').hidden = data.maps.length === 0;
    setText(byId('facts'), facts());
    const names = [...new Set(data.maps.map((map) => map.name))];
    names.forEach((name) => data.maps.filter((map) => map.name === name).forEach(add));
    if (data.other) {
      byId('differences').hidden = false;
      setText(byId('other'), data.other);
      rows('numbers', data.difference.map((d) => [d.name, `rms ${brief(d.rms)}, ${brief(d.relative)} of the other's spread; largest ${brief(d.largest)}; correlation ${brief(d.correlation, 6)}; ${count(d.pixels)} pixels`]));
    }
    convergence();
    noise();
    spectra();
    if (data.run && data.run.options) {
      byId('made').hidden = false;
      rows('options', Object.entries(data.run.options).map(([name, value]) => [name, String(value)]));
    }
    byId('span').addEventListener('input', drawAll);
    drawAll();
  }

  start();
  return {data, pictures};
})();
