// SPDX-License-Identifier: BSD-3-Clause
// The cameras of one exposure as one spectrum: which frames belong together, and a fibre's numbers in each, smoothed.
'use strict';

const Arms = (() => {
  /** Numbers of the frames that join frame `lead`: one of each band of the same exposure, by wavelength. */
  function numbers(lead, count) {
    const own = Store.meta(lead), found = [lead], bands = new Set([own.band]);
    for (let k = 0; k < count && own.exposure; k += 1) {
      const other = Store.meta(k);
      if (k === lead || other.exposure !== own.exposure || bands.has(other.band)) continue;
      bands.add(other.band);
      found.push(k);
    }
    const first = (k) => { const {wave} = Store.meta(k); return Array.isArray(wave) ? wave[0] : wave.first; };
    return found.sort((a, b) => first(a) - first(b));
  }

  const good = (frame, i) => !(frame.flags[i] & Flag.REJECTED) && Number.isFinite(frame.flux[i]);

  let cache = new Map();
  const CACHED = 60;

  /**
   * A fibre's arrays over all bins of one frame: flux, sigma, model, truth, NaN in rejected bins. With `width` > 1 each
   * bin is the mean of that many around it, weighted by inverse variance; sigma is that of the mean.
   */
  function series(frame, row, width) {
    const key = `${frame.number}/${row}/${width}`;
    if (cache.has(key)) return cache.get(key);
    const m = frame.m, base = row * m, half = (width - 1) / 2;
    const out = {flux: new Float32Array(m).fill(NaN), sigma: new Float32Array(m).fill(NaN), model: new Float32Array(m).fill(NaN),
      truth: new Float32Array(m).fill(NaN)};
    for (let j = 0; j < m; j += 1) {
      if (!good(frame, base + j)) continue;
      if (half === 0) {
        out.flux[j] = frame.flux[base + j];
        out.sigma[j] = frame.sigma[base + j];
        out.model[j] = frame.model(base + j);
        out.truth[j] = frame.truth(base + j);
        continue;
      }
      const sum = {weight: 0, flux: 0, model: 0, truth: 0};
      for (let k = Math.max(0, j - half); k <= Math.min(m - 1, j + half); k += 1) {
        if (!good(frame, base + k) || !(frame.sigma[base + k] > 0)) continue;
        const weight = frame.sigma[base + k] ** -2;
        sum.weight += weight;
        sum.flux += weight * frame.flux[base + k];
        sum.model += weight * frame.model(base + k);
        sum.truth += weight * frame.truth(base + k);
      }
      if (!(sum.weight > 0)) continue;
      out.flux[j] = sum.flux / sum.weight;
      out.sigma[j] = sum.weight ** -0.5;
      out.model[j] = sum.model / sum.weight;
      out.truth[j] = sum.truth / sum.weight;
    }
    if (cache.size >= CACHED) cache = new Map();
    cache.set(key, out);
    return out;
  }

  /** From the lowest to the highest edge of the frames' bins. */
  function limits(frames) {
    const ends = frames.map((f) => [f.wave[0] - Math.abs(f.step) / 2, f.wave[f.m - 1] + Math.abs(f.step) / 2]);
    return [Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1]))];
  }

  /** The fibre number of the page nearest to a wanted one, in this frame. */
  function nearestFiber(frame, wanted) {
    let best = frame.meta.fibers[0];
    for (const fiber of frame.meta.fibers) if (Math.abs(fiber - wanted) < Math.abs(best - wanted)) best = fiber;
    return best;
  }

  return {numbers, series, limits, nearestFiber};
})();
