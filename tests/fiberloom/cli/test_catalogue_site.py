# SPDX-License-Identifier: BSD-3-Clause
"""fiberloom catalogue serve, asked by a real client: tables, cones, SQL, targets and their spectra; nothing is written."""
import hashlib
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.parse

from run_fiberloom import PROGRAM, Folders
from small_catalogue import Server, redrock_bytes, targets
from small_spectra import Targets, template_bytes


class Site:
    """A server of the program, stopped at the end."""

    def __init__(self, db, *more, env=None):
        self.process = subprocess.Popen([PROGRAM, "catalogue", "serve", "--db", str(db), "--port", "0", *map(str, more)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate()[1])
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def get(self, path, method="GET", host=None, **values):
        """Status, type, text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        query = "?" + urllib.parse.urlencode(values) if values else ""
        connection.request(method, path + query, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers.get_content_type(), text

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


class Case(Folders):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.db = cls.inputs / "catalogue.sqlite"
        odd = [(-7, 0.5, 0, "<b>&", 150.0, 2.5)]
        (cls.inputs / "redrock-0-1.fits").write_bytes(redrock_bytes(1, 20260101, targets(1, 450) + odd, candidates=1))
        done = cls.program("catalogue", "load", cls.inputs / "redrock-0-1.fits", "--db", cls.db, "-q")
        assert done.returncode == 0, done.stderr
        cls.site = Site(cls.db)

    @classmethod
    def tearDownClass(cls):
        cls.site.stop()
        super().tearDownClass()

    def setUp(self):
        pass

    def page(self, path, **values):
        status, kind, text = self.site.get(path, **values)
        self.assertEqual((status, kind), (200, "text/html"), text[:500])
        return text


class Pages(Case):
    def test_the_front_page_shows_a_part_and_leads_to_the_next(self):
        text = self.page("/")
        self.assertEqual(text.count('href="/target/'), 200)
        self.assertIn('href="/?skip=200"', text)
        last = self.page("/", skip=400)
        self.assertEqual(last.count('href="/target/'), 51)
        self.assertNotIn("skip=600", last)

    def test_cones_classes_and_targets_select(self):
        self.assertEqual(re.findall(r'href="/target/(\d+)"', self.page("/", cone="150.0,2.1005,80")), ["11", "12", "10", "13", "9"])
        self.assertEqual(re.findall(r'href="/target/(\d+)"', self.page("/", targetid="3, 4", good="1")), ["3", "4"])
        self.assertIn('value="2.0,2.1"', self.page("/", z="2.0,2.1"), "what was asked stands in the form")

    def test_a_target_has_its_fits_candidates_and_files(self):
        text = self.page("/target/5")
        for word in ("Target 5", "candidates", "redrock-0-1.fits", "flux_r"):
            self.assertIn(word.lower(), text.lower())
        for path, status in (("/target/99999", 404), ("/target/x", 404), ("/target/5x", 404), ("/spectrum/1/5", 404),
                             ("/nothing", 404), ("/target/99999999999999999999", 404)):
            self.assertEqual(self.site.get(path)[0], status, path)

    def test_text_of_files_is_never_markup(self):
        text = self.page("/", targetid="-7")
        self.assertIn("&lt;b&gt;&amp;", text)
        self.assertNotIn("<b>", text)
        status, _, text = self.site.get("/sql", sql="<script>alert(1)</script>")
        self.assertEqual(status, 400)
        self.assertNotIn("<script>alert", text)

    def test_answers_as_text(self):
        status, kind, text = self.site.get("/text", format="json", targetid="2")
        self.assertEqual((status, kind, json.loads(text)[0]["targetid"]), (200, "application/json", 2))
        status, kind, text = self.site.get("/text", sql="SELECT count(*) AS n FROM zbest")
        self.assertEqual((status, kind, text), (200, "text/csv", "n\n451\n"))
        self.assertEqual(self.site.get("/text", format="xml")[0], 400)
        for path in ("/", "/text"):  # a slip of the hand chooses nothing
            status, _, text = self.site.get(path, targetids="2")
            self.assertEqual((status, "targetids=2: expected names from, cone" in text), (400, True), text)

    def test_a_text_is_all_rows_or_none(self):
        numbers = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {}) SELECT n FROM t"
        for form in ("csv", "json"):
            status, _, text = self.site.get("/text", format=form, sql=numbers.format(10000))
            self.assertEqual((status, "9999" in text, "10000" in text), (200, True, True))
            status, kind, text = self.site.get("/text", format=form, sql=numbers.format(10001))
            self.assertEqual((status, kind), (400, "text/html"))
            self.assertIn("more than 10000 rows", text)

    def test_no_request_writes_or_asks_too_much(self):
        before = hashlib.sha256(self.db.read_bytes()).hexdigest()
        for sql in ("DELETE FROM redshift", "DROP TABLE redshift", "UPDATE redshift SET z = 0", "SELECT 1; DELETE FROM redshift",
                    "ATTACH 'x' AS x", "VACUUM", "PRAGMA writable_schema=ON", "INSERT INTO tile(tileid) VALUES(9)", ""):
            for path in ("/sql", "/text"):
                if sql or path == "/sql":
                    self.assertEqual(self.site.get(path, sql=sql)[0], 400, sql)
        for values in ({"cone": "1"}, {"z": "x"}, {"targetid": "x"}, {"from": "sqlite_master"}, {"columns": "no_such"}):
            self.assertEqual(self.site.get("/", **values)[0], 400, values)
        for method in ("POST", "PUT", "DELETE"):
            self.assertEqual(self.site.get("/", method=method)[0], 405)
        self.assertEqual(self.site.get("/", host="evil.example")[0], 403)
        self.assertEqual(self.site.get("/" + "x" * 20000)[0], 431)
        self.assertEqual(self.site.get("/", method="HEAD")[2], "")
        self.assertEqual(hashlib.sha256(self.db.read_bytes()).hexdigest(), before)
        with self.assertRaises(OSError):  # of this machine alone
            socket.create_connection((socket.gethostbyname(socket.gethostname()), self.site.port), 2).close()
            if socket.gethostbyname(socket.gethostname()).startswith("127."):
                raise OSError("this machine's name is the loopback's")


class Serving(Folders):
    def setUp(self):
        super().setUp()
        self.db = self.inputs / f"{self.id()}.sqlite"

    def load(self, *files, db=None):
        result = self.program("catalogue", "load", *files, "--db", db or self.db, "-q")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_spectrum_is_shown_with_its_fit(self):
        folder = self.inputs / "spectra"
        (folder / "templates").mkdir(parents=True)
        (folder / "templates" / "rrtemplate-GALAXY-None-v1.0.fits").write_bytes(template_bytes("GALAXY"))
        (folder / "coadd-0-80613.fits").write_bytes(Targets([("GALAXY", 0.0312), ("GALAXY", 0.0701)]).coadd())
        done = self.program("redshift", "-i", folder / "coadd-0-80613.fits", "-o", folder / "redrock-0-80613.fits", "-t",
                            folder / "templates", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.load(folder)
        site = Site(self.db, env={"RR_TEMPLATE_DIR": str(folder / "templates")})
        first = re.search(r'href="/target/(-?\d+)"', site.get("/")[2])[1]
        link = re.search(r'href="(/spectrum/\d+/-?\d+)"', site.get(f"/target/{first}")[2])[1]
        status, kind, text = site.get(link)
        self.assertEqual((status, kind), (200, "text/html"), text[:500])
        self.assertIn("Fiberloom redshifts", text)
        shutil.move(folder / "coadd-0-80613.fits", folder / "gone.fits")
        status, _, text = site.get(link)
        self.assertEqual(status, 500)
        self.assertIn("coadd-0-80613.fits", text)
        self.assertEqual(site.stop()[0], 0)

    def test_what_cannot_be_served_is_one_line(self):
        self.assert_fails(self.program("catalogue", "serve", "--db", self.inputs / "none"), 10, "none")
        (self.inputs / "redrock-0-2.fits").write_bytes(redrock_bytes(2, 20260101, targets(1, 3)))
        self.load(self.inputs / "redrock-0-2.fits")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assert_fails(self.program("catalogue", "serve", "--db", self.db, "--port", port), 30, f"port {port}")
        site = Site(self.db)
        self.assertEqual(site.stop(), (0, "", ""))

    @unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed (Debian: postgresql)")
    def test_a_server_that_went_away_and_came_back(self):
        server = Server()
        self.addCleanup(server.remove)
        url = server.make("shown")
        (self.inputs / "redrock-0-3.fits").write_bytes(redrock_bytes(3, 20260101, targets(1, 3)))
        result = self.program("catalogue", "load", self.inputs / "redrock-0-3.fits", "--db", url, "-q")
        if result.returncode == 15:
            self.skipTest("this build has no PostgreSQL")
        site = Site(url)
        self.addCleanup(site.stop)
        self.assertEqual(site.get("/")[0], 200)
        self.assertEqual(site.get("/sql", sql="DELETE FROM redshift")[0], 400)
        server.stop()
        self.assertEqual(site.get("/")[0], 503)
        server.start()
        self.assertEqual(site.get("/")[0], 200)


if __name__ == "__main__":
    unittest.main()
