// FB's threshold (FB eq. 4): T = alpha / (N * M) * remaining, with N the non-empty queues of the packet's class and M those of
// its port, the queue itself counted: 1 / M is its share of the port under round robin.
//
// N and M are counters that go up when a queue gets its first packet and down when its last leaves. Their product's inverse is
// a table of shifts, as in FB's P4 program (FB 5.1), with as many terms as wanted.
`default_nettype none
module fb_threshold #(
    parameter LOG_PORTS = 3,
    parameter LOG_CLASSES = 3,
    parameter LOG_CELLS = 16,
    parameter LOG_PACKET = 6,
    parameter TERMS = 1
) (
    input  wire                         clk,
    input  wire                         reset,
    // A queue is not empty any more; a queue has become empty.
    input  wire                         fills,
    input  wire [LOG_PORTS - 1:0]       fills_port,
    input  wire [LOG_CLASSES - 1:0]     fills_class,
    input  wire                         empties,
    input  wire [LOG_PORTS - 1:0]       empties_port,
    input  wire [LOG_CLASSES - 1:0]     empties_class,
    // A packet that arrives.
    input  wire [LOG_PORTS - 1:0]       port,
    input  wire [LOG_CLASSES - 1:0]     class_of_packet,
    input  wire [LOG_CELLS - 1:0]       length,
    input  wire [LOG_PACKET - 1:0]      cells,
    input  wire [LOG_CELLS - 1:0]       remaining,
    input  wire [3:0]                   alpha_shift,
    output wire [LOG_CELLS - 1:0]       threshold,
    output wire                         admits
);
    wire [(LOG_PORTS + 1) * (1 << LOG_CLASSES) - 1:0] of_classes;
    wire [(LOG_CLASSES + 1) * (1 << LOG_PORTS) - 1:0] of_ports;
    counters #(.LOG(LOG_CLASSES), .WIDTH(LOG_PORTS + 1)) classes (
        .clk(clk), .reset(reset), .up(fills), .up_at(fills_class), .down(empties), .down_at(empties_class),
        .counts(of_classes)
    );
    counters #(.LOG(LOG_PORTS), .WIDTH(LOG_CLASSES + 1)) ports (
        .clk(clk), .reset(reset), .up(fills), .up_at(fills_port), .down(empties), .down_at(empties_port),
        .counts(of_ports)
    );
    wire empty = ~|length;
    wire [LOG_PORTS:0] n = of_classes[(LOG_PORTS + 1) * class_of_packet +: LOG_PORTS + 1] + {{LOG_PORTS{1'b0}}, empty};
    wire [LOG_CLASSES:0] m = of_ports[(LOG_CLASSES + 1) * port +: LOG_CLASSES + 1] + {{LOG_CLASSES{1'b0}}, empty};

    wire [6 * TERMS - 1:0] digits;
    factor #(.LOG_A(LOG_PORTS + 1), .LOG_B(LOG_CLASSES + 1), .TERMS(TERMS)) share (.a(n), .b(m), .digits(digits));
    product #(.WIDTH(LOG_CELLS), .TERMS(TERMS)) multiply (
        .remaining(remaining), .alpha_shift(alpha_shift), .digits(digits), .threshold(threshold)
    );
    fits #(.LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) compare (
        .length(length), .cells(cells), .remaining(remaining), .threshold(threshold), .fits_both(admits)
    );
endmodule
`default_nettype wire
