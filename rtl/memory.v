// A memory with one port to write and one to read. What is read is there in the next cycle; reading what is being written
// gives the old word.
`default_nettype none
module memory #(
    parameter LOG = 16,
    parameter WIDTH = 16
) (
    input  wire                 clk,
    input  wire                 write,
    input  wire [LOG - 1:0]     write_address,
    input  wire [WIDTH - 1:0]   write_data,
    input  wire [LOG - 1:0]     read_address,
    output reg  [WIDTH - 1:0]   read_data
);
    reg [WIDTH - 1:0] words [0:(1 << LOG) - 1];
    always @(posedge clk) begin
        if (write) words[write_address] <= write_data;
        read_data <= words[read_address];
    end
endmodule
`default_nettype wire
