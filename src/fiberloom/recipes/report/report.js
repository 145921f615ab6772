// SPDX-License-Identifier: BSD-3-Clause
// The report page: keeps what is shown (frame, fibre, fibres to compare, switches) and hands it to the parts.
'use strict';

(() => {
  const {h, byId, setText, brief, count, counted} = Page;
  const SMOOTH = [1, 3, 5, 9, 15, 31], AXES = ['asinh', 'linear', 'clipped'];
  const viewer = Spectrum.make(byId('plot'), {told: showReadout, moved: onMoved});
  const metas = [];
  for (let meta; (meta = Store.meta(metas.length)) !== null;) metas.push(meta);
  let number = 0, frame = null, arms = [], fiber = 0, also = [], findingAt = -1, join = true;
  let maps = [], pictures = [], drawn = [], focal = null, search = null;

  const row = () => frame.row(fiber);

  /** What the link keeps. */
  function link() {
    const {smooth, axis, stacked, model, truth} = viewer.state;
    return Link.text({frame: metas.length > 1 ? frame.meta.name : '', fiber, also, smooth, axis, stack: stacked, model, truth, join,
      range: viewer.isWhole() ? null : viewer.view()});
  }

  function onMoved() {
    if (!frame || document.body.dataset.ready !== 'yes') return;
    Link.keep(link);
    pictures.forEach((picture) => picture.mark({range: viewer.isWhole() ? null : viewer.view()}));
  }

  function noteOf(s) {
    let bad = 0;
    for (let j = 0; j < frame.m; j += 1) bad += frame.flags[s * frame.m + j] !== 0;
    const {types, ids, status, redshifts} = frame.meta.targets;
    const bundle = Math.floor((frame.meta.bundles[0].index + s) / frame.meta.bundle_size);
    return [types[s], ids[s] && 'TARGETID ' + ids[s], status[s] ? `FIBERSTATUS ${status[s]}` : '', Number.isFinite(redshifts[s]) ? 'z ' + brief(redshifts[s], 4) : '',
      `bundle ${bundle}`, bad ? counted(bad, 'flagged bin') : 'no flagged bin'].filter(Boolean).join(', ');
  }

  function showChips() {
    byId('chips').hidden = also.length === 0;
    byId('chips').replaceChildren(...[fiber, ...also].map((one, k) => {
      const chip = h('span', {class: 'chip'}, h('i', {style: `background:var(--fibre-${k % Spectrum.FIBRES})`}), `fibre ${one}`);
      if (k === 0) return chip;
      const drop = h('button', {type: 'button', 'aria-label': `drop fibre ${one}`}, '×');
      drop.addEventListener('click', () => setAlso(also.filter((other) => other !== one)));
      chip.append(drop);
      return chip;
    }));
  }

  /** After any change of the fibres shown. */
  function showFibers() {
    const s = row();
    byId('fiber').value = String(fiber);
    byId('previous').disabled = s === 0;
    byId('next').disabled = s === frame.n - 1;
    setText(byId('fiber-note'), noteOf(s));
    showChips();
    viewer.set({fibers: [fiber, ...also]});
    showSwitches();
    maps.forEach((map) => map.mark(s));
    const rows = [fiber, ...also].map((one) => frame.row(one)).filter((one) => one !== undefined);
    pictures.forEach((picture) => picture.mark({rows, at: null}));
    if (focal) focal.mark(rows);
    Link.keep(link);
  }

  function setFiber(wanted) {
    fiber = Arms.nearestFiber(frame, wanted);
    also = also.filter((one) => one !== fiber);
    showFibers();
  }
  const setRow = (s) => setFiber(frame.meta.fibers[Math.max(0, Math.min(frame.n - 1, s))]);

  function setAlso(list) {
    also = [...new Set(list)].filter((one) => one !== fiber && arms.some((arm) => arm.row(one) !== undefined)).slice(0, Link.MOST);
    showFibers();
  }

  /** "12, 15-18" as fibre numbers. */
  function fibersOf(text) {
    const out = [];
    for (const part of text.split(/[\s,;]+/).filter(Boolean)) {
      const range = /^(\d+)-(\d+)$/.exec(part);
      if (range) for (let f = Number(range[1]); f <= Number(range[2]) && out.length < 20; f += 1) out.push(f);
      else if (/^\d+$/.test(part)) out.push(Number(part));
    }
    return out;
  }

  function showReadout(at) {
    const box = byId('readout');
    pictures.forEach((picture) => picture.mark({at: at && at.frame === frame ? {row: at.row, wave: at.wave} : null}));
    if (!at) { box.textContent = '\u00a0'; return; }
    const parts = [h('b', {}, `${at.wave.toFixed(2)} Å`), arms.length > 1 && at.frame.meta.band ? ` ${at.frame.meta.band}:` : ''];
    if (at.flags & Flag.REJECTED) parts.push(` rejected: ${Store.words(at.flags)}`);
    else {
      parts.push(` flux ${brief(at.flux, 4)} ± ${brief(at.sigma, 2)}`);
      if (Number.isFinite(at.model)) parts.push(`, model ${brief(at.model, 4)}`);
      if (Number.isFinite(at.truth)) parts.push(`, truth ${brief(at.truth, 4)}`);
      if (Number.isFinite(at.chi2)) parts.push(`, chi2 ${brief(at.chi2, 2)}`);
      if (Number.isFinite(at.fwhm)) parts.push(`, FWHM ${brief(at.fwhm, 3)} Å`);
      if (at.flags) parts.push(`, ${Store.words(at.flags)}`);
    }
    parts.push(...at.others.map(([other, flux]) => `; fibre ${other} ${brief(flux, 4)}`));
    if (at.frame.traces) {
      const [x, y] = at.frame.traces.at(at.row, at.wave);
      parts.push(`; CCD column ${x.toFixed(1)}, row ${y.toFixed(1)}`);
    }
    box.replaceChildren(...parts);
  }

  function toPlot() {
    const card = byId('plot').closest('.card').getBoundingClientRect();
    if (card.top < 0 || card.bottom > window.innerHeight) byId('plot').closest('.card').scrollIntoView({block: 'nearest'});
  }

  function pick(s, j) {
    setRow(s);
    const half = Math.max(60, (viewer.view()[1] - viewer.view()[0]) / 20) * Math.abs(frame.step) / 0.8;
    viewer.look(frame.wave[j] - half, frame.wave[j] + half);
    toPlot();
  }

  /** Bins first to last of a row, with some around them. */
  function lookAt(s, first, last) {
    const pad = Math.max(40, (last - first) * 0.3) * Math.abs(frame.step);
    setRow(s);
    viewer.look(frame.wave[first] - pad, frame.wave[last] + pad);
    toPlot();
  }

  function lookFinding({place: [first, last, j0, j1]}) {
    setRow(Math.floor((first + last) / 2));
    if (j0 === 0 && j1 === frame.m - 1) viewer.look(frame.wave[0], frame.wave[frame.m - 1]);
    else lookAt(row(), j0, j1);
    toPlot();
  }

  function nextFinding() {
    const places = frame.meta.verdict.findings.filter((f) => f.place);
    if (!places.length) return;
    findingAt = (findingAt + 1) % places.length;
    lookFinding(places[findingAt]);
  }

  function showFigures() {
    maps = [Figures.makeMap(frame, 0, pick), Figures.makeMap(frame, 1, pick)];
    byId('maps').replaceChildren(...maps.map((map) => map.card));
    pictures = frame.meta.pictures.map((p) => Ccd.make(frame, p, (s, wave) => pick(s, Unpack.binOf(frame, wave))));
    byId('traces-label').hidden = !frame.traces || pictures.length === 0;
    byId('pictures').replaceChildren(...pictures.map((picture) => picture.card));
    byId('traces').checked = true;
    focal = Focal.make(number, metas, (k, s) => k === number ? setRow(s) : show(k, {fiber: metas[k].fibers[s]}));
    const {ivar, pulls, unit} = frame.meta;
    drawn = [...pulls.map((p) => Figures.histogram(p, {title: p.title, unit: `${count(p.n)}, median ${brief(p.median, 2)}, core width ${brief(p.core, 4)}, beyond 6 sigma ${count(p.below + p.above)}`,
      note: p.note + '. Dashed: unit Gaussian.', across: 'pull, sigma', things: /pixels/.test(p.title) ? 'pixels' : 'bins', log: true, gauss: true})),
    Figures.histogram(ivar, {title: 'Inverse variance', unit: 'of bins with information', across: `inverse variance, (${unit})⁻²`, things: 'bins', note: `${counted(ivar.n, 'bin')}${ivar.below ? ', ' + count(ivar.below) + ' of them below this range' : ''}; median ${brief(10 ** ivar.median, 3)}, that is sigma ${brief(10 ** (-ivar.median / 2), 3)} ${unit}`, tick: Figures.power})];
    byId('histograms').replaceChildren(focal.card, ...drawn.map((histogram) => histogram.card));
    drawn.forEach((histogram) => histogram.draw());  // all else is drawn when the fibre is set
    return Promise.all(pictures.map((picture) => picture.ready));
  }

  function redraw() {
    viewer.draw();
    for (const part of [...maps, ...pictures, ...drawn, ...(focal ? [focal] : [])]) part.draw();
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

  /** Which switches the frames at hand can answer. */
  function showSwitches() {
    const has = {model: arms.some((f) => f.hasModel), truth: arms.some((f) => f.hasTruth)};
    for (const name of ['model', 'truth']) {
      byId(name).disabled = !has[name];
      byId(name).checked = viewer.state[name] && has[name];
    }
    byId('model').parentNode.title = has.model ? 'what the fit of the CCD says along the trace' : 'needs image, model and PSF of the extraction';
    byId('truth').parentNode.title = has.truth ? 'the truth, seen with the resolution of the frame' : 'needs --truth';
    byId('join-label').hidden = Arms.numbers(number, metas.length).length < 2;
    byId('join').checked = join;
    byId('smooth').value = String(viewer.state.smooth);
    byId('axis').value = viewer.state.axis;
    byId('stack').checked = viewer.state.stacked;
    byId('stack').disabled = also.length === 0;
    const bands = arms.length > 1 && !also.length ? arms.map((f) => f.meta.band) : [];
    byId('bands').replaceChildren(...bands.map((band) => h('span', {}, h('span', {class: 'swatch line', style: /^[brz]$/.test(band) ? `background:var(--arm-${band})` : null}), band)));
  }

  async function setJoin(on) {
    join = on;
    const wanted = on ? Arms.numbers(number, metas.length) : [number];
    const mine = frame, found = await Promise.all(wanted.map((k) => Store.load(k)));
    if (mine !== frame) return;
    arms = found;
    viewer.set({frames: arms, fibers: [fiber, ...also]});
    showSwitches();
    showReadout(null);
  }

  /** Sets what a link or a person asked for, where it makes sense. */
  function apply(asked) {
    const part = {};
    if (SMOOTH.includes(asked.smooth)) part.smooth = asked.smooth;
    if (AXES.includes(asked.axis)) part.axis = asked.axis;
    if ('stack' in asked) part.stacked = asked.stack;
    for (const name of ['model', 'truth']) if (name in asked) part[name] = asked[name];
    viewer.set(part);
    if ('fiber' in asked) fiber = Arms.nearestFiber(frame, asked.fiber);
    setAlso(asked.also || also);
    if (asked.range) viewer.look(...asked.range);
    showSwitches();
  }

  async function show(k, asked = {}) {
    document.body.dataset.ready = '';
    try {
      frame = await Store.load(number = k);
      byId('body').hidden = false;
      byId('frame').value = String(k);
      findingAt = -1;
      arms = [frame];
      if (row() === undefined || !Object.keys(asked).length) fiber = frame.meta.fibers[firstToShow()];
      if (!('fiber' in asked) && also.length === 0) fiber = frame.meta.fibers[firstToShow()];
      Verdicts.show(frame.meta, lookFinding);
      Verdicts.list(metas, number, (other) => show(other, {fiber}));
      Tables.showHead(frame);
      const pictured = showFigures();
      Tables.showBundles(frame);
      Tables.showRuns(frame, lookAt);
      Tables.showTiming(frame.meta);
      Tables.showFacts(frame.meta);
      await setJoin('join' in asked ? asked.join : join);
      apply(asked);
      await pictured;
      document.body.dataset.ready = 'yes';
      onMoved();
    } catch (error) {
      byId('trouble').hidden = false;
      setText(byId('trouble'), 'The report cannot be shown: ' + error.message);
    }
  }

  function frameNamed(name) {
    const found = metas.findIndex((meta) => meta.name === name);
    return found < 0 ? number : found;
  }

  function goTo(asked) {
    const k = frameNamed(asked.frame);
    if (k !== number) show(k, asked);
    else if ('join' in asked && asked.join !== join) setJoin(asked.join).then(() => apply(asked));
    else {
      if (!asked.range) viewer.reset();
      apply({also: [], ...asked});
    }
  }

  function choose(entry, {add}) {
    if (entry.number !== number && !arms.some((arm) => arm.number === entry.number)) show(entry.number, {fiber: entry.fiber});
    else if (add) setAlso([...also, entry.fiber]);
    else setFiber(entry.fiber);
  }

  const next = (list, now) => list[(list.indexOf(now) + 1) % list.length];
  const flip = (id) => { if (!byId(id).disabled && !byId(id).parentNode.hidden) byId(id).click(); };
  function setState(part) {
    viewer.set(part);
    showSwitches();
    Link.keep(link);
  }
  const nameOf = () => `${frame.meta.name.replace(/\.fits(\.gz|\.fz)?$/, '')}-fibre${fiber}`;
  const title = () => `${arms.map((f) => f.meta.name).join(', ')}: fibre ${[fiber, ...also].join(', ')}${viewer.state.smooth > 1 ? `, mean of ${viewer.state.smooth} bins` : ''}`;

  async function copyLink() {
    Link.now(link());
    let done = false;
    try { await navigator.clipboard.writeText(location.href); done = true; } catch (error) { /* the address has it */ }
    setText(byId('copied'), done ? 'copied' : 'the address has it');
    setTimeout(() => setText(byId('copied'), ''), 2500);
  }

  function wire() {
    const on = (id, event, act) => byId(id).addEventListener(event, act);
    on('previous', 'click', () => setRow(row() - 1));
    on('next', 'click', () => setRow(row() + 1));
    on('fiber', 'change', (event) => setFiber(Number(event.target.value)));
    on('axis', 'change', (event) => setState({axis: event.target.value}));
    on('smooth', 'change', (event) => setState({smooth: Number(event.target.value)}));
    on('stack', 'change', (event) => setState({stacked: event.target.checked}));
    for (const name of ['model', 'truth']) on(name, 'change', (event) => setState({[name]: event.target.checked}));
    on('join', 'change', (event) => setJoin(event.target.checked).then(() => Link.keep(link)));
    on('compare', 'change', (event) => { setAlso([...also, ...fibersOf(event.target.value)]); event.target.value = ''; });
    on('traces', 'change', (event) => pictures.forEach((picture) => picture.mark({traces: event.target.checked})));
    on('in', 'click', () => viewer.zoom(0.5));
    on('out', 'click', () => viewer.zoom(2));
    on('reset', 'click', () => viewer.reset());
    on('png', 'click', () => Export.png(viewer, byId('plot'), title(), nameOf()));
    on('csv', 'click', () => Export.csv(viewer, nameOf()));
    on('link', 'click', copyLink);
    on('frame', 'change', (event) => show(Number(event.target.value)));
    Keys.wire({previous: () => setRow(row() - 1), next: () => setRow(row() + 1), left: () => viewer.shift(-0.2), right: () => viewer.shift(0.2),
      in: () => viewer.zoom(0.5), out: () => viewer.zoom(2), reset: () => viewer.reset(), first: () => setRow(0), last: () => setRow(frame.n - 1),
      search: () => search.focus(), finding: nextFinding, pin: () => { const kept = fiber; setRow(row() === frame.n - 1 ? row() - 1 : row() + 1); setAlso([...also, kept]); },
      clear: () => setAlso([]), stack: () => flip('stack'), smooth: () => setState({smooth: next(SMOOTH, viewer.state.smooth)}),
      axis: () => setState({axis: next(AXES, viewer.state.axis)}), model: () => flip('model'), truth: () => flip('truth'), join: () => flip('join'),
      frameBefore: () => number > 0 && show(number - 1, {fiber}), frameAfter: () => number + 1 < metas.length && show(number + 1, {fiber}),
      help: () => { byId('help').open = !byId('help').open; }});
    Link.watch(goTo);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    let timer = 0;
    window.addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(redraw, 120); });
  }

  byId('frame').append(...metas.map((meta, k) => h('option', {value: k}, meta.name)));
  byId('chooser').hidden = metas.length < 2;
  search = Search.make(metas, choose);
  wire();
  const asked = Link.parse(location.hash);
  show(frameNamed(asked.frame), asked);
})();
