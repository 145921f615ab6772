# SPDX-License-Identifier: BSD-3-Clause
"""A night that is taken to redshifts while its frames arrive ends with the bytes of one that was there as a whole."""
import json
import pathlib
import shutil
import subprocess
import time
import unittest

from test_chain import CLEAN, FIELDS, LAMPS, NIGHT, PROGRAM, Chain, fiberloom


FEW = ("--cameras", "b0,r0")
WATCH = ("--watch", "--poll", "0.1", "--settle", "0.4", "--watch-idle", "4")


class Watch(Chain):
    few = FEW
    expected = None  # of all at once

    def setUp(self):
        super().setUp()
        self.here = self.own_raw()
        if Watch.expected is None:
            self.night("-q", *self.few, raw=self.here)
            Watch.expected = self.outputs()
        self.out = self.work / f"watched-{self.id().rsplit('.', 1)[-1]}"
        self.later = pathlib.Path(shutil.move(self.here / NIGHT, self.out.with_suffix(".later")))
        self.addCleanup(shutil.rmtree, self.out, True)
        self.addCleanup(shutil.rmtree, self.later, True)
        (self.here / NIGHT).mkdir()
        for psf in self.later.glob("psf-*.fits"):
            shutil.copy(psf, self.here / NIGHT)

    def start(self):
        self.summary_path = self.work / "watch.json"
        words = self.command(*self.few, "-q", "--threads", "2", *WATCH, "--json", self.summary_path, raw=self.here)
        return subprocess.Popen([PROGRAM, *map(str, words)], env=CLEAN, stderr=subprocess.PIPE, text=True)

    def arrive(self, *exposures):
        for expid in exposures:
            shutil.copytree(self.later / f"{expid:08d}", self.here / NIGHT / f"{expid:08d}")

    def wait_for(self, what, process, seconds=240):
        end = time.monotonic() + seconds
        while not what():
            self.assertIsNone(process.poll(), "it has ended too early")
            self.assertLess(time.monotonic(), end, "waited in vain")
            time.sleep(0.05)

    def end(self, process, code=0):
        _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, errors)
        self.assertEqual(sorted(self.outputs()), sorted(self.expected))
        self.assertEqual([name for name, data in self.outputs().items() if data != self.expected[name]], [])
        self.assert_tidy()
        tasks = json.loads(self.summary_path.read_text())["tasks"]
        self.assertEqual(len({t["name"] for t in tasks}), len(tasks), "a task that is done again is one task")

    def test_redshifts_are_provisional_until_the_last_exposure_and_the_last_lamp_have_come(self):
        process = self.start()
        self.arrive(LAMPS[0], FIELDS[0])
        self.wait_for(self.coadd("redrock").exists, process)
        provisional = self.coadd("redrock").read_bytes()
        self.arrive(FIELDS[1])
        self.wait_for(lambda: self.coadd("redrock").read_bytes() != provisional, process)
        self.arrive(LAMPS[1])
        self.end(process)
        again = self.summary(*self.few, raw=self.here)
        self.assertEqual(again["counts"]["up_to_date"], again["counts"]["tasks"])
        why = json.loads(fiberloom("status", self.out, "--why", self.coadd().stem, "--json", "-").stdout)
        self.assertEqual((why["state"], len(why["inputs"])), ("done", 4))
        self.assertGreater(len(why["attempts"]), 1, "it was made of fewer before")

    def test_a_frame_that_is_still_written_holds_its_exposure_back_and_a_copy_that_paused_is_mended(self):
        process = self.start()
        self.arrive(*LAMPS, FIELDS[0])
        last = self.here / NIGHT / f"{FIELDS[1]:08d}"
        last.mkdir()
        for path in sorted((self.later / last.name).iterdir()):
            data = path.read_bytes()
            with open(last / path.name, "wb") as file:
                for start in range(0, len(data) // 2, 1 + len(data) // 8):
                    file.write(data[start:min(start + 1 + len(data) // 8, len(data) // 2)])
                    file.flush()
                    time.sleep(0.1)
        self.wait_for((self.out / f".fiberloom/failed/b0-{FIELDS[1]:08d}.json").exists, process)
        for path in sorted((self.later / last.name).iterdir()):
            with open(last / path.name, "ab") as file:
                file.write(path.read_bytes()[path.stat().st_size // 2:])
        self.end(process)


class WhatMakesNoSense(Chain):
    def test_a_watch_of_one_step_makes_no_sense(self):
        result = fiberloom(*self.command("-q", "--only", "sky", *WATCH, until=None), code=2)
        self.assertIn("--watch makes what is not there yet", result.stderr)


if __name__ == "__main__":
    unittest.main()
