// Counters that go up and down, one for each member of a set.
`default_nettype none
module counters #(
    parameter LOG = 3,
    parameter WIDTH = 4
) (
    input  wire                 clk,
    input  wire                 reset,
    input  wire                 up,
    input  wire [LOG - 1:0]     up_at,
    input  wire                 down,
    input  wire [LOG - 1:0]     down_at,
    output wire [WIDTH * (1 << LOG) - 1:0] counts
);
    genvar number;
    generate
        for (number = 0; number < (1 << LOG); number = number + 1) begin : each
            localparam [LOG - 1:0] OWN = number;
            reg [WIDTH - 1:0] count;
            assign counts[WIDTH * number +: WIDTH] = count;
            wire more = up && up_at == OWN;
            wire less = down && down_at == OWN;
            always @(posedge clk) begin
                if (reset) count <= {WIDTH{1'b0}};
                else if (more & ~less) count <= count + {{(WIDTH - 1){1'b0}}, 1'b1};
                else if (less & ~more) count <= count - {{(WIDTH - 1){1'b0}}, 1'b1};
            end
        end
    endgenerate
endmodule
`default_nettype wire
