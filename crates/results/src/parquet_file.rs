//! Tables as Parquet files: flat columns, each with a dictionary where that helps, in row groups of a fixed size.
//!
//! Nothing in a file depends on when, where or how often it was written.

mod coded;

use crate::table::{Column, Data, Table, Texts};
use coded::Coded;
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type, TypePtr};
use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a row group; the last one has fewer.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 16;

fn field(column: &Column) -> Result<TypePtr> {
    let repetition = if column.is_optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let (physical, logical) = match column.data() {
        Data::Int64(_) => (PhysicalType::INT64, None),
        Data::Float64(_) => (PhysicalType::DOUBLE, None),
        Data::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Data::Bool(_) => (PhysicalType::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(column.name(), physical).with_repetition(repetition);
    builder.with_logical_type(logical).build().map(Arc::new)
}

/// By least and largest times a reader knows which rows it needs not read.
fn has_statistics(column: &Column) -> bool {
    matches!(column.data(), Data::Int64(_)) && column.name().ends_with("_ps")
}

/// A file that is written part by part.
pub(crate) struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> Writer<W> {
    /// A file with the columns of a table, without its rows.
    pub(crate) fn new(table: &Table, writer: W) -> Result<Self> {
        let fields = table.columns().iter().map(field).collect::<Result<Vec<_>>>()?;
        let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("forebay ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new(
                crate::schema::KEY.to_owned(),
                crate::schema::VERSION.to_string(),
            )]))
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP));
        for column in table.columns().iter().filter(|column| matches!(column.data(), Data::Int64(_))) {
            let path = ColumnPath::from(column.name());
            if has_statistics(column) {
                properties = properties.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk);
            }
            // Differences of whole numbers are as short as places in a dictionary, and no value has to be looked up.
            properties = properties.set_column_dictionary_enabled(path.clone(), false);
            properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        Ok(Self { file: SerializedFileWriter::new(writer, schema, Arc::new(properties.build()))? })
    }

    /// Adds the rows of a table with the same columns. All parts but the last have a multiple of [`ROWS_PER_GROUP`]
    /// rows: then the file is that of the whole table.
    pub(crate) fn add(&mut self, table: &Table) -> Result<()> {
        let mut from = 0;
        while from < table.rows() {
            let rows = from..(from + ROWS_PER_GROUP).min(table.rows());
            let descriptors: Vec<_> = self.file.schema_descr().columns().to_vec();
            let mut group = self.file.next_row_group()?;
            for (column, descriptor) in table.columns().iter().zip(descriptors) {
                write_column(column, descriptor, &mut group, rows.clone())?;
            }
            group.close()?;
            from = rows.end;
        }
        Ok(())
    }

    /// Writes the end.
    pub(crate) fn finish(self) -> Result<W> {
        self.file.into_inner()
    }
}

/// Writes a table.
pub(crate) fn write(table: &Table, writer: impl Write + Send) -> Result<()> {
    let mut file = Writer::new(table, writer)?;
    file.add(table)?;
    file.finish().map(drop)
}

fn write_column<W: Write + Send>(
    column: &Column,
    descriptor: ColumnDescPtr,
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: Range<usize>,
) -> Result<()> {
    let present = |row: &usize| column.is_present(*row);
    let levels = column.is_optional().then(|| rows.clone().map(|row| u32::from(present(&row))).collect());
    match column.data() {
        Data::Int64(values) => {
            let values = those_present(column, &rows, &values[rows.clone()]);
            match Coded::ints(&values).filter(|_| !has_statistics(column)) {
                Some(coded) => coded.write(descriptor, group, levels),
                None => write_values::<Int64Type, W>(group, levels, &values),
            }
        }
        Data::Float64(values) => {
            write_values::<DoubleType, W>(group, levels, &those_present(column, &rows, &values[rows.clone()]))
        }
        Data::Text(texts) => Coded::texts(texts, rows.filter(present)).write(descriptor, group, levels),
        Data::Bool(values) => {
            write_values::<BoolType, W>(group, levels, &those_present(column, &rows, &values[rows.clone()]))
        }
    }
}

/// The values of rows, without the placeholders of those that have none.
fn those_present<'v, T: Copy>(column: &Column, rows: &Range<usize>, values: &'v [T]) -> Cow<'v, [T]> {
    if column.is_complete() {
        return Cow::Borrowed(values);
    }
    rows.clone().zip(values).filter(|(row, _)| column.is_present(*row)).map(|(_, value)| *value).collect()
}

/// Writes values; `levels` are, for an optional column, which rows have one.
fn write_values<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    levels: Option<Vec<u32>>,
    values: &[T::T],
) -> Result<()> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("more columns than in the schema".to_owned()));
    };
    let levels: Option<Vec<i16>> = levels.map(|levels| levels.into_iter().map(|level| level as i16).collect());
    writer.typed::<T>().write_batch(values, levels.as_deref(), None)?;
    writer.close()
}

/// What has been read of a column so far.
struct Reading {
    name: String,
    optional: bool,
    present: Vec<bool>,
    data: Data,
}

impl Reading {
    fn new(field: &Type) -> Result<Self> {
        let unsupported =
            || ParquetError::General(format!("column \"{}\" has a type that no table of results has", field.name()));
        let info = field.get_basic_info();
        if field.is_group() || info.repetition() == Repetition::REPEATED {
            return Err(unsupported());
        }
        let data = match field.get_physical_type() {
            PhysicalType::INT64 if info.converted_type() == ConvertedType::NONE => Data::Int64(Vec::new()),
            PhysicalType::DOUBLE => Data::Float64(Vec::new()),
            PhysicalType::BYTE_ARRAY if info.converted_type() == ConvertedType::UTF8 => Data::Text(Texts::default()),
            PhysicalType::BOOLEAN => Data::Bool(Vec::new()),
            _ => return Err(unsupported()),
        };
        let optional = info.repetition() == Repetition::OPTIONAL;
        Ok(Self { name: field.name().to_owned(), optional, present: Vec::new(), data })
    }

    fn read(&mut self, index: usize, group: &dyn RowGroupReader) -> Result<()> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        let mut levels = Vec::with_capacity(rows);
        match (group.get_column_reader(index)?, &mut self.data) {
            (ColumnReader::Int64ColumnReader(mut reader), Data::Int64(all)) => {
                let mut values = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                spread(values, &levels, |value| all.push(value.unwrap_or_default()));
            }
            (ColumnReader::DoubleColumnReader(mut reader), Data::Float64(all)) => {
                let mut values = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                spread(values, &levels, |value| all.push(value.unwrap_or_default()));
            }
            (ColumnReader::BoolColumnReader(mut reader), Data::Bool(all)) => {
                let mut values = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                spread(values, &levels, |value| all.push(value.unwrap_or_default()));
            }
            (ColumnReader::ByteArrayColumnReader(mut reader), Data::Text(all)) => {
                let mut values: Vec<ByteArray> = Vec::with_capacity(rows);
                reader.read_records(rows, Some(&mut levels), None, &mut values)?;
                let texts = values.iter().map(ByteArray::as_utf8).collect::<Result<Vec<_>>>()?;
                spread(texts, &levels, |value| all.push(value.unwrap_or_default()));
            }
            _ => return Err(ParquetError::General(format!("column \"{}\" changes its type", self.name))),
        }
        self.present.extend(levels.iter().map(|level| *level > 0));
        Ok(())
    }
}

/// Puts the values that are present in the rows that they belong to; a required column has no levels.
fn spread<T>(values: Vec<T>, levels: &[i16], mut push: impl FnMut(Option<T>)) {
    let mut values = values.into_iter();
    if levels.is_empty() {
        values.for_each(|value| push(Some(value)));
        return;
    }
    for level in levels {
        push(if *level > 0 { values.next() } else { None });
    }
}

/// Reads a table.
pub(crate) fn read(file: File) -> Result<Table> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema();
    let mut columns = schema.get_fields().iter().map(|field| Reading::new(field)).collect::<Result<Vec<_>>>()?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        for (index, column) in columns.iter_mut().enumerate() {
            column.read(index, group.as_ref())?;
        }
    }
    let mut table = Table::new();
    for Reading { name, optional, present, data } in columns {
        if !table.columns().is_empty() && data.len() != table.rows() {
            return Err(ParquetError::General(format!("column \"{name}\" has another length than the first")));
        }
        if table.column(&name).is_some() {
            return Err(ParquetError::General(format!("column \"{name}\" is there twice")));
        }
        table.add(&name, optional, present, data);
    }
    Ok(table)
}
