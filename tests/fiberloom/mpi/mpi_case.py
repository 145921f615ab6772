# SPDX-License-Identifier: BSD-3-Clause
"""What the tests over several ranks share: the launchers that are here, and a night run by one of them."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / "night"), str(pathlib.Path(__file__).parents[2] / "ranks")]
import launch  # noqa: E402
import night_case  # noqa: E402

# Five parts a frame instead of two.
night_case.OPTIONS = ["-w", night_case.GRID, "--bundlesize", "2"]
PROGRAM = night_case.PROGRAM
BIN = pathlib.Path(PROGRAM).parent
CUT = ["--part-overhead", "0"]  # small frames are cut too


class MpiCase(night_case.Case):
    def on_ranks(self, ranks, *more, out=None, command="night"):
        arguments = [PROGRAM, command, self.tree.root, "-o", out or self.out,
                     *night_case.OPTIONS, *more]
        return launch.start(self, ranks, arguments, self.work)

    def run_ranks(self, ranks, *more, out=None, code=0, timeout=100, command="night"):
        process = self.on_ranks(ranks, *more, out=out, command=command)
        output, errors = night_case.finish(process, timeout)
        if code is not None:
            self.assertEqual(process.returncode, code, output + errors)
        return errors

    def rank_pids(self):
        """Process ids of the ranks of this test's job, in the order of their numbers."""
        return list(launch.pids(PROGRAM, self.work).values())


def main():
    launch.main(PROGRAM)
