// SPDX-License-Identifier: BSD-3-Clause
// The spectrum viewer: fibres of one or several cameras on a canvas, with zoom and a cursor. What is drawn how is in
// report_axes.js, where numbers come from in report_arms.js.
'use strict';

const Spectrum = (() => {
  const LEFT = 58, RIGHT = 10, TOP = 20, STRIP = 62, BOTTOM = 36, MIN_BINS = 8, GAP = 8;
  const FIBRES = 8;  // colours: --fibre-0 ... --fibre-7
  const BANDS = ['b', 'r', 'z'];

  /**
   * The viewer in `box`. told(at) gets what lies under the cursor, or null; moved() any change of view; marks(plot) draws
   * lines of its own in place of those of the sky.
   * State: frames (by wavelength), fibers (numbers, the first is the main one), smooth, axis, stacked, model, truth;
   * residuals: (flux - model) / sigma below.
   */
  function make(box, {told, moved, marks = null}) {
    const canvas = box.querySelector('canvas');
    const state = {frames: [], fibers: [], smooth: 1, axis: 'asinh', stacked: false, model: false, truth: false, residuals: false};
    let view = [0, 1], cursor = null, drag = null;

    function setView(low, high) {
      if (!state.frames.length || !(Number.isFinite(low) && Number.isFinite(high))) return;
      const [first, last] = Arms.limits(state.frames);
      const step = Math.min(...state.frames.map((f) => Math.abs(f.step)));
      const least = Math.min(MIN_BINS * step, last - first);
      let width = Math.min(Math.max(high - low, least), last - first);
      let start = Math.max(first, Math.min(last - width, (low + high) / 2 - width / 2));
      if (width > 0.999 * (last - first)) { start = first; width = last - first; }
      view = [start, start + width];
      draw();
      moved();
    }

    /** Curves of one fibre: one for each camera that has it. */
    function curves(fiber) {
      return state.frames.filter((f) => f.row(fiber) !== undefined)
        .map((frame) => ({frame, row: frame.row(fiber), series: Arms.series(frame, frame.row(fiber), state.smooth)}));
    }

    /** Colour of a curve: of its camera while one fibre is shown, else of its fibre. */
    function inkOf(frame, k) {
      if (state.fibers.length > 1) return Axes.colour(`--fibre-${k % FIBRES}`);
      const band = frame.meta.band;
      return Axes.colour(state.frames.length > 1 && BANDS.includes(band) ? `--arm-${band}` : '--accent');
    }

    function fade(ink, part) {
      const [r, g, b] = [1, 3, 5].map((k) => parseInt(ink.slice(k, k + 2), 16));
      return `rgba(${r}, ${g}, ${b}, ${part})`;
    }

    /** Draws panel `area` with the fibres of these places in state.fibers. */
    function panel(base, area, places) {
      const shown = places.map((k) => ({k, curves: curves(state.fibers[k])}));
      const all = shown.flatMap((one) => one.curves);
      const scale = Axes.fluxScale(area, Axes.fluxRange(all, view, state.axis), state.axis);
      const plot = {...base, area, scale};
      const {g} = plot;
      for (const {frame, row} of shown[0].curves) Axes.shade(plot, frame, row);
      Axes.fluxAxis(plot);
      g.save();
      g.beginPath();
      g.rect(area.x, area.y, area.w, area.h);
      g.clip();
      for (const one of shown.slice().reverse()) {  // the main fibre on top
        for (const curve of one.curves) {
          const ink = inkOf(curve.frame, one.k);
          if (places.length <= 2) Axes.band(plot, curve, fade(ink, 0.22));
          Axes.line(plot, curve.frame, curve.series.flux, ink, {dots: true});
          if (state.truth && one === shown[0]) Axes.line(plot, curve.frame, curve.series.truth, Axes.colour('--third'), {width: 1.4});
          if (state.model && one === shown[0]) Axes.line(plot, curve.frame, curve.series.model, Axes.colour('--model'), {width: 1.4, dash: state.residuals ? [] : [5, 3]});
        }
      }
      g.restore();
      if (places.length === 1 && state.fibers.length > 1) {
        g.fillStyle = Axes.colour(`--fibre-${places[0] % FIBRES}`);
        g.textAlign = 'left';
        g.fillText(`fibre ${state.fibers[places[0]]}`, area.x + 6, area.y + 20);
      }
      if (!all.length) {
        g.fillStyle = Axes.colour('--soft');
        g.textAlign = 'center';
        g.fillText('no such fibre in these frames', area.x + area.w / 2, area.y + area.h / 2);
      }
    }

    /** Draws all on a canvas of its own size; `bare`: without cursor and selection. */
    function paint(target, w, height, ratio, bare) {
      target.width = Math.round(w * ratio);
      target.height = Math.round(height * ratio);
      const g = target.getContext('2d');
      g.scale(ratio, ratio);
      g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
      if (bare) {
        g.fillStyle = Axes.colour('--card');
        g.fillRect(0, 0, w, height);
      }
      const strip = state.residuals || state.frames.some((f) => f.hasChi2) ? STRIP : 0;
      const whole = {x: LEFT, y: TOP, w: w - LEFT - RIGHT, h: height - TOP - BOTTOM - strip};
      const x = (wave) => whole.x + whole.w * (wave - view[0]) / (view[1] - view[0]);
      const base = {g, x, view, height, area: whole};
      const stack = state.stacked && state.fibers.length > 1;
      const panels = stack ? state.fibers.map((_, k) => [k]) : [state.fibers.map((_, k) => k)];
      const tall = (whole.h - GAP * (panels.length - 1)) / panels.length;
      panels.forEach((places, p) => panel(base, {...whole, y: whole.y + p * (tall + GAP), h: tall}, places));
      Axes.waveAxis(base);
      g.fillStyle = Axes.colour('--soft');
      g.textAlign = 'left';
      g.fillText(state.frames[0].meta.unit, 2, 9);
      if (marks) marks(base); else Axes.skyLines(base, state.frames);
      if (state.residuals) Axes.residualStrip(base, whole.y + whole.h + 10, strip - 16, curves(state.fibers[0]));
      else if (strip) Axes.chi2Strip(base, whole.y + whole.h + 10, strip - 16, curves(state.fibers[0]).filter(({frame}) => frame.hasChi2));
      if (!bare) overlays(base);
    }

    /** Spectra over each other need room each. */
    function fit() {
      const many = state.stacked ? state.fibers.length : 1;
      box.style.height = many > 2 ? `${140 + 110 * many}px` : '';
    }

    function draw() {
      if (!state.frames.length || box.clientWidth < 80) return;
      paint(canvas, box.clientWidth, box.clientHeight, window.devicePixelRatio || 1, false);
    }

    function overlays({g, area, x, height}) {
      if (drag && Math.abs(drag.x1 - drag.x0) > 3) {
        g.fillStyle = Axes.colour('--select');
        g.fillRect(Math.min(drag.x0, drag.x1), area.y, Math.abs(drag.x1 - drag.x0), height - area.y - BOTTOM);
      }
      if (!cursor) return;
      g.strokeStyle = Axes.colour('--faint');
      g.setLineDash([2, 2]);
      g.beginPath();
      const at = Math.round(x(cursor.frame.wave[cursor.j])) + 0.5;
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
      if (!cursor || cursor.frame.row(state.fibers[0]) === undefined) { told(null); return; }
      const {frame, j} = cursor, row = frame.row(state.fibers[0]), i = row * frame.m + j;
      const series = Arms.series(frame, row, state.smooth);
      told({frame, row, j, wave: frame.wave[j], flux: series.flux[j], sigma: series.sigma[j], chi2: frame.chi2(i), fwhm: frame.fwhm(row, j),
        flags: frame.flags[i], model: state.model ? series.model[j] : NaN, truth: state.truth ? series.truth[j] : NaN,
        others: state.fibers.slice(1).map((fiber) => {
          const other = frame.row(fiber);
          return [fiber, other === undefined ? NaN : Arms.series(frame, other, state.smooth).flux[j]];
        })});
    }

    function move(event) {
      const wave = waveAt(event.clientX);
      let best = null;
      for (const frame of state.frames) {
        const j = Unpack.binOf(frame, wave), off = Math.abs(frame.wave[j] - wave);
        if (frame.row(state.fibers[0]) !== undefined && (!best || off < best.off)) best = {frame, j, off};
      }
      cursor = best;
      if (drag) drag.x1 = event.clientX - box.getBoundingClientRect().left;
      draw();
      tell();
    }

    function zoom(factor, wave) {
      const centre = wave === undefined ? (view[0] + view[1]) / 2 : wave;
      setView(centre - (centre - view[0]) * factor, centre + (view[1] - centre) * factor);
    }

    function wire() {
      box.addEventListener('pointermove', (event) => { if (state.frames.length) move(event); });
      box.addEventListener('pointerleave', () => { if (!drag) { cursor = null; draw(); tell(); } });
      box.addEventListener('pointerdown', (event) => {
        if (!state.frames.length || event.button !== 0) return;
        const at = event.clientX - box.getBoundingClientRect().left;
        drag = {x0: at, x1: at, wave: waveAt(event.clientX)};
        box.setPointerCapture(event.pointerId);
      });
      box.addEventListener('pointerup', (event) => {
        const done = drag;
        drag = null;
        if (!done) return;
        const other = waveAt(event.clientX);
        if (Math.abs(done.x1 - done.x0) > 5) setView(Math.min(done.wave, other), Math.max(done.wave, other));
        else draw();
      });
      box.addEventListener('pointercancel', () => { drag = null; draw(); });
      box.addEventListener('dblclick', () => setView(...Arms.limits(state.frames)));
      box.addEventListener('wheel', (event) => {
        if (!state.frames.length || event.ctrlKey) return;
        const [first, last] = Arms.limits(state.frames);
        if (event.deltaY > 0 && view[1] - view[0] > 0.999 * (last - first)) return;  // the page scrolls on
        event.preventDefault();
        zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), waveAt(event.clientX));
      }, {passive: false});
      if (window.ResizeObserver) new ResizeObserver(draw).observe(box);
    }
    wire();

    return {
      draw, zoom, paint, state,
      /** Some of the state, then drawn again; other frames show their whole range, or `view`. */
      set(part) {
        const anew = part.frames && part.frames !== state.frames;
        Object.assign(state, part);
        fit();
        if (anew) { cursor = null; setView(...(part.view || Arms.limits(state.frames))); } else { draw(); tell(); }
      },
      reset() { setView(...Arms.limits(state.frames)); },
      look(low, high) { setView(low, high); },
      shift(part) { const d = part * (view[1] - view[0]); setView(view[0] + d, view[1] + d); },
      view: () => [...view],
      /** Whether all of it is seen. */
      isWhole() { const [first, last] = Arms.limits(state.frames); return view[1] - view[0] > 0.999 * (last - first); },
      curves,
    };
  }

  return {make, FIBRES};
})();
