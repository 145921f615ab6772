# SPDX-License-Identifier: BSD-3-Clause
# Long: the night of all tests, and its tests from end to end.
"""A simulated night from frames to a catalogue, against its truth, and with what may go wrong on the way."""
import atexit
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import small_desimodel  # noqa: E402
import tiny_fits as fits  # noqa: E402
from small_spectra import read_table  # noqa: E402

PROGRAM = os.environ.get("FIBERLOOM_PROGRAM", "")
CLEAN = {k: v for k, v in os.environ.items() if k not in ("RR_TEMPLATE_DIR", "DESIMODEL")}
NIGHT, TILE = "20200101", 1000
LAMPS, ARC, FIELDS = (1, 2), 3, (4, 5)


def fiberloom(*arguments, code=0, **keywords):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=500, env=CLEAN,
                            check=False, **keywords)
    if result.returncode != code:
        raise AssertionError(f"exit code {result.returncode}, expected {code}: {result.stderr}")
    return result


class Chain(unittest.TestCase):
    """One simulated night for all tests here; each has an OUT of its own."""
    work = None
    last = "redshift"

    @classmethod
    def setUpClass(cls):
        if Chain.work is None:
            Chain.work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-chain-"))
            atexit.register(shutil.rmtree, Chain.work)
            Chain.raw = Chain.work / "raw"
            fiberloom("simulate", "-q", "-o", Chain.raw, "--night", "--arc", "--cameras", "b0,r0,z0", "--nspec", "24",
                      "--exposures", "2")

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(prefix="out-", dir=self.work))
        self.addCleanup(shutil.rmtree, self.out, True)

    def command(self, *more, raw=None, until="", out=None):
        last = [] if until is None else ["--until", until or self.last]
        return ["night", raw or self.raw, "-o", out or self.out, *last, "--starmodels", self.raw / "starmodels.fits",
                "--filters", self.raw / "filters", *more]

    def night(self, *more, code=0, **keywords):
        return fiberloom(*self.command("--threads", "2", *more, **keywords), code=code)

    def summary(self, *more, code=0, **keywords):
        path = self.work / "summary.json"
        self.night("-q", "--json", path, *more, code=code, **keywords)
        return json.loads(path.read_text())

    def states(self, *more, **keywords):
        return {t["name"]: t["state"] for t in self.summary(*more, **keywords)["tasks"]}

    def own_raw(self):
        """A copy of the night that a test may spoil, under the same path for all of them: headers name images."""
        folder = self.work / "own"
        shutil.rmtree(folder, True)
        shutil.copytree(self.raw, folder, ignore=shutil.ignore_patterns("truth"))
        return folder

    def outputs(self, out=None):
        out = out or self.out
        return {str(p.relative_to(out)): p.read_bytes() for p in sorted(out.rglob("*.fits")) if ".fiberloom" not in p.parts}

    @staticmethod
    def image(raw, camera, expid):
        return raw / NIGHT / f"{expid:08d}" / f"preproc-{camera}-{expid:08d}.fits"

    def coadd(self, kind="coadd"):
        return self.out / "tiles" / str(TILE) / NIGHT / f"{kind}-0-{TILE}-thru{NIGHT}.fits"

    def assert_tidy(self):
        for folder in ("claims", "runs"):
            self.assertEqual(list((self.out / ".fiberloom" / folder).iterdir()), [])
        self.assertEqual([str(p) for p in self.out.rglob("*.tmp-*")], [])


def darken(path):
    """No light on the CCD, as of a lamp that is off: read-out noise alone, and no sums that would tell."""
    image = fits.by_name(path)["IMAGE"]
    data = bytearray(path.read_bytes())
    at = bytes(data).index(image.data[:4096])
    rng = random.Random(1)
    row = struct.pack(">997f", *(rng.gauss(0, 3) for _ in range(997)))
    count = 4 * image.cards["NAXIS1"] * image.cards["NAXIS2"]
    data[at:at + count] = (row * (count // len(row) + 1))[:count]
    path.write_bytes(bytes(data).replace(b"CHECKSUM=", b"COMMENT  ").replace(b"DATASUM =", b"COMMENT  "))


class ANight(Chain):
    def test_fluxes_and_redshifts_are_those_of_the_truth_and_a_second_run_does_nothing(self):
        first = self.night()
        self.assertIn("passed over, neither lamps nor fields but ARC: exposure 3", first.stderr)
        self.assertFalse((self.out / NIGHT / f"{ARC:08d}").exists(), "an arc is not extracted")
        truth = read_table(self.raw / f"truth/targets-0-{TILE}.fits", "TRUTH")
        self.check_redshifts(truth)
        for camera in "BRZ":
            self.check_flux(truth, camera)
        self.check_flat()
        start = time.monotonic()
        again = self.summary()
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(again["counts"]["up_to_date"], again["counts"]["tasks"])
        self.assertEqual(again["steps"]["coadd"]["up_to_date"], 1)
        status = json.loads((self.out / "status.json").read_text())
        self.assertEqual(status["steps"]["sky"], {"up-to-date": 6})
        page = (self.out / "status.html").read_text()
        self.assertIn("<td>redshift</td>", page)
        self.check_picture(page, status)
        self.assert_tidy()

    def check_picture(self, page, status):
        """Of an exposure, on the page with what its quality is."""
        name = f"{NIGHT}/00000004/exposure-00000004.png"
        self.assertIn(f'<img src="{name}"', page)
        self.assertEqual(page.count("<img "), len(FIELDS))
        png = (self.out / name).read_bytes()
        width, height = struct.unpack(">II", png[16:24])
        self.assertEqual((png[:8], height), (b"\x89PNG\r\n\x1a\n", 24), "a line a fibre")
        self.assertTrue(300 < width < 490, width)
        quality = {t["name"]: t["quality"] for t in status["tasks"] if t["step"] == "qa"}["qa-00000004"]
        self.assertEqual(quality["fibers"], 24)
        self.assertTrue(all(quality[f"snr_{band}"] > 3 for band in "brz"), quality)
        (self.out / name).unlink()
        states = self.states()
        self.assertEqual(set(states.values()), {"up-to-date"})
        self.assertEqual((self.out / name).read_bytes(), png, "one that is gone is drawn anew")

    def check_redshifts(self, truth):
        """All targets are of 20 mag or brighter, and seen for 1800 s."""
        found = read_table(self.coadd("redrock"), "REDSHIFTS")
        where = {i: k for k, i in enumerate(truth["TARGETID"])}
        self.assertEqual(sorted(found["TARGETID"]), sorted(truth["TARGETID"]))
        wrong = []
        for target, z, spectype in zip(found["TARGETID"], found["Z"], found["SPECTYPE"]):
            k = where[target]
            if truth["SPECTYPE"][k] == "SKY":
                continue
            if spectype != truth["SPECTYPE"][k] or abs(z - truth["Z"][k]) > 0.001 * (1 + z):
                wrong.append((k, spectype, z, truth["SPECTYPE"][k], truth["Z"][k]))
        self.assertEqual(wrong, [])

    def check_flux(self, truth, camera):
        """Of each target, over the camera: to 5 % where its light is not faint there, in the middle to 3 %."""
        hdus = fits.by_name(self.raw / f"truth/targets-0-{TILE}.fits")
        true_flux, true_wave = hdus["FLUX"].values(), hdus["WAVELENGTH"].values()
        coadd = fits.by_name(self.coadd())
        flux, wave = coadd[camera + "_FLUX"].values(), coadd[camera + "_WAVELENGTH"].values()
        n, m = len(wave), len(true_wave)
        shift = round((wave[0] - true_wave[0]) / 0.8)
        ratios = []
        for f, kind in enumerate(truth["SPECTYPE"]):
            true = sum(true_flux[f * m + shift + i] for i in range(100, n - 100))
            mine = sum(flux[f * n + i] for i in range(100, n - 100))
            if kind == "SKY":
                self.assertEqual(true, 0)
                self.assertLess(abs(mine) / n, 0.2, f"{camera}, fibre {f}: light where there is sky")
            elif true > 2 * n:  # 2e-17 erg/(s cm2 Angstrom)
                ratios.append(mine / true)
                self.assertAlmostEqual(ratios[-1], 1, delta=0.05, msg=f"{camera}, fibre {f}")
        self.assertGreater(len(ratios), 8)
        self.assertAlmostEqual(statistics.median(ratios), 1, delta=0.03, msg=camera)

    def check_flat(self):
        """The night's flat is the throughput of the fibres."""
        truth = fits.by_name(self.raw / "truth/throughput-r0.fits")
        through, fine = truth["THROUGHPUT"].values(), truth["WAVELENGTH"].values()
        hdus = fits.by_name(self.out / "calibnight" / NIGHT / f"fiberflatnight-r0-{NIGHT}.fits")
        flat, wave = hdus["FIBERFLAT"].values(), hdus["WAVELENGTH"].values()
        n, m = len(wave), len(fine)
        step = fine[1] - fine[0]
        for f in range(24):
            found = [flat[f * n + i] / through[f * m + round((wave[i] - fine[0]) / step)] for i in range(100, n - 100, 10)]
            self.assertAlmostEqual(statistics.median(found), 1, delta=0.006, msg=f"fibre {f}")


class Faults(Chain):
    few = ("--cameras", "b0,r0")

    def test_a_lamp_that_was_off_holds_back_its_camera_and_all_else_goes_on(self):
        raw = self.own_raw()
        good = self.image(raw, "r0", LAMPS[1]).read_bytes()
        darken(self.image(raw, "r0", LAMPS[1]))
        result = self.night(*self.few, raw=raw, code=3)
        self.assertRegex(result.stderr, r"fiberflat-r0-00000002: .*the brightest of 24 fibres has a median S/N of -?\d\.\d+ a bin")
        self.assertIn("sky-r0-00000004: blocked: needs fiberflat", result.stderr)
        self.check_why()
        states = self.states(*self.few, raw=raw, code=3)
        self.assertEqual(states["fiberflat-r0-00000002"], "failed")
        self.assertEqual({name for name, state in states.items() if state == "up-to-date"},
                         {f"{c}0-{e:08d}" for c in "br" for e in (*LAMPS, *FIELDS)} | {f"sky-b0-{e:08d}" for e in FIELDS}
                         | {"fiberflat-b0-00000001", "fiberflat-b0-00000002", f"fiberflatnight-b0-{NIGHT}", "fiberflat-r0-00000001"})
        self.assertEqual(states[f"redshift-0-{TILE}-thru{NIGHT}"], "blocked")
        status = json.loads((self.out / "status.json").read_text())
        self.assertEqual(status["steps"]["sky"], {"blocked": 2, "up-to-date": 2})
        self.image(raw, "r0", LAMPS[1]).write_bytes(good)
        counts = self.summary(*self.few, raw=raw)["counts"]
        self.assertEqual((counts["failed"], counts["blocked"]), (0, 0))
        mended = self.outputs()
        self.out = self.work / "fresh"
        self.night(*self.few, raw=raw)
        self.assertEqual(self.outputs(), mended)
        self.assert_tidy()

    def check_why(self):
        """The chain of causes of a night whose red lamp was off, from the folder alone."""
        text = fiberloom("status", self.out, "--why", f"redshift-0-{TILE}-thru{NIGHT}").stdout
        lines = text.splitlines()
        self.assertEqual(lines[0], f"redshift-0-{TILE}-thru{NIGHT}: blocked")
        self.assertEqual([line.split()[1] for line in lines if line.startswith("  because")][-2:],
                         [f"fiberflatnight-r0-{NIGHT}", "fiberflat-r0-00000002"])
        self.assertIn("because fiberflat-r0-00000002 is failed: ", text)
        self.assertIn("has a median S/N of", text)
        why = json.loads(fiberloom("status", self.out, "--why", "fiberflat-r0-00000002", "--json", "-").stdout)
        self.assertEqual((why["state"], why["step"], len(why["attempts"])), ("failed", "fiberflat", 1))
        self.assertEqual(why["attempts"][0]["host"], os.uname().nodename)
        self.assertIn("median S/N", why["attempts"][0]["message"])
        self.assertEqual([(i["made_by"], i["state"]) for i in why["inputs"]], [("r0-00000002", "unchanged")])
        done = json.loads(fiberloom("status", self.out, "--why", "sky-b0-00000004", "--json", "-").stdout)
        self.assertEqual(done["state"], "done")
        self.assertEqual([i["crc32"] for i in done["inputs"]], [i["crc32_then"] for i in done["inputs"]])
        every = fiberloom("status", self.out, code=3).stdout
        self.assertRegex(every, r"fiberflat-r0-00000002: failed: .*; \d+ tasks are held back by it")
        wrong = fiberloom("status", self.out, "--why", "sky-b0-0000004", code=10).stderr
        self.assertEqual(len(wrong.strip().splitlines()), 1)
        self.assertIn("the nearest: sky-b0-00000004", wrong)
        self.assertIn("no run has left a plan here", fiberloom("status", self.work / "nowhere", code=10).stderr)

    def test_a_coadd_takes_the_exposures_that_are_there_and_is_made_again_when_the_missing_one_comes(self):
        raw = self.own_raw()
        image = self.image(raw, "r0", FIELDS[1])
        good = image.read_bytes()
        image.write_bytes(good[:len(good) // 2])
        first = self.summary(*self.few, raw=raw, until="coadd", code=3)
        tasks = {t["name"]: t for t in first["tasks"]}
        name = f"coadd-0-{TILE}-thru{NIGHT}"
        self.assertEqual(tasks["r0-00000005"]["state"], "failed")
        self.assertEqual([n for n in tasks if n.startswith("coadd")], [name], "the other camera says whose tile it is")
        page = (self.out / "status.html").read_text()
        squares = {kind: page.count(f'<i class="{kind}" title=') for kind in ("done", "failed", "blocked", "waiting", "work")}
        self.assertEqual(sum(squares.values()), len(tasks))
        self.assertEqual(squares["failed"], 1)
        self.assertEqual(tasks["cframe-b0-00000005"]["state"], "blocked", "stars want all cameras")
        self.assertEqual((tasks[name]["state"], tasks[name]["quality"]["spectra"]), ("done", 24))
        image.write_bytes(good)
        second = self.summary(*self.few, raw=raw, until="coadd")
        tasks = {t["name"]: t for t in second["tasks"]}
        self.assertEqual((tasks[name]["state"], tasks[name]["quality"]["spectra"]), ("done", 48))
        self.assertTrue(all(t["state"] == "up-to-date" for n, t in tasks.items() if n.endswith("00000004")))

    def test_an_input_counts_by_its_content_and_what_depends_on_it_alone_is_made_again(self):
        raw = self.own_raw()
        self.night("-q", *self.few, raw=raw, until="calibrate")
        touched = self.image(raw, "b0", FIELDS[0])
        os.utime(touched)
        self.assertEqual(self.summary(*self.few, raw=raw, until="calibrate")["counts"]["done"], 0)
        other = fits.by_name(touched)["IMAGE"].data[:4096]
        data = touched.read_bytes()
        at = data.index(other) + 4 * 3000
        changed = data[:at] + b"\x43\x00\x00\x00" + data[at + 4:]
        touched.write_bytes(changed.replace(b"CHECKSUM=", b"COMMENT  ").replace(b"DATASUM =", b"COMMENT  "))
        done = {n for n, s in self.states(*self.few, raw=raw, until="calibrate").items() if s == "done"}
        self.assertIn("b0-00000004", done)
        self.assertTrue(all(name.endswith("00000004") for name in done), done)

    def test_threads_and_kills_leave_the_same_bytes(self):
        self.night("-q", *self.few, "--threads", "1")
        expected = self.outputs()
        self.out = self.work / "killed"
        for wait in (0.15, 0.5, 1.0, 2.0, 3.5):
            process = subprocess.Popen([PROGRAM, *map(str, self.command(*self.few, "-q", "--threads", "2"))], env=CLEAN)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.night("-q", *self.few)
        self.assertEqual(sorted(self.outputs()), sorted(expected))
        self.assertEqual([name for name, data in self.outputs().items() if data != expected[name]], [])
        self.assert_tidy()


class TwoSpectrographs(Chain):
    def test_flats_of_a_band_are_laid_together_and_a_camera_whose_lamp_was_off_is_left_out(self):
        raw = self.work / "two"
        fiberloom("simulate", "-q", "-o", raw, "--night", "--cameras", "r0,r1", "--nspec", "20", "--exposures", "1")
        states = self.states(raw=raw, until="sky")
        self.assertTrue(all(s == "done" for s in states.values()), states)
        quality = {t["name"]: t["quality"] for t in self.summary(raw=raw, until="sky")["tasks"] if "quality" in t}
        self.assertEqual(quality[f"fiberflatnight-r0-{NIGHT}"], {"flats": 2, "lamps": 2, "cameras": 2})
        together = self.outputs()
        good = self.image(raw, "r1", LAMPS[1]).read_bytes()
        darken(self.image(raw, "r1", LAMPS[1]))
        shutil.rmtree(self.out)
        states = self.states(raw=raw, until="sky", code=3)
        self.assertEqual((states["fiberflat-r1-00000002"], states[f"fiberflatnight-r1-{NIGHT}"], states[f"fiberflatnight-r0-{NIGHT}"],
                          states["sky-r0-00000003"], states["sky-r1-00000003"]), ("failed", "blocked", "done", "done", "blocked"))
        self.image(raw, "r1", LAMPS[1]).write_bytes(good)
        self.assertEqual(self.states(raw=raw, until="sky")[f"fiberflatnight-r0-{NIGHT}"], "done", "made again with what was missing")
        self.assertEqual(self.outputs(), together)


class Steps(Chain):
    few = ("--cameras", "b0,r0")

    def test_a_night_may_end_at_any_step_and_one_step_alone_takes_what_is_there(self):
        dry = self.night(*self.few, "--dry-run", until="sky")
        self.assertRegex(dry.stdout, r"sky:\n  to do +sky-b0-00000004 .* s after b0-00000004, fiberflatnight-b0-20200101\n")
        self.assertRegex(dry.stdout, r"18 tasks: 18 to do; about \d+ core-seconds, up to \d+ MB a task")
        self.assertEqual(self.outputs(), {}, "a plan writes nothing")
        counts = self.summary(*self.few, until="sky")["counts"]
        self.assertEqual((counts["tasks"], counts["done"]), (18, 18))
        alone = self.states(*self.few, "--only", "sky", until=None)
        self.assertEqual(alone, {f"sky-{c}0-{e:08d}": "up-to-date" for c in "br" for e in FIELDS})
        (self.out / "calibnight" / NIGHT / f"fiberflatnight-b0-{NIGHT}.fits").unlink()
        missing = self.night(*self.few, "--only", "fluxcalib", until=None, code=3)
        self.assertIn("stdstars-0-00000004.fits: is not there", missing.stderr)
        dry = self.night(*self.few, "--dry-run", until="sky")
        self.assertRegex(dry.stdout, r"to do +fiberflatnight-b0-20200101 .*\(the output is gone\)")
        self.assertRegex(dry.stdout, r"to do +sky-b0-00000004")
        self.assertRegex(dry.stdout, r"up-to-date +sky-r0-00000004")

    def test_flats_and_stars_may_come_from_elsewhere(self):
        self.night("-q", *self.few, until="fluxcalib")
        flats, stars = self.out / "calibnight" / NIGHT, self.work / "stars"
        stars.mkdir()
        for expid in FIELDS:
            shutil.copy(self.out / NIGHT / f"{expid:08d}" / f"stdstars-0-{expid:08d}.fits", stars)
        expected = fits.by_name(next(self.out.rglob("fluxcalib-r0-00000004.fits")))["FLUXCALIB"].data
        averages = self.work / "averages"
        averages.mkdir()
        shutil.copy(next(self.out.rglob("fluxcalib-r0-00000004.fits")), averages)
        self.out = self.work / "elsewhere"
        result = self.summary(*self.few, "--fiberflats", flats, "--stdstars", stars, "--averages", averages, until="fluxcalib")
        self.assertEqual(set(result["steps"]), {"extract", "sky", "fluxcalib"})
        self.assertEqual(result["counts"]["tasks"], 12)
        self.assertEqual(fits.by_name(next(self.out.rglob("fluxcalib-r0-00000004.fits")))["FLUXCALIB"].data, expected)
        why = json.loads(fiberloom("status", self.out, "--why", "fluxcalib-r0-00000005", "--json", "-").stdout)
        self.assertIn(str(averages / "fluxcalib-r0-00000004.fits"), [i["path"] for i in why["inputs"]])

    def test_with_a_model_of_the_instrument_frames_tell_how_deep_they_are(self):
        model = small_desimodel.write(self.work / "desimodel", ("b0", "r0"))
        asked = (*self.few, "--desimodel", model)
        self.night("-q", *asked, until="redshift")
        kinds = [f"TSNR2_{kind.upper()}" for kind in small_desimodel.KINDS]
        for camera in "br":
            scores = read_table(self.out / NIGHT / "00000004" / f"cframe-{camera}0-00000004.fits", "SCORES")
            for kind in kinds:
                self.assertGreater(min(scores[f"{kind}_{camera.upper()}"]), 0)
        both = [read_table(self.out / NIGHT / f"{e:08d}" / f"cframe-{c}0-{e:08d}.fits", "SCORES")[f"TSNR2_LRG_{c.upper()}"][5]
                for e in FIELDS for c in "br"]
        found = read_table(self.coadd("redrock"), "TSNR2")
        target = read_table(self.out / NIGHT / "00000004" / "cframe-b0-00000004.fits", "FIBERMAP")["TARGETID"][5]
        self.assertAlmostEqual(found["TSNR2_LRG"][found["TARGETID"].index(target)] / sum(both), 1, delta=1e-6)
        quality = read_table(self.out / NIGHT / "00000004" / "exposure-qa-00000004.fits", "PETALQA")
        self.assertGreater(quality["EFFTIME_SPEC"][0], 0)
        corrections = read_table(self.out / NIGHT / "00000004" / "fluxcalib-b0-00000004.fits", "FIBERCORR")["FLAT_TO_PSF_FLUX"]
        self.assertGreater(len(set(corrections)), 10, "by the fibres' places")
        environment = {**CLEAN, "DESIMODEL": str(model)}
        path = self.work / "again.json"
        subprocess.run([PROGRAM, *map(str, self.command("-q", *self.few, "--json", path, until="redshift"))], check=True, env=environment)
        counts = json.loads(path.read_text())["counts"]
        self.assertEqual(counts["up_to_date"], counts["tasks"], "the variable says the same")
        other = small_desimodel.write(self.work / "other", ("b0",))  # of the environment, and without what r0 needs
        (self.out / NIGHT / "00000004" / "cframe-r0-00000004.fits").unlink()
        subprocess.run([PROGRAM, *map(str, self.command("-q", *self.few, "--json", path, until="calibrate"))], check=True,
                       env={**CLEAN, "DESIMODEL": str(other)})
        self.assertEqual(json.loads(path.read_text())["counts"]["failed"], 0)
        self.night("-q", *asked, until="calibrate")
        noise = model / "data/specpsf/nea/masternea_r0.fits"
        noise.write_bytes(noise.read_bytes() + bytes(2880))
        states = {t["name"]: t["state"] for t in self.summary(*asked, until="calibrate")["tasks"]}
        self.assertEqual({name for name, state in states.items() if state == "done"},
                         {f"{step}-r0-{e:08d}" for step in ("fluxcalib", "cframe") for e in FIELDS})

    def test_options_of_steps_come_from_a_job_file_or_the_command_line_and_redo_what_they_change(self):
        job = self.work / "night.toml"
        job.write_text(f"""input = '{self.raw}'
output = '{self.out}'
cameras = ['b0', 'r0']
[chain]
until = 'sky'
[fiberflat]
smoothing_resolution = 8
[sky]
method = 'desispec'
""")
        first = self.run_json("night", job, "-q")
        self.assertEqual((first["counts"]["tasks"], first["counts"]["done"]), (18, 18))
        self.assertEqual((first["options"]["sky"]["method"], first["options"]["fiberflat"]["smoothing_resolution"]), ("desispec", "8"))
        path = self.out / NIGHT / "00000004" / "sky-b0-00000004.fits"
        self.assertEqual(fits.by_name(path)["SKY"].cards["CALMETH"], "desispec")
        again = self.run_json("night", self.raw, "-o", self.out, *self.few, "--until", "sky", "--set", "sky.method=desispec",
                              "--set", "fiberflat.smoothing_resolution=8", "-q")
        self.assertEqual(again["counts"]["up_to_date"], 18, "the command line says the same")
        changed = self.run_json("night", job, "--set", "sky.method=fiberloom", "-q")
        self.assertEqual({t["step"] for t in changed["tasks"] if t["state"] == "done"}, {"sky"})
        for text, words in (("[sky]\nmethod = 'mine'\n", "line 6: sky: --method mine: expected one of"), ("[sky]\nnsig = 3\n", "no such option"),
                            ("[moon]\nx = 1\n", "unknown key moon"), ("[chain]\nuntl = 'sky'\n", "unknown key chain.untl"),
                            ("[chain]\nuntil = 'moon'\n", "moon: no step"), ("[sky]\nmethod = 1979-01-01\n", "expected a text, a number")):
            with self.subTest(text):
                job.write_text(f"input = '{self.raw}'\noutput = '{self.out}'\n\n\n" + text)
                result = fiberloom("night", job, "-q", code=2)
                self.assertIn(words, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1)
        for words in (["--set", "sky.method"], ["--set", "sky.method=x"], ["--set", "coadd.lin_step=1", "--set", "coadd.log10_step=1e-4"]):
            self.night("-q", *words, code=2)

    def run_json(self, *arguments):
        path = self.work / "summary.json"
        fiberloom(*arguments, "--threads", "2", "--json", path)
        return json.loads(path.read_text())

    def test_what_makes_no_sense_is_one_line_and_nothing_is_begun(self):
        for words, code, text in (
                (["--until", "redshift"], 2, "give --starmodels and --filters, or --stdstars"),
                (["--only", "sky", "--watch"], 2, "--watch makes what is not there yet"),
                (["--submit"], 2, "--submit and --tasks are for --until STEP"),
                (["--until", "sky", "--only", "sky"], 2, "--only says which step it is"),
                (["--until", "moon"], 2, "moon"),
                (["--starmodels", "x.fits"], 2, "--starmodels is for --until STEP"),
                (["--catalogue", "x.sqlite"], 2, "--catalogue is for --until catalogue"),
                (["--until", "sky", "--catalogue", "x.sqlite"], 2, "--catalogue is for --until catalogue"),
                (["--until", "sky", "--set", "catalogue.wait=3"], 2, "catalogue: no step with options of its own"),
                (["--until", "sky", "--set", "coadd.nsig=5"], 2, "--set coadd.nsig=5: no step coadd in what is asked for"),
                (["--until", "extract", "--set", "sky.method=desispec"], 2, "no step sky in what is asked for"),
                (["--only", "sky", "--set", "fiberflat.method=desispec"], 2, "no step fiberflat"),
                (["--until", "sky", "--fiberflats", self.raw, "--set", "fiberflat.method=desispec"], 2, "no step fiberflat"),
                (["--until", "sky", "--psf", "calib/psf-{camra}.fits"], 2, "found {camra}, expected {night}, {expid} or {camera}"),
                (["--only", "catalogue", "--catalogue", "/nowhere/x.sqlite"], 30, "/nowhere/x.sqlite: unable to open"),
                (["--only", "catalogue", "--catalogue", "postgresql://nobody@127.0.0.1:9/x"], 85, "127.0.0.1"),
                (["--until", "sky", "--fiberflats", "/nowhere"], 10, "/nowhere: no such folder"),
                (["--until", "sky", "--exposures", str(ARC)], 10, "no exposure here that the step is for")):
            with self.subTest(words):
                result = fiberloom("night", self.raw, "-o", self.out / "new", "-q", *words, code=code)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                self.assertIn(text, result.stderr)
                self.assertFalse((self.out / "new").exists())


if __name__ == "__main__":
    unittest.main()
