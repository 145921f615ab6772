#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges redrock and fiberloom by the same truth on the same spectra: purity, completeness, pulls.

    python3 bench/fiberloom/closure/against_redrock.py --redrock CHECKOUT/py --python PYTHON --templates FILE...
        [--targets 300] [--seed 12] [--snr 0.03,3] [--bench build/release/bin/bench_closure]
        [--program build/release/bin/fiberloom]

CHECKOUT and PYTHON as for bench/fiberloom/versus-redrock. `fiberloom simulate --targets` writes the file, redrock reads it
through its own classes; bench_closure draws the same targets again from their seed and fits them.
"""
import argparse
import importlib.machinery
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIGHT = 299792.458


def peer_script():
    loader = importlib.machinery.SourceFileLoader("versus_redrock", str(ROOT / "bench/fiberloom/versus-redrock"))
    spec = importlib.util.spec_from_loader("versus_redrock", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module.PEER


def read_ours(path):
    """{id: (type, z, snr)}, {id: answer}."""
    truth, answers = {}, {}
    for line in pathlib.Path(path).read_text().splitlines():
        parts = [p.split() for p in line.split(" | ")]
        target, kind, _, z, snr = parts[0]
        best = parts[1]
        truth[target] = (kind, float(z), float(snr))
        answers[target] = {"type": best[0], "z": float(best[2]), "zerr": float(best[3]), "zwarn": int(best[4]),
                           "dchi2": float(best[6]), "p": float(best[7])}
    return truth, answers


def read_theirs(path):
    answers = {}
    for line in pathlib.Path(path).read_text().splitlines():
        w = line.split()
        answers[w[0]] = {"type": w[1], "z": float(w[3]), "zerr": float(w[4]), "zwarn": int(w[5]), "dchi2": float(w[7])}
    return answers


def velocity(z, truth):
    return LIGHT * (z - truth) / (1 + truth)


def is_right(answer, truth):
    return answer["type"] == truth[0] and abs(velocity(answer["z"], truth[1])) < (3000 if truth[0] == "QSO" else 1000)


def judge(name, answers, truth):
    objects = [t for t in answers if truth[t][0] != "SKY"]
    sky = [t for t in answers if truth[t][0] == "SKY"]
    print(f"== {name}: {len(objects)} objects, {len(sky)} sky fibres")
    for kind in ("GALAXY", "QSO", "STAR"):
        mine = [t for t in objects if truth[t][0] == kind]
        good = [t for t in mine if is_right(answers[t], truth[t])]
        sure = [t for t in mine if answers[t]["zwarn"] == 0]
        sure_good = [t for t in sure if t in set(good)]
        pulls = [(answers[t]["z"] - truth[t][1]) / answers[t]["zerr"] for t in sure_good if answers[t]["zerr"] > 0]
        rms = statistics.fmean(p * p for p in pulls) ** 0.5 if pulls else 0
        wild = sum(abs(p) > 4 for p in pulls)
        print(f"{kind:7s} {len(mine):4d}: right {len(good):4d}; ZWARN 0 {len(sure):4d}, right {len(sure_good):4d}; "
              f"pulls rms {rms:.2f}, {wild} beyond 4")
    cuts = [("ZWARN 0", lambda a: a["zwarn"] == 0)]
    cuts += [(f"DELTACHI2 > {d}", lambda a, d=d: a["dchi2"] > d) for d in (9, 25)]
    if any("p" in a for a in answers.values()):
        cuts += [(f"p > {p}", lambda a, p=p: a["p"] > p) for p in (0.9, 0.95, 0.99)]
    for what, cut in cuts:
        taken = [t for t in objects if cut(answers[t])]
        good = [t for t in taken if is_right(answers[t], truth[t])]
        false = [t for t in sky if cut(answers[t])]
        print(f"{what:15s} completeness {100 * len(good) / len(objects):5.1f} %, purity "
              f"{100 * len(good) / max(len(taken), 1):6.2f} % ({len(taken) - len(good)} wrong), sky fibres {len(false)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redrock", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--templates", nargs="+", required=True)
    parser.add_argument("--targets", default="300")
    parser.add_argument("--seed", default="12")
    parser.add_argument("--snr", default="0.03,3")
    parser.add_argument("--bench", default=str(ROOT / "build/release/bin/bench_closure"))
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/fiberloom"))
    given = parser.parse_args()
    low, high = given.snr.split(",")
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = str(pathlib.Path(folder) / "theirs"), str(pathlib.Path(folder) / "ours")
        subprocess.run([given.program, "simulate", "-q", "-o", folder, "--targets", given.targets, "--seed", given.seed,
                        "--snr", given.snr, "-t", *given.templates], check=True)
        subprocess.run([given.bench, "--targets", given.targets, "--seed", given.seed, "--snr-low", low, "--snr-high",
                        high, "--table", ours, "--templates", *given.templates], check=True, stdout=subprocess.DEVNULL)
        names = sorted(pathlib.Path(folder).glob("coadd-*.fits"))
        answers = {}
        for name in names:
            subprocess.run([given.python, "-c", peer_script(), given.redrock, str(name), theirs, *given.templates],
                           check=True, stdout=subprocess.DEVNULL)
            answers |= read_theirs(theirs)
        truth, mine = read_ours(ours)
    judge("redrock", answers, truth)
    judge("fiberloom", mine, truth)


if __name__ == "__main__":
    main()
