// The threshold of DT, T = alpha * free, and the bitmap of the queues that are longer (Occamy 4.3, figure 8, part 1).
//
// alpha is a power of two, 2^(alpha_shift - 3): from 1/8 to 4096. A length is a whole number, so that comparing it with T
// rounded down is the same as comparing it with T. What does not fit the width is the largest number, which no queue exceeds.
`default_nettype none
module occamy_threshold #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16
) (
    input  wire [LOG_CELLS - 1:0]                       free,
    input  wire [3:0]                                   alpha_shift,
    input  wire [LOG_CELLS * (1 << LOG_QUEUES) - 1:0]   lengths,
    output wire [LOG_CELLS - 1:0]                       threshold,
    output wire [(1 << LOG_QUEUES) - 1:0]               over
);
    saturating_shift #(.WIDTH(LOG_CELLS)) alpha (.value(free), .left(alpha_shift), .shifted(threshold));

    genvar queue;
    generate
        for (queue = 0; queue < (1 << LOG_QUEUES); queue = queue + 1) begin : compare
            assign over[queue] = lengths[LOG_CELLS * queue +: LOG_CELLS] > threshold;
        end
    endgenerate
endmodule
`default_nettype wire
