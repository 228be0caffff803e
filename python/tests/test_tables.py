"""Tables in other people's hands."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forebay


@pytest.fixture(scope="module")
def result():
    from conftest import SMALL

    return forebay.Scenario.from_toml(SMALL).run()


def test_everybody_takes_them(result):
    flows = result.flows
    rows, total = len(flows), sum(flows["bytes"])
    table = pa.table(flows)
    frame = pl.DataFrame(flows)
    assert table.num_rows == frame.height == rows > 10
    assert pa.compute.sum(table["bytes"]).as_py() == frame["bytes"].sum() == total
    assert flows.to_pandas()["bytes"].sum() == total
    assert isinstance(flows.to_pandas(), pd.DataFrame) and isinstance(flows.to_polars(), pl.DataFrame)
    reader = pa.RecordBatchReader.from_stream(flows)
    assert duckdb.sql("select sum(bytes) from reader").fetchall()[0][0] == total
    assert table.to_pydict() == flows.to_pydict()


def test_types_and_absent_values(result):
    schema = pa.table(result.queues).schema
    assert schema.field("switch").type == pa.string() and not schema.field("switch").nullable
    assert schema.field("port").type == pa.int64() and not schema.field("port").nullable
    assert schema.field("occupancy_mean_bytes").type == pa.float64()
    flows = pa.table(result.flows).schema
    assert flows.field("round").nullable and result.flows["round"][0] is None


def test_no_copy_is_made_at_the_border(result):
    def address(table):
        return pa.table(table)["fct_ps"].chunk(0).buffers()[1].address

    assert address(result.flows) == address(result.flows)


def test_a_table_outlives_its_result():
    from conftest import SMALL

    table = pa.table(forebay.Scenario.from_toml(SMALL).run().flows)
    assert table.num_rows == len(table.to_pydict()["flow"])


def test_all_tables_are_those_of_the_files(result, tmp_path):
    result.save(tmp_path / "run")
    names = sorted(path.stem for path in (tmp_path / "run").glob("*.parquet"))
    assert len(names) == 23
    for name in names:
        saved = pq.read_table(tmp_path / "run" / f"{name}.parquet")
        own = pa.table(getattr(result, name))
        assert own.equals(saved.cast(own.schema)), name
        loaded = getattr(forebay.load(tmp_path / "run"), name)
        assert loaded.to_pydict() == getattr(result, name).to_pydict(), name
    assert len(result.timeline) > 50


def test_loaded_results_are_the_same(result, tmp_path):
    result.save(tmp_path / "run", csv=True)
    loaded = forebay.load(tmp_path / "run")
    assert loaded.summary == result.summary and loaded.toml == result.toml
    assert (tmp_path / "run/flows.csv").read_text().startswith("flow,workload,")
    with pytest.raises(forebay.Error, match="in a directory already"):
        loaded.save(tmp_path / "other")


def test_files_of_single_tables(result, tmp_path):
    result.flows.write_parquet(tmp_path / "f.parquet")
    result.flows.write_csv(tmp_path / "f.csv")
    assert forebay.Table.read_parquet(tmp_path / "f.parquet").to_pydict() == result.flows.to_pydict()
    assert len((tmp_path / "f.csv").read_text().splitlines()) == len(result.flows) + 1
