// Whether a packet fits what remains of the buffer, and its queue then is not above the threshold.
`default_nettype none
module fits #(
    parameter LOG_CELLS = 16,
    parameter LOG_PACKET = 6
) (
    input  wire [LOG_CELLS - 1:0]   length,
    input  wire [LOG_PACKET - 1:0]  cells,
    input  wire [LOG_CELLS - 1:0]   remaining,
    input  wire [LOG_CELLS - 1:0]   threshold,
    output wire                     fits_both
);
    wire [LOG_CELLS:0] wanted = {{(LOG_CELLS + 1 - LOG_PACKET){1'b0}}, cells};
    wire [LOG_CELLS:0] after = {1'b0, length} + wanted;
    assign fits_both = wanted <= {1'b0, remaining} && after <= {1'b0, threshold};
endmodule
`default_nettype wire
