// SPDX-License-Identifier: BSD-3-Clause
// What all pages share: elements, numbers as text, ticks of an axis, one tooltip. No library.
'use strict';

const Page = (() => {
  const SVG = 'http://www.w3.org/2000/svg';

  function put(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  /** An HTML element. Text children become text nodes: nothing here is ever parsed as markup. */
  const h = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => put(document.createElementNS(SVG, tag), attributes, children);
  const byId = (id) => document.getElementById(id);

  function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  /** The numbers that levels_of() packed. */
  function levels(base64) {
    const text = atob(base64);
    const out = new Uint16Array(text.length / 2);
    for (let i = 0; i < out.length; i += 1) out[i] = text.charCodeAt(2 * i) | text.charCodeAt(2 * i + 1) << 8;
    return out;
  }

  function duration(seconds) {
    if (!(seconds >= 0)) return '–';
    if (seconds < 10) return seconds.toFixed(2) + ' s';
    if (seconds < 100) return seconds.toFixed(1) + ' s';
    const whole = Math.round(seconds);
    if (whole < 3600) return Math.floor(whole / 60) + ' min ' + String(whole % 60).padStart(2, '0') + ' s';
    const minutes = Math.round(seconds / 60);
    return Math.floor(minutes / 60) + ' h ' + String(minutes % 60).padStart(2, '0') + ' min';
  }

  function bytes(n) {
    const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
    let unit = 0;
    while (n >= 1000 && unit + 1 < units.length) { n /= 1000; unit += 1; }
    return (unit === 0 || n >= 100 ? n.toFixed(0) : n.toPrecision(3)) + ' ' + units[unit];
  }

  /** A count with narrow unbreakable spaces between thousands. */
  const count = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');

  /** "1 bin", "2 bins". */
  const counted = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

  /** A number of a few digits. */
  function brief(value, digits = 4) {
    if (!Number.isFinite(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) {
      const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split('e');
      return mantissa.replace(/\.?0+$/, '') + 'e' + Number(exponent);
    }
    if (size >= 10 ** (digits - 1)) return (value < 0 ? '−' : '') + count(size);
    const text = value.toPrecision(digits);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  }

  /** Round numbers that cover [low, high], about n of them. */
  function ticks(low, high, n) {
    if (!(high > low)) return [low];
    const raw = (high - low) / Math.max(n, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999);
    const out = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
      out.push(Number((k * step).toPrecision(12)));
    }
    return out;
  }

  let tip = null;
  function showTip(text, x, y) {
    if (!tip) document.body.append(tip = h('div', {class: 'tip', role: 'status'}));
    tip.hidden = false;
    setText(tip, text);
    const box = tip.getBoundingClientRect();
    const room = document.documentElement.clientWidth;
    tip.style.left = Math.max(8, Math.min(x + 12, room - box.width - 8)) + 'px';
    tip.style.top = (y + 16 + box.height > window.innerHeight ? Math.max(4, y - box.height - 10) : y + 16) + 'px';
  }
  function hideTip() {
    if (tip) tip.hidden = true;
  }

  return {h, svg, byId, setText, levels, duration, bytes, count, counted, brief, ticks, showTip, hideTip};
})();
