# SPDX-License-Identifier: BSD-3-Clause
"""scripts/gpu-check with a card, compiler and tools that only pretend: what it runs when, what it takes for a failure."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[3] / "scripts" / "gpu-check"
SPOTS = "_ZN9fiberloom11cuda_kernelINS_5exact3gpu11SpotsKernelILi17ELi11ELi6EEEEEvNT_4ArgsEl"
GONE = SPOTS.replace("11SpotsKernel", "10GoneKernel")
PTXAS = """ptxas info    : Compiling entry function '{}' for 'sm_90'
ptxas info    : Function properties for it
    3120 bytes stack frame, 608 bytes spill stores, 612 bytes spill loads
ptxas info    : Used {} registers, 560 bytes cmem[0]
"""
PROGRAM = f"""#!/bin/bash
# {SPOTS}
echo "gpu_check $*" >>"$FAKE/calls"
case "$*" in *--json*) printf '{{"exit": 0}}' >"${{@: -1}}" ;; esac
"""
HEADER = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",' \
         '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"\n'


def profile(kernels):
    rows = HEADER
    for i in range(kernels):
        name = f"void fiberloom::cuda_kernel<fiberloom::exact::gpu::OtherKernel<(int){i}>>(T1::Args, long)"
        start = f'"{i}","7","gpu_check","here","{name}","1","13","(128, 1, 1)","(9500, 1, 1)","0","9.0","Speed"'
        rows += f'{start},"Duration","us","1,234.5"\n{start},"DRAM Throughput","%","71.25"\n'
    return "==PROF== Connected to process 7\n" + rows + "==PROF== Disconnected\n"


class GpuCheckScript(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-gpu-check-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.bin, self.build = self.work / "bin", self.work / "build"
        (self.build / "bin").mkdir(parents=True)
        self.bin.mkdir()
        (self.build / "CMakeCache.txt").touch()
        self.tool("nvidia-smi", "echo 9.0")
        self.tool("nvcc", "echo nvcc")
        self.tool("cmake", 'echo "cmake $*" >>"$FAKE/calls"; case "$1" in --build) cat "$FAKE/ptxas" ;; esac')
        self.tool("compute-sanitizer", 'echo "$2" >>"$FAKE/calls"')
        self.ncu(profile(12))
        self.put("ptxas", PTXAS.format(SPOTS, 255))
        program = self.build / "bin" / "gpu_check"
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def put(self, name, text):
        (self.work / name).write_text(text)

    def tool(self, name, body):
        file = self.bin / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)

    def ncu(self, table, small="", code=0):
        self.put("table", table)
        self.put("small", small)
        self.tool("ncu", 'echo "ncu $*" >>"$FAKE/calls"; while [ "$1" != --log-file ]; do shift; done; '
                         'case "$2" in *small*) cp "$FAKE/small" "$2" ;; *) cp "$FAKE/table" "$2" ;; esac; '
                         f'exit {code}')

    def check(self, *more, path=None):
        """The JSON, exit codes by part (the last word on each), and what ran, in order."""
        (self.work / "calls").write_text("")
        result = subprocess.run(["bash", SCRIPT, "--out", self.work / "out", "--build", self.build, *more],
                                capture_output=True, text=True, timeout=120,
                                env={**os.environ, "FAKE": str(self.work),
                                     "PATH": f"{self.bin}:{path or os.environ['PATH']}"})
        report = json.loads((self.work / "out" / "gpu-check.json").read_text())
        parts = {p["name"]: p["exit"] for p in report["parts"]}
        return result, report, parts, (self.work / "calls").read_text()

    def test_passes_and_puts_all_that_was_found_into_one_json(self):
        result, report, parts, calls = self.check("--quick")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(set(report) & {"checks", "bench", "emulated", "registers", "profile"},
                         {"checks", "bench", "emulated", "registers", "profile"})
        self.assertEqual(report["registers"],
                         [{"kernel": "SpotsKernel<17, 11, 6>", "for": "sm_90", "registers": 255, "stack": 3120,
                           "spill_stores": 608, "spill_loads": 612}])
        self.assertEqual(len(report["profile"]), 12)
        self.assertEqual(report["profile"][3], {"kernel": "OtherKernel<3>", "grid": "(9500, 1, 1)",
                                                "block": "(128, 1, 1)", "us": 1234.5, "dram_percent": 71.25})
        self.assertEqual((report["failed"], "camera" in parts), (0, False))
        order = [calls.index(word) for word in ("--scale small", "--bench", "memcheck", "ncu ", "racecheck", "emulate")]
        self.assertEqual(order, sorted(order), calls)

    def test_keeps_what_ptxas_said_where_nothing_is_compiled_again(self):
        self.put("ptxas", PTXAS.format(GONE, 99) + PTXAS.format(SPOTS, 200))
        self.check("--quick")
        self.put("ptxas", PTXAS.format(SPOTS, 201))
        self.check("--quick")
        self.put("ptxas", "ninja: no work to do.\n")
        _, report, parts, _ = self.check("--quick")
        self.assertEqual(parts["registers"], 0)
        self.assertEqual([(r["kernel"], r["registers"]) for r in report["registers"]],
                         [("SpotsKernel<17, 11, 6>", 201)])
        (self.build / "ptxas.log").unlink()
        result, _, parts, _ = self.check("--quick")
        self.assertEqual((result.returncode, parts["registers"]), (0, 77))

    def test_tells_kernels_apart_by_all_their_numbers(self):
        trials = [SPOTS.replace("11SpotsKernelILi17ELi11ELi6EE", f"16RootFactorKernelILi8ELb{kept}EE") for kept in (0, 1)]
        program = self.build / "bin" / "gpu_check"
        program.write_text(PROGRAM + "".join(f"# {name}\n" for name in trials))
        self.put("ptxas", "".join(PTXAS.format(name, 200 + i) for i, name in enumerate(trials)))
        report = self.check("--quick")[1]
        self.assertEqual([(r["kernel"], r["registers"]) for r in report["registers"]],
                         [("RootFactorKernel<8, 0>", 200), ("RootFactorKernel<8, 1>", 201)])

    def test_what_a_tool_finds_is_a_failure_whatever_else_it_says(self):
        for says, code in (("========= Invalid __global__ read of size 8 bytes", 9),
                           ("========= Error: Device not supported", 9),
                           ("the program: unable to, not supported, failed to initialize", 1),
                           ("========= Invalid __global__ write of size 4 bytes", 124)):
            self.tool("compute-sanitizer", f'echo "{says}"; exit {code}')
            result, report, parts, _ = self.check("--quick")
            self.assertEqual((result.returncode, parts["memcheck"], report["failed"]), (1, code, 2), says)

    def test_a_tool_that_cannot_begin_is_skipped(self):
        for says, code in (("========= Error: Device not supported. Please refer to the documentation", 1),
                           ("========= Internal Sanitizer Error: no", 1), ("========= COMPUTE-SANITIZER", 124)):
            self.tool("compute-sanitizer", f'echo "{says}"; exit {code}')
            result, report, parts, _ = self.check("--quick")
            self.assertEqual((result.returncode, parts["memcheck"], report["failed"]), (0, 77, 0), says)

    def test_a_profile_that_is_not_allowed_is_skipped_but_a_failure_under_it_is_one(self):
        self.ncu("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access Performance Counters\n", code=1)
        result, _, parts, calls = self.check("--quick")
        self.assertEqual((result.returncode, parts["profile"]), (0, 77))
        self.assertEqual(calls.count("ncu "), 1)
        self.ncu("==ERROR== The application returned an error code (1).\n", code=1)
        result, _, parts, _ = self.check("--quick")
        self.assertEqual((result.returncode, parts["profile"]), (1, 1))

    def test_profiles_a_small_frame_as_a_whole_where_few_kernels_were_found(self):
        self.ncu(profile(2), small=profile(15))
        result, report, _, calls = self.check("--quick")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(calls.count("ncu "), 2)
        self.assertEqual(len(report["profile"]), 17)

    def test_reads_the_rows_of_ncu_that_end_before_the_columns_of_its_rules(self):
        header, rest = profile(12).split("\n", 2)[1:]
        self.ncu("\n".join(["==PROF==", header + ',"Rule Name","Rule Type"', rest]))
        _, report, _, _ = self.check("--quick")
        self.assertEqual((len(report["profile"]), report["profile"][3]["us"]), (12, 1234.5))

    def test_runs_programs_that_were_carried_in_the_order_that_was_asked_for(self):
        carried = self.work / "carried"
        shutil.copytree(self.build / "bin", carried / "bin")
        for name in ("fiberloom", "tomoloom"):
            program = carried / "bin" / name
            program.write_text(f'#!/bin/bash\necho "{name} $*" >>"$FAKE/calls"\n'
                               'case "$*" in *--json*) printf "{}" >"${@: -1}" ;; esac\n')
            program.chmod(0o755)
        result, report, parts, calls = self.check("--binary", carried, "--parts", "volume,checks,night,maps,camera")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("cmake --build", calls)
        self.assertEqual(list(parts), ["volume-data", "volume-cuda", "volume-cpu", "volume", "volume-phase-cuda", "volume-phase-cpu",
                                       "volume-phase", "checks", "night-cuda", "night-cpu", "maps", "camera"])
        self.assertEqual(parts["maps"], 77)  # no skyloom was carried
        self.assertIn("--backend cuda", calls)
        self.assertIn("night-cpu", report)
        self.assertTrue((self.work / "out" / "gpu-check.tar.gz").exists())
        result = subprocess.run(["bash", SCRIPT, "--binary", carried, "--parts", "volums", "--out", self.work / "out"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2, result.stdout)

    def test_works_without_python(self):
        slim = self.work / "slim"
        slim.mkdir()
        for folder in ("/bin", "/usr/bin"):
            for file in os.listdir(folder):
                link = slim / file
                if not file.startswith("python") and not link.exists():
                    link.symlink_to(pathlib.Path(folder) / file)
        result, report, parts, _ = self.check("--quick", path=slim)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual((parts["bench"], parts["profile"], parts["registers"]), (0, 0, 77))
        self.assertIn("bench", report)

    def test_a_build_without_the_vendors_solver_is_none_that_failed(self):
        self.tool("cmake", 'case "$1" in --build) [ -e "$FAKE/off" ] ;; *-DFIBERLOOM_BASELINE=OFF*) touch "$FAKE/off" ;; '
                           '*) case "$*" in *BASELINE=OFF*) touch "$FAKE/off" ;; esac ;; esac')
        result, report, parts, _ = self.check("--quick")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual((parts["build"], parts["build-without-baseline"], report["failed"]), (1, 0, 0))
        (self.work / "off").unlink()
        self.tool("cmake", "exit 1")
        result, report, _, _ = self.check("--quick")
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("bench", report)

    def test_ends_within_its_budget(self):
        program = self.build / "bin" / "gpu_check"
        program.write_text(PROGRAM + "sleep 30\n")
        result, report, parts, _ = self.check("--quick", "--budget", "8")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(parts["checks"], 124)
        self.assertEqual(parts["bench"], 77)
        self.assertLess(report["seconds"], 14)


if __name__ == "__main__":
    unittest.main()
