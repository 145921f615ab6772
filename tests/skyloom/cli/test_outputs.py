# SPDX-License-Identifier: BSD-3-Clause
"""What lies in the folders of maps and observations: of one run, whole, or what was there before."""
import resource
import signal
import subprocess
import unittest

from run_skyloom import MAPS, PROGRAM, SMALL, Case


class Outputs(Case):
    def test_a_run_that_cannot_write_a_map_leaves_those_that_were_there(self):
        """As on a full disk: hits.fits has 20 kB, invcov.fits 80."""
        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
        for form in ("fits", "hdf5"):
            maps, asked = self.out / form, ("-o", self.out / form, *MAPS, "--format", form, "--split", "detectors", "--quiet")
            command = [PROGRAM, *map(str, ("map", self.observations[0], *asked))]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=small_disk)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (31, 1), done.stderr)
            self.assertFalse(maps.exists())
            self.ok("map", *self.observations, *asked)
            before = {path: path.read_bytes() for path in maps.iterdir()}
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=small_disk)
            self.assertEqual(done.returncode, 31, done.stderr)
            self.assertEqual({path: path.read_bytes() for path in maps.iterdir()}, before)

    def test_a_summary_that_would_be_a_folder_is_told_of_before_anything_is_done(self):
        (self.out / "there").mkdir()
        for path in (self.out / "there", f"{self.out}/new/"):
            self.fails(30, "directory", "map", *self.observations, "-o", self.out / "m", *MAPS, "--json", path)
            self.fails(30, "directory", "simulate", "--maps", self.out / "m", *SMALL, *MAPS, "--json", path)
        self.fails(30, "directory", "map", *self.observations, "-o", self.out / "m", *MAPS, "--checkpoint", f"{self.out}/new/")
        self.assertEqual([path.name for path in self.out.iterdir()], ["there"])

    def test_a_name_that_is_empty_is_no_name(self):
        """As of a script's variable that was not set: the file would be missed in the end, or lie in the root folder."""
        maps = ("map", *self.observations, "-o", self.out / "m", *MAPS)
        for option in ("--obs-matrix", "--json", "--checkpoint", "--output", "--memory"):
            self.fails(2, f"{option}: expected a value, got an empty text", *maps, f"{option}=")
        for option in ("--maps", "--output", "--sky", "--focal-plane", "--json"):
            self.fails(2, f"{option}: expected a value, got an empty text", "simulate", "-o", self.out / "d", *SMALL, option, "")
        self.assertEqual(list(self.out.iterdir()), [])

    def test_what_float32_has_no_room_for_is_no_infinity_and_no_zero(self):
        few = (*SMALL[:-1], 1, "--step", 10, "--rcond", 1e-3, "--iterations", 1, "--quiet")
        grids = (("--nside", 16), ("--nside", 16, "--format", "hdf5"), ("--wcs", "car:0,0,360,180,4"))
        for net in (1e-22, 1e22):
            for grid in grids:
                with self.subTest(net=net, grid=grid):
                    maps = self.out / "maps"
                    said = self.fails(15, "float32", "simulate", "--maps", maps, *few, "--net", net, *grid).stderr
                    self.assertIn("/invcov.", said)
                    self.assertFalse(maps.exists())
            self.fails(15, "float32", "simulate", "-o", self.out / "data", *SMALL, "--net", net)
            self.assertFalse((self.out / "data").exists())
            self.ok("simulate", "--maps", self.out / f"wide{net}", *few, "--net", net, *grids[0], "--type", "float64")

    def test_maps_of_an_earlier_run_in_the_folder_are_told_of(self):
        maps = self.out / "maps"
        said = self.ok("map", *self.observations, "-o", maps, *MAPS, "--split", "detectors").stderr
        self.assertNotIn("another run", said)
        said = self.ok("map", self.observations[0], "-o", maps, *MAPS, "--binned-only").stderr
        self.assertIn("map.fits, part1_binned.fits and 11 more there are of another run", said)
        said = self.ok("map", self.observations[0], "-o", maps, *MAPS, "--split", "detectors").stderr
        self.assertNotIn("another run", said)
        for path in maps.glob("part*"):
            path.unlink()
        (maps / "part9_map.h5").write_text("")
        said = self.ok("map", self.observations[0], "-o", maps, *MAPS).stderr
        self.assertIn("part9_map.h5 there is of another run", said)

    def test_observations_of_an_earlier_run_in_the_folder_are_told_of(self):
        few = (*SMALL[:-1], 1)
        self.assertNotIn("another run", self.ok("simulate", "-o", self.out, *SMALL).stderr)
        (self.out / "mine.h5").write_text("")
        self.assertIn("satellite_000001.h5 there is of another run", self.ok("simulate", "-o", self.out, *few).stderr)
        self.assertNotIn("another run", self.ok("simulate", "-o", self.out, *SMALL).stderr)


if __name__ == "__main__":
    unittest.main()
