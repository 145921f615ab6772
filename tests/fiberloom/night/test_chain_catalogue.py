# SPDX-License-Identifier: BSD-3-Clause
"""A night whose last step is its catalogue: the rows of a catalogue that is made of its folder afterwards, whatever happens to either."""
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import time
import unittest

from test_chain import CLEAN, FIELDS, LAMPS, NIGHT, PROGRAM, TILE, Chain, fiberloom
from small_catalogue import Server  # in a folder that test_chain knows

TABLES = ("exposure", "frame", "tile", "fiberassign", "photometry", "spgroup", "redshift", "candidate", "quality", "location")
OF_TILE = f"catalogue-0-{TILE}-thru{NIGHT}"
LOADS = {OF_TILE, *(f"catalogue-{e:08d}" for e in LAMPS + FIELDS)}


def rows_of(database):
    with contextlib.closing(sqlite3.connect(database)) as db:
        return {table: sorted(map(repr, db.execute(f"SELECT * FROM {table}"))) for table in TABLES}


class Catalogue(Chain):
    """One night for all tests: each takes it as the one before has left it, made by steps before the last."""
    few = ("--cameras", "b0,r0")
    last = "catalogue"

    def setUp(self):
        self.out = self.work / "whole"
        self.night("-q", *self.few, until="redshift")
        self.remove_database()

    def made(self, *more, **keywords):
        return {name for name, state in self.states(*self.few, *more, **keywords).items() if state == "done"}

    def loaded(self, folder=None):
        """The rows of a catalogue that is made of the folder now."""
        fresh = self.work / "fresh.sqlite"
        fresh.unlink(missing_ok=True)
        fiberloom("catalogue", "load", folder or self.out, "--db", fresh, "-q")
        return rows_of(fresh)

    def remove_database(self):
        for end in ("", "-wal", "-shm"):
            pathlib.Path(f"{self.out}/catalogue.sqlite{end}").unlink(missing_ok=True)


class InAFile(Catalogue):
    def test_it_has_what_a_catalogue_of_the_folder_has_and_follows_what_changes(self):
        dry = self.night(*self.few, "--dry-run").stdout
        self.assertRegex(dry, rf"to do +{OF_TILE} ")
        database = self.out / "catalogue.sqlite"
        self.assertFalse(database.exists(), "a plan makes no catalogue")
        first = self.summary(*self.few)
        self.assertEqual({t["name"] for t in first["tasks"] if t["state"] == "done"}, LOADS)
        self.assertNotIn("catalogue", first["options"], "it has none of its own")
        expected = self.loaded()
        self.assertEqual(len(expected["redshift"]), 24)
        self.assertEqual(rows_of(database), expected)
        self.assertEqual(self.made(), set())
        self.remove_database()
        self.assertEqual(self.made(), LOADS, "it was gone")
        self.assertEqual(rows_of(database), expected)
        self.assertEqual(self.made("--set", "redshift.candidates=2"), {f"redshift-0-{TILE}-thru{NIGHT}", OF_TILE})
        changed = self.loaded()
        self.assertNotEqual(changed["candidate"], expected["candidate"])
        self.assertEqual(rows_of(database), changed)
        why = json.loads(fiberloom("status", self.out, "--why", OF_TILE, "--json", "-").stdout)
        self.assertEqual((why["state"], why["step"]), ("done", "catalogue"))
        self.assertIn("<td>catalogue</td>", (self.out / "status.html").read_text())

    def test_the_step_alone_fills_another_catalogue_of_what_is_there(self):
        elsewhere = self.work / "elsewhere.sqlite"
        frame = next(self.out.rglob(f"cframe-b0-{FIELDS[0]:08d}.fits"))
        frame.write_bytes(frame.read_bytes()[:9000])
        states = self.states(*self.few, "--only", "catalogue", "--catalogue", elsewhere, until=None, code=3)
        failed = f"catalogue-{FIELDS[0]:08d}"
        self.assertEqual({n: s for n, s in states.items() if s != "done"}, {failed: "failed"}, "all else goes on")
        self.assertEqual(len(rows_of(elsewhere)["redshift"]), 24)
        said = json.loads(next((self.out / "tiles").rglob("catalogued-*.json")).read_text())
        self.assertEqual(said, {"catalogue": str(elsewhere), "files": 2})
        with contextlib.closing(sqlite3.connect(elsewhere)) as db, db:
            db.execute("UPDATE catalogue_info SET value = '99' WHERE key = 'schema_version'")
        newer = self.night("-q", "--only", "catalogue", "--catalogue", elsewhere, until=None, code=83)
        self.assertEqual(len(newer.stderr.strip().splitlines()), 1)

    def test_a_folder_that_was_moved_has_its_files_and_a_catalogue_that_knows_where_they_are(self):
        self.night("-q", *self.few)
        elsewhere = self.work / "moved"
        self.out.rename(elsewhere)
        try:
            self.assertEqual(self.made(out=elsewhere), LOADS)
            self.assertEqual(rows_of(elsewhere / "catalogue.sqlite"), self.loaded(elsewhere))
        finally:
            elsewhere.rename(self.out)

    def test_a_kill_leaves_nothing_out(self):
        for wait in (0.02, 0.04, 0.06, 0.1, 0.15):
            process = subprocess.Popen([PROGRAM, *map(str, self.command(*self.few, "-q", "--threads", "2"))], env=CLEAN)
            time.sleep(wait)
            process.kill()
            process.wait()
        self.night("-q", *self.few)
        self.assertEqual(rows_of(self.out / "catalogue.sqlite"), self.loaded())
        self.assert_tidy()


@unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed")
class OnAServer(Catalogue):
    def test_a_server_that_stopped_gets_the_rest_with_the_next_run(self):
        server = Server()
        self.addCleanup(server.remove)
        url = server.make("night")
        redshifts = self.coadd("redrock")
        redshifts.unlink()
        note = self.out / ".fiberloom/catalogue.json"
        note.unlink(missing_ok=True)
        process = subprocess.Popen([PROGRAM, *map(str, self.command(*self.few, "-q", "--threads", "1", "--catalogue", url))], env=CLEAN,
                                   stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 30
        while not note.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        server.stop()
        said = process.communicate(timeout=200)[1]
        self.assertIn(process.returncode, (0, 3), said)
        self.assertTrue(redshifts.exists(), "all else goes on")
        server.start()
        self.night("-q", *self.few, "--catalogue", url)
        self.assertEqual(self.made("--catalogue", url), set())
        found = fiberloom("catalogue", "query", "--db", url, "--from", "redshift", "--columns", "targetid,z,zwarn", "--limit", "0",
                          "--format", "csv").stdout
        database = self.work / "file.sqlite"
        fiberloom("catalogue", "load", self.out, "--db", database, "-q")
        self.assertEqual(found, fiberloom("catalogue", "query", "--db", database, "--from", "redshift", "--columns", "targetid,z,zwarn",
                                          "--limit", "0", "--format", "csv").stdout)
        self.assertNotIn("trust", note.read_text())


if __name__ == "__main__":
    unittest.main()
