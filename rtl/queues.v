// What is kept for each queue: where its list of descriptors begins and ends, and its length in cells; and the cells that are
// free. The last descriptor of a list is empty and belongs to the next packet: a queue is empty when its list is that alone.
// At the beginning it is the descriptor that has the queue's number.
`default_nettype none
module queues #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16,
    parameter LOG_DESCRIPTORS = 16,
    parameter LOG_PACKET = 6
) (
    input  wire                                         clk,
    input  wire                                         reset,
    // A packet joins the tail of a queue, and this is the next empty descriptor.
    input  wire                                         link,
    input  wire [LOG_QUEUES - 1:0]                      link_queue,
    input  wire [LOG_PACKET - 1:0]                      link_cells,
    input  wire [LOG_DESCRIPTORS - 1:0]                 link_next,
    output wire [LOG_DESCRIPTORS - 1:0]                 link_tail,
    output wire [LOG_CELLS - 1:0]                       link_length,
    // A packet leaves the head of a queue, and this is the next head.
    input  wire                                         advance,
    input  wire [LOG_QUEUES - 1:0]                      advance_queue,
    input  wire [LOG_PACKET - 1:0]                      advance_cells,
    input  wire [LOG_DESCRIPTORS - 1:0]                 advance_next,
    output wire [LOG_DESCRIPTORS - 1:0]                 advance_head,
    // Queues whose heads may be read next: the output scheduler's, and the one to drop from.
    input  wire [LOG_QUEUES - 1:0]                      fetch_queue,
    output wire [LOG_DESCRIPTORS - 1:0]                 fetch_head,
    output wire                                         fetch_empty,
    input  wire [LOG_QUEUES - 1:0]                      drop_queue,
    output wire [LOG_DESCRIPTORS - 1:0]                 drop_head,
    output wire [LOG_CELLS * (1 << LOG_QUEUES) - 1:0]   lengths,
    output reg  [LOG_CELLS - 1:0]                       free
);
    localparam QUEUES = 1 << LOG_QUEUES;
    reg [LOG_DESCRIPTORS - 1:0] heads [0:QUEUES - 1];
    reg [LOG_DESCRIPTORS - 1:0] tails [0:QUEUES - 1];

    assign link_tail = tails[link_queue];
    assign link_length = lengths[LOG_CELLS * link_queue +: LOG_CELLS];
    assign advance_head = heads[advance_queue];
    assign fetch_head = heads[fetch_queue];
    assign fetch_empty = heads[fetch_queue] == tails[fetch_queue];
    assign drop_head = heads[drop_queue];

    wire [LOG_CELLS - 1:0] more = link ? {{(LOG_CELLS - LOG_PACKET){1'b0}}, link_cells} : {LOG_CELLS{1'b0}};
    wire [LOG_CELLS - 1:0] less = advance ? {{(LOG_CELLS - LOG_PACKET){1'b0}}, advance_cells} : {LOG_CELLS{1'b0}};

    genvar number;
    generate
        for (number = 0; number < QUEUES; number = number + 1) begin : each
            localparam [LOG_QUEUES - 1:0] OWN = number;
            localparam [LOG_DESCRIPTORS - 1:0] OWN_DESCRIPTOR = number;
            reg [LOG_CELLS - 1:0] length;
            assign lengths[LOG_CELLS * number +: LOG_CELLS] = length;
            wire joins = link && link_queue == OWN;
            wire leaves = advance && advance_queue == OWN;
            always @(posedge clk) begin
                if (reset) begin
                    length <= {LOG_CELLS{1'b0}};
                    heads[number] <= OWN_DESCRIPTOR;
                    tails[number] <= OWN_DESCRIPTOR;
                end else begin
                    length <= length + (joins ? more : {LOG_CELLS{1'b0}}) - (leaves ? less : {LOG_CELLS{1'b0}});
                    if (joins) tails[number] <= link_next;
                    if (leaves) heads[number] <= advance_next;
                end
            end
        end
    endgenerate

    always @(posedge clk) begin
        // One pointer is left over, so that a number of cells fits LOG_CELLS bits.
        if (reset) free <= {LOG_CELLS{1'b1}};
        else free <= free - more + less;
    end
endmodule
`default_nettype wire
