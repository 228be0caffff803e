//! A FIFO with a limit, in packets or in bytes.

use super::{Departure, End};
use crate::flow::NONE;
use crate::packet::Metadata;
use crate::scenario::FifoLimit;
use forebay_tm::Reason;
use std::collections::VecDeque;

/// What one end of a flow has in the queue.
#[derive(Clone, Copy, Debug)]
struct Account {
    bytes: u64,
    packets: u32,
    flow: u32,
    end: End,
    /// Its transport waits for room.
    throttled: bool,
}

/// The queue of a host.
#[derive(Debug)]
pub(super) struct Fifo {
    limit: FifoLimit,
    /// Packets in order, each with its account.
    waiting: VecDeque<(Metadata, u32)>,
    bytes: u64,
    accounts: Vec<Account>,
    free: Vec<u32>,
}

impl Fifo {
    pub(super) fn new(limit: FifoLimit) -> Self {
        Self { limit, waiting: VecDeque::new(), bytes: 0, accounts: Vec::new(), free: Vec::new() }
    }

    /// Puts a packet at the end, if it fits; the end of a flow that it comes from gets an account if it has none.
    #[inline(never)]
    pub(super) fn enqueue(
        &mut self,
        account: &mut u32,
        (flow, end): (u32, End),
        metadata: Metadata,
    ) -> Result<(), Reason> {
        let bytes = u64::from(metadata.bytes());
        let fits = match self.limit {
            FifoLimit::Packets(limit) => self.waiting.len() < limit as usize,
            FifoLimit::Bytes(limit) => self.bytes + bytes <= limit.get(),
        };
        if !fits {
            return Err(Reason::Full);
        }
        if *account == NONE {
            *account = self.open(flow, end);
        }
        let own = &mut self.accounts[*account as usize];
        own.packets += 1;
        own.bytes += bytes;
        self.bytes += bytes;
        self.waiting.push_back((metadata, *account));
        Ok(())
    }

    fn open(&mut self, flow: u32, end: End) -> u32 {
        let account = Account { bytes: 0, packets: 0, flow, end, throttled: false };
        if let Some(place) = self.free.pop() {
            self.accounts[place as usize] = account;
            place
        } else {
            self.accounts.push(account);
            self.accounts.len() as u32 - 1
        }
    }

    /// The bytes of an account.
    pub(super) fn bytes(&self, account: u32) -> u64 {
        self.accounts[account as usize].bytes
    }

    /// The transport of an account waits for room.
    pub(super) fn throttle(&mut self, account: u32) {
        self.accounts[account as usize].throttled = true;
    }

    /// The next packet. An end of a flow that has no packet left is told to have no account any more.
    #[inline(never)]
    pub(super) fn dequeue(&mut self, forget: impl FnOnce(u32, End)) -> Option<Departure> {
        let (metadata, place) = self.waiting.pop_front()?;
        self.bytes -= u64::from(metadata.bytes());
        let account = &mut self.accounts[place as usize];
        account.packets -= 1;
        account.bytes -= u64::from(metadata.bytes());
        let wakes = core::mem::replace(&mut account.throttled, false);
        let departure = Departure { metadata, flow: account.flow, wakes };
        if account.packets == 0 {
            forget(account.flow, account.end);
            self.free.push(place);
        }
        Some(departure)
    }
}
