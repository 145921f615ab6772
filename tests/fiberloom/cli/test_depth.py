#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`calibrate --desimodel`: TSNR2 of a small camera against formulas written out here; `fluxcalib --desimodel`: what fibres
lose of a star by their places; `qa --desimodel`: effective times."""
import json
import math
import shutil
import struct
import unittest

import small_camera
import small_desimodel as model
import small_spectra
import tiny_fits as fits
from run_fiberloom import Folders
from small_calibration import BINS, FIBERS, SKY, STARS, WAVE, frame_bytes, lamp_light, models_bytes, sky_light, star_light

AMPLIFIERS = {"A": (1, 66, 1, 80, 1.2), "B": (67, 140, 1, 80, 1.5), "C": (1, 66, 81, 160, 1.8), "D": (67, 140, 81, 160, 2.1)}
SHARES = {"ETCFRACP": 0.51, "ETCFRACE": 0.37, "ETCFRACB": 0.17}
CARDS = [("FIBERMIN", 0), ("CCDSIZE", "160,140")] + [(f"CCDSEC{a}", f"[{v[0]}:{v[1]},{v[2]}:{v[3]}]") for a, v in AMPLIFIERS.items()] \
    + [(f"OBSRDN{a}", v[4]) for a, v in AMPLIFIERS.items()] + [(f"BIASSEC{a}", "[1:10,1:10]") for a in AMPLIFIERS]
NAN = float("nan")
PLACES = {"FIBER_X": [30.0 * f for f in range(FIBERS)], "FIBER_Y": [-20.0 * f for f in range(14)] + [NAN],
          "DELTA_X": [0.002 * f for f in range(FIBERS)], "DELTA_Y": [0.0] * 8 + [NAN] + [0.001] * 4 + [0.9, 0.0],
          "EBV": [0.01 * f for f in range(FIBERS)]}


def interpolate(x, y, at):
    """On straight lines, the outer ones beyond the ends."""
    i = max(0, min(len(x) - 2, sum(v <= at for v in x) - 1))
    return y[i] + (y[i + 1] - y[i]) * (at - x[i]) / (x[i + 1] - x[i])


def caught(table, radius, sigma, offset):
    """Of a table by its nodes, one axis after the other."""
    def of_radius(r):
        return interpolate(model.SIGMAS, [interpolate(model.OFFSETS, [table(r, s, o) for o in model.OFFSETS], offset)
                                          for s in model.SIGMAS], sigma)
    value = of_radius(0) if radius is None else interpolate(model.RADII, [of_radius(r) for r in model.RADII], radius)
    return min(1.0, max(0.0, value))


def of_point(sigma, offset):
    return caught(lambda r, s, o: model.point(s, o), None, sigma, offset)


def of_galaxy(radius, sigma, offset, bulge):
    return caught(lambda r, s, o: model.galaxy(r, s, o, bulge), radius, sigma, offset)


def places():
    """(micron an arc second, micron off its target) of each fibre; what is no number is 0."""
    out = []
    for x, y, dx, dy in zip(*(PLACES[n] for n in ("FIBER_X", "FIBER_Y", "DELTA_X", "DELTA_Y"))):
        x, y = (0, 0) if math.isnan(x + y) else (x, y)
        off = 0 if math.isnan(dx + dy) else 1000 * math.hypot(dx, dy)
        r2 = min(x * x + y * y, model.PLATE[-1][0] ** 2)
        out.append((interpolate([p[0] ** 2 for p in model.PLATE], [math.sqrt(p[1] * p[2]) for p in model.PLATE], r2), off))
    return out


def light_caught():
    """Of each kind, by fibre, against a point in the usual seeing."""
    mean_scale = model.FIBER_UM / model.FIBER_AS
    shares = [of_point(s, 0) for s in reversed(model.SIGMAS)]
    sigma = interpolate(shares, model.SIGMAS[::-1], SHARES["ETCFRACP"])
    fwhm = math.sqrt(8 * math.log(2)) * sigma / mean_scale
    mean, usual = fwhm / 2.35 * mean_scale, 1.1 / 2.35 * mean_scale
    where = places()
    now = [of_point(fwhm / 2.35 * s, o) / of_point(mean, 0) * SHARES["ETCFRACP"] for s, o in where]
    then = [of_point(1.1 / 2.35 * s, o) / of_point(usual, 0) for s, o in where]
    mean_now, then = sum(now) / FIBERS, [t / (sum(then) / FIBERS) for t in then]
    out = {kind: [n / mean_now / t if t > 0.01 else 1 for n, t in zip(now, then)] for kind in ("qso", "lya", "gpbbackup")}
    lrg = SHARES["ETCFRACB"] * 0.2502 / 0.19365
    for kind, share, radius, bulge in (("elg", SHARES["ETCFRACE"], 0.45, False), ("lrg", lrg, 1.0, True),
                                       ("bgs", SHARES["ETCFRACB"], 1.5, True)):
        out[kind] = [share / of_galaxy(radius, mean, 0, bulge) * of_galaxy(radius, fwhm / 2.35 * s, o, bulge) / mean_now / t
                     if t > 0.01 else 1 for (s, o), t in zip(where, then)]
    return {**out, "gpbdark": out["elg"], "gpbbright": out["bgs"]}


def read_noise(fiber, wave):
    x = small_camera.trace_x(fiber)
    y = 80 + 75 * (2 * (wave - 5990) / 150 - 1)
    return next(v[4] for v in AMPLIFIERS.values() if v[0] - 1 <= x < v[1] and v[2] - 1 <= y < v[3])


# Magnitudes an E(B-V) of 1 of Fitzpatrick's curve, R_V 3.1, from 6000 Angstrom on in steps of 25: desiutil 4.0.1.
DUST = (2.367150665245138, 2.353361107680395, 2.3396516969742804, 2.3260228488374035, 2.312474933136995, 2.2990082759513797,
        2.2856231615392675)


def dust(wave, ebv):
    return 10 ** (-0.4 * ebv * interpolate([6000 + 25 * i for i in range(len(DUST))], DUST, wave))


class Depth(Folders):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lamp = cls.inputs / "lamp.fits"
        cls.lamp.write_bytes(frame_bytes(lamp_light(), "flat", 1))
        cls.frame = cls.inputs / "frame.fits"
        cls.frame.write_bytes(frame_bytes(sky_light(), "science", 8, CARDS + list(SHARES.items()), more=star_light(), columns=PLACES))
        cls.psf = cls.inputs / "psf.fits"
        cls.psf.write_bytes(small_camera.psf_bytes(nfiber=FIBERS, npix_x=140, wmin=5990.0, wmax=6140.0))
        cls.stars = cls.inputs / "stdstars.fits"
        cls.stars.write_bytes(models_bytes())
        cls.model = model.write(cls.inputs / "desimodel")
        cls.made = cls.inputs / "made"
        cls.made.mkdir()
        cls.flat, cls.sky, cls.flux = (cls.made / name for name in ("flat.fits", "sky.fits", "flux.fits"))
        for command in (["fiberflat", "-i", cls.lamp, "-o", cls.flat],
                        ["sky", "-i", cls.frame, "--fiberflat", cls.flat, "-o", cls.sky],
                        ["fluxcalib", "-i", cls.frame, "--fiberflat", cls.flat, "--sky", cls.sky, "--models", cls.stars, "-o", cls.flux,
                         "--desimodel", cls.model]):
            result = cls.program(*command, "-q", env={"DESIMODEL": ""})
            assert result.returncode == 0, result.stderr

    def calibrate(self, *more, env=None, frame=None):
        return self.program("calibrate", "-i", frame or self.frame, "--fiberflat", self.flat, "--sky", self.sky, "--fluxcalib", self.flux,
                            "-o", self.out / "cframe.fits", *more, env={"DESIMODEL": "", **(env or {})})

    def scores(self):
        hdu = fits.by_name(self.out / "cframe.fits").get("SCORES")
        names = [hdu.cards[f"TTYPE{i}"] for i in range(1, hdu.cards["TFIELDS"] + 1)]
        forms = [hdu.cards[f"TFORM{i}"].lstrip("1") for i in range(1, hdu.cards["TFIELDS"] + 1)]
        code = ">" + "".join({"D": "d", "E": "f", "J": "i", "K": "q"}[f] for f in forms)
        rows = [struct.unpack(code, row) for row in hdu.rows()]
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}

    def expected(self, alpha):
        """TSNR2 by kind and fibre."""
        at = {name: fits.by_name(path)[hdu].values() for name, path, hdu in (
            ("flat", self.flat, "FIBERFLAT"), ("sky", self.sky, "SKY"), ("calib", self.flux, "FLUXCALIB"),
            ("ivar", self.out / "cframe.fits", "IVAR"), ("mask", self.out / "cframe.fits", "MASK"))}
        factors, out = light_caught(), {kind: [0.0] * FIBERS for kind in model.KINDS}
        x = math.log(1.1)
        own = {"bgs": 15.8 * math.exp(0.0341 * x**3 - 0.3611 * x**2 - 0.7175 * x - 1.5643),
               "gpbbackup": 27.5 * math.exp(0.0989 * x**3 - 0.5588 * x**2 - 0.9708 * x - 0.4473)}
        own["gpbbright"] = own["bgs"]
        for f in range(FIBERS):
            for i, wave in enumerate(WAVE):
                j = f * BINS + i
                if at["mask"][j] != 0 or not at["ivar"][j] > 0:
                    continue
                electrons = at["calib"][j] * at["flat"][j]
                variance = (alpha * read_noise(f, wave) ** 2 * model.area(f, wave) * 0.8 / model.angstrom(f, wave) / 0.64
                            + at["flat"][j] * abs(at["sky"][j]))
                for kind in model.KINDS:
                    signal = model.light(kind, wave) * electrons * factors[kind][f]
                    if kind != "gpbbackup":
                        signal *= dust(wave, PLACES["EBV"][f])
                    nanomaggie = 1e-9 * 3631e-23 * 2.99792458e18 / wave**2 * 1e17
                    out[kind][f] += signal**2 / (variance + own.get(kind, 0) * nanomaggie * electrons * 0.8)
        return out

    def test_it_is_what_the_formulas_say(self):
        result = self.calibrate("--desimodel", self.model, "--psf", self.psf, "--json", self.out / "said.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        alpha = fits.by_name(self.out / "cframe.fits")["FLUX"].cards["TSNRALPH"]
        self.assertTrue(0.8 < alpha < 3, alpha)
        scores, expected = self.scores(), self.expected(alpha)
        self.assertEqual(sorted(n for n in scores if n.startswith("TSNR2")), [f"TSNR2_{k.upper()}_R" for k in sorted(model.KINDS)])
        for kind, values in expected.items():
            for f in range(FIBERS):
                self.assertAlmostEqual(scores[f"TSNR2_{kind.upper()}_R"][f] / values[f], 1, delta=5e-6, msg=f"{kind} {f}")
        said = json.loads((self.out / "said.json").read_text())
        self.assertEqual(sorted(said["result"]["median_tsnr2"]), sorted(n for n in scores if n.startswith("TSNR2")))
        self.assertEqual(said["settings"]["tsnr"], "true")
        self.assertEqual(said["input"]["psf"], str(self.psf))

    def test_read_noise_is_what_the_sky_fibers_show(self):
        """The least of what the scale makes of their errors, by looking everywhere."""
        self.calibrate("--desimodel", self.model, "--psf", self.psf, "-q")
        frame, flat, sky = fits.by_name(self.frame), fits.by_name(self.flat)["FIBERFLAT"].values(), fits.by_name(self.sky)
        ivar, mask, light, weight = frame["IVAR"].values(), frame["MASK"].values(), sky["SKY"].values(), sky["IVAR"].values()
        bins = [(ivar[j], read_noise(f, w) ** 2 * model.area(f, w) * 0.8 / model.angstrom(f, w) / 0.64, flat[j] * abs(light[j]))
                for f in range(FIBERS) if SKY[f] for i, w in enumerate(WAVE)
                for j in [f * BINS + i] if mask[j] == 0 and ivar[j] > 0 and weight[j] > 0]

        def off(scale):
            return sum(abs(v - 1 / (scale * r + s)) for v, r, s in bins)
        best = min((off(0.5 + 0.002 * k), 0.5 + 0.002 * k) for k in range(1000))[1]
        alpha = fits.by_name(self.out / "cframe.fits")["FLUX"].cards["TSNRALPH"]
        self.assertAlmostEqual(alpha, max(0.8, best), delta=0.0021)

    def test_a_variable_of_the_environment_stands_for_the_option(self):
        self.calibrate("--desimodel", self.model, "--psf", self.psf, "-q")
        whole = (self.out / "cframe.fits").read_bytes()
        here = {"DESIMODEL": str(self.model)}
        self.calibrate("--psf", self.psf, "-q", env=here)
        self.assertEqual((self.out / "cframe.fits").read_bytes(), whole)
        self.calibrate("--psf", self.psf, "-q")
        without = (self.out / "cframe.fits").read_bytes()
        self.assertNotIn("TSNR2_ELG_R", self.scores())
        self.assertEqual(self.calibrate("--no-tsnr", "--psf", self.psf, "-q", env=here).stderr, "")
        self.assertEqual((self.out / "cframe.fits").read_bytes(), without)
        # code without its data is no model
        self.assertEqual(self.calibrate("-q", env={"DESIMODEL": str(self.out)}).stderr, "")
        result = self.calibrate(env=here)  # no PSF: what nobody asked for fails nothing
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"WARNING: TSNR2: expected --psf.*no TSNR2 \(\$DESIMODEL is ")
        self.assertEqual((self.out / "cframe.fits").read_bytes(), without)

    def test_without_places_fibers_catch_the_same(self):
        bare = self.put("bare.fits", frame_bytes(sky_light(), "science", 8, CARDS + list(SHARES.items()), more=star_light()))
        self.assertEqual(self.calibrate("--desimodel", self.model, "--psf", self.psf, "-q", frame=bare).returncode, 0)
        alone = self.scores()
        self.calibrate("--desimodel", self.model, "--psf", self.psf, "-q")
        factors = light_caught()
        for kind in ("elg", "gpbbackup"):
            seen = self.scores()[f"TSNR2_{kind.upper()}_R"][0]  # of E(B-V) 0
            self.assertAlmostEqual(seen / alone[f"TSNR2_{kind.upper()}_R"][0], factors[kind][0] ** 2, delta=1e-9)

    def test_what_cannot_be_told_is_one_line(self):
        asked = ("--desimodel", self.model, "--psf", self.psf)
        silent = self.put("silent.fits", frame_bytes(sky_light(), "science", 8, more=star_light(), columns=PLACES))
        cases = [(2, ["--psf", "--no-tsnr"], self.calibrate("--desimodel", self.model)),
                 (2, ["--desimodel", "--fluxcalib"],
                  self.program("calibrate", "-i", self.frame, "--fiberflat", self.flat, "-o", self.out / "x.fits", *asked)),
                 (10, ["nowhere"], self.calibrate("--desimodel", self.inputs / "nowhere", "--psf", self.psf)),
                 (12, ["silent.fits", "OBSRDNA", "RDNOISE"], self.calibrate(*asked, frame=silent))]
        short = self.put("short.fits", small_camera.psf_bytes(nfiber=10, npix_x=140, wmin=5990.0, wmax=6140.0))
        cases.append((22, ["short.fits", "no trace of fibre 10"], self.calibrate("--desimodel", self.model, "--psf", short)))
        def spoiled(name, path, data):
            folder = self.inputs / name
            shutil.copytree(self.model, folder)
            (folder / "data" / path).write_bytes(data)
            return self.calibrate("--desimodel", folder, "--psf", self.psf)
        area = "specpsf/nea/masternea_r0.fits"
        nodes = fits.image("WAVELENGTH", -64, (4,), [5000.0, 6000, 7000, 8000], first=True)
        even = fits.image("ANGPERPIX", -64, (15, 4), [0.6] * 60)
        cases += [(14, ["platescale.txt", "line 1"], spoiled("plate", "focalplane/platescale.txt", b"1 2 3\n")),
                  (12, ["desi.yaml", "diameter_um"], spoiled("yaml", "desi.yaml", b"fibers: none\n")),
                  (11, ["masternea_r0.fits", "NEA"], spoiled("nea", area, nodes + even)),
                  (14, ["masternea_r0.fits", "above 0"],
                   spoiled("zero", area, nodes + even + fits.image("NEA", -64, (15, 4), [0.0] * 60))),
                  (13, ["15 fibres", "14"], spoiled("rows", area, nodes + even + fits.image("NEA", -64, (14, 4), [3.0] * 56))),
                  (13, ["tsnr-ensemble-elg.fits", "DFLUX_R"], spoiled(
                      "light", "tsnr/tsnr-ensemble-elg.fits", fits.image("WAVE_R", -64, (3,), [1.0, 2, 3], first=True)
                      + fits.image("DFLUX_R", -64, (1, 2), [1.0, 2])))]
        for code, words, result in cases:
            with self.subTest(words):
                self.assert_fails(result, code, *words)

    def test_a_flux_calibration_undoes_what_fibers_lose(self):
        corrections = small_spectra.read_table(self.flux, "FIBERCORR")
        self.assertEqual(list(corrections), ["FLAT_TO_PSF_FLUX", "PSF_TO_FIBER_FLUX"])
        seen = corrections["FLAT_TO_PSF_FLUX"]
        lost = []
        for scale, off in places():
            share = of_point(1.1 / 2.35 * scale, off)
            lost.append(1 / (share * scale**2) if share > 0.01 else 0)
        known = sorted(v for f, v in enumerate(lost) if v > 0 and not SKY[f])
        middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
        for f in range(FIBERS):
            expected = 1 if SKY[f] or lost[f] == 0 else lost[f] / middle
            self.assertAlmostEqual(seen[f] / expected, 1, delta=1e-6, msg=f)
        self.calibrate("-q")
        fibermap = small_spectra.read_table(self.out / "cframe.fits", "FIBERMAP")
        for f, (scale, off) in enumerate(places()):  # all are points: what each catches of a survey's share
            expected = 0.789 if of_point(1.1 / 2.35 * scale, off) > 0.01 else 0
            self.assertAlmostEqual(corrections["PSF_TO_FIBER_FLUX"][f], expected, delta=1e-12)
            self.assertAlmostEqual(fibermap["PSF_TO_FIBER_SPECFLUX"][f], expected, delta=1e-7)


    def quality(self, *more, env=None):
        out = self.out / "qa.fits"
        result = self.program("qa", "--frames", self.out / "cframe.fits", "-o", out, *more, env={"DESIMODEL": "", **(env or {})})
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, small_spectra.read_table(out, "FIBERQA"), small_spectra.read_table(out, "PETALQA")

    def test_quality_has_effective_times(self):
        for goal, kind in ((None, "elg"), ("DARK", "elg"), ("bright", "bgs"), ("backup", "bgs")):
            with self.subTest(goal):
                cards = CARDS + ([("GOALTYPE", goal)] if goal else [])
                frame = self.put("goal.fits", frame_bytes(sky_light(), "science", 8, cards, more=star_light(), columns=PLACES))
                self.assertEqual(self.calibrate("--desimodel", self.model, "--psf", self.psf, "-q", frame=frame).returncode, 0)
                depth = self.scores()[f"TSNR2_{kind.upper()}_R"]
                result, fibers, petals = self.quality("--desimodel", self.model, "--json", self.out / "qa.json")
                for f in range(FIBERS):
                    self.assertAlmostEqual(fibers["EFFTIME_SPEC"][f] / (depth[f] * model.SECONDS[kind]), 1, delta=1e-6)
                middle = sorted(depth)[FIBERS // 2]
                self.assertAlmostEqual(petals[f"TSNR2_{kind.upper()}_R"][0] / middle, 1, delta=1e-6)
                self.assertAlmostEqual(petals["EFFTIME_SPEC"][0] / (middle * model.SECONDS[kind]), 1, delta=1e-6)
                self.assertIn("spectrograph 0: %.1f effective seconds" % (middle * model.SECONDS[kind]), result.stderr)
                effective = fits.by_name(self.out / "qa.fits")["FIBERQA"].cards["EFFTIME"]
                self.assertAlmostEqual(effective / petals["EFFTIME_SPEC"][0], 1, delta=1e-6)
                told = json.loads((self.out / "qa.json").read_text())["result"]["petals"]["0"]
                self.assertAlmostEqual(told["median_effective_s"] / (middle * model.SECONDS[kind]), 1, delta=1e-12)
        database = self.out / "catalogue.sqlite"
        frame = self.out / "cframe.fits"
        self.assertEqual(self.program("catalogue", "load", frame, self.out / "qa.fits", "--db", database, "-q").returncode, 0)
        asked = self.program("catalogue", "query", "--db", database, "SELECT expid, efftime_spec FROM exposure", "--format", "json")
        (row,) = json.loads(asked.stdout)
        self.assertEqual(row["expid"], 11)
        self.assertAlmostEqual(row["efftime_spec"] / effective, 1, delta=1e-12)
        result, fibers, petals = self.quality()
        self.assertNotIn("EFFTIME_SPEC", fibers)
        self.assertIn("TSNR2_ELG_R", petals)
        self.calibrate("--no-tsnr", "-q")
        result, fibers, petals = self.quality("--desimodel", self.model)
        self.assertIn("no frame has a TSNR2", result.stderr)
        self.assertFalse([name for name in petals if name.startswith(("TSNR2", "EFFTIME"))])
        self.assertNotIn("TSNR2", self.quality(env={"DESIMODEL": str(self.model)})[0].stderr)


if __name__ == "__main__":
    unittest.main()
