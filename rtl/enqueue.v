// Takes packets in: decides as DT does, chains a free cell each cycle, and links the packet to its queue with the last.
`default_nettype none
module enqueue #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16,
    parameter LOG_PACKET = 6
) (
    input  wire                     clk,
    input  wire                     reset,
    input  wire                     arrives,
    input  wire [LOG_QUEUES - 1:0]  arrival_queue,
    input  wire [LOG_PACKET - 1:0]  arrival_cells,
    input  wire [LOG_CELLS - 1:0]   threshold,
    input  wire [LOG_CELLS - 1:0]   free,
    // The length of the queue that `into_queue` names.
    input  wire [LOG_CELLS - 1:0]   length,
    input  wire                     descriptor_available,
    input  wire                     cell_available,
    input  wire [LOG_CELLS - 1:0]   fresh_cell,
    output wire                     ready,
    output wire                     admits,
    // The packet that is taken in; while idle, the one that arrives.
    output wire [LOG_QUEUES - 1:0]  into_queue,
    output reg  [LOG_PACKET - 1:0]  cells,
    output wire [LOG_CELLS - 1:0]   first_cell,
    output wire                     takes_cell,
    output wire                     chains,
    output reg  [LOG_CELLS - 1:0]   last_cell,
    output wire                     links
);
    reg                     busy;
    reg [LOG_QUEUES - 1:0]  own_queue;
    reg [LOG_PACKET - 1:0]  left;
    reg                     has_first;
    reg [LOG_CELLS - 1:0]   own_first;

    wire fits_both;
    fits #(.LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) admission (
        .length(length), .cells(arrival_cells), .remaining(free), .threshold(threshold), .fits_both(fits_both)
    );
    assign ready = ~busy;
    assign admits = arrives & ready & (|arrival_cells) & descriptor_available & fits_both;

    assign into_queue = busy ? own_queue : arrival_queue;
    assign takes_cell = busy & cell_available;
    assign chains = takes_cell & has_first;
    assign first_cell = has_first ? own_first : fresh_cell;
    assign links = takes_cell & left == {{(LOG_PACKET - 1){1'b0}}, 1'b1};

    always @(posedge clk) begin
        if (reset) busy <= 1'b0;
        else if (admits) busy <= 1'b1;
        else if (links) busy <= 1'b0;

        if (admits) begin
            own_queue <= arrival_queue;
            cells <= arrival_cells;
            left <= arrival_cells;
            has_first <= 1'b0;
        end else if (takes_cell) begin
            own_first <= first_cell;
            has_first <= 1'b1;
            last_cell <= fresh_cell;
            left <= left - {{(LOG_PACKET - 1){1'b0}}, 1'b1};
        end
    end
endmodule
`default_nettype wire
