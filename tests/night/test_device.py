# SPDX-License-Identifier: BSD-3-Clause
"""Nights on a device, emulated: the bytes of one frame alone, no frame that waits for another for ever."""
import unittest

from night_case import Case

EMULATE = ["--backend", "emulate"]
ONE_PLACE = ["--gpu-memory", "0.03"]  # a frame needs 24 MiB


class Device(Case):
    def extracted_by_device(self):
        return {str(self.frame_path(camera, 1).relative_to(self.out)): self.extracted(camera, 1, *EMULATE)
                for camera in ("b0", "r0", "z0")}

    def test_every_frame_has_the_bytes_of_extract_for_any_threads_and_places(self):
        self.tree.add_exposures(1)
        expected = self.extracted_by_device()
        for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "1", *ONE_PLACE]):
            self.out = self.work / "-".join(more)
            self.night_ok("-q", *EMULATE, *more, timeout=60)
            self.assertEqual(self.outputs(), expected, more)
            self.assert_tidy()


if __name__ == "__main__":
    unittest.main()
