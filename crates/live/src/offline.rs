//! A switch between files: frames arrive when they were captured, and leave into files when their wires are free.
//! Nothing depends on the machine's clock, so the same files give the same result.

use crate::dataplane::{Dataplane, FrameObserver, Outgoing};
use forebay_capture::{BadCapture, Captured, Frames};
use forebay_tm::Instant;
use forebay_tm::drive::EndOfTime;

/// A capture that comes in by a port.
#[derive(Clone, Copy, Debug)]
pub struct Input<'f> {
    /// The port.
    pub port: usize,
    /// The file's content.
    pub file: &'f [u8],
}

/// Why a run could not be finished.
#[derive(Debug)]
pub enum Stopped<E> {
    /// The capture of a port is damaged.
    Capture(usize, BadCapture),
    /// A frame of a port was captured only in part, so that there is nothing to send: the frame's number, and its bytes
    /// on the wire.
    Cut(usize, u64, usize),
    /// A frame of a port was captured more than 213 days after the first: its number.
    TooLate(usize, u64),
    /// A frame does not fit into a frame buffer: its port, and its bytes.
    TooLong(usize, usize),
    /// The frame buffers are all in use.
    NoBuffer,
    /// The switch's time is over.
    Time(EndOfTime),
    /// The output could not be written.
    Output(E),
}

/// The frames of one port, with the next of them.
struct Source<'f> {
    port: usize,
    frames: Frames<'f>,
    next: Option<Captured<'f>>,
    count: u64,
}

impl<'f> Source<'f> {
    fn open<E>(input: Input<'f>) -> Result<Self, Stopped<E>> {
        let port = input.port;
        let frames = Frames::new(input.file).map_err(|error| Stopped::Capture(port, error))?;
        let mut source = Self { port, frames, next: None, count: 0 };
        source.advance()?;
        Ok(source)
    }

    fn advance<E>(&mut self) -> Result<(), Stopped<E>> {
        self.next = self.frames.next().transpose().map_err(|error| Stopped::Capture(self.port, error))?;
        self.count += 1;
        Ok(())
    }
}

fn first_of(sources: &[Source<'_>]) -> u128 {
    sources.iter().filter_map(|source| source.next.as_ref().map(|frame| frame.at_ps)).min().unwrap_or(0)
}

/// Runs all frames until nothing waits. The first frame of all arrives at 0. Frames of one instant arrive in the order
/// of their ports. `output` is told when a frame starts to leave, in picoseconds of the files' clock, by which port,
/// and its bytes.
pub fn run<W: FrameObserver, E>(
    path: &mut Dataplane<W>,
    inputs: &[Input<'_>],
    mut output: impl FnMut(u128, usize, &[u8]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let mut sources = inputs.iter().map(|input| Source::open(*input)).collect::<Result<Vec<_>, _>>()?;
    let first = first_of(&sources);
    let mut last = Instant::ZERO;
    loop {
        let earliest = sources
            .iter_mut()
            .filter(|source| source.next.is_some())
            .min_by_key(|source| source.next.as_ref().map_or(u128::MAX, |frame| frame.at_ps));
        let Some(source) = earliest else { break };
        let Some(frame) = source.next else { break };
        // Captures of several cores are now and then a little out of order.
        let since = u64::try_from(frame.at_ps.saturating_sub(first)).ok().filter(|ps| *ps < u64::MAX);
        let now = Instant::from_ps(since.ok_or(Stopped::TooLate(source.port, source.count))?).max(last);
        last = now;
        let port = source.port;
        if frame.bytes.len() < frame.length {
            return Err(Stopped::Cut(port, source.count, frame.length));
        }
        path.advance(now).map_err(Stopped::Time)?;
        drain(path, first, &mut output)?;
        let pool = path.pool();
        if frame.bytes.len() > pool.buffer_size() {
            return Err(Stopped::TooLong(port, frame.bytes.len()));
        }
        let mut slot = pool.take().ok_or(Stopped::NoBuffer)?;
        pool.bytes_mut(&mut slot, frame.bytes.len()).copy_from_slice(frame.bytes);
        path.arrive(now, port, slot, frame.bytes.len()).map_err(Stopped::Time)?;
        drain(path, first, &mut output)?;
        source.advance()?;
    }
    path.finish().map_err(Stopped::Time)?;
    drain(path, first, &mut output)
}

/// FrameHandler out what has left.
fn drain<W: FrameObserver, E>(
    path: &mut Dataplane<W>,
    first: u128,
    output: &mut impl FnMut(u128, usize, &[u8]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let leaving: Vec<Outgoing> = path.outgoing().collect();
    for Outgoing { at, port, slot, length } in leaving {
        output(first + u128::from(at.ps()), port, path.pool().bytes(&slot, length)).map_err(Stopped::Output)?;
        path.pool().give(slot);
    }
    Ok(())
}
