# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share. They run against the installed package, never the source folder."""
import numpy as np
import pytest

import skyloom


def multiply(a, b):
    """Quaternions (x, y, z, w), one after another."""
    ax, ay, az, aw = np.moveaxis(np.asarray(a, dtype=float), -1, 0)
    bx, by, bz, bw = np.moveaxis(np.asarray(b, dtype=float), -1, 0)
    return np.stack([aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
                     aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz], axis=-1)


def turned(q, axis):
    """An axis of the detector's frame on the sky."""
    v = np.zeros((*np.shape(q)[:-1], 4))
    v[..., axis] = 1
    return multiply(multiply(q, v), q * np.array([-1, -1, -1, 1]))[..., :3]


def ring_pixel(nside, direction):
    """HEALPix RING numbers, as Gorski et al. (2005) write them down."""
    z, phi = direction[..., 2], np.arctan2(direction[..., 1], direction[..., 0]) % (2 * np.pi)
    tt = phi / (np.pi / 2)
    belt1, belt2 = nside * (0.5 + tt), nside * z * 0.75
    jp, jm = np.floor(belt1 - belt2).astype(int), np.floor(belt1 + belt2).astype(int)
    ring = nside + 1 + jp - jm
    shift = 1 - ring % 2
    column = ((jp + jm - nside + shift + 1) // 2) % (4 * nside)
    inside = 2 * nside * (nside - 1) + (ring - 1) * 4 * nside + column
    part, side = tt % 1, np.sqrt(3 * (1 - np.abs(z)))
    north, south = np.floor(nside * part * side).astype(int), np.floor(nside * (1 - part) * side).astype(int)
    rows = north + south + 1
    column = np.floor(tt * rows).astype(int) % (4 * rows)
    cap = np.where(z > 0, 2 * rows * (rows - 1) + column, 12 * nside**2 - 2 * rows * (rows + 1) + column)
    return np.where(np.abs(z) <= 2 / 3, inside, cap)


@pytest.fixture(scope="session")
def plane():
    return skyloom.hexagon(pixels=7, width=20)


@pytest.fixture(scope="session")
def boresight():
    """A satellite that turns fast: 1500 samples at 5 a second."""
    return skyloom.satellite_scan(1500, 5.0, spin_period=1.3, prec_period=17, year=0)
