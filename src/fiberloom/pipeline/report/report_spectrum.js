// SPDX-License-Identifier: BSD-3-Clause
// The spectrum viewer: one fibre on a canvas, with zoom and a cursor.
'use strict';

const Spectrum = (() => {
  const {byId, brief} = Page;
  const LEFT = 58, RIGHT = 10, TOP = 20, STRIP = 62, BOTTOM = 36, MIN_BINS = 8;

  /** The viewer in `box`; told(text parts) gets what lies under the cursor, moved() any change of view. */
  function make(box, told) {
    const canvas = box.querySelector('canvas');
    let frame = null, row = 0, view = [0, 1], axis = 'asinh', cursor = null, drag = null;

    const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

    function limits() {
      const half = Math.abs(frame.step) / 2;
      return [frame.wave[0] - half, frame.wave[frame.m - 1] + half];
    }

    function setView(low, high) {
      const [first, last] = limits();
      const least = Math.min(MIN_BINS * Math.abs(frame.step), last - first);
      let width = Math.min(Math.max(high - low, least), last - first);
      const middle = (low + high) / 2;
      let start = Math.max(first, Math.min(last - width, middle - width / 2));
      if (width > 0.999 * (last - first)) { start = first; width = last - first; }
      view = [start, start + width];
      draw();
    }

    /** First and last bin in the view, one more on either side. */
    function bins() {
      const find = (w) => {
        let a = 0, b = frame.m;
        while (a < b) { const c = (a + b) >> 1; if (frame.wave[c] < w) a = c + 1; else b = c; }
        return a;
      };
      return [Math.max(0, find(view[0]) - 1), Math.min(frame.m - 1, find(view[1]))];
    }

    /** Range of the flux axis over good bins in view: all of it, or without the highest peaks. */
    function fluxRange(j0, j1) {
      const values = [];
      let error = 0, n = 0;
      for (let j = j0; j <= j1; j += 1) {
        const i = row * frame.m + j;
        if (frame.flags[i] & Flag.REJECTED || !Number.isFinite(frame.flux[i])) continue;
        values.push(frame.flux[i]);
        error += frame.sigma[i];
        n += 1;
      }
      if (!n) return [0, 1, 1];
      values.sort((a, b) => a - b);
      const clip = axis === 'clipped' ? 0.04 : 0;
      const low = values[Math.floor(clip * 0.2 * (n - 1))], high = values[Math.ceil((1 - clip) * (n - 1))];
      if (axis === 'asinh') return [low - 3 * error / n, high + 0.3 * Math.abs(high) + 1e-6, error / n];
      const pad = Math.max(0.06 * (high - low), error / n, 1e-6);
      return [low - pad, high + pad, error / n];
    }

    function draw() {
      if (!frame) return;
      const ratio = window.devicePixelRatio || 1, w = box.clientWidth, height = box.clientHeight;
      if (w < 80) return;
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(height * ratio);
      const g = canvas.getContext('2d');
      g.scale(ratio, ratio);
      g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      const strip = frame.hasChi2 ? STRIP : 0;
      const area = {x: LEFT, y: TOP, w: w - LEFT - RIGHT, h: height - TOP - BOTTOM - strip};
      const [j0, j1] = bins();
      const [low, high, error] = fluxRange(j0, j1);
      const soft = axis === 'asinh' ? Math.max((high - low) / 400, 3 * error, 1e-9) : 0;
      const bend = (v) => soft ? Math.asinh(v / soft) : v;
      const x = (wave) => area.x + area.w * (wave - view[0]) / (view[1] - view[0]);
      const y = (v) => area.y + area.h * (1 - (bend(v) - bend(low)) / (bend(high) - bend(low)));
      const plot = {g, area, x, y, j0, j1, low, high, soft, w, height, strip};
      shade(plot);
      axes(plot);
      g.save();
      g.beginPath();
      g.rect(area.x, area.y, area.w, area.h);
      g.clip();
      band(plot);
      line(plot);
      g.restore();
      skyLines(plot);
      if (strip) chi2Strip(plot);
      overlays(plot);
    }

    function shade({g, area, x, j0, j1}) {
      const base = row * frame.m, half = Math.abs(frame.step) / 2;
      for (let j = j0; j <= j1; j += 1) {
        const flags = frame.flags[base + j];
        if (!flags) continue;
        let end = j;
        while (end < j1 && frame.flags[base + end + 1] === flags) end += 1;
        const left = Math.max(area.x, x(frame.wave[j] - half)), right = Math.min(area.x + area.w, x(frame.wave[end] + half));
        const width = Math.max(1.5, right - left);
        g.fillStyle = colour(flags & Flag.REJECTED ? '--none' : flags & Flag.SOME ? '--some' : '--fit');
        g.fillRect(left, area.y, width, area.h);
        if (flags & Flag.REJECTED && width > 6) hatch(g, left, area.y, width, area.h);
        j = end;
      }
    }

    function hatch(g, left, top, width, height) {
      g.save();
      g.beginPath();
      g.rect(left, top, width, height);
      g.clip();
      g.strokeStyle = colour('--card');
      g.lineWidth = 1;
      g.beginPath();
      for (let k = -height; k < width; k += 9) { g.moveTo(left + k, top + height); g.lineTo(left + k + height, top); }
      g.stroke();
      g.restore();
    }

    function axes({g, area, x, y, low, high, soft, height, strip}) {
      g.strokeStyle = colour('--line');
      g.fillStyle = colour('--soft');
      g.lineWidth = 1;
      let ticks = Page.ticks(low, high, area.h / 55);
      if (soft) {
        const sizes = [1, 10, 100, 1e3, 1e4, 1e5].flatMap((p) => [p, 3 * p]);
        ticks = [];
        for (const v of [0, ...sizes, ...sizes.map((size) => -size)]) {
          const seen = v >= low && v <= high;
          if (seen && ticks.every((other) => Math.abs(y(v) - y(other)) > 22)) ticks.push(v);
        }
        if (ticks.length < 3) ticks = Page.ticks(low, high, area.h / 70);
      }
      g.textAlign = 'right';
      g.textBaseline = 'middle';
      g.beginPath();
      for (const tick of ticks) {
        const at = Math.round(y(tick)) + 0.5;
        g.moveTo(area.x, at);
        g.lineTo(area.x + area.w, at);
        g.fillText(brief(tick, 4), area.x - 6, at);
      }
      g.textBaseline = 'alphabetic';
      for (const tick of Page.ticks(view[0], view[1], area.w / 95)) {
        const at = Math.round(x(tick)) + 0.5;
        g.moveTo(at, area.y + area.h);
        g.lineTo(at, area.y + area.h + 4);
        g.textAlign = at > area.x + area.w - 22 ? 'right' : 'center';
        g.fillText(brief(tick, 7), at, height - 20);
      }
      g.stroke();
      g.textAlign = 'center';
      g.fillText('wavelength, Å', area.x + area.w / 2, height - 4);
      g.textAlign = 'left';
      g.fillText('electron/Å', 2, 9);
      g.textAlign = 'right';
      if (!strip) return;
      g.textBaseline = 'middle';
      g.fillText('chi2', 30, area.y + area.h + strip / 2 + 4);
      g.textBaseline = 'alphabetic';
    }

    function band({g, x, y, j0, j1}) {
      const base = row * frame.m;
      g.fillStyle = colour('--band');
      for (let j = j0; j <= j1; j += 1) {  // one polygon for each stretch of good bins
        if (frame.flags[base + j] & Flag.REJECTED) continue;
        let end = j;
        while (end < j1 && !(frame.flags[base + end + 1] & Flag.REJECTED)) end += 1;
        g.beginPath();
        for (let k = j; k <= end; k += 1) g.lineTo(x(frame.wave[k]), y(frame.flux[base + k] + frame.sigma[base + k]));
        for (let k = end; k >= j; k -= 1) g.lineTo(x(frame.wave[k]), y(frame.flux[base + k] - frame.sigma[base + k]));
        g.fill();
        j = end;
      }
    }

    function line({g, x, y, j0, j1}) {
      const base = row * frame.m;
      g.strokeStyle = colour('--accent');
      g.lineWidth = 1.2;
      g.lineJoin = 'round';
      g.beginPath();
      let open = false;
      for (let j = j0; j <= j1; j += 1) {
        const good = !(frame.flags[base + j] & Flag.REJECTED) && Number.isFinite(frame.flux[base + j]);
        if (good && open) g.lineTo(x(frame.wave[j]), y(frame.flux[base + j]));
        else if (good) g.moveTo(x(frame.wave[j]), y(frame.flux[base + j]));
        open = good;
      }
      g.stroke();
      if (j1 - j0 > 120) return;
      g.fillStyle = colour('--accent');
      for (let j = j0; j <= j1; j += 1) {
        if (!(frame.flags[base + j] & Flag.REJECTED)) g.fillRect(x(frame.wave[j]) - 1.5, y(frame.flux[base + j]) - 1.5, 3, 3);
      }
    }

    /** Marks at the top, the strongest first; names as far as there is room. */
    function skyLines({g, area, x}) {
      g.strokeStyle = g.fillStyle = colour('--sky');
      g.lineWidth = 1;
      g.textAlign = 'center';
      const taken = [];
      g.beginPath();
      const seen = frame.meta.lines.filter(([wave]) => wave >= view[0] && wave <= view[1]).slice(0, area.w / 12);
      for (const [wave, name] of seen) {
        const at = x(wave);
        g.moveTo(at, area.y);
        g.lineTo(at, area.y + 8);
        const half = g.measureText(name).width / 2 + 5;
        const centre = Math.max(area.x + half, Math.min(area.x + area.w - half, at));
        const free = centre - half > 62 && taken.every(([a, b]) => centre + half < a || centre - half > b);
        if (!free) continue;
        taken.push([centre - half, centre + half]);
        g.fillText(name, centre, area.y - 4);
      }
      g.stroke();
    }

    /** chi2 of the bins on a logarithmic scale from 1/4 to 4. */
    function chi2Strip({g, area, x, j0, j1, strip}) {
      const top = area.y + area.h + 10, tall = strip - 16, base = row * frame.m;
      const y = (v) => top + tall * (0.5 - Math.max(-2, Math.min(2, Math.log2(v))) / 4);
      g.strokeStyle = colour('--line');
      g.fillStyle = colour('--soft');
      g.textAlign = 'right';
      g.textBaseline = 'middle';
      g.beginPath();
      for (const v of [0.25, 1, 4]) {
        g.moveTo(area.x, Math.round(y(v)) + 0.5);
        g.lineTo(area.x + area.w, Math.round(y(v)) + 0.5);
        g.fillText(v === 0.25 ? '¼' : String(v), area.x - 6, y(v));
      }
      g.stroke();
      g.textBaseline = 'alphabetic';
      g.save();
      g.beginPath();
      g.rect(area.x, top - 2, area.w, tall + 4);
      g.clip();
      g.fillStyle = colour('--amber');
      const size = Math.max(1.4, Math.min(3, area.w / (j1 - j0 + 1)));
      for (let j = j0; j <= j1; j += 1) {
        const v = frame.chi2(base + j);
        if (Number.isFinite(v) && !(frame.flags[base + j] & Flag.REJECTED)) g.fillRect(x(frame.wave[j]) - size / 2, y(v) - size / 2, size, size);
      }
      g.restore();
    }

    function overlays({g, area, x, height}) {
      if (drag && Math.abs(drag.x1 - drag.x0) > 3) {
        g.fillStyle = colour('--select');
        g.fillRect(Math.min(drag.x0, drag.x1), area.y, Math.abs(drag.x1 - drag.x0), height - area.y - BOTTOM);
      }
      if (cursor === null) return;
      g.strokeStyle = colour('--faint');
      g.setLineDash([2, 2]);
      g.beginPath();
      const at = Math.round(x(frame.wave[cursor])) + 0.5;
      g.moveTo(at, area.y);
      g.lineTo(at, height - BOTTOM);
      g.stroke();
      g.setLineDash([]);
    }

    function waveAt(clientX) {
      const place = box.getBoundingClientRect();
      return view[0] + (clientX - place.left - LEFT) / (place.width - LEFT - RIGHT) * (view[1] - view[0]);
    }

    function tell() {
      if (cursor === null) { told(null); return; }
      const i = row * frame.m + cursor;
      told({wave: frame.wave[cursor], flux: frame.flux[i], sigma: frame.sigma[i], chi2: frame.chi2(i),
        fwhm: frame.fwhm(row, cursor), flags: frame.flags[i]});
    }

    function move(event) {
      const wave = waveAt(event.clientX);
      const guess = Math.round((wave - frame.wave[0]) / frame.step);
      let best = Math.max(0, Math.min(frame.m - 1, guess));
      while (best + 1 < frame.m && Math.abs(frame.wave[best + 1] - wave) < Math.abs(frame.wave[best] - wave)) best += 1;
      while (best > 0 && Math.abs(frame.wave[best - 1] - wave) < Math.abs(frame.wave[best] - wave)) best -= 1;
      cursor = best;
      if (drag) drag.x1 = event.clientX - box.getBoundingClientRect().left;
      draw();
      tell();
    }

    function zoom(factor, wave) {
      const centre = wave === undefined ? (view[0] + view[1]) / 2 : wave;
      setView(centre - (centre - view[0]) * factor, centre + (view[1] - centre) * factor);
    }

    box.addEventListener('pointermove', (event) => { if (frame) move(event); });
    box.addEventListener('pointerleave', () => { if (!drag) { cursor = null; draw(); tell(); } });
    box.addEventListener('pointerdown', (event) => {
      if (!frame || event.button !== 0) return;
      const at = event.clientX - box.getBoundingClientRect().left;
      drag = {x0: at, x1: at, wave: waveAt(event.clientX)};
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener('pointerup', (event) => {
      const done = drag;
      drag = null;
      if (!done) return;
      if (Math.abs(done.x1 - done.x0) > 5) {
        const other = waveAt(event.clientX);
        setView(Math.min(done.wave, other), Math.max(done.wave, other));
      } else {
        draw();
      }
    });
    box.addEventListener('pointercancel', () => { drag = null; draw(); });
    box.addEventListener('dblclick', () => setView(...limits()));
    box.addEventListener('wheel', (event) => {
      if (!frame || event.ctrlKey) return;
      const [first, last] = limits();
      if (event.deltaY > 0 && view[1] - view[0] > 0.999 * (last - first)) return;  // the page scrolls on
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), waveAt(event.clientX));
    }, {passive: false});
    if (window.ResizeObserver) new ResizeObserver(draw).observe(box);

    return {
      draw, zoom,
      show(newFrame) { frame = newFrame; row = 0; cursor = null; setView(...limits()); },
      setRow(newRow) { row = newRow; draw(); tell(); },
      setAxis(name) { axis = name; draw(); },
      reset() { setView(...limits()); },
      look(low, high) { setView(low, high); },
      shift(part) { const d = part * (view[1] - view[0]); setView(view[0] + d, view[1] + d); },
      view: () => [...view],
    };
  }

  return {make};
})();
