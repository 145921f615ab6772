// SPDX-License-Identifier: BSD-3-Clause
// The table of targets: sorts by any column, filters, and holds only the rows that are seen, so that 30,000 scroll as 30.
'use strict';

const Rows = (() => {
  const {h, byId, brief, count, setText} = Page;
  const TALL = 26, MORE = 8;  // pixels of a row; rows kept above and below what is seen
  const FIRST = ['TARGETID', 'SPECTYPE', 'SUBTYPE', 'Z', 'ZERR', 'ZWARN', 'DELTACHI2', 'PROBABILITY', 'CHI2'];

  /** The bits of ZWARN in words. */
  function warnings(meta, value) {
    const out = [];
    for (let bit = 0; bit < 32; bit += 1) if (value & (2 ** bit)) out.push(meta.zwarn[bit] || `bit ${bit}`);
    return out;
  }

  const textOf = (column, row) => {
    const v = column.values[row];
    if (v === null || v === undefined) return '';
    if (column.kind === 'text') return column.words[v];
    if (column.kind === 'truth') return v ? 'yes' : 'no';
    if (column.kind !== 'number') return String(v);
    return column.name === 'Z' ? v.toFixed(6) : brief(v, 5);
  };

  /** picked(row) is called when a person wants a target; changed() when the rows shown or their order did. */
  function make(meta, {picked, changed, inspected}) {
    const box = byId('rows'), head = byId('rows-head'), body = byId('rows-body');
    const byName = new Map(meta.columns.map((c) => [c.name, c]));
    const shownNames = new Set(FIRST.filter((name) => byName.has(name)));
    for (const c of meta.columns) if (c.kind === 'truth') shownNames.add(c.name);
    let order = Array.from({length: meta.rows}, (_, i) => i), sorted = null, down = false, current = -1, drawn = '';

    const shown = () => [...FIRST, ...meta.columns.map((c) => c.name)].filter((name, k, all) => all.indexOf(name) === k && shownNames.has(name)).map((name) => byName.get(name));

    function compare(column) {
      const value = column.kind === 'text' ? (r) => column.values[r] === null ? '' : column.words[column.values[r]] :
        column.kind === 'id' ? (r) => BigInt(column.values[r] === null ? -1 : column.values[r]) : (r) => column.values[r];
      return (a, b) => {
        const x = value(a), y = value(b);
        if (x === null || y === null) return (x === null) - (y === null) || a - b;  // what is not known comes last
        const sign = x < y ? -1 : x > y ? 1 : 0;
        return (down ? -sign : sign) || a - b;
      };
    }

    function header() {
      head.replaceChildren(h('tr', {}, ...shown().map((column) => {
        const on = sorted === column, button = h('button', {type: 'button', title: column.unit || null}, column.name, on ? (down ? ' ▼' : ' ▲') : '');
        button.addEventListener('click', () => sort(column.name));
        return h('th', {scope: 'col', class: column.kind === 'text' || column.kind === 'id' ? null : 'n',
          'aria-sort': on ? (down ? 'descending' : 'ascending') : 'none'}, button);
      }), h('th', {scope: 'col'}, 'inspected')));
    }

    function line(place) {
      const row = order[place];
      const cells = shown().map((column) => {
        const text = textOf(column, row), warn = column.name === 'ZWARN' && column.values[row];
        return h('td', {class: [column.kind === 'text' || column.kind === 'id' ? '' : 'n', warn ? 'warn' : ''].join(' ').trim() || null,
          title: warn ? warnings(meta, column.values[row]).join(', ') : null},
        column.name === 'TARGETID' ? h('button', {type: 'button', class: 'plain', tabindex: row === current ? '0' : '-1'}, text) : text);
      });
      return h('tr', {'data-row': row, 'aria-rowindex': place + 2, 'aria-selected': row === current ? 'true' : null, class: Targets.has(row) ? null : 'bare'}, ...cells, h('td', {}, inspected(row)));
    }

    /** Draws what is seen; `anew`: even where the same rows are seen. */
    function draw(anew) {
      const first = Math.max(0, Math.floor(box.scrollTop / TALL) - MORE), last = Math.min(order.length, Math.ceil((box.scrollTop + box.clientHeight) / TALL) + MORE);
      const key = `${first}-${last}`;
      if (!anew && key === drawn) return;
      drawn = key;
      const space = (rows) => h('tr', {class: 'space', 'aria-hidden': 'true'}, h('td', {colspan: '99', style: `height:${rows * TALL}px`}));
      const lines = [];
      for (let place = first; place < last; place += 1) lines.push(line(place));
      body.replaceChildren(...(first > 0 ? [space(first)] : []), ...lines, ...(last < order.length ? [space(order.length - last)] : []));
      byId('rows-table').setAttribute('aria-rowcount', String(order.length + 1));
    }

    function sort(name) {
      const column = byName.get(name);
      if (!column) return;
      down = sorted === column ? !down : column.kind === 'text' || name === 'Z' || name === 'TARGETID' ? false : name !== 'DELTACHI2' && name !== 'PROBABILITY';
      sorted = column;
      order.sort(compare(column));
      header();
      draw(true);
      changed();
    }

    /** Shows the rows for which holds(row) is true. */
    function filter(holds) {
      order = Array.from({length: meta.rows}, (_, i) => i).filter(holds);
      if (sorted) order.sort(compare(sorted));
      box.scrollTop = Math.min(box.scrollTop, order.length * TALL);
      draw(true);
      setText(byId('shown'), `${count(order.length)} of ${count(meta.rows)}`);
      changed();
    }

    function select(row) {
      current = row;
      const place = order.indexOf(row), top = place * TALL;
      if (place >= 0 && (top < box.scrollTop || top + 2 * TALL > box.scrollTop + box.clientHeight)) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
      draw(true);
    }

    function columnChoice() {
      byId('columns').replaceChildren(...meta.columns.map((column) => {
        const tick = h('input', {type: 'checkbox'});
        tick.checked = shownNames.has(column.name);
        tick.addEventListener('change', () => {
          if (tick.checked) shownNames.add(column.name); else shownNames.delete(column.name);
          header();
          draw(true);
        });
        return h('label', {}, tick, column.name);
      }));
    }

    box.addEventListener('scroll', () => draw(false));
    body.addEventListener('click', (event) => {
      const line = event.target.closest('tr[data-row]');
      if (line) picked(Number(line.dataset.row));
    });
    if (window.ResizeObserver) new ResizeObserver(() => draw(false)).observe(box);
    header();
    columnChoice();

    return {
      filter, sort, select, draw: () => draw(true),
      rows: () => order,
      /** The row `by` places after another in the table as it is shown, that has a spectrum if any has. */
      step(row, by) {
        const any = order.some(Targets.has);
        let place = order.indexOf(row);
        if (place < 0) return order.length ? order[0] : row;
        for (let next = place + by; next >= 0 && next < order.length; next += by) if (!any || Targets.has(order[next])) return order[next];
        return order[place];
      },
      value: (name, row) => byName.has(name) ? byName.get(name).values[row] : null,
      text: (name, row) => byName.has(name) ? textOf(byName.get(name), row) : '',
    };
  }

  return {make, warnings};
})();
