# SPDX-License-Identifier: BSD-3-Clause
"""What must hold after any attack. Each check returns sentences; none means that all is well."""
import array
import fnmatch
import gzip
import hashlib
import json
import math
import os
import pathlib
import re
import signal
import stat

import harm
import tiny_fits as fits

INTERNAL, INTERRUPTED, DIFFERENT, SOME_FAILED = 70, 50, 1, 3
FILE_CODES, SIZE_CODES = {*range(10, 20), 40}, range(20, 30)
MANY_LINES = 200
OUTPUT_OPTIONS = {"-o", "--output", "-m", "--model", "--residual", "--json", "--trace", "-d", "--details"}
OURS = re.compile(r"fiberloom: |\[ *\d+\.\d+ s\] [A-Z]+: ")  # an error's line, a line of the log


def documented_codes(root):
    """The table of docs/fiberloom/formats.md."""
    text = (root / "docs/fiberloom/formats.md").read_text(encoding="utf-8")
    return {int(code) for code in re.findall(r"^\| (\d+) \|", text[text.index("## Exit codes"):], re.M)}


def fingerprints(folder):
    """path -> what it is, of everything below the folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        what = str(stat.S_IFMT(mode))
        if stat.S_ISLNK(mode):
            what += os.readlink(path)
        elif stat.S_ISREG(mode):
            try:
                what += hashlib.sha1(path.read_bytes()).hexdigest()
            except PermissionError:
                what += str(path.lstat().st_size)
        found[str(path.relative_to(folder))] = what
    return found


def exit_faults(case, code, sent, codes):
    """Signals, internal errors, codes that no table has."""
    if code < 0:
        allowed = sent | ({signal.SIGPIPE} if case.stdout == "closed" else set())
        if -code == signal.SIGXFSZ or -code not in allowed:
            return [f"died of {signal.Signals(-code).name}"]
        return []
    if code == INTERNAL:
        return ["exit code 70: a defect of the program"]
    if code not in codes:
        return [f"exit code {code} is not in the table"]
    if case.codes and code not in case.codes and not (sent and code == INTERRUPTED):
        return [f"exit code {code}, expected one of {list(case.codes)}"]
    return []


def line_faults(case, code, errors):
    """One line, with the file's name."""
    lines = errors.splitlines()
    told = [line for line in lines if line.startswith("fiberloom: error: ")]
    faults = []
    if len(lines) > MANY_LINES:
        faults.append(f"{len(lines)} lines on standard error")
    strange = [line for line in lines if not OURS.match(line)]
    if strange and "-q" in case.argv:
        faults.append(f"a line of nobody's: {strange[0][:120]!r}")
    if code in (0, DIFFERENT, SOME_FAILED) or code < 0:
        return faults
    if len(told) != 1 and not (code == INTERRUPTED and len(told) < 2):
        faults.append(f"{len(told)} lines with an error, expected one")
        return faults
    names = case.at_fault if code in FILE_CODES else []
    if code in SIZE_CODES:
        names = [word for word in case.argv if word.startswith("in/")]
    if names and told and not any(pathlib.PurePath(name).name in told[0] for name in names):
        faults.append(f"the line names none of {names}")
    return faults


def read_numbers(hdu):
    numbers = array.array(fits.CODES[hdu.cards["BITPIX"]])
    numbers.frombytes(hdu.data)
    numbers.byteswap()
    return numbers


def checksum_faults(data, name):
    """CHECKSUM of each HDU: the sum of its 32-bit words is all ones."""
    for part in harm.parts_of(data):
        words = array.array("I")
        words.frombytes(data[part.start:part.end])
        words.byteswap()
        total = sum(words)
        while total >> 32:
            total = (total & 0xFFFFFFFF) + (total >> 32)
        if "CHECKSUM" in part.cards and total != 0xFFFFFFFF:
            return [f"{name}: {part.name}: CHECKSUM does not fit"]
    return []


def frame_faults(path, errors):
    """A file that was written is whole, says no number that is none, and is not empty in silence."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    faults = checksum_faults(data, path.name)
    hdus = {hdu.name: hdu for hdu in fits.read(path)}
    images = {name: read_numbers(hdu) for name, hdu in hdus.items()
              if "XTENSION" not in hdu.cards or hdu.cards["XTENSION"].startswith("IMAGE") if hdu.data}
    ivar = images.get("IVAR", [])
    for name, numbers in images.items():
        if numbers.typecode not in "fd" or all(map(math.isfinite, numbers)):
            continue
        bad = [i for i, v in enumerate(numbers) if not math.isfinite(v)]
        weighed = len(ivar) == len(numbers) and sum(1 for i in bad if ivar[i] > 0)
        faults.append(f"{path.name}: {name}: {len(bad)} numbers are not finite" +
                      (f", {weighed} with ivar > 0" if weighed else ""))
    if any(v < 0 for v in ivar):
        faults.append(f"{path.name}: IVAR < 0")
    if "FLUX" in hdus and ivar and max(ivar) <= 0 and not errors.strip():
        faults.append(f"{path.name}: no bin has ivar > 0, and not a word about it")
    return faults


def output_faults(case, folder, code, before, errors):
    """All or nothing: a file is as it was before, or a whole new one; after a failure there is no new one."""
    faults = []
    after = fingerprints(folder / "out")
    # what a link of the case leads to is written through it
    led_to = {os.path.relpath(path.parent / os.readlink(path), folder)
              for path in (folder / "out").rglob("*") if path.is_symlink()}
    for name, what in after.items():
        path = folder / "out" / name
        if ".tmp-" in name:
            faults.append(f"out/{name}: a temporary is left")
            continue
        if before.get(name) == what or not path.is_file() or path.is_symlink():
            continue
        if code not in (0, DIFFERENT, SOME_FAILED, INTERRUPTED) and not case.out_is_state and code >= 0 and \
                name.endswith((".fits", ".fits.gz", ".html")):
            faults.append(f"out/{name}: written in spite of exit code {code}")
        if f"out/{name}" not in led_to and \
                not any(fnmatch.fnmatch(f"out/{name}", pattern) for pattern in case.outputs):
            faults.append(f"out/{name}: nobody asked for it")
        faults += whole_faults(path, errors)
    if code == 0:
        faults += [f"{name}: not there, though the exit code is 0" for name in case.wanted
                   if not os.path.lexists(folder / name)]
    for name, what in before.items():
        if name not in after and not case.out_is_state:
            faults.append(f"out/{name}: what was there is gone")
    return faults


def refuse_constant(text):
    raise ValueError(f"{text} is no number of JSON")


def whole_json(text):
    """A JSON, or one on each line."""
    try:
        json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line, parse_constant=refuse_constant)


def whole_faults(path, errors):
    """By what it holds, for its name may be anything."""
    start = path.read_bytes()[:9].lower()
    try:
        if start.startswith((b"simple", b"\x1f\x8b")):
            return frame_faults(path, errors)
        if start.startswith(b"{") and path.suffix != ".jsonl":
            whole_json(path.read_text(encoding="utf-8"))
        elif start == b"<!doctype" and not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
            return [f"{path.name}: half a page"]
        elif path.name.startswith("frame") and not start.startswith((b"{", b"[", b"<!")):
            return [f"{path.name}: is no file of any kind"]
    except (ValueError, EOFError, KeyError, OSError) as error:
        return [f"{path.name}: is not whole: {error}"]
    return []


def untouched_faults(case, folder, unharmed):
    """The fibres of the other bundle have their old bytes."""
    path = folder / "out/frame.fits"
    if not case.untouched or not path.is_file():
        return []
    ours, theirs = fits.by_name(path), unharmed
    return [f"{name}: fibre {fiber} changed, though its bundle was not harmed" for name in ("FLUX", "IVAR")
            for fiber in case.untouched if ours[name].rows()[fiber] != theirs[name].rows()[fiber]][:1]


def named(argv):
    """Whatever a command line may name: its words, and what stands behind a = in them."""
    return {part for word in argv for part in (word, word.partition("=")[2])}


def written(argv):
    """What a command asks to be written and does not read. Of extract, and of night, expose and redshift where they are
    given no list and no job file: others read what no option names."""
    if argv[0] not in ("extract", "night", "expose", "redshift"):
        return set()
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("-") else [word])]
    pairs = list(zip(["", *words], words))
    read = {value for option, value in pairs if option not in OUTPUT_OPTIONS}
    if argv[0] != "extract" and any(value.endswith((".toml", ".txt")) for value in read):
        return set()
    asked = {value for option, value in pairs if option in OUTPUT_OPTIONS} - read
    return {value for value in asked if not any(value.startswith(f"{folder}/") for folder in read if folder)}


def input_faults(before, after, argv):
    """Nothing in the folder of inputs changes, and nothing is new there, but what the command is told to write."""
    words = named(argv)
    if "in" in words:  # as a folder for outputs
        return []
    asked = written(argv)
    changed = [name for name, what in before.items() if after.get(name) != what and f"in/{name}" not in asked]
    new = [name for name in after if name not in before and not any(f"in/{name}/".startswith(word + "/") for word in words if word.startswith("in/"))]
    return [f"in/{name}: an input was changed" for name in changed] + \
           [f"in/{name}: a file is left among the inputs" for name in new]

