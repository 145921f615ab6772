# SPDX-License-Identifier: BSD-3-Clause
"""A reader of flat Parquet files that are not compressed, from the format's own description: the tests' other road.

    rows, {name: [value or None, ...]}, {name: (physical type, converted type or None, optional)} = read(path)
"""
import struct

PHYSICAL = {0: "BOOLEAN", 1: "INT32", 2: "INT64", 4: "FLOAT", 5: "DOUBLE", 6: "BYTE_ARRAY"}
CONVERTED = {0: "UTF8", 16: "INT_16"}
NUMBERS = {"INT32": "i", "INT64": "q", "FLOAT": "f", "DOUBLE": "d"}


class Thrift:
    """Structs of the compact protocol as {field number: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7f) << shift
            shift += 7
            if b < 0x80:
                return value

    def value(self, kind):
        if kind in (4, 5, 6):
            v = self.varint()
            return (v >> 1) ^ -(v & 1)
        if kind == 8:
            n = self.varint()
            self.at += n
            return bytes(self.data[self.at - n:self.at])
        if kind == 9:
            head = self.byte()
            n = head >> 4
            n = self.varint() if n == 15 else n
            return [self.value(head & 15) for _ in range(n)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"thrift type {kind} at {self.at}")

    def struct(self):
        out, field = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return out
            field += head >> 4 or self.value(4)
            assert field not in out
            out[field] = self.value(head & 15)


def known_of(data, at, rows):
    """Definition levels: runs and bit-packed groups, behind their length."""
    end = at + 4 + struct.unpack_from("<I", data, at)[0]
    reader, out = Thrift(data, at + 4), []
    while reader.at < end:
        head = reader.varint()
        if head & 1:
            for _ in range(head >> 1):
                b = reader.byte()
                out += [bool(b >> k & 1) for k in range(8)]
        else:
            out += [bool(reader.byte())] * (head >> 1)
    assert reader.at == end and len(out) >= rows
    return out[:rows], end


def values_of(data, at, kind, count):
    if kind == "BOOLEAN":
        return [bool(data[at + k // 8] >> k % 8 & 1) for k in range(count)], at + (count + 7) // 8
    if kind in NUMBERS:
        form = f"<{count}{NUMBERS[kind]}"
        return list(struct.unpack_from(form, data, at)), at + struct.calcsize(form)
    out = []
    for _ in range(count):
        n, = struct.unpack_from("<I", data, at)
        out.append(data[at + 4:at + 4 + n].decode("utf-8"))
        at += 4 + n
    return out, at


def read(path):
    data = path.read_bytes()
    assert data[:4] == data[-4:] == b"PAR1"
    length, = struct.unpack("<I", data[-8:-4])
    footer = Thrift(data, len(data) - 8 - length)
    meta = footer.struct()
    assert footer.at == len(data) - 8 and meta[1] == 1
    root, *leaves = meta[2]
    assert root[5] == len(leaves)
    names = [leaf[4].decode() for leaf in leaves]
    kinds = {n: (PHYSICAL[leaf[1]], CONVERTED.get(leaf.get(6)), bool(leaf[3])) for n, leaf in zip(names, leaves)}
    columns, seen = {n: [] for n in names}, 4
    for group in meta[4]:
        assert len(group[1]) == len(names)
        for name, chunk in zip(names, group[1]):
            info = chunk[3]
            assert [p.decode() for p in info[3]] == [name] and info[4] == 0 and PHYSICAL[info[1]] == kinds[name][0]
            assert info[9] == chunk[2] == seen, "pages follow one another without a gap"
            page = Thrift(data, info[9])
            head = page.struct()
            assert head[1] == 0 and head[5][2] == 0 and head[2] == head[3] and info[6] == info[7]
            rows, at = head[5][1], page.at
            assert rows == group[3] == info[5]
            known = [True] * rows
            if kinds[name][2]:
                known, at = known_of(data, at, rows)
            values, at = values_of(data, at, kinds[name][0], sum(known))
            assert at == page.at + head[2]
            seen = at
            values = iter(values)
            columns[name] += [next(values) if k else None for k in known]
        assert group[2] == sum(chunk[3][7] for chunk in group[1])
    assert seen == len(data) - 8 - length
    assert meta[3] == sum(group[3] for group in meta[4]) and all(len(v) == meta[3] for v in columns.values())
    return meta[3], columns, kinds
