//! The traffic manager itself, packet by packet.

use crate::error::{OrRaise, refused};
use crate::packets::{Departure, Eviction, Explanation, Outcome};
use crate::replay::{counters, read};
use crate::schemes::caught;
use crate::table::Table;
use forebay_runner::columns::check_packet;
use forebay_tm::{Instant, Packet, PacketId, View, Wire};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The traffic manager of one switch, packet by packet. Times are whole picoseconds and never go back. Nothing happens
/// on its own: the caller brings the arrivals and asks an idle port for its next packet.
#[pyclass(module = "forebay._forebay", subclass)]
pub(crate) struct Tm {
    tm: forebay_tm::Tm,
    now: Instant,
    /// What a packet is called that nobody gives a name.
    next_id: u64,
}

/// A packet as it is given: keywords of `offer` and `explain`.
fn packet(py: Python<'_>, bytes: u32, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<(Packet, Option<u64>, Wire)> {
    const NAMES: &str = "port, queue, class_, flow, rank, eligible, unscheduled, ect, id, wire_idle";
    let mut packet = Packet { bytes, ..Packet::default() };
    let (mut id, mut wire, mut class) = (None, Wire::Busy, None);
    for (key, value) in keywords.into_iter().flatten() {
        let name = key.extract::<String>()?;
        match name.as_str() {
            "port" => packet.port = number(&name, &value)?,
            "queue" => packet.queue = number(&name, &value)?,
            "class_" => class = Some(number(&name, &value)?),
            "flow" => packet.flow = number(&name, &value)?,
            "rank" => packet.rank = number(&name, &value)?,
            "eligible" => packet.eligible = Instant::from_ps(number(&name, &value)?),
            "unscheduled" => packet.unscheduled = value.is_truthy()?,
            "ect" => packet.ect = value.is_truthy()?,
            "id" => id = Some(number(&name, &value)?),
            "wire_idle" if value.is_truthy()? => wire = Wire::Idle,
            "wire_idle" => {}
            _ => {
                return Err(refused(
                    py,
                    &name,
                    "a packet has no such property",
                    &format!("the properties are {NAMES}"),
                ));
            }
        }
    }
    packet.class = class.unwrap_or_default();
    Ok((packet, id, wire))
}

/// A whole number that fits.
fn number<'py, T: TryFrom<u64>>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<T> {
    let number = value.extract::<u64>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let shown: String = value.repr().map_or_else(|_| "this".to_owned(), |text| text.to_string());
        let shown: String = shown.chars().take(80).collect();
        refused(value.py(), name, &format!("{shown} is not a whole number that fits"), "give a whole number, 0 or more")
    })
}

impl Tm {
    /// Refuses to go back in time.
    fn at(&self, now: &Bound<'_, PyAny>) -> PyResult<Instant> {
        let at = Instant::from_ps(number("now", now)?);
        if at < self.now {
            let problem = format!("{} is before the last call, at {}", at.ps(), self.now.ps());
            return Err(refused(now.py(), "now", &problem, "time never goes back: give a later instant"));
        }
        if at == Instant::NEVER {
            return Err(refused(now.py(), "now", "this is the end of time", "give an earlier instant"));
        }
        Ok(at)
    }

    fn port(&self, port: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ports = self.tm.config().rates.len();
        let number = number::<usize>("port", port)?;
        if number < ports {
            return Ok(number);
        }
        let remedy = format!("the switch has ports 0 to {}", ports - 1);
        Err(refused(port.py(), "port", &format!("there is no port {number}"), &remedy))
    }

    fn queue(&self, port: &Bound<'_, PyAny>, queue: &Bound<'_, PyAny>) -> PyResult<usize> {
        let queues = self.tm.config().queues;
        let port = self.port(port)?;
        let number = number::<usize>("queue", queue)?;
        if number < queues {
            return Ok(port * queues + number);
        }
        let remedy = format!("a port has queues 0 to {}", queues - 1);
        Err(refused(queue.py(), "queue", &format!("there is no queue {number}"), &remedy))
    }

    fn checked(
        &self,
        bytes: &Bound<'_, PyAny>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Packet, Option<u64>, Wire)> {
        let py = bytes.py();
        let (mut packet, id, wire) = packet(py, number("bytes", bytes)?, keywords)?;
        packet.id = PacketId(id.unwrap_or(self.next_id));
        check_packet(&packet, self.tm.config()).or_raise(py)?;
        Ok((packet, id, wire))
    }
}

#[pymethods]
impl Tm {
    #[new]
    fn new(py: Python<'_>, name: &str, text: &str) -> PyResult<Self> {
        let switch = read(py, name, text)?;
        Ok(Self { tm: caught(|| forebay_tm::Tm::new(switch))?, now: Instant::ZERO, next_id: 0 })
    }

    /// A packet arrives. With wire_idle=True its port's wire can take a packet now: if nothing waits, it is sent at
    /// once. Packets without an id are numbered from 0.
    #[pyo3(signature = (now, bytes, **packet))]
    fn offer(
        &mut self,
        now: &Bound<'_, PyAny>,
        bytes: &Bound<'_, PyAny>,
        packet: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Outcome> {
        let now = self.at(now)?;
        let (packet, id, wire) = self.checked(bytes, packet)?;
        self.next_id += u64::from(id.is_none());
        self.now = now;
        caught(|| self.tm.offer(now, &packet, wire).into())
    }

    /// What a packet would get if it arrived, and why. Changes nothing.
    #[pyo3(signature = (now, bytes, **packet))]
    fn explain(
        &self,
        now: &Bound<'_, PyAny>,
        bytes: &Bound<'_, PyAny>,
        packet: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Explanation> {
        let at = self.at(now)?;
        let (packet, _, wire) = self.checked(bytes, packet)?;
        let (_, why) = caught(|| self.tm.clone().offer_explained(at, &packet, wire))?;
        Explanation::new(now.py(), &why, self.tm.config().queues)
    }

    /// Picks the next packet of an idle port; None if it has none that may leave now. The port is then busy for as
    /// long as the packet takes at the port's rate.
    fn dequeue(&mut self, now: &Bound<'_, PyAny>, port: &Bound<'_, PyAny>) -> PyResult<Option<Departure>> {
        let (at, port) = (self.at(now)?, self.port(port)?);
        self.now = at;
        caught(|| self.tm.dequeue(at, port).map(Departure::from))
    }

    /// Does what is due by then: periodic updates and expulsions.
    fn advance(&mut self, now: &Bound<'_, PyAny>) -> PyResult<()> {
        self.now = self.at(now)?;
        caught(|| self.tm.advance(self.now))
    }

    /// Packets that were waiting and were pushed out or expelled since this was last asked.
    fn evictions(&mut self) -> Vec<Eviction> {
        let queues = self.tm.config().queues;
        self.tm.drain_evictions().map(|eviction| Eviction::new(&eviction, queues)).collect()
    }

    /// How long a packet takes on a port's wire, in picoseconds.
    fn transmission_time(&self, port: &Bound<'_, PyAny>, bytes: &Bound<'_, PyAny>) -> PyResult<u64> {
        let port = self.port(port)?;
        let time = self.tm.rate(port).checked_serialization(number("bytes", bytes)?);
        time.map(forebay_tm::Duration::ps).ok_or_else(|| {
            refused(bytes.py(), "bytes", "this takes longer than can be counted in picoseconds", "give fewer bytes")
        })
    }

    /// Bytes of a queue.
    fn queue_bytes(&self, port: &Bound<'_, PyAny>, queue: &Bound<'_, PyAny>) -> PyResult<u64> {
        Ok(self.tm.queue_bytes(self.queue(port, queue)?).get())
    }

    /// Packets of a queue.
    fn queue_packets(&self, port: &Bound<'_, PyAny>, queue: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(self.tm.queue_packets(self.queue(port, queue)?))
    }

    /// The threshold of a queue in bytes; None if the policy has none.
    fn threshold(&self, port: &Bound<'_, PyAny>, queue: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
        let queue = self.queue(port, queue)?;
        caught(|| self.tm.threshold(queue).map(|threshold| threshold.value))
    }

    /// The counters of all queues that saw a packet, and of the switch.
    fn counters(&self) -> Table {
        counters(&self.tm).into()
    }

    /// Bytes in the buffer.
    #[getter]
    fn used(&self) -> u64 {
        self.tm.used().get()
    }

    /// Bytes of the buffer.
    #[getter]
    fn buffer(&self) -> u64 {
        self.tm.config().buffer.get()
    }

    /// The number of ports.
    #[getter]
    fn ports(&self) -> usize {
        self.tm.config().rates.len()
    }

    /// The number of queues of each port.
    #[getter]
    fn queues(&self) -> usize {
        self.tm.config().queues
    }

    /// The time of the last call, in picoseconds.
    #[getter]
    fn now(&self) -> u64 {
        self.now.ps()
    }

    /// Changes to other settings, with the packets that wait, or not at all.
    fn _reconfigure(&mut self, py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
        let config = read(py, name, text)?.into_inner();
        caught(|| self.tm.reconfigure(config))?.map_err(|error| {
            let problem = format!("{}: {}", error.value, error.problem);
            refused(py, error.field, &problem, &error.remedy)
        })
    }
}
