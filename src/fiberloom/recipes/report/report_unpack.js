// SPDX-License-Identifier: BSD-3-Clause
// Packed arrays of a page: base64, gzip (the browser's own), halves to floats. What frames and targets share.
'use strict';

const Flag = {SOME: 1, ALL: 2, FIT: 4, OTHER: 8, NO_IVAR: 16, REJECTED: 2 | 16};

const Unpack = (() => {
  const {byId} = Page;
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
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old: it has no DecompressionStream');
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

  /** The bin nearest to a wavelength. */
  function binOf(frame, wave) {
    let a = 0, b = frame.m - 1;
    while (a < b) { const c = (a + b) >> 1; if (frame.wave[c] < wave) a = c + 1; else b = c; }
    return a > 0 && wave - frame.wave[a - 1] < frame.wave[a] - wave ? a - 1 : a;
  }

  return {bytes, floats, waves, binOf};
})();
