// SPDX-License-Identifier: BSD-3-Clause
// What is seen as files: the plot as PNG, its numbers as CSV. Made in the page, nothing is sent.
'use strict';

const Export = (() => {
  const {h} = Page;
  const TITLE = 34;

  /** A name for a file from text of any kind. */
  const fileName = (text, ending) => text.replace(/[^A-Za-z0-9._-]+/g, '_').slice(0, 120) + ending;

  function save(blob, name) {
    const link = h('a', {href: URL.createObjectURL(blob), download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /** The plot twice as fine, with a title. */
  function png(viewer, box, title, name) {
    const plot = document.createElement('canvas'), out = document.createElement('canvas');
    viewer.paint(plot, box.clientWidth, box.clientHeight, 2, true);
    out.width = plot.width;
    out.height = plot.height + 2 * TITLE;
    const g = out.getContext('2d');
    g.fillStyle = Axes.colour('--card');
    g.fillRect(0, 0, out.width, out.height);
    g.fillStyle = Axes.colour('--text');
    g.font = `600 26px ${getComputedStyle(document.body).fontFamily}`;
    g.textBaseline = 'middle';
    g.fillText(title, 20, TITLE, out.width - 40);
    g.drawImage(plot, 0, 2 * TITLE);
    return new Promise((resolve) => out.toBlob((blob) => { save(blob, fileName(name, '.png')); resolve(); }, 'image/png'));
  }

  /** Six digits, as many as the page holds; empty for what is unknown. */
  const digits = (v) => Number.isFinite(v) ? String(Number(v.toPrecision(6))) : '';

  /** Comment lines may hold names: no line break gets out of them. */
  const comment = (text) => '# ' + text.replace(/[\r\n]+/g, ' ');

  /** Bins in view of all fibres shown, a line each. */
  function csvText(viewer) {
    const {fibers, frames, smooth} = viewer.state, [low, high] = viewer.view();
    const truth = frames.some((f) => f.hasTruth), model = frames.some((f) => f.hasModel);
    const lines = [comment(`Fiberloom report of ${frames.map((f) => f.meta.name).join(', ')}`),
      comment(`flux, sigma, model, truth in ${frames[0].meta.unit}; wavelength in Angstrom; held to: flux 0.05 %, sigma 0.8 %, chi2 3 %`)];
    if (smooth > 1) lines.push(comment(`mean of ${smooth} bins weighted by inverse variance`));
    lines.push(['fibre', 'camera', 'wavelength', 'flux', 'sigma', 'chi2', 'rejected', 'flags', ...(model ? ['model'] : []), ...(truth ? ['truth'] : [])].join(','));
    for (const fiber of fibers) {
      for (const {frame, row, series} of viewer.curves(fiber)) {
        for (let j = 0; j < frame.m; j += 1) {
          if (frame.wave[j] < low || frame.wave[j] > high) continue;
          const i = row * frame.m + j, cells = [fiber, frame.meta.band, String(Number(frame.wave[j].toFixed(4))), digits(series.flux[j]), digits(series.sigma[j]),
            digits(frame.chi2(i)), frame.flags[i] & Flag.REJECTED ? 1 : 0, frame.flags[i]];
          if (model) cells.push(digits(series.model[j]));
          if (truth) cells.push(digits(series.truth[j]));
          lines.push(cells.join(','));
        }
      }
    }
    return lines.join('\n') + '\n';
  }

  function csv(viewer, name) {
    save(new Blob([csvText(viewer)], {type: 'text/csv'}), fileName(name, '.csv'));
  }

  return {png, csv, save, fileName};
})();
