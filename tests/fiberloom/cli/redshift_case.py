# SPDX-License-Identifier: BSD-3-Clause
"""What tests of fiberloom redshift share: five targets of known redshift, templates, a call."""
import math

from run_fiberloom import Folders
from small_spectra import Targets, read_table, write_templates

TRUTH = [("GALAXY", 0.0312), ("STAR", 0.0004), ("GALAXY", 0.0701), ("GALAXY", 0.0955), ("STAR", -0.0005)]
COLUMNS = ["TARGETID", "Z", "ZERR", "ZWARN", "CHI2", "COEFF", "FITMETHOD", "NPIXELS", "SPECTYPE", "SUBTYPE", "NCOEFF",
           "DELTACHI2"]
LINES = [f"{line}{what}" for line in ("OII", "HBETA", "OIII", "HALPHA", "NII", "MGII")
         for what in ("_FLUX", "_FLUX_IVAR", "_SIGMA")]
PROBABILITIES = ["PROBABILITY", "CLASS_PROBABILITY", "POSTERIOR_ZERR", "LOG_EVIDENCE"]
OURS = [*COLUMNS, *PROBABILITIES, "GOOD_Z_BGS", "GOOD_Z_LRG", "GOOD_Z_ELG", "GOOD_Z_QSO", *LINES]
SKY, LITTLE_COVERAGE, UNPLUGGED, BAD_TARGET, NODATA, POORDATA = 1, 2, 128, 256, 512, 2048


class Case(Folders):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.templates = write_templates(cls.inputs / "templates")
        cls.targets = Targets(TRUTH)
        cls.coadd = cls.inputs / "coadd-0-80613.fits"
        cls.coadd.write_bytes(cls.targets.coadd())

    def setUp(self):
        super().setUp()
        self.result = self.out / "redrock.fits"

    def redshift(self, *more, inputs=None, output=True, **how):
        inputs = inputs if isinstance(inputs, list) else [inputs or self.coadd]
        outputs = ["-o", self.result] if output else []
        return self.program("redshift", "-i", *inputs, *outputs, "-t", self.templates, "--quiet", *more, **how)

    def redshifts(self, *more, inputs=None):
        result = self.redshift(*more, inputs=inputs)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.warnings = result.stderr
        table = read_table(self.result, "REDSHIFTS")
        for name, values in table.items():
            flat = [v for row in values for v in (row if isinstance(row, list) else [row])]
            self.assertTrue(all(math.isfinite(v) for v in flat if not isinstance(v, str)), name)
        return table

    def check_truth(self, table, truth=TRUTH):
        self.assertEqual(table["SPECTYPE"], [kind for kind, _ in truth])
        for z, error, (_, true) in zip(table["Z"], table["ZERR"], truth):
            self.assertLess(abs(z - true), 5 * error + 1e-6)
            self.assertLess(error, 3e-4)
        self.assertEqual(set(table["ZWARN"]), {0})
