// SPDX-License-Identifier: BSD-3-Clause
// The keyboard: one table of keys, from which the help is made too.
'use strict';

const Keys = (() => {
  const {h, byId} = Page;

  /** Rows: keys, name of the act, words. */
  const TABLE = [[['ArrowLeft'], 'previous', '← previous fibre'], [['ArrowRight'], 'next', '→ next fibre'],
    [['shift+ArrowLeft'], 'left', 'shift ← move to the blue'], [['shift+ArrowRight'], 'right', 'shift → move to the red'],
    [['+', '='], 'in', '+ closer'], [['-'], 'out', '− wider'], [['0'], 'reset', '0 whole range'],
    [['Home'], 'first', 'Home first fibre'], [['End'], 'last', 'End last fibre'],
    [['/'], 'search', '/ search'], [['n'], 'finding', 'n next thing that is odd'], [['p'], 'pin', 'p keep this fibre to compare'],
    [['x'], 'clear', 'x drop the fibres kept'], [['o'], 'stack', 'o over each other'], [['s'], 'smooth', 's smoother'], [['a'], 'axis', 'a flux axis'],
    [['m'], 'model', 'm model'], [['t'], 'truth', 't truth'], [['j'], 'join', 'j join the cameras'],
    [['['], 'frameBefore', '[ frame before'], [[']'], 'frameAfter', '] next frame'], [['?'], 'help', '? these keys']];

  /** acts: {name: function}. */
  function wire(acts, table = TABLE) {
    const by = new Map(table.flatMap(([keys, act]) => keys.map((key) => [key, act])));
    byId('keys').replaceChildren(...table.map(([, , words]) => h('span', {}, h('kbd', {}, words.split(' ')[0] === 'shift' ? words.split(' ').slice(0, 2).join(' ') : words.split(' ')[0]),
      ' ' + words.split(' ').slice(words.startsWith('shift') ? 2 : 1).join(' '))));
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      const arrow = event.key.startsWith('Arrow');
      const act = acts[by.get((event.shiftKey && arrow ? 'shift+' : '') + event.key)];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  return {wire};
})();
