# SPDX-License-Identifier: BSD-3-Clause
"""Volumes in OME-Zarr's layout, read by what the format says alone, and by Python's zarr where that is installed."""
import importlib.util
import json
import struct
import unittest
import zlib

from run_tomoloom import Case


def read(level):
    """Shape and numbers, [slice][row][column] in one list, of an array of Zarr version 2."""
    about = json.loads((level / ".zarray").read_text())
    assert about["zarr_format"] == 2 and about["dtype"] == "<f4" and about["order"] == "C"
    shape, chunks = about["shape"], about["chunks"]
    found = {}

    def chunk(place):
        if place not in found:
            packed = (level / about["dimension_separator"].join(map(str, place))).read_bytes()
            plain = zlib.decompress(packed) if about["compressor"] else packed
            found[place] = struct.unpack(f"<{chunks[0] * chunks[1] * chunks[2]}f", plain)
        return found[place]

    numbers = []
    for z in range(shape[0]):
        for y in range(shape[1]):
            for x in range(0, shape[2], chunks[2]):
                own = chunk((z // chunks[0], y // chunks[1], x // chunks[2]))
                start = (z % chunks[0] * chunks[1] + y % chunks[1]) * chunks[2]
                numbers += own[start:start + min(chunks[2], shape[2] - x)]
    return shape, numbers


class Zarr(Case):
    def volume_of(self, *more, name="volume.zarr"):
        self.ok("recon", self.scan, "-o", self.out / name, "--quiet", "--rows", "3:40", *more)
        return self.out / name

    def test_chunks_hold_what_images_hold(self):
        images = self.volume_of("--format", "tiff", name="slices")
        want = b"".join(p.read_bytes()[-64 * 64 * 4:] for p in sorted(images.iterdir()))
        for words in ((), ("--zarr-level", 3), ("--threads", 3)):
            shape, numbers = read(self.volume_of(*words) / "0")
            self.assertEqual(shape, [37, 64, 64])
            self.assertEqual(struct.pack(f"<{len(numbers)}f", *numbers), want)
        attributes = json.loads((self.out / "volume.zarr/.zattrs").read_text())
        self.assertEqual([a["name"] for a in attributes["multiscales"][0]["axes"]], ["z", "y", "x"])
        self.assertEqual(attributes["tomoloom"]["method"], "exact")
        self.assertEqual(json.loads((self.out / "volume.zarr/.zgroup").read_text()), {"zarr_format": 2})
        self.assertRegex(self.ok("info", self.out / "volume.zarr").stdout,
                         r"(?s)OME-Zarr volume.*slices +37.*rows x columns +64 x 64.*method +exact")

    def test_a_folder_is_replaced_where_it_is_such_a_volume(self):
        volume = self.volume_of()
        first = {p.relative_to(volume): p.read_bytes() for p in volume.rglob("*") if p.is_file()}
        self.volume_of("--threads", 3)
        self.assertEqual({p.relative_to(volume): p.read_bytes() for p in volume.rglob("*") if p.is_file()}, first)
        self.fails(32, "exists", "recon", self.scan, "-o", volume, "--no-clobber")
        (volume / "0/mine.txt").write_text("mine")
        self.fails(32, "holds 0/mine.txt", "recon", self.scan, "-o", volume)
        self.assertEqual([p.name for p in self.out.iterdir()], ["volume.zarr"])

    def test_is_looked_at_and_compared_as_any_volume(self):
        want = self.out / "same.h5"
        self.ok("recon", self.scan, "-o", want, "--quiet", "--rows", "3:40")
        for words in ((), ("--zarr-level", 3)):
            volume = self.volume_of(*words)
            self.ok("compare", volume, want, "--max-rms", 0)
            self.ok("compare", want, volume, "--max-rms", 0)
            self.ok("view", volume, "-o", self.out / "v.html", "--with", want, "--scan", self.scan)
            self.assertIn("volume.zarr", (self.out / "v.html").read_text())
        chunk = volume / "0/1/0/0"
        chunk.write_bytes(chunk.read_bytes()[:-9])
        self.fails(14, "0/1/0/0", "compare", volume, want)
        self.fails(14, "0/1/0/0", "view", volume, "-o", self.out / "w.html")
        self.assertFalse((self.out / "w.html").exists())
        (volume / "0/.zarray").write_text("{")
        for words in (("compare", volume, want), ("info", volume), ("view", volume, "-o", self.out / "w.html")):
            self.fails(14, "0/.zarray", *words)

    def test_of_many_scans(self):
        command = ("recon", self.scan.parent, "-o", self.out / "all", "--format", "zarr", "--rows", "3:8")
        self.ok(*command)
        self.assertEqual(read(self.out / "all/scan_rec.zarr/0")[0], [5, 64, 64])
        self.assertRegex(self.ok(*command, "--dry-run").stdout, "up-to-date +scan_rec")

    @unittest.skipUnless(importlib.util.find_spec("zarr"), "Python's zarr is not installed")
    def test_zarr_itself_reads_it(self):
        import zarr
        for words in ((), ("--zarr-level", 6)):
            volume = self.volume_of(*words)
            group = zarr.open_group(str(volume), mode="r")
            multiscales = group.attrs["multiscales"][0]
            for each in multiscales["datasets"]:
                shape, numbers = read(volume / each["path"])
                array = group[each["path"]]
                self.assertEqual(list(array.shape), shape)
                self.assertEqual(array[:].ravel().tolist(), numbers)


if __name__ == "__main__":
    unittest.main()
