# SPDX-License-Identifier: BSD-3-Clause
"""What files of one group do to each other when `catalogue load` meets them together."""
import unittest

from small_catalogue import redrock_bytes, targets
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


if __name__ == "__main__":
    unittest.main()
