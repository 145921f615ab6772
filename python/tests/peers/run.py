#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs specter's and gpu_specter's own test suites, as they are and with their imports replaced by
fiberloom.compat, and prints what came of each test. The checkouts are yours; nothing of them is kept here.

    python python/tests/peers/run.py --specter DIR --gpu-specter DIR

FIBERLOOM_SPECTER_DIR and FIBERLOOM_GPU_SPECTER_DIR in the environment do the same. Needs fiberloom, pytest, scipy,
astropy, numba and fitsio. Exit 1 when a test that passes with the peer's code fails with ours."""
import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).parent
# Why a test cannot be asked of Fiberloom, or cannot fail through it.
NOT_APPLICABLE = {
    "test_psf.*.test_value": "a private method of specter's classes; returns at once for others",
    "test_psf.*.test_custom_*": "a private function of specter",
    "test_extract.TestExtract.test_eigen_compose": "a private function of specter",
    "test_extract.TestExtract.test_split_bundle": "a private function of specter",
    "test_pixspline.*": "resampling, nothing of extraction",
    "test_throughput.*": "throughput of a telescope, nothing of extraction",
    "test_specio.*": "specter's own files of spectra",
    "test_util.*": "private functions of specter",
    "test_linalg.*": "private functions of gpu_specter",
    "test_polynomial.*": "private functions of gpu_specter",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("specter", "gpu-specter"):
        variable = f"FIBERLOOM_{name.upper().replace('-', '_')}_DIR"
        parser.add_argument("--" + name, default=os.environ.get(variable), metavar="DIR",
                            help=f"checkout of {name} (default ${variable})")
    parser.add_argument("-k", default="", help="only tests that match (pytest's -k)")
    return parser.parse_args()


def simulated_preproc(psf, folder):
    """gpu_specter's tests ask for a real exposure of this PSF; a simulated one takes its place."""
    import fiberloom
    paths = fiberloom.simulate(folder, psf=psf, nspec=25)
    return next(p for p in paths if "preproc" in p)


def written_psfs(tests, folder):
    """A folder with files of the kinds of pixels that the checkout lacks (they are large), by their names there."""
    sys.path.insert(0, str(HERE.parents[2] / "bench/fiberloom/psf"))
    import against_specter
    import numpy as np
    folder.mkdir(exist_ok=True)
    for name, make in (("psf-pix", against_specter.pca_pix), ("psf-spot", against_specter.spot_grid),
                       ("psf-monospot", against_specter.mono_spot)):
        if not (tests / "t" / f"{name}.fits").exists():
            make(np.random.default_rng(1)).writeto(folder / f"{name}.fits", overwrite=True)
    return {"FIBERLOOM_PEERS_PSFS": str(folder)}


def run_tests(tests, source, environment, select):
    """{test: outcome} of a suite; tests: files of the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        paths = [str(HERE / "replaced"), *source, os.environ.get("PYTHONPATH", "")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
                   "-k", select, *map(str, tests)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={
            **os.environ, **environment, "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONDONTWRITEBYTECODE": "1"})
        if not report.exists():
            raise SystemExit(done.stdout + done.stderr)
        outcomes = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            child = next((c for c in case if c.tag in ("failure", "error", "skipped")), None)
            name = ".".join(case.get("classname").split(".")[-2:]) + "." + case.get("name")
            expected = child is not None and "xfail" in child.get("type", "")  # failed, as the test says it must
            lines = "" if child is None else child.get("message", "").splitlines()
            outcomes[name] = ("passed" if child is None or expected else child.tag, lines[0][:160] if lines else "")
        return outcomes


def suites(options, folder):
    """(peer, test files, sources, environment) of everything to run."""
    sources = [str(pathlib.Path(d) / "py") for d in (options.specter, options.gpu_specter) if d]
    if options.specter:
        tests = pathlib.Path(options.specter) / "py/specter/test"
        given = {"FIBERLOOM_PEERS_PSF": str(tests / "t/psf-gausshermite.fits")}
        others = [p for p in sorted(tests.glob("test_*.py")) if p.name not in ("test_extract.py", "test_binscripts.py")]
        yield "specter", others, sources, written_psfs(tests, pathlib.Path(folder) / "psfs")
        yield "specter", [tests / "test_extract.py", tests / "test_binscripts.py"], sources, given
    if options.gpu_specter:
        tests = pathlib.Path(options.gpu_specter) / "py/gpu_specter/test"
        preproc = simulated_preproc(tests / "data/psf-r0-00067784.fits", pathlib.Path(folder) / "simulated")
        yield "gpu_specter", sorted(tests.glob("test_*.py")), sources, {"FIBERLOOM_PEERS_PREPROC": preproc}


def reason(name):
    return next((why for pattern, why in NOT_APPLICABLE.items() if fnmatch.fnmatch(name, pattern)), None)


def judge(name, theirs, ours):
    """(word, note): what the replaced import did to a test."""
    if reason(name):
        return "not applicable", reason(name)
    if ours[0] == "passed":
        return "passed", "" if theirs[0] == "passed" else f"(theirs: {theirs[0]}: {theirs[1]})"
    if theirs[0] == "skipped":
        return "skipped", theirs[1]
    if theirs[0] != "passed":
        return "as theirs", f"theirs: {theirs[1]}; ours: {ours[1]}"
    return "FAILED", ours[1]


def main():
    options = arguments()
    if not options.specter and not options.gpu_specter:
        raise SystemExit("nothing to run: give --specter or --gpu-specter (see --help)")
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        for peer, tests, sources, environment in suites(options, folder):
            ours, theirs = (run_tests(tests, sources, {**environment, "FIBERLOOM_PEERS": who}, options.k)
                            for who in ("ours", "theirs"))
            for name in ours:
                word, note = judge(name, theirs.get(name, ("missing", "")), ours[name])
                counts[word] = counts.get(word, 0) + 1
                print(f"{peer:12s} {word:14s} {name}" + (f"    {note}" if note else ""), flush=True)
    print(", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    return 1 if counts.get("FAILED") else 0


if __name__ == "__main__":
    sys.exit(main())
