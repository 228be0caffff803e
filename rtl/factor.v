// A factor as a few signed powers of two, from a table: a / (SHARES * b), or 1 / (a * b) if SHARES is 0.
//
// Each of the TERMS digits is {negative, shift}: +2^-shift or -2^-shift; a shift of 31 stands for nothing. The first digit is
// the power of two next to the factor, each other one the power of two next to what is still missing. a and b are at least 1;
// the table is as good as its inputs are exact.
`default_nettype none
module factor #(
    parameter LOG_A = 4,
    parameter LOG_B = 4,
    parameter SHARES = 0,
    parameter TERMS = 1
) (
    input  wire [LOG_A - 1:0]       a,
    input  wire [LOG_B - 1:0]       b,
    output wire [6 * TERMS - 1:0]   digits
);
    // The factor as a binary fraction.
    localparam FRACTION = 20;

    function [6 * TERMS - 1:0] expand;
        input integer numerator;
        input integer denominator;
        integer term, rest, size, shift;
        begin
            rest = (numerator << FRACTION) / denominator;
            for (term = 0; term < TERMS; term = term + 1) begin
                size = rest < 0 ? -rest : rest;
                // The largest power of two that is not above, or the next one if that is nearer.
                shift = 0;
                while (shift < FRACTION && (1 << (FRACTION - shift)) > size) shift = shift + 1;
                if (shift > 0 && 2 * size > 3 * (1 << (FRACTION - shift))) shift = shift - 1;
                if (size == 0) shift = 31;
                expand[6 * term +: 6] = {rest < 0, shift[4:0]};
                if (size != 0) rest = rest < 0 ? rest + (1 << (FRACTION - shift)) : rest - (1 << (FRACTION - shift));
            end
        end
    endfunction

    reg [6 * TERMS - 1:0] table_of [0:(1 << (LOG_A + LOG_B)) - 1];
    integer row, column;
    initial begin
        for (row = 0; row < (1 << LOG_A); row = row + 1) begin
            for (column = 0; column < (1 << LOG_B); column = column + 1) begin
                if (row == 0 || column == 0) table_of[(row << LOG_B) + column] = {(6 * TERMS){1'b0}};
                else if (SHARES == 0) table_of[(row << LOG_B) + column] = expand(1, row * column);
                else if (row > SHARES) table_of[(row << LOG_B) + column] = {(6 * TERMS){1'b0}};
                else table_of[(row << LOG_B) + column] = expand(row, SHARES * column);
            end
        end
    end
    assign digits = table_of[{a, b}];
endmodule
`default_nettype wire
