// SPDX-License-Identifier: BSD-3-Clause
// The CCD pictures: the part that the fibres light, in pixel coordinates, with traces, and with the place under the
// cursor of the spectrum.
'use strict';

const Ccd = (() => {
  const {h, brief} = Page;
  const LEFT = 46, BOTTOM = 32, TOP = 4, RIGHT = 6, TRACE_POINTS = 60;

  function scaleOf(p) {
    const place = p.soft > 0 ? Figures.asinhPlace(p.low, p.high, p.soft) : (v) => (v - p.low) / (p.high - p.low);
    let ticks = Page.ticks(p.low, p.high, 5);
    if (p.soft > 0) {
      const round = [0, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5].filter((v) => v >= p.low && v <= p.high);
      ticks = round.filter((v, k) => k === 0 || place(v) - place(round[k - 1]) > 0.04);
    }
    return Figures.scale(p.palette, ticks, place, p.unit);
  }

  /** A picture's card. pick(row, wave) is called on a click that meets a trace. */
  function make(frame, p, pick) {
    const [x0, y0, columns, rows] = p.region, [bx, by] = p.block;
    const canvas = h('canvas', {}), box = h('div', {class: 'ccd', role: 'img',
      'aria-label': `${p.name}: CCD columns ${x0} to ${x0 + columns - 1}, rows ${y0} to ${y0 + rows - 1}`}, canvas);
    const image = new Image();
    const dot = bx === 1 && by === 1 ? 'a dot is a pixel' : `${bx} x ${by} pixels a dot`;
    const card = h('section', {class: 'card picture', 'data-name': p.name}, h('h2', {}, p.name,
      h('small', {}, `columns ${x0} to ${x0 + columns - 1}, rows ${y0} to ${y0 + rows - 1}; ${dot}`)), box, scaleOf(p));
    let marks = {rows: [], range: null, at: null, traces: true};

    const area = () => ({x: LEFT, y: TOP, w: box.clientWidth - LEFT - RIGHT, h: box.clientHeight - TOP - BOTTOM});

    function axes(g, a, toX, toY) {
      const soft = Axes.colour('--soft');
      g.fillStyle = g.strokeStyle = soft;
      g.lineWidth = 1;
      g.beginPath();
      g.textAlign = 'center';
      for (const tick of Page.ticks(x0, x0 + columns - 1, Math.max(2, a.w / 70))) {
        const at = Math.round(toX(tick)) + 0.5;
        g.moveTo(at, a.y + a.h);
        g.lineTo(at, a.y + a.h + 4);
        g.textAlign = at > a.x + a.w - 14 ? 'right' : at < a.x + 12 ? 'left' : 'center';
        g.fillText(String(tick), at, a.y + a.h + 15);
      }
      g.textAlign = 'right';
      g.textBaseline = 'middle';
      for (const tick of Page.ticks(y0, y0 + rows - 1, a.h / 50)) {
        const at = Math.round(toY(tick)) + 0.5;
        g.moveTo(a.x - 4, at);
        g.lineTo(a.x, at);
        g.fillText(String(tick), a.x - 6, Math.max(a.y + 6, at));
      }
      g.stroke();
      g.textBaseline = 'alphabetic';
      g.textAlign = 'center';
      g.fillText('column', a.x + a.w / 2, a.y + a.h + 29);
      g.save();
      g.translate(9, a.y + a.h / 2);
      g.rotate(-Math.PI / 2);
      g.fillText('row', 0, 0);
      g.restore();
    }

    function trace(g, toX, toY, s, low, high) {
      g.beginPath();
      for (let k = 0; k <= TRACE_POINTS; k += 1) {
        const [x, y] = frame.traces.at(s, low + (high - low) * k / TRACE_POINTS);
        g.lineTo(toX(x), toY(y));
      }
      g.stroke();
    }

    /** Thin: the first fibre of each bundle; bold: the fibres shown, brightest where the spectrum looks. */
    function traces(g, toX, toY) {
      const {first, last} = frame.traces, over = Axes.colour(p.palette === 'diverging' ? '--trace-dark' : '--trace');
      g.strokeStyle = over;
      g.globalAlpha = 0.4;
      g.lineWidth = 1;
      for (const bundle of frame.meta.bundles) trace(g, toX, toY, bundle.row, first, last);
      marks.rows.forEach((s, k) => {
        g.globalAlpha = k ? 0.6 : 0.75;
        g.lineWidth = 1;
        trace(g, toX, toY, s, first, last);
        if (!marks.range) return;
        g.globalAlpha = 1;
        g.lineWidth = 3;
        trace(g, toX, toY, s, Math.max(first, marks.range[0]), Math.min(last, marks.range[1]));
      });
      g.globalAlpha = 1;
      if (!marks.at) return;
      const [x, y] = frame.traces.at(marks.at.row, marks.at.wave);
      g.lineWidth = 1.6;
      g.beginPath();
      g.arc(toX(x), toY(y), 6, 0, 2 * Math.PI);
      g.stroke();
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, a = area();
      if (a.w < 40) return;
      canvas.width = Math.round(box.clientWidth * ratio);
      canvas.height = Math.round(box.clientHeight * ratio);
      const g = canvas.getContext('2d');
      g.scale(ratio, ratio);
      g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      g.fillStyle = Axes.colour('--none');
      g.fillRect(a.x, a.y, a.w, a.h);
      // The picture is a whole number of dots, which may reach beyond the region.
      const wide = a.w * p.width * bx / columns, tall = a.h * p.height * by / rows;
      const toX = (x) => a.x + a.w * (x - x0 + 0.5) / columns, toY = (y) => a.y + a.h * (1 - (y - y0 + 0.5) / rows);
      g.save();
      g.beginPath();
      g.rect(a.x, a.y, a.w, a.h);
      g.clip();
      g.imageSmoothingEnabled = a.w < p.width / 2;
      if (image.complete && image.naturalWidth) g.drawImage(image, a.x, a.y + a.h - tall, wide, tall);
      if (frame.traces && marks.traces) traces(g, toX, toY);
      g.restore();
      axes(g, a, toX, toY);
    }

    /** CCD pixel under an event, null beside the picture. */
    function pixel(event) {
      const place = box.getBoundingClientRect(), a = area();
      const u = (event.clientX - place.left - a.x) / a.w, v = 1 - (event.clientY - place.top - a.y) / a.h;
      if (u < 0 || u >= 1 || v < 0 || v >= 1) return null;
      return [x0 + Math.floor(u * columns), y0 + Math.floor(v * rows)];
    }

    box.addEventListener('pointermove', (event) => {
      const at = pixel(event);
      if (!at) { Page.hideTip(); return; }
      const near = frame.traces ? frame.traces.nearest(...at) : null;
      const text = `column ${at[0]}, row ${at[1]}` + (near ? `\nfibre ${frame.meta.fibers[near.s]}, ${near.wave.toFixed(1)} Å (${brief(near.off, 2)} columns off its trace)` : '');
      Page.showTip(text, event.clientX, event.clientY);
    });
    box.addEventListener('pointerleave', Page.hideTip);
    box.addEventListener('click', (event) => {
      const at = pixel(event), near = at && frame.traces ? frame.traces.nearest(...at) : null;
      if (near) pick(near.s, near.wave);
    });
    const ready = new Promise((resolve) => { image.onload = image.onerror = () => { draw(); resolve(); }; });
    image.src = p.src;
    return {card, draw, ready, mark(part) { Object.assign(marks, part); draw(); }};
  }

  return {make};
})();
