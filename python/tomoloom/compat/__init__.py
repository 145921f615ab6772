# SPDX-License-Identifier: BSD-3-Clause
"""Call signatures of other programs: `tomoloom.compat.tomopy`."""
