//! Why a packet met its fate, in plain words with numbers.

use forebay_tm::ingress::Charge;
use forebay_tm::mark::MarkConfig;
use forebay_tm::{
    Bytes, Departure, Eviction, Explanation, GroupExplanation, Instant, Packet, RankTest, Reason, Threshold,
    ValidConfig, Verdict,
};
use std::fmt::Write;

/// What became of a packet after its arrival.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Sent { start: Instant, end: Instant, bytes: u32 },
    Lost(Eviction),
}

/// One packet's story.
#[derive(Debug)]
pub(crate) struct Story {
    packet: u64,
    beginning: Option<(Packet, Explanation)>,
    ending: Option<Ending>,
}

impl Story {
    pub(crate) fn new(packet: u64) -> Self {
        Self { packet, beginning: None, ending: None }
    }

    pub(crate) fn packet(&self) -> u64 {
        self.packet
    }

    pub(crate) fn begin(&mut self, packet: &Packet, why: Explanation) {
        self.beginning = Some((*packet, why));
    }

    pub(crate) fn started(&mut self, start: Instant, departure: &Departure, end: Instant) {
        if departure.id.0 == self.packet {
            self.ending = Some(Ending::Sent { start, end, bytes: departure.bytes() });
        }
    }

    pub(crate) fn evicted(&mut self, eviction: Eviction) {
        if eviction.id.0 == self.packet {
            self.ending = Some(Ending::Lost(eviction));
        }
    }

    /// The story, if the packet ever arrived.
    pub(crate) fn tell(&self, switch: &ValidConfig) -> Option<String> {
        let (packet, why) = self.beginning.as_ref()?;
        let mut text = String::new();
        let queue = |index: usize| format!("port {} queue {}", index / switch.queues, index % switch.queues);
        let _ = writeln!(
            text,
            "Packet {} ({} B, flow {}) arrived at {} for {}.",
            self.packet,
            packet.bytes,
            packet.flow,
            why.at,
            queue(why.queue)
        );
        let _ = writeln!(
            text,
            "  It met {} B in {} in its queue, and {} B of the {} B buffer in use. It would be charged {} B.",
            why.length.get(),
            packets(why.waiting),
            why.total.get(),
            why.buffer.get(),
            why.charge.get()
        );
        if let Some(ingress) = &why.ingress {
            let _ = writeln!(text, "  {}", ingress_words(ingress));
        }
        if let Some(test) = &why.rank_test {
            let _ = writeln!(text, "  {}", rank_test(test));
        }
        if let Some(threshold) = &why.threshold {
            let _ = writeln!(text, "  {}", threshold_words(threshold, switch));
        }
        let _ = writeln!(text, "  {}", self.verdict(packet, why, switch));
        if !why.holders.is_empty() {
            let shown = why.holders.iter().take(5).map(|holder| {
                let share = 100.0 * holder.bytes.as_f64() / why.buffer.as_f64();
                format!("{}: {} B ({share:.0}%)", queue(holder.queue), holder.bytes.get())
            });
            let rest = why.holders.len().saturating_sub(5);
            let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
            let _ = writeln!(text, "  The buffer was held by {}{more}.", shown.collect::<Vec<_>>().join(", "));
        }
        let _ = writeln!(text, "  {}", self.ending(why, switch));
        Some(text)
    }

    fn verdict(&self, packet: &Packet, why: &Explanation, switch: &ValidConfig) -> String {
        let Some(verdict) = why.verdict else { return String::new() };
        let against = Compared::of(why);
        let rejected = |reason: Reason| {
            let because = against.because(reason);
            format!("It was rejected ({}): {because}. Its header was", reason.as_str())
        };
        match verdict {
            Verdict::Queued { marked } => {
                let mark = marking(packet, why, switch, marked);
                format!("It was admitted: {}.{mark}", against.room())
            }
            Verdict::Trimmed { reason } => format!("{} kept.", rejected(reason)),
            Verdict::Returned { reason } => format!("{} returned to the sender.", rejected(reason)),
            Verdict::Dropped { reason } => {
                format!("It was dropped ({}): {}.", reason.as_str(), against.because(reason))
            }
        }
    }

    fn ending(&self, why: &Explanation, switch: &ValidConfig) -> String {
        match self.ending {
            Some(Ending::Sent { start, end, bytes }) => {
                format!("It waited {}; its {bytes} B were sent from {start} to {end}.", start.since(why.at))
            }
            Some(Ending::Lost(lost)) => {
                let waited = lost.at.since(why.at);
                let queue = format!("port {} queue {}", lost.queue / switch.queues, lost.queue % switch.queues);
                match (lost.reason, lost.threshold) {
                    (Reason::Expelled, Some(threshold)) => format!(
                        "It was expelled at {} after {waited}: {queue} held {} B, above its threshold of {threshold:.1} B, \
                         and there was memory bandwidth to spare.",
                        lost.at,
                        lost.length.get()
                    ),
                    _ => format!(
                        "It was pushed out at {} after {waited}, to make room for another packet, when {queue} held {} B.",
                        lost.at,
                        lost.length.get()
                    ),
                }
            }
            None => "Nothing of it was sent.".to_owned(),
        }
    }
}

/// What a packet's queue was compared with.
struct Compared<'e> {
    why: &'e Explanation,
    /// The queue with the packet.
    whole: u64,
    /// The part of the buffer that the queue owns: the threshold is for what exceeds it.
    owned: u64,
    /// What exceeds it.
    above: u64,
    /// What is compared with the threshold, as a sum.
    sum: String,
}

impl<'e> Compared<'e> {
    fn of(why: &'e Explanation) -> Self {
        let whole = why.length.get() + why.charge.get();
        let owned = why.threshold.and_then(|threshold| threshold.reserved).map_or(0, Bytes::get);
        let above = whole.saturating_sub(owned);
        let sum = match why.threshold.and_then(|threshold| threshold.filtered) {
            Some(filtered) => format!("{filtered:.1} B + {} B", why.charge.get()),
            None if owned == 0 => format!("{whole} B"),
            None => format!("{whole} B - {owned} B = {above} B"),
        };
        Self { why, whole, owned, above, sum }
    }

    fn limit(&self) -> f64 {
        self.why.threshold.map_or(0.0, |threshold| threshold.value)
    }

    /// Why the packet was admitted.
    fn room(&self) -> String {
        let Self { whole, owned, .. } = self;
        match self.why.threshold {
            None => "there was room".to_owned(),
            Some(_) if *owned > 0 && self.above == 0 => {
                format!("{whole} B are within the {owned} B that its queue owns")
            }
            Some(_) => format!("{} are within the threshold of {:.1} B and the packet fits", self.sum, self.limit()),
        }
    }

    /// Why the packet was not.
    fn because(&self, reason: Reason) -> String {
        let why = self.why;
        match reason {
            Reason::Oversize => format!("its {} B are more than the whole buffer", why.charge.get()),
            Reason::Rank => match &why.rank_test {
                Some(_) => "AIFO's test failed".to_owned(),
                None => "its rank found no place in the queue".to_owned(),
            },
            Reason::QueueFull => format!("its queue already held {}, which is queue_capacity", packets(why.waiting)),
            Reason::Full if why.threshold.is_some_and(|threshold| threshold.reserved.is_some()) => {
                let more = self.above - why.length.get().saturating_sub(self.owned);
                let free = why.threshold.and_then(|threshold| threshold.remaining).map_or(0, Bytes::get);
                format!("it did not fit the shared part: {more} B of it were needed and {free} B were free")
            }
            Reason::Full => {
                let free = why.buffer.get() - why.total.get();
                format!("it did not fit: {} B were needed and {free} B were free", why.charge.get())
            }
            Reason::Threshold => format!("{} would be above the threshold of {:.1} B", self.sum, self.limit()),
            Reason::FairDrop => "approximate fair dropping drew it".to_owned(),
            Reason::Marking => format!("the marking rule drops at {} B", why.length.get()),
            Reason::Watermark => format!("{} B are above the watermark", why.length.get()),
            Reason::PushedOut | Reason::Expelled | Reason::HeaderFull => {
                "it was rejected, and there was no room for its header".to_owned()
            }
            Reason::IngressPool
            | Reason::IngressPort
            | Reason::IngressGroup
            | Reason::IngressHeadroom
            | Reason::IngressPortHeadroom
            | Reason::IngressHeadroomPool => refused(reason, why.ingress.unwrap_or_default()),
        }
    }
}

/// What is to be said of the mark of a packet that was admitted.
fn marking(packet: &Packet, why: &Explanation, switch: &ValidConfig, marked: bool) -> String {
    match (&switch.mark, marked, packet.ect) {
        (Some(MarkConfig::Step(step)), true, _) => {
            format!(" It was marked: {} B are at least {} B.", why.length.get(), step.threshold.get())
        }
        (Some(_), true, _) => " It was marked.".to_owned(),
        (Some(MarkConfig::Step(step)), false, false) if why.length >= step.threshold => {
            " It is not ECN-capable, so it was not marked.".to_owned()
        }
        _ => String::new(),
    }
}

/// Why the ingress side refused a packet.
fn refused(reason: Reason, met: GroupExplanation) -> String {
    let own = met.cells - met.cells.min(met.minimum - met.has.minimum);
    let what = match reason {
        Reason::IngressPool => format!("{own} shared cells were needed and {} were free", met.free),
        Reason::IngressPort => "its port would have been above its limit in the pool".to_owned(),
        Reason::IngressHeadroom => {
            format!("{own} cells did not fit the headroom of the group, which had {}", met.has.headroom)
        }
        Reason::IngressPortHeadroom => "the headroom of its port was used up".to_owned(),
        Reason::IngressHeadroomPool => "the shared headroom pool was used up".to_owned(),
        _ => format!("{} shared cells would have been above the limit of the group", met.has.shared + own),
    };
    format!("on ingress {what}")
}

/// What the packet met on the ingress side.
fn ingress_words(met: &GroupExplanation) -> String {
    let GroupExplanation { port, group, cells, has, minimum, limit, free, charge } = met;
    let mut text = format!(
        "Ingress: it came by port {port}, group {group}, and has {cells} cells. The group had {} of its minimum of {minimum}, \
         {} shared (at most {limit}; {free} were free in the pool) and {} of headroom.",
        has.minimum, has.shared, has.headroom
    );
    if let Some(Charge { minimum, shared, headroom, pause }) = charge {
        let _ = write!(text, " It was charged {minimum} + {shared} + {headroom}.");
        if *pause {
            text.push_str(" The group asked for pause (XOFF).");
        }
    }
    text
}

fn packets(number: usize) -> String {
    if number == 1 { "1 packet".to_owned() } else { format!("{number} packets") }
}

fn rank_test(test: &RankTest) -> String {
    let RankTest { rank, smaller, entries, waiting, capacity, headroom } = test;
    if waiting >= capacity {
        return format!("AIFO: {waiting} packets wait, which is the target size of {capacity}.");
    }
    let quantile = *smaller as f64 / *entries as f64;
    let limit = (capacity - waiting) as f64 / *capacity as f64 / (1.0 - headroom);
    let sign = if quantile <= limit { "within" } else { "above" };
    format!(
        "AIFO: {smaller} of the {entries} ranks in the window are below rank {rank}: quantile {quantile:.3}, {sign} the limit of \
         {limit:.3} = 1/(1-{headroom}) * ({capacity}-{waiting})/{capacity}."
    )
}

fn threshold_words(threshold: &Threshold, switch: &ValidConfig) -> String {
    let Threshold { value, alpha, remaining, n, g, mu, reserved, flow_bytes, drop_probability, filtered } = *threshold;
    let policy = switch.policy.name();
    let (Some(alpha), Some(remaining)) = (alpha, remaining) else {
        let part = if policy == "cp" { ", an equal part of the buffer for every queue" } else { "" };
        return format!("The threshold of {policy} was {value:.1} B{part}.");
    };
    let remaining = remaining.get();
    let formula = match (policy, n, g, mu) {
        ("fb", Some(n), Some(g), _) => {
            format!("((alpha / N) * g) * (B - Q) = (({alpha} / {n}) * {g:.4}) * {remaining}")
        }
        ("fba", Some(n), Some(g), _) => {
            format!("a * (B - Q) = {alpha:.6} * {remaining}, with a as last set (now N = {n}, g = {g:.4})")
        }
        ("abm", Some(n), _, Some(mu)) => {
            format!("((alpha * (B - Q)) / n) * mu = (({alpha} * {remaining}) / {n}) * {mu:.4}")
        }
        ("abm-dt", Some(n), _, Some(mu)) => {
            format!("a * (B - Q) = {alpha:.6} * {remaining}, with a set for n = {n}, mu = {mu:.4}")
        }
        ("reverie", ..) => format!("alpha * free = {alpha} * {remaining}"),
        _ if reserved.is_some() => format!("alpha * (S - X) = {alpha} * {remaining}"),
        _ => format!("alpha * (B - Q) = {alpha} * {remaining}"),
    };
    let mut text = format!("The threshold of {policy} was {value:.1} B = {formula}.");
    if let Some(reserved) = reserved {
        let _ = write!(text, " It applies to what exceeds the {} B that every queue owns.", reserved.get());
    }
    if let Some(filtered) = filtered {
        let _ = write!(text, " It is met by the filtered length, which was {filtered:.1} B, with the packet.");
    }
    match (policy, flow_bytes, drop_probability) {
        ("fab", Some(bytes), _) => {
            let _ = write!(text, " The flow had sent {bytes} B with this packet, which decides alpha.");
        }
        (_, Some(bytes), Some(probability)) => {
            let _ = write!(text, " {bytes} B in the interval before: fair-drop probability {probability:.3}.");
        }
        _ => {}
    }
    text
}
