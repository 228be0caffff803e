// remaining * 2^(alpha_shift - 3) * (the sum of some signed powers of two), rounded down; all ones if that does not fit.
`default_nettype none
module product #(
    parameter WIDTH = 16,
    parameter TERMS = 1
) (
    input  wire [WIDTH - 1:0]       remaining,
    input  wire [3:0]               alpha_shift,
    input  wire [6 * TERMS - 1:0]   digits,
    output wire [WIDTH - 1:0]       threshold
);
    // In eighths.
    wire [WIDTH + 15:0] whole = {16'd0, remaining} << alpha_shift;
    /* verilator lint_off UNUSED */ // The fraction is rounded off.
    reg [WIDTH + 15:0] sum;
    /* verilator lint_on UNUSED */
    integer term;
    always @* begin
        sum = {(WIDTH + 16){1'b0}};
        for (term = 0; term < TERMS; term = term + 1) begin
            if (digits[6 * term + 5]) sum = sum - (whole >> digits[6 * term +: 5]);
            else sum = sum + (whole >> digits[6 * term +: 5]);
        end
    end
    assign threshold = (|sum[WIDTH + 15:WIDTH + 3]) ? {WIDTH{1'b1}} : sum[WIDTH + 2:3];
endmodule
`default_nettype wire
