# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. They run against the installed package, never the source folder."""
import numpy as np
import pytest


def discs(theta, rows, columns, center):
    """Exact line integrals of two discs of value 1 and 0.5: [angle][row][column]."""
    x = np.arange(columns) - center

    def shadow(u, v, radius):
        t = x - (u * np.cos(theta) + v * np.sin(theta))[:, np.newaxis]
        return 2 * np.sqrt(np.maximum(radius ** 2 - t ** 2, 0))

    sinogram = shadow(0, 0, 0.35 * columns) + 0.5 * shadow(0.15 * columns, 0.1 * columns, 0.08 * columns)
    return np.repeat(sinogram[:, np.newaxis], rows, axis=1).astype(np.float32)


@pytest.fixture(scope="session")
def theta():
    return np.arange(120) * np.pi / 120


@pytest.fixture(scope="session")
def integrals(theta):
    """Of a disc of value 1 and one of 0.5 in it, 0.15 columns to the right; the axis at column 33.25."""
    return discs(theta, 3, 64, 33.25)
