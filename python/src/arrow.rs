//! Tables as Arrow, by the Arrow PyCapsule interface: both ways, without a copy at the border.

use crate::error::refused;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use forebay_results::Table;
use forebay_results::table::{Column, Data};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::sync::Arc;

/// The name that the interface gives capsules of streams.
const STREAM: &CStr = c"arrow_array_stream";

/// A table as one batch.
pub(crate) fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<Field> = table.columns().iter().map(field).collect();
    let arrays: Vec<ArrayRef> = table.columns().iter().map(|column| array(column, table.rows())).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn field(column: &Column) -> Field {
    let kind = match column.data() {
        Data::Int64(_) => DataType::Int64,
        Data::Float64(_) => DataType::Float64,
        Data::Text(_) => DataType::Utf8,
        Data::Bool(_) => DataType::Boolean,
    };
    Field::new(column.name(), kind, column.is_optional())
}

fn array(column: &Column, rows: usize) -> ArrayRef {
    let nulls = column.is_optional().then(|| NullBuffer::from_iter((0..rows).map(|row| column.is_present(row))));
    match column.data() {
        Data::Int64(values) => Arc::new(Int64Array::new(values.clone().into(), nulls)),
        Data::Float64(values) => Arc::new(Float64Array::new(values.clone().into(), nulls)),
        Data::Bool(values) => Arc::new(BooleanArray::new(values.clone().into(), nulls)),
        Data::Text(_) => Arc::new(StringArray::from_iter((0..rows).map(|row| column.text(row)))),
    }
}

/// A batch as the capsule of a stream.
pub(crate) fn stream(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let reader: Box<dyn RecordBatchReader + Send> = Box::new(RecordBatchIterator::new([Ok(batch)], schema));
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Columns of whole numbers of anything that has `__arrow_c_stream__`.
pub(crate) fn read_columns(source: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<u64>)>> {
    let py = source.py();
    let broken = |error: ArrowError| PyRuntimeError::new_err(error.to_string());
    let capsule = source.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the name of the capsule says that it holds such a stream, which is moved out of it and marked as such.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(pointer.as_ptr()) }.map_err(broken)?;
    let schema = reader.schema();
    let mut columns: Vec<(String, Vec<u64>)> =
        schema.fields().iter().map(|field| (field.name().clone(), Vec::new())).collect();
    for batch in reader {
        let batch = batch.map_err(broken)?;
        for ((name, values), array) in columns.iter_mut().zip(batch.columns()) {
            numbers(array, values)
                .map_err(|(problem, remedy)| refused(py, &format!("arrivals[\"{name}\"]"), &problem, remedy))?;
        }
    }
    Ok(columns)
}

/// Adds the numbers of an array.
fn numbers(array: &ArrayRef, values: &mut Vec<u64>) -> Result<(), (String, &'static str)> {
    if let Some(row) = (array.null_count() > 0).then(|| (0..array.len()).find(|row| array.is_null(*row))).flatten() {
        let row = values.len() + row;
        return Err((format!("there is no value in row {row}"), "give every packet a value, or leave the column out"));
    }
    match array.data_type() {
        DataType::UInt64 => values.extend_from_slice(array.as_primitive::<UInt64Type>().values()),
        DataType::UInt32 => widen::<UInt32Type>(array, values)?,
        DataType::UInt16 => widen::<UInt16Type>(array, values)?,
        DataType::UInt8 => widen::<UInt8Type>(array, values)?,
        DataType::Int64 => widen::<Int64Type>(array, values)?,
        DataType::Int32 => widen::<Int32Type>(array, values)?,
        DataType::Int16 => widen::<Int16Type>(array, values)?,
        DataType::Int8 => widen::<Int8Type>(array, values)?,
        DataType::Boolean => values.extend(array.as_boolean().values().iter().map(u64::from)),
        other => return Err((format!("its values are {other}"), "give whole numbers that are not below 0")),
    }
    Ok(())
}

fn widen<T: ArrowPrimitiveType>(array: &ArrayRef, values: &mut Vec<u64>) -> Result<(), (String, &'static str)>
where
    T::Native: TryInto<u64> + std::fmt::Display,
{
    for value in array.as_primitive::<T>().values() {
        let Ok(number) = (*value).try_into() else {
            return Err((format!("{value} in row {} is below zero", values.len()), "give 0 or more"));
        };
        values.push(number);
    }
    Ok(())
}
