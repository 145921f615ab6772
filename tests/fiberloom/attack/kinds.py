# SPDX-License-Identifier: BSD-3-Clause
"""Attacks on the content of files: each kind puts harmed files into the case's folder and says what to run."""
import gzip

import corpus
import harm
from case import Case
from corpus import (COADD, FIBERMAP, FRAME, FZ, GZ, IMAGE, JOB, LIST, MODEL, NARROW, OTHER, PSF, REDROCK, RESIDUAL, RRDETAILS, RRMODEL, SUMMARY, TEMPLATE,
                    TRUTH, WIDE)

FRAME_OUT = {"outputs": ["out/frame.fits"], "wanted": ["out/frame.fits"]}


def extract_case(name, note, harmed, image=IMAGE, more=(), **rest):
    return Case(name, [*corpus.extract(image), *more], note, at_fault=[harmed], **FRAME_OUT, **rest)


def harmed_file(how, stored, rng, c):
    """Puts the file, harmed, into the folder."""
    data, note = how(c.files[stored], rng)
    c.put(stored, data)
    return f"{stored}: {note}"


def flip_or_cut(data, rng):
    return harm.flip(data, rng) if rng.random() < 0.6 else harm.cut(data, rng)


def bytes_image(c, rng, name):
    c.place(PSF)
    harmed = rng.choice((IMAGE, IMAGE, WIDE, NARROW))
    return extract_case(name, harmed_file(flip_or_cut, harmed, rng, c), harmed, harmed)


def bytes_gz(c, rng, name):
    """Flips in the stream, or in what it unpacks to."""
    c.place(PSF)
    if rng.random() < 0.5:
        return extract_case(name, harmed_file(flip_or_cut, GZ, rng, c), GZ, GZ)
    data, note = flip_or_cut(c.files[IMAGE], rng)
    c.put(GZ, gzip.compress(data, 1, mtime=0))
    return extract_case(name, "inside: " + note, GZ, GZ)


def bytes_fz(c, rng, name):
    c.place(PSF)
    return extract_case(name, harmed_file(flip_or_cut, FZ, rng, c), FZ, FZ)


def bytes_psf(c, rng, name):
    c.place(IMAGE)
    return extract_case(name, harmed_file(flip_or_cut, PSF, rng, c), PSF)


def bytes_fibermap(c, rng, name):
    c.place(IMAGE, PSF)
    note = harmed_file(flip_or_cut, FIBERMAP, rng, c)
    return extract_case(name, note, FIBERMAP, more=["-f", FIBERMAP])


def reader_command(rng, harmed):
    """A command that reads the frame, and the files it takes."""
    if harmed in (SUMMARY, MODEL, RESIDUAL, TRUTH):
        option = {SUMMARY: "--summary", MODEL: "--model", RESIDUAL: "--residual", TRUTH: "--truth"}[harmed]
        more = ["--image", IMAGE] if harmed == MODEL else ["--model", MODEL] if harmed == RESIDUAL else []
        return ["report", FRAME, option, harmed, *more, "-o", "out/report.html"], ["out/report.html"]
    return rng.choice(((["info", harmed], []), (["compare", FRAME, OTHER], []), (["compare", OTHER, FRAME], []),
                       (["report", FRAME, "-o", "out/report.html"], ["out/report.html"])))


def reader_case(c, rng, name, how, harmed):
    c.place(FRAME, OTHER, IMAGE, MODEL, RESIDUAL, TRUTH, SUMMARY)
    note = harmed_file(how, harmed, rng, c)
    argv, made = reader_command(rng, harmed)
    return Case(name, argv, note, made, made, [harmed])


def bytes_frame(c, rng, name):
    return reader_case(c, rng, name, flip_or_cut, rng.choice((FRAME, FRAME, FRAME, OTHER, MODEL, RESIDUAL, TRUTH)))


def text_summary(c, rng, name):
    how = rng.choice((harm.text_harm, harm.text_harm, flip_or_cut))
    return reader_case(c, rng, name, how, SUMMARY)


def value_frame(c, rng, name):
    return reader_case(c, rng, name, harm.absurd_values, rng.choice((FRAME, FRAME, FRAME, MODEL, RESIDUAL, TRUTH)))


def card_frame(c, rng, name):
    return reader_case(c, rng, name, harm.absurd_card, rng.choice((FRAME, FRAME, OTHER, MODEL, TRUTH)))


def info_inputs(c, rng, name):
    """`info` of every kind of file."""
    harmed = rng.choice((IMAGE, WIDE, NARROW, FZ, PSF, FIBERMAP, TRUTH, MODEL))
    note = harmed_file(rng.choice((flip_or_cut, harm.absurd_card)), harmed, rng, c)
    return Case(name, ["info", harmed], note, at_fault=[harmed])


def value_image(c, rng, name):
    c.place(PSF)
    only = rng.choice((("IMAGE",), ("IVAR",), ("IVAR",), ("MASK",)))
    harmed = rng.choice((IMAGE, IMAGE, WIDE, NARROW))
    note = harmed_file(lambda data, r: harm.absurd_values(data, r, only), harmed, rng, c)
    more = rng.choice(([], [], [], ["-m", "out/model.fits"], ["--method", "patch"]))
    case = extract_case(name, note, harmed, harmed, more, codes=(0, 11, 12, 13, 14, 15, 40))
    case.outputs = ["out/frame.fits", "out/model.fits"]
    return case


BETWEEN_BUNDLES = (50, 55)  # columns that the spots of neither bundle reach are beyond these


def pixels(c, rng, name):
    """Wild pixels under one bundle: the frame is there, and the other bundle does not know."""
    c.place(PSF)
    data = c.files[IMAGE]
    first = rng.random() < 0.5
    columns = range(BETWEEN_BUNDLES[0]) if first else range(BETWEEN_BUNDLES[1], corpus.NX)
    only = rng.choice(("IMAGE", "IVAR", "IVAR"))
    part = next(p for p in harm.parts_of(data) if p.name == only)
    value = rng.choice(harm.ABSURD)
    x, y = rng.choice(columns), rng.randrange(corpus.NY)
    width, height = rng.choice(((1, 1), (1, 1), (1, 1), (6, 6), (1, corpus.NY), (len(columns), 1)))
    wild = bytearray(data)
    numbers = harm.array.array("f", [0.0])
    harm.store(numbers, 0, value)
    raw = harm.swapped(numbers).tobytes()
    for row in range(y if height < corpus.NY else 0, min(corpus.NY, y + height)):
        for column in range(x, x + width) if width < len(columns) else columns:
            if column in columns:
                at = part.data + 4 * (row * corpus.NX + column)
                wild[at:at + 4] = raw
    c.put(IMAGE, bytes(wild))
    return extract_case(name, f"{only}[{y},{x}] {width} x {height} = {value!r}", IMAGE, codes=(0,),
                        untouched=tuple(range(5, 10) if first else range(5)))


def value_psf(c, rng, name):
    c.place(IMAGE)
    return extract_case(name, harmed_file(harm.absurd_values, PSF, rng, c), PSF)


def value_fibermap(c, rng, name):
    c.place(IMAGE, PSF)
    note = harmed_file(harm.absurd_values, FIBERMAP, rng, c)
    return extract_case(name, note, FIBERMAP, more=["-f", FIBERMAP], codes=(0, 14, 22))


def card_image(c, rng, name):
    c.place(PSF)
    harmed = rng.choice((IMAGE, IMAGE, FZ, WIDE, NARROW))
    return extract_case(name, harmed_file(harm.absurd_card, harmed, rng, c), harmed, harmed)


def card_psf(c, rng, name):
    c.place(IMAGE)
    return extract_case(name, harmed_file(harm.absurd_card, PSF, rng, c), PSF)


def card_fibermap(c, rng, name):
    c.place(IMAGE, PSF)
    return extract_case(name, harmed_file(harm.absurd_card, FIBERMAP, rng, c), FIBERMAP, more=["-f", FIBERMAP])


REDSHIFT_OUT = {"outputs": ["out/redrock.fits", "out/model.fits", "out/details.h5"], "wanted": ["out/redrock.fits"]}


def redshift_case(c, rng, name, how):
    """Spectra or templates, harmed: a table without a number that is none, or one line."""
    c.place(COADD, TEMPLATE)
    harmed = rng.choice((COADD, COADD, TEMPLATE))
    note = harmed_file(how, harmed, rng, c)
    more = rng.choice(([], [], ["--model", "out/model.fits"], ["-d", "out/details.h5"], ["--method", "redrock"],
                       ["--method", "exact", "--allspec"]))
    return Case(name, [*corpus.redshift(), *more], note, at_fault=[harmed], **REDSHIFT_OUT)


def bytes_redshift(c, rng, name):
    return redshift_case(c, rng, name, flip_or_cut)


def value_redshift(c, rng, name):
    return redshift_case(c, rng, name, harm.absurd_values)


def card_redshift(c, rng, name):
    return redshift_case(c, rng, name, harm.absurd_card)


def page_case(c, rng, name, how, harmable=(REDROCK, REDROCK, COADD, RRMODEL, TEMPLATE)):
    """A page of redshifts one of whose files is harmed; sometimes without the files that it could do without."""
    c.place(REDROCK, COADD, RRMODEL, RRDETAILS, TEMPLATE)
    harmed = rng.choice(harmable)
    note = harmed_file(how, harmed, rng, c)
    argv = corpus.page()
    for option, file in (("--details", RRDETAILS), ("--model", RRMODEL), ("-t", TEMPLATE)):
        if file != harmed and rng.random() < 0.4:
            at = argv.index(option)
            del argv[at:at + 2]
    return Case(name, argv, note, ["out/page.html"], ["out/page.html"], [harmed])


def bytes_page(c, rng, name):
    return page_case(c, rng, name, flip_or_cut, (REDROCK, REDROCK, COADD, RRMODEL, RRDETAILS, RRDETAILS, TEMPLATE))


def value_page(c, rng, name):
    return page_case(c, rng, name, harm.absurd_values)


def card_page(c, rng, name):
    return page_case(c, rng, name, harm.absurd_card)


def text_job(c, rng, name):
    """Job files and lists, harmed; what they name is there."""
    harmed = rng.choice((JOB, JOB, LIST))
    c.place(IMAGE, PSF)
    c.night_tree()
    note = harmed_file(rng.choice((harm.text_harm, harm.text_harm, flip_or_cut)), harmed, rng, c)
    argv = ["night", harmed, "-q", "-o", "out", "--threads", "1"]
    if harmed == LIST:
        argv += ["-w", corpus.GRID, "--bundlesize", "5"]
    if rng.random() < 0.3:
        argv.append("--dry-run")
    return Case(name, argv, note, [*NIGHT_OUTPUTS, "out/*/frame*"], at_fault=[harmed], patience_s=10.0)


NIGHT_OUTPUTS = ["out/.fiberloom/*", "out/status.*", "out/20*/*/frame-*.fits", "out/frame-*.fits"]


def night_input(c, rng, name):
    """One of two frames is harmed: the other is made all the same."""
    c.night_tree()
    below = f"{corpus.NIGHT}/20261121/00000011"
    harmed = rng.choice((f"{below}/preproc-b0-00000011.fits", f"{below}/psf-b0.fits"))
    stored = IMAGE if "preproc" in harmed else PSF
    data, note = rng.choice((flip_or_cut, harm.absurd_values, harm.absurd_card))(c.files[stored], rng)
    c.put(harmed, data)
    good = "out/20261121/00000011/frame-r0-00000011.fits"
    case = Case(name, corpus.night(), f"{harmed}: {note}", NIGHT_OUTPUTS, [good], [harmed], codes=(0, 3))
    return case


def night_state(c, rng, name):
    """Receipts, quarantine, ledger, claims of a night that was done, harmed."""
    c.restore_night()
    state = sorted(p for p in (c.folder / "out").rglob("*") if p.is_file() and "frame-" not in p.name)
    path = rng.choice(state)
    how = rng.choice((flip_or_cut, flip_or_cut, harm.text_harm if path.suffix != ".sqlite" else flip_or_cut))
    data, note = how(path.read_bytes(), rng)
    kind = rng.choice(("harm", "harm", "harm", "harm", "remove", "folder", "link"))
    path.unlink()
    if kind == "harm":
        path.write_bytes(data)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("nowhere")
    more = rng.choice(([], [], ["--verify"], ["--dry-run"], ["--rebuild-ledger"], ["--retry", "1"]))
    return Case(name, [*corpus.night(), *more], f"{path.name}: {kind} {note}", NIGHT_OUTPUTS, out_is_state=True)
