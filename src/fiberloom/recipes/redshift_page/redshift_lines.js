// SPDX-License-Identifier: BSD-3-Clause
// Lines of the spectrum at a redshift: emission marked from above, absorption from below, names as far as there is room.
'use strict';

const Lines = (() => {
  const STRONG = ['Hα', 'Hβ', '[O III]', '[O II]', 'Lyα', 'C IV', 'C III]', 'Mg II', 'K', 'H', 'Mg b', 'Na D'];  // their names come first

  /** A function that draws `lines` ([name, wavelength at rest, kind]) at redshift z() in a plot, while on(). */
  function make(lines, {z, on}) {
    return ({g, area, x, view}) => {
      if (!on() || z() === null) return;
      const seen = lines.map(([name, rest, kind]) => ({name, kind, wave: rest * (1 + z())})).filter((l) => l.wave >= view[0] && l.wave <= view[1])
        .sort((a, b) => STRONG.includes(b.name) - STRONG.includes(a.name));
      const taken = {top: [], bottom: []};
      g.lineWidth = 1;
      g.textAlign = 'center';
      for (const {name, kind, wave} of seen) {
        const at = Math.round(x(wave)) + 0.5, dark = kind === 'absorption', ink = Axes.colour(dark ? '--absorption' : '--emission');
        g.strokeStyle = g.fillStyle = ink;
        g.globalAlpha = 0.75;
        g.setLineDash(dark ? [2, 3] : [5, 3]);
        g.beginPath();
        g.moveTo(at, area.y);
        g.lineTo(at, area.y + area.h);
        g.stroke();
        g.setLineDash([]);
        g.globalAlpha = 1;
        const half = g.measureText(name).width / 2 + 3, side = dark ? taken.bottom : taken.top;
        const centre = Math.max(area.x + half, Math.min(area.x + area.w - half, at));
        if (side.some(([a, b]) => centre + half > a && centre - half < b)) continue;
        side.push([centre - half, centre + half]);
        if (!dark) { g.fillText(name, centre, area.y - 5); continue; }
        g.fillStyle = Axes.colour('--card');
        g.fillRect(centre - half, area.y + area.h - 16, 2 * half, 13);
        g.fillStyle = ink;
        g.fillText(name, centre, area.y + area.h - 6);
      }
    };
  }

  return {make};
})();
