# SPDX-License-Identifier: BSD-3-Clause
"""How objects show themselves, what columns of tables are, what survives pickling."""
import copy
import errno
import html.parser
import os
import pickle

import numpy as np
import pytest

import fiberloom as fl
from fiberloom.compat import specter


def fibermap_frame(frame, folder):
    """The frame with a FIBERMAP of every kind of column, written by astropy."""
    fits = pytest.importorskip("astropy.io.fits")
    n = frame.nspec
    columns = [
        fits.Column("TARGETID", "K", array=np.arange(n) + 39627652591521181),
        fits.Column("FIBER", "J", array=np.arange(n)), fits.Column("OBJTYPE", "3A", array=["TGT"] * n),
        fits.Column("FLUX_R", "E", array=np.linspace(1, 2, n)), fits.Column("XY", "2D", array=np.ones((n, 2))),
        fits.Column("GOOD", "L", array=np.arange(n) % 2 == 0),
        fits.Column("BITS", "J", bzero=2**31, array=np.arange(n, dtype=np.uint32) + 2**31)]
    path = folder / "map.fits"
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns, name="FIBERMAP")]).writeto(path, overwrite=True)
    return path


@pytest.fixture(scope="module")
def mapped(frame, files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapped")
    fl.extract_file(files["image"], files["psf"], folder / "frame.fits", wavelength="6000,6016,0.8",
                    fibermap=fibermap_frame(frame, folder))
    return fl.read_frame(folder / "frame.fits")


def test_columns_are_read_by_name(mapped):
    table = mapped.fibermap
    assert table["TARGETID"].tolist() == [39627652591521181 + i for i in range(10)]
    assert table["TARGETID"].dtype == np.int64 and table["FLUX_R"].dtype == np.float32
    assert table["OBJTYPE"].tolist() == ["TGT"] * 10 and table["XY"].shape == (10, 2)
    assert table["GOOD"].tolist() == [i % 2 == 0 for i in range(10)] and table["GOOD"].dtype == bool
    assert table["BITS"].dtype == np.uint32 and table["BITS"].tolist() == [2**31 + i for i in range(10)]
    assert "FIBER" in table and "NONE" not in table and table.keys()[:2] == ["TARGETID", "FIBER"]
    assert table["fiber"].tolist() == list(range(10))  # FITS minds no case
    assert table[3]["FIBER"] == 3 and len(table[2:5]) == 3 and len(table[table["FIBER"] > 6]) == 3
    with pytest.raises(KeyError, match="NONE"):
        table["NONE"]


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def everything(small, frame, mapped, files):
    return {
        "Frame 10 spectra x 60 bins": frame, "Image 317 x 91": fl.read_image(files["image"]), "Psf 10 fibres": small.psf,
        "SimulatedFrame 10 fibres": small, "Comparison of 10 spectra": fl.compare(frame, frame),
        "Table 10 rows x 7 columns: TARGETID FIBER": mapped.fibermap, "keywords: ": mapped.header,
        "Spots 10 fibres x 1": small.psf.spots(6020.0), "SpecterPsf of": specter.SpecterPsf(small.psf)}


def test_every_object_shows_itself_in_a_line(small, frame, mapped, files):
    for text, thing in everything(small, frame, mapped, files).items():
        shown = repr(thing)
        assert text in shown and shown[0] == "<" and shown[-1] == ">" and "\n" not in shown and len(shown) < 300, shown


def test_notebooks_get_a_sound_table(small, frame, mapped, files):
    mapped.header["OBJECT"] = "a <b> & c"
    for text, thing in everything(small, frame, mapped, files).items():
        if text.startswith(("Spots", "SpecterPsf")):
            continue
        page = Tags()
        page.feed(thing._repr_html_())
        assert page.open == [] and text.split(":")[0] in page.text.replace("\n", " "), text
    page = Tags()
    page.feed(mapped.header._repr_html_())
    assert "a <b> & c" in page.text


def test_what_a_call_gives_can_be_pickled_and_copied(small, frame, mapped, files):
    for again in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy):
        back = again(mapped)
        assert np.array_equal(back.flux, mapped.flux) and back.header.cards == mapped.header.cards
        assert np.array_equal(back.fibermap.rows, mapped.fibermap.rows)
        assert np.array_equal(back.fibermap["TARGETID"], mapped.fibermap["TARGETID"])
        image = again(fl.read_image(files["image"]))
        assert image.header["CAMERA"] == "r0"
        assert np.array_equal(again(small).psf.x(small.wave), small.psf.x(small.wave))
        assert again(fl.compare(frame, frame)) == fl.compare(frame, frame)
        peer = specter.SpecterPsf(small.psf)
        assert np.array_equal(again(peer).x(3, small.wave), peer.x(3, small.wave))
    fl.write_frame(files["folder"] / "pickled.fits", pickle.loads(pickle.dumps(mapped)))
    assert np.array_equal(fl.read_frame(files["folder"] / "pickled.fits").fibermap.rows, mapped.fibermap.rows)


def test_a_psf_travels_with_its_header_and_the_range_that_stands_in_it(small, tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    fl.write_psf(tmp_path / "psf.fits", small.psf)
    with fits.open(tmp_path / "psf.fits", mode="update", checksum=True) as hdus:
        hdus["PSF"].header["WAVEMIN"], hdus["PSF"].header["WAVEMAX"] = 6005.0, 6015.0
    psf = fl.read_psf(tmp_path / "psf.fits")
    assert psf.wave_range == (6005.0, 6015.0)
    for back in (pickle.loads(pickle.dumps(psf)), copy.deepcopy(psf)):
        assert (back.path, back.wave_range, back.header.cards) == (psf.path, psf.wave_range, psf.header.cards)
        default = fl.extract_frame(small.image, small.ivar, back, nspec=1)  # on the grid of the range
        assert np.array_equal(default.wave, fl.extract_frame(small.image, small.ivar, psf, nspec=1).wave)
    rebuild, arguments = psf.__reduce__()
    old = rebuild(*arguments[:2])  # as versions before have pickled it
    assert old.path == "" and np.array_equal(old.x(small.wave), psf.x(small.wave))


def test_the_operator_travels(small):
    pytest.importorskip("scipy")
    A = small.psf.operator(small.wave, specmin=2, nspec=3, threads=1)
    back = pickle.loads(pickle.dumps(A))
    f, p = np.linspace(1, 2, A.shape[1]), small.image.ravel()
    assert back.shape == A.shape and np.array_equal(back @ f, A @ f) and np.array_equal(back.T @ p, A.T @ p)


def test_a_header_is_made_of_a_dictionary():
    header = fl.Header({"CAMERA": "r0", "EXPID": 7, "EXPTIME": 900.0, "LAMP": False})
    assert [header[k] for k in header.keys()] == ["r0", 7, 900.0, False]
    with pytest.raises(TypeError, match="header value of X"):
        fl.Header({"X": object()})
    scalars = fl.Header({"I": np.int16(-3), "F": np.float32(1.5), "B": np.bool_(True), "S": np.str_("text")})
    assert [scalars[k] for k in "IFBS"] == [-3, 1.5, True, "text"]
    assert fl.Header({"X": -2**63})["X"] == -2**63
    for value in (2**63, -2**70, np.uint64(2**64 - 1)):
        with pytest.raises(ValueError, match="header value of X: expected an integer of 64 bits, got"):
            fl.Header({"X": value})


BUILTIN = [(fl.NotFoundError, FileNotFoundError), (fl.FormatError, ValueError), (fl.ArgumentError, ValueError),
           (fl.OutputExistsError, FileExistsError), (fl.OutputError, OSError), (fl.DiskFullError, OSError),
           (fl.NumericalError, ArithmeticError), (fl.DeviceError, RuntimeError)]


@pytest.mark.parametrize("kind, builtin", BUILTIN)
def test_errors_are_the_builtin_of_their_kind_too(kind, builtin):
    error = kind("x.fits: gone", 10, "missing")
    assert isinstance(error, (fl.FiberloomError, RuntimeError)) and isinstance(error, builtin) and fl.Error is fl.FiberloomError
    error.filename = "x.fits"
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind and (str(back), back.exit_code, back.status) == ("x.fits: gone", 10, "missing")
    assert back.filename == "x.fits"


def caught(call):
    with pytest.raises(fl.FiberloomError) as error:
        call()
    return error.value


def test_errors_name_their_file_also_after_pickling(small, frame, files, tmp_path):
    (tmp_path / "bad.fits").write_bytes(b"junk")
    (tmp_path / "packed.fits.gz").write_bytes(b"junk")
    (tmp_path / "lost").mkdir()
    bad, gone, out = (str(tmp_path / name) for name in ("bad.fits", "no: such\nfile.fits", "out.fits"))
    fl.write_frame(out, frame)
    for name, call in (
            (gone, lambda: fl.read_image(gone)), (bad, lambda: fl.read_psf(bad)), (bad, lambda: fl.read_frame(bad)),
            (str(tmp_path / "packed.fits.gz"), lambda: fl.read_image(tmp_path / "packed.fits")),
            (bad, lambda: fl.extract_file(files["image"], bad, out)), (bad, lambda: fl.extract_file(bad, files["psf"], out)),
            (out, lambda: fl.extract_file(files["image"], files["psf"], out, wavelength="6000,6016,0.8", overwrite=False)),
            (out, lambda: fl.write_frame(out, frame, overwrite=False)), (bad, lambda: fl.compare_truth(frame, bad)),
            (gone, lambda: fl.compare(frame, gone)), (out + "/a.fits", lambda: fl.write_psf(out + "/a.fits", small.psf)),
            (bad, lambda: fl.simulate(tmp_path / "lost", nspec=1, psf=bad))):
        error = caught(call)
        back = pickle.loads(pickle.dumps(error))
        assert error.filename == back.filename == name, error
        if isinstance(error, OSError):
            assert error.errno == back.errno and error.strerror == back.strerror == os.strerror(error.errno)
    assert caught(lambda: fl.extract_frame(small.image, small.ivar, small.psf, "1000,1001,0.8")).filename is None


def test_an_error_has_the_number_that_the_system_gave(files, tmp_path):
    loop = tmp_path / "loop.fits"
    loop.symlink_to(loop)
    assert caught(lambda: fl.read_image(loop)).errno == errno.ELOOP
    assert caught(lambda: fl.read_image(tmp_path / "gone.fits")).errno == errno.ENOENT


def test_files_raise_the_error_of_their_fault(frame, files, tmp_path):
    for call in (fl.read_image, fl.read_psf, fl.read_frame, lambda p: fl.extract_file(p, files["psf"], tmp_path / "o.fits"),
                 lambda p: fl.compare_truth(frame, p), lambda p: fl.compare(frame, p), specter.load_psf):
        with pytest.raises(FileNotFoundError, match="nowhere.fits") as caught:
            call(tmp_path / "nowhere.fits")
        assert caught.value.exit_code == 10 and isinstance(caught.value, fl.Error)
    with pytest.raises(fl.FormatError, match="this is a PSF, expected a preprocessed image"):
        fl.read_image(files["psf"])
    fl.write_frame(tmp_path / "f.fits", frame)
    with pytest.raises(fl.FormatError, match="this is a file of spectra"):
        fl.read_image(tmp_path / "f.fits")
    with pytest.raises(fl.FormatError):
        fl.read_frame(files["psf"])
    with pytest.raises(fl.FormatError):
        fl.read_psf(files["image"])
    with pytest.raises(FileExistsError, match="f.fits"):
        fl.write_frame(tmp_path / "f.fits", frame, overwrite=False)
    with pytest.raises(OSError, match="nowhere") as caught:
        fl.write_frame(tmp_path / "nowhere" / "f.fits", frame)
    assert caught.value.exit_code == 30
    with pytest.raises(TypeError, match="path: expected a path, got Psf"):
        fl.read_image(fl.read_psf(files["psf"]))
