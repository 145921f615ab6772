# SPDX-License-Identifier: BSD-3-Clause
"""Operators for other programs: `skyloom.compat.toast`."""
