# SPDX-License-Identifier: BSD-3-Clause
"""What is done to bytes: flips, cuts, and absurd numbers where a FITS file holds numbers."""
import array
import math
import re
import sys

BLOCK = 2880
ABSURD = (math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 5e-324, 1e-310, 1e-45, 1e-38, 1e-300, 1e-9, 1e9, 1e14,
          1e30, 1e38, 3e38, -3e38, 3.4028235e38, 1e300, -1e300, 1.7976931348623157e308)
FACTORS = (-1.0, 0.0, 1e-300, 1e-30, 1e-10, 1e6, 1e14, 1e30, 1e38, 1e300, math.nan, math.inf)
CODES = {8: "B", 16: "h", 32: "i", 64: "q", -32: "f", -64: "d"}
TABLE_CODES = {"B": "B", "I": "h", "J": "i", "K": "q", "E": "f", "D": "d"}
CARD_TEXTS = ("-1", "0", "1", "2", "3", "7", "1.5", "-0.5", "32767", "65536", "2147483647", "2147483648", "-2147483648",
              "4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1E14", "1E30", "1E38",
              "3E38", "1E300", "-1E300", "1E999", "NaN", "nan", "inf", "T", "F", "", "''", "'text'", "'  5'", "(1,2)",
              "1,5", "0x10", "1D5", "'" + "x" * 66 + "'", "'unclosed")
CARDS = ("BSCALE", "BZERO", "BLANK", "ZSCALE", "ZZERO", "ZBLANK", "TNULL1", "TSCAL1", "TZERO1", "TZERO2", "TSCAL2",
         "TDIM2", "THEAP", "PCOUNT", "GCOUNT", "GROUPS", "EXTNAME", "CONTINUE", "HIERARCH", "DATASUM", "CHECKSUM",
         "NAXIS", "NAXIS1", "NAXIS2", "NAXIS3", "BITPIX", "ZIMAGE", "ZCMPTYPE", "ZTILE1", "ZTILE2", "ZBITPIX",
         "ZQUANTIZ", "ZDITHER0", "TFORM1", "TFORM2", "TTYPE1", "TFIELDS", "END", "SIMPLE", "XTENSION", "INHERIT",
         "RDNOISE", "PSFERR", "CAMERA", "FIBERMIN", "FIBERMAX", "WAVEMIN", "WAVEMAX", "NPIX_X", "HSIZEX", "GHDEGX")


class Part:
    """Where one HDU lies in the bytes."""

    def __init__(self, data, start):
        self.start, self.cards = start, {}
        at = start
        while at < len(data):
            line = data[at:at + 80].decode("latin-1")
            at += 80
            if line.startswith("END "):
                break
            found = re.match(r"([A-Z0-9_-]+) *= *('(?:[^']|'')*'|[^/ ]*)", line)
            if found:
                self.cards.setdefault(found[1], found[2].strip("' "))
        self.end_of_cards = at
        self.data = at + -(at - start) % BLOCK
        size = abs(self.number("BITPIX")) // 8 if self.number("NAXIS") else 0
        for i in range(1, self.number("NAXIS") + 1):
            size *= self.number(f"NAXIS{i}")
        self.size = size + self.number("PCOUNT")
        self.end = self.data + self.size + -self.size % BLOCK

    def number(self, key):
        return int(self.cards.get(key, "0") or 0)

    @property
    def name(self):
        return self.cards.get("EXTNAME", "")


def parts_of(data):
    parts = []
    while not parts or parts[-1].end < len(data):
        parts.append(Part(data, parts[-1].end if parts else 0))
    return parts


def flip(data, rng):
    """A few bytes are changed, anywhere or in one place."""
    data = bytearray(data)
    if not data:
        return bytes(data), "nothing to flip"
    near, width = rng.randrange(len(data)), rng.choice((1, 16, 2880, len(data)))
    places = [min(len(data) - 1, near + rng.randrange(width)) for _ in range(rng.choice((1, 1, 1, 2, 4, 16, 200)))]
    for place in places:
        data[place] = rng.choice((data[place] ^ (1 << rng.randrange(8)), rng.randrange(256), 0, 255))
    return bytes(data), f"{len(places)} bytes from {near} on"


def cut(data, rng):
    """Shorter, longer, or with a stretch missing, doubled, moved or blank."""
    size = len(data)
    at = rng.choice((0, 1, rng.randrange(size + 1), rng.randrange(size + 1) // BLOCK * BLOCK, max(0, size - 1)))
    length = rng.choice((1, 80, BLOCK, rng.randrange(size + 1)))
    kind = rng.choice(("end", "end", "end", "without", "twice", "zeros", "blanks", "ones", "more"))
    stretch = data[at:at + length]
    changed = {"end": data[:at], "without": data[:at] + data[at + length:], "twice": data[:at] + stretch + data[at:],
               "zeros": data[:at] + bytes(len(stretch)) + data[at + length:],
               "blanks": data[:at] + b" " * len(stretch) + data[at + length:],
               "ones": data[:at] + b"\xff" * len(stretch) + data[at + length:], "more": data + rng.randbytes(length)}
    return changed[kind], f"{kind} at {at}, {length} bytes"


def places(ny, nx, rng):
    """Indices into an array of ny rows, and how to call them."""
    y, x = rng.randrange(ny), rng.randrange(nx)
    kind = rng.choice(("one", "one", "few", "row", "column", "block", "half", "all"))
    if kind == "one":
        return [y * nx + x], f"[{y},{x}]"
    if kind == "few":
        return [rng.randrange(ny * nx) for _ in range(rng.randrange(2, 40))], "a few"
    if kind == "row":
        return range(y * nx, (y + 1) * nx), f"row {y}"
    if kind == "column":
        return range(x, ny * nx, nx), f"column {x}"
    if kind == "block":
        rows, columns = range(y, min(ny, y + 12)), range(x, min(nx, x + 12))
        return [r * nx + c for r in rows for c in columns], f"block [{y},{x}]"
    return range(0, ny * nx if kind == "all" else ny * nx // 2), kind


def store(numbers, index, value):
    """The value, or what is nearest to it in the array's type."""
    if numbers.typecode in "fd":
        limit = 3.4028235e38 if numbers.typecode == "f" else math.inf
        numbers[index] = value if not math.isfinite(value) or abs(value) <= limit else math.copysign(math.inf, value)
        return
    low, high = {"B": (0, 255), "h": (-2**15, 2**15 - 1), "i": (-2**31, 2**31 - 1), "q": (-2**63, 2**63 - 1)}[
        numbers.typecode]
    numbers[index] = low if math.isnan(value) else int(min(max(value, low), high))


def swapped(numbers):
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def absurd_numbers(data, start, code, shape, rng):
    """Some numbers of an array in the file are set, scaled or turned over."""
    count = shape[0] * shape[1]
    numbers = array.array(code)
    end = start + count * numbers.itemsize
    numbers.frombytes(data[start:end])
    swapped(numbers)
    where, note = places(*shape, rng)
    if rng.random() < 0.7:
        value = rng.choice(ABSURD)
        for index in where:
            store(numbers, index, value)
        note += f" = {value!r}"
    else:
        factor = rng.choice(FACTORS)
        for index in where:
            store(numbers, index, numbers[index] * factor)
        note += f" x {factor!r}"
    return data[:start] + swapped(numbers).tobytes() + data[end:], note


def columns_of(part):
    """(offset in the row, code, how many) of each numeric column."""
    found, at = [], 0
    for i in range(1, part.number("TFIELDS") + 1):
        form = re.match(r"(\d*)([A-Z])", part.cards.get(f"TFORM{i}", "1B"))
        count, letter = int(form[1] or 1), form[2]
        if letter in TABLE_CODES and count:
            found.append((at, TABLE_CODES[letter], count, part.cards.get(f"TTYPE{i}", "?")))
        size = {"P": 8, "Q": 16, "X": 0.125, "L": 1, "A": 1, "C": 8, "M": 16}.get(letter)
        at += int(count * (array.array(TABLE_CODES[letter]).itemsize if size is None else size))
    return found


def absurd_values(data, rng, only=()):
    """Absurd numbers in one array or column of a FITS file."""
    wanted = [p for p in parts_of(data) if p.size and (not only or p.name in only)]
    part = rng.choice(wanted)
    if part.cards.get("XTENSION") == "BINTABLE":
        at, code, count, column = rng.choice(columns_of(part))
        row = rng.randrange(part.number("NAXIS2"))
        changed, note = absurd_numbers(data, part.data + row * part.number("NAXIS1") + at, code, (1, count), rng)
        return changed, f"{part.name}.{column}[{row}] {note}"
    axes = [part.number(f"NAXIS{i}") for i in range(1, part.number("NAXIS") + 1)]
    shape = (math.prod(axes[1:]), axes[0])
    changed, note = absurd_numbers(data, part.data, CODES[part.number("BITPIX")], shape, rng)
    return changed, f"{part.name} {note}"


def absurd_card(data, rng):
    """One card of one header is replaced, renamed, removed, repeated or added."""
    part = rng.choice(parts_of(data))
    lines = [data[at:at + 80] for at in range(part.start, part.end_of_cards - 80, 80)]
    index = rng.randrange(len(lines))
    key = lines[index][:8].decode("latin-1")
    kind = rng.choice(("value", "value", "value", "value", "remove", "twice", "add", "rename", "swap"))
    text = rng.choice(CARD_TEXTS)
    if kind in ("value", "twice"):
        line = f"{key}= {text:>20}"[:80].ljust(80).encode()
        lines[index:index + 1] = [line] if kind == "value" else [lines[index], line]
    elif kind == "remove":
        del lines[index]
    elif kind == "rename":
        lines[index] = rng.choice(CARDS).ljust(8).encode() + lines[index][8:]
    elif kind == "swap":
        other = rng.randrange(len(lines))
        lines[index], lines[other] = lines[other], lines[index]
    else:
        key = rng.choice(CARDS)
        lines.insert(index, f"{key:<8}= {text:>20}"[:80].ljust(80).encode())
    head = b"".join(lines) + b"END".ljust(80)
    head += b" " * (-len(head) % BLOCK)
    return data[:part.start] + head + data[part.data:], f"{part.name or 'first HDU'}: {kind} {key.strip()} {text}"


def text_harm(data, rng):
    """A line or a value of a text file (job file, list, receipt) becomes absurd."""
    lines = data.decode("utf-8", "replace").split("\n")
    index = rng.randrange(len(lines))
    kind = rng.choice(("value", "value", "value", "line", "remove", "twice", "word"))
    texts = (*CARD_TEXTS, "[", "{", "[[", '"', '"\\x00"', "../../..", "/", ".", "-", "\x00", "\udcff", "[1,2,3]", "{}",
             "null", "true", "5e9999", "x" * 5000, "[" * 3000)
    text = rng.choice(texts)
    if kind == "value":
        lines[index] = re.sub(r"([=:] *).*?(,?)$", lambda m: m[1] + text + m[2], lines[index], count=1)
    elif kind == "remove":
        del lines[index]
    elif kind == "twice":
        lines.insert(index, lines[index])
    elif kind == "line":
        lines.insert(index, text)
    else:
        words = lines[index].split(" ")
        words[rng.randrange(len(words))] = text
        lines[index] = " ".join(words)
    return "\n".join(lines).encode("utf-8", "surrogateescape"), f"line {index}: {kind} {text[:40]!r}"
