//! Tables.

use crate::arrow;
use crate::error::{OrRaise, refused};
use arrow_array::RecordBatch;
use forebay_results::table::{Column, Data};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A table of results: named columns of one length. It has the Arrow PyCapsule interface, so that pyarrow.table,
/// polars.DataFrame, pandas.DataFrame.from_arrow and DuckDB take it without a copy.
#[pyclass(frozen, module = "forebay")]
pub(crate) struct Table {
    table: forebay_results::Table,
    batch: OnceLock<RecordBatch>,
}

impl From<forebay_results::Table> for Table {
    fn from(table: forebay_results::Table) -> Self {
        Self { table, batch: OnceLock::new() }
    }
}

impl Table {
    fn batch(&self) -> PyResult<RecordBatch> {
        if let Some(batch) = self.batch.get() {
            return Ok(batch.clone());
        }
        let batch = arrow::batch(&self.table).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(self.batch.get_or_init(|| batch).clone())
    }
}

/// A column as a list; what is absent is None.
fn list<'py>(py: Python<'py>, column: &Column, rows: usize) -> PyResult<Bound<'py, PyList>> {
    match column.data() {
        Data::Int64(_) => PyList::new(py, (0..rows).map(|row| column.int(row)).collect::<Vec<_>>()),
        Data::Float64(_) => PyList::new(py, (0..rows).map(|row| column.number(row)).collect::<Vec<_>>()),
        Data::Text(_) => PyList::new(py, (0..rows).map(|row| column.text(row)).collect::<Vec<_>>()),
        Data::Bool(_) => PyList::new(py, (0..rows).map(|row| column.bool(row)).collect::<Vec<_>>()),
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.table.columns().iter().map(Column::name).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.table.rows()
    }

    fn __len__(&self) -> usize {
        self.table.rows()
    }

    fn __repr__(&self) -> String {
        format!("<forebay.Table: {} rows, columns {}>", self.table.rows(), self.column_names().join(", "))
    }

    /// A column as a list, with None where a value is absent.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.table.column(name) {
            Some(column) => list(py, column, self.table.rows()),
            None => Err(PyKeyError::new_err(format!(
                "there is no column {name:?}; the columns are {}",
                self.column_names().join(", ")
            ))),
        }
    }

    /// All columns as lists, by name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for column in self.table.columns() {
            columns.set_item(column.name(), list(py, column, self.table.rows())?)?;
        }
        Ok(columns)
    }

    /// The table for pyarrow, which must be installed.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// The table for pandas; pyarrow and pandas must be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// The table for polars, which must be installed.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The first rows, for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        const MOST: usize = 10;
        let shown = self.table.rows().min(MOST);
        let columns: Vec<_> =
            self.table.columns().iter().map(|column| list(py, column, shown)).collect::<PyResult<_>>()?;
        let rows = (0..shown).map(|row| columns.iter().map(|column| column.get_item(row)).collect());
        let rows: Vec<Vec<Bound<'_, PyAny>>> = rows.collect::<PyResult<_>>()?;
        let table = py.import("forebay._html")?.call_method1("table", (self.column_names(), rows))?;
        let end = format!("{} rows, {} columns", self.table.rows(), self.table.columns().len());
        Ok(table.add(end)?.unbind())
    }

    /// Writes a Parquet file.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.table.write_parquet(&path)).or_raise(py)
    }

    /// Writes a CSV file with a header.
    fn write_csv(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.table.write_csv(&path)).or_raise(py)
    }

    /// The table as an Arrow stream (Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer keep its own types: the consumer casts.
        let _ = requested_schema;
        arrow::stream(py, self.batch()?)
    }

    /// Reads a Parquet file that Forebay has written.
    #[staticmethod]
    fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        if !path.is_file() {
            return Err(refused(py, &path.display().to_string(), "there is no such file", "give a Parquet file"));
        }
        Ok(py.detach(|| forebay_results::Table::read_parquet(&path)).or_raise(py)?.into())
    }
}
