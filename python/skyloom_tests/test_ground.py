# SPDX-License-Identifier: BSD-3-Clause
"""Scans from the ground as arrays: the command's numbers, and filters by azimuth."""
import subprocess
import sys

import numpy as np
import pytest

import skyloom

Q = [[0, 0, 0, 1.0]]


def test_what_belongs_to_the_ground_is_not_taken_for_a_satellite():
    for wish in (dict(atmosphere=0.1), dict(ground_signal=1e-5)):
        with pytest.raises(skyloom.ArgumentError, match="--schedule"):
            skyloom.simulate(minutes=1, rate=5, **wish)


PATCH = "deep,1,170,-40,20"
HOURS = dict(start="2026-03-18 00:00:00", stop="2026-03-18 00:45:00", scan_minutes=20)
GROUND = dict(pixels=7, width=3, rate=5, atmosphere=0.05, atmosphere_load=3, atmosphere_height=500, wind=15, wind_from=250,
              ground_signal=1e-4, scan_rate=0.7, sun_close=60, hwp_rpm=7, common_net=60e-6, dipole="total", gain_drift=0.01,
              elnod=[1, -1, 0], elnod_at="both", realization=3)


def command(*words):
    done = subprocess.run([sys.executable, "-m", "skyloom", *map(str, words), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def as_words(options):
    words = []
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), ",".join(map(str, value)) if isinstance(value, list) else value]
    return words


def test_scans_from_the_ground_have_the_bytes_of_the_command(tmp_path):
    text = skyloom.make_schedule(PATCH, **HOURS)
    plan = tmp_path / "schedule.txt"
    command("schedule", "-o", plan, "--patch", PATCH, *as_words(HOURS))
    assert plan.read_text() == text
    data = skyloom.simulate(schedule=text, **GROUND)
    command("simulate", "-o", tmp_path / "data", "--schedule", plan, *as_words(GROUND))
    files = sorted((tmp_path / "data").glob("*.h5"))
    assert [one.name for one in data] == [path.stem for path in files] and len(files) > 1
    for one, path in zip(data, files):
        stored = path.read_bytes()
        assert one.names[2].encode() in stored
        assert one.boresight.tobytes() in stored and one.shared_flags.tobytes() in stored and one.shared_mask == 15
        assert all(row.tobytes() in stored for row in one.signal) and len(one.signal) == 14
        assert {int(bit) for bit in np.unique(one.shared_flags & 12)} == {0, 4, 8}  # sweeps, turnarounds, nods
    # of a file, and from a file of detectors; what the horizon's map adds
    again = skyloom.simulate(schedule=plan, focal_plane=files[0], **{**GROUND, "pixels": 1})
    assert again[0].names == data[0].names and all(np.array_equal(a, b) for a, b in zip(again[0].signal, data[0].signal))
    seen = skyloom.simulate(schedule=plan, ground_map=np.full(12, 1e-3), **GROUND)
    np.testing.assert_allclose(np.array(seen[0].signal) - np.array(data[0].signal), 1e-3, rtol=0.1)  # times the gain
    spans = skyloom.simulate(schedule=plan, intervals="scanning", **GROUND)[0].intervals
    assert len(spans) > 3 and all(not (data[0].shared_flags[a:b] & 4).any() for a, b in spans)


def stored_image(path, letter, planes):
    """[plane][30][30] of an image in a FITS file."""
    data = path.read_bytes()
    return np.frombuffer(data[data.index(b"END" + 77 * b" ") // 2880 * 2880 + 2880:], dtype=letter)[:planes * 900].reshape(planes, 30, 30)


@pytest.mark.parametrize("filters", [{}, dict(ground_order=3, ground_split=True, ground_trend=2, split="detectors"),
                                     dict(ground_bins=7.5, ground_trend="none", split="time=2", binned_only=True)])
def test_maps_of_ground_scans_are_those_of_the_command(tmp_path, filters):
    text = skyloom.make_schedule([PATCH, "other,1,100,-30,10"], **HOURS)
    (tmp_path / "schedule.txt").write_text(text)
    grid, solve = "tan:170,-40,30,30,1", dict(step=10, rcond=1e-3)
    scan = GROUND if not filters else {key: GROUND[key] for key in ("pixels", "width", "rate", "ground_signal", "hwp_rpm", "elnod")}
    maps = skyloom.make_maps(skyloom.simulate(schedule=text, **scan), wcs=grid, **solve, **filters)
    flags = [word for word in as_words(filters) if word is not True]
    command("simulate", "--maps", tmp_path / "maps", "--schedule", tmp_path / "schedule.txt", *as_words(scan), "--wcs", grid,
            *as_words(solve), *flags, "--type", "float64")
    assert maps.hits.sum() > 10000 and len(maps.parts) == (2 if filters else 0)
    for number, part in enumerate([maps, *maps.parts]):
        begin = f"part{number}_" if number else ""
        np.testing.assert_array_equal(part.image("hits"), stored_image(tmp_path / f"maps/{begin}hits.fits", ">i4", 1)[0])
        for name, file in (("binned", "binned"), ("destriped", "map")):
            if getattr(part, name) is not None:
                np.testing.assert_array_equal(part.image(name), stored_image(tmp_path / f"maps/{begin}{file}.fits", ">f8", 3))
    assert sum(part.hits.sum() for part in maps.parts) == (maps.hits.sum() if filters else 0)


def test_a_ground_that_is_fitted_is_gone():
    n, rng = 6000, np.random.default_rng(5)
    azimuth = 0.4 * np.abs((np.arange(n) / 200) % 2 - 1) + 1.0
    still = np.tile([0, 0, 0, 1.0], (n, 1))
    ground = 5 + np.cos(9 * azimuth)
    data = skyloom.Observation(skyloom.satellite_scan(n, 20.0, spin_period=1.3), Q, [ground + 1e-6 * rng.normal(size=n)], rate=20.0,
                               azimuth=azimuth)
    options = dict(step=0, rcond=0, binned_only=True)
    kept = skyloom.make_maps(data, 1, **options).noise_weighted[0]
    gone = skyloom.make_maps(data, 1, ground_order=8, ground_trend=0, **options).noise_weighted[0]
    assert np.abs(kept).max() > 100
    # what stays is the trend, a constant that the fit shares with the azimuth's mean
    hits = skyloom.make_maps(data, 1, **options).hits
    assert np.ptp(gone / hits) < 1e-4 * np.ptp(kept / hits)
    for wrong in (dict(ground_order=99), dict(ground_bins=-1), dict(ground_trend="some")):
        with pytest.raises(skyloom.ArgumentError):
            skyloom.make_maps(data, 1, **wrong, **options)
    without = skyloom.Observation(still, Q, [ground], rate=20.0)
    with pytest.raises(skyloom.ArgumentError, match="no azimuths"):
        skyloom.make_maps(without, 1, ground_order=1, **options)
    with pytest.raises(skyloom.ArgumentError, match=r"azimuth: value 0 is 1e\+12"):
        skyloom.make_maps(skyloom.Observation(still, Q, [ground], rate=20.0, azimuth=np.full(n, 1e12)), 1, ground_order=1, **options)


def test_what_is_no_schedule_says_so(tmp_path):
    for wrong in ({"patch": "x"}, {"patch": PATCH, "latitude": 100}, {"patch": []}, {"patch": PATCH, "colour": "red"}):
        with pytest.raises(skyloom.ArgumentError):
            skyloom.make_schedule(**wrong)
    with pytest.raises(skyloom.SkyloomError) as caught:
        skyloom.simulate(schedule="a schedule\nthat is none\n")
    assert caught.value.exit_code == 14 and "\n" not in str(caught.value)
    with pytest.raises(skyloom.SkyloomError) as caught:
        skyloom.simulate(schedule=tmp_path / "missing.txt")
    assert caught.value.exit_code == 10
    with pytest.raises(skyloom.ArgumentError, match="--schedule"):
        skyloom.simulate(ground_map=np.zeros(12), minutes=1, rate=5)
