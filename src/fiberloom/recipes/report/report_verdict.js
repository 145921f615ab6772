// SPDX-License-Identifier: BSD-3-Clause
// The verdict at the top: one line for each frame, and for the one shown what is odd, why, and where to look.
// The rules are in verdict.cpp; here nothing is judged.
'use strict';

const Verdicts = (() => {
  const {h, byId} = Page;
  const GLYPHS = {good: '✓', odd: '▲', bad: '✕', unknown: '?'};

  const glyph = (level) => h('span', {class: 'glyph ' + (GLYPHS[level] ? level : 'unknown'), 'aria-hidden': 'true'}, GLYPHS[level] || '?');

  function item(finding, look) {
    const line = h('li', {class: finding.level, 'data-check': finding.check}, glyph(finding.level),
      h('span', {}, h('b', {}, finding.check), ': ' + finding.text + ' '));
    if (finding.place) {
      const button = h('button', {type: 'button', 'aria-label': 'show ' + finding.check}, 'show');
      button.addEventListener('click', () => look(finding));
      line.lastChild.append(button);
    }
    return line;
  }

  function folded(title, findings, look) {
    if (!findings.length) return null;
    return h('details', {}, h('summary', {}, `${title} (${findings.length})`), h('ul', {}, ...findings.map((f) => item(f, look))));
  }

  /** The card of the frame shown; look(finding) goes to a finding's place. */
  function show(meta, look) {
    const card = byId('verdict'), {level, words, findings} = meta.verdict;
    card.className = 'card verdict ' + level;
    const of = (...levels) => findings.filter((f) => levels.includes(f.level));
    const poor = of('bad', 'odd');
    card.replaceChildren(h('h2', {class: 'words'}, glyph(level), h('span', {}, words)),
      poor.length ? h('ul', {class: 'findings'}, ...poor.map((f) => item(f, look))) : '',
      ...[folded('as it should be', of('good'), look), folded('not checked', of('unknown'), look)].filter(Boolean));
  }

  /** The list of all frames, worst first within the order of the files; nothing for a single one. */
  function list(metas, shown, open) {
    const box = byId('frames');
    box.hidden = metas.length < 2;
    if (box.hidden) return;
    const count = (level) => metas.filter((m) => m.verdict.level === level).length;
    const sums = ['bad', 'odd', 'good', 'unknown'].filter((level) => count(level)).map((level) => `${count(level)} ${level}`);
    box.querySelector('small').textContent = `${metas.length} frames: ${sums.join(', ')}`;
    const rank = {bad: 0, odd: 1, good: 2, unknown: 3};
    const order = metas.map((_, k) => k).sort((a, b) => rank[metas[a].verdict.level] - rank[metas[b].verdict.level] || a - b);
    box.querySelector('ul').replaceChildren(...order.map((k) => {
      const {name, verdict} = metas[k];
      const button = h('button', {type: 'button', 'aria-current': k === shown ? 'true' : null, 'data-number': k}, glyph(verdict.level),
        h('b', {class: 'wrap'}, name), h('span', {class: 'soft'}, verdict.words));
      button.addEventListener('click', () => open(k));
      return h('li', {}, button);
    }));
  }

  return {show, list};
})();
