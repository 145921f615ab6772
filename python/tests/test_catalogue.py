# SPDX-License-Identifier: BSD-3-Clause
"""fl.Catalogue: files in, answers out as arrays, astropy tables and pandas frames."""
import pathlib
import sys

import numpy as np
import pytest

import fiberloom as fl

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/fiberloom/cli"))
import small_catalogue  # noqa: E402


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    folder = tmp_path_factory.mktemp("catalogue")
    (folder / "redrock-0-1.fits").write_bytes(
        small_catalogue.redrock_bytes(1, 20260101, small_catalogue.targets(1, 30), candidates=1))
    made = fl.Catalogue(folder / "catalogue.sqlite")
    seen = []
    got = made.load(folder, progress=lambda *words: seen.append(words))
    assert (got["redshifts"], got["groups"], got["failed"]) == (30, 1, [])
    assert seen[-1] == ("load", 1, 1)
    assert made.load(folder)["unchanged"] == 1
    return made


def test_sql_and_arguments_give_the_same_arrays(catalogue):
    by_sql = catalogue.query("SELECT targetid, z, spectype FROM zbest WHERE spectype = 'QSO' AND zwarn = 0 AND z >= 0.1 "
                             "ORDER BY targetid")
    by_words = catalogue.query(classes="QSO", good=True, z=(0.1, None), columns=["targetid", "z", "spectype"])
    assert list(by_sql) == ["targetid", "z", "spectype"]
    assert by_sql["targetid"].dtype == np.int64 and by_sql["z"].dtype == np.float64
    for name, values in by_sql.items():
        assert (values == by_words[name]).all() and len(values) > 3


def test_what_is_not_known_is_masked_nan_or_empty(catalogue):
    got = catalogue.query("SELECT 1 AS i, 0.5 AS x, 'a' AS t UNION ALL SELECT NULL, NULL, NULL")
    order = np.argsort(got["t"])[::-1]
    assert got["i"].mask[order].tolist() == [False, True]
    assert got["x"][order][0] == 0.5 and np.isnan(got["x"][order][1])
    assert got["t"][order].tolist() == ["a", ""]
    none = catalogue.query(targetid=12345)
    assert all(len(values) == 0 for values in none.values())


def test_a_cone_is_nearest_first(catalogue):
    assert catalogue.query(cone=(150.0, 2.1005, 80))["targetid"].tolist() == [11, 12, 10, 13, 9]


def test_an_answer_without_rows_has_the_types_of_its_tables(catalogue):
    none = catalogue.query(targetid=-5)
    assert [none[name].dtype.kind for name in ("targetid", "z", "spectype")] == ["i", "f", "U"]


def test_bytes_that_are_no_text_are_shown_as_well_as_can_be(catalogue):
    assert catalogue.query("SELECT x'61ff' AS b")["b"].tolist() == ["a\ufffd"]


def test_tables_of_others(catalogue):
    table = pytest.importorskip("astropy.table")
    got = catalogue.query(targetid=[3, 4], to="astropy")
    assert isinstance(got, table.Table) and got["targetid"].tolist() == [3, 4]


def test_frames_of_pandas(catalogue):
    pandas = pytest.importorskip("pandas")
    got = catalogue.query(targetid=[3, 4], to="pandas")
    assert isinstance(got, pandas.DataFrame) and got["targetid"].tolist() == [3, 4]
    large = catalogue.query("SELECT 39627788403084375 AS id UNION ALL SELECT NULL", to="pandas")["id"]
    assert large[0] == 39627788403084375 and large[1] is pandas.NA


def test_faults_are_the_librarys(catalogue, tmp_path):
    for sql in ("DELETE FROM redshift", "SELEC", "SELECT no_such FROM zbest"):
        with pytest.raises(fl.ArgumentError) as error:
            catalogue.query(sql)
        assert error.value.exit_code == 82
    with pytest.raises(fl.NotFoundError):
        fl.Catalogue(tmp_path / "none.sqlite").query()
    with pytest.raises(fl.ArgumentError):
        catalogue.query(source="nothing")
    for more in ({"cone": (1, 2)}, {"cone": (1, 2, -1)}, {"z": (1,)}, {"z": (2, 1)}, {"seconds": -1}, {"sql": " "}):
        with pytest.raises(ValueError):
            catalogue.query(**more)
    for more in ({"targetid": "x"}, {"targetid": 1.5}, {"columns": 3}, {"sql": 3}):
        with pytest.raises((TypeError, ValueError)):
            catalogue.query(**more)
    assert repr(fl.Catalogue("postgresql://me:secret@host/name")) == "<fiberloom.Catalogue host/name>"


def test_an_empty_list_selects_nothing(catalogue):
    for more in ({"targetid": []}, {"targetid": np.array([], dtype=int)}, {"tileid": []}, {"classes": []}):
        none = catalogue.query(**more)
        assert [len(none["z"]), none["z"].dtype.kind] == [0, "f"], more
    assert len(catalogue.query(targetid=None)["z"]) == 30


def test_arguments_that_select_do_not_go_with_sql(catalogue):
    for more in ({"good": True}, {"limit": 3}, {"targetid": []}, {"classes": "QSO"}, {"z": (1, None)}, {"cone": (1, 2, 3)}, {"columns": "z"},
                 {"source": "ztile"}):
        with pytest.raises(ValueError, match=f"{next(iter(more))}: does not go together with sql"):
            catalogue.query("SELECT 1", **more)
