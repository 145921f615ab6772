# SPDX-License-Identifier: BSD-3-Clause
"""Near real time: exposures are taken as they are completed on disk, until told to stop."""
import json
import os
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

    def watch_failing(self, *more):
        """A watch, once it has found half a file and put it into quarantine."""
        data = self.tree.image_bytes(1)
        self.path = self.tree.add("r0", 1, image=data[:len(data) // 2])
        process = self.start("-q", *WATCH, *more)
        self.wait_for(lambda: self.names("failed") == ["r0-00000001.json"])
        time.sleep(0.5)  # several looks at what has not changed
        self.assertEqual(json.loads(self.state("failed", "r0-00000001.json").read_text())["attempts"], 1)
        return process

    def end(self, process):
        self.wait_for(lambda: self.frame_path("r0", 1).exists())
        process.send_signal(signal.SIGTERM)
        _, errors = finish(process, 60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.frame_path("r0", 1).read_bytes(), self.extracted("r0", 1))
        self.assertEqual(self.names("failed"), [])
        self.assert_tidy()

    def test_a_slow_copy_that_paused_is_taken_when_it_is_whole(self):
        process = self.watch_failing()
        data = self.tree.image_bytes(1)
        with open(self.path, "ab") as file:
            file.write(data[len(data) // 2:])
        self.end(process)

    def test_a_truncated_file_that_is_replaced_by_renaming_is_taken(self):
        process = self.watch_failing()
        whole = self.path.with_name("whole")
        whole.write_bytes(self.tree.image_bytes(1))
        whole.rename(self.path)
        self.end(process)

    def test_content_that_is_replaced_under_the_same_size_and_time_is_taken(self):
        data = self.tree.image_bytes(1)
        path = self.tree.add("r0", 1, image=data[:20000] + bytes(len(data) - 20000))
        process = self.start("-q", *WATCH)
        self.wait_for(lambda: self.names("failed") == ["r0-00000001.json"])
        stat = path.stat()
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.end(process)

    def test_what_the_machine_failed_is_tried_again_by_itself(self):
        self.frame_path("r0", 1).mkdir(parents=True)  # what is to be replaced is no file
        self.tree.add("r0", 1)
        process = self.start("-q", *WATCH)
        self.wait_for(lambda: self.names("failed") == ["r0-00000001.json"])
        self.frame_path("r0", 1).rmdir()
        self.end(process)

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
