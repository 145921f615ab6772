# SPDX-License-Identifier: BSD-3-Clause
"""Beside TOAST: what its operators and those of skyloom.compat.toast make of the same data. Skipped where TOAST is not installed."""
import subprocess
import sys

import numpy as np
import pytest

toast = pytest.importorskip("toast")

from datetime import datetime  # noqa: E402

import astropy.units as u  # noqa: E402
import toast.instrument_sim  # noqa: E402
import toast.io  # noqa: E402
import toast.ops  # noqa: E402
import toast.schedule_sim_satellite  # noqa: E402
import toast.templates  # noqa: E402

import skyloom  # noqa: E402
import skyloom.compat.toast as fast  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning",
                                        "ignore::ResourceWarning", "ignore::RuntimeWarning")


def observed(hwp=False, minutes=10, noise=True, longest=400):
    """Two observations of 14 detectors that turn fast, with flags and TOAST's noise."""
    rate = 10.0 * u.Hz
    plane = toast.instrument_sim.fake_hexagon_focalplane(
        n_pix=7, width=20 * u.deg, sample_rate=rate, psd_net=50e-6 * u.K * np.sqrt(1 * u.second), psd_fmin=1e-5 * u.Hz,
        psd_fknee=0.05 * u.Hz)
    telescope = toast.instrument.Telescope("sat", focalplane=plane, site=toast.instrument.SpaceSite("space"))
    schedule = toast.schedule_sim_satellite.create_satellite_schedule(
        prefix="test_", mission_start=datetime(2026, 2, 23), observation_time=minutes * u.minute, num_observations=2,
        prec_period=17 * u.minute, spin_period=1.3 * u.minute)
    data = toast.Data(toast.Comm())
    toast.ops.SimSatellite(telescope=telescope, schedule=schedule, spin_angle=30 * u.deg, prec_angle=65 * u.deg,
                           hwp_angle="hwp_angle" if hwp else None, hwp_rpm=13.0 if hwp else None).apply(data)
    toast.ops.DefaultNoiseModel().apply(data)
    if noise:
        toast.ops.SimNoise().apply(data)
    for ob in data.obs:
        ob.shared["flags"].set(np.where(np.arange(ob.n_local_samples) % 97 == 0, 1, 0).astype(np.uint8), fromrank=0)
        ob.detdata.ensure("flags", dtype=np.uint8)
        ob.detdata["flags"][:] = 0
        ob.detdata["flags"][ob.local_detectors[3]][500:500 + longest] = 1
    return data


@pytest.mark.parametrize("coords", [None, ("E", "G")])
def test_quaternions_pixels_and_weights(coords):
    data = observed(hwp=True, noise=False)
    names = {} if coords is None else {"coord_in": coords[0], "coord_out": coords[1]}
    for prefix, ops in (("a", toast.ops), ("b", fast)):
        pointing = ops.PointingDetectorSimple(quats=prefix + "quats", **names)
        pointing.apply(data)
        for nest in (True, False):
            ops.PixelsHealpix(nside=128, nest=nest, pixels=f"{prefix}pixels{nest}", detector_pointing=pointing).apply(data)
        ops.PixelsHealpix(nside=128, pixels=prefix + "direct", create_dist=prefix + "dist",
                          detector_pointing=ops.PointingDetectorSimple(quats=prefix + "never", **names)).apply(data)
        for mode, iau, hwp in (("IQU", False, None), ("QU", True, "hwp_angle"), ("I", False, None)):
            ops.StokesWeights(mode=mode, IAU=iau, hwp_angle=hwp, weights=f"{prefix}{mode}", detector_pointing=pointing).apply(data)
    for ob in data.obs:
        assert np.abs(ob.detdata["aquats"].data - ob.detdata["bquats"].data).max() < 1e-14
        for name in ("pixelsTrue", "pixelsFalse", "direct"):
            assert np.array_equal(ob.detdata["a" + name].data, ob.detdata["b" + name].data), name
        for name in ("IQU", "QU", "I"):
            good = ob.shared["flags"].data == 0
            # with coordinates: TOAST's rotation is a unit quaternion to 1e-10
            most = 1e-12 if coords is None else 1e-8
            assert np.abs(ob.detdata["a" + name].data - ob.detdata["b" + name].data)[:, good].max() < most, name
        assert (ob.detdata["bdirect"].data < 0).sum() == 14 * (ob.shared["flags"].data & 1).sum()
        assert "bnever" not in ob.detdata
    assert np.array_equal(data["adist"].local_submaps, data["bdist"].local_submaps)


def add_modes(data, modes):
    """The first: of pixels; the second: of all; the third: of two detectors."""
    net = u.K * np.sqrt(1 * u.s)
    common = toast.ops.CommonModeNoise
    for mode in [common(fmin=1e-5 * u.Hz, fknee=1 * u.Hz, alpha=2, NET=60e-6 * net, focalplane_key="pixel", coupling_strength_width=0.2),
                 common(component=1, fmin=1e-4 * u.Hz, fknee=0.3 * u.Hz, alpha=1.5, NET=30e-6 * net, coupling_strength_center=-0.5),
                 common(name="Half", detset=["D3A-150", "D3B-150"], fmin=1e-3 * u.Hz, fknee=0.1 * u.Hz, alpha=1, NET=20e-6 * net)][:modes]:
        mode.apply(data)


MODES = ("--common-net", "60e-6", "--common-by", "pixel", "--common-spread", "0.2",
         "--common-also", "net=30e-6,fknee=0.3,fmin=1e-4,slope=1.5,coupling=-0.5",
         "--common-also", "net=20e-6,fknee=0.1,fmin=1e-3,slope=1,in=pixel:D3,name=Half,component=0")


def skyloom_program(*arguments):
    subprocess.run([sys.executable, "-m", "skyloom", *map(str, arguments)], check=True)


def test_files_have_the_mixing_matrix_that_toast_makes_and_reads(tmp_path):
    skyloom_program("simulate", "-o", tmp_path, "--pixels", 7, "--width", 20, "--rate", 10, "--minutes", 5, *MODES)
    ob = toast.io.load_hdf5(str(tmp_path / "satellite_000000.h5"), toast.Comm())
    ours, signal = ob["noise_model"], np.array(ob.detdata["signal"].data)
    data = toast.Data(toast.Comm())
    data.obs.append(ob)
    toast.ops.SimNoise(det_data="again").apply(data)  # the peer's streams, by our matrix
    assert np.abs(ob.detdata["again"].data - signal).max() < 1e-5 * signal.std()  # rates are those of timestamps there
    del ob["noise_model"]
    toast.ops.DefaultNoiseModel().apply(data)
    add_modes(data, 3)
    assert set(ours.keys) == set(ob["noise_model"].keys) and len(ours.keys) == 14 + 7 + 1 + 1
    for det in ob.all_detectors:
        for key in ours.keys:
            assert abs(ours.weight(det, key) - ob["noise_model"].weight(det, key)) < 1e-14, (det, key)
    for key in ours.keys:
        assert np.allclose(ours.psd(key).value, ob["noise_model"].psd(key).value, rtol=1e-6), key  # float32 in files


def test_spectra_of_a_prior_are_sums_of_the_peers_streams(tmp_path):
    data = observed(noise=False, minutes=5, longest=30)
    add_modes(data, 3)
    toast.ops.Reset(detdata=["signal"]).apply(data)
    toast.ops.SimNoise().apply(data)
    observations = []
    for ob in data.obs:
        toast.io.save_hdf5(ob, str(tmp_path))
        model, dets = ob["noise_model"], ob.local_detectors
        noise = [(model.freq(det).to_value(u.Hz), sum(model.weight(det, key)**2 * model.psd(key).to_value(u.K**2 * u.s)
                                                      for key in model.keys)) for det in dets]
        plane = ob.telescope.focalplane
        flags = (ob.shared["flags"].data | ob.detdata["flags"].data) & 1
        observations.append(skyloom.Observation(
            ob.shared["boresight_radec"].data, [plane[det]["quat"] for det in dets], ob.detdata["signal"].data, rate=10.0, flags=flags,
            weights=[model.detector_weight(det).to_value(1 / u.K**2) for det in dets], noise=noise))
    given = dict(nside=16, step=5, prior=True, rcond=1e-3, iterations=1000)
    maps = skyloom.make_maps(observations, **given)
    skyloom_program("map", *sorted(tmp_path.glob("*.h5")), "-o", tmp_path / "maps", "--nside", 16, "--step", 5, "--prior", "--rcond", 1e-3,
                    "--iterations", 1000, "--type", "float64")
    healpy = pytest.importorskip("healpy")
    stored = healpy.read_map(str(tmp_path / "maps/map.fits"), field=None, nest=True, dtype=np.float64)
    seen = ~np.isnan(maps.destriped[0])
    assert np.abs(stored[:, maps.pixels[seen]] - maps.destriped[:, seen]).max() < 1e-3 * np.nanstd(maps.destriped[1])


@pytest.mark.parametrize("common", [0, 1, 3])
def test_noise_is_the_same(common):
    data = observed()
    if common:
        add_modes(data, common)
        toast.ops.Reset(detdata=["signal"]).apply(data)
        toast.ops.SimNoise().apply(data)
    fast.SimNoise(det_data="ours").apply(data)
    for ob in data.obs:
        for det in ob.local_detectors:
            assert np.allclose(ob.detdata["signal"][det], ob.detdata["ours"][det], rtol=1e-9, atol=1e-12)


def mapped(ops, data, name, folder, template=None, **more):
    pointing = ops.PointingDetectorSimple(quats=name + "q")
    pixels = ops.PixelsHealpix(nside=16, nest=more.pop("nest", True), detector_pointing=pointing, pixels=name + "p")
    weights = ops.StokesWeights(mode="IQU", detector_pointing=pointing, weights=name + "w", hwp_angle=more.pop("hwp", None),
                                IAU=more.pop("IAU", False))
    binning = toast.ops.BinMap(pixel_dist=name + "_dist", pixel_pointing=pixels, stokes_weights=weights,
                               full_pointing=True)
    matrix = None if template is None else toast.ops.TemplateMatrix(templates=[template])
    ops.MapMaker(name=name, binning=binning, template_matrix=matrix, write_hits=False, write_cov=False, write_rcond=False,
                 write_map=False, write_binmap=True, keep_final_products=True, save_cleaned=True, output_dir=str(folder),
                 solve_rcond_threshold=1e-3, map_rcond_threshold=1e-3, convergence=1e-22, iter_max=100, **more).apply(data)


@pytest.mark.parametrize("prior", [False, True])
def test_maps_are_the_same(prior, tmp_path):
    data = observed(hwp=not prior, minutes=5, longest=30 if prior else 400)  # TOAST ends at a prior's baseline that is flagged
    more = {"IAU": True, "nest": False, "hwp": "hwp_angle"} if not prior else {}
    for name, ops in (("slow", toast.ops), ("fast", fast)):
        template = toast.templates.Offset(step_time=10 * u.second, times="times", noise_model="noise_model", use_noise_prior=prior,
                                          precond_width=20)
        mapped(ops, data, name, tmp_path, template, **more)
    assert np.array_equal(data["slow_hits"].data, data["fast_hits"].data)
    good = data["slow_rcond"].data[:, :, 0] > 1e-3
    assert good.sum() > 500 and np.array_equal(good, data["fast_rcond"].data[:, :, 0] > 1e-3)
    for product in ("cov", "invcov", "binmap"):
        if f"slow_{product}" not in data:
            continue
        a, b = data[f"slow_{product}"], data[f"fast_{product}"]
        assert a.units == b.units
        assert np.abs(a.data - b.data)[good].max() < 1e-9 * np.abs(a.data[good]).max(), product
    a, b = data["slow_map"].data[good], data["fast_map"].data[good]
    difference = b - a
    if not prior:
        difference[:, 0] -= difference[:, 0].mean()  # nobody knows the mean of I
    assert np.abs(difference).max() < 1e-5 * a.std()
    for ob in data.obs:
        for det in ob.local_detectors:
            left = ob.detdata["fast_cleaned"][det] - ob.detdata["slow_cleaned"][det]
            spread = left - left.mean() if not prior else left
            assert np.abs(spread).max() < 1e-5 * ob.detdata["signal"][det].std()
    assert (tmp_path / "fast_binmap.fits").is_file() and "fast_map" in data


def test_bins_with_the_covariance_that_is_there():
    data = observed()
    pointing = toast.ops.PointingDetectorSimple()
    pixels = toast.ops.PixelsHealpix(nside=32, detector_pointing=pointing)
    weights = toast.ops.StokesWeights(mode="IQU", detector_pointing=pointing)
    for name, ops in (("a", toast.ops), ("b", fast)):
        more = {"pixel_dist": name + "dist", "pixel_pointing": pixels, "stokes_weights": weights, "det_mask": 1}
        ops.CovarianceAndHits(covariance=name + "cov", hits=name + "hits", rcond=name + "rcond", rcond_threshold=1e-3, **more).apply(data)
        ops.BinMap(covariance=name + "cov", binned=name + "map", noiseweighted=name + "z", **more).apply(data)
    assert np.array_equal(data["ahits"].data, data["bhits"].data)
    for key in ("cov", "map", "z"):
        a, b = data["a" + key].data, data["b" + key].data
        assert np.abs(a - b).max() < 1e-9 * np.abs(a).max() and data["a" + key].units == data["b" + key].units, key


def test_a_prior_is_of_its_template_s_noise_model(tmp_path):
    data = observed(minutes=5, longest=30)
    for ob in data.obs:
        dets, of = ob["noise_model"].detectors, ob["noise_model"]
        ob["other"] = toast.noise_sim.AnalyticNoise(
            detectors=dets, rate={det: of.rate(det) for det in dets}, fmin={det: 1e-4 * u.Hz for det in dets},
            fknee={det: 2 * u.Hz for det in dets}, alpha={det: 2.0 for det in dets}, NET={det: of.NET(det) for det in dets})
    for name, ops, model in (("slow", toast.ops, "other"), ("fast", fast, "other"), ("not", fast, "noise_model")):
        mapped(ops, data, name, tmp_path, toast.templates.Offset(step_time=10 * u.second, times="times", noise_model=model,
                                                                 use_noise_prior=True, precond_width=20))
    apart = [np.abs(data[f"{name}_map"].data - data["slow_map"].data)[..., 1:].max() for name in ("fast", "not")]
    assert apart[0] < 1e-2 * apart[1]


@pytest.mark.parametrize("flags", ["det_flags", "shared_flags"])
def test_flags_that_are_named_must_be_there(flags):
    data = observed()
    pointing = fast.PointingDetectorSimple()
    binning = toast.ops.BinMap(pixel_pointing=fast.PixelsHealpix(nside=32, detector_pointing=pointing),
                               stokes_weights=fast.StokesWeights(mode="IQU", detector_pointing=pointing), **{flags: "typo"})
    with pytest.raises(KeyError, match="typo"):
        fast.MapMaker(binning=binning).apply(data)


@pytest.mark.parametrize("change, what", [
    ({"mask": "mask"}, "mask"), ({"pattern": "D0.*"}, "pattern"), ({"mc_mode": True}, "mc_mode"),
    ({"solve_rcond_threshold": 1e-2}, "solve_rcond_threshold")])
def test_what_is_not_there_says_so(change, what):
    data = toast.Data(toast.Comm())
    pointing = fast.PointingDetectorSimple()
    binning = toast.ops.BinMap(pixel_pointing=fast.PixelsHealpix(detector_pointing=pointing),
                               stokes_weights=fast.StokesWeights(mode="IQU", detector_pointing=pointing))
    with pytest.raises(NotImplementedError, match=what):
        fast.MapMaker(binning=binning, **change).apply(data)
    binning.stokes_weights.detector_pointing = fast.PointingDetectorSimple(coord_in="C", coord_out="G")
    with pytest.raises(NotImplementedError, match="coord_in"):
        fast.MapMaker(binning=binning).apply(data)
    binning.stokes_weights.mode = "I"
    with pytest.raises(NotImplementedError, match="IQU"):
        fast.MapMaker(binning=binning).apply(data)
