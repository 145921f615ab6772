// SPDX-License-Identifier: BSD-3-Clause
// Conditions on columns, "ZWARN != 0 and SPECTYPE == QSO": the language of `fiberloom report --only` (row_filter.cpp).
'use strict';

const Filter = (() => {
  /** A value of a column as what it is compared as: texts in capitals. */
  function valueOf(column, row) {
    const v = column.values[row];
    if (v === null || v === undefined) return NaN;
    if (column.kind === 'text') return column.words[v].toUpperCase();
    return Number(v);
  }

  function condition(part, columns) {
    const found = /^\s*([^=!<>&]+?)\s*(==|!=|<=|>=|<|>|&|=)\s*(\S.*?)\s*$/.exec(part);
    if (!found) throw new Error(`'${part.trim()}': expected NAME OP VALUE, as in ZWARN!=0`);
    const [, name, op, text] = found, column = columns.find((c) => c.name.toUpperCase() === name.toUpperCase());
    if (!column) throw new Error(`no column ${name}`);
    if (op === '&') {
      if (column.kind !== 'integer' || !/^\d+$/.test(text)) throw new Error(`'${part.trim()}': expected bits of a column of integers`);
      return (row) => column.values[row] !== null && (BigInt(column.values[row]) & BigInt(text)) !== 0n;
    }
    const words = {T: 1, TRUE: 1, F: 0, FALSE: 0};
    let wanted = text.toUpperCase();
    if (column.kind === 'truth' && wanted in words) wanted = words[wanted];
    else if (column.kind === 'id') wanted = /^-?\d+$/.test(text) ? BigInt(text) : NaN;
    else if (column.kind !== 'text') wanted = Number(text);
    if (Number.isNaN(wanted)) throw new Error(`'${part.trim()}': expected a number`);
    const value = column.kind === 'id' ? (row) => BigInt(column.values[row]) : (row) => valueOf(column, row);
    switch (op) {
      case '!=': return (row) => value(row) !== wanted;
      case '<': return (row) => value(row) < wanted;
      case '<=': return (row) => value(row) <= wanted;
      case '>': return (row) => value(row) > wanted;
      case '>=': return (row) => value(row) >= wanted;
      default: return (row) => value(row) === wanted;
    }
  }

  /** Conditions as a function of the row; throws what is wrong with them, for people. */
  function compile(text, columns) {
    if (!text.trim()) return () => true;
    const all = text.split(/\s+and\s+|&&|,/i).map((part) => condition(part, columns));
    return (row) => all.every((holds) => holds(row));
  }

  return {compile};
})();
