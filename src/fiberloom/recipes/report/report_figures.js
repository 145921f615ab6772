// SPDX-License-Identifier: BSD-3-Clause
// Maps over fibres and wavelengths, histograms, colour bars.
'use strict';

const Figures = (() => {
  const {h, svg, byId, brief, count} = Page;
  const palettes = JSON.parse(byId('palettes').textContent);
  const FLAG_NAMES = [[Flag.REJECTED, 'rejected', '#3f4756'], [Flag.SOME, 'low information', '#e8a92c'],
    [Flag.FIT, 'bad fit', '#c23c0c'], [Flag.OTHER, 'other bits', '#8a5cc2']];
  const GOOD = [201, 215, 230];

  function channels(hex) {
    return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  }

  /** Colour of a place from 0 to 1 on a palette. */
  function lookup(name) {
    const stops = palettes[name].map(channels);
    return Array.from({length: 256}, (_, i) => {
      const at = i / 255 * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at)), t = at - k;
      return stops[k].map((c, b) => Math.round((1 - t) * c + t * stops[k + 1][b]));
    });
  }

  /** Values at the given parts (0 to 1) of a sample of up to 20000. */
  function quantiles(frame, value, parts) {
    const size = frame.n * frame.m, stride = Math.max(1, Math.floor(size / 20011)), sample = [];
    for (let i = 0; i < size; i += stride) {
      const v = frame.flags[i] & Flag.REJECTED ? NaN : value(i);
      if (Number.isFinite(v)) sample.push(v);
    }
    sample.sort((a, b) => a - b);
    return parts.map((p) => sample.length ? sample[Math.floor(p * (sample.length - 1))] : 0);
  }

  const asinhPlace = (low, high, soft) => (v) => Math.asinh((v - low) / soft) / Math.asinh((high - low) / soft);

  /** What a map may show: value of bin i, its place on the colour bar, ticks, words. */
  function kinds(frame) {
    const out = [];
    const between = (value, parts) => {
      const [low, high] = quantiles(frame, value, parts);
      return high > low ? [low, high] : [low - 0.5 * (Math.abs(low) || 1), low + 0.5 * (Math.abs(low) || 1)];
    };
    if (frame.hasChi2) {
      out.push({name: 'chi2 of pixels', unit: '', value: (i) => frame.chi2(i), palette: 'diverging',
        place: (v) => 0.5 + Math.log2(v) / 4, ticks: [0.25, 0.5, 1, 2, 4]});
    }
    if (frame.hasWidth) {
      const value = (i) => frame.fwhm(Math.floor(i / frame.m), i % frame.m);
      const [low, high] = between(value, [0.005, 0.995]);
      out.push({name: 'resolution, FWHM', unit: 'Å', value, palette: 'sequential',
        place: (v) => (v - low) / (high - low), ticks: Page.ticks(low, high, 5)});
    }
    const snr = (i) => frame.sigma[i] > 0 ? frame.flux[i] / frame.sigma[i] : NaN;
    const snrHigh = Math.max(quantiles(frame, snr, [0.995])[0], 1);
    out.push({name: 'signal to noise of a bin', unit: '', value: snr, palette: 'sequential',
      place: asinhPlace(0, snrHigh, Math.max(snrHigh / 30, 1)),
      ticks: [0, 1, 3, 10, 30, 100, 300].filter((v) => v <= snrHigh)});
    const flux = (i) => frame.flux[i];
    let [fluxLow, middle, fluxHigh] = quantiles(frame, flux, [0.02, 0.5, 0.998]);
    if (!(fluxHigh > fluxLow)) [fluxLow, fluxHigh] = between(flux, [0.5, 0.5]);
    const soft = Math.max(middle - fluxLow, (fluxHigh - fluxLow) / 200);
    const fluxTicks = [0, ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((p) => [p, 3 * p])].filter((v) => v >= fluxLow && v <= fluxHigh);
    out.push({name: 'flux', unit: frame.meta.unit, value: flux, palette: 'sequential',
      place: asinhPlace(fluxLow, fluxHigh, soft), ticks: fluxTicks.filter((v, k) => k % 2 === 0 || fluxTicks.length < 6)});
    const sigma = (i) => frame.sigma[i] > 0 ? Math.log10(frame.sigma[i]) : NaN;
    const [sigmaLow, sigmaHigh] = between(sigma, [0.002, 0.998]);
    out.push({name: 'sigma (1/√ivar)', unit: frame.meta.unit, value: (i) => frame.sigma[i] > 0 ? frame.sigma[i] : NaN, palette: 'sequential',
      place: (v) => (Math.log10(v) - sigmaLow) / (sigmaHigh - sigmaLow),
      ticks: [0.1, 0.3, 1, 3, 10, 30, 100, 300].filter((v) => Math.log10(v) >= sigmaLow && Math.log10(v) <= sigmaHigh)});
    out.push({name: 'flags', unit: '', flags: true});
    return out;
  }

  /** Mean of a map's values over the bins under each pixel, or the worst of their flags. */
  function paint(frame, kind, width, height) {
    const image = new ImageData(width, height);
    const colours = kind.flags ? null : lookup(kind.palette);
    const [red, green, blue] = channels(getComputedStyle(document.body).getPropertyValue('--none').trim());
    const flagColours = FLAG_NAMES.map(([bits, , hex]) => [bits, channels(hex)]);
    const rowStep = Math.max(1, Math.floor(frame.n / height / 3)), columnStep = Math.max(1, Math.floor(frame.m / width / 4));
    for (let y = 0; y < height; y += 1) {
      const s0 = Math.floor((height - 1 - y) * frame.n / height);
      const s1 = Math.max(s0 + 1, Math.floor((height - y) * frame.n / height));
      for (let x = 0; x < width; x += 1) {
        const j0 = Math.floor(x * frame.m / width), j1 = Math.max(j0 + 1, Math.floor((x + 1) * frame.m / width));
        let colour = null;
        if (kind.flags) {
          let all = 0;
          for (let s = s0; s < s1; s += 1) for (let j = j0; j < j1; j += 1) all |= frame.flags[s * frame.m + j];
          const hit = flagColours.find(([bits]) => all & bits);
          colour = hit ? hit[1] : GOOD;
        } else {
          let sum = 0, n = 0;
          for (let s = s0; s < s1; s += rowStep) {
            for (let j = j0; j < j1; j += columnStep) {
              const i = s * frame.m + j;
              const v = frame.flags[i] & Flag.REJECTED ? NaN : kind.place(kind.value(i));
              if (Number.isFinite(v)) { sum += v; n += 1; }
            }
          }
          if (n) colour = colours[Math.round(255 * Math.max(0, Math.min(1, sum / n)))];
        }
        const at = 4 * (y * width + x);
        image.data[at] = colour ? colour[0] : red;
        image.data[at + 1] = colour ? colour[1] : green;
        image.data[at + 2] = colour ? colour[2] : blue;
        image.data[at + 3] = 255;
      }
    }
    return image;
  }

  /** A colour bar with ticks where place() puts them. */
  function scale(palette, ticks, place, unit) {
    const ramp = h('div', {class: 'ramp'}, h('i', {style: `background:linear-gradient(90deg,${palettes[palette].join(',')})`}));
    for (const tick of ticks) {
      const at = Math.max(0, Math.min(1, place(tick)));
      const shift = at < 0.03 ? '0' : at > 0.97 ? '-100%' : '-50%';
      ramp.append(h('span', {style: `left:${(100 * at).toFixed(2)}%;transform:translateX(${shift})`}, brief(tick, 3)));
    }
    return h('div', {class: 'scale'}, ramp, unit ? h('div', {}, unit) : null);
  }

  const LEFT = 54, BOTTOM = 34;

  /** A map card. pick(row, bin) is called on a click; mark(row) draws where the shown fibre is. */
  function makeMap(frame, first, pick) {
    const list = kinds(frame);
    const select = h('select', {'aria-label': 'what the map shows'}, ...list.map((kind, k) => h('option', {value: k}, kind.name)));
    select.value = String(Math.min(first, list.length - 1));
    const canvas = h('canvas', {}), box = h('div', {class: 'map', role: 'img'}, canvas), under = h('div', {});
    const card = h('section', {class: 'card'}, h('div', {class: 'bar'}, h('h2', {}, 'Map'), select), box, under);
    let marked = 0, picture = null, pictureOf = '';

    function draw() {
      const kind = list[Number(select.value)], ratio = window.devicePixelRatio || 1;
      const w = box.clientWidth, height = box.clientHeight;
      if (w < 60) return;
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(height * ratio);
      const style = getComputedStyle(document.body), soft = style.getPropertyValue('--soft').trim();
      const pw = Math.min(frame.m, Math.round(w - LEFT - 2)), ph = Math.min(frame.n, height - BOTTOM - 4);
      const key = [select.value, pw, ph, soft].join();
      if (key !== pictureOf) {
        picture = document.createElement('canvas');
        picture.width = pw;
        picture.height = ph;
        picture.getContext('2d').putImageData(paint(frame, kind, pw, ph), 0, 0);
        pictureOf = key;
      }
      const g = canvas.getContext('2d');
      g.scale(ratio, ratio);
      g.imageSmoothingEnabled = false;
      const area = {x: LEFT, y: 4, w: w - LEFT - 2, h: height - BOTTOM - 4};
      g.drawImage(picture, area.x, area.y, area.w, area.h);
      g.fillStyle = soft;
      g.font = `11px ${style.fontFamily}`;
      g.textAlign = 'right';
      g.textBaseline = 'middle';
      const step = Math.max(1, Page.ticks(0, frame.n, 5)[1] || 1);
      for (let s = 0; s < frame.n; s += step) {
        g.fillText(String(frame.meta.fibers[Math.floor(s)]), LEFT - 5, Math.min(area.y + area.h - 5, area.y + area.h * (1 - (s + 0.5) / frame.n)));
      }
      g.textBaseline = 'alphabetic';
      const low = frame.wave[0], high = frame.wave[frame.m - 1];
      for (const tick of Page.ticks(low, high, area.w / 90)) {
        const x = area.x + area.w * (tick - low) / ((high - low) || 1);
        g.textAlign = x > area.x + area.w - 20 ? 'right' : x < area.x + 16 ? 'left' : 'center';
        g.fillText(brief(tick, 6), x, height - 19);
      }
      g.textAlign = 'center';
      g.fillText('wavelength, Å', area.x + area.w / 2, height - 3);
      g.save();
      g.translate(11, area.y + area.h / 2);
      g.rotate(-Math.PI / 2);
      g.fillText('fibre', 0, 0);
      g.restore();
      const y = area.y + area.h * (1 - (marked + 0.5) / frame.n);
      g.strokeStyle = style.getPropertyValue('--bad').trim();
      g.beginPath();
      g.moveTo(LEFT - 3, y);
      g.lineTo(LEFT + 5, y);
      g.moveTo(w - 10, y);
      g.lineTo(w, y);
      g.lineWidth = 2;
      g.stroke();
      box.setAttribute('aria-label', `map of ${kind.name} over ${frame.n} fibres and ${frame.m} bins`);
      under.replaceChildren(kind.flags ? h('div', {class: 'keys'}, ...FLAG_NAMES.map(([, name, hex]) =>
        h('span', {}, h('i', {style: 'background:' + hex}), name))) : scale(kind.palette, kind.ticks, kind.place, kind.unit));
    }

    function bin(event) {
      const place = box.getBoundingClientRect();
      const x = (event.clientX - place.left - LEFT) / (place.width - LEFT - 2);
      const y = (event.clientY - place.top - 4) / (place.height - BOTTOM - 4);
      if (x < 0 || x >= 1 || y < 0 || y >= 1) return null;
      return {s: Math.floor((1 - y) * frame.n * 0.999999), j: Math.floor(x * frame.m)};
    }

    box.addEventListener('pointermove', (event) => {
      const at = bin(event), kind = list[Number(select.value)];
      if (!at) { Page.hideTip(); return; }
      const i = at.s * frame.m + at.j;
      const what = kind.flags || frame.flags[i] & Flag.REJECTED ? Store.words(frame.flags[i]) || 'good' :
        `${brief(kind.value(i), 4)} ${kind.unit}`;
      Page.showTip(`fibre ${frame.meta.fibers[at.s]}, ${frame.wave[at.j].toFixed(1)} Å: ${what}`, event.clientX, event.clientY);
    });
    box.addEventListener('pointerleave', Page.hideTip);
    box.addEventListener('click', (event) => { const at = bin(event); if (at) pick(at.s, at.j); });
    select.addEventListener('change', draw);
    return {card, draw, mark(row) { marked = row; draw(); }};
  }

  const power = (v) => brief(10 ** v, 2);

  /** Ticks of a logarithmic axis from 10^low to 10^high: powers of ten, with 2 and 5 between where these are few. */
  function decades(low, high) {
    const steps = high - low > 3 ? [1] : [1, 2, 5], out = [];
    for (let d = Math.floor(low); d <= high; d += 1) {
      out.push(...steps.map((m) => d + Math.log10(m)).filter((v) => v >= low && v <= high));
    }
    return out;
  }

  /** Bars of a histogram; `log`: of counts; `gauss`: with the unit Gaussian of the same number. */
  function histogram(data, {title, unit, note, across, things, log, gauss, tick}) {
    const box = h('div', {class: 'histogram'});
    const card = h('section', {class: 'card'}, h('h2', {}, title, h('small', {}, unit)), box, h('p', {class: 'note'}, note));
    const draw = () => {
      const W = Math.max(260, box.clientWidth || 520), H = 226, L = 44, R = 8, T = 18, B = 36;
      const n = data.counts.length, step = (data.high - data.low) / n, top = Math.max(1, ...data.counts);
      const x = (v) => L + (W - L - R) * (v - data.low) / (data.high - data.low);
      const high = log ? Math.log10(top * 2) : top * 1.06;
      const floor = log ? Math.log10(0.5) : 0;
      const y = (c) => H - B - (H - T - B) * Math.max(0, ((log ? Math.log10(Math.max(c, 0.3)) : c) - floor) / (high - floor));
      const root = svg('svg', {viewBox: `0 0 ${W} ${H}`, height: H, role: 'img', 'aria-label': `${title}: ${note}`});
      const levels = log ? Array.from({length: Math.floor(high) + 1}, (_, k) => 10 ** k) : Page.ticks(0, top, 4);
      for (const c of levels) {
        root.append(svg('line', {class: 'axis', x1: L, x2: W - R, y1: y(c), y2: y(c)}),
          svg('text', {x: L - 5, y: y(c) + 4, 'text-anchor': 'end'}, c >= 1e5 ? '1e' + Math.round(Math.log10(c)) : count(c)));
      }
      const path = data.counts.map((c, k) => `L${x(data.low + k * step).toFixed(1)} ${y(c).toFixed(1)}L${x(data.low + (k + 1) * step).toFixed(1)} ${y(c).toFixed(1)}`).join('');
      root.append(svg('path', {class: 'bars', d: `M${x(data.low)} ${H - B}${path}L${x(data.high)} ${H - B}Z`}));
      if (gauss && data.n > 0) {
        const points = Array.from({length: n + 1}, (_, k) => data.low + k * step)
          .map((v) => [v, data.n * step * Math.exp(-v * v / 2) / Math.sqrt(2 * Math.PI)]).filter(([, c]) => !log || c > 0.5);
        root.append(svg('path', {class: 'gauss', d: points.map(([v, c], k) => `${k ? 'L' : 'M'}${x(v).toFixed(1)} ${y(c).toFixed(1)}`).join('')}));
      }
      for (const t of tick ? decades(data.low, data.high) : Page.ticks(data.low, data.high, 7)) {
        root.append(svg('text', {x: x(t), y: H - 20, 'text-anchor': 'middle'}, tick ? tick(t) : brief(t, 3)));
      }
      root.append(svg('text', {x: (L + W - R) / 2, y: H - 4, 'text-anchor': 'middle'}, across), svg('text', {x: 2, y: 10}, things));
      box.replaceChildren(root);
    };
    return {card, draw};
  }

  return {makeMap, histogram, power, scale, lookup, asinhPlace};
})();
