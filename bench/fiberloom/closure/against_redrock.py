#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges redrock and fiberloom by the same truth on the same files: purity, completeness, pulls, calibration.

    PYTHON bench/fiberloom/closure/against_redrock.py --redrock CHECKOUT/py --templates FILE...
        [--seeds 12 13] [--targets 300] [--snr 0.03,3] [--mix 50,20,20,10] [--keep FOLDER] [--options=OPTIONS]
        [--program build/release/bin/fiberloom] [--judge-only]

CHECKOUT: sources of redrock 0.22; PYTHON: an interpreter with numpy, scipy, astropy, h5py, numba and fitsio. A file a
seed is written by `fiberloom simulate --targets`, read by redrock through its own classes (versus-redrock) and by
`fiberloom redshift OPTIONS`. FOLDER keeps files and redrock's answers, which another run takes from there;
--judge-only asks redrock nothing and takes what is there.
"""
import argparse
import importlib.machinery
import importlib.util
import pathlib
import statistics
import subprocess
import sys
import tempfile

from astropy.io import fits

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIGHT = 299792.458
TYPES = ("GALAXY", "QSO", "STAR")


def peer_script():
    loader = importlib.machinery.SourceFileLoader("versus_redrock", str(ROOT / "bench/fiberloom/versus-redrock"))
    spec = importlib.util.spec_from_loader("versus_redrock", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module.PEER


def read_truth(path):
    """{id: (type, z, S/N)}"""
    rows = fits.getdata(path, "TRUTH")
    return {int(r["TARGETID"]): (r["SPECTYPE"].strip(), float(r["Z"]), float(r["SNR"])) for r in rows}


def read_ours(path):
    rows = fits.getdata(path, "REDSHIFTS")
    return {int(r["TARGETID"]): {"type": r["SPECTYPE"].strip(), "z": float(r["Z"]), "zerr": float(r["ZERR"]),
                                 "zwarn": int(r["ZWARN"]) & 0xfffe, "dchi2": float(r["DELTACHI2"]),
                                 "p": float(r["PROBABILITY"])} for r in rows}


def read_theirs(path):
    answers = {}
    for line in pathlib.Path(path).read_text().splitlines():
        w = line.split()
        answers[int(w[0])] = {"type": w[1], "z": float(w[3]), "zerr": float(w[4]), "zwarn": int(w[5]) & 0xfffe,
                              "dchi2": float(w[7])}
    return answers


def velocity(z, truth):
    return LIGHT * (z - truth) / (1 + truth)


def is_right(answer, truth):
    return answer["type"] == truth[0] and abs(velocity(answer["z"], truth[1])) < (3000 if truth[0] == "QSO" else 1000)


def judge_types(answers, truth):
    for kind in TYPES:
        mine = [t for t in answers if truth[t][0] == kind]
        good = {t for t in mine if is_right(answers[t], truth[t])}
        line = f"{kind:7s} {len(mine):4d}: right {len(good):4d}"
        cuts = [("ZWARN 0", lambda a: a["zwarn"] == 0), ("DELTACHI2 > 25", lambda a: a["dchi2"] > 25)]
        if mine and "p" in answers[mine[0]]:
            cuts.append(("p > 0.95", lambda a: a["p"] > 0.95))
        for name, cut in cuts:
            sure = [t for t in mine if cut(answers[t])]
            line += f"; {name} {len(sure):4d}, wrong {sum(t not in good for t in sure):3d}"
        pulls = [(answers[t]["z"] - truth[t][1]) / answers[t]["zerr"] for t in good
                 if answers[t]["zwarn"] == 0 and answers[t]["zerr"] > 0]
        rms = statistics.fmean(p * p for p in pulls) ** 0.5 if pulls else 0
        print(f"{line}; pulls of ZWARN 0 rms {rms:.2f}, {sum(abs(p) > 4 for p in pulls)} beyond 4")


def judge(name, answers, truth):
    objects = [t for t in answers if truth[t][0] in TYPES]
    sky = [t for t in answers if truth[t][0] not in TYPES]
    print(f"== {name}: {len(objects)} objects, {len(sky)} sky fibres")
    judge_types(answers, truth)
    cuts = [("ZWARN 0", lambda a: a["zwarn"] == 0)]
    cuts += [(f"DELTACHI2 > {d}", lambda a, d=d: a["dchi2"] > d) for d in (9, 25, 40)]
    has_p = any("p" in a for a in answers.values())
    if has_p:
        cuts += [(f"p > {p}", lambda a, p=p: a["p"] > p) for p in (0.5, 0.9, 0.95, 0.99)]
    for what, cut in cuts:
        taken = [t for t in objects if cut(answers[t])]
        good = [t for t in taken if is_right(answers[t], truth[t])]
        false = [t for t in sky if cut(answers[t])]
        print(f"{what:15s} completeness {100 * len(good) / max(len(objects), 1):5.1f} %, purity "
              f"{100 * len(good) / max(len(taken), 1):6.2f} % ({len(taken) - len(good)} wrong), sky fibres {len(false)}")
    for low, high in ((0, .5), (.5, .8), (.8, .94), (.94, .96), (.96, .99), (.99, 1.1)) if has_p else ():
        those = [t for t in objects if low <= answers[t]["p"] < high]
        right = sum(is_right(answers[t], truth[t]) for t in those)
        if those:
            print(f"said {low} to {min(high, 1)}: {len(those)} targets, mean p "
                  f"{statistics.fmean(answers[t]['p'] for t in those):.3f}, right {right / len(those):.3f}")


def print_where_theirs_is_better(ours, theirs, truth):
    for t, theirs_one in theirs.items():
        mine = ours[t]
        if truth[t][0] in TYPES and is_right(theirs_one, truth[t]) and not is_right(mine, truth[t]):
            print(f"redrock alone is right: {t} {truth[t][0]} z {truth[t][1]:.5f} S/N {truth[t][2]:.2f}; ours "
                  f"{mine['type']} {mine['z']:.5f} ZWARN {mine['zwarn']} DELTACHI2 {mine['dchi2']:.1f} p {mine['p']:.3f};"
                  f" redrock ZWARN {theirs_one['zwarn']} DELTACHI2 {theirs_one['dchi2']:.1f}")


def ask(given, folder, seed):
    """Answers for a seed's file, ours and redrock's; redrock's only once."""
    place = folder / f"seed-{seed}-snr-{given.snr}-n-{given.targets}"
    spectra, theirs, ours = place / "coadd-0000.fits", place / "theirs", place / "ours.fits"
    if given.judge_only and not theirs.exists():
        return {}, {}, {}
    if not spectra.exists():
        subprocess.run([given.program, "simulate", "-q", "-o", place, "--targets", str(given.targets), "--seed", seed,
                        "--snr", given.snr, "--mix", given.mix, "-t", *given.templates], check=True)
    if not theirs.exists():
        subprocess.run([sys.executable, "-c", peer_script(), given.redrock, spectra, place / "part", *given.templates],
                       check=True, stdout=subprocess.DEVNULL)
        (place / "part").rename(theirs)
    subprocess.run([given.program, "redshift", "-q", "-i", spectra, "-o", ours, "-t", *given.templates,
                    *given.options.split()], check=True)
    return read_truth(place / "truth-0000.fits"), read_ours(ours), read_theirs(theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redrock", required=True)
    parser.add_argument("--templates", nargs="+", required=True)
    parser.add_argument("--targets", type=int, default=300, help="of each seed, at most 500")
    parser.add_argument("--seeds", nargs="+", default=["12"])
    parser.add_argument("--snr", default="0.03,3")
    parser.add_argument("--mix", default="50,20,20,10")
    parser.add_argument("--keep")
    parser.add_argument("--options", default="", help="of fiberloom redshift")
    parser.add_argument("--judge-only", action="store_true")
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/fiberloom"))
    given = parser.parse_args()
    truth, ours, theirs = {}, {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        for seed in given.seeds:
            for total, one in zip((truth, ours, theirs), ask(given, pathlib.Path(given.keep or temporary), seed)):
                total.update({(seed, t): row for t, row in one.items()})
    judge("redrock", theirs, truth)
    judge("fiberloom", ours, truth)
    print_where_theirs_is_better(ours, theirs, truth)


if __name__ == "__main__":
    main()
