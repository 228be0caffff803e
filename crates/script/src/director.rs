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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read;

    fn director(rules: &str) -> Director {
        let flows = "[[flow]]\nsegments = 40\nreply = 3\n[[flow]]\nsegments = 40\n";
        let text = format!("about = \"x\"\ncongestion_control = \"dctcp\"\n{flows}{rules}");
        Director::new(&read("x.toml", &text).unwrap_or_else(|error| panic!("{error}")))
    }

    /// The numbers of the packets that are dropped, of so many of a kind.
    fn dropped(director: &mut Director, flow: u32, subjects: impl IntoIterator<Item = Subject>) -> Vec<usize> {
        let decisions = subjects.into_iter().map(|subject| director.decide(flow, subject));
        decisions.enumerate().filter(|(_, decision)| decision.drop).map(|(place, _)| place).collect()
    }

    #[test]
    fn segments_are_known_by_number_and_transmission() {
        let mut director = director("[[drop]]\nflow = 1\nsegment = [3, \"5-6\"]\ntransmission = [1, 3]\n");
        let mut data = |flow: u32, segment: u32| director.decide(flow, Subject::Data { segment });
        for flow in [0, 1] {
            for (segment, count, drop) in
                [(3, 1, true), (3, 2, false), (3, 3, true), (4, 1, false), (6, 1, true), (6, 2, false), (7, 1, false)]
            {
                let decision = data(flow, segment);
                assert_eq!((decision.count, decision.drop), (count, drop && flow == 1), "{flow} {segment}");
            }
        }
        assert_eq!(data(9, 3), Decision::default(), "a flow that the script has not is left alone");
    }

    #[test]
    fn every_so_many_of_a_range() {
        let mut director = director("[[mark]]\nsegment = \"10-\"\nevery = 10\n");
        let marked: Vec<u32> =
            (0..40).filter(|segment| director.decide(0, Subject::Data { segment: *segment }).mark).collect();
        assert_eq!(marked, [10, 20, 30]);
    }

    #[test]
    fn acks_are_known_by_ordinal_or_by_what_they_acknowledge_first() {
        let acks = |nexts: &[u32]| nexts.iter().map(|next| Subject::Ack { next: *next }).collect::<Vec<_>>();
        let mut by_ordinal = director("[[drop]]\nack = [2, 4]\n");
        assert_eq!(dropped(&mut by_ordinal, 0, acks(&[1, 1, 1, 5, 6])), [1, 3]);
        let mut by_segment = director("[[drop]]\nacknowledges = [3, 7]\n");
        // Three segments have arrived: segment 3 is not among them. The second that covers it does not do so first.
        assert_eq!(dropped(&mut by_segment, 0, acks(&[1, 3, 5, 5, 6, 20, 20])), [2, 5]);
        let reply = |segment: u32, next: u32| Subject::Reply { segment, next };
        assert_eq!(
            dropped(&mut by_segment, 1, [reply(0, 1), reply(1, 4), reply(2, 4)]),
            [1],
            "replies acknowledge, too"
        );
    }

    #[test]
    fn handshakes_and_replies_are_known() {
        let mut director = director(
            "[[drop]]\nhandshake = \"syn-ack\"\ntransmission = 2\n[[drop]]\nreply = 1\n[[drop]]\nhandshake = \"syn\"\n",
        );
        assert_eq!(dropped(&mut director, 0, [Subject::Syn, Subject::Syn]), [0]);
        assert_eq!(dropped(&mut director, 0, [Subject::SynAck, Subject::SynAck, Subject::SynAck]), [1]);
        let replies = (0..3).map(|segment| Subject::Reply { segment, next: 1 });
        assert_eq!(dropped(&mut director, 0, replies), [1]);
    }

    #[test]
    fn all_rules_that_apply_are_applied() {
        let mut director = director(
            "[[mark]]\nsegment = 5\n[[delay]]\nsegment = 5\nby = \"3ms\"\n[[hold]]\nsegment = 5\nby = \"2ms\"\n\
             [[duplicate]]\nsegment = 5\nafter = \"1ms\"\n",
        );
        let decision = director.decide(0, Subject::Data { segment: 5 });
        let expected = Decision {
            count: 1,
            drop: false,
            mark: true,
            delay: Duration::from_us(3_000),
            hold: true,
            duplicate: Some(Duration::from_us(1_000)),
        };
        assert_eq!(decision, expected);
        assert!(director.decide(0, Subject::Data { segment: 6 }).is_nothing());
    }
}
