//! The tables of a run, column by column.

use super::Kind::{Bool, Float, Int, Text};
use super::{ColumnSchema, TableSchema, column, optional};

/// All tables of a run, in the order of the documentation.
pub const TABLES: [TableSchema; 23] = [
    TableSchema { name: "flows", rows: "A row for each flow.", columns: FLOWS },
    TableSchema { name: "queries", rows: "A row for each query of an incast.", columns: QUERIES },
    TableSchema {
        name: "collectives",
        rows: "A row for each round of a workload that is a collective (`all-reduce`, `all-to-all`).",
        columns: COLLECTIVES,
    },
    TableSchema {
        name: "breakdown",
        rows: "With `measure.breakdown`, a row for each complete flow: where its completion time went. All columns but the first add up \
               to `fct_ps`, to the picosecond. The packet whose arrival completed the flow is followed back: its time in the network is \
               `queueing_ps`, `serialization_ps` and `propagation_ps`; the time before it was sent is told by what the sender waited \
               for. A sender sends at certain instants; the time between two of these is one wait, named by what ended it.",
        columns: BREAKDOWN,
    },
    TableSchema {
        name: "hops",
        rows: "With `measure.breakdown`, a row for each hop of the packet that completed a flow.",
        columns: HOPS,
    },
    TableSchema { name: "topology", rows: "A row for each port of each host and switch.", columns: TOPOLOGY },
    TableSchema {
        name: "buffers",
        rows: "A row for each buffer. Each packet is in one row of this table, of `ports` and of `queues`.",
        columns: BUFFERS,
    },
    TableSchema { name: "ports", rows: "A row for each port of a switch where anything was offered.", columns: PORTS },
    TableSchema { name: "queues", rows: "A row for each queue where anything was offered.", columns: QUEUES },
    TableSchema {
        name: "timeline",
        rows: "Samples of the buffers of switches that `measure.timeline` names.",
        columns: TIMELINE,
    },
    TableSchema {
        name: "queue_timeline",
        rows: "Samples of all queues of switches that `measure.queues` names, each from its first packet on.",
        columns: QUEUE_TIMELINE,
    },
    TableSchema {
        name: "progress",
        rows: "Samples of the flows of workloads that `measure.progress` names: for each flow from its start until it is complete, \
               and one at the end of the run if it is not.",
        columns: PROGRESS,
    },
    TableSchema {
        name: "drops",
        rows: "A row for each packet that a switch of `measure.drops` dropped, in order of time, up to `measure.drops_limit` of them.",
        columns: DROPS,
    },
    TableSchema {
        name: "holders",
        rows: "Who held the buffer when packets were dropped. The rows of one number of `holders` are disjoint parts of a buffer, and \
               together they are all packets that waited: the eight flows with most, and for each class the rest. Such a list is made \
               anew at a drop once a quarter of the buffer's packets have left or its occupancy has changed by a quarter.",
        columns: HOLDERS,
    },
    TableSchema {
        name: "losses",
        rows: "With `measure.drops` or `measure.breakdown`, a row for each packet that was lost outside the buffers: on a link that did not \
               work, or in a switch without a route for it. In order of time, up to `measure.drops_limit` of them.",
        columns: LOSSES,
    },
    TableSchema {
        name: "responses",
        rows: "A row for each response (ACK, NACK or pull) that the sender of a flow of `measure.trace_flows` received: the flow over time.",
        columns: RESPONSES,
    },
    TableSchema {
        name: "chips",
        rows: "A row for each pipeline of each switch that is a programmable chip ([pipelines.md](pipelines.md)).",
        columns: CHIPS,
    },
    TableSchema {
        name: "controls",
        rows: "With `chip.keep_controls`, a row for each control packet that the first pipeline of a chip has seen.",
        columns: CONTROLS,
    },
    TableSchema {
        name: "pauses",
        rows: "A row for each time that a priority group of a switch asked the sender of its port to pause.",
        columns: PAUSES,
    },
    TableSchema {
        name: "paused",
        rows: "A row for each class of a switch's port, or of a host, that was paused at least once.",
        columns: PAUSED,
    },
    TableSchema {
        name: "storms",
        rows: "With `pfc.detect`, a row for each storm that the watchdog of a switch's port saw.",
        columns: STORMS,
    },
    TableSchema {
        name: "victims",
        rows: "A row for each flow and each priority group whose pause it waited for without going to the \
               congested queue that the pause was for.",
        columns: VICTIMS,
    },
    TableSchema {
        name: "deadlocks",
        rows: "A row for each egress queue of each deadlock: a cycle of paused queues of which each waits for \
               the next, and the last for the first.",
        columns: DEADLOCKS,
    },
];

const FLOWS: &[ColumnSchema] = &[
    column("flow", Int, "its number: in the order of starts, those of closed-loop clients last"),
    column("workload", Text, "name"),
    column("transport", Text, "name"),
    column("class", Int, "its class"),
    column("src", Int, "the number of the sending host"),
    column("dst", Int, "the number of the receiving host"),
    column("src_host", Text, "the name of the sending host"),
    column("dst_host", Text, "the name of the receiving host"),
    optional("bytes", Int, "payload; null for infinite flows"),
    optional("start_ps", Int, "when it started; null if it did not"),
    optional("end_ps", Int, "when its last byte had arrived at the receiver; null if it has not"),
    optional("acked_ps", Int, "when the sender knew that; null if it never did (`udp` cannot)"),
    optional("ideal_ps", Int, "completion time on the empty network; null for infinite flows"),
    optional("fct_ps", Int, "flow completion time: `end_ps - start_ps`"),
    optional("slowdown", Float, "`fct_ps / ideal_ps`"),
    column("received_packets", Int, "distinct data packets that have arrived"),
    column("retransmitted_packets", Int, "retransmitted data packets"),
    column("timeouts", Int, "retransmission timeouts"),
    column(
        "loss_probes",
        Int,
        "tail loss probes: sent by a timer that is shorter than the timeout (TCP as Linux has it)",
    ),
    column("dropped_packets", Int, "packets of the flow, and its responses (ACKs), that switches or hosts dropped"),
    column("trimmed_packets", Int, "cut to their headers"),
    column("marked_packets", Int, "marked"),
    optional("query", Int, "the query that it belongs to; null if to none"),
    optional("round", Int, "the round of its collective; null if it is in none"),
    column("measured", Bool, "whether it is in the summary: it started at `measure.from` or later"),
];

const QUERIES: &[ColumnSchema] = &[
    column("query", Int, "its number, in the order of starts"),
    column("workload", Text, "name"),
    column("host", Int, "the number of the client"),
    column("host_name", Text, "the name of the client"),
    column("fan_in_flows", Int, "responses"),
    column("bytes", Int, "payload of all responses"),
    column("start_ps", Int, "when it was made"),
    optional("end_ps", Int, "when its last response had arrived; null if one has not"),
    optional("qct_ps", Int, "query completion time: `end_ps - start_ps`"),
    column("ideal_ps", Int, "see [Definitions](scenario.md#definitions)"),
    optional("slowdown", Float, "`qct_ps / ideal_ps`"),
    column("dropped_packets", Int, "of its flows"),
    column("trimmed_packets", Int, "of its flows"),
    column("timeouts", Int, "of its flows"),
    column("measured", Bool, "whether it is in the summary"),
];

const COLLECTIVES: &[ColumnSchema] = &[
    column("workload", Text, "name"),
    column("round", Int, "the round, from 0"),
    column("flows", Int, "its flows"),
    column("complete_flows", Int, "those that are complete"),
    column("bytes", Int, "payload of all its flows"),
    optional("start_ps", Int, "when its first flow started; null if none has"),
    optional("end_ps", Int, "when its last flow had arrived; null if one has not"),
    optional("completion_ps", Int, "`end_ps - start_ps`"),
    optional("last_flow", Int, "the flow that arrived last; null if one has not"),
    column("dropped_packets", Int, "of its flows"),
    column("timeouts", Int, "of its flows"),
];

const BREAKDOWN: &[ColumnSchema] = &[
    column("flow", Int, "as in `flows`"),
    column("sending_ps", Int, "waiting for the host's link while the flow's own earlier packets occupied it"),
    column("host_ps", Int, "waiting for the host's link beyond that: packets of other flows"),
    column("window_ps", Int, "waiting for a response: a closed window, missing credit, or the handshake"),
    column("pacing_ps", Int, "waiting because of pacing"),
    column("application_ps", Int, "waiting for the application to write more"),
    column("retransmission_ps", Int, "waits that ended with a retransmission because of a response"),
    column(
        "reordering_ps",
        Int,
        "waits that ended with a retransmission because of a timer that tells lost packets from reordered ones (RACK)",
    ),
    column("probe_ps", Int, "waits that ended with a tail loss probe"),
    column("timeout_ps", Int, "waits that ended with a retransmission timeout"),
    column("queueing_ps", Int, "of the completing packet, in the queues of its host and of switches"),
    column("serialization_ps", Int, "of the completing packet, on all links"),
    column("propagation_ps", Int, "of the completing packet, on all links"),
];

const HOPS: &[ColumnSchema] = &[
    column("flow", Int, "as in `flows`"),
    column(
        "hop",
        Int,
        "its place on the path: 0 is the sending host; a path of more than 16 ends with the sum of the others",
    ),
    column("node", Text, "the host or switch that sends"),
    column("port", Int, "its port"),
    column(
        "queueing_ps",
        Int,
        "from its arrival there (at the host: from the sender's decision) to the start of its transmission",
    ),
    column("serialization_ps", Int, "the transmission"),
    column("propagation_ps", Int, "the cable"),
];

const TOPOLOGY: &[ColumnSchema] = &[
    column("node", Text, "the name of the host or switch"),
    column("is_host", Bool, "whether it is a host"),
    column("tier", Text, "the tier of a switch; `host`"),
    column("port", Int, "the port within the node"),
    column("peer", Text, "the node at the other end of the cable"),
    column("peer_port", Int, "its port there"),
    column("rate_bps", Int, "bits per second, each way"),
    column("delay_ps", Int, "propagation"),
];

const SWITCH: ColumnSchema = column("switch", Text, "its name");
const TIER: ColumnSchema = column("tier", Text, "its tier");
const BUFFER: ColumnSchema = column("buffer", Int, "the buffer within the switch");
const PORT: ColumnSchema = column("port", Int, "the port within the switch");
const QUEUE: ColumnSchema = column("queue", Int, "the queue within the port");

/// What buffers, ports and queues have in common.
const MEASURED: &[ColumnSchema] = &[
    column("offered_packets", Int, "arrived"),
    column("offered_bytes", Int, "arrived"),
    column("admitted_packets", Int, "admitted to a queue"),
    column("admitted_bytes", Int, "admitted to a queue"),
    column("sent_packets", Int, "sent untrimmed"),
    column("sent_bytes", Int, "sent untrimmed"),
    column("dropped_packets", Int, "rejected, pushed out or expelled"),
    column("dropped_bytes", Int, "rejected, pushed out or expelled"),
    column("dropped_oversize_packets", Int, "larger than the whole buffer"),
    column("dropped_rank_packets", Int, "by AIFO's admission, or no place in `pifo`, `sp-pifo`, `pieo`, `afq`"),
    column("dropped_queue_full_packets", Int, "the queue held `queue_capacity` packets"),
    column("dropped_full_packets", Int, "did not fit the buffer"),
    column("dropped_threshold_packets", Int, "the queue was above its threshold"),
    column("dropped_fair_drop_packets", Int, "chosen by approximate fair dropping"),
    column("dropped_marking_packets", Int, "the marking rule drops"),
    column("dropped_watermark_packets", Int, "above the watermark of source flow control"),
    column("dropped_pushed_out_packets", Int, "pushed out after they had been admitted"),
    column("dropped_expelled_packets", Int, "expelled from an over-allocated queue"),
    column("dropped_header_full_packets", Int, "cut to a header that found no room"),
    column("marked_packets", Int, "marked"),
    column("trimmed_packets", Int, "cut to their headers"),
    column("returned_packets", Int, "turned around to the sender"),
    column("occupancy_mean_bytes", Float, "of the samples taken every `measure.sample`, so weighted by time"),
    column("occupancy_p50_bytes", Int, "percentiles of these, to 1 part in 32"),
    column("occupancy_p95_bytes", Int, ""),
    column("occupancy_p99_bytes", Int, ""),
    column("occupancy_p999_bytes", Int, ""),
    column("occupancy_max_bytes", Int, ""),
    column("peak_bytes", Int, "the maximum at any time, not only in samples, and also before `measure.from`"),
];

/// The columns of a table of one level: what comes before those that are measured, these, and what comes after.
const fn level<const N: usize>(before: &[ColumnSchema], after: &[ColumnSchema]) -> [ColumnSchema; N] {
    assert!(N == before.len() + MEASURED.len() + after.len());
    let mut columns = [SWITCH; N];
    let mut place = 0;
    while place < N {
        columns[place] = if place < before.len() {
            before[place]
        } else if place < before.len() + MEASURED.len() {
            MEASURED[place - before.len()]
        } else {
            after[place - before.len() - MEASURED.len()]
        };
        place += 1;
    }
    columns
}

const BUFFERS: &[ColumnSchema] = &level::<{ MEASURED.len() + 8 }>(
    &[SWITCH, TIER, BUFFER, column("size_bytes", Int, "its size")],
    &[
        column("read_to_send_bytes", Int, "read from the packet memory to send"),
        column("read_to_expel_bytes", Int, "read from the packet memory to expel"),
        optional(
            "memory_use_at_drops",
            Float,
            "the share of the memory's read bandwidth in use when packets were dropped, the mean over drops; null if there were none",
        ),
        optional("buffer_use_at_drops", Float, "the share of the buffer in use when packets were dropped, likewise"),
    ],
);

const PORTS: &[ColumnSchema] = &level::<{ MEASURED.len() + 7 }>(
    &[
        SWITCH,
        TIER,
        BUFFER,
        PORT,
        column("peer", Text, "the host or switch that it leads to"),
        column("rate_bps", Int, "the rate of its link, bits per second"),
    ],
    &[column(
        "utilization",
        Float,
        "share: bits sent from `measure.from` until `duration` was over, over what the link could have carried",
    )],
);

const QUEUES: &[ColumnSchema] = &level::<{ MEASURED.len() + 5 }>(&[SWITCH, TIER, BUFFER, PORT, QUEUE], &[]);

const TIMELINE: &[ColumnSchema] = &[
    column("at_ps", Int, "when"),
    SWITCH,
    BUFFER,
    column("used_bytes", Int, "in the buffer"),
    column("longest_port", Int, "the port of the longest queue"),
    column("longest_queue", Int, "the longest queue"),
    column("longest_bytes", Int, "its length"),
    optional("threshold_bytes", Float, "its threshold at that time; null if the policy has none"),
    column("dropped_packets", Int, "in this buffer so far"),
];

const QUEUE_TIMELINE: &[ColumnSchema] = &[
    column("at_ps", Int, "when"),
    SWITCH,
    PORT,
    QUEUE,
    column("bytes", Int, "its length"),
    optional("threshold_bytes", Float, "its threshold at that time; null if the policy has none"),
];

const PROGRESS: &[ColumnSchema] = &[
    column("at_ps", Int, "when"),
    column("flow", Int, "as in `flows`"),
    column("bytes", Int, "payload that has arrived, each byte counted once"),
];

const DROPS: &[ColumnSchema] = &[
    column("at_ps", Int, "when"),
    SWITCH,
    BUFFER,
    PORT,
    QUEUE,
    column("flow", Int, "the flow of the packet, or of the data that it acknowledges, as in `flows`"),
    column("class", Int, "its class"),
    column("bytes", Int, "its length on the wire"),
    column("reason", Text, "why: the reasons of the columns `dropped_..._packets` of `queues`, with hyphens"),
    optional(
        "threshold_bytes",
        Float,
        "the threshold of the queue then, for an ordinary packet; null if the policy has none",
    ),
    column("queue_bytes", Int, "the length of the queue then"),
    column("used_bytes", Int, "bytes in the buffer then"),
    optional("holders", Int, "what occupied the buffer: rows of `holders`"),
];

const HOLDERS: &[ColumnSchema] = &[
    column("holders", Int, "the number of the list, in order of time"),
    column("at_ps", Int, "when it was made"),
    SWITCH,
    BUFFER,
    column("class", Int, "the class of the packets"),
    optional("flow", Int, "the flow; null: all other flows of the class"),
    column("bytes", Int, "what they had in the buffer"),
];

const LOSSES: &[ColumnSchema] = &[
    column(
        "at_ps",
        Int,
        "when the link failed, for packets that were on it or lined up for it; else when it would have been sent",
    ),
    optional("node", Text, "the host or switch that sends on the link; null: there was no route"),
    optional("port", Int, "its port"),
    optional(
        "flow",
        Int,
        "the flow of the packet, or of the data that it acknowledges, as in `flows`; null if it has none",
    ),
    column("class", Int, "its class"),
    column("bytes", Int, "its length on the wire"),
];

const RESPONSES: &[ColumnSchema] = &[
    column("at_ps", Int, "when it came in"),
    column("flow", Int, "as in `flows`"),
    optional("rtt_ps", Int, "since the packet was sent that it acknowledges; null if it does not say which"),
    optional("window_packets", Int, "the congestion window then; null for transports without one"),
    optional("acked_packets", Int, "all packets before this number have arrived; null if it does not say"),
    optional("outstanding_packets", Int, "packets from there up to the last that was sent"),
    column("retransmitted_packets", Int, "sent again so far"),
];

const CHIPS: &[ColumnSchema] = &[
    SWITCH,
    column("program", Text, "its name"),
    column("pipeline", Int, "the pipeline within the chip"),
    column("trimmed_at_ingress_packets", Int, "cut by the ingress program"),
    column("trimmed_at_egress_packets", Int, "deflected, and cut as they left the deflection port"),
    column("dropped_at_ingress_packets", Int, "dropped by the ingress program"),
    column("dropped_at_egress_packets", Int, "dropped by the egress program"),
    column("deflection_packets", Int, "sent by the port that packets without room are deflected to"),
    column("deflection_bytes", Int, "the same"),
    column("deflection_full_packets", Int, "found its queue full"),
    column("deflection_peak_packets", Int, "waited in it at most"),
    column("recirculation_packets", Int, "sent by the recirculation port"),
    column("recirculation_bytes", Int, "the same"),
    column("recirculation_full_packets", Int, "found its queue full"),
    column("recirculation_peak_packets", Int, "waited in it at most"),
    optional(
        "both_take_packets",
        Int,
        "with `chip.witness`: data packets that the program and the exact switch beside it take",
    ),
    optional("ideal_alone_takes_packets", Int, "that only the exact switch takes"),
    optional("chip_alone_takes_packets", Int, "that only the program takes"),
    optional("neither_takes_packets", Int, "that neither takes"),
];

const CONTROLS: &[ColumnSchema] = &[
    column("at_ps", Int, "when"),
    SWITCH,
    column("kind", Int, "by the order in which the program declares its packets, from 4 on"),
    column("value", Int, "the first header field that it carried"),
];

const PAUSES: &[ColumnSchema] = &[
    SWITCH,
    column("port", Int, "the port that the group's packets come by"),
    column("group", Int, "the number of the group"),
    optional(
        "congested_port",
        Int,
        "the port of the egress queue that held most of the group's cells then; null if none did",
    ),
    optional("congested_queue", Int, "the queue of that port"),
    column("from_ps", Int, "when it asked for pause"),
    optional("until_ps", Int, "when it asked to resume; null if it has not"),
];

const PAUSED: &[ColumnSchema] = &[
    column("node", Text, "the switch or the host"),
    column("port", Int, "the port that may not send"),
    column("class", Int, "the class"),
    column("pauses", Int, "how often it was paused"),
    column("paused_ps", Int, "how long in all"),
];

const STORMS: &[ColumnSchema] = &[
    SWITCH,
    column("port", Int, "the port that was paused"),
    column("class", Int, "the class"),
    column("from_ps", Int, "when it was detected"),
    optional("until_ps", Int, "when it was over; null if it was not"),
    column("dropped_packets", Int, "dropped by the watchdog meanwhile"),
];

const VICTIMS: &[ColumnSchema] = &[
    column("flow", Int, "the flow"),
    SWITCH,
    column("port", Int, "the port of the switch that the flow's packets come by"),
    column("group", Int, "the group that asked for pause"),
    column("first_ps", Int, "when the first of its packets came that had waited"),
    column("packets", Int, "its data packets that had waited"),
    column("longest_ps", Int, "the longest that one of them waited while its class was paused"),
];

const DEADLOCKS: &[ColumnSchema] = &[
    column("deadlock", Int, "its number, in the order in which they were found"),
    column("place", Int, "the place of the queue in the cycle"),
    SWITCH,
    column("port", Int, "the port that may not send"),
    column("queue", Int, "its queue, which has packets"),
    column("paused_ps", Int, "since when the queue has been paused"),
    column("found_ps", Int, "when the deadlock was found: at the first look after it came to be"),
    optional("until_ps", Int, "when it was first seen to be gone; null if it was not"),
];
