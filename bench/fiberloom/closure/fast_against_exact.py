#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Do `--method fast` and `--method exact` name the same redshifts? In batches that can be stopped and taken up again.

    python3 bench/fiberloom/closure/fast_against_exact.py --templates FILE... --log fast-exact.csv
        [--targets 20000] [--snr 0.5,20] [--seed 1000] [--program build/release/bin/fiberloom]

Each batch of 500 targets has a seed of its own; a line of the log a batch. The same command does the batches that the
log lacks. A redshift differs where the type does, or z by more than 0.1 km/s and a hundredth of its error.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests/fiberloom/cli"))
from small_spectra import read_table  # noqa: E402  tables of plain numbers, by the standard library alone

LIGHT = 299792.458
BATCH = 500
HEAD = "seed,targets,differ,differ_sure,right_fast,right_exact,largest_kms"


def answers(program, method, folder, templates):
    out = folder / f"{method}.fits"
    subprocess.run([program, "redshift", "-i", folder / "coadd-0000.fits", "-o", out, "-t", *templates, "--method", method,
                    "--threads", "1", "--quiet"], check=True)
    return read_table(out, "REDSHIFTS")


def batch(program, seed, snr, templates):
    with tempfile.TemporaryDirectory(prefix="fast-exact-") as name:
        folder = pathlib.Path(name)
        subprocess.run([program, "simulate", "-o", folder, "--targets", str(BATCH), "--seed", str(seed), "--snr", snr,
                        "-t", *templates, "--quiet"], check=True)
        truth = read_table(folder / "truth-0000.fits", "TRUTH")
        fast, exact = (answers(program, method, folder, templates) for method in ("fast", "exact"))
    differ = sure = right_fast = right_exact = 0
    largest = 0.0
    for k in range(BATCH):
        same = fast["SPECTYPE"][k] == exact["SPECTYPE"][k] and fast["SUBTYPE"][k] == exact["SUBTYPE"][k]
        speed = LIGHT * abs(fast["Z"][k] - exact["Z"][k]) / (1 + exact["Z"][k])
        error = LIGHT * exact["ZERR"][k] / (1 + exact["Z"][k])
        if not same or speed > max(0.1, 0.01 * error):
            differ += 1
            sure += exact["ZWARN"][k] == 0
        else:
            largest = max(largest, speed)
        limit = 3000 if truth["SPECTYPE"][k] == "QSO" else 1000
        for table in (fast, exact):
            good = (table["SPECTYPE"][k] == truth["SPECTYPE"][k]
                    and LIGHT * abs(table["Z"][k] - truth["Z"][k]) / (1 + truth["Z"][k]) < limit)
            right_fast += good and table is fast
            right_exact += good and table is exact
    return f"{seed},{BATCH},{differ},{sure},{right_fast},{right_exact},{largest:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--templates", nargs="+", required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("--targets", type=int, default=20000)
    parser.add_argument("--snr", default="0.5,20")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--program", default="build/release/bin/fiberloom")
    a = parser.parse_args()
    lines = a.log.read_text().splitlines() if a.log.exists() else [HEAD]
    done = {int(line.split(",")[0]) for line in lines[1:]}
    for seed in range(a.seed, a.seed + (a.targets + BATCH - 1) // BATCH):
        if seed in done:
            continue
        lines.append(batch(a.program, seed, a.snr, a.templates))
        a.log.write_text("\n".join(lines) + "\n")
        print(lines[-1], flush=True)
    sums = [sum(int(line.split(",")[k]) for line in lines[1:]) for k in range(1, 6)]
    print("%d targets: %d differ, %d of them with ZWARN 0; right: fast %d, exact %d" % tuple(sums))


if __name__ == "__main__":
    main()
