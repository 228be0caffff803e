// Takes the packet at the head of a queue out of the buffer (Occamy 4.3, figure 9): as head-drop executor, and once more
// as the output scheduler's fetch, which does the same and reads the data, too.
//
//   cycle 1   `start`: the descriptor at the head of the queue is being read
//   cycle 2   `advances`: the head moves on, unless `aborts`; until here nothing has changed
//   cycle 3.. `has_cell`: every cycle with `frees` gives one cell back and reads the pointer to the next; in the cycles
//             without, somebody else has the cell pointer memory, and the packet's cells wait
`default_nettype none
module occamy_executor #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16,
    parameter LOG_PACKET = 6
) (
    input  wire                     clk,
    input  wire                     reset,
    input  wire                     start,
    input  wire [LOG_QUEUES - 1:0]  start_queue,
    input  wire                     aborts,
    // The descriptor that was read.
    input  wire [LOG_CELLS - 1:0]   first_cell,
    input  wire [LOG_PACKET - 1:0]  cells,
    input  wire                     frees,
    // The cell pointer that was read.
    input  wire [LOG_CELLS - 1:0]   next_cell,
    output wire                     idle,
    output wire                     advances,
    output reg  [LOG_QUEUES - 1:0]  from_queue,
    output wire                     has_cell,
    output wire [LOG_CELLS - 1:0]   cell_to_free
);
    localparam [1:0] IDLE = 2'd0, ADVANCE = 2'd1, FREE = 2'd2;

    reg [1:0]               state;
    reg [LOG_PACKET - 1:0]  left;
    // The cell to free: what has just been read, or what was kept while the memory was another's.
    reg                     just_read;
    reg [LOG_CELLS - 1:0]   kept;

    wire last = left == {{(LOG_PACKET - 1){1'b0}}, 1'b1};
    assign idle = state == IDLE;
    assign advances = state == ADVANCE;
    assign has_cell = state == FREE;
    assign cell_to_free = just_read ? next_cell : kept;

    always @(posedge clk) begin
        if (reset) begin
            state <= IDLE;
        end else if (idle) begin
            if (start) state <= ADVANCE;
        end else if (advances) begin
            state <= aborts ? IDLE : FREE;
        end else if (frees && last) begin
            state <= IDLE;
        end

        if (idle) from_queue <= start_queue;
        if (advances) left <= cells;
        else if (frees) left <= left - {{(LOG_PACKET - 1){1'b0}}, 1'b1};
        just_read <= frees;
        kept <= advances ? first_cell : cell_to_free;
    end
endmodule
`default_nettype wire
