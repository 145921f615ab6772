// SPDX-License-Identifier: BSD-3-Clause
// The page of redshifts: keeps what is shown (target, fit, redshift of the lines, switches) and hands it to the parts.
'use strict';

(() => {
  const {h, byId, setText, brief} = Page;
  const SMOOTH = [1, 3, 5, 9, 15, 31];
  const state = {row: null, fit: 0, z: null, target: null, asked: 0};
  let meta = null, table = null, inspect = null, curve = null, marks = null;
  const viewer = Spectrum.make(byId('plot'), {told: showReadout, moved: onMoved, marks: (plot) => { if (marks) marks(plot); }});

  /** What a hash asks for: #target=39628..&fit=2&z=0.5&w=6500-6600&smooth=5. */
  function parse(hash) {
    const asked = new URLSearchParams(hash.replace(/^#/, '')), out = {};
    if (/^-?\d{1,19}$/.test(asked.get('target') || '')) out.id = asked.get('target');
    if (/^\d$/.test(asked.get('fit') || '')) out.fit = Number(asked.get('fit')) - 1;
    if (/^-?\d*\.?\d+$/.test(asked.get('z') || '')) out.z = Number(asked.get('z'));
    if (/^\d+$/.test(asked.get('smooth') || '')) out.smooth = Number(asked.get('smooth'));
    const range = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(asked.get('w') || '');
    if (range && Number(range[1]) < Number(range[2])) out.range = [Number(range[1]), Number(range[2])];
    return out;
  }

  function link() {
    const parts = ['target=' + table.text('TARGETID', state.row)], fit = state.target && state.target.fits[state.fit];
    if (state.fit > 0) parts.push(`fit=${state.fit + 1}`);
    if (fit && state.z !== fit.z) parts.push(`z=${Number(state.z.toFixed(7))}`);
    if (viewer.state.smooth > 1) parts.push('smooth=' + viewer.state.smooth);
    if (state.target && !viewer.isWhole()) parts.push('w=' + viewer.view().map((w) => String(Number(w.toFixed(2)))).join('-'));
    return '#' + parts.join('&');
  }
  const keep = () => { if (state.row !== null && document.body.dataset.ready === 'yes') Link.keep(link); };
  function onMoved() { keep(); }

  function showReadout(at) {
    if (!at) { byId('readout').textContent = '\u00a0'; return; }
    const rest = state.z === null ? '' : ` (rest ${(at.wave / (1 + state.z)).toFixed(2)} Å)`;
    byId('readout').replaceChildren(h('b', {}, `${at.wave.toFixed(2)} Å`), rest, at.flags & Flag.REJECTED ? ' not fitted' :
      ` flux ${brief(at.flux, 4)} ± ${brief(at.sigma, 2)}` + (Number.isFinite(at.model) ? `, model ${brief(at.model, 4)}, residual ${brief((at.flux - at.model) / at.sigma, 2)} sigma` : ''));
  }

  /** z of the lines, wherever it comes from. */
  function setZ(z, {typed = false} = {}) {
    state.z = z;
    if (!typed) byId('z').value = z === null ? '' : String(Number(z.toFixed(6)));
    if (state.target) curve.show(state.target, state.fit, z);
    viewer.draw();
    keep();
  }

  function showFits() {
    byId('fits').replaceChildren(...state.target.fits.map((f, k) => {
      const words = [f.p !== null ? `p ${brief(f.p, 3)}` : '', k > 0 ? `chi2 ${f.chi2 >= state.target.fits[0].chi2 ? '+' : '−'}${brief(Math.abs(f.chi2 - state.target.fits[0].chi2), 4)}` : `chi2 ${brief(f.chi2, 6)}`];
      const button = h('button', {type: 'button', 'aria-pressed': k === state.fit ? 'true' : 'false'}, h('i', {style: `background:var(${Charts.ink(f.type)})`}),
        `${k + 1} ${[f.type, f.subtype].filter(Boolean).join(' ')} z ${f.z.toFixed(5)}`, h('small', {}, words.filter(Boolean).join(', ')));
      button.addEventListener('click', () => setFit(k));
      return button;
    }));
  }

  function setFit(k) {
    if (!state.target || !state.target.fits[k]) return;
    const view = viewer.view(), whole = viewer.isWhole();
    state.fit = k;
    viewer.set({frames: Targets.frames(state.target, k), fibers: [0], view: whole ? null : view});
    const has = state.target.cameras.some((c) => c.models[k]);
    viewer.set({residuals: has, model: has && byId('model').checked});
    showFits();
    setZ(state.target.fits[k].z);
  }

  function showFacts() {
    byId('facts-card').hidden = !state.target || !state.target.facts.length;
    byId('facts').replaceChildren(...(state.target ? state.target.facts : []).map(([name, value]) => h('div', {}, h('dt', {}, name),
      h('dd', {}, value === null ? '–' : typeof value === 'number' ? (Number.isInteger(value) ? String(value) : brief(value, 7)) : String(value)))));
  }

  function noteOf(row) {
    const z = table.value('Z', row), error = table.value('ZERR', row), warn = Rows.warnings(meta, table.value('ZWARN', row) || 0);
    return [[table.text('SPECTYPE', row), table.text('SUBTYPE', row)].filter(Boolean).join(' '), z === null ? '' : `z ${z.toFixed(6)}${error ? ` ± ${brief(error, 2)}` : ''}`,
      `DELTACHI2 ${table.text('DELTACHI2', row) || '–'}`, warn.length ? `ZWARN ${warn.join(', ')}` : 'ZWARN 0', table.text('OBJTYPE', row)].filter(Boolean).join(' · ');
  }

  /** Shows a row's target; asked: what a link wants of it. */
  async function show(row, asked = {}) {
    if (row === null || row === undefined) return;
    state.row = row;
    state.asked += 1;
    const ticket = state.asked, target = await Targets.load(row);
    if (ticket !== state.asked) return;  // a person went on meanwhile
    state.target = target && target.cameras.length ? target : null;
    state.fit = 0;
    table.select(row);
    setText(byId('target-name'), table.text('TARGETID', row));
    setText(byId('target-note'), noteOf(row) + (state.target ? '' : ' · no spectrum on this page'));
    byId('with-target').hidden = byId('beside').querySelector('section').hidden = !state.target;
    inspect.show(row);
    showFacts();
    if (state.target) {
      viewer.set({frames: Targets.frames(state.target, 0), fibers: [0]});
      setText(byId('curve-note'), state.target.curves.length ? '' : 'no chi2 over redshift: neither details nor templates were given');
      setFit(Math.min(asked.fit || 0, state.target.fits.length - 1));
      if (asked.z !== undefined) setZ(asked.z);
      if (asked.range) viewer.look(...asked.range);
    }
    keep();
  }

  function step(by) {
    const row = table.step(state.row, by);
    if (row !== state.row) show(row);
  }

  function setSmooth(bins) {
    byId('smooth').value = String(bins);
    viewer.set({smooth: bins});
    keep();
  }

  /** The filters of the page as one function of the row. */
  function applyFilters() {
    const number = (id) => { const text = byId(id).value.trim(); return text === '' || !Number.isFinite(Number(text)) ? null : Number(text); };
    const type = byId('class').value, low = number('z-low'), high = number('z-high'), delta = number('delta'), cut = byId('cut').value, words = byId('find').value.trim().toLowerCase();
    const spectrum = byId('with-spectrum').checked, told = byId('only-told');
    let holds = () => true;
    told.hidden = true;
    try {
      const one = Filter.compile(byId('only').value, meta.columns), warn = Filter.compile(byId('zwarn').value, meta.columns);
      holds = (row) => one(row) && warn(row);
    } catch (error) {
      told.hidden = false;
      setText(told, error.message);
    }
    const texts = meta.columns.filter((c) => c.kind === 'text' || c.kind === 'id');
    table.filter((row) => (!spectrum || Targets.has(row)) && (!type || table.text('SPECTYPE', row) === type) && (low === null || table.value('Z', row) >= low) && (high === null || table.value('Z', row) <= high) &&
      (delta === null || table.value('DELTACHI2', row) >= delta) && (!cut || table.value(cut, row) === true) && (!words || texts.some((c) => table.text(c.name, row).toLowerCase().includes(words))) && holds(row));
  }

  function wireFilters() {
    const types = meta.columns.find((c) => c.name === 'SPECTYPE');
    byId('class').append(...(types ? [...types.words].filter(Boolean).sort() : []).map((t) => h('option', {}, t)));
    const cuts = meta.columns.filter((c) => c.kind === 'truth');
    byId('cut-label').hidden = cuts.length === 0;
    byId('cut').append(...cuts.map((c) => h('option', {}, c.name)));
    const fields = ['find', 'class', 'z-low', 'z-high', 'zwarn', 'delta', 'cut', 'with-spectrum', 'only'];
    for (const id of fields) byId(id).addEventListener(byId(id).tagName === 'SELECT' || byId(id).type === 'checkbox' ? 'change' : 'input', applyFilters);
    byId('clear').addEventListener('click', () => {
      for (const id of fields) if (byId(id).type === 'checkbox') byId(id).checked = false; else byId(id).value = '';
      applyFilters();
    });
  }

  function wire() {
    byId('previous').addEventListener('click', () => step(-1));
    byId('next').addEventListener('click', () => step(1));
    byId('axis').addEventListener('change', () => viewer.set({axis: byId('axis').value}));
    byId('smooth').addEventListener('change', () => setSmooth(Number(byId('smooth').value)));
    byId('model').addEventListener('change', () => viewer.set({model: byId('model').checked && viewer.state.residuals}));
    byId('lines').addEventListener('change', () => viewer.draw());
    byId('z').addEventListener('input', () => {
      const z = Number(byId('z').value.trim());
      if (byId('z').value.trim() !== '' && Number.isFinite(z) && z > -1 && z < 100) setZ(z, {typed: true});
    });
    byId('z-back').addEventListener('click', () => { if (state.target) setZ(state.target.fits[state.fit].z); });
    byId('z-keep').addEventListener('click', () => { if (state.z !== null) inspect.set({z: state.z.toFixed(5)}); });
    byId('in').addEventListener('click', () => viewer.zoom(0.5));
    byId('out').addEventListener('click', () => viewer.zoom(2));
    byId('reset').addEventListener('click', () => viewer.reset());
    byId('png').addEventListener('click', () => { if (state.target) Export.png(viewer, byId('plot'), `${table.text('TARGETID', state.row)}, ${noteOf(state.row)}`, `target-${table.text('TARGETID', state.row)}`); });
    byId('link').addEventListener('click', async () => {
      Link.now(link());
      try {
        await navigator.clipboard.writeText(location.href);
        setText(byId('copied'), 'copied');
      } catch (error) {
        setText(byId('copied'), 'it is in the address');
      }
      setTimeout(() => setText(byId('copied'), ''), 2000);
    });
  }

  const flip = (id) => { byId(id).checked = !byId(id).checked; byId(id).dispatchEvent(new Event('change')); };
  const KEYS = [[['ArrowLeft'], 'previous', '← previous target'], [['ArrowRight'], 'next', '→ next target'], [['shift+ArrowLeft'], 'left', 'shift ← move to the blue'],
    [['shift+ArrowRight'], 'right', 'shift → move to the red'], [['c'], 'fit', 'c next fit'], [['b'], 'best', 'b best fit'], [['+', '='], 'in', '+ closer'], [['-'], 'out', '− wider'],
    [['0'], 'reset', '0 whole range'], [['s'], 'smooth', 's smoother'], [['l'], 'lines', 'l lines on and off'], [['m'], 'model', 'm model on and off'], [['a'], 'axis', 'a flux axis'], [['z'], 'z', 'z type a redshift'],
    [['/'], 'find', '/ find'], [['Q'], 'quality4', 'Q confident'], [['W'], 'quality0', 'W nothing there'], [['?'], 'help', '? these keys']];

  function wireKeys() {
    const cycle = (id, values) => { const e = byId(id); e.value = String(values[(values.map(String).indexOf(e.value) + 1) % values.length]); e.dispatchEvent(new Event('change')); };
    Keys.wire({
      previous: () => step(-1), next: () => step(1), left: () => viewer.shift(-0.25), right: () => viewer.shift(0.25),
      fit: () => { if (state.target) setFit((state.fit + 1) % state.target.fits.length); }, best: () => setFit(0),
      in: () => viewer.zoom(0.5), out: () => viewer.zoom(2), reset: () => viewer.reset(), smooth: () => cycle('smooth', SMOOTH),
      lines: () => flip('lines'), model: () => flip('model'), axis: () => cycle('axis', ['clipped', 'linear', 'asinh']),
      z: () => { byId('z').focus(); byId('z').select(); }, find: () => byId('find').focus(),
      quality4: () => inspect.set({quality: '4'}), quality0: () => inspect.set({quality: '0'}),
      help: () => { byId('help').open = !byId('help').open; },
    }, KEYS);
    byId('z').addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === 'Escape') byId('plot').focus(); });
  }

  function showPage() {
    const spectra = Array.from({length: meta.rows}, (_, row) => row).filter(Targets.has).length;
    setText(byId('subtitle'), [Page.counted(meta.rows, 'target'), spectra === meta.rows ? '' : `${Page.count(spectra)} with spectra`, ...new Set(meta.files.map((f) => f.RRVER && `redshifts by ${/^\d/.test(f.RRVER) ? 'redrock ' : ''}${f.RRVER}`))].filter(Boolean).join(' · '));
    byId('notes').hidden = meta.notes.length === 0;
    byId('notes').querySelector('ul').replaceChildren(...meta.notes.map((note) => h('li', {class: 'wrap'}, note)));
    byId('files').replaceChildren(h('tbody', {}, ...meta.files.flatMap((file) => Object.entries(file).filter(([, v]) => v !== '' && (!Array.isArray(v) || v.length)).map(([name, v]) => h('tr', {}, h('td', {class: 'soft'}, name), h('td', {}, String(v)))))));
    byId('body').hidden = false;
  }

  async function start() {
    meta = await Targets.open();
    showPage();
    table = Rows.make(meta, {picked: (row) => show(row), changed: () => Charts.draw(meta, table, table.rows(), only), inspected: (row) => inspect ? inspect.words(row) : ''});
    inspect = Inspect.make(meta, table, {changed: () => table.draw()});
    marks = Lines.make(meta.lines, {z: () => state.z, on: () => byId('lines').checked});
    curve = Curve.make(byId('curve'), {picked: setFit, chosen: (z) => setZ(z)});
    byId('axis').value = 'clipped';
    viewer.set({axis: 'clipped'});
    wireFilters();
    wire();
    wireKeys();
    applyFilters();
    await go(parse(location.hash));
    Link.watch(go, parse);
    if (window.ResizeObserver) new ResizeObserver(() => Charts.draw(meta, table, table.rows(), only)).observe(byId('nz'));
    document.body.dataset.ready = 'yes';
  }

  function only(conditions) {
    byId('only').value = conditions;
    applyFilters();
  }

  async function go(asked) {
    if (asked.smooth && SMOOTH.includes(asked.smooth)) setSmooth(asked.smooth);
    const rows = table.rows(), first = rows.find(Targets.has);
    const wanted = asked.id === undefined ? undefined : Array.from({length: meta.rows}, (_, row) => row).find((row) => table.text('TARGETID', row) === asked.id);
    await show(wanted !== undefined ? wanted : first !== undefined ? first : rows[0], wanted !== undefined || asked.id === undefined ? asked : {});
  }

  start().catch((error) => {
    const box = byId('trouble');
    box.hidden = false;
    setText(box, 'This page cannot be shown: ' + error.message);
    throw error;
  });
})();
