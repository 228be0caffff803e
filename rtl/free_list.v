// Pointers that nobody uses, FIRST to LAST: first those never used yet, by counting, then those given back, from a ring.
// So the memory needs no first contents. A pointer given back can be taken two cycles later.
`default_nettype none
module free_list #(
    parameter LOG = 16,
    parameter FIRST = 0,
    parameter LAST = (1 << LOG) - 1
) (
    input  wire             clk,
    input  wire             reset,
    input  wire             give,
    input  wire [LOG - 1:0] given,
    input  wire             take,
    output wire             available,
    output wire [LOG - 1:0] pointer
);
    reg             counting;
    reg [LOG - 1:0] fresh;
    reg             gave;
    reg [LOG - 1:0] head, tail;
    // Pointers in the ring that can be read.
    reg [LOG - 1:0] level;
    wire [LOG - 1:0] at_head;

    wire takes_from_ring = take & ~counting;
    wire [LOG - 1:0] one = {{(LOG - 1){1'b0}}, 1'b1};
    wire [LOG - 1:0] next_head = takes_from_ring ? head + one : head;

    assign available = counting | (|level);
    assign pointer = counting ? fresh : at_head;

    memory #(.LOG(LOG), .WIDTH(LOG)) ring (
        .clk(clk), .write(give), .write_address(tail), .write_data(given), .read_address(next_head), .read_data(at_head)
    );

    always @(posedge clk) begin
        if (reset) begin
            counting <= 1'b1;
            fresh <= FIRST[LOG - 1:0];
            gave <= 1'b0;
            head <= {LOG{1'b0}};
            tail <= {LOG{1'b0}};
            level <= {LOG{1'b0}};
        end else begin
            if (take & counting) begin
                fresh <= fresh + one;
                counting <= fresh != LAST[LOG - 1:0];
            end
            gave <= give;
            if (give) tail <= tail + one;
            head <= next_head;
            if (gave & ~takes_from_ring) level <= level + one;
            else if (takes_from_ring & ~gave) level <= level - one;
        end
    end
endmodule
`default_nettype wire
