// ABM's threshold (ABM eq. 9): T = alpha / n * m * remaining, with n the congested queues of the packet's class, and m the
// queue's drain rate over its port's.
//
// n: a queue is congested if it had reached 29/32 (about nine tenths) of its threshold when its last packet came, and has not
// been empty since. Once a window these queues are counted, and that is n from then on (at least 1).
// m: each queue counts the cells that it sends in a window, in SHARES steps of what its port can send; less than an equal
// share, or more than all, counts as 1. The windows of the queues end one after the other, a cycle each, so that one circuit
// serves all of them. A port can send 2^(LOG_WINDOW - LOG_PORTS) cells in the 2^LOG_WINDOW cycles of a window.
`default_nettype none
module abm_threshold #(
    parameter LOG_PORTS = 3,
    parameter LOG_CLASSES = 3,
    parameter LOG_CELLS = 16,
    parameter LOG_PACKET = 6,
    parameter LOG_WINDOW = 13,
    parameter LOG_SHARES = 5,
    parameter TERMS = 1
) (
    input  wire                         clk,
    input  wire                         reset,
    // Cells of a queue are sent.
    input  wire                         sends,
    input  wire [LOG_PORTS - 1:0]       sent_port,
    input  wire [LOG_CLASSES - 1:0]     sent_class,
    input  wire [LOG_PACKET - 1:0]      sent_cells,
    // That left the queue empty.
    input  wire                         empties,
    // A packet that arrives; `judges`: it has the alpha of its queue, so that its threshold tells whether that is congested.
    input  wire                         judges,
    input  wire [LOG_PORTS - 1:0]       port,
    input  wire [LOG_CLASSES - 1:0]     class_of_packet,
    input  wire [LOG_CELLS - 1:0]       length,
    input  wire [LOG_PACKET - 1:0]      cells,
    input  wire [LOG_CELLS - 1:0]       remaining,
    input  wire [3:0]                   alpha_shift,
    output wire [LOG_CELLS - 1:0]       threshold,
    output wire                         admits
);
    localparam LOG_QUEUES = LOG_PORTS + LOG_CLASSES;
    localparam QUEUES = 1 << LOG_QUEUES;
    localparam LOG_FULL = LOG_WINDOW - LOG_PORTS;
    localparam [LOG_FULL:0] LEAST = 1 << (LOG_FULL - LOG_CLASSES);
    localparam [LOG_FULL:0] FULL = 1 << LOG_FULL;
    localparam [LOG_SHARES:0] ALL = 1 << LOG_SHARES;
    localparam LOG_STEP = LOG_FULL - LOG_SHARES;
    localparam [LOG_PORTS:0] ONE = 1;
    localparam [LOG_WINDOW - 1:0] COPY_AT = 1 << LOG_QUEUES;

    wire [LOG_QUEUES - 1:0] queue = {port, class_of_packet};
    wire [LOG_QUEUES - 1:0] sent_queue = {sent_port, sent_class};

    // Time: the first cycles of a window are the ends of the queues' windows.
    reg [LOG_WINDOW - 1:0] now;
    always @(posedge clk) begin
        if (reset) now <= {LOG_WINDOW{1'b0}};
        else now <= now + {{(LOG_WINDOW - 1){1'b0}}, 1'b1};
    end
    wire ends = ~|now[LOG_WINDOW - 1:LOG_QUEUES];
    wire [LOG_QUEUES - 1:0] ending = now[LOG_QUEUES - 1:0];

    // What a queue has sent in the window that ends, in steps, rounded to the nearest.
    wire [(LOG_FULL + 1) * QUEUES - 1:0] sent;
    wire [LOG_FULL:0] total = sent[(LOG_FULL + 1) * ending +: LOG_FULL + 1];
    wire [LOG_SHARES + 1:0] half_steps = total[LOG_FULL:LOG_STEP - 1];
    wire [LOG_SHARES:0] steps = half_steps[LOG_SHARES + 1:1] + {{LOG_SHARES{1'b0}}, half_steps[0]};
    wire [LOG_SHARES:0] ending_share = total < LEAST || total > FULL ? ALL : steps;

    // What a queue sends now; counts stop far above FULL.
    wire [LOG_FULL:0] more = {{(LOG_FULL + 1 - LOG_PACKET){1'b0}}, sent_cells};
    wire [LOG_FULL + 1:0] sum = {1'b0, sent[(LOG_FULL + 1) * sent_queue +: LOG_FULL + 1]} + {1'b0, more};
    wire [LOG_FULL:0] counted = sum[LOG_FULL + 1] ? {(LOG_FULL + 1){1'b1}} : sum[LOG_FULL:0];

    // Whether the packet's queue is congested.
    wire [LOG_CELLS - 1:0] nine_tenths = threshold - (threshold >> 4) - (threshold >> 5);
    wire judgement = |length && length >= nine_tenths;

    wire [(LOG_SHARES + 1) * QUEUES - 1:0] shares;
    wire [QUEUES - 1:0] congested;
    genvar number;
    generate
        for (number = 0; number < QUEUES; number = number + 1) begin : each
            localparam [LOG_QUEUES - 1:0] OWN = number;
            reg [LOG_FULL:0]    own_sent;
            reg [LOG_SHARES:0]  own_share;
            reg                 is_congested;
            assign sent[(LOG_FULL + 1) * number +: LOG_FULL + 1] = own_sent;
            assign shares[(LOG_SHARES + 1) * number +: LOG_SHARES + 1] = own_share;
            assign congested[number] = is_congested;
            wire own_ends = ends && ending == OWN;
            wire own_sends = sends && sent_queue == OWN;
            always @(posedge clk) begin
                if (reset) own_sent <= {(LOG_FULL + 1){1'b0}};
                else if (own_ends) own_sent <= own_sends ? more : {(LOG_FULL + 1){1'b0}};
                else if (own_sends) own_sent <= counted;

                if (reset) own_share <= ALL;
                else if (own_ends) own_share <= ending_share;

                if (reset || (own_sends && empties)) is_congested <= 1'b0;
                else if (judges && queue == OWN) is_congested <= judgement;
            end
        end
    endgenerate

    // The congested queues of each class: counted one after the other, then copied.
    wire copies = now == COPY_AT;
    wire [(LOG_PORTS + 1) * (1 << LOG_CLASSES) - 1:0] n_of_classes;
    generate
        for (number = 0; number < (1 << LOG_CLASSES); number = number + 1) begin : of_class
            localparam [LOG_CLASSES - 1:0] OWN = number;
            reg [LOG_PORTS:0] count;
            reg [LOG_PORTS:0] n;
            assign n_of_classes[(LOG_PORTS + 1) * number +: LOG_PORTS + 1] = n;
            always @(posedge clk) begin
                if (reset || copies) count <= {(LOG_PORTS + 1){1'b0}};
                else if (ends && ending[LOG_CLASSES - 1:0] == OWN && congested[ending]) count <= count + ONE;
                if (reset) n <= ONE;
                else if (copies) n <= |count ? count : ONE;
            end
        end
    endgenerate

    wire [6 * TERMS - 1:0] digits;
    factor #(.LOG_A(LOG_SHARES + 1), .LOG_B(LOG_PORTS + 1), .SHARES(1 << LOG_SHARES), .TERMS(TERMS)) share (
        .a(shares[(LOG_SHARES + 1) * queue +: LOG_SHARES + 1]),
        .b(n_of_classes[(LOG_PORTS + 1) * class_of_packet +: LOG_PORTS + 1]),
        .digits(digits)
    );
    product #(.WIDTH(LOG_CELLS), .TERMS(TERMS)) multiply (
        .remaining(remaining), .alpha_shift(alpha_shift), .digits(digits), .threshold(threshold)
    );
    fits #(.LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) compare (
        .length(length), .cells(cells), .remaining(remaining), .threshold(threshold), .fits_both(admits)
    );
endmodule
`default_nettype wire
