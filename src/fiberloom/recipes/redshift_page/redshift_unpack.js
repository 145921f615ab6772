// SPDX-License-Identifier: BSD-3-Clause
// Targets as the page holds them: the table at once, a target's arrays when it is looked at. The inverse of quantise.cpp
// and of target_bytes() in page_target.cpp.
'use strict';

const Targets = (() => {
  const {byId} = Page;
  const CHI2_STEP = 0.005, NO_CHI2 = 65535;
  let meta = null, waves = [], count = 0;

  const json = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

  /** The table and all that targets share. */
  async function open() {
    meta = json(await Unpack.bytes('meta'));
    waves = meta.waves.map((w) => Unpack.waves(w.wave, w.n));
    return meta;
  }

  /** Two planes of bytes as numbers with their sign folded. */
  function folded(bytes, n, take) {
    const out = new Int32Array(n);
    for (let i = 0; i < n; i += 1) {
      const v = bytes[take.at + i] | (bytes[take.at + n + i] << 8);
      out[i] = v & 1 ? -(v >> 1) - 1 : v >> 1;
    }
    take.at += 2 * n;
    return out;
  }

  function sums(codes) {
    let sum = 0;
    for (let i = 0; i < codes.length; i += 1) { sum = (sum + codes[i]) & 65535; codes[i] = sum; }
    return codes;
  }

  function camera(spec, bytes, take) {
    const wave = waves[spec.grid], m = wave.length, [low, step] = spec.sigma;
    const sigma = new Float32Array(m), flux = new Float32Array(m), flags = new Uint8Array(m);
    for (let i = 0; i < m; i += 1) {
      const code = bytes[take.at + i];
      sigma[i] = code ? low * 2 ** (step * (code - 1)) : 0;
      if (!code) flags[i] = Flag.NO_IVAR;
    }
    take.at += m;
    const codes = folded(bytes, m, take);
    for (let i = 0; i < m; i += 1) flux[i] = codes[i] * spec.flux * sigma[i];
    const models = spec.models.map((size) => {
      if (size === null) return null;
      const values = sums(folded(bytes, m, take)), out = new Float32Array(m);
      for (let i = 0; i < m; i += 1) out[i] = (values[i] > 32767 ? values[i] - 65536 : values[i]) * size;
      return out;
    });
    return {name: meta.waves[spec.grid].name, wave, m, step: m > 1 ? (wave[m - 1] - wave[0]) / (m - 1) : 1, flux, sigma, flags, models};
  }

  function curve(spec, least, bytes, take) {
    const z = meta.redshifts[spec.grid], codes = sums(folded(bytes, z.length, take));
    return {name: spec.name, z, chi2: Float64Array.from(codes, (c) => c === NO_CHI2 ? NaN : least + 2 ** (CHI2_STEP * c) - 1)};
  }

  function unpack(bytes) {
    const size = bytes[0] | (bytes[1] << 8) | (bytes[2] << 16) | (bytes[3] << 24);
    const head = json(bytes.subarray(4, 4 + size)), take = {at: 4 + size};
    const cameras = head.cameras.map((spec) => camera(spec, bytes, take));
    return {cameras, fits: head.fits, facts: head.facts, least: head.least, curves: head.curves.map((spec) => curve(spec, head.least, bytes, take))};
  }

  const has = (row) => byId(`t${row}`) !== null;

  /** The target of a row of the table, null where the page has no spectrum of it. */
  async function load(row) {
    return has(row) ? unpack(await Unpack.bytes(`t${row}`)) : null;
  }

  /** Cameras of a target, with the model of one of its fits, as frames of the spectrum viewer. */
  function frames(target, fit) {
    return target.cameras.map((c) => {
      const model = c.models[fit];
      count += 1;  // what is kept of a frame is kept by its number
      return {number: count, n: 1, m: c.m, wave: c.wave, step: c.step, flux: c.flux, sigma: c.sigma, flags: c.flags,
        meta: {band: c.name.toLowerCase(), unit: '', lines: []}, row: (k) => k === 0 ? 0 : undefined, chi2: () => NaN, fwhm: () => NaN,
        model: (i) => model ? model[i] : NaN, truth: () => NaN, hasChi2: false, hasWidth: false, hasModel: Boolean(model), hasTruth: false};
    });
  }

  return {open, load, has, frames};
})();
