// Occamy's head-drop selector: which over-allocated queue loses a packet next (Occamy 4.3, figure 8).
`default_nettype none
module occamy_selector #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16
) (
    input  wire                                         clk,
    input  wire                                         reset,
    input  wire [LOG_CELLS - 1:0]                       free,
    input  wire [3:0]                                   alpha_shift,
    input  wire [LOG_CELLS * (1 << LOG_QUEUES) - 1:0]   lengths,
    // A packet of this queue has been dropped: the round robin goes on behind it.
    input  wire                                         take,
    input  wire [LOG_QUEUES - 1:0]                      taken,
    output wire [LOG_CELLS - 1:0]                       threshold,
    output wire [(1 << LOG_QUEUES) - 1:0]               over,
    output wire                                         any,
    output wire [LOG_QUEUES - 1:0]                      choice
);
    occamy_threshold #(.LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS)) compare (
        .free(free), .alpha_shift(alpha_shift), .lengths(lengths), .threshold(threshold), .over(over)
    );
    round_robin #(.LOG(LOG_QUEUES)) choose (
        .clk(clk), .reset(reset), .request(over), .take(take), .taken(taken), .any(any), .index(choice)
    );
endmodule
`default_nettype wire
