// A round-robin arbiter: the first request at or after a pointer, cyclic. The pointer moves behind what was taken.
`default_nettype none
module round_robin #(
    parameter LOG = 6
) (
    input  wire                    clk,
    input  wire                    reset,
    input  wire [(1 << LOG) - 1:0] request,
    input  wire                    take,
    input  wire [LOG - 1:0]        taken,
    output wire                    any,
    output wire [LOG - 1:0]        index
);
    reg [LOG - 1:0] pointer;

    wire             later_any;
    wire [LOG - 1:0] later_index;
    wire [LOG - 1:0] first_index;
    wire [(1 << LOG) - 1:0] later = request & ({(1 << LOG){1'b1}} << pointer);
    first_one #(.LOG(LOG)) at_or_after (.bits(later), .any(later_any), .index(later_index));
    first_one #(.LOG(LOG)) from_zero (.bits(request), .any(any), .index(first_index));
    assign index = later_any ? later_index : first_index;

    always @(posedge clk) begin
        if (reset) pointer <= {LOG{1'b0}};
        else if (take) pointer <= taken + {{(LOG - 1){1'b0}}, 1'b1};
    end
endmodule
`default_nettype wire
