# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom catalogue end to end: files in, what they say out, as text, JSON and FITS; bad input; a real server."""
import csv
import io
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import unittest

import tiny_fits
import tiny_parquet
from run_fiberloom import PROGRAM, Folders
from small_catalogue import Server, frame_bytes, redrock_bytes, targets

COLUMNS = "targetid,z,zwarn,spectype,target_ra,target_dec,tileid"


class Case(Folders):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.redux = cls.inputs / "redux"
        (cls.redux / "tiles").mkdir(parents=True)
        cls.first = cls.redux / "tiles" / "redrock-0-1001-thru20260101.fits"
        cls.first.write_bytes(redrock_bytes(1001, 20260101, targets(1, 30), candidates=2))
        (cls.redux / "tiles" / "redrock-0-1002-thru20260102.fits").write_bytes(
            redrock_bytes(1002, 20260102, targets(21, 30, dec=2.2)))
        (cls.redux / "cframe-r1-00000042.fits").write_bytes(frame_bytes(42, 20260101, 1001, "r1"))

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fiberloom-db-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.db = str(self.folder / "catalogue.sqlite")

    def catalogue(self, *arguments, db=None, **more):
        return self.program("catalogue", *arguments, "--db", db or self.db, **more)

    def load(self, *files, db=None):
        result = self.catalogue("load", *(files or [self.redux]), db=db)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def rows(self, *arguments, db=None):
        """The answer as dictionaries."""
        result = self.catalogue("query", *arguments, "--format", "json", db=db)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)

    def check_readers(self, db):
        """Two processes load, ten threads ask: every answer has whole groups, and nothing is lost."""
        for i in range(12):
            self.put(f"redrock-0-{2000 + i}.fits", redrock_bytes(2000 + i, 20260103, targets(1000 * i, 50)))
        files = [str(self.inputs / f"redrock-0-{2000 + i}.fits") for i in range(12)]
        self.assertEqual(self.catalogue("load", self.first, db=db).returncode, 0)
        odd, looks = [], []
        stop = threading.Event()

        def look():
            while not stop.is_set() and not odd:
                try:
                    n = self.rows("SELECT count(*) AS n FROM redshift WHERE tileid >= 2000", db=db)[0]["n"]
                except AssertionError as error:
                    n = str(error)
                looks.append(n)
                if isinstance(n, str) or n % 50:
                    odd.append(n)
        readers = [threading.Thread(target=look) for _ in range(10)]
        for reader in readers:
            reader.start()
        writers = [subprocess.Popen([PROGRAM, "catalogue", "load", *part, "--db", str(db), "-q"]) for part in (files[:6], files[6:])]
        codes = [writer.wait(timeout=120) for writer in writers]
        stop.set()
        for reader in readers:
            reader.join()
        self.assertEqual((codes, odd), ([0, 0], []))
        self.assertEqual(self.rows("SELECT count(*) AS n FROM redshift WHERE tileid >= 2000", db=db)[0]["n"], 600)
        self.assertGreaterEqual(len(looks), 10)


class Load(Case):
    def test_a_folder_becomes_rows_and_a_second_time_nothing_changes(self):
        self.assertIn("60 redshifts of 2 groups", self.load())
        before = self.rows("SELECT * FROM redshift ORDER BY targetid, tileid")
        self.assertIn("3 had not changed", self.load())
        self.assertEqual(self.rows("SELECT * FROM redshift ORDER BY targetid, tileid"), before)
        self.assertIn("60 redshifts", self.catalogue("load", self.redux, "--again").stderr)
        self.assertEqual(self.rows("SELECT * FROM redshift ORDER BY targetid, tileid"), before)

    def test_every_table_has_its_rows(self):
        self.load()
        wanted = {"redshift": 60, "ztile": 60, "zbest": 50, "zpix": 0, "candidate": 90, "exposure": 5, "tile": 2, "fiberassign": 63,
                  "photometry": 53, "frame": 1, "quality": 1, "location": 2}
        self.assertEqual({name: self.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in wanted}, wanted)
        frame, = self.rows("--from", "frame")
        self.assertEqual((frame["frameid"], frame["expid"], frame["camera"], frame["kind"], frame["path"]),
                         (4211, 42, "r1", "cframe", str(self.redux / "cframe-r1-00000042.fits")))
        tile = self.rows("--from", "tile", "--tileid", 1001)[0]
        self.assertEqual((tile["nexp"], tile["lastnight"], tile["exptime"], tile["tilera"]), (3, 20260101, 2700, 150))
        self.assertEqual(self.rows("--from", "quality")[0]["value"], 2)
        of_two = self.rows("SELECT zcat_nspec, zcat_primary FROM ztile WHERE targetid = 25 ORDER BY zcat_primary")
        self.assertEqual(of_two, [{"zcat_nspec": 2, "zcat_primary": 0}, {"zcat_nspec": 2, "zcat_primary": 1}])

    def test_a_changed_file_takes_the_place_of_its_group_and_nothing_else(self):
        own = self.inputs / "again"
        own.mkdir()
        copy = own / self.first.name
        self.addCleanup(shutil.rmtree, own)
        self.load()
        copy.write_bytes(redrock_bytes(1001, 20260101, targets(1, 2) + targets(500, 1)))
        self.load(copy)
        ids = [row["targetid"] for row in self.rows("SELECT targetid FROM ztile WHERE tileid = 1001 ORDER BY targetid")]
        self.assertEqual(ids, [1, 2, 500])
        self.assertEqual(len(self.rows("SELECT 1 FROM ztile WHERE tileid = 1002")), 30)
        self.assertEqual(self.rows("SELECT count(*) AS n FROM candidate")[0]["n"], 0)

    def test_a_file_that_is_damaged_is_told_of_and_the_others_are_loaded(self):
        bad = self.put("redrock-9-1.fits", self.first.read_bytes()[:7000])
        result = self.catalogue("load", bad, self.first)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("redrock-9-1.fits", result.stderr)
        self.assertIn("1 of 2 files could not be loaded", result.stderr)
        self.assertEqual(self.rows("SELECT count(*) AS n FROM zbest")[0]["n"], 30)
        self.assert_fails(self.catalogue("load", bad), 14, "redrock-9-1.fits")
        self.assert_fails(self.catalogue("load", self.inputs / "none.fits"), 10, "none.fits")
        empty = self.inputs / "empty"
        empty.mkdir(exist_ok=True)
        self.assert_fails(self.catalogue("load", empty), 10, "redrock-*.fits")
        self.assert_fails(self.catalogue("load", self.put("psf.fits", frame_bytes(1, 2, 3, "r1").replace(b"FLUX ", b"XLUX "))),
                          11, "neither redshifts")

    def test_petals_that_do_not_name_themselves_do_not_replace_each_other(self):
        data = [redrock_bytes(1003, 20260103, targets(first, 20)).replace(b"PETAL   =", b"PETALS  =") for first in (100, 150)]
        files = [self.put(f"redrock-{petal}-1003.fits", one) for petal, one in enumerate(data)]
        for _ in range(2):
            self.load(*files)
            self.assertEqual(len(self.rows("--tileid", 1003)), 40)
        self.assertEqual(len(self.rows("SELECT * FROM spgroup")), 2)

    def test_a_circle_of_links_is_walked_once(self):
        folder = shutil.copytree(self.redux, self.out / "redux")
        (folder / "tiles" / "latest").symlink_to("..")
        self.assertIn("3 files: 60 redshifts of 2 groups, 0 files of spectra, 1 frames", self.load(folder))

    def test_ten_readers_see_whole_groups_while_two_load(self):
        self.check_readers(self.db)


class Query(Case):
    def setUp(self):
        super().setUp()
        self.load()

    def test_options_select_as_sql_does(self):
        self.assertEqual([r["targetid"] for r in self.rows("--cone", "150.0,2.1005,80")], [11, 12, 10, 13, 9])
        quasars = self.rows("--class", "QSO", "--z", "0.1,0.2", "--columns", COLUMNS)
        self.assertEqual([(r["targetid"], r["z"]) for r in quasars][:2], [(11, 0.1), (14, 0.13)])
        self.assertEqual(list(quasars[0]), COLUMNS.split(","))
        self.assertTrue(all(r["zwarn"] == 0 for r in self.rows("--good")))
        self.assertEqual(len(self.rows("--targetid", "1,2,77", "--limit", 5)), 2)
        self.assertEqual(len(self.rows("--from", "candidate", "--targetid", "3")), 3)
        self.assertEqual(len(self.rows("--from", "ztile", "--tileid", 1002)), 30)
        self.assertIn("coeff_2", self.rows("--columns", "*", "--limit", 1)[0])

    def test_formats_say_the_same(self):
        want = self.rows("SELECT targetid, z, spectype, healpix FROM zbest ORDER BY targetid LIMIT 3")
        sql = "SELECT targetid, z, spectype, healpix FROM zbest ORDER BY targetid LIMIT 3"
        text = self.catalogue("query", sql, "--format", "csv").stdout
        got = [{"targetid": int(r["targetid"]), "z": float(r["z"]), "spectype": r["spectype"],
                "healpix": None if r["healpix"] == "" else r["healpix"]} for r in csv.DictReader(io.StringIO(text))]
        self.assertEqual(got, want)
        lines = self.catalogue("query", sql).stdout.splitlines()
        self.assertEqual(lines[0].split(), ["targetid", "z", "spectype", "healpix"])
        self.assertEqual(lines[2].split(), ["2", "0.01", "QSO"])
        out = self.out / "answer.fits"
        result = self.catalogue("query", sql, "--format", "fits", "-o", out)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        hdu = [h for h in tiny_fits.read(out) if h.name == "QUERY"][0]
        self.assertEqual([hdu.cards[f"TTYPE{i}"] for i in (1, 2, 3, 4)], ["targetid", "z", "spectype", "healpix"])
        self.assertEqual([hdu.cards[f"TFORM{i}"] for i in (1, 2, 3, 4)], ["K", "D", "6A", "D"])
        to_file = self.out / "a.csv"
        self.catalogue("query", sql, "--format", "csv", "-o", to_file)
        self.assertEqual(to_file.read_text(), text)

    def with_arrow(self, path, rows, columns):
        """What pyarrow reads, where it is installed, is the same."""
        try:
            import pyarrow.parquet
        except ImportError:
            return
        table = pyarrow.parquet.read_table(path)
        table.validate(full=True)
        self.assertEqual((table.num_rows, table.column_names), (rows, list(columns)))
        for name, values in columns.items():
            got = table.column(name).to_pylist()
            self.assertEqual([None if v != v else v for v in got], [None if v != v else v for v in values], name)

    def test_parquet_has_the_same_rows_and_types(self):
        sql = ("SELECT targetid, z, spectype, healpix, CASE WHEN targetid % 3 = 0 THEN NULL ELSE targetid END AS some, "
               "CASE WHEN targetid % 2 = 0 THEN NULL ELSE 'µ' || targetid END AS words, z FROM zbest ORDER BY targetid")
        want = self.rows(sql)
        out, again = self.out / "new" / "answer.parquet", self.out / "again.parquet"
        for path in (out, again):
            result = self.catalogue("query", sql, "--format", "parquet", "-o", path)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(out.read_bytes(), again.read_bytes())
        rows, columns, kinds = tiny_parquet.read(out)
        self.assertEqual(rows, len(want))
        self.assertEqual(kinds, {"targetid": ("INT64", None, False), "z": ("DOUBLE", None, False),
                                 "spectype": ("BYTE_ARRAY", "UTF8", False), "healpix": ("DOUBLE", None, True),
                                 "some": ("INT64", None, True), "words": ("BYTE_ARRAY", "UTF8", True),
                                 "z_2": ("DOUBLE", None, False)})
        for name in ("targetid", "z", "spectype", "healpix", "some", "words"):
            self.assertEqual(columns[name], [row[name] for row in want], name)
        self.with_arrow(out, rows, columns)
        self.catalogue("query", "SELECT * FROM zbest WHERE targetid < 0", "--format", "parquet", "-o", out)
        self.assertEqual(tiny_parquet.read(out)[0], 0, "no row is a file too")
        before = out.read_bytes()
        self.assertEqual(self.catalogue("query", sql, "--format", "parquet", "-o", out, "--no-clobber").returncode, 32)
        self.assertEqual(out.read_bytes(), before)

    def test_many_rows_of_parquet_are_several_groups(self):
        sql = ("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
               "SELECT i, CASE WHEN i % 5 < 2 THEN NULL ELSE i * 0.5 END AS half FROM n")
        out = self.out / "many.parquet"
        self.assertEqual(self.catalogue("query", sql, "--format", "parquet", "-o", out).returncode, 0)
        rows, columns, _ = tiny_parquet.read(out)
        self.assertEqual(rows, 200001)
        self.assertEqual(columns["i"], list(range(200001)))
        self.assertEqual(columns["half"], [None if i % 5 < 2 else i * 0.5 for i in range(200001)])
        self.with_arrow(out, rows, columns)

    def test_export_writes_the_fields_columns_as_parquet_too(self):
        fits, out = self.out / "zcat.fits", self.out / "zcat.parquet"
        self.catalogue("export", "-o", fits, "--from", "ztile", "-q")
        result = self.catalogue("export", "-o", out, "--from", "ztile", "-q", "--format", "parquet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows, columns, kinds = tiny_parquet.read(out)
        hdu = [h for h in tiny_fits.read(fits) if h.name == "ZCATALOG"][0]
        names = [hdu.cards[f"TTYPE{i}"] for i in range(1, hdu.cards["TFIELDS"] + 1)]
        self.assertEqual(rows, 60)
        self.assertEqual(list(columns), [n for name in names for n in (["COEFF_0", "COEFF_1", "COEFF_2"] if name == "COEFF" else [name])])
        for name, kind in (("TARGETID", "INT64"), ("TILEID", "INT32"), ("TSNR2_LRG", "FLOAT"), ("ZCAT_PRIMARY", "BOOLEAN"), ("Z", "DOUBLE")):
            self.assertEqual(kinds[name], (kind, None, False), name)
        self.assertEqual(kinds["ZCAT_NSPEC"], ("INT32", "INT_16", False))
        want = {(r["targetid"], r["tileid"]): r for r in self.rows("SELECT targetid, tileid, z, spectype FROM ztile")}
        for k in range(rows):
            row = want[columns["TARGETID"][k], columns["TILEID"][k]]
            self.assertEqual((columns["Z"][k], columns["SPECTYPE"][k]), (row["z"], row["spectype"]))
        self.with_arrow(out, rows, columns)

    def test_export_is_the_fields_file_and_the_same_bytes_again(self):
        out, again = self.out / "zcat.fits", self.out / "again.fits"
        for path in (out, again):
            result = self.catalogue("export", "-o", path, "--from", "ztile", "-q")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(out.read_bytes(), again.read_bytes())
        hdu = [h for h in tiny_fits.read(out) if h.name == "ZCATALOG"][0]
        forms = {hdu.cards[f"TTYPE{i}"]: hdu.cards[f"TFORM{i}"] for i in range(1, hdu.cards["TFIELDS"] + 1)}
        self.assertEqual(hdu.cards["NAXIS2"], 60)
        for name, form in (("TARGETID", "K"), ("Z", "D"), ("ZWARN", "K"), ("COEFF", "3D"), ("SPECTYPE", "6A"),
                           ("TARGET_RA", "D"), ("TILEID", "J"), ("TSNR2_LRG", "E"), ("ZCAT_PRIMARY", "L")):
            self.assertEqual(forms[name], form, name)
        self.assertNotIn("HEALPIX", forms, "no row knows one")
        self.assertNotIn("HPX", forms)
        self.assertEqual(self.catalogue("export", "-o", out, "--columns", "targetid,coeff_2,coeff_0", "-q").returncode, 0)
        self.assertEqual([tiny_fits.by_name(out)["ZCATALOG"].cards[f"TTYPE{i}"] for i in (2, 3)], ["COEFF_2", "COEFF_0"])

    def test_bad_questions_are_one_line_and_a_code(self):
        for sql in ("SELEC 1", "SELECT nothing FROM zbest", "DELETE FROM redshift", "SELECT 1; DROP TABLE redshift",
                    "VACUUM INTO 'x.sqlite'", "ATTACH 'x.sqlite' AS x", "PRAGMA journal_mode=DELETE", ";", "/* nothing */"):
            self.assert_fails(self.catalogue("query", sql), 82)
        self.assert_fails(self.catalogue("query", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                                         "SELECT count(*) FROM n", "--seconds", "0.2"), 82, "too long")
        for options, word in ((["--cone", "1,2"], "RA,DEC,ARCSEC"), (["--z", "x"], "MIN,MAX"), (["--targetid", "x"], "whole"),
                              (["--from", "sqlite_master"], "zbest"), (["--columns", "no_such"], "no column"),
                              (["--from", "tile", "--cone", "1,2,3"], "hpx"), (["SELECT 1", "--good"], "SQL"),
                              ([""], "no text"), (["--format", "fits"], "-o FILE"), (["--limit", "-1"], "--limit")):
            self.assert_fails(self.catalogue("query", *options), 2, word)
        self.assert_fails(self.catalogue("query", "--format", "parquet"), 2, "-o FILE")
        self.assertEqual(len(self.rows()), 50, "and nothing was lost")

    def test_columns_of_one_name_are_all_there(self):
        sql, out = "SELECT 1 AS z, 2.5 AS z, 3 AS z_2, 'x' AS z, 4 AS Z, 5 AS \"\"", self.out / "answer.fits"
        self.assertEqual(self.rows(sql), [{"z": 1, "z_2": 2.5, "z_2_2": 3, "z_3": "x", "Z": 4, "": 5}])
        self.assertEqual(self.catalogue("query", sql, "--format", "fits", "-o", out).returncode, 0)
        cards = tiny_fits.by_name(out)["QUERY"].cards  # where z and Z are one name, and none is no name
        self.assertEqual([cards[f"TTYPE{i}"] for i in range(1, 7)], ["z", "z_2", "z_2_2", "z_3", "Z_4", "column"])

    def test_an_answer_never_replaces_the_catalogue(self):
        before, link = self.rows(), self.folder / "link.sqlite"
        link.symlink_to(self.db)
        for out, db in ((self.db, self.db), (link, self.db), (self.db + "-wal", self.db), (self.db, "sqlite:///" + self.db)):
            for command in (["query"], ["query", "--format", "fits"], ["query", "--format", "parquet"], ["export"]):
                self.assert_fails(self.catalogue(*command, "-o", out, db=db), 2, "is an input (catalogue")
        self.assertEqual(self.rows(), before)

    def test_what_is_no_catalogue_is_refused_and_stays(self):
        for command in (["query"], ["load", self.folder / "none.fits"]):
            self.assert_fails(self.catalogue(*command, db=self.folder / "none.sqlite"), 10, "none.")
        self.assertFalse((self.folder / "none.sqlite").exists())
        text = self.folder / "text"
        text.write_text("no database, but long enough to be read as one " * 50)
        other = self.folder / "other.sqlite"
        with sqlite3.connect(other) as connection:
            connection.execute("CREATE TABLE frames(name TEXT)")
        connection.close()
        before = text.read_bytes(), other.read_bytes()
        self.assert_fails(self.catalogue("query", db=text), 14)
        self.assert_fails(self.catalogue("load", self.first, db=text), 14)
        self.assert_fails(self.catalogue("load", self.first, db=other), 15, "no catalogue")
        self.assertEqual((text.read_bytes(), other.read_bytes()), before)
        with sqlite3.connect(self.db) as connection:
            connection.execute("UPDATE catalogue_info SET value = '7'")
        connection.close()
        self.assert_fails(self.catalogue("query"), 83, "version 7")
        self.assert_fails(self.catalogue("load", self.first), 83, "version 7")

    def test_a_lock_that_stays_is_told_of(self):
        holder = sqlite3.connect(self.db, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        self.assert_fails(self.catalogue("load", self.first, "--again", "--wait", "0.2"), 84, "locked")
        self.assertEqual(len(self.rows()), 50, "readers do not mind")


@unittest.skipUnless(os.environ.get("FIBERLOOM_TEMPLATES_DIR"), "FIBERLOOM_TEMPLATES_DIR is not set")
class RealFiles(Case):
    def test_the_fields_own_file_is_found_again(self):
        folder = pathlib.Path(os.environ["FIBERLOOM_TEMPLATES_DIR"])
        self.load(folder / "redrock-4-80613-thru20210324.fits")
        target, = self.rows("--from", "ztile", "--tileid", 80613, "--cone", "105.4898,56.6693,5", "--columns", "*")
        want = {"targetid": 39633345008634465, "z": 0.36874355163716, "zwarn": 0, "spectype": "GALAXY", "npixels": 7926,
                "spgrp": "cumulative", "spgrpval": 20210324, "petal": 4, "coadd_numexp": 30, "zcat_primary": 1}
        for name, value in want.items():
            self.assertAlmostEqual(target[name], value, 10) if name == "z" else self.assertEqual(target[name], value, name)
        tile, = self.rows("--from", "tile")
        self.assertEqual((tile["nexp"], tile["lastnight"]), (30, 20210324))
        kinds = [row["kind"] for row in self.rows("SELECT kind FROM location ORDER BY kind")]
        self.assertEqual(kinds, ["coadd", "redshifts"])


@unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed (Debian: postgresql)")
class OnAServer(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = Server()
        cls.addClassCleanup(cls.server.remove)

    def test_it_says_what_a_file_says(self):
        url = self.server.make("same")
        result = self.catalogue("load", self.redux, db=url)
        if result.returncode == 15:
            self.skipTest("this build has no PostgreSQL")
        self.load()
        for options in (["--columns", COLUMNS], ["--cone", "150.0,2.1005,80"], ["--class", "QSO", "--good"],
                        ["--from", "ztile", "--columns", "*"], ["--from", "exposure"], ["--from", "tile"],
                        ["--from", "candidate"], ["--from", "quality"], ["--from", "fiberassign"]):
            self.assertEqual(self.rows(*options, db=url), self.rows(*options), options)
        exports = []
        for db in (url, self.db):
            path = self.out / "zcat.fits"
            self.assertEqual(self.catalogue("export", "-o", path, "-q", db=db).returncode, 0)
            exports.append(path.read_bytes())
            path.unlink()
        self.assertEqual(exports[0], exports[1])
        for sql in ("DELETE FROM redshift", "SELECT 1; DROP TABLE redshift", "COPY redshift TO '/tmp/x'",
                    "SET default_transaction_read_only = off"):
            self.assert_fails(self.catalogue("query", sql, db=url), 82)
        self.assertEqual(len(self.rows(db=url)), 50)

    def test_ten_readers_see_whole_groups_while_two_load(self):
        url = self.server.make("shared")
        if self.catalogue("load", self.first, db=url).returncode == 15:
            self.skipTest("this build has no PostgreSQL")
        self.check_readers(url)

    def test_a_server_that_went_away_is_told_of_and_its_catalogue_is_there_when_it_is_back(self):
        url = self.server.make("gone")
        if self.catalogue("load", self.first, db=url).returncode == 15:
            self.skipTest("this build has no PostgreSQL")
        self.assert_fails(self.catalogue("query", db=url.replace("/gone?", "/no_such?")), 10, "no_such")
        self.server.stop()
        try:
            self.assert_fails(self.catalogue("query", db=url), 85)
            self.assert_fails(self.catalogue("load", self.first, db=url), 85)
        finally:
            self.server.start()
        self.assertEqual(len(self.rows(db=url)), 30)


if __name__ == "__main__":
    unittest.main()
