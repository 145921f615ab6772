// SPDX-License-Identifier: BSD-3-Clause
// The address keeps what is shown: #fibre=12&w=6500-6600. What a person typed there is only ever compared or parsed.
'use strict';

const Link = (() => {
  const MOST = 7;  // fibres beside the main one

  const whole = (text) => /^-?\d{1,9}$/.test(text || '') ? Number(text) : null;

  /** What a hash asks for; what it does not say, or says wrongly, is left out. */
  function parse(hash) {
    const asked = new URLSearchParams(hash.replace(/^#/, '')), out = {};
    const fiber = whole(asked.get('fibre') || asked.get('fiber'));
    if (fiber !== null) out.fiber = fiber;
    const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(asked.get('w') || '');
    if (range && Number(range[1]) < Number(range[2])) out.range = [Number(range[1]), Number(range[2])];
    if (asked.has('also')) out.also = asked.get('also').split(',').map(whole).filter((f) => f !== null).slice(0, MOST);
    const smooth = whole(asked.get('smooth'));
    if (smooth !== null) out.smooth = smooth;
    for (const name of ['frame', 'axis']) if (asked.has(name)) out[name] = asked.get(name);
    for (const name of ['stack', 'model', 'truth', 'join']) if (asked.has(name)) out[name] = asked.get(name) === '1';
    return out;
  }

  /** The hash of what is shown: only what differs from the plain page. */
  function text(s) {
    const parts = [];
    if (s.frame) parts.push('frame=' + encodeURIComponent(s.frame));
    parts.push('fibre=' + s.fiber);
    if (s.range) parts.push(`w=${s.range.map((w) => String(Number(w.toFixed(2)))).join('-')}`);
    if (s.also.length) parts.push('also=' + s.also.join(','));
    if (s.smooth > 1) parts.push('smooth=' + s.smooth);
    if (s.axis !== 'asinh') parts.push('axis=' + s.axis);
    for (const name of ['stack', 'model', 'truth']) if (s[name]) parts.push(name + '=1');
    if (!s.join) parts.push('join=0');
    return '#' + parts.join('&');
  }

  let timer = 0, last = '';
  /** Puts the hash into the address, a little later, as a person drags. */
  function keep(make) {
    clearTimeout(timer);
    timer = setTimeout(() => now(make()), 120);
  }
  function now(hash) {
    clearTimeout(timer);
    if (hash === last) return;
    last = hash;
    try {
      history.replaceState(null, '', hash);
    } catch (error) {
      // A page without an address of its own (a sandboxed frame) keeps none.
    }
  }

  /** Calls go(asked) when a person changes the address. */
  function watch(go, read = parse) {
    window.addEventListener('hashchange', () => {
      if (location.hash === last) return;
      last = location.hash;
      go(read(location.hash));
    });
  }

  return {parse, text, keep, now, watch, MOST};
})();
