# SPDX-License-Identifier: BSD-3-Clause
"""Files that astropy wrote, every pixel type, scaling and kind of tile, read as astropy reads them, or refused."""
import warnings

import numpy as np
import pytest

import fiberloom as fl

fits = pytest.importorskip("astropy.io.fits", reason="astropy writes the files of these tests")

SHAPE = (24, 70)
RNG = np.random.default_rng(5)


def save(path, image, mask=None, ivar=None):
    """A preproc file: `image` and `mask` are HDUs."""
    plain = fits.ImageHDU(np.ones(SHAPE, "f4"), name="IVAR") if ivar is None else ivar
    hdus = [fits.PrimaryHDU(), image, plain] + ([] if mask is None else [mask])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits.HDUList(hdus).writeto(path, overwrite=True, checksum=True)
    return path


def raw_image(raw, name="IMAGE", **cards):
    """The stored numbers `raw` as they are, and the cards that say what they mean."""
    hdu = fits.ImageHDU(raw, name=name, do_not_scale_image_data=True)
    for key, value in cards.items():
        hdu.header[key] = value
    return hdu


def physical(path, name):
    with fits.open(path, memmap=False) as hdus:
        return np.array(hdus[name].data)


def pattern(dtype):
    """Numbers all over the range of an integer type, its ends among them; noise for floats."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        values = RNG.normal(100, 20, SHAPE).astype(dtype)
        values[3] = 0
        return values
    info = np.iinfo(dtype)
    values = RNG.integers(info.min, info.max, SHAPE, dtype=dtype, endpoint=True)
    values.flat[:6] = [info.min, info.max, info.min + 1, info.max - 1, 1, 16]
    values[2] = RNG.integers(0, 100, SHAPE[1])
    return values


def bits(values):
    """What docs/fiberloom/formats.md says of masks: the pattern, bits from 32 on stand in bit 31."""
    width = 8 * values.dtype.itemsize
    wide = values.astype(np.uint64) & np.uint64(2**width - 1)
    low = (wide & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return low | np.where(wide >> np.uint64(32), np.uint32(1 << 31), np.uint32(0))


INTEGERS = ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8"]


def rounded(values, like):
    return values.astype(like.dtype)


@pytest.mark.parametrize("kind", INTEGERS + ["f4", "f8"])
def test_an_image_of_every_type(kind, tmp_path):
    values = pattern(kind)
    path = save(tmp_path / "i.fits", fits.ImageHDU(values, name="IMAGE"))
    found = fl.read_image(path).image
    assert found.dtype == (np.float32 if kind in ("u1", "i1", "i2", "u2", "f4") else np.float64)
    assert np.array_equal(physical(path, "IMAGE"), values)
    assert np.array_equal(found, rounded(values, found))


@pytest.mark.parametrize("kind", INTEGERS)
def test_a_mask_of_every_type(kind, tmp_path):
    values = pattern(kind)
    image = fits.ImageHDU(np.zeros(SHAPE, "f4"), name="IMAGE")
    path = save(tmp_path / "m.fits", image, fits.ImageHDU(values, name="MASK"))
    assert np.array_equal(fl.read_image(path).mask, bits(values))


@pytest.mark.parametrize("kind", ["u1", "i2", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("scale", [{"BSCALE": 0.25, "BZERO": 1.5}, {"BSCALE": -2.0}, {"BZERO": 17.0}])
def test_a_scaled_image(kind, scale, tmp_path):
    raw = pattern(kind) if kind != "i8" else RNG.integers(-10**9, 10**9, SHAPE)
    path = save(tmp_path / "s.fits", raw_image(raw, **scale))
    found = fl.read_image(path).image
    expected = raw.astype("f8") * scale.get("BSCALE", 1) + scale.get("BZERO", 0)
    assert np.array_equal(found, rounded(expected, found))
    assert np.allclose(found, physical(path, "IMAGE"), rtol=3e-7)  # astropy scales float32 in float32


@pytest.mark.parametrize("kind, blank", [("u1", 255), ("i2", -32768), ("i4", -(2**31)), ("i8", -(2**63))])
def test_blank_is_undefined(kind, blank, tmp_path):
    raw = pattern(kind)
    raw[5, 7:20] = blank
    cards = {"BLANK": blank}
    path = save(tmp_path / "b.fits", raw_image(raw, **cards), raw_image(raw, "MASK", **cards))
    got = fl.read_image(path)
    assert np.array_equal(np.isnan(got.image), raw == blank)
    assert np.array_equal(np.isnan(physical(path, "IMAGE")), raw == blank)
    good = raw != blank
    assert np.array_equal(got.image[good], rounded(raw[good].astype("f8"), got.image))
    assert (got.mask[~good] == 0xFFFFFFFF).all()
    assert np.array_equal(got.mask[good], bits(raw)[good])


@pytest.mark.parametrize("card, value", [("BSCALE", 0), ("BSCALE", "nan"), ("BZERO", "nan"), ("BLANK", 1.5)])
def test_nonsense_in_the_scaling_is_refused(card, value, tmp_path):
    good = save(tmp_path / "n.fits", raw_image(pattern("i2"), BSCALE=7.25, BZERO=7.5, BLANK=75))
    data = good.read_bytes()
    at = data.index(card.encode().ljust(8) + b"=", 2880)
    new = f"{card:<8}= {value!s:>20}".encode().ljust(80)
    bad = tmp_path / "bad.fits"
    bad.write_bytes(data[:at] + new + data[at + 80:])
    with pytest.raises(fl.Error, match=f"bad.fits: HDU 1 'IMAGE': {card} is ") as caught:
        fl.read_image(bad, verify=False)
    assert caught.value.exit_code == 14


TILES = [None, (1, 70), (24, 70), (8, 33)]  # HCOMPRESS_1 takes none below 4 x 4
INTEGER_CODES = ["NOCOMPRESS", "RICE_1", "GZIP_1", "GZIP_2", "PLIO_1", "HCOMPRESS_1"]


def packed(values, code, tile, name="IMAGE", **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fits.CompImageHDU(values, name=name, compression_type=code, tile_shape=tile, **more)


def written(path, image, mask=None):
    """Writes; skips what astropy itself cannot write or does not read back as it was."""
    try:
        save(path, image, mask)
        return path
    except Exception as error:  # noqa: BLE001 - whatever its release says
        pytest.skip(f"astropy cannot write this: {error}")


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("code", INTEGER_CODES)
@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_in_tiles(kind, code, tile, tmp_path):
    if code == "HCOMPRESS_1" and tile in (None, (1, 70)):
        tile = (8, 70)
    values = pattern(kind)
    if code in ("PLIO_1", "HCOMPRESS_1") or (code == "RICE_1" and kind[1] == "8"):
        values = (np.abs(values.astype("f8")) % 5000 % np.iinfo(kind).max).astype(kind)
    path = written(tmp_path / "t.fits", packed(values, code, tile), packed(values, code, tile, "MASK"))
    try:
        expected = physical(path, "IMAGE")
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"astropy cannot read its own file: {error}")
    got = fl.read_image(path)
    assert np.array_equal(got.image, rounded(expected.astype("f8"), got.image))
    if np.array_equal(expected, values):  # else that astropy did not write what it was given
        assert np.array_equal(got.mask, bits(values))


@pytest.mark.parametrize("method", [-1, 1, 2], ids=["no-dither", "dither-1", "dither-2"])
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("code", ["NOCOMPRESS", "RICE_1", "GZIP_1", "GZIP_2", "HCOMPRESS_1"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_quantised_floats(kind, code, tile, method, tmp_path):
    if code == "HCOMPRESS_1" and tile in (None, (1, 70)):
        tile = (8, 70)
    values = pattern(kind)  # row 3 is all 0: it cannot be quantised and goes to GZIP_COMPRESSED_DATA
    if code != "HCOMPRESS_1":
        values[6, 4:9] = np.nan  # ZBLANK
    hdu = packed(values, code, tile, quantize_level=16, quantize_method=method, dither_seed=77)
    path = written(tmp_path / "q.fits", hdu)
    expected = physical(path, "IMAGE")
    got = fl.read_image(path).image
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    exact = np.zeros(SHAPE, bool) if kind == "f8" else expected == 0
    assert np.array_equal(got[exact], expected[exact])
    # both restore the same integers; astropy in the type of the image
    close = np.allclose(got, expected, rtol=0, atol=2e-5 if kind == "f4" else 1e-12, equal_nan=True)
    assert close, np.nanmax(np.abs(got - expected))
    assert np.nanmax(np.abs(got - values)) < 20  # and not garbage


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("code", ["NOCOMPRESS", "GZIP_1", "GZIP_2"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_floats_as_they_are(kind, code, tile, tmp_path):
    values = pattern(kind)
    values[6, 4:9] = np.nan
    values[7, 1] = np.inf
    path = written(tmp_path / "l.fits", packed(values, code, tile, quantize_level=0))
    assert np.array_equal(fl.read_image(path).image, values, equal_nan=True)


def edited(path, changes):
    """The compressed HDU as the table that it is, written anew after `changes`(columns, header)."""
    with fits.open(path, disable_image_compression=True, memmap=False) as hdus:
        table = hdus[1]
        columns = {c.name: c for c in table.columns}
        header = table.header.copy()
        columns = changes(columns, table.data, header)
        new = fits.BinTableHDU.from_columns(columns, name="IMAGE")
        for key in ("ZIMAGE", "ZCMPTYPE", "ZBITPIX", "ZNAXIS", "ZNAXIS1", "ZNAXIS2", "ZTILE1", "ZTILE2",
                    "ZNAME1", "ZVAL1", "ZNAME2", "ZVAL2", "ZQUANTIZ", "ZDITHER0", "ZBLANK", "ZSCALE", "ZZERO"):
            if key in header:
                new.header[key] = header[key]
        save(path, new)
    return path


@pytest.mark.parametrize("code", ["NOCOMPRESS", "GZIP_1"])
def test_zscale_may_be_a_keyword_and_descriptors_wide(code, tmp_path):
    values = pattern("f4")
    values[3] = 50
    path = written(tmp_path / "k.fits", packed(values, code, SHAPE, quantize_level=16, quantize_method=-1))
    expected = physical(path, "IMAGE")

    def changes(columns, data, header):
        header["ZSCALE"], header["ZZERO"] = float(data["ZSCALE"][0]), float(data["ZZERO"][0])
        cells = np.empty(1, object)
        cells[0] = np.array(data["COMPRESSED_DATA"][0])
        return [fits.Column("COMPRESSED_DATA", "QB()", array=cells)]

    got = fl.read_image(edited(path, changes)).image
    assert np.allclose(got, expected, rtol=0, atol=2e-5)


def test_a_tile_may_stand_uncompressed(tmp_path):
    values = pattern("f4")
    path = written(tmp_path / "u.fits", packed(values, "RICE_1", SHAPE, quantize_level=16))

    def changes(columns, data, header):
        none, cells = np.empty(1, object), np.empty(1, object)
        none[0], cells[0] = np.array([], "u1"), values.ravel()
        scales = [fits.Column(n, "D", array=np.array(data[n])) for n in ("ZSCALE", "ZZERO")]
        return [fits.Column("COMPRESSED_DATA", "PB()", array=none),
                fits.Column("UNCOMPRESSED_DATA", "PE()", array=cells), *scales]

    assert np.array_equal(fl.read_image(edited(path, changes)).image, values)


@pytest.mark.parametrize("change, said, code", [
    ({"ZQUANTIZ": "SOME_DITHER"}, "ZQUANTIZ SOME_DITHER is not supported", 15),
    ({"ZCMPTYPE": "JPEG_1"}, "compression ZCMPTYPE JPEG_1 is not supported", 15),
    ({"ZDITHER0": 0}, "ZDITHER0 is 0", 14),
    ({"scale": 0.0}, "ZSCALE is 0", 14),
    ({"scale": np.nan}, "ZSCALE is not finite", 14),
])
def test_what_cannot_be_restored_is_refused(change, said, code, tmp_path):
    path = written(tmp_path / "r.fits", packed(pattern("f4"), "RICE_1", SHAPE, quantize_level=16,
                                               quantize_method=1, dither_seed=5))

    def changes(columns, data, header):
        header.update({k: v for k, v in change.items() if k != "scale"})
        cells = np.empty(1, object)
        cells[0] = np.array(data["COMPRESSED_DATA"][0])
        scale = np.array([change.get("scale", data["ZSCALE"][0])])
        return [fits.Column("COMPRESSED_DATA", "PB()", array=cells), fits.Column("ZSCALE", "D", array=scale),
                fits.Column("ZZERO", "D", array=np.array(data["ZZERO"]))]

    with pytest.raises(fl.Error, match=said) as caught:
        fl.read_image(edited(path, changes))
    assert caught.value.exit_code == code


@pytest.mark.parametrize("kind", ["I", "J", "K", "E", "D"])
def test_fibers_of_a_fibermap_are_its_numbers(kind, frame, tmp_path):
    """TZERO, TSCAL and TNULL of FIBER count where fiberloom uses the column."""
    path = tmp_path / "frame.fits"
    fl.write_frame(path, frame)
    numbers = np.arange(700, 700 + frame.flux.shape[0])
    zero = {"I": 2**15, "J": 2**31, "K": 2**63}.get(kind, 100)
    with fits.open(path) as hdus:
        stored = {"I": ">i2", "J": ">i4", "K": ">i8", "E": ">f4", "D": ">f8"}[kind]
        raw = np.array([int(n) - zero for n in numbers], stored)
        table = fits.BinTableHDU(raw.view([("FIBER", raw.dtype)]), name="FIBERMAP")
        table.header["TZERO1"] = zero
        hdus = fits.HDUList([h for h in hdus if h.name != "FIBERMAP"] + [table])
        hdus.writeto(tmp_path / "scaled.fits", checksum=True)
    assert list(fl.read_frame(tmp_path / "scaled.fits").fibers) == list(numbers)


def test_integers_that_are_undefined_are_masked(frame, tmp_path):
    """TNULL of a table's integers, unsigned ones too; what is scaled is NaN there."""
    path = tmp_path / "frame.fits"
    fl.write_frame(path, frame)
    number = np.arange(frame.flux.shape[0])
    raw = np.zeros(len(number), [("TARGETID", ">i8"), ("UNSIGNED", ">i4"), ("SCALED", ">i2"), ("ALL", ">i2")])
    raw["TARGETID"], raw["UNSIGNED"], raw["SCALED"], raw["ALL"] = 2**60 + number, number, number, number
    with fits.open(path) as hdus:
        table = fits.BinTableHDU(raw, name="FIBERMAP")
        for key, value in (("TNULL1", 2**60 + 1), ("TZERO2", 2**31), ("TNULL2", 2), ("TSCAL3", 0.5), ("TNULL3", 3), ("TNULL4", -1)):
            table.header[key] = value
        fits.HDUList([h for h in hdus if h.name != "FIBERMAP"] + [table]).writeto(tmp_path / "null.fits", checksum=True)
    got = fl.read_frame(tmp_path / "null.fits").fibermap
    ids, unsigned = got["TARGETID"], got["UNSIGNED"]
    assert ids.mask.tolist() == (number == 1).tolist() and ids[2] == 2**60 + 2
    assert unsigned.mask.tolist() == (number == 2).tolist() and unsigned[3] == 2**31 + 3
    assert np.isnan(got["SCALED"]).tolist() == (number == 3).tolist() and got["SCALED"][4] == 2
    assert not np.ma.isMaskedArray(got["ALL"]) and got["ALL"].tolist() == number.tolist()
