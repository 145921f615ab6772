# SPDX-License-Identifier: BSD-3-Clause
"""FilterBin beside TOAST's: samples, flags, maps and matrix. Skipped where TOAST is not installed."""
import numpy as np
import pytest

toast = pytest.importorskip("toast")

import astropy.units as u  # noqa: E402
import toast.instrument_sim  # noqa: E402
import toast.ops  # noqa: E402
import toast.schedule  # noqa: E402
from toast.schedule_sim_ground import run_scheduler  # noqa: E402

import skyloom.compat.toast as fast  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning",
                                        "ignore::ResourceWarning", "ignore::RuntimeWarning")


@pytest.fixture(scope="module")
def schedule(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("schedule") / "schedule.txt")
    run_scheduler(opts=["--site-name", "atacama", "--telescope", "LAT", "--site-lon", "-67.786", "--site-lat", "-22.958", "--site-alt", "5200",
                        "--patch", "deep,1,170,-30,180,-40", "--start", "2026-03-18 00:00:00", "--stop", "2026-03-18 06:00:00",
                        "--ces-max-time", "300", "--out", path])
    made = toast.schedule.GroundSchedule()
    made.read(path)
    made.scans = made.scans[:1]
    return made


def observed(schedule):
    """Two detectors of a scan from the ground behind a plate, with noise, ground, plate's signal and flags."""
    plane = toast.instrument_sim.fake_hexagon_focalplane(n_pix=1, width=1 * u.deg, sample_rate=20 * u.Hz,
                                                         psd_net=50e-6 * u.K * np.sqrt(1 * u.second), psd_fmin=1e-5 * u.Hz,
                                                         psd_fknee=0.05 * u.Hz)
    site = toast.instrument.GroundSite(schedule.site_name, schedule.site_lat, schedule.site_lon, schedule.site_alt, weather=None)
    data = toast.Data(toast.Comm())
    toast.ops.SimGround(telescope=toast.instrument.Telescope("LAT", focalplane=plane, site=site), schedule=schedule, hwp_angle="hwp_angle",
                        hwp_rpm=61.0, detset_key="pixel", weather=None).apply(data)
    toast.ops.DefaultNoiseModel().apply(data)
    toast.ops.SimNoise().apply(data)
    ob = data.obs[0]
    ob.detdata.ensure("flags", dtype=np.uint8)
    ob.detdata["flags"][ob.local_detectors[1]][300:360] = 1
    angle, azimuth = ob.shared["hwp_angle"].data, ob.shared["azimuth"].data
    for d, det in enumerate(ob.local_detectors):
        ob.detdata["signal"][det] += 0.1 * np.cos(2 * angle + d) + 0.05 * np.sin(5 * azimuth) + 1.0
    return data


def run(ops, data, folder=".", binned_by=toast.ops, **wishes):
    pointing = toast.ops.PointingDetectorSimple(shared_flags=None)
    weights = toast.ops.StokesWeights(mode="IQU", hwp_angle="hwp_angle", detector_pointing=pointing)
    binning = binned_by.BinMap(pixel_pointing=toast.ops.PixelsHealpix(nside=64, detector_pointing=pointing), stokes_weights=weights,
                               noise_model="noise_model")
    ops.FilterBin(name="found", binning=binning, hwp_angle="hwp_angle", write_hits=False, write_cov=False, write_rcond=False, write_map=False,
                  keep_final_products=True, output_dir=str(folder), **wishes).apply(data)
    return data


CASES = [dict(poly_filter_order=2), dict(poly_filter_order=1, hwp_filter_order=3), dict(poly_filter_order=1, ground_filter_order=4),
         dict(poly_filter_order=1, ground_filter_bin_width=2 * u.deg, hwp_filter_order=2),
         dict(poly_filter_order=0, ground_filter_bin_width=3 * u.deg, template_rcond_limit=-1e-8),
         dict(poly_filter_order=1, ground_filter_bin_width=3 * u.deg, ground_template_time_step=100),
         dict(poly_filter_order=1, ground_filter_order=3, ground_template_time_step=60),
         dict(poly_filter_order=0, ground_filter_bin_width=4 * u.deg, ground_template_expansion_order=1),
         dict(poly_filter_order=1, poly_filter_view_crop_start=1.0, poly_filter_view_crop_end=0.6)]


@pytest.mark.parametrize("wishes", CASES)
def test_samples_flags_and_maps_are_the_peers(wishes, schedule):
    both = [observed(schedule), observed(schedule)]
    if "ground_template_time_step" in wishes:  # the peer's steps leave the last sample out
        for data in both:
            shared = np.array(data.obs[0].shared["flags"].data)
            shared[-1] |= 1
            data.obs[0].shared["flags"].set(shared, offset=(0,), fromrank=0)
    ours, theirs = run(fast, both[0], **wishes), run(toast.ops, both[1], **wishes)
    a, b = ours.obs[0], theirs.obs[0]
    bad = [(ob.shared["flags"].data != 0) | (ob.detdata["flags"].data != 0) for ob in (a, b)]
    assert np.array_equal(*bad) and not bad[0].all()
    assert np.abs((a.detdata["signal"].data - b.detdata["signal"].data)[~bad[0]]).max() < 1e-11
    assert a.local_detector_flags == b.local_detector_flags
    for product in ("found_filtered_map", "found_filtered_hits"):
        one, other = ours[product].data, theirs[product].data
        assert np.abs(one - other).max() <= 1e-10 * np.abs(other).max(), product


@pytest.mark.parametrize("weighted", [False, True])
def test_the_matrix_is_the_peers(weighted, schedule, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    wishes = dict(CASES[3], write_obs_matrix=True, noiseweight_obs_matrix=weighted)
    found = []
    for ops in (fast, toast.ops):
        folder = tmp_path / ops.__name__
        folder.mkdir()
        run(ops, observed(schedule), folder, **wishes)
        root = folder / ("found_noiseweighted_obs_matrix" if weighted else "found_obs_matrix")
        if ops is not fast:
            toast.ops.filterbin.combine_observation_matrix(str(root))
        found.append(sparse.load_npz(f"{root}.npz").tocsr())
    assert abs(found[0] - found[1]).max() < 1e-11 * abs(found[1]).max()


def test_what_is_not_there_is_told(schedule):
    data = observed(schedule)
    for wishes in (dict(precomputed_templates="t"), dict(maskfile="m.fits"), dict(nskip=2), dict(amplitude_dir="a"),
                   dict(ground_filter_order=3, ground_filter_bin_width=1 * u.deg), dict(poly_filter_order=99)):
        with pytest.raises(NotImplementedError, match="skyloom's FilterBin"):
            run(fast, data, **wishes)


@pytest.mark.parametrize("binned_by", [fast, toast.ops])
@pytest.mark.parametrize("nothing", ["detectors", "samples"])
def test_an_observation_of_which_nothing_is_left_has_empty_maps_and_matrix(nothing, binned_by, schedule, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    data = observed(schedule)
    ob = data.obs[0]
    if nothing == "detectors":
        ob.update_local_detector_flags({det: 1 for det in ob.local_detectors})
    else:
        ob.detdata["flags"].data[:] = 1
    run(fast, data, tmp_path, binned_by, poly_filter_order=1, write_obs_matrix=True, noiseweight_obs_matrix=True)
    matrix = sparse.load_npz(tmp_path / "found_noiseweighted_obs_matrix.npz")
    assert matrix.shape == (36 * 64**2, 36 * 64**2) and matrix.nnz == 0
    assert not data["found_filtered_map"].data.any() and not data["found_filtered_hits"].data.any()


def test_a_file_of_traits_is_each_observations_own(schedule, tmp_path):
    found = []
    for ops in (fast, toast.ops):
        data = observed(schedule)
        path = tmp_path / "config.yaml"
        path.write_text(f"{data.obs[0].name}:\n  poly_filter_order: '2'\n")
        found.append(run(ops, data, poly_filter_order=0, filter_config_file=str(path)))
    ours, theirs = (data.obs[0] for data in found)
    good = (theirs.shared["flags"].data == 0) & (theirs.detdata["flags"].data == 0)
    assert np.abs((ours.detdata["signal"].data - theirs.detdata["signal"].data)[good]).max() < 1e-11


def columns_of(path):
    """Two maps of anything, as healpy writes them."""
    healpy = pytest.importorskip("healpy")
    rng = np.random.default_rng(3)
    maps = rng.normal(size=(2, 12 * 64**2)).astype(np.float32)
    healpy.write_map(str(path), maps, nest=True, overwrite=True, dtype=np.float32)
    return maps.astype(float)


@pytest.mark.parametrize("pattern", [".*", "D0A"])
def test_a_map_is_deprojected_as_numpy_would(pattern, schedule, tmp_path):
    """TOAST's own stops with a NameError there."""
    maps = columns_of(tmp_path / "map.fits")
    wishes = dict(poly_filter_order=1, deproject_map=str(tmp_path / "map.fits"), deproject_nnz=2, deproject_pattern=pattern)
    untouched, data = observed(schedule), run(fast, observed(schedule), **wishes)  # an observation goes with its data
    before, ob = untouched.obs[0], data.obs[0]
    pointing = toast.ops.PointingDetectorSimple(shared_flags=None)
    toast.ops.PixelsHealpix(nside=64, detector_pointing=pointing, pixels="where").apply(data)
    for det in ob.local_detectors:
        good = (ob.shared["flags"].data == 0) & (ob.detdata["flags"][det] == 0)
        columns = [maps[k][ob.detdata["where"][det]] for k in range(2)] if "A-" in det or pattern == ".*" else []
        for one in ob.intervals["throw"]:
            for order in range(2):
                columns.append(np.zeros(len(good)))
                columns[-1][one.first:one.last] = np.linspace(-1, 1, one.last - one.first)**order
        a = np.array(columns).T
        wanted = before.detdata["signal"][det] - a @ np.linalg.lstsq(a[good], before.detdata["signal"][det][good], rcond=1e-12)[0]
        assert np.abs((ob.detdata["signal"][det] - wanted)[good]).max() < 1e-11


def test_the_matrix_of_a_deprojection_makes_the_map_of_a_sky(schedule, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    columns_of(tmp_path / "map.fits")
    data = observed(schedule)
    ob, sky = data.obs[0], np.random.default_rng(4).normal(size=(3, 12 * 64**2))
    pointing = toast.ops.PointingDetectorSimple(shared_flags=None)
    toast.ops.PixelsHealpix(nside=64, detector_pointing=pointing, pixels="where").apply(data)
    toast.ops.StokesWeights(mode="IQU", hwp_angle="hwp_angle", detector_pointing=pointing, weights="how").apply(data)
    for det in ob.local_detectors:
        ob.detdata["signal"][det][:] = (sky[:, ob.detdata["where"][det]].T * ob.detdata["how"][det]).sum(axis=1)
    run(fast, data, tmp_path, poly_filter_order=1, deproject_map=str(tmp_path / "map.fits"), deproject_nnz=2, write_obs_matrix=True)
    made = (sparse.load_npz(tmp_path / "found_obs_matrix.npz") @ sky.ravel()).reshape(3, -1)
    found = data["found_filtered_map"]
    whole = np.zeros_like(made)
    for local, submap in enumerate(found.distribution.local_submaps):
        n = found.distribution.n_pix_submap
        whole[:, submap * n:(submap + 1) * n] = found.data[local].T
    assert np.abs(made - whole).max() < 1e-10 * np.abs(whole).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_where_all_pixels_are_cut_the_matrix_is_empty_unless_it_is_weighted(weighted, schedule, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    kind = "noiseweighted_obs_matrix" if weighted else "obs_matrix"
    wishes = dict(poly_filter_order=1, write_obs_matrix=True, noiseweight_obs_matrix=weighted)
    found = []
    for rcond in (0.9, 0.0):
        run(fast, observed(schedule), tmp_path, rcond_threshold=rcond, **wishes)
        found.append(sparse.load_npz(tmp_path / f"found_{kind}.npz").tocsr())
    assert found[1].nnz > 0
    assert found[0].nnz == (found[1].nnz if weighted else 0)


def test_a_matrix_of_other_samples_than_the_fits_is_refused(schedule, tmp_path):
    data = observed(schedule)
    with pytest.raises(NotImplementedError, match="flags of fits"):
        run(fast, data, tmp_path, poly_filter_order=1, write_obs_matrix=True, shared_flag_mask=1 | 16)
    with pytest.raises(NotImplementedError, match="det_mask"):
        run(fast, data, tmp_path, poly_filter_order=1, write_obs_matrix=True, det_mask=0)
