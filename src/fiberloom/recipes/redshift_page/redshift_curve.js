// SPDX-License-Identifier: BSD-3-Clause
// chi2 over redshift of all classes, with the fits as points to click on.
'use strict';

const Curve = (() => {
  const {brief} = Page;
  const LEFT = 52, RIGHT = 10, TOP = 10, BOTTOM = 36, NEAR = 14;

  /** The plot in `box`; picked(k) when fit k is clicked, chosen(z) when another redshift is. */
  function make(box, {picked, chosen}) {
    const canvas = box.querySelector('canvas');
    let target = null, fit = 0, z = null, places = [];

    const range = () => {
      const zs = [...target.curves.flatMap((c) => [c.z[0], c.z[c.z.length - 1]]), ...target.fits.map((f) => f.z)];
      return [Math.min(...zs), Math.max(...zs)];
    };

    function scales(w, tall) {
      const [low, high] = range(), a = Math.log1p(Math.max(low, -0.99)), b = Math.max(Math.log1p(high), a + 1e-3);
      let most = 30;
      for (const c of target.curves) for (const v of c.chi2) if (v - target.least > most) most = v - target.least;
      const bend = (v) => Math.log10(1 + Math.max(0, v));
      return {x: (v) => LEFT + (w - LEFT - RIGHT) * (Math.log1p(v) - a) / (b - a), zOf: (px) => Math.expm1(a + (px - LEFT) / (w - LEFT - RIGHT) * (b - a)),
        y: (v) => TOP + (tall - TOP - BOTTOM) * (1 - bend(v) / bend(most * 1.1)), low, high, most};
    }

    function axes(g, w, tall, s) {
      g.strokeStyle = Axes.colour('--line');
      g.fillStyle = Axes.colour('--soft');
      g.textAlign = 'right';
      g.textBaseline = 'middle';
      g.beginPath();
      let above = Infinity;
      for (const v of [0, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((t) => t <= s.most * 1.1)) {
        const at = Math.round(s.y(v)) + 0.5;
        if (above - at < 15) continue;
        above = at;
        g.moveTo(LEFT, at);
        g.lineTo(w - RIGHT, at);
        g.fillText(brief(v, 3), LEFT - 6, at);
      }
      g.textAlign = 'center';
      g.textBaseline = 'alphabetic';
      let last = -Infinity;
      for (const v of [0, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7].filter((t) => t >= s.low - 1e-3 && t <= s.high)) {
        const at = s.x(v);
        if (at - last < 26) continue;
        last = at;
        g.moveTo(at, tall - BOTTOM);
        g.lineTo(at, tall - BOTTOM + 4);
        g.fillText(String(v), at, tall - 20);
      }
      g.stroke();
      g.fillText('redshift', LEFT + (w - LEFT - RIGHT) / 2, tall - 4);
    }

    function paint(w, tall, ratio) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(tall * ratio);
      const g = canvas.getContext('2d'), s = scales(w, tall);
      g.scale(ratio, ratio);
      g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      axes(g, w, tall, s);
      for (const curve of target.curves) {
        g.strokeStyle = Axes.colour(Charts.ink(curve.name.split(':::')[0]));
        g.lineWidth = 1.1;
        g.beginPath();
        curve.z.forEach((v, i) => { if (Number.isFinite(curve.chi2[i])) g.lineTo(s.x(v), s.y(curve.chi2[i] - target.least)); });
        g.stroke();
      }
      if (z !== null) {
        g.strokeStyle = Axes.colour('--text');
        g.setLineDash([3, 3]);
        g.beginPath();
        g.moveTo(s.x(z), TOP);
        g.lineTo(s.x(z), tall - BOTTOM);
        g.stroke();
        g.setLineDash([]);
      }
      const base = Math.min(target.least === null ? Infinity : target.least, ...target.fits.map((f) => f.chi2));
      places = target.fits.map((f) => [s.x(f.z), s.y(f.chi2 - base)]);
      target.fits.forEach((f, k) => {
        const [px, py] = places[k];
        g.beginPath();
        g.arc(px, py, k === fit ? 6 : 4.5, 0, 2 * Math.PI);
        g.fillStyle = Axes.colour(k === fit ? Charts.ink(f.type) : '--card');
        g.fill();
        g.strokeStyle = Axes.colour(Charts.ink(f.type));
        g.lineWidth = 2;
        g.stroke();
        g.fillStyle = Axes.colour('--text');
        g.textAlign = 'center';
        g.fillText(String(k + 1), px, py - 9 < TOP ? py + 18 : py - 9);
      });
    }

    function draw() {
      if (!target || !target.fits.length || box.clientWidth < 80) return;
      paint(box.clientWidth, box.clientHeight, window.devicePixelRatio || 1);
    }

    const at = (event) => { const r = box.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
    const nearest = ([px, py]) => {
      let best = -1, least = NEAR;
      places.forEach(([a, b], k) => { const off = Math.hypot(a - px, b - py); if (off < least) { least = off; best = k; } });
      return best;
    };
    box.addEventListener('click', (event) => {
      if (!target) return;
      const place = at(event), k = nearest(place);
      if (k >= 0) picked(k); else if (place[0] >= LEFT) chosen(scales(box.clientWidth, box.clientHeight).zOf(place[0]));
    });
    box.addEventListener('pointermove', (event) => {
      if (!target) return;
      const place = at(event), k = nearest(place), v = scales(box.clientWidth, box.clientHeight).zOf(place[0]);
      if (k >= 0) {
        const f = target.fits[k];
        Page.showTip(`${k + 1}: ${[f.type, f.subtype].filter(Boolean).join(' ')} z ${f.z.toFixed(5)}, chi2 ${brief(f.chi2, 7)}`, event.clientX, event.clientY);
      } else if (place[0] >= LEFT) {
        const values = target.curves.map((c) => {
          let i = 0;
          while (i + 1 < c.z.length && Math.abs(c.z[i + 1] - v) <= Math.abs(c.z[i] - v)) i += 1;
          return v >= c.z[0] - 0.01 && v <= c.z[c.z.length - 1] + 0.01 && Number.isFinite(c.chi2[i]) ? `${c.name} +${brief(c.chi2[i] - target.least, 4)}` : '';
        }).filter(Boolean);
        Page.showTip([`z ${v.toFixed(4)}`, ...values].join('\n'), event.clientX, event.clientY);
      } else Page.hideTip();
    });
    box.addEventListener('pointerleave', Page.hideTip);
    if (window.ResizeObserver) new ResizeObserver(draw).observe(box);

    return {draw, show(one, which, redshift) { target = one; fit = which; z = redshift; draw(); }};
  }

  return {make};
})();
