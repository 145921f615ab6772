# SPDX-License-Identifier: BSD-3-Clause
"""Just enough FITS for the end-to-end tests, with the standard library only: write images and simple tables,
read headers, images and raw table bytes."""
import gzip
import struct

BLOCK = 2880
CODES = {8: "B", 16: "h", 32: "i", 64: "q", -32: "f", -64: "d"}


def card(key, value, comment=""):
    if isinstance(value, bool):
        text = f"{'T' if value else 'F':>20}"
    elif isinstance(value, int):
        text = f"{value:>20}"
    elif isinstance(value, float):
        text = f"{value!r:>20}".replace("e", "E")
    else:
        text = "'%-8s'" % value.replace("'", "''")
    line = f"{key:<8}= {text}" + (f" / {comment}" if comment else "")
    return line[:80].ljust(80).encode("ascii")


def pad(data, fill=b"\0"):
    return data + fill * (-len(data) % BLOCK)


def header(cards):
    return pad(b"".join(card(*c) for c in cards) + b"END".ljust(80), b" ")


def image(name, bitpix, shape, values, cards=(), first=False):
    """One image HDU; `shape` is (ny, nx) or (n,), `values` flat."""
    axes = [(f"NAXIS{i + 1}", n) for i, n in enumerate(reversed(shape))]
    start = [("SIMPLE", True)] if first else [("XTENSION", "IMAGE")]
    end = [("EXTEND", True)] if first else [("PCOUNT", 0), ("GCOUNT", 1)]
    names = [("EXTNAME", name)] if name else []
    head = header(start + [("BITPIX", bitpix), ("NAXIS", len(shape))] + axes + end + names
                  + list(cards))
    return head + pad(struct.pack(f">{len(values)}{CODES[bitpix]}", *values))


def signed(hdu):
    """One HDU, of image() or table(), with its DATASUM."""
    end = next(at for at in range(0, len(hdu), 80) if hdu[at:at + 80].rstrip() == b"END")
    start = (end // BLOCK + 1) * BLOCK
    total = sum(struct.unpack(f">{(len(hdu) - start) // 4}I", hdu[start:]))
    while total >> 32:
        total = (total & 0xFFFFFFFF) + (total >> 32)
    return pad(hdu[:end] + card("DATASUM", str(total)) + b"END".ljust(80), b" ") + hdu[start:]


def table(name, columns, rows, cards=()):
    """columns: (name, TFORM, struct code, TDIM or None); rows: tuples of flat values or bytes."""
    described, code = [], ">"
    for i, (column, form, fmt, dim) in enumerate(columns, 1):
        described += [(f"TTYPE{i}", column), (f"TFORM{i}", form)]
        if dim:
            described.append((f"TDIM{i}", dim))
        code += fmt
    data = b""
    for row in rows:
        flat = []
        for value in row:
            flat.extend(value if isinstance(value, (list, tuple)) else [value])
        data += struct.pack(code, *flat)
    head = header([("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2),
                   ("NAXIS1", struct.calcsize(code)), ("NAXIS2", len(rows)), ("PCOUNT", 0),
                   ("GCOUNT", 1), ("TFIELDS", len(columns)), ("EXTNAME", name)]
                  + described + list(cards))
    return head + pad(data)


class Hdu:
    def __init__(self, cards, data, start):
        self.cards, self.data, self.start = cards, data, start  # start: of the data in the file

    @property
    def name(self):
        return self.cards.get("EXTNAME", "")

    @property
    def shape(self):
        return tuple(self.cards[f"NAXIS{i}"] for i in range(self.cards["NAXIS"], 0, -1))

    def rows(self):
        """Raw bytes of each element of the slowest axis."""
        n = self.shape[0]
        size = len(self.data) // n
        return [self.data[i * size:(i + 1) * size] for i in range(n)]

    def values(self):
        code = CODES[self.cards["BITPIX"]]
        values = struct.unpack(f">{len(self.data) // struct.calcsize(code)}{code}", self.data)
        zero = self.cards.get("BZERO", 0)
        return [v + int(zero) for v in values] if zero else list(values)


def parse_card(line):
    key = line[:8].strip()
    if line[8:10] != "= ":
        return key, None
    text = line[10:].strip()
    if text.startswith("'"):
        end = 1
        while end < len(text) and (text[end] != "'" or text[end + 1:end + 2] == "'"):
            end += 2 if text[end] == "'" else 1
        return key, text[1:end].replace("''", "'").rstrip()
    text = text.split("/")[0].strip()
    if text in ("T", "F"):
        return key, text == "T"
    try:
        return key, int(text)
    except ValueError:
        try:
            return key, float(text.replace("D", "E")) if text else None
        except ValueError:
            return key, text  # a complex number, or none


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    hdus, at = [], 0
    while at < len(data):
        cards, ended = {}, False
        while not ended:
            block = data[at:at + BLOCK].decode("ascii")
            at += BLOCK
            for i in range(0, BLOCK, 80):
                line = block[i:i + 80]
                if line.startswith("END     ") or line.strip() == "END":
                    ended = True
                    break
                key, value = parse_card(line)
                cards.setdefault(key, value)
        size = abs(cards["BITPIX"]) // 8 if cards["NAXIS"] else 0
        for i in range(1, cards["NAXIS"] + 1):
            size *= cards[f"NAXIS{i}"]
        size += cards.get("PCOUNT", 0) or 0
        hdus.append(Hdu(cards, data[at:at + size], at))
        at += size + (-size % BLOCK)
    return hdus


def by_name(path):
    return {hdu.name: hdu for hdu in read(path)}
