// SPDX-License-Identifier: BSD-3-Clause
// What an inspector thinks of targets: quality, issues, class, redshift, words. Kept in this browser where it keeps
// anything, and written as the CSV that DESI's visual inspections are exchanged in (columns of prospect's VI files).
'use strict';

const Inspect = (() => {
  const {byId} = Page;
  const COLUMNS = ['TARGETID', 'EXPID', 'NIGHT', 'TILEID', 'Spec_version', 'Redrock_version', 'Template_version', 'Redrock_spectype', 'Redrock_z',
    'Redrock_deltachi2', 'VI_scanner', 'VI_quality', 'VI_issue', 'VI_z', 'VI_spectype', 'VI_comment'];
  const EMPTY = {quality: '', issue: '', type: '', z: '', comment: ''};

  /** A cell that no line break, quote or formula of a spreadsheet gets out of. */
  function cell(value) {
    let text = String(value === null || value === undefined ? '' : value).replace(/[\r\n\t]+/g, ' ');
    if (/^[=+@]/.test(text) || /^-(?![\d.])/.test(text)) text = "'" + text;
    return /[",]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  /** A line of CSV as its cells. */
  function cells(line) {
    const out = [''];
    let quoted = false;
    for (let i = 0; i < line.length; i += 1) {
      const c = line[i];
      if (c === '"' && quoted && line[i + 1] === '"') { out[out.length - 1] += '"'; i += 1; }
      else if (c === '"') quoted = !quoted;
      else if (c === ',' && !quoted) out.push('');
      else out[out.length - 1] += c;
    }
    return out;
  }

  /** meta and table as the page has them; changed(row) after each change of what is thought of a row. */
  function make(meta, table, {changed}) {
    const key = `fiberloom-inspection:${meta.title}:${meta.rows}:${table.text('TARGETID', 0)}`;
    const idOf = (row) => table.text('TARGETID', row);
    const byTarget = new Map();
    for (let row = 0; row < meta.rows; row += 1) if (!byTarget.has(idOf(row))) byTarget.set(idOf(row), row);
    let kept = {scanner: '', targets: {}}, row = null, stored = true;

    function store() {
      try {
        localStorage.setItem(key, JSON.stringify(kept));
      } catch (error) {
        stored = false;  // a browser that keeps nothing: the CSV is the way
      }
      tell();
    }

    function recall() {
      try {
        const found = JSON.parse(localStorage.getItem(key) || 'null');
        if (found && typeof found.targets === 'object') kept = {scanner: String(found.scanner || ''), targets: found.targets || {}};
      } catch (error) {
        stored = false;
      }
    }

    function tell() {
      const n = Object.keys(kept.targets).length;
      Page.setText(byId('vi-count'), `${Page.counted(n, 'target')} inspected` + (stored ? '' : '; this browser keeps nothing: save the CSV'));
      byId('vi-save').disabled = n === 0;
    }

    const of = (one) => kept.targets[idOf(one)] || EMPTY;
    const isEmpty = (v) => Object.keys(EMPTY).every((name) => !v[name]);

    function put(part) {
      if (row === null) return;
      const next = {...EMPTY, ...of(row), ...part};
      if (isEmpty(next)) delete kept.targets[idOf(row)]; else kept.targets[idOf(row)] = next;
      store();
      changed(row);
    }

    /** The form as the target's judgement is. */
    function fill() {
      const v = row === null ? EMPTY : of(row);
      for (const radio of document.querySelectorAll('input[name=vi-quality]')) radio.checked = radio.value === v.quality;
      for (const tick of document.querySelectorAll('input[name=vi-issue]')) tick.checked = v.issue.includes(tick.value);
      byId('vi-type').value = v.type;
      byId('vi-z').value = v.z;
      byId('vi-comment').value = v.comment;
      byId('vi-scanner').value = kept.scanner;
    }

    function csvText() {
      const lines = [COLUMNS.join(',')];
      for (const [id, v] of Object.entries(kept.targets)) {
        const at = byTarget.get(id);
        if (at === undefined) continue;
        let n = 0, file = meta.files[0];
        for (const one of meta.files) { if (at < n + one.rows) { file = one; break; } n += one.rows; }
        const known = (name) => { const text = table.text(name, at); return text !== '' ? text : file[name] !== undefined ? file[name] : -1; };
        const z = table.value('Z', at), delta = table.value('DELTACHI2', at);
        lines.push([id, known('EXPID'), known('NIGHT'), known('TILEID'), -1, file.RRVER || -1, file.TEMVER00 || -1, table.text('SPECTYPE', at), z === null ? -1 : z.toFixed(4),
          delta === null ? -1 : delta.toFixed(1), kept.scanner || ' ', v.quality || -1, v.issue, v.z, v.type, v.comment].map(cell).join(','));
      }
      return lines.join('\n') + '\n';
    }

    /** Takes up what a CSV of this form says; returns how many targets of the page it had. */
    function read(text) {
      const [head, ...lines] = text.split(/\r?\n/).filter(Boolean).map(cells);
      const at = (name) => head.indexOf(name);
      if (at('TARGETID') < 0 || at('VI_quality') < 0) throw new Error('no columns TARGETID and VI_quality: not a file of visual inspections');
      let n = 0;
      for (const line of lines) {
        const id = (line[at('TARGETID')] || '').trim(), get = (name) => (line[at(name)] || '').trim();
        if (!byTarget.has(id)) continue;
        const v = {quality: /^[0-4]$/.test(get('VI_quality')) ? get('VI_quality') : '', issue: get('VI_issue').replace(/[^RCS]/g, ''), type: get('VI_spectype'),
          z: get('VI_z'), comment: get('VI_comment')};
        if (isEmpty(v)) continue;
        kept.targets[id] = v;
        n += 1;
      }
      store();
      fill();
      changed(null);
      return n;
    }

    function wire() {
      for (const radio of document.querySelectorAll('input[name=vi-quality]')) radio.addEventListener('change', () => put({quality: radio.value}));
      for (const tick of document.querySelectorAll('input[name=vi-issue]')) {
        tick.addEventListener('change', () => put({issue: [...document.querySelectorAll('input[name=vi-issue]:checked')].map((t) => t.value).join('')}));
      }
      byId('vi-type').addEventListener('change', () => put({type: byId('vi-type').value}));
      byId('vi-z').addEventListener('change', () => put({z: byId('vi-z').value.trim()}));
      byId('vi-comment').addEventListener('change', () => put({comment: byId('vi-comment').value.trim()}));
      byId('vi-scanner').addEventListener('change', () => { kept.scanner = byId('vi-scanner').value.trim(); store(); });
      byId('vi-save').addEventListener('click', () => Export.save(new Blob([csvText()], {type: 'text/csv'}), Export.fileName(`vi-${meta.title}`, '.csv')));
      byId('vi-clear').addEventListener('click', () => { put({...EMPTY}); fill(); });
      byId('vi-load').addEventListener('change', async (event) => {
        const file = event.target.files[0];
        if (!file) return;
        try {
          Page.setText(byId('vi-told'), `${Page.counted(read(await file.text()), 'target')} of ${file.name}`);
        } catch (error) {
          Page.setText(byId('vi-told'), error.message);
        }
        event.target.value = '';
      });
    }

    recall();
    wire();
    tell();
    return {
      csvText, read, put,
      show(one) { row = one; fill(); },
      /** What the table says of a row. */
      words(one) { const v = of(one); return isEmpty(v) ? '' : [v.quality !== '' ? `${v.quality}` : '–', v.issue, v.type, v.z && `z ${v.z}`].filter(Boolean).join(' '); },
      set(part) { put(part); fill(); },
    };
  }

  return {make, COLUMNS};
})();
