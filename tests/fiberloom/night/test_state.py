# SPDX-License-Identifier: BSD-3-Clause
"""State of runs in a database (--state): a SQLite file, and a real PostgreSQL server that stops, comes back and hangs."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from night_case import PROGRAM, Case, finish
from small_catalogue import Server


def status(*arguments, code=0):
    result = subprocess.run([PROGRAM, "status", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    return result


class StateCase(Case):
    def tasks(self, url, code=0):
        tree = json.loads(status(self.out, "--state", url, "--json", "-", code=code).stdout)
        return {task["name"]: task["state"] for task in tree["tasks"]}


class InAFile(StateCase):
    def test_all_tasks_of_several_runs_are_there_with_their_files_and_attempts(self):
        self.tree.add_exposures(2)
        url = f"sqlite:///{self.work}/state.sqlite"
        bad = self.tree.image_path("r0", 2)
        good = bad.read_bytes()
        bad.write_bytes(good[:len(good) // 2])
        self.night_ok("--state", url, "-q", code=3)
        tasks = self.tasks(url, code=3)
        self.assertEqual(tasks.pop("r0-00000002"), "failed")
        self.assertEqual((len(tasks), set(tasks.values())), (5, {"done"}))
        self.assertFalse((self.out / ".fiberloom/ledger.sqlite").exists())
        bad.write_bytes(good)
        self.night_ok("--state", url, "-q")
        self.assertEqual(set(self.tasks(url).values()), {"done"})
        why = json.loads(status(self.out, "--state", url, "--why", "r0-00000002", "--json", "-").stdout)
        self.assertEqual([a["exit_code"] for a in why["attempts"]], [14, 0])
        self.assertEqual(why["inputs"][0]["path"], str(bad))
        self.assertEqual(why["outputs"][0]["path"], "20261121/00000002/frame-r0-00000002.fits")
        text = status(self.out, "--state", url, "--why", "r0-00000002").stdout
        self.assertIn("attempts:\n", text)
        second = self.out
        self.out = self.work / "second"
        self.night_ok("--state", url, "-q", "-e", "1")
        runs = json.loads(status("--state", url, "--json", "-").stdout)["runs"]
        self.assertEqual([r["folder"] for r in runs], [str(second), str(self.out)])
        self.assertIn("2 runs", status("--state", url).stdout)
        # what is lost is made anew from receipts
        with sqlite3.connect(self.work / "state.sqlite") as db:
            db.execute("DELETE FROM fiberloom_task")
        db.close()
        result = subprocess.run([PROGRAM, "night", "-o", second, "--rebuild-ledger", "--state", url], capture_output=True, text=True,
                                check=False, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.out = second
        self.assertEqual(len(self.tasks(url)), 6)

    def test_what_cannot_be_is_one_line_and_nothing_is_begun(self):
        self.tree.add_exposures(1, cameras=("r0",))
        text = self.work / "text"
        text.write_text("no database, but long enough to be read as one " * 50)
        for url, code in ((f"sqlite:///{text}", 14), (f"sqlite:///{self.work}/no/such/state.sqlite", 30),
                          (self.work / "state.sqlite", 2), ("sqlite:///", 2), ("mysql://host/name", 2)):
            errors = self.night_ok("--state", url, "-q", code=code).stderr_text
            self.assertEqual(len(errors.splitlines()), 1, errors)
            self.assertEqual(self.outputs(), {})
        self.assertIn("no run", status(code=2).stderr)
        self.assertIn("sqlite:///PATH", status("--state", "x", code=2).stderr)
        self.assertIn("none.sqlite", status("--state", f"sqlite:///{self.work}/none.sqlite", code=10).stderr)
        with sqlite3.connect(self.work / "other.sqlite") as db:
            db.execute("CREATE TABLE x(a)")
        db.close()
        self.assertIn("no state of runs", status("--state", f"sqlite:///{self.work}/other.sqlite", code=10).stderr)


class ServerCase(StateCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.remove)

    def processes(self):
        """Of the server: its first, and those below it."""
        first = int((self.server.folder / "data/postmaster.pid").read_text().split()[0])
        children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]


@unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed")
class OnAServer(ServerCase):
    def test_a_server_that_stops_and_starts_again_misses_nothing(self):
        self.tree.add_exposures(6)
        url = self.server.make("stops")
        process = self.start("--state", url, "--threads", "1", "-q")
        end = time.monotonic() + 60
        while not self.outputs() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        self.server.stop()
        time.sleep(1)
        self.server.start()
        finish(process, 120)
        self.assertEqual(process.returncode, 0)
        tasks = self.tasks(url)
        self.assertEqual((len(tasks), set(tasks.values())), (18, {"done"}))
        with_state, self.out = self.outputs(), self.work / "without"
        self.night_ok("-q")
        self.assertEqual(with_state, self.outputs())

    def test_a_database_that_is_not_there_is_one_line(self):
        self.tree.add_exposures(1, cameras=("r0",))
        url = self.server.make("there").replace("/there?", "/not_there?")
        errors = self.night_ok("--state", url, "-q", code=10).stderr_text
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertEqual(self.outputs(), {})


@unittest.skipUnless(Server.programs(), "no PostgreSQL server is installed")
class WithoutAServer(ServerCase):
    """What a run does that waits in vain."""

    def test_a_run_without_its_server_does_its_work_and_the_next_one_tells(self):
        self.tree.add_exposures(1)
        url = self.server.make("away")
        self.server.stop()
        try:
            errors = self.night_ok("--state", url).stderr_text
        finally:
            self.server.start()
        self.assertEqual(errors.count("the run goes on"), 1, errors)
        self.assertEqual(len(self.outputs()), 3)
        self.night_ok("--state", url, "-q")
        self.assertEqual(list(self.tasks(url).values()), ["done"] * 3)

    def test_a_server_that_hangs_holds_nobody_up(self):
        self.tree.add_exposures(4)
        url = self.server.make("hangs")
        process = self.start("--state", url, "--threads", "1", "-q")
        end = time.monotonic() + 60
        while not self.outputs() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        stopped = self.processes()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            process.communicate(timeout=120)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(self.outputs()), 12)


if __name__ == "__main__":
    unittest.main()
