// The lowest bit that is set: a tree of choices, with one level for each bit of the index.
`default_nettype none
module first_one #(
    parameter LOG = 6
) (
    input  wire [(1 << LOG) - 1:0] bits,
    output wire                    any,
    output wire [LOG - 1:0]        index
);
    genvar level, node;
    generate
        for (level = 0; level <= LOG; level = level + 1) begin : stage
            // Per node of this level: whether a bit below it is set, and the index of the first.
            wire [(1 << (LOG - level)) - 1:0]         found;
            wire [LOG * (1 << (LOG - level)) - 1:0]   at;
            if (level == 0) begin : leaves
                assign found = bits;
                assign at = {(LOG * (1 << LOG)){1'b0}};
            end else begin : choices
                for (node = 0; node < (1 << (LOG - level)); node = node + 1) begin : choice
                    wire low = stage[level - 1].found[2 * node];
                    assign found[node] = low | stage[level - 1].found[2 * node + 1];
                    wire [LOG - 1:0] below = low ? stage[level - 1].at[LOG * (2 * node) +: LOG]
                                                 : stage[level - 1].at[LOG * (2 * node + 1) +: LOG];
                    assign at[LOG * node +: LOG] = below | ({{(LOG - 1){1'b0}}, ~low} << (level - 1));
                end
            end
        end
    endgenerate
    assign any = stage[LOG].found[0];
    assign index = stage[LOG].at[LOG - 1:0];
endmodule
`default_nettype wire
