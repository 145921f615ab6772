// SPDX-License-Identifier: BSD-3-Clause
// The arrays of a frame, unpacked when the frame is shown.
'use strict';

const Store = (() => {
  const {byId} = Page;
  const {bytes, floats, waves} = Unpack;
  const NONE = 255;

  /** Traces as functions of row and wavelength, straight between the samples; null without a PSF. */
  async function traces(prefix, meta) {
    const spec = meta.traces;
    if (!spec) return null;
    const codes = async (name) => {
      const planes = await bytes(`${prefix}trace-${name}`), n = planes.length / 2, [low, range] = spec[name];
      return Float32Array.from({length: n}, (_, i) => low + range * (planes[i] | (planes[n + i] << 8)) / 65535);
    };
    const [x, y] = await Promise.all([codes('x'), codes('y')]);
    const k = spec.samples, [first, last] = spec.wave;
    /** Column and row of fibre `s` at a wavelength. */
    const at = (s, wave) => {
      const place = Math.max(0, Math.min(k - 1.000001, (wave - first) / ((last - first) || 1) * (k - 1)));
      const i = s * k + Math.floor(place), t = place - Math.floor(place);
      return [x[i] * (1 - t) + x[i + 1] * t, y[i] * (1 - t) + y[i + 1] * t];
    };
    /** Fibre and wavelength whose trace passes a pixel nearest; null where none passes its row. */
    const nearest = (column, line) => {
      let best = null, least = Infinity;
      for (let s = 0; s < meta.nspec; s += 1) {
        for (let i = s * k; i + 1 < (s + 1) * k; i += 1) {
          const t = (line - y[i]) / (y[i + 1] - y[i]);
          if (!(t >= 0 && t <= 1)) continue;
          const off = Math.abs(x[i] + t * (x[i + 1] - x[i]) - column);
          if (off < least) { least = off; best = {s, wave: first + (last - first) * (i - s * k + t) / (k - 1), off}; }
          break;
        }
      }
      return best;
    };
    return k > 1 ? {samples: k, first, last, at, nearest} : null;
  }

  /** Every byte as a pull. */
  function pullTable({step, soft}) {
    return Float32Array.from({length: 256}, (_, code) => code === NONE ? NaN : soft * Math.sinh((code - 127) / step));
  }

  const metas = [];
  /** What the page says of frame `number` but for its arrays; null where there is none. */
  function meta(number) {
    if (!metas[number]) {
      const element = byId(`f${number}-data`);
      if (!element) return null;
      metas[number] = JSON.parse(element.textContent);
    }
    return metas[number];
  }

  const kept = new Map();  // the frames that were looked at last
  const KEPT = 6;
  function load(number) {
    const frame = kept.get(number) || unpack(number);
    kept.delete(number);
    kept.set(number, frame);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return frame;
  }

  /** The frame of this number on the page. */
  async function unpack(number) {
    const prefix = `f${number}-`, meta = Store.meta(number);
    const [flux, sigma, flags, chi2, width, model, truth, trace] = await Promise.all([floats(prefix + 'flux', meta.flux_scale),
      floats(prefix + 'sigma', meta.sigma_scale), bytes(prefix + 'flags'), bytes(prefix + 'chi2'), bytes(prefix + 'width'),
      bytes(prefix + 'model'), bytes(prefix + 'truth'), traces(prefix, meta)]);
    const m = meta.nwave, wave = waves(meta.wave, m), pulls = pullTable(meta.pull);
    const step = m > 1 ? (wave[m - 1] - wave[0]) / (m - 1) : 1;
    const columns = width ? Math.ceil(m / meta.width.stride) : 0;
    const rows = new Map(meta.fibers.map((fiber, s) => [fiber, s]));
    const chi2Values = Float64Array.from({length: 256}, (_, code) => code === NONE || !chi2 ? NaN : 2 ** (meta.chi2.low + meta.chi2.step * code));
    const beside = (codes) => (i) => codes ? flux[i] - pulls[codes[i]] * sigma[i] : NaN;
    return {
      number, meta, n: meta.nspec, m, wave, step, flux, sigma, flags, columns, traces: trace,
      /** Row of a fibre number, undefined where it is not in this frame. */
      row: (fiber) => rows.get(fiber),
      /** chi2 of a bin, NaN where there is none. */
      chi2: (i) => chi2 ? chi2Values[chi2[i]] : NaN,
      /** Full width at half maximum, Angstrom. */
      fwhm(s, j) {
        if (!width) return NaN;
        const code = width[s * columns + Math.floor(j / meta.width.stride)];
        if (code === NONE) return NaN;
        return 2.35482 * Math.abs(step) * (meta.width.low + (meta.width.high - meta.width.low) * code / (NONE - 1));
      },
      /** What the flux of bin i should be: by the CCD model along the trace, and by the truth. */
      model: beside(model), truth: beside(truth),
      hasChi2: chi2 !== null, hasWidth: width !== null, hasModel: model !== null, hasTruth: truth !== null,
    };
  }

  /** What the flags of a bin say. */
  function words(flags) {
    const out = [];
    if (flags & Flag.ALL) out.push('no information (ALLBADPIX)');
    else if (flags & Flag.NO_IVAR) out.push('ivar 0');
    if (flags & Flag.SOME && !(flags & Flag.ALL)) out.push('low information (SOMEBADPIX)');
    if (flags & Flag.FIT) out.push('bad fit (BAD2DFIT)');
    if (flags & Flag.OTHER) out.push('other bits of MASK');
    return out.join(', ');
  }

  return {load, meta, words};
})();
