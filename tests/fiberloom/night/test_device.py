# SPDX-License-Identifier: BSD-3-Clause
"""Nights on a device, emulated: the bytes of one frame alone, no frame that waits for another for ever."""
import re
import unittest

from night_case import Case

EMULATE = ["--backend", "emulate"]
TOO_SMALL = ["--gpu-memory", "0.001"]


class Device(Case):
    def extracted_by_device(self):
        return {str(self.frame_path(camera, 1).relative_to(self.out)): self.extracted(camera, 1, *EMULATE)
                for camera in ("b0", "r0", "z0")}

    def one_place(self):
        """Options with memory for one frame, not for two."""
        self.out = self.work / "too-small"
        told = self.night_ok("-q", *EMULATE, *TOO_SMALL, code=3).stderr_text
        needed = int(re.search(r"needs at least (\d+) MiB", told).group(1)) + 1
        return ["--gpu-memory", str(1.5 * needed * 2**20 / 1e9)]

    def test_every_frame_has_the_bytes_of_extract_for_any_threads_and_places(self):
        self.tree.add_exposures(1)
        expected = self.extracted_by_device()
        for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "1", *self.one_place()]):
            self.out = self.work / "-".join(more)
            self.night_ok("-q", *EMULATE, *more, timeout=60)
            self.assertEqual(self.outputs(), expected, more)
            self.assert_tidy()

    def test_the_summary_tells_the_device_and_what_the_cpu_took_over(self):
        self.tree.add("r0", 1)
        summary = self.summary(*EMULATE, "--on-device-error", "cpu", command="expose")
        self.assertRegex(summary["device"]["name"], "^CPU emulation")
        self.assertEqual(summary["taken_over_by_cpu"],
                         {"frames": 0, "bundles": 0, "frames_after_device_failure": 0})
        self.assertEqual(summary["frames"][0]["taken_over_by_cpu"], {"bundles": 0, "device_failure": ""})

    def test_a_frame_that_the_device_is_too_small_for_is_a_failure_or_the_cpus(self):
        self.tree.add("r0", 1)
        small = [*EMULATE, *TOO_SMALL]
        self.assertEqual(self.counts(*small, code=3), {"failed": 1})
        summary = self.summary(*small, "--on-device-error", "cpu", "--retry", "1")
        self.assertEqual(summary["counts"]["done"], 1)
        self.assertEqual(summary["taken_over_by_cpu"]["frames_after_device_failure"], 1)
        self.assertEqual(self.outputs()[str(self.frame_path("r0", 1).relative_to(self.out))],
                         self.extracted("r0", 1, "--backend", "cpu"))

    def test_the_patch_method_is_refused(self):
        self.tree.add("r0", 1)
        for command in ("night", "expose"):
            for backend in ("cuda", "emulate"):
                result = self.night_ok("--backend", backend, "--method", "patch", command=command, code=2)
                self.assertIn(f"--backend {backend}: --method patch runs on the CPU only",
                              result.stderr_text)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
