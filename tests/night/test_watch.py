# SPDX-License-Identifier: BSD-3-Clause
"""Near real time: exposures are taken as they are completed on disk, until told to stop."""
import json
import signal
import time
import unittest

from night_case import Case, finish

WATCH = ["--watch", "--poll", "0.05", "--settle", "0.3"]


class Watch(Case):
    def test_takes_what_comes_and_ends_on_term(self):
        self.tree.root.mkdir()
        process = self.start("-q", *WATCH)
        for exposure in (1, 2):
            for camera in ("b0", "r0"):
                self.tree.add(camera, exposure)
            self.wait_for(lambda: self.frame_path("r0", exposure).exists()
                          and self.frame_path("b0", exposure).exists())
        self.assertFalse(json.loads((self.out / "status.json").read_text())["finished"])
        process.send_signal(signal.SIGTERM)
        _, errors = finish(process, 60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.frame_path("r0", 2).read_bytes(), self.extracted("r0", 2))
        self.assertTrue(json.loads((self.out / "status.json").read_text())["finished"])
        self.assert_tidy()

    def test_newest_first_when_behind(self):
        self.tree.add_exposures(5, cameras=("r0",))
        summary = self.summary(*WATCH, "--watch-idle", "0.5", "--threads", "1")
        frames = sorted(summary["frames"], key=lambda f: f["start_s"])
        self.assertEqual([f["expid"] for f in frames], [5, 4, 3, 2, 1])

    def test_a_file_that_is_still_written_is_left_alone(self):
        data = self.tree.image_bytes(1)
        self.tree.add("r0", 1, image=data[:50000])
        process = self.start("-q", *WATCH, "--watch-idle", "1")
        with open(self.tree.image_path("r0", 1), "ab") as file:
            for start in range(50000, len(data), 10000):
                time.sleep(0.1)
                file.write(data[start:start + 10000])
                file.flush()
        _, errors = finish(process, 60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.frame_path("r0", 1).read_bytes(), self.extracted("r0", 1))
        self.assertEqual(self.names("failed"), [])

    def test_a_bad_frame_does_not_end_the_watch(self):
        self.tree.add("r0", 1, image=b"bad")
        self.tree.add("r0", 2)
        summary = self.summary(*WATCH, "--watch-idle", "0.5", code=3)
        self.assertEqual({f["expid"]: f["state"] for f in summary["frames"]},
                         {1: "failed", 2: "done"})

    def test_a_full_disk_ends_the_watch(self):
        self.tree.add("r0", 1)
        for _ in range(4):  # when the reader looks is chance
            process = self.start("-q", *WATCH, file_limit=60000)
            _, errors = finish(process, 60)
            self.assertEqual(process.returncode, 31, errors)

    def test_what_is_done_already_is_known(self):
        self.tree.add_exposures(2)
        self.counts()
        self.assertEqual(self.counts(*WATCH, "--watch-idle", "0.5"), {"up_to_date": 6})


if __name__ == "__main__":
    unittest.main()
