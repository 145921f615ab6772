# SPDX-License-Identifier: BSD-3-Clause
"""TomoPy's functions by name and argument, worked by tomoloom: a script changes one import.

    import tomoloom.compat.tomopy as tomopy

What is other than TomoPy's, on purpose: `minus_log` counts transmissions below 1e-6, negative ones too, as 1e-6, and what
is no number as 1; algorithm "fbp" filters; "sirt" and "cgls" iterate on exact line integrals of square pixels, from 0;
`find_center_vo` looks at every axis at once. What is not there raises NotImplementedError with one line.
`ncore` is the number of threads, `nchunk` is not needed and has no effect.
"""
from types import SimpleNamespace

from ._tomopy_align import add_jitter as add_jitter
from ._tomopy_align import add_noise as add_noise
from ._tomopy_align import align_joint as align_joint
from ._tomopy_align import align_seq as align_seq
from ._tomopy_align import blur_edges as blur_edges
from ._tomopy_align import distortion_correction_proj as distortion_correction_proj
from ._tomopy_align import distortion_correction_sino as distortion_correction_sino
from ._tomopy_align import load_distortion_coefs as load_distortion_coefs
from ._tomopy_align import scale as scale
from ._tomopy_align import shift_images as shift_images
from ._tomopy_center import find_center as find_center
from ._tomopy_center import find_center_pc as find_center_pc
from ._tomopy_center import find_center_vo as find_center_vo
from ._tomopy_misc import adjust_range as adjust_range
from ._tomopy_misc import downsample as downsample
from ._tomopy_misc import gaussian_filter as gaussian_filter
from ._tomopy_misc import inpainter_morph as inpainter_morph
from ._tomopy_misc import mask_empty_slice as mask_empty_slice
from ._tomopy_misc import median_filter as median_filter
from ._tomopy_misc import median_filter3d as median_filter3d
from ._tomopy_misc import median_filter_cuda as median_filter_cuda
from ._tomopy_misc import median_filter_nonfinite as median_filter_nonfinite
from ._tomopy_misc import pad as pad
from ._tomopy_misc import remove_outlier1d as remove_outlier1d
from ._tomopy_misc import remove_outlier3d as remove_outlier3d
from ._tomopy_misc import remove_outlier_cuda as remove_outlier_cuda
from ._tomopy_misc import remove_ring as remove_ring
from ._tomopy_misc import sobel_filter as sobel_filter
from ._tomopy_misc import upsample as upsample
from ._tomopy_misc import write_center as write_center
from ._tomopy_prep import angles as angles
from ._tomopy_prep import minus_log as minus_log
from ._tomopy_prep import normalize as normalize
from ._tomopy_prep import normalize_bg as normalize_bg
from ._tomopy_prep import normalize_nf as normalize_nf
from ._tomopy_prep import normalize_roi as normalize_roi
from ._tomopy_prep import remove_nan as remove_nan
from ._tomopy_prep import remove_neg as remove_neg
from ._tomopy_prep import remove_outlier as remove_outlier
from ._tomopy_prep import retrieve_phase as retrieve_phase
from ._tomopy_prep import sino_360_t0_180 as sino_360_t0_180
from ._tomopy_prep import sino_360_to_180 as sino_360_to_180
from ._tomopy_recon import circ_mask as circ_mask
from ._tomopy_recon import recon as recon
from ._tomopy_sim import add_drift as add_drift
from ._tomopy_sim import add_gaussian as add_gaussian
from ._tomopy_sim import add_poisson as add_poisson
from ._tomopy_sim import add_rings as add_rings
from ._tomopy_sim import add_salt_pepper as add_salt_pepper
from ._tomopy_sim import add_zingers as add_zingers
from ._tomopy_sim import project as project
from ._tomopy_sim import shepp3d as shepp3d
from ._tomopy_stripe import _detect_stripe as _detect_stripe
from ._tomopy_stripe import remove_all_stripe as remove_all_stripe
from ._tomopy_stripe import remove_dead_stripe as remove_dead_stripe
from ._tomopy_stripe import remove_large_stripe as remove_large_stripe
from ._tomopy_stripe import remove_stripe_based_filtering as remove_stripe_based_filtering
from ._tomopy_stripe import remove_stripe_based_fitting as remove_stripe_based_fitting
from ._tomopy_stripe import remove_stripe_based_interpolation as remove_stripe_based_interpolation
from ._tomopy_stripe import remove_stripe_based_sorting as remove_stripe_based_sorting
from ._tomopy_stripe import remove_stripe_fw as remove_stripe_fw
from ._tomopy_stripe import remove_stripe_sf as remove_stripe_sf
from ._tomopy_stripe import remove_stripe_ti as remove_stripe_ti
from ._tomopy_stripe import stripes_detect3d as stripes_detect3d
from ._tomopy_stripe import stripes_mask3d as stripes_mask3d

__all__ = [
    "add_drift", "add_gaussian", "add_jitter", "add_noise", "add_poisson", "add_rings", "add_salt_pepper",
    "add_zingers", "adjust_range", "align_joint", "align_seq", "angles", "blur_edges", "circ_mask",
    "distortion_correction_proj", "distortion_correction_sino", "downsample", "find_center", "find_center_pc",
    "find_center_vo", "gaussian_filter", "inpainter_morph", "load_distortion_coefs", "mask_empty_slice",
    "median_filter", "median_filter3d", "median_filter_cuda", "median_filter_nonfinite", "minus_log", "normalize",
    "normalize_bg", "normalize_nf", "normalize_roi", "pad", "project", "recon", "remove_all_stripe",
    "remove_dead_stripe", "remove_large_stripe", "remove_nan", "remove_neg", "remove_outlier", "remove_outlier1d",
    "remove_outlier3d", "remove_outlier_cuda", "remove_ring", "remove_stripe_based_filtering",
    "remove_stripe_based_fitting", "remove_stripe_based_interpolation", "remove_stripe_based_sorting",
    "remove_stripe_fw", "remove_stripe_sf", "remove_stripe_ti", "retrieve_phase", "scale", "shepp3d", "shift_images",
    "sino_360_t0_180", "sino_360_to_180", "sobel_filter", "stripes_detect3d", "stripes_mask3d", "upsample",
    "write_center"]

# scripts that write tomopy.misc.corr.remove_ring and so on; tomopy.recon is the function
prep = SimpleNamespace(
    normalize=SimpleNamespace(normalize=normalize, normalize_bg=normalize_bg, normalize_nf=normalize_nf,
                              normalize_roi=normalize_roi, minus_log=minus_log),
    alignment=SimpleNamespace(
        add_jitter=add_jitter, add_noise=add_noise, align_joint=align_joint, align_seq=align_seq, blur_edges=blur_edges,
        distortion_correction_proj=distortion_correction_proj, distortion_correction_sino=distortion_correction_sino,
        load_distortion_coefs=load_distortion_coefs, scale=scale, shift_images=shift_images),
    phase=SimpleNamespace(retrieve_phase=retrieve_phase),
    stripe=SimpleNamespace(**{name: globals()[name] for name in __all__ if name.endswith("_stripe") or "_stripe_" in name},
                           _detect_stripe=_detect_stripe, stripes_detect3d=stripes_detect3d, stripes_mask3d=stripes_mask3d))
misc = SimpleNamespace(
    corr=SimpleNamespace(**{name: globals()[name] for name in (
        "adjust_range", "circ_mask", "gaussian_filter", "inpainter_morph", "median_filter", "median_filter3d", "median_filter_cuda",
        "median_filter_nonfinite", "remove_nan", "remove_neg", "remove_outlier", "remove_outlier1d", "remove_outlier3d",
        "remove_outlier_cuda", "remove_ring", "sobel_filter")}),
    phantom=SimpleNamespace(shepp3d=shepp3d),
    morph=SimpleNamespace(downsample=downsample, pad=pad, sino_360_t0_180=sino_360_t0_180,
                          sino_360_to_180=sino_360_to_180, upsample=upsample))
sim = SimpleNamespace(project=SimpleNamespace(
    add_drift=add_drift, add_gaussian=add_gaussian, add_poisson=add_poisson, add_rings=add_rings,
    add_salt_pepper=add_salt_pepper, add_zingers=add_zingers, angles=angles, project=project))
