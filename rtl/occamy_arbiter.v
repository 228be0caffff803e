// The fixed-priority arbiter: the output scheduler goes first at the descriptor memory and at the cell pointer memory
// (Occamy 4.3), and a head drop that has not changed its queue yet is given up when the scheduler starts (Occamy 4.5).
`default_nettype none
module occamy_arbiter (
    // The scheduler's fetch is in its cycle 1, in its cycle 2, or frees a cell.
    input  wire scheduler_starts,
    input  wire scheduler_advances,
    input  wire scheduler_frees,
    // There is a packet to drop and nothing in the executor; it is in cycle 2; it has a cell to free.
    input  wire drop_waits,
    input  wire drop_advances,
    input  wire drop_has_cell,
    output wire drop_starts,
    output wire drop_aborts,
    output wire drop_frees
);
    // In the scheduler's cycle 2 the head of its queue is still the old one, which must not be read again.
    assign drop_starts = drop_waits & ~scheduler_starts & ~scheduler_advances;
    assign drop_aborts = drop_advances & scheduler_starts;
    assign drop_frees = drop_has_cell & ~scheduler_frees;
endmodule
`default_nettype wire
