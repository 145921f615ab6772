# SPDX-License-Identifier: BSD-3-Clause
"""Runs TOAST's own unit tests with skyloom's operators in the place of TOAST's: python peer_operators.py MODULE...
Prints a line of JSON at last: names of the tests that ran, failed and were skipped."""
import importlib
import json
import sys
import unittest

import toast.ops

import skyloom.compat.toast as fast

for name in fast.__all__:
    setattr(toast.ops, name, getattr(fast, name))

suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"toast.tests.{module}"))
                           for module in sys.argv[1:])
result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(suite)


def names(pairs):
    return sorted(str(test).split()[0] for test, _ in pairs)


print(json.dumps({"ran": result.testsRun, "failed": names(result.failures + result.errors), "skipped": names(result.skipped)}))
