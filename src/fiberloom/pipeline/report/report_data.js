// SPDX-License-Identifier: BSD-3-Clause
// The arrays of a frame, unpacked when the frame is shown: base64, gzip (the browser's own), halves to floats.
'use strict';

const Flag = {SOME: 1, ALL: 2, FIT: 4, OTHER: 8, NO_IVAR: 16, REJECTED: 2 | 16};

const Store = (() => {
  const {byId} = Page;
  const NONE = 255;
  let table = null;

  /** Every half as a float. */
  function halves() {
    if (table) return table;
    table = new Float32Array(65536);
    for (let h = 0; h < 65536; h += 1) {
      const exponent = (h >> 10) & 31, mantissa = h & 1023;
      const size = exponent === 31 ? (mantissa ? NaN : Infinity) :
        exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25);
      table[h] = h & 32768 ? -size : size;
    }
    return table;
  }

  async function bytes(id) {
    const element = byId(id);
    if (!element) return null;
    const text = atob(element.textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function floats(id, scale) {
    const planes = await bytes(id), n = planes.length / 2, lookup = halves();
    const out = new Float32Array(n);
    for (let i = 0; i < n; i += 1) out[i] = lookup[planes[i] | (planes[n + i] << 8)] * scale;
    return out;
  }

  function waves(spec, m) {
    if (Array.isArray(spec)) return Float64Array.from(spec);
    return Float64Array.from({length: m}, (_, j) => spec.first + spec.step * j);
  }

  /** The frame of this number on the page. */
  async function load(number) {
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old: it has no DecompressionStream');
    const prefix = `f${number}-`;
    const meta = JSON.parse(byId(prefix + 'data').textContent);
    const [flux, sigma, flags, chi2, width] = await Promise.all([floats(prefix + 'flux', meta.flux_scale),
      floats(prefix + 'sigma', meta.sigma_scale), bytes(prefix + 'flags'), bytes(prefix + 'chi2'), bytes(prefix + 'width')]);
    const m = meta.nwave, wave = waves(meta.wave, m);
    const step = m > 1 ? (wave[m - 1] - wave[0]) / (m - 1) : 1;
    const columns = width ? Math.ceil(m / meta.width.stride) : 0;
    return {
      meta, n: meta.nspec, m, wave, step, flux, sigma, flags, columns,
      /** chi2 of a bin, NaN where there is none. */
      chi2(i) {
        return chi2 && chi2[i] !== NONE ? 2 ** (meta.chi2.low + meta.chi2.step * chi2[i]) : NaN;
      },
      /** Full width at half maximum, Angstrom. */
      fwhm(s, j) {
        if (!width) return NaN;
        const code = width[s * columns + Math.floor(j / meta.width.stride)];
        if (code === NONE) return NaN;
        return 2.35482 * Math.abs(step) * (meta.width.low + (meta.width.high - meta.width.low) * code / (NONE - 1));
      },
      hasChi2: chi2 !== null, hasWidth: width !== null,
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

  return {load, words};
})();
