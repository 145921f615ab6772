# SPDX-License-Identifier: BSD-3-Clause
"""What files of one group do to each other when `catalogue load` meets them together, and files that would spoil others' rows."""
import struct
import unittest

import tiny_fits
from small_catalogue import Server, frame_bytes, redrock_bytes, targets
from test_catalogue import Case


class Groups(Case):
    def test_two_files_of_one_group_do_not_replace_each_other_in_one_run(self):
        """Halves of a tile, say, each with the tile's own header."""
        halves = [self.put(f"redrock-half{k}.fits", redrock_bytes(1009, 20260109, targets(first, 10))) for k, first in enumerate((1, 101))]
        for _ in range(2):
            result = self.catalogue("load", *halves)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("redrock-half1.fits: redshifts of the same group as ", result.stderr)
            self.assertIn("1 of 2 files could not be loaded", result.stderr)
            ids = [row["targetid"] for row in self.rows("SELECT targetid FROM ztile WHERE tileid = 1009 ORDER BY targetid")]
            self.assertEqual(ids, list(range(1, 11)))
        self.load(halves[1])  # alone it takes the other's place
        self.assertEqual(self.rows("SELECT min(targetid) AS a FROM ztile WHERE tileid = 1009"), [{"a": 101}])

    def test_a_file_that_is_named_twice_is_one(self):
        self.load(self.first, self.first.parent)
        self.assertEqual(len(self.rows("--from", "ztile", "--tileid", 1001)), 30)

    def test_a_link_that_leads_nowhere_is_missed(self):
        folder = self.out / "redux"
        folder.mkdir()
        (folder / "redrock-here.fits").write_bytes(redrock_bytes(1012, 20260112, targets(1, 10)))
        (folder / "redrock-gone.fits").symlink_to("/nowhere/redrock-gone.fits")
        result = self.catalogue("load", folder)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("redrock-gone.fits: No such file or directory", result.stderr)
        self.assertEqual(len(self.rows("--from", "ztile", "--tileid", 1012)), 10)

    def test_an_answer_is_what_its_name_says_and_a_class_may_have_small_letters(self):
        self.load(self.first)
        for command, name in (("query", "x.fits"), ("query", "x.json"), ("export", "x.parquet")):
            self.assert_fails(self.catalogue(command, "-o", self.out / name), 2, f"expected --format {name[2:]}")
        for command, form, name in (("query", "csv", "x.FITS"), ("export", "fits", "x.CSV.gz"), ("query", "csv", "x.Fits.GZ"),
                                    ("export", "parquet", "x.json.gz")):
            wanted = name.lower().removesuffix(".gz").removeprefix("x.")
            self.assert_fails(self.catalogue(command, "--format", form, "-o", self.out / name), 2, f"expected --format {wanted}")
        for command, form, name in (("query", "csv", "x.csv.gz"), ("query", "json", "x.json.GZ"), ("export", "parquet", "x.parquet.zst")):
            self.assert_fails(self.catalogue(command, "--format", form, "-o", self.out / name), 2, "answers are packed as FITS alone")
        self.assertEqual(list(self.out.glob("x*")), [])
        for name in ("x.fits.gz", "y.FITS.GZ"):
            self.assertEqual(self.catalogue("export", "--format", "fits", "-o", self.out / name).returncode, 0)
        self.assertEqual((self.out / "x.fits.gz").read_bytes(), (self.out / "y.FITS.GZ").read_bytes())
        galaxies = self.rows("--class", "GALAXY")
        self.assertEqual((self.rows("--class", "galaxy"), len(galaxies) > 0), (galaxies, True))

    def test_targets_that_fibermap_does_not_know_are_told_of(self):
        data = redrock_bytes(1010, 20260110, targets(1, 10))
        data = data.replace(struct.pack(">qd", 5, 150.0), struct.pack(">qd", 999, 150.0))
        result = self.catalogue("load", self.put("redrock-strangers.fits", data))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("FIBERMAP has no row of 1 of 10 targets: they get no place on the sky", result.stderr)
        for k, (before, after) in enumerate(((b"'FIBERMAP'", b"'FIBERMAX'"), (b"'TARGET_DEC'", b"'TARGET_DEX'"))):
            data = redrock_bytes(1020 + k, 20260110, targets(1, 10))
            self.assertIn(before, data)
            result = self.catalogue("load", self.put(f"redrock-nowhere{k}.fits", data.replace(before, after)))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, "no FIBERMAP with numbers TARGET_(RA|DEC): 10 targets get no place on the sky")
        known = self.catalogue("load", self.put("redrock-known.fits", redrock_bytes(1011, 20260111, targets(1, 10))))
        self.assertNotIn("no place", known.stderr)

    def pixels(self):
        """One target in groups of a pixel that differ in what they say of themselves; names with and without capitals."""
        out = []
        for k, survey in enumerate((None, "main", "Main", "_x", "sv3")):
            data = redrock_bytes(1100, 20260101, [(7, 0.1 * k, 0, "GALAXY", 150.0, 2.0)])
            data = data.replace(tiny_fits.card("SPGRP", "cumulative"), tiny_fits.card("SPGRP", "healpix"), 1)
            data = data.replace(tiny_fits.card("TILEID", 1100), tiny_fits.card("HPXPIXEL", 5), 1)
            data = data.replace(tiny_fits.card("SURVEY", "main"), tiny_fits.card("SURVEY" if survey else "OTHER", survey or "main"), 1)
            out.append(self.put(f"redrock-pixel{k}.fits", data))
        return out

    @unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed (Debian: postgresql)")
    def test_rows_have_one_order_in_a_file_and_on_a_server_of_any_language(self):
        server = Server()
        self.addCleanup(server.remove)
        server.make("plain")
        server.call("psql", "-h", server.folder, "-U", "loom", "-d", "postgres", "-c",
                    "CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'")
        files = self.pixels()
        self.load(*files)
        wanted = [self.rows("--from", name, "--columns", "*") for name in ("zpix", "redshift", "spgroup")]
        self.assertEqual([row["survey"] for row in wanted[0]], [None, "Main", "_x", "main", "sv3"])
        for name in ("plain", "english"):
            url = f"postgresql://loom@/{name}?host={server.folder}"
            result = self.catalogue("load", *files, db=url)
            if result.returncode == 15:
                self.skipTest("this build has no PostgreSQL")
            self.assertEqual([self.rows("--from", name, "--columns", "*", db=url) for name in ("zpix", "redshift", "spgroup")], wanted)
            self.assertEqual(self.rows("--from", "zpix", "--limit", 2, db=url), self.rows("--from", "zpix", "--limit", 2))


class Refused(Case):
    def test_numbers_of_targets_that_lost_digits_are_refused(self):
        """Two targets that a table in floating-point numbers has as one."""
        first = 39627788403084375
        for name in ("FIBERMAP", "EXP_FIBERMAP", "CANDIDATES"):
            columns = lambda t: [("TARGETID", "D", "d", None) if t == name else ("TARGETID", "K", "q", None)]  # noqa: E731
            rows = [("SPECTYPE", "6A", "6s", None), ("Z", "D", "d", None), ("ZWARN", "K", "q", None)]
            data = tiny_fits.header([("SIMPLE", True), ("BITPIX", 8), ("NAXIS", 0), ("EXTEND", True), ("TILEID", 7), ("PETAL", 0)])
            data += tiny_fits.table("REDSHIFTS", columns("") + rows, [(first + k, b"GALAXY", 0.1, 0) for k in range(2)])
            for table in ("FIBERMAP", "EXP_FIBERMAP"):
                number = float if table == name else int
                data += tiny_fits.table(table, columns(table), [(number(first + k),) for k in range(2)])
            number = float if name == "CANDIDATES" else int
            data += tiny_fits.table("CANDIDATES", columns("CANDIDATES") + rows, [(number(first + k), b"GALAXY", 0.1, 0) for k in range(2)])
            self.assert_fails(self.catalogue("load", self.put(f"redrock-{name}.fits", data)), 14, f"redrock-{name}.fits: {name}: ",
                              "lost digits of 396277884030843")
        self.assertEqual(self.rows("SELECT count(*) AS n FROM redshift")[0]["n"], 0)

    def test_a_truth_takes_no_frame_s_place(self):
        self.load()
        frames = self.rows("SELECT kind, path FROM frame")
        truth = self.put("truth-r1-00000042.fits", frame_bytes(42, 20260101, 1001, "r1").replace(b"'IVAR ", b"'XVAR "))
        self.assert_fails(self.catalogue("load", truth), 11, "neither redshifts nor spectra, a frame", "seems to be of kind 'truth'")
        self.assertEqual(self.rows("SELECT kind, path FROM frame"), frames)


if __name__ == "__main__":
    unittest.main()
