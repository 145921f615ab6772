// SPDX-License-Identifier: BSD-3-Clause
// A volume's planes, drawn between two grey levels; its histogram; the difference to another.
'use strict';

const View = (() => {
  const {h, svg, byId, setText, levels, brief, count} = Page;
  const data = JSON.parse(byId('data').textContent);
  const NO_NUMBER = 65535;
  const pictures = [];

  const valueOf = (plane, level) => plane.low + plane.step * level;

  /** Of a difference: black and white as far from 0 as the window is wide. */
  function windowOf(plane) {
    const low = Number(byId('low').value), high = Number(byId('high').value);
    if (plane.of !== 'difference') return [low, high];
    const most = Math.max(Math.abs(plane.low), Math.abs(valueOf(plane, NO_NUMBER - 1)));
    return [-most, most];
  }

  /** Between the levels of the controls, or of its own. */
  function draw(picture, [low, high] = windowOf(picture.plane)) {
    const {plane, canvas, pixels} = picture;
    const context = canvas.getContext('2d');
    const image = context.createImageData(plane.width, plane.height);
    const scale = high > low ? 255 / (high - low) : 0;
    for (let i = 0; i < pixels.length; i += 1) {
      const none = pixels[i] === NO_NUMBER;
      const grey = Math.max(0, Math.min(255, (valueOf(plane, pixels[i]) - low) * scale));
      image.data[4 * i] = none ? 200 : grey;
      image.data[4 * i + 1] = none ? 60 : grey;
      image.data[4 * i + 2] = none ? 60 : grey;
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }

  const axes = [];

  const drawAll = () => {
    pictures.forEach((picture) => draw(picture));
    drawAxis();
  };

  /** The value under the pointer, in a picture whose lines are `down` and whose columns are `across`. */
  function tell(picture, down, across) {
    const {plane, canvas} = picture;
    canvas.addEventListener('pointermove', (event) => {
      const box = canvas.getBoundingClientRect();
      const x = Math.min(plane.width - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * plane.width)));
      const y = Math.min(plane.height - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * plane.height)));
      const level = picture.pixels[y * plane.width + x];
      const value = level === NO_NUMBER ? 'no number' : brief(valueOf(plane, level), 5);
      Page.showTip(`${value}\n${down} ${y * plane.down}, ${across} ${x * plane.across}`, event.clientX, event.clientY);
    });
    canvas.addEventListener('pointerleave', Page.hideTip);
  }

  const where = {slice: ['row', 'column', 0], row: ['slice', 'column', 1], column: ['slice', 'row', 2]};

  function add(plane) {
    const [down, across, at] = where[plane.title];
    const of = {volume: data.name, other: data.other, difference: 'difference'}[plane.of];
    const label = `${plane.title} ${data.cut[at]}`;
    const canvas = h('canvas', {width: plane.width, height: plane.height, role: 'img', 'aria-label': `${of}, ${label}`});
    const picture = {plane, canvas, pixels: levels(plane.data)};
    tell(picture, down, across);
    const averaged = plane.down > 1 || plane.across > 1 ? `, ${plane.down} x ${plane.across} pixels averaged` : '';
    byId('planes').append(h('section', {class: 'card'}, h('h2', {}, of, h('small', {}, label + averaged)), canvas));
    pictures.push(picture);
  }

  function setWindow(low, high) {
    byId('low').value = Number(low.toPrecision(6));
    byId('high').value = Number(high.toPrecision(6));
    drawAll();
  }

  /** Grey levels that were chosen, for the page that comes after this one by itself. */
  const levelsKept = () => JSON.parse(sessionStorage.getItem('tomoloom-levels') || 'null');
  const keepLevels = (levels) => data.renews && sessionStorage.setItem('tomoloom-levels', JSON.stringify(levels));

  function chosen() {
    keepLevels([Number(byId('low').value), Number(byId('high').value)]);
    drawAll();
  }

  /** Values between which all but 0.5 % on either side lie. */
  function most() {
    const {low, high, bars} = data.histogram;
    const all = bars.reduce((sum, n) => sum + n, 0);
    let first = 0, last = bars.length - 1;
    for (let sum = bars[0]; sum < 0.005 * all && first < last; sum += bars[first]) first += 1;
    for (let sum = bars[last]; sum < 0.005 * all && last > first; sum += bars[last]) last -= 1;
    const step = (high - low) / bars.length;
    return [low + first * step, low + (last + 1) * step];
  }

  function histogram() {
    const {low, high, bars} = data.histogram;
    const top = Math.log1p(Math.max(...bars, 1));
    bars.forEach((n, i) => {
      const tall = 140 * Math.log1p(n) / top;
      byId('histogram').append(svg('rect', {x: 4 * i, y: 145 - tall, width: 3.4, height: tall}));
    });
    for (const tick of high > low ? Page.ticks(low, high, 6) : []) {
      const x = 640 * (tick - low) / (high - low);
      byId('histogram').append(svg('text', {x, y: 162, 'text-anchor': x < 20 ? 'start' : x > 620 ? 'end' : 'middle'}, brief(tick)));
    }
  }

  /** The slice with the axis that the slider is at, between the levels of the controls. */
  function drawAxis() {
    if (axes.length === 0) return;
    const i = Number(byId('axis').value), {axis} = axes[i].plane;
    const from = axis - data.scan.axis;
    draw(axes[i]);
    setText(byId('axis-text'), `column ${axis.toFixed(2)}, ` +
      (Math.abs(from) < 1e-6 ? 'that of the volume' : `${from > 0 ? '+' : ''}${from.toFixed(2)} from that of the volume`));
  }

  function scan() {
    const {name, row, axis, axis_in_row: place, sinogram} = data.scan;
    byId('scan').hidden = false;
    setText(byId('scan-name'), `${name}, row ${row} of the projections`);
    const canvas = byId('sinogram');
    Object.assign(canvas, {width: sinogram.width, height: sinogram.height});
    const picture = {plane: sinogram, canvas, pixels: levels(sinogram.data)};
    draw(picture, [sinogram.low, valueOf(sinogram, NO_NUMBER - 1)]);
    const context = canvas.getContext('2d');
    context.fillStyle = 'rgb(255 140 0 / .6)';
    context.fillRect(Math.floor((place + 0.5) / sinogram.across), 0, 1, sinogram.height);
    tell(picture, 'angle', 'column');
    if (data.scan.axes.length === 0) return;
    byId('axes').hidden = false;
    const shown = byId('axis-slice');
    Object.assign(shown, {width: data.scan.axes[0].width, height: data.scan.axes[0].height});
    for (const plane of data.scan.axes) axes.push({plane, canvas: shown, pixels: levels(plane.data)});
    const nearest = axes.reduce((best, one, i) =>
      (Math.abs(one.plane.axis - axis) < Math.abs(axes[best].plane.axis - axis) ? i : best), 0);
    byId('axis').max = axes.length - 1;
    byId('axis').value = nearest;
    byId('axis').addEventListener('input', drawAxis);
  }

  function rows(table, pairs) {
    for (const [name, value] of pairs) byId(table).append(h('tr', {}, h('th', {scope: 'row'}, name), h('td', {class: 'wrap'}, value)));
  }

  function start() {
    const v = data.histogram;
    setText(byId('size'), data.size.map(count).join(' x ') + ' (slices x rows x columns)');
    setText(byId('values'), `${brief(v.least)} to ${brief(v.greatest)}, mean ${brief(v.mean)}, standard deviation ${brief(v.sigma)}` +
      (v.no_number ? `, ${count(v.no_number)} no number` : '') + '; logarithmic');
    data.planes.forEach(add);
    histogram();
    rows('facts', data.facts);
    if (data.difference) {
      const d = data.difference;
      byId('differences').hidden = false;
      rows('numbers', [['root of mean square', brief(d.rms)], ['relative L2', brief(d.relative)],
        ['largest', `${brief(d.largest)} at slice ${d.at[0]}, row ${d.at[1]}, column ${d.at[2]}`],
        ['means', `${brief(d.mean_first)} and ${brief(d.mean_second)}`], ['factor between them', brief(d.gain, 5)],
        ['correlation', brief(d.correlation, 5)], ['worst slice', `${d.worst_slice}, ${brief(d.worst_rms)}`]]);
    }
    if (data.scan) scan();
    byId('low').addEventListener('change', chosen);
    byId('high').addEventListener('change', chosen);
    byId('whole').addEventListener('click', () => { setWindow(v.least, v.greatest); chosen(); });
    byId('most').addEventListener('click', () => { setWindow(...most()); keepLevels(null); });
    setWindow(...(data.renews && levelsKept() || most()));
  }

  start();
  return {data, pictures, axes};
})();
