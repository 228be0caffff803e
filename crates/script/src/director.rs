//! Who says what becomes of a packet. Both the live switch and the simulated one ask, for each packet as it comes.

use crate::file::{Action, Rule, Script, Which};
use forebay_tm::Duration;

/// A packet, as rules know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Asks for a connection.
    Syn,
    /// The answer to that.
    SynAck,
    /// Data of the sender.
    Data {
        /// The number of the segment.
        segment: u32,
    },
    /// Data of the receiver; it acknowledges, too.
    Reply {
        /// The number of the segment.
        segment: u32,
        /// Segments of the sender that have arrived without a gap.
        next: u32,
    },
    /// The receiver acknowledges.
    Ack {
        /// Segments of the sender that have arrived without a gap.
        next: u32,
    },
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Which transmission of its segment this is, or which ACK; from 1.
    pub count: u32,
    /// It is gone.
    pub drop: bool,
    /// It is marked.
    pub mark: bool,
    /// It is held for so long.
    pub delay: Duration,
    /// What is behind it waits with it.
    pub hold: bool,
    /// It comes again, so much later.
    pub duplicate: Option<Duration>,
}

impl Decision {
    /// Whether nothing is done to it.
    pub fn is_nothing(&self) -> bool {
        *self == Self { count: self.count, ..Self::default() }
    }
}

/// What is counted of a flow.
#[derive(Clone, Debug, Default)]
struct Counts {
    syns: u32,
    syn_acks: u32,
    acks: u32,
    /// Segments of the sender that were acknowledged without a gap.
    acknowledged: u32,
    /// Transmissions of each segment.
    data: Vec<u32>,
    replies: Vec<u32>,
}

fn count(list: &mut Vec<u32>, segment: u32) -> u32 {
    let place = segment as usize;
    if list.len() <= place {
        list.resize(place + 1, 0);
    }
    list[place] += 1;
    list[place]
}

/// Applies the rules of a script.
#[derive(Clone, Debug)]
pub struct Director {
    rules: Vec<Rule>,
    flows: Vec<Counts>,
}

impl Director {
    /// For a run from its start.
    pub fn new(script: &Script) -> Self {
        Self { rules: script.rules.clone(), flows: vec![Counts::default(); script.flows.len()] }
    }

    /// A packet of a flow is seen.
    pub fn decide(&mut self, flow: u32, subject: Subject) -> Decision {
        let Some(counts) = self.flows.get_mut(flow as usize) else { return Decision::default() };
        let before = counts.acknowledged;
        let number = match subject {
            Subject::Syn => {
                counts.syns += 1;
                counts.syns
            }
            Subject::SynAck => {
                counts.syn_acks += 1;
                counts.syn_acks
            }
            Subject::Data { segment } => count(&mut counts.data, segment),
            Subject::Reply { segment, next } => {
                counts.acknowledged = before.max(next);
                count(&mut counts.replies, segment)
            }
            Subject::Ack { next } => {
                counts.acknowledged = before.max(next);
                counts.acks += 1;
                counts.acks
            }
        };
        let newly = before..counts.acknowledged;
        let mut decision = Decision { count: number, ..Decision::default() };
        for rule in &self.rules {
            if rule.flow.is_some_and(|own| own != flow) {
                continue;
            }
            let applies = match (&rule.which, subject) {
                (Which::Segment(numbers), Subject::Data { segment })
                | (Which::Reply(numbers), Subject::Reply { segment, .. }) => {
                    numbers.contains(segment) && rule.transmission.contains(number)
                }
                (Which::Ack(numbers), Subject::Ack { .. }) => numbers.contains(number),
                (Which::Acknowledges(numbers), Subject::Ack { .. } | Subject::Reply { .. }) => {
                    newly.clone().any(|segment| numbers.contains(segment))
                }
                (Which::Syn, Subject::Syn) | (Which::SynAck, Subject::SynAck) => rule.transmission.contains(number),
                _ => false,
            };
            if applies {
                decision.apply(rule.action);
            }
        }
        decision
    }
}

impl Decision {
    fn apply(&mut self, action: Action) {
        match action {
            Action::Drop => self.drop = true,
            Action::Mark => self.mark = true,
            Action::Delay(by) => self.delay = self.delay.max(by),
            Action::Hold(by) => {
                self.delay = self.delay.max(by);
                self.hold = true;
            }
            Action::Duplicate(after) => self.duplicate = Some(after),
        }
    }
}
