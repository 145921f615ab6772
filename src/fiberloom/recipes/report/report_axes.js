// SPDX-License-Identifier: BSD-3-Clause
// What is drawn in a plot of spectra, piece by piece: axes, shades of flagged bins, lines, bands, the chi2 strip. Each
// takes the plot {g, area, x, y, view, ...} and what to draw; none keeps anything.
'use strict';

const Axes = (() => {
  const {brief} = Page;
  const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  /** First and last bin of a frame in the view, one more on either side. */
  function bins(frame, view) {
    const find = (w) => {
      let a = 0, b = frame.m;
      while (a < b) { const c = (a + b) >> 1; if (frame.wave[c] < w) a = c + 1; else b = c; }
      return a;
    };
    return [Math.max(0, find(view[0]) - 1), Math.min(frame.m - 1, find(view[1]))];
  }

  /** Range of the flux axis over curves {frame, series} in view; `error`: their mean sigma. */
  function fluxRange(curves, view, axis) {
    const values = [];
    let error = 0;
    for (const {frame, series} of curves) {
      const [j0, j1] = bins(frame, view);
      for (let j = j0; j <= j1; j += 1) {
        if (!Number.isFinite(series.flux[j])) continue;
        values.push(series.flux[j]);
        error += series.sigma[j];
      }
    }
    if (!values.length) return {low: 0, high: 1, error: 1};
    error /= values.length;
    values.sort((a, b) => a - b);
    const clip = axis === 'clipped' ? 0.04 : 0, n = values.length;
    const low = values[Math.floor(clip * 0.2 * (n - 1))], high = values[Math.ceil((1 - clip) * (n - 1))];
    if (axis === 'asinh') return {low: low - 3 * error, high: high + 0.3 * Math.abs(high) + 1e-6 * Math.max(error, 1e-30), error};
    const pad = Math.max(0.06 * (high - low), error, 1e-30);
    return {low: low - pad, high: high + pad, error};
  }

  /** The functions from flux to pixels and what ticks need. */
  function fluxScale(area, {low, high, error}, axis) {
    const soft = axis === 'asinh' ? Math.max((high - low) / 400, 3 * error, 1e-30) : 0;
    const bend = (v) => soft ? Math.asinh(v / soft) : v;
    const y = (v) => area.y + area.h * (1 - (bend(v) - bend(low)) / ((bend(high) - bend(low)) || 1));
    return {y, low, high, soft};
  }

  function fluxTicks({low, high, soft, y}, area) {
    if (!soft) return Page.ticks(low, high, area.h / 55);
    const power = 10 ** Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high), 1e-300)) - 5);
    const sizes = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((p) => [p * power, 3 * p * power]);
    const ticks = [];
    for (const v of [0, ...sizes.slice().reverse(), ...sizes.map((size) => -size).reverse()]) {
      if (v >= low && v <= high && ticks.every((other) => Math.abs(y(v) - y(other)) > 22)) ticks.push(v);
    }
    return ticks.length < 3 ? Page.ticks(low, high, area.h / 70) : ticks;
  }

  function fluxAxis({g, area, scale}) {
    g.strokeStyle = colour('--line');
    g.fillStyle = colour('--soft');
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    g.beginPath();
    for (const tick of fluxTicks(scale, area)) {
      const at = Math.round(scale.y(tick)) + 0.5;
      g.moveTo(area.x, at);
      g.lineTo(area.x + area.w, at);
      g.fillText(brief(tick, 3), area.x - 6, at);
    }
    g.stroke();
    g.textBaseline = 'alphabetic';
  }

  /** Ticks and numbers below the lowest panel. */
  function waveAxis({g, area, x, view, height}) {
    g.strokeStyle = colour('--line');
    g.fillStyle = colour('--soft');
    g.beginPath();
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

  /** Flagged bins of one row: rejected ones hatched. */
  function shade({g, area, x, view}, frame, row) {
    const base = row * frame.m, half = Math.abs(frame.step) / 2, [j0, j1] = bins(frame, view);
    for (let j = j0; j <= j1; j += 1) {
      const flags = frame.flags[base + j];
      if (!flags) continue;
      let end = j;
      while (end < j1 && frame.flags[base + end + 1] === flags) end += 1;
      const left = Math.max(area.x, x(frame.wave[j] - half)), right = Math.min(area.x + area.w, x(frame.wave[end] + half));
      j = end;
      if (right < area.x || left > area.x + area.w) continue;
      const width = Math.max(1.5, right - left);
      g.fillStyle = colour(flags & Flag.REJECTED ? '--none' : flags & Flag.SOME ? '--some' : '--fit');
      g.fillRect(left, area.y, width, area.h);
      if (flags & Flag.REJECTED && width > 6) hatch(g, left, area.y, width, area.h);
    }
  }

  /** One sigma on both sides, one polygon for each stretch of good bins. */
  function band({g, x, scale, view}, {frame, series}, fill) {
    const [j0, j1] = bins(frame, view), known = (j) => Number.isFinite(series.flux[j]);
    g.fillStyle = fill;
    for (let j = j0; j <= j1; j += 1) {
      if (!known(j)) continue;
      let end = j;
      while (end < j1 && known(end + 1)) end += 1;
      g.beginPath();
      for (let k = j; k <= end; k += 1) g.lineTo(x(frame.wave[k]), scale.y(series.flux[k] + series.sigma[k]));
      for (let k = end; k >= j; k -= 1) g.lineTo(x(frame.wave[k]), scale.y(series.flux[k] - series.sigma[k]));
      g.fill();
      j = end;
    }
  }

  /** A line through values that are known; dots where bins are far apart. */
  function line({g, x, scale, view}, frame, values, stroke, {width = 1.2, dash = [], dots = false} = {}) {
    const [j0, j1] = bins(frame, view);
    g.strokeStyle = stroke;
    g.lineWidth = width;
    g.lineJoin = 'round';
    g.setLineDash(dash);
    g.beginPath();
    let open = false;
    for (let j = j0; j <= j1; j += 1) {
      const good = Number.isFinite(values[j]);
      if (good && open) g.lineTo(x(frame.wave[j]), scale.y(values[j]));
      else if (good) g.moveTo(x(frame.wave[j]), scale.y(values[j]));
      open = good;
    }
    g.stroke();
    g.setLineDash([]);
    if (!dots || j1 - j0 > 120) return;
    g.fillStyle = stroke;
    for (let j = j0; j <= j1; j += 1) {
      if (Number.isFinite(values[j])) g.fillRect(x(frame.wave[j]) - 1.5, scale.y(values[j]) - 1.5, 3, 3);
    }
  }

  /** Marks at the top, the strongest first; names as far as there is room. */
  function skyLines({g, area, x, view}, frames) {
    g.strokeStyle = g.fillStyle = colour('--sky');
    g.lineWidth = 1;
    g.textAlign = 'center';
    const taken = [], seen = [], clear = g.measureText(frames[0].meta.unit).width + 6;  // the unit stands there
    for (const frame of frames) seen.push(...frame.meta.lines.filter(([wave]) => wave >= view[0] && wave <= view[1]).slice(0, area.w / 12 / frames.length));
    g.beginPath();
    for (const [wave, name] of seen) {
      const at = x(wave);
      g.moveTo(at, area.y);
      g.lineTo(at, area.y + 8);
      const half = g.measureText(name).width / 2 + 5;
      const centre = Math.max(area.x + half, Math.min(area.x + area.w - half, at));
      const free = centre - half > clear && taken.every(([a, b]) => centre + half < a || centre - half > b);
      if (!free) continue;
      taken.push([centre - half, centre + half]);
      g.fillText(name, centre, area.y - 4);
    }
    g.stroke();
  }

  /** A number of each bin as dots on a scale of its own, below the panels: value(row, j), NaN for none. */
  function strip({g, area, x, view}, top, tall, rows, {y, ticks, label, value}) {
    g.strokeStyle = colour('--line');
    g.fillStyle = colour('--soft');
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    g.beginPath();
    for (const [v, text] of ticks) {
      g.moveTo(area.x, Math.round(y(v)) + 0.5);
      g.lineTo(area.x + area.w, Math.round(y(v)) + 0.5);
      g.fillText(text, area.x - 6, y(v));
    }
    g.stroke();
    g.fillText(label, 30, top + tall / 2);
    g.textBaseline = 'alphabetic';
    g.save();
    g.beginPath();
    g.rect(area.x, top - 2, area.w, tall + 4);
    g.clip();
    g.fillStyle = colour('--amber');
    for (const one of rows) {
      const {frame, row} = one, base = row * frame.m, [j0, j1] = bins(frame, view), size = Math.max(1.4, Math.min(3, area.w / (j1 - j0 + 1)));
      for (let j = j0; j <= j1; j += 1) {
        const v = value(one, j);
        if (Number.isFinite(v) && !(frame.flags[base + j] & Flag.REJECTED)) g.fillRect(x(frame.wave[j]) - size / 2, y(v) - size / 2, size, size);
      }
    }
    g.restore();
  }

  /** chi2 of the bins on a logarithmic scale from 1/4 to 4. */
  function chi2Strip(plot, top, tall, rows) {
    strip(plot, top, tall, rows, {y: (v) => top + tall * (0.5 - Math.max(-2, Math.min(2, Math.log2(v))) / 4), ticks: [[0.25, '¼'], [1, '1'], [4, '4']],
      label: 'chi2', value: ({frame, row}, j) => frame.chi2(row * frame.m + j)});
  }

  /** (flux - model) / sigma of curves {frame, row, series}, to six sigma. */
  function residualStrip(plot, top, tall, rows) {
    strip(plot, top, tall, rows, {y: (v) => top + tall * (0.5 - Math.max(-6, Math.min(6, v)) / 12.5), ticks: [[-5, '−5'], [0, '0'], [5, '5']],
      label: 'σ', value: ({series}, j) => (series.flux[j] - series.model[j]) / series.sigma[j]});
  }

  return {colour, bins, fluxRange, fluxScale, fluxAxis, waveAxis, shade, band, line, skyLines, chi2Strip, residualStrip};
})();
