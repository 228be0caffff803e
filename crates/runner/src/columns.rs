//! Arrivals from columns of numbers in memory, with the names and the limits of a file of arrivals.

use crate::Error;
use crate::arrivals::{COLUMNS, Column, NEEDED, name_of, range_error, set};
use forebay_settings::nearest;
use forebay_tm::{Instant, Packet, PacketId, ValidConfig};

/// Arrivals in columns of the same length.
#[derive(Clone, Debug)]
pub struct ArrivalColumns {
    columns: Vec<(Column, Vec<u64>)>,
    rows: usize,
}

impl ArrivalColumns {
    /// Takes named columns.
    pub fn new(named: Vec<(String, Vec<u64>)>) -> Result<Self, Error> {
        let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let rows = named.first().map_or(0, |(_, values)| values.len());
        let mut columns: Vec<(Column, Vec<u64>)> = Vec::with_capacity(named.len());
        for (name, values) in named {
            let Some((_, column)) = COLUMNS.iter().find(|(known, _)| *known == name) else {
                let remedy = match nearest(&name, &known) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("the columns are {}", known.join(", ")),
                };
                return Err(Error::refused("arrivals", format!("there is no column \"{name}\""), remedy));
            };
            if columns.iter().any(|(other, _)| other == column) {
                return Err(Error::refused(at(&name), "this column is there twice", "remove one of them"));
            }
            if values.len() != rows {
                let problem = format!("it has {} values, and the first column has {rows}", values.len());
                return Err(Error::refused(at(&name), problem, "give columns of one length"));
            }
            columns.push((*column, values));
        }
        match NEEDED.into_iter().find(|needed| !columns.iter().any(|(column, _)| column == needed)) {
            Some(missing) => {
                let remedy = "give time_ps, bytes, port and queue";
                Err(Error::refused(at(name_of(missing)), "this column is missing", remedy))
            }
            None => Ok(Self { columns, rows }),
        }
    }

    /// How many arrivals there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The packet of a row and when it arrives, which is not before `last`.
    #[inline]
    pub fn arrival(&self, row: usize, last: Instant, switch: &ValidConfig) -> Result<(Instant, Packet), Error> {
        let (mut time, mut packet) = (0, Packet { id: PacketId(row as u64), ..Packet::default() });
        for (column, values) in &self.columns {
            if !set(*column, values[row], switch, &mut time, &mut packet) {
                return Err(out_of_range(*column, values[row], row, switch));
            }
        }
        // Without a class column every packet is of class 0, which must exist, too.
        if !switch.policy.knows_class(packet.class) {
            return Err(out_of_range(Column::Class, u64::from(packet.class), row, switch));
        }
        if time < last.ps() {
            let problem = format!("{time} is before the arrival before it, at {}", last.ps());
            return Err(Error::refused(in_row(Column::Time, row), problem, "sort the arrivals by time"));
        }
        Ok((Instant::from_ps(time), packet))
    }
}

/// What errors call a column.
fn at(name: &str) -> String {
    format!("arrivals[\"{name}\"]")
}

fn in_row(column: Column, row: usize) -> String {
    format!("{}[{row}]", at(name_of(column)))
}

#[cold]
fn out_of_range(column: Column, value: u64, row: usize, switch: &ValidConfig) -> Error {
    let (problem, remedy) = range_error(column, value, switch);
    Error::refused(in_row(column, row), problem, remedy)
}

/// Checks one packet that is offered by hand; errors name what is wrong with it.
pub fn check_packet(packet: &Packet, switch: &ValidConfig) -> Result<(), Error> {
    let values = [
        (Column::Bytes, packet.bytes),
        (Column::Port, packet.port),
        (Column::Queue, packet.queue),
        (Column::Class, packet.class),
    ];
    for (column, value) in values {
        if !set(column, u64::from(value), switch, &mut 0, &mut Packet::default()) {
            let (problem, remedy) = range_error(column, u64::from(value), switch);
            return Err(Error::refused(name_of(column), problem, remedy));
        }
    }
    Ok(())
}
