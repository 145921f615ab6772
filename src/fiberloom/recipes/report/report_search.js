// SPDX-License-Identifier: BSD-3-Clause
// The search box: fibres by number, TARGETID, type or state, in all frames of the page.
'use strict';

const Search = (() => {
  const {h, byId, brief, count} = Page;
  const SHOWN = 60;

  /** What can be searched: one entry for each fibre of each exposure. */
  function index(metas) {
    const out = [], seen = new Set();
    metas.forEach((meta, number) => {
      const key = meta.exposure ? 'x' + meta.exposure : 'f' + number;
      if (seen.has(key)) return;
      seen.add(key);
      const {types, ids, status, redshifts} = meta.targets;
      meta.fibers.forEach((fiber, s) => out.push({number, s, fiber, id: ids[s] || '', type: types[s] || '',
        state: status[s] ? 'broken' : '', z: redshifts[s], snr: meta.table.snr[s]}));
    });
    return out;
  }

  /** How well an entry answers one word: 0 not at all; a fibre's number before a TARGETID before a part of one. */
  function rank(entry, word) {
    if (String(entry.fiber) === word) return 4;
    if (entry.id && entry.id === word) return 3;
    if (/^-?\d+$/.test(word)) return word.length > 3 && entry.id.includes(word) ? 2 : 0;
    return (entry.type + ' ' + entry.state).toLowerCase().includes(word) ? 1 : 0;
  }

  /** Entries that answer every word of the text, the best first. */
  function find(entries, text) {
    const words = text.toLowerCase().replace(/^(fibre|fiber|targetid)\s+/, '').split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const out = [];
    for (const entry of entries) {
      let least = Infinity;
      for (const word of words) least = Math.min(least, rank(entry, word));
      if (least > 0) out.push({entry, least});
    }
    return out.sort((a, b) => b.least - a.least).map((one) => one.entry);
  }

  function label(entry, several, names) {
    const parts = [entry.type, entry.id && 'TARGETID ' + entry.id, entry.state, Number.isFinite(entry.z) ? 'z ' + brief(entry.z, 4) : '',
      Number.isFinite(entry.snr) ? 'S/N ' + brief(entry.snr, 2) : '', several ? names[entry.number] : ''].filter(Boolean);
    return [h('b', {}, 'fibre ' + entry.fiber), ' ' + parts.join(' · ')];
  }

  /** Wires the box; go(entry, {add}) is called for the one chosen, add to compare it with what is shown. */
  function make(metas, go) {
    const input = byId('search'), box = byId('found');
    const names = metas.map((m) => m.name), several = metas.length > 1;
    let entries = null, hits = [], active = 0;

    function mark(k) {
      active = Math.max(0, Math.min(hits.length - 1, k));
      [...box.querySelectorAll('[role=option]')].forEach((option, i) => {
        option.setAttribute('aria-selected', String(i === active));
        if (i === active) option.scrollIntoView({block: 'nearest'});
      });
    }

    function close() {
      box.hidden = true;
      input.setAttribute('aria-expanded', 'false');
    }

    function choose(k, add) {
      if (!hits[k]) return;
      close();
      input.blur();
      go(hits[k], {add});
    }

    function refresh() {
      entries = entries || index(metas);
      const all = find(entries, input.value);
      hits = all.slice(0, SHOWN);
      box.hidden = !input.value.trim();
      input.setAttribute('aria-expanded', String(!box.hidden));
      box.replaceChildren(h('div', {class: 'note'}, all.length ? `${count(all.length)} found${all.length > SHOWN ? `, the first ${SHOWN}` : ''}` : 'nothing found'),
        ...hits.map((entry, k) => {
          const option = h('div', {role: 'option', 'data-fiber': entry.fiber}, ...label(entry, several, names));
          option.addEventListener('pointerdown', (event) => { event.preventDefault(); choose(k, event.shiftKey); });
          return option;
        }));
      mark(0);
    }

    input.addEventListener('input', refresh);
    input.addEventListener('focus', () => { if (input.value.trim()) refresh(); });
    input.addEventListener('blur', close);
    input.addEventListener('keydown', (event) => {
      const act = {ArrowDown: () => mark(active + 1), ArrowUp: () => mark(active - 1), Enter: () => choose(active, event.shiftKey),
        Escape: () => { close(); input.blur(); }}[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    return {focus() { input.focus(); input.select(); }};
  }

  return {make, find, index};
})();
