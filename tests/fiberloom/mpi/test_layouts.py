# SPDX-License-Identifier: BSD-3-Clause
"""The same bytes for any number of ranks, whole frames or parts, more ranks than work; one summary and one
timeline of all ranks; the program itself links no MPI."""
import json
import os
import subprocess

import mpi_case
import launch
import night_case
from mpi_case import CUT, MpiCase, PROGRAM
from night_case import Tree
from small_camera import psf_bytes


class Layouts(MpiCase):
    def expect_as_alone(self, frames, *runs, options=()):
        """Each run (ranks, its options) with `options` against the night of one process without MPI."""
        self.night_ok("--quiet", *options)
        alone = self.outputs()
        self.assertEqual(len(alone), frames)
        for number, (ranks, more) in enumerate(runs):
            out = self.work / f"ranks{number}"
            self.run_ranks(ranks, "--quiet", *options, *more, out=out)
            self.assertEqual(self.outputs(out), alone, f"{ranks} ranks, {more}")
            for folder in ("claims", "runs"):
                self.assertEqual(list((out / ".fiberloom" / folder).iterdir()), [])

    def test_whole_frames_on_1_2_and_3_ranks(self):
        self.tree.add_exposures(2)
        self.expect_as_alone(6, (1, []), (2, []), (3, []))

    def test_frames_in_parts_on_2_3_and_7_ranks(self):
        self.tree.add_exposures(1)
        self.expect_as_alone(3, (2, CUT), (3, CUT), (7, CUT))

    def test_more_ranks_than_work(self):
        self.tree.add("r0", 1)
        self.expect_as_alone(1, (3, []), (8, CUT))

    def test_compressed_frames_in_parts(self):
        self.tree.add("r0", 1)
        self.night_ok("--quiet", "--compress")
        out = self.work / "ranks"
        self.run_ranks(3, "--quiet", "--compress", *CUT, out=out)
        self.assertEqual(self.outputs(out), self.outputs())

    def test_frames_whose_wings_are_taken_off_on_2_and_3_ranks(self):
        self.tree.add_exposures(1)
        self.expect_as_alone(3, (2, CUT), (3, CUT), options=[
            "--psf-tails", "--wings", "30", "--reject", "6", "--model-variance"])

    def test_two_frames_on_2_and_3_ranks_with_a_device_each(self):
        self.tree.add_exposures(2, cameras=["r0"])
        self.expect_as_alone(2, (2, []), (3, []), (3, CUT), options=["--backend", "emulate"])

    def with_bundles(self, bundle_of):
        """A night of frames of 60 fibres whose PSF says what its bundles are, without a fibermap."""
        psf, image = psf_bytes(nfiber=60, bundle_of=bundle_of), Tree.camera.preproc_bytes(drop=("FIBERMAP",))
        for exposure in (1, 2):
            self.tree.add("r0", exposure, image=image, psf=psf)
        self.addCleanup(setattr, night_case, "OPTIONS", night_case.OPTIONS)
        night_case.OPTIONS = ["-w", night_case.GRID, "--bundlesize", "0"]

    def test_bundles_are_those_of_the_psf_many(self):
        self.with_bundles(lambda fiber: fiber // 5)
        self.expect_as_alone(2, (2, CUT), (5, CUT))

    def test_bundles_are_those_of_the_psf_one(self):
        self.with_bundles(lambda fiber: 0)
        self.expect_as_alone(2, (3, CUT), (2, []))

    def test_bundles_are_those_of_the_psf_uneven(self):
        self.with_bundles(lambda fiber: 0 if fiber < 3 else 1 if fiber < 50 else 2 + fiber // 4)
        self.expect_as_alone(2, (3, CUT))

    def test_one_exposure(self):
        self.tree.add_exposures(1)
        self.night_ok("--quiet")
        out = self.work / "ranks"
        self.run_ranks(2, "--quiet", out=out, command="expose")
        self.assertEqual(self.outputs(out), self.outputs())


class Told(MpiCase):
    def test_the_summary_has_every_rank_and_the_start_is_quick(self):
        self.tree.add_exposures(2)
        path = self.work / "summary.json"
        self.run_ranks(4, "--quiet", "--json", path, *CUT)
        summary = json.loads(path.read_text())
        self.assertEqual(summary["counts"]["done"], 6)
        ranks = summary["mpi"]["ranks"]
        self.assertEqual(sorted(r["rank"] for r in ranks), [0, 1, 2, 3])
        self.assertEqual(sum(r["frames"] for r in ranks), 6)
        compute = summary["stages"]["compute"]  # of all ranks, not of rank 0 alone
        self.assertEqual(compute["threads"], sum(r["threads"] for r in ranks))
        self.assertGreaterEqual(compute["busy_s"], 0.9 * compute["cpu_s"])
        # 0.5 s of our own are allowed on a quiet machine; this one may be busy with other tests.
        self.assertLess(summary["mpi"]["start_without_mpi_s"], 2)

    def test_one_timeline_holds_all_ranks_on_one_clock(self):
        self.tree.add_exposures(2)
        path = self.work / "trace.json"
        self.run_ranks(3, "--quiet", "--trace", path)
        spans = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X"]
        self.assertEqual({e["pid"] for e in spans}, {0, 1, 2})
        frames = [e for e in spans if e["name"] == "frame/compute"]
        self.assertEqual(len(frames), 6)
        self.assertLess(max(e["ts"] + e["dur"] for e in frames), 60e6)
        self.assertGreater(min(e["ts"] for e in frames), 0)

    def test_numbers_and_pages_are_those_of_one_process(self):
        self.tree.add_exposures(1)
        self.night_ok("--quiet", "--reports")
        alone, pages = self.qualities(), {p.name: p.read_bytes() for p in self.out.rglob("frame-*.html")}
        self.out = self.work / "ranks"
        self.run_ranks(3, "--quiet", *CUT)
        self.assertEqual(self.qualities(), alone)
        self.run_ranks(3, "--quiet", "--reports", *CUT)  # of frames that are up to date
        made = {p.name: p for p in self.out.rglob("frame-*.html")}
        self.assertEqual(set(made), set(pages))
        status = json.loads((self.out / "status.json").read_text())
        self.assertEqual({f["report"].split("/")[-1] for f in status["frames"]}, set(pages))

    def qualities(self):
        return {p.name: json.loads(p.read_text())["quality"] for p in self.state("receipts").iterdir()}

    def test_the_ledger_and_the_receipts_know_every_frame(self):
        self.tree.add_exposures(1)
        self.run_ranks(3, "--quiet", *CUT)
        self.assertEqual(self.counts(), {"up_to_date": 3})

    def test_mpi_off_leaves_mpi_alone(self):
        self.tree.add("r0", 1)
        errors = self.run_ranks(1, "--mpi", "off")
        self.assertNotIn("ranks on", errors)

    def test_the_wrong_module_is_named(self):
        self.tree.add("r0", 1)
        other = "mpich" if launch.VENDOR == "openmpi" else "openmpi"
        if not (mpi_case.BIN / f"fiberloom_mpi_{other}.so").exists():
            self.skipTest("only one MPI here")
        errors = self.run_ranks(2, "--mpi", other, code=None)
        self.assertIn("--mpi openmpi|mpich", errors)

    def test_the_program_itself_links_no_mpi(self):
        if os.environ.get("FIBERLOOM_SANITIZE"):
            self.skipTest("the sanitizer's own libraries are linked")
        libraries = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
        for name in ("libmpi", "libmpich", "libopen-rte", "libpmi"):
            self.assertNotIn(name, libraries)


if __name__ == "__main__":
    mpi_case.main()
