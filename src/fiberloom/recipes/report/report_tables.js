// SPDX-License-Identifier: BSD-3-Clause
// The head of the page and its tables: bundles, stretches of rejected bins, times, facts.
'use strict';

const Tables = (() => {
  const {h, byId, setText, brief, count, counted, duration} = Page;

  const percent = (part, whole) => whole > 0 ? brief(100 * part / whole, part / whole < 0.001 ? 2 : 3) + ' %' : '–';

  /** The objects of a list that came from a file: it may be anything. */
  const objects = (list) => Array.isArray(list) ? list.filter((one) => one && typeof one === 'object') : [];

  function tile(name, value, unit) {
    return h('div', {}, h('dt', {}, name), h('dd', {}, value, h('small', {}, unit)));
  }

  function showHead(frame) {
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

  function table(id, heads, rows) {
    byId(id).replaceChildren(h('thead', {}, h('tr', {}, ...heads.map((name, k) => h('th', {class: k ? 'n' : null, scope: 'col'}, name)))),
      h('tbody', {}, ...rows));
  }

  function showBundles(frame) {
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

  function showRuns(frame, look) {
    const {runs, run_count: all, fibers} = frame.meta;
    setText(byId('run-note'), all === 0 ? 'none' : counted(all, 'run') + (all > runs.length ? `, the ${runs.length} longest; the map of flags has all` : ''));
    if (all === 0) { byId('runs').replaceChildren(); return; }
    table('runs', ['fibre', 'from, Å', 'to, Å', 'bins', 'why'], runs.map(([s, first, last, flags]) => {
      const line = h('tr', {}, h('td', {}, h('button', {type: 'button'}, String(fibers[s]))), h('td', {class: 'n'}, frame.wave[first].toFixed(2)),
        h('td', {class: 'n'}, frame.wave[last].toFixed(2)), h('td', {class: 'n'}, count(last - first + 1)), h('td', {class: 'n'}, Store.words(flags)));
      line.addEventListener('click', () => look(s, first, last));
      return line;
    }));
  }

  function showTiming(meta) {
    const summary = meta.summary || {}, seconds = summary.seconds;
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

  function showFacts(meta) {
    const rows = meta.facts.map(([name, value]) => [name, value]);
    const summary = meta.summary;
    if (summary && summary.options) {
      const given = Object.entries(summary.options).map(([name, value]) => value === 'true' ? name : `${name} ${value}`);
      rows.push(['options', given.join(' ')]);
    }
    if (summary && summary.versions) rows.push(['compiler', String(summary.versions.compiler)]);
    byId('facts').replaceChildren(h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('td', {}, name), h('td', {}, value)))));
  }

  return {showHead, showBundles, showRuns, showTiming, showFacts};
})();
