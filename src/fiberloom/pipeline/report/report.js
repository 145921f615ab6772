// SPDX-License-Identifier: BSD-3-Clause
// The report page: puts the parts together for one frame at a time.
'use strict';

(() => {
  const {h, byId, setText, brief, count, counted, duration} = Page;
  const viewer = Spectrum.make(byId('plot'), showReadout);
  let frame = null, row = 0, maps = [], drawn = [];

  const percent = (part, whole) => whole > 0 ? brief(100 * part / whole, part / whole < 0.001 ? 2 : 3) + ' %' : '–';

  /** The objects of a list that came from a file: it may be anything. */
  const objects = (list) => Array.isArray(list) ? list.filter((one) => one && typeof one === 'object') : [];

  function tile(name, value, unit) {
    return h('div', {}, h('dt', {}, name), h('dd', {}, value, h('small', {}, unit)));
  }

  function showHead() {
    const {meta} = frame, fact = Object.fromEntries(meta.facts), top = meta.headline;
    setText(byId('title'), meta.name);
    const parts = [['CAMERA', 'camera '], ['NIGHT', 'night '], ['EXPID', 'exposure '], ['EXPTIME', '', ' s'], ['SPECTER', 'by ']];
    setText(byId('subtitle'), parts.filter(([key]) => fact[key]).map(([key, before, after]) => before + fact[key] + (after || '')).join(' · '));
    const low = frame.wave[0], high = frame.wave[frame.m - 1];
    const tiles = [tile('spectra', count(frame.n), frame.n > 1 ? `fibres ${meta.fibers[0]} to ${meta.fibers[frame.n - 1]}` : `fibre ${meta.fibers[0]}`),
      tile('bins a spectrum', count(frame.m), `${brief(low, 6)} to ${brief(high, 6)} Å by ${brief(frame.step, 4)}`),
      tile('signal to noise', top.snr === null ? '–' : brief(top.snr, 3), 'median of a bin')];
    if (top.chi2 !== null) tiles.push(tile('chi2 of pixels', brief(top.chi2, 3), 'median'));
    if (top.sigma !== null) {
      const fwhm = 2.35482 * top.sigma * Math.abs(frame.step);
      tiles.push(tile('resolution', `${brief(fwhm, 3)} Å`, `FWHM, median; R ${count((low + high) / 2 / fwhm)}`));
    }
    if (meta.pulls.length) tiles.push(tile('pulls', brief(meta.pulls[0].core, 3), 'width of the core, ' + meta.pulls[0].title.replace(/^Pulls (of )?/, '')));
    tiles.push(tile('flagged bins', percent(top.flagged, frame.n * frame.m), top.flagged ? counted(top.flagged, 'bin') : 'none'));
    byId('tiles').replaceChildren(...tiles);
    byId('notes').hidden = meta.notes.length === 0;
    byId('notes').querySelector('ul').replaceChildren(...meta.notes.map((text) => h('li', {class: 'wrap'}, text)));
    setText(byId('precision'), 'Held here: flux to 0.05 % (half precision), sigma to 0.8 %, chi2 to 3 %, resolution width to 0.4 % of its range.');
  }

  function setRow(next) {
    row = Math.max(0, Math.min(frame.n - 1, next));
    byId('fiber').value = String(frame.meta.fibers[row]);
    byId('previous').disabled = row === 0;
    byId('next').disabled = row === frame.n - 1;
    let bad = 0;
    for (let j = 0; j < frame.m; j += 1) bad += frame.flags[row * frame.m + j] !== 0;
    const kind = frame.meta.targets[row] ? frame.meta.targets[row] + ', ' : '';
    const bundle = Math.floor((frame.meta.bundles[0].index + row) / frame.meta.bundle_size);
    setText(byId('fiber-note'), `${kind}bundle ${bundle}, ${bad ? counted(bad, 'flagged bin') : 'no flagged bin'}`);
    viewer.setRow(row);
    maps.forEach((map) => map.mark(row));
  }

  function showReadout(at) {
    const box = byId('readout');
    if (!at) { box.textContent = '\u00a0'; return; }
    const parts = [h('b', {}, `${at.wave.toFixed(2)} Å`)];
    if (at.flags & Flag.REJECTED) parts.push(` rejected: ${Store.words(at.flags)}`);
    else {
      parts.push(` flux ${brief(at.flux, 4)} ± ${brief(at.sigma, 2)}`);
      if (Number.isFinite(at.chi2)) parts.push(`, chi2 ${brief(at.chi2, 2)}`);
      if (Number.isFinite(at.fwhm)) parts.push(`, FWHM ${brief(at.fwhm, 3)} Å`);
      if (at.flags) parts.push(`, ${Store.words(at.flags)}`);
    }
    box.replaceChildren(...parts);
  }

  function pick(s, j) {
    setRow(s);
    const half = Math.max(60, (viewer.view()[1] - viewer.view()[0]) / 20) * Math.abs(frame.step) / 0.8;
    viewer.look(frame.wave[j] - half, frame.wave[j] + half);
    const card = byId('plot').closest('.card').getBoundingClientRect();
    if (card.top < 0 || card.bottom > window.innerHeight) byId('plot').closest('.card').scrollIntoView({block: 'nearest'});
  }

  function showFigures() {
    maps = [Figures.makeMap(frame, 0, pick), Figures.makeMap(frame, 1, pick)];
    byId('maps').replaceChildren(...maps.map((map) => map.card));
    byId('pictures').replaceChildren(...frame.meta.pictures.map(Figures.picture));
    const {ivar, pulls} = frame.meta;
    drawn = [...pulls.map((p) => Figures.histogram(p, {title: p.title, unit: `${count(p.n)}, median ${brief(p.median, 2)}, core width ${brief(p.core, 4)}, beyond 6 sigma ${count(p.below + p.above)}`,
      note: p.note + '. Dashed: unit Gaussian.', across: 'pull, sigma', things: /pixels/.test(p.title) ? 'pixels' : 'bins', log: true, gauss: true})),
    Figures.histogram(ivar, {title: 'Inverse variance', unit: 'of bins with information', across: 'inverse variance, (electron/Å)⁻²', things: 'bins', note: `${counted(ivar.n, 'bin')}${ivar.below ? ', ' + count(ivar.below) + ' of them below this range' : ''}; median ${brief(10 ** ivar.median, 3)}, that is sigma ${brief(10 ** (-ivar.median / 2), 3)} electron/Å`, tick: Figures.power})];
    byId('histograms').replaceChildren(...drawn.map((histogram) => histogram.card));
    redraw();
  }

  function redraw() {
    viewer.draw();
    maps.forEach((map) => map.draw());
    drawn.forEach((histogram) => histogram.draw());
  }

  function table(id, heads, rows) {
    byId(id).replaceChildren(h('thead', {}, h('tr', {}, ...heads.map((name, k) => h('th', {class: k ? 'n' : null, scope: 'col'}, name)))),
      h('tbody', {}, ...rows));
  }

  function showBundles() {
    const {meta} = frame, numeric = new Map(objects((meta.summary || {}).bundles).map((b) => [b.first_fiber, b]));
    const known = meta.bundles.some((b) => numeric.has(b.index));
    setText(byId('bundle-note'), `${meta.bundle_size} fibres each; share of bins` + (known ? '; condition, poles and bound as extract reports them' : ''));
    const heads = ['fibres', 'low information', 'rejected', 'bad fit', 'signal to noise', 'chi2'];
    if (known) heads.push('condition', 'poles', 'error bound, sigma');
    table('bundles', heads, meta.bundles.map((b) => {
      const cells = [percent(b.somebad, b.bins), percent(Math.max(b.allbad, b.noivar), b.bins), percent(b.badfit, b.bins),
        brief(b.snr, 3), frame.hasChi2 ? brief(b.chi2, 3) : '–'];
      const report = numeric.get(b.index);
      if (known) cells.push(...(report ? [brief(report.kappa, 3), brief(report.poles, 3), brief(report.bound_sigma, 3)] : ['–', '–', '–']));
      return h('tr', {}, h('td', {}, `${meta.fibers[b.row]} to ${meta.fibers[b.row + b.rows - 1]}`), ...cells.map((text) => h('td', {class: 'n'}, text)));
    }));
  }

  function showRuns() {
    const {runs, run_count: all, fibers} = frame.meta;
    setText(byId('run-note'), all === 0 ? 'none' : counted(all, 'run') + (all > runs.length ? `, the ${runs.length} longest; the map of flags has all` : ''));
    if (all === 0) { byId('runs').replaceChildren(); return; }
    table('runs', ['fibre', 'from, Å', 'to, Å', 'bins', 'why'], runs.map(([s, first, last, flags]) => {
      const line = h('tr', {}, h('td', {}, h('button', {type: 'button'}, String(fibers[s]))), h('td', {class: 'n'}, frame.wave[first].toFixed(2)),
        h('td', {class: 'n'}, frame.wave[last].toFixed(2)), h('td', {class: 'n'}, count(last - first + 1)), h('td', {class: 'n'}, Store.words(flags)));
      line.addEventListener('click', () => {
        const pad = Math.max(40, (last - first) * 0.3) * Math.abs(frame.step);
        setRow(s);
        viewer.look(frame.wave[first] - pad, frame.wave[last] + pad);
        byId('plot').closest('.card').scrollIntoView({block: 'nearest'});
      });
      return line;
    }));
  }

  function showTiming() {
    const summary = frame.meta.summary || {}, seconds = summary.seconds;
    byId('timing').replaceChildren();
    if (!seconds) {
      byId('timing').append(h('p', {class: 'soft'}, 'No summary was given (fiberloom extract --json, then report --summary).'));
      return;
    }
    const names = ['read', 'compute', 'write'].filter((name) => seconds[name]);
    const sum = names.reduce((total, name) => total + seconds[name].wall_s, 0) || 1;
    const rows = [...names, 'all'].filter((name) => seconds[name]).map((name) => h('tr', {}, h('td', {}, name === 'all' ? 'whole process' : name),
      h('td', {class: 'n'}, duration(seconds[name].wall_s)), h('td', {class: 'n'}, duration(seconds[name].cpu_s))));
    const list = h('table', {class: 'list'}, h('thead', {}, h('tr', {}, h('th', {}, 'stage'), h('th', {class: 'n'}, 'wall'), h('th', {class: 'n'}, 'processor'))),
      h('tbody', {}, ...rows));
    const text = [];
    if (summary.threads) text.push(`${summary.threads} threads (${summary.executor || 'unknown'})`);
    if (summary.isa) text.push(`instruction set ${summary.isa}`);
    if (summary.peak_memory_bytes) text.push(`peak memory ${Page.bytes(summary.peak_memory_bytes)}`);
    if (summary.method) text.push(`method ${summary.method}`);
    const bar = h('div', {class: 'share', 'aria-hidden': 'true'}, ...names.map((name) => h('i', {title: name, style: `width:${(100 * seconds[name].wall_s / sum).toFixed(2)}%`})));
    byId('timing').append(bar, list, h('p', {class: 'note'}, text.join(' · ')));
  }

  function showFacts() {
    const rows = frame.meta.facts.map(([name, value]) => [name, value]);
    const summary = frame.meta.summary;
    if (summary && summary.options) {
      const given = Object.entries(summary.options).map(([name, value]) => value === 'true' ? name : `${name} ${value}`);
      rows.push(['options', given.join(' ')]);
    }
    if (summary && summary.versions) rows.push(['compiler', String(summary.versions.compiler)]);
    byId('facts').replaceChildren(h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('td', {}, name), h('td', {}, value)))));
  }

  /** The first spectrum of which at least half can be seen; where there is none, the first. */
  function firstToShow() {
    const least = frame.m / 2;
    for (let s = 0; s < frame.n; s += 1) {
      let good = 0;
      for (let j = 0; j < frame.m; j += 1) good += !(frame.flags[s * frame.m + j] & Flag.REJECTED);
      if (good >= least) return s;
    }
    return 0;
  }

  async function show(number) {
    document.body.dataset.ready = '';
    try {
      frame = await Store.load(number);
      byId('body').hidden = false;
      viewer.show(frame);
      showHead();
      showFigures();
      showBundles();
      showRuns();
      showTiming();
      showFacts();
      setRow(firstToShow());
      document.body.dataset.ready = 'yes';
    } catch (error) {
      byId('trouble').hidden = false;
      setText(byId('trouble'), 'The report cannot be shown: ' + error.message);
    }
  }

  function rowOf(text) {
    const wanted = Number(text);
    let best = 0;
    frame.meta.fibers.forEach((fiber, s) => { if (Math.abs(fiber - wanted) < Math.abs(frame.meta.fibers[best] - wanted)) best = s; });
    return best;
  }

  function onKey(event) {
    if (!frame || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const acts = {ArrowLeft: () => event.shiftKey ? viewer.shift(-0.2) : setRow(row - 1),
      ArrowRight: () => event.shiftKey ? viewer.shift(0.2) : setRow(row + 1),
      '+': () => viewer.zoom(0.5), '=': () => viewer.zoom(0.5), '-': () => viewer.zoom(2), 0: () => viewer.reset()};
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  function wire() {
    byId('previous').addEventListener('click', () => setRow(row - 1));
    byId('next').addEventListener('click', () => setRow(row + 1));
    byId('fiber').addEventListener('change', (event) => setRow(rowOf(event.target.value)));
    byId('axis').addEventListener('change', (event) => viewer.setAxis(event.target.value));
    byId('in').addEventListener('click', () => viewer.zoom(0.5));
    byId('out').addEventListener('click', () => viewer.zoom(2));
    byId('reset').addEventListener('click', () => viewer.reset());
    document.addEventListener('keydown', onKey);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    let timer = 0;
    window.addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(redraw, 120); });
  }

  const names = [];
  while (byId(`f${names.length}-data`)) names.push(JSON.parse(byId(`f${names.length}-data`).textContent).name);
  byId('frame').append(...names.map((name, k) => h('option', {value: k}, name)));
  byId('chooser').hidden = names.length < 2;
  byId('frame').addEventListener('change', (event) => show(Number(event.target.value)));
  wire();
  show(0);
})();
