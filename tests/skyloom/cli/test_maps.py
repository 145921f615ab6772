# SPDX-License-Identifier: BSD-3-Clause
"""simulate, map and info, from command line to files."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import unittest

from run_skyloom import MAPS, PROGRAM, SMALL, Case, read_map

NAMES = ("hits", "rcond", "invcov", "cov", "binned", "map")
UNSEEN = -1.6375e30


class Maps(Case):
    def test_pixels_that_one_map_alone_has_may_be_a_difference(self):
        self.ok("map", *self.observations, "-o", self.out / "a", *MAPS, "--quiet")
        self.ok("map", *self.observations, "-o", self.out / "b", *MAPS[:-1], 0.05, "--binned-only", "--quiet")
        maps = ("compare", self.out / "a/binned.fits", self.out / "b/binned.fits", "--max-largest", 0)
        self.assertRegex(self.ok(*maps).stdout, r"I_STOKES: \d+ pixels; in one alone [1-9]\d* and 0")
        self.ok(*maps, "--max-alone", 5000)
        done = self.program(*maps, "--max-alone", 0, "--json", self.out / "c.json")
        self.assertEqual((done.returncode, json.loads((self.out / "c.json").read_text())["within_bounds"]), (1, False), done.stderr)

    def test_a_map_with_and_without_files_between_is_the_same(self):
        self.ok("map", *self.observations, "-o", self.out / "stored", *MAPS, "--coord", "E", "--quiet")
        self.ok("simulate", "--maps", self.out / "direct", *SMALL, *MAPS, "--quiet")
        for name in NAMES:
            self.assertEqual((self.out / f"stored/{name}.fits").read_bytes(),
                             (self.out / f"direct/{name}.fits").read_bytes(), name)

    def test_hits_count_every_sample_and_cut_pixels_are_unseen(self):
        self.ok("map", *self.observations, "-o", self.out, *MAPS, "--json", self.out / "s.json", "--quiet")
        hits, cards = read_map(self.out / "hits.fits", "i", 1)
        self.assertEqual(sum(row[0] for row in hits), 2 * 14 * 3000)
        self.assertEqual(cards["ORDERING"], "NESTED")
        self.assertEqual(int(cards["NSIDE"]), 16)
        summary = json.loads((self.out / "s.json").read_text())
        sky, _ = read_map(self.out / "map.fits")
        unseen = sum(1 for row in sky if abs(row[0] / UNSEEN - 1) < 1e-5)
        self.assertEqual(summary["data"]["samples"], 2 * 14 * 3000)
        self.assertEqual(unseen, 3072 - summary["maps"]["hit_pixels"] + summary["maps"]["cut_pixels"])
        self.assertTrue(summary["maps"]["converged"])

    def test_maps_in_hdf5_of_noise_in_common_are_those_in_fits(self):
        common = ("--common-net", 60e-6, "--common-by", "pixel", "--common-spread", 0.2)
        self.ok("simulate", "-o", self.out / "data", "--maps", self.out / "fits", *SMALL, *MAPS, *common, "--quiet")
        data = sorted((self.out / "data").glob("*.h5"))
        self.ok("map", *data, "-o", self.out / "hdf5", *MAPS, "--coord", "E", "--format", "hdf5", "--quiet")
        for name in NAMES:
            self.ok("compare", self.out / f"hdf5/{name}.h5", self.out / f"fits/{name}.fits", "--max-largest", 0)
        self.assertFalse((self.out / "hdf5/map.fits").exists())
        self.ok("view", self.out / "hdf5", "-o", self.out / "page.html", "--noise", data[0], "--quiet")
        self.assertIn("densities", (self.out / "page.html").read_text())
        self.fails(2, "--partial", "map", *data, "-o", self.out / "m", "--format", "hdf5", "--partial")
        self.fails(2, "--wcs", "map", *data, "-o", self.out / "m", "--format", "hdf5", "--wcs", "car:0,0,10,10,1")
        self.fails(2, "wafer", "simulate", "--maps", self.out / "m", *SMALL, "--common-net", 1e-6, "--common-by", "wafer")
        self.fails(2, "--common-also: wafer", "simulate", "--maps", self.out / "m", *SMALL, "--common-also", "net=1e-6,by=wafer")
        self.fails(2, "'net=1e-6,what=3'", "simulate", "--maps", self.out / "m", *SMALL, "--common-also", "net=1e-6,what=3")
        self.fails(2, "--schedule", "simulate", "--maps", self.out / "m", *SMALL, "--ground-signal", 1)
        self.fails(2, "--noise", "view", data[0], "-o", self.out / "m.html", "--noise", data[0])
        self.fails(12, "toast_format_version", "view", self.out / "hdf5", "-o", self.out / "m.html", "--noise", self.out / "hdf5/hits.h5")
        self.assertFalse((self.out / "m").exists() or (self.out / "m.html").exists())

    def test_a_page_replaces_no_map(self):
        maps = self.out / "maps"
        self.ok("map", *self.observations, "-o", maps, *MAPS, "--json", self.out / "maps.json", "--quiet")
        (self.out / "maps.json").rename(maps / "summary.json")
        for name in ("map.fits", "hits.fits", "summary.json"):
            before = (maps / name).read_bytes()
            self.fails(2, "is an input", "view", maps, "-o", maps / name)
            self.fails(2, "is an input", "view", maps / "binned.fits", "-o", maps / name, "--with", maps)
            self.assertEqual((maps / name).read_bytes(), before)
        for _ in range(2):
            self.ok("view", maps, "-o", maps / "page.html", "--quiet")

    def test_nothing_is_begun_where_a_file_is_to_stay_or_is_an_input(self):
        data, maps = self.out / "data", self.out / "maps"
        self.ok("simulate", "-o", data, "--maps", maps, *SMALL, *MAPS, "--quiet")
        one = sorted(data.glob("*.h5"))[0]
        before = {path: path.read_bytes() for path in (*data.iterdir(), *maps.iterdir())}
        for asked in (("map", one, "-o", self.out / "m", *MAPS, "--json", one),
                      ("map", one, "-o", maps, *MAPS, "--json", maps / "map.fits"),
                      ("simulate", "-o", data, *SMALL, "--focal-plane", one),
                      ("simulate", "--maps", maps, *SMALL, *MAPS, "--sky", maps / "map.fits"),
                      ("compare", maps / "map.fits", maps / "binned.fits", "--json", maps / "map.fits"),
                      ("view", maps / "map.fits", "-o", maps / "map.fits")):
            self.fails(2, "put", *asked)  # an input, or two outputs
        for wish in (("--partial", "--wcs", "car:0,0,10,10,1"), ("--prior", "--method", "gls"), ("--ground-split",)):
            self.fails(2, "expected", "simulate", "-o", self.out / "new", "--maps", self.out / "m", *SMALL, *MAPS, *wish)
        for name in ("rcond", "invcov", "cov", "binned", "hits"):
            (maps / f"{name}.fits").unlink()
        self.fails(32, "map.fits: exists", "map", one, "-o", maps, *MAPS, "--no-clobber")
        self.fails(32, "map.fits: exists", "simulate", "-o", self.out / "new", "--maps", maps, *SMALL, *MAPS, "--no-clobber")
        one.unlink()
        self.fails(32, "exists", "simulate", "-o", data, *SMALL, "--no-clobber")
        self.assertFalse((self.out / "new").exists() or (self.out / "m").exists() or one.exists())
        for path in (*data.iterdir(), *maps.iterdir()):
            self.assertEqual(path.read_bytes(), before[path], path)

    def test_a_sky_of_other_coordinates_is_told_of(self):
        self.ok("simulate", "--maps", self.out / "sky", *SMALL, *MAPS, "--frame", "equatorial", "--quiet")
        sky = ("--sky", self.out / "sky/binned.fits", "--quiet")
        done = self.ok("simulate", "--maps", self.out / "m", *SMALL, *MAPS, *sky)
        self.assertIn("COORDSYS C, and the scan is in E", done.stderr)
        self.assertNotIn("COORDSYS", self.ok("simulate", "--maps", self.out / "m", *SMALL, *MAPS, *sky, "--frame", "equatorial").stderr)

    def test_samples_that_are_no_numbers_are_warned_of(self):
        raw = bytearray(self.observations[0].read_bytes())

        def is_noise(at):  # times and quaternions are larger
            return 1e-9 < abs(struct.unpack_from("<d", raw, at)[0]) < 1e-2
        first = next(at for at in range(len(raw) - 8000) if all(is_noise(at + 8 * i) for i in range(1000)))
        struct.pack_into("<7d", raw, first, *(7 * [float("nan")]))
        other = self.out / "other.h5"
        other.write_bytes(raw)
        said = self.ok("map", other, "-o", self.out / "maps", *MAPS).stderr
        self.assertRegex(said, r"WARNING: 7 of 42000 samples are no numbers, or beyond 1e30 K, and no flag says so: left out\n")
        said = self.ok("map", self.observations[0], "-o", self.out / "maps", *MAPS).stderr
        self.assertNotIn("WARNING", said)

    def test_a_file_that_is_no_observation_is_told_what_it_seems_to_be(self):
        self.ok("map", self.observations[0], "-o", self.out / "maps", *MAPS, "--format", "hdf5", "--quiet")
        self.fails(12, "map.h5: no observation of TOAST (no attribute toast_format_version): it seems to be a map", "map", self.out / "maps/map.h5", "-o", self.out / "m", *MAPS)

    def test_maps_are_in_the_coordinates_that_the_observations_say(self):
        other = self.out / "c"
        self.ok("simulate", "-o", other, *SMALL, "--frame", "equatorial", "--realization", 2, "--start", 1e9, "--quiet")
        for files, options, frame, told in ((self.observations, (), "E", 0), (self.observations, ("--coord", "g"), "G", 2),
                                            ([*self.observations, *other.glob("*.h5")], (), "E", 2), (other.glob("*.h5"), (), "C", 0)):
            said = self.ok("map", *files, "-o", self.out / "maps", *MAPS, *options).stderr
            self.assertEqual(read_map(self.out / "maps/map.fits")[1]["COORDSYS"], frame)
            self.assertEqual(said.count(f", the maps' COORDSYS is {frame}\n"), told, said)

    def test_destriping_takes_stripes_away(self):
        noise = ("--fknee", 1, "--fmin", 1e-4, "--slope", 2)
        self.ok("simulate", "--maps", self.out, *SMALL, *MAPS, *noise, "--quiet")
        spread = {}
        for name in ("binned", "map"):
            sky, _ = read_map(self.out / f"{name}.fits")
            values = [row[0] for row in sky if row[0] > -1e29]
            mean = sum(values) / len(values)
            spread[name] = sum((v - mean) ** 2 for v in values) ** 0.5
        self.assertLess(spread["map"], 0.5 * spread["binned"])

    def test_filters_are_those_of_stored_data_and_of_data_that_were_never_stored(self):
        filters = ("--poly-order", 3, "--common-mode")
        self.ok("map", *self.observations, "-o", self.out / "stored", *MAPS, *filters, "--coord", "E", "--quiet",
                "--json", self.out / "s.json")
        self.ok("simulate", "--maps", self.out / "direct", *SMALL, *MAPS, *filters, "--quiet", "--threads", 2)
        for name in NAMES:
            self.assertEqual((self.out / f"stored/{name}.fits").read_bytes(),
                             (self.out / f"direct/{name}.fits").read_bytes(), name)
        summary = json.loads((self.out / "s.json").read_text())
        self.assertEqual(summary["options"]["poly_order"], "3")
        self.assertEqual(summary["data"]["unfitted_stretches"], 0)

    def test_noise_that_is_flagged_as_glitches_is_told_of(self):
        few, many = (self.ok("map", *self.observations, "-o", self.out, *MAPS, "--deglitch", 3, "--deglitch-window", window).stderr
                     for window in (5, 101))
        self.assertIn("samples are flagged as glitches: so many are noise", few)
        self.assertNotIn("so many", many)

    def test_a_half_wave_plate_is_in_the_files_and_in_the_maps(self):
        plate = ("--hwp-rpm", 61)
        self.ok("simulate", "-o", self.out / "data", *SMALL, *plate, "--quiet")
        data = sorted((self.out / "data").glob("*.h5"))
        self.ok("map", *data, "-o", self.out / "stored", *MAPS, "--coord", "E", "--quiet")
        self.ok("map", *data, "-o", self.out / "blind", *MAPS, "--coord", "E", "--hwp-angle", "none", "--quiet")
        self.ok("simulate", "--maps", self.out / "direct", *SMALL, *MAPS, *plate, "--quiet")
        for name in NAMES:
            direct = (self.out / f"direct/{name}.fits").read_bytes()
            self.assertEqual((self.out / f"stored/{name}.fits").read_bytes(), direct, name)
            if name != "hits":
                self.assertNotEqual((self.out / f"blind/{name}.fits").read_bytes(), direct, name)

    def test_a_part_is_what_its_own_data_give(self):
        self.ok("map", *self.observations, "-o", self.out / "all", *MAPS, "--split", "observations", "--quiet")
        self.ok("map", *self.observations, "-o", self.out / "whole", *MAPS, "--quiet")
        for name in NAMES:
            self.assertEqual((self.out / f"all/{name}.fits").read_bytes(),
                             (self.out / f"whole/{name}.fits").read_bytes(), name)
        for number, data in enumerate(self.observations, 1):
            self.ok("map", data, "-o", self.out / "one", *MAPS, "--quiet")
            for name in ("hits", "rcond", "invcov", "cov", "binned"):
                self.assertEqual((self.out / f"all/part{number}_{name}.fits").read_bytes(),
                                 (self.out / f"one/{name}.fits").read_bytes(), name)

    def test_parts_weighted_are_the_whole(self):
        for split, parts in (("detectors", 2), ("time=3", 3)):
            out = self.out / split
            self.ok("simulate", "--maps", out, *SMALL, *MAPS, "--rcond", 1e-4, "--split", split, "--type", "float64",
                    "--fknee", 1, "--fmin", 1e-3, "--json", out.with_suffix(".json"), "--quiet")
            self.assertEqual(len(json.loads(out.with_suffix(".json").read_text())["parts"]), parts)
            prefixes = [""] + [f"part{i + 1}_" for i in range(parts)]
            weights = [read_map(out / f"{p}invcov.fits", "d", 6)[0] for p in prefixes]
            for name in ("binned", "map"):
                maps = [read_map(out / f"{p}{name}.fits", "d")[0] for p in prefixes]
                compared = 0
                for at in range(len(maps[0])):
                    if any(m[at][0] < -1e29 < w[at][0] for w, m in zip(weights, maps)) or weights[0][at][0] < -1e29:
                        continue  # hit, but cut
                    compared += 1
                    sums = []
                    for w, m in zip(weights, maps):
                        if w[at][0] < -1e29:
                            sums.append((0, 0, 0))
                            continue
                        ii, iq, iu, qq, qu, uu = w[at]
                        i, q, u = m[at]
                        sums.append((ii * i + iq * q + iu * u, iq * i + qq * q + qu * u, iu * i + qu * q + uu * u))
                    for k in range(3):
                        self.assertAlmostEqual(sum(s[k] for s in sums[1:]) / weights[0][at][0], sums[0][k] / weights[0][at][0],
                                               delta=1e-12)
                self.assertGreater(compared, 500)

    def test_memory_is_planned_and_the_plan_is_kept(self):
        # on two processors, that each have their own samples at hand; less memory is one of them less
        data = ("--pixels", 7, "--minutes", 30, "--rate", 50, "--nside", 64, "--step", 30, "--threads", 2, "--iterations", 5)
        told = {}
        for name, more in (("free", ()), ("much", ("--memory", "2G"))):
            self.ok("simulate", "--maps", self.out / name, *data, *more, "--json", self.out / f"{name}.json", "--quiet")
            told[name] = json.loads((self.out / f"{name}.json").read_text())["memory"]
        self.assertEqual(told["free"]["planned_bytes"], 0)
        planned = told["much"]["planned_bytes"]
        self.keeps_to("planned_bytes", told["much"])
        self.ok("simulate", "--maps", self.out / "less", *data, "--memory", planned - 2000000, "--quiet")
        for name in NAMES:
            free = (self.out / f"free/{name}.fits").read_bytes()
            self.assertEqual((self.out / f"much/{name}.fits").read_bytes(), free)
            self.assertEqual((self.out / f"less/{name}.fits").read_bytes(), free)
        self.ok("simulate", "--maps", self.out / "gls", *data, "--method", "gls", "--split", "detectors", "--memory", "2G", "--json",
                self.out / "gls.json", "--quiet")
        self.keeps_to("planned_bytes", json.loads((self.out / "gls.json").read_text())["memory"])
        self.fails(61, "--memory", "simulate", "--maps", self.out / "none", *data, "--memory", "10M")
        self.assertFalse((self.out / "none").exists())
        self.fails(61, "--memory", "map", *self.observations, "-o", self.out / "none", *MAPS, "--memory", "1M")
        self.fails(2, "", "map", *self.observations, "-o", self.out / "none", "--memory", "much")

    def test_the_common_mode_is_no_longer_in_the_map(self):
        # all detectors see the same sky without polarisation: hardly anything of 1/f noise is common, so an
        # observation of one pair is: its mean is taken out of both, and I vanishes
        pair = ("--pixels", 1, "--rate", 5, "--spin-period", 1.3, "--prec-period", 17, "--minutes", 30)
        for more in ((), ("--common-mode",)):
            self.ok("simulate", "--maps", self.out / str(len(more)), *pair, "--nside", 4, "--binned-only", "--rcond", 1e-3,
                    *more, "--quiet")
        spread = []
        for name in "01":
            sky, _ = read_map(self.out / name / "binned.fits")
            spread.append(max(abs(row[0]) for row in sky if row[0] > -1e29))
        self.assertLess(spread[1], 0.2 * spread[0])

    def test_detectors_of_a_file_are_those_that_it_was_made_with(self):
        self.ok("simulate", "--maps", self.out, *SMALL, "--focal-plane", self.observations[0], "--quiet", "--width", 1)
        self.ok("simulate", "--maps", self.out / "hexagon", *SMALL, "--quiet")
        for name in NAMES:
            self.assertEqual((self.out / f"{name}.fits").read_bytes(), (self.out / f"hexagon/{name}.fits").read_bytes())

    def test_the_dipole_is_where_the_sun_goes(self):
        # of the sky alone there is the dipole alone: 3.36 mK toward ecliptic (172, -11) degrees; the scan looks the other way
        self.ok("simulate", "--maps", self.out, *SMALL, "--nside", 8, "--binned-only", "--rcond", 1e-3, "--no-noise", "--dipole", "solar",
                "--quiet")
        sky, _ = read_map(self.out / "binned.fits")
        values = [row[0] for row in sky if row[0] > -1e29]
        self.assertLess(min(values), -3.2e-3)
        self.assertGreater(min(values), -3.37e-3)
        self.assertLess(max(values), 2.5e-3)
        self.fails(2, "--dipole", "simulate", "--maps", self.out / "m", "--dipole", "lunar")

    def test_the_number_of_threads_does_not_show(self):
        for threads in (1, 2):
            self.ok("map", *self.observations, "-o", self.out / str(threads), *MAPS, "--threads", threads, "--quiet")
        for name in NAMES:
            self.assertEqual((self.out / f"1/{name}.fits").read_bytes(), (self.out / f"2/{name}.fits").read_bytes())

    def test_an_emulated_card_gives_the_same_maps(self):
        first, more = self.observations[0], (*MAPS, "--iterations", 20, "--quiet")
        for name, more_still in (("cpu", ()), ("card", ("--backend", "emulate"))):
            # loops without fused multiply-adds, as emulated kernels are: the same bytes
            done = self.program("map", first, "-o", self.out / name, *more, *more_still, env={"FIBERLOOM_ISA": "generic"})
            if done.returncode in (2, 15):  # neither need be built
                self.skipTest(done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in NAMES:
            self.assertEqual((self.out / f"card/{name}.fits").read_bytes(), (self.out / f"cpu/{name}.fits").read_bytes(), name)
        told = self.ok("map", first, "-o", self.out / "binned", *MAPS, "--binned-only", "--backend", "emulate").stderr
        self.assertIn("samples are pointed and compressed on CPU emulation", told)
        self.assertEqual((self.out / "binned/hits.fits").read_bytes(), (self.out / "cpu/hits.fits").read_bytes())
        self.fails(2, "--backend", "map", first, "-o", self.out / "no", "--backend", "opencl")
        self.fails(2, "--method gls with --backend", "map", first, "-o", self.out / "no", "--backend", "emulate", "--method", "gls")
        if not pathlib.Path("/dev/nvidiactl").exists():
            self.fails(60, "", "map", first, "-o", self.out / "no", *more, "--backend", "cuda")
            self.assertFalse((self.out / "no").exists())

    def test_ring_is_the_same_map_in_another_order(self):
        for ordering in ("nested", "ring"):
            self.ok("map", *self.observations, "-o", self.out / ordering, *MAPS, "--ordering", ordering, "--quiet")
        nested, _ = read_map(self.out / "nested/map.fits")
        ring, cards = read_map(self.out / "ring/map.fits")
        self.assertEqual(cards["ORDERING"], "RING")
        self.assertEqual(sorted(nested), sorted(ring))
        self.assertNotEqual(nested, ring)

    def test_info_says_what_files_hold(self):
        self.ok("map", self.observations[0], "-o", self.out, *MAPS, "--quiet")
        said = self.ok("info", self.observations[0], self.out / "map.fits").stdout
        self.assertIn("detectors        14", said)
        self.assertIn("rate             5 Hz", said)
        self.assertIn("Nside            16", said)


class Faults(Case):
    def test_each_has_its_code_and_one_line(self):
        out = ("-o", self.out / "maps")
        first = self.observations[0]
        self.fails(10, "nothing.h5", "map", self.out / "nothing.h5", *out)
        text = self.out / "text.h5"
        text.write_text("no HDF5")
        self.fails(14, "text.h5", "map", text, *out)
        cut = self.out / "cut.h5"
        cut.write_bytes(first.read_bytes()[:20000])
        self.fails(14, "cut.h5", "map", cut, *out)
        self.fails(11, "detdata/tod", "map", first, *out, "--signal", "tod")
        for option, what in (("--det-flags", "detdata/flaggs"), ("--shared-flags", "shared/flaggs"), ("--hwp-angle", "shared/flaggs")):
            self.fails(11, f"no data set {what}", "map", first, *out, option, "flaggs")
        self.fails(11, "intervals/throw", "map", first, *out, "--intervals", "throw")
        copy = self.out / "copy.h5"
        copy.write_bytes(first.read_bytes())
        self.fails(2, "would count twice", "map", first, copy, *out)
        twice = first.read_bytes().replace(b'["D0A-150","D0B-150"', b'["D0A-150","D0A-150"')
        self.assertNotEqual(twice, first.read_bytes())
        copy.write_bytes(twice)
        self.fails(14, "D0A-150 is there twice", "map", copy, *out)
        for options, what in ((("--ground-order", 3, "--ground-bins", 2), "--ground-order with --ground-bins"),
                              (("--binned-only", "--prior"), "--prior with --binned-only"), (("--correlation", 5), "--method gls"),
                              (("--nside", 32, "--wcs", "car:0,0,360,120,6"), "--wcs with --nside"), (("--deglitch-window", 11), "--deglitch,"), (("--deglitch-radius", 2), "--deglitch,")):
            self.fails(2, what, "map", first, *out, *options)
        self.fails(2, "--wcs with --ordering", "map", first, "-o", self.out / "m", "--wcs", "car:0,0,360,120,6", "--ordering", "ring")
        self.fails(2, "named twice", "map", first, f"{first.parent}/../{first.parent.name}/{first.name}", *out)
        self.fails(20, "Nside 48", "map", first, *out, "--nside", 48)
        self.fails(21, "metadata/none", "map", first, *out, "--noise-model", "none")
        # a pair of detectors that crosses each pixel once
        once = ("--pixels", 1, "--minutes", 1, "--rate", 5, "--spin-period", 1.3)
        self.fails(22, "cut", "simulate", "--maps", self.out / "m", *once, "--nside", 2048)
        self.fails(2, "--nside", "map", first, *out, "--nside", 0)
        for order in ("31", "-1", "2.5", "x"):
            self.fails(2, "expected none, or 0 to 30", "map", first, *out, f"--poly-order={order}")
        self.fails(2, "--split", "map", first, *out, "--split", "time=1")
        gls = ("map", first, *out, "--method", "gls")
        for other in ("--prior", "--binned-only"):
            self.fails(2, f"--method gls with {other}", *gls, other)
        for seconds in ("-1", "nan", "1e7", "x", ""):
            self.fails(2, "--correlation", *gls, f"--correlation={seconds}")
        self.fails(2, "--method", "map", first, *out, "--method", "best")
        self.fails(2, "--preconditioner", "map", first, *out, "--preconditioner", "two-level")
        for grid in ("", "car:", "car:1,2,3,4", "tan:0,0,1,1,0", "tan:0,0,1,1,inf", "car:0,90,10,10,1", "mol:0,0,1,1,0.1", "car:0,0,9,9,1e-5"):
            self.fails(2, "--wcs", "map", first, *out, f"--wcs={grid}")
        for option, value in (("--deglitch", "-1"), ("--deglitch", "nan"), ("--deglitch-window", "3"), ("--deglitch-radius", "x")):
            self.fails(2, option, "map", first, *out, f"{option}={value}")
        self.fails(2, "--split observations", "map", first, *out, "--split", "observations")
        for more in ((), ("--prior",)):
            self.fails(2, "shorter than a sample", "map", first, *out, "--step", 0.001, *more)
        self.fails(2, "-o, --maps", "simulate", "--quiet")
        for option in (("--nside", 16), ("--binned-only",), ("--deglitch", 5)):
            self.fails(2, f"{option[0]}: expected --maps", "simulate", "-o", self.out / "m", *SMALL, *option)
        self.fails(2, "fill no hexagon", "simulate", "--maps", self.out / "m", "--pixels", 8)
        self.fails(21, "fknee", "simulate", "--maps", self.out / "m", "--fmin", 1, "--fknee", 0.1)
        self.fails(10, "plane.h5", "simulate", "--maps", self.out / "m", "--focal-plane", self.out / "plane.h5")
        self.fails(14, "text.h5", "simulate", "--maps", self.out / "m", "--focal-plane", text)
        self.fails(10, "none.fits", "simulate", "--maps", self.out / "m", "--sky", self.out / "none.fits")
        self.assertFalse((self.out / "maps").exists())

    def test_nothing_is_replaced_unasked(self):
        self.ok("map", self.observations[0], "-o", self.out, *MAPS, "--quiet")
        before = (self.out / "hits.fits").read_bytes()
        self.fails(32, "hits.fits", "map", *self.observations, "-o", self.out, *MAPS, "--no-clobber")
        self.assertEqual((self.out / "hits.fits").read_bytes(), before)

    def test_an_interrupted_run_leaves_no_part_of_a_file(self):
        run = subprocess.Popen([PROGRAM, "simulate", "-o", self.out, "--minutes", "60", "--pixels", "91", "--quiet"],
                               stderr=subprocess.PIPE, text=True, env=os.environ)
        time.sleep(0.5)
        run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 50, errors)
        self.assertEqual(list(self.out.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
