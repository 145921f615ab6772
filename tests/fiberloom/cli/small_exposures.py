# SPDX-License-Identifier: BSD-3-Clause
"""Spectra of two targets that three exposures show in two cameras, as `coadd` takes them."""
import small_spectra
import tiny_fits as fits

HEAD = [("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True), ("SURVEY", "main")]
N = {name: n for name, (_, n) in small_spectra.CAMERAS.items()}


def exposures(spikes=()):
    """Rows: both targets, three times; `spikes`: (row, bin of B, height)."""
    out = small_spectra.Targets([("GALAXY", 0.05), ("STAR", 0.0)] * 3, seed=3)
    out.ids = out.ids[:2] * 3
    out.ivar = {name: [[25.0 + (r // 2)] * N[name] for r in range(6)] for name in N}
    for row, at, height in spikes:
        out.flux["B"][row][at] += height
    return out


def spectra_bytes(targets, rows=range(6), cameras="BR", status=None, ids=True):
    rows = list(rows)
    out = fits.header(HEAD)
    table = targets.fibermap(status, coadd=False, rows=rows, extra=[(("EXPID", "J", "i", None), lambda k: 11 + rows[k] // 2),
                                                                    (("FIBER", "J", "i", None), lambda k: 40 + rows[k] % 2)])
    out += table if ids else table.replace(b"TARGETID", b"OTHERTID")
    for camera in cameras:
        out += targets.camera_hdus(camera, rows=rows)
    return out
