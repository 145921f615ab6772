# SPDX-License-Identifier: BSD-3-Clause
"""A page of redshifts as data: the inverse of what the recipe packs, written from the page's description in
docs/fiberloom/report.md and not from the program."""
import base64
import gzip
import json
import re

import tiny_fits


def element(page, name):
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', page, re.S)
    return None if found is None else gzip.decompress(base64.b64decode(found[1]))


def meta(page):
    return json.loads(element(page, "meta"))


def column(page_meta, name):
    """Values of a column, texts as texts."""
    found = next(c for c in page_meta["columns"] if c["name"] == name)
    return [found["words"][v] if found["kind"] == "text" else v for v in found["values"]]


def waves(page_meta):
    return [spec["wave"] if isinstance(spec["wave"], list) else [spec["wave"]["first"] + spec["wave"]["step"] * i for i in range(spec["n"])]
            for spec in page_meta["waves"]]


def absurd_redshifts(path, ids):
    """A table REDSHIFTS of numbers that no fit gives, and words that are none."""
    columns = [("TARGETID", "K", "q", None), ("Z", "D", "d", None), ("ZERR", "E", "f", None), ("ZWARN", "J", "i", None), ("CHI2", "E", "f", None),
               ("DELTACHI2", "E", "f", None), ("COEFF", "4E", "4f", None), ("SPECTYPE", "8A", "8s", None), ("FLAG", "K", "q", None)]
    nan, inf = float("nan"), float("inf")
    rows = [(nan, inf, -1, nan, -inf, (nan, inf, 3e38, 1), b"GALAXY"), (1e300, -1, 2**31 - 1, -3e38, 3e38, (3e38,) * 4, b"\xff\xfe<b>"),
            (-5.0, 0, 0, inf, 0, (0,) * 4, b"STAR"), (-1.0, 1, -2**31, 0, 0, (1,) * 4, b"\0")]
    path.write_bytes(tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)]) + tiny_fits.table(
        "REDSHIFTS", columns, [(i, *row[:5], *row[5], row[6], -2**63 + k) for k, (i, row) in enumerate(zip(ids, rows))]))


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        out = self.data[self.at:self.at + n]
        assert len(out) == n, "the arrays are shorter than their description"
        self.at += n
        return out

    def folded(self, n):
        low, high = self.take(n), self.take(n)
        codes = [a | b << 8 for a, b in zip(low, high)]
        return [-(c >> 1) - 1 if c & 1 else c >> 1 for c in codes]

    def sums(self, n):
        total, out = 0, []
        for step in self.folded(n):
            total = (total + step) & 0xffff
            out.append(total)
        return out


def target(page, row):
    """Cameras (wave's number, flux, sigma, models), fits, curves and facts of a row; None without a spectrum."""
    data = element(page, f"t{row}")
    if data is None:
        return None
    about, size = meta(page), int.from_bytes(data[:4], "little")
    head, body, cameras = json.loads(data[4:4 + size]), Bytes(data[4 + size:]), []
    for spec in head["cameras"]:
        n, (low, step) = about["waves"][spec["grid"]]["n"], spec["sigma"]
        sigma = [low * 2 ** (step * (c - 1)) if c else 0 for c in body.take(n)]
        flux = [c * spec["flux"] * s for c, s in zip(body.folded(n), sigma)]
        models = [None if size is None else [(v - 65536 if v > 32767 else v) * size for v in body.sums(n)] for size in spec["models"]]
        cameras.append({"grid": spec["grid"], "sigma": sigma, "flux": flux, "models": models, "steps": spec["models"], "flux_step": spec["flux"]})
    curves = [{**spec, "chi2": [None if c == 65535 else head["least"] + 2 ** (0.005 * c) - 1 for c in body.sums(len(about["redshifts"][spec["grid"]]))]}
              for spec in head["curves"]]
    assert body.at == len(body.data), "bytes that nothing describes"
    return {"cameras": cameras, "fits": head["fits"], "curves": curves, "facts": dict(head["facts"])}
