# SPDX-License-Identifier: BSD-3-Clause
"""RICE_1 tiles as the FITS standard describes them, enough to write a compressed frame with the standard library:
one row a tile, integers of 4 bytes, blocks of 32; floats are quantised without dithering."""
import struct

import tiny_fits as fits

BLOCK, FS_BITS, FS_MAX, BITS = 32, 5, 25, 32


class Bits:
    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value, count):
        self.value = (self.value << count) | value
        self.count += count

    def bytes(self):
        fill = -self.count % 8
        return (self.value << fill).to_bytes((self.count + fill) // 8, "big")


def rice(values):
    """One tile."""
    out = Bits()
    out.put(values[0] & 0xFFFFFFFF, BITS)
    last = values[0]
    for at in range(0, len(values), BLOCK):
        folded = []
        for value in values[at:at + BLOCK]:
            step, last = value - last, value
            folded.append(2 * step if step >= 0 else -2 * step - 1)
        total = sum(folded)
        mean = max(0, (total - len(folded) // 2 - 1) // len(folded)) >> 1
        low = mean.bit_length()
        if total == 0:
            out.put(0, FS_BITS)
        elif low >= FS_MAX:
            out.put(FS_MAX + 1, FS_BITS)
            for value in folded:
                out.put(value, BITS)
        else:
            out.put(low + 1, FS_BITS)
            for value in folded:
                out.put(1, (value >> low) + 1)
                out.put(value & ((1 << low) - 1), low)
    return out.bytes()


def packed_image(name, bitpix, shape, values, scale=None, cards=()):
    """A binary table of tiles; `scale` is the step of quantised floats."""
    ny, nx = shape
    rows, heap = b"", b""
    for y in range(ny):
        row = values[y * nx:(y + 1) * nx]
        zero = min(row) if scale else 0.0
        tile = rice([round((v - zero) / scale) for v in row] if scale else list(row))
        rows += struct.pack(">ii", len(tile), len(heap))
        rows += struct.pack(">dd", scale, zero) if scale else b""
        heap += tile
    columns = [("COMPRESSED_DATA", "1PB(%d)" % max(1, len(heap)))]
    columns += [("ZSCALE", "1D"), ("ZZERO", "1D")] if scale else []
    described = [(f"{key}{i}", value) for i, column in enumerate(columns, 1)
                 for key, value in zip(("TTYPE", "TFORM"), column)]
    quantised = [("ZQUANTIZ", "NO_DITHER")] if scale else []
    head = fits.header(
        [("XTENSION", "BINTABLE"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", len(rows) // ny), ("NAXIS2", ny),
         ("PCOUNT", len(heap)), ("GCOUNT", 1), ("TFIELDS", len(columns))] + described +
        [("ZIMAGE", True), ("ZBITPIX", bitpix), ("ZNAXIS", 2), ("ZNAXIS1", nx), ("ZNAXIS2", ny), ("ZTILE1", nx),
         ("ZTILE2", 1), ("ZCMPTYPE", "RICE_1"), ("ZNAME1", "BLOCKSIZE"), ("ZVAL1", BLOCK), ("ZNAME2", "BYTEPIX"),
         ("ZVAL2", 4), ("EXTNAME", name)] + quantised + list(cards))
    return head + fits.pad(rows + heap)


def packed_preproc(camera, nx, ny, cards):
    """The whole frame as fpack leaves it."""
    primary = fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True)])
    return (primary + packed_image("IMAGE", -32, (ny, nx), camera.image, 0.05, cards) +
            packed_image("IVAR", -32, (ny, nx), camera.ivar, 1e-5) +
            packed_image("MASK", 32, (ny, nx), camera.mask))
