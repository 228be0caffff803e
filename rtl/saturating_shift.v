// value * 2^(left - 3), rounded down; all ones if that does not fit.
`default_nettype none
module saturating_shift #(
    parameter WIDTH = 16
) (
    input  wire [WIDTH - 1:0] value,
    input  wire [3:0]         left,
    output wire [WIDTH - 1:0] shifted
);
    // The lowest three bits are the fraction that is rounded off.
    /* verilator lint_off UNUSED */
    wire [WIDTH + 14:0] wide = {15'd0, value} << left;
    /* verilator lint_on UNUSED */
    assign shifted = (|wide[WIDTH + 14:WIDTH + 3]) ? {WIDTH{1'b1}} : wide[WIDTH + 2:3];
endmodule
`default_nettype wire
