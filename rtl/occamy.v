// Occamy whole: admission, lists of descriptors and cells, the output scheduler's fetches, and head drop in the cycles
// that these leave (Occamy 4).
//
//   arrivals ──> enqueue ──> queues, descriptors, cell pointers ──> fetch ──> departures
//                  ▲            │ lengths                │
//                  └─ selector <┘        arbiter ──> executor ──> free lists
`default_nettype none
module occamy #(
    parameter LOG_QUEUES = 6,
    parameter LOG_CELLS = 16,
    parameter LOG_DESCRIPTORS = 16,
    parameter LOG_PACKET = 6
) (
    input  wire                             clk,
    input  wire                             reset,
    // alpha = 2^(alpha_shift - 3).
    input  wire [3:0]                       alpha_shift,
    // A packet arrives; it is looked at in a cycle in which `arrival_ready`.
    input  wire                             arrives,
    input  wire [LOG_QUEUES - 1:0]          arrival_queue,
    input  wire [LOG_PACKET - 1:0]          arrival_cells,
    output wire                             arrival_ready,
    output wire                             arrival_admitted,
    output wire                             links,
    // The output scheduler wants the head of a queue; it gets it in a cycle in which `fetch_ready`, if there is one.
    input  wire                             fetches,
    input  wire [LOG_QUEUES - 1:0]          fetch_queue,
    output wire                             fetch_ready,
    output wire                             fetch_starts,
    output wire                             departs,
    output wire [LOG_QUEUES - 1:0]          departure_queue,
    // What the selector sees and chooses.
    output wire [LOG_CELLS - 1:0]           free,
    output wire [LOG_CELLS - 1:0]           threshold,
    output wire [(1 << LOG_QUEUES) - 1:0]   over,
    output wire                             chosen,
    output wire [LOG_QUEUES - 1:0]          chosen_queue,
    // What the executor does.
    output wire                             drop_starts,
    output wire                             drop_aborts,
    output wire                             drops,
    output wire [LOG_QUEUES - 1:0]          drop_queue,
    // The packet that departs or is dropped, and the cell that is given back.
    output wire [LOG_PACKET - 1:0]          packet_cells,
    output wire [LOG_CELLS - 1:0]           packet_cell,
    output wire                             frees,
    output wire [LOG_CELLS - 1:0]           freed_cell
);
    // Taking packets in.
    wire [LOG_QUEUES - 1:0]         link_queue;
    wire [LOG_PACKET - 1:0]         link_cells;
    wire [LOG_CELLS - 1:0]          link_length, link_first, last_cell, fresh_cell;
    wire [LOG_DESCRIPTORS - 1:0]    link_tail, fresh_descriptor;
    wire                            cell_available, descriptor_available, takes_cell, chains;
    enqueue #(.LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) intake (
        .clk(clk), .reset(reset),
        .arrives(arrives), .arrival_queue(arrival_queue), .arrival_cells(arrival_cells),
        .threshold(threshold), .free(free), .length(link_length),
        .descriptor_available(descriptor_available), .cell_available(cell_available), .fresh_cell(fresh_cell),
        .ready(arrival_ready), .admits(arrival_admitted), .into_queue(link_queue), .cells(link_cells),
        .first_cell(link_first), .takes_cell(takes_cell), .chains(chains), .last_cell(last_cell), .links(links)
    );

    // The queues; one packet leaves at a time, by the fetch or by the executor.
    wire                            fetch_advances, fetch_idle, drop_advances, drop_idle, fetch_empty;
    wire                            advance = departs | drops;
    wire [LOG_QUEUES - 1:0]         advance_queue = departs ? departure_queue : drop_queue;
    wire [LOG_DESCRIPTORS - 1:0]    next_descriptor, old_head, fetch_head, drop_head;
    wire [LOG_CELLS * (1 << LOG_QUEUES) - 1:0] lengths;
    queues #(
        .LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS), .LOG_DESCRIPTORS(LOG_DESCRIPTORS), .LOG_PACKET(LOG_PACKET)
    ) state (
        .clk(clk), .reset(reset),
        .link(links), .link_queue(link_queue), .link_cells(link_cells), .link_next(fresh_descriptor),
        .link_tail(link_tail), .link_length(link_length),
        .advance(advance), .advance_queue(advance_queue), .advance_cells(packet_cells),
        .advance_next(next_descriptor), .advance_head(old_head),
        .fetch_queue(fetch_queue), .fetch_head(fetch_head), .fetch_empty(fetch_empty),
        .drop_queue(chosen_queue), .drop_head(drop_head), .lengths(lengths), .free(free)
    );

    // Descriptors: the next of the queue, the first cell, and the number of cells.
    memory #(.LOG(LOG_DESCRIPTORS), .WIDTH(LOG_DESCRIPTORS + LOG_CELLS + LOG_PACKET)) descriptors (
        .clk(clk), .write(links), .write_address(link_tail), .write_data({fresh_descriptor, link_first, link_cells}),
        .read_address(fetch_starts ? fetch_head : drop_head), .read_data({next_descriptor, packet_cell, packet_cells})
    );
    free_list #(.LOG(LOG_DESCRIPTORS), .FIRST(1 << LOG_QUEUES), .LAST((1 << LOG_DESCRIPTORS) - 1)) free_descriptors (
        .clk(clk), .reset(reset), .give(advance), .given(old_head),
        .take(links), .available(descriptor_available), .pointer(fresh_descriptor)
    );

    // Cells: a pointer from each to the next of its packet.
    wire                    fetch_frees, drop_has_cell, drop_frees;
    wire [LOG_CELLS - 1:0]  fetch_cell, drop_cell, next_cell;
    assign frees = fetch_frees | drop_frees;
    assign freed_cell = fetch_frees ? fetch_cell : drop_cell;
    memory #(.LOG(LOG_CELLS), .WIDTH(LOG_CELLS)) cell_pointers (
        .clk(clk), .write(chains), .write_address(last_cell), .write_data(fresh_cell),
        .read_address(freed_cell), .read_data(next_cell)
    );
    free_list #(.LOG(LOG_CELLS), .FIRST(0), .LAST((1 << LOG_CELLS) - 2)) free_cells (
        .clk(clk), .reset(reset), .give(frees), .given(freed_cell),
        .take(takes_cell), .available(cell_available), .pointer(fresh_cell)
    );

    // The output scheduler's fetch: never waits, never gives up.
    assign fetch_ready = fetch_idle;
    assign fetch_starts = fetches & fetch_ready & ~fetch_empty;
    assign departs = fetch_advances;
    occamy_executor #(.LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) fetch (
        .clk(clk), .reset(reset), .start(fetch_starts), .start_queue(fetch_queue), .aborts(1'b0),
        .first_cell(packet_cell), .cells(packet_cells), .frees(fetch_frees), .next_cell(next_cell),
        .idle(fetch_idle), .advances(fetch_advances), .from_queue(departure_queue),
        .has_cell(fetch_frees), .cell_to_free(fetch_cell)
    );

    // Head drop.
    assign drops = drop_advances & ~drop_aborts;
    occamy_selector #(.LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS)) selector (
        .clk(clk), .reset(reset), .free(free), .alpha_shift(alpha_shift), .lengths(lengths),
        .take(drops), .taken(drop_queue), .threshold(threshold), .over(over), .any(chosen), .choice(chosen_queue)
    );
    occamy_arbiter arbiter (
        .scheduler_starts(fetch_starts), .scheduler_advances(fetch_advances), .scheduler_frees(fetch_frees),
        .drop_waits(chosen & drop_idle), .drop_advances(drop_advances), .drop_has_cell(drop_has_cell),
        .drop_starts(drop_starts), .drop_aborts(drop_aborts), .drop_frees(drop_frees)
    );
    occamy_executor #(.LOG_QUEUES(LOG_QUEUES), .LOG_CELLS(LOG_CELLS), .LOG_PACKET(LOG_PACKET)) executor (
        .clk(clk), .reset(reset), .start(drop_starts), .start_queue(chosen_queue), .aborts(drop_aborts),
        .first_cell(packet_cell), .cells(packet_cells), .frees(drop_frees), .next_cell(next_cell),
        .idle(drop_idle), .advances(drop_advances), .from_queue(drop_queue),
        .has_cell(drop_has_cell), .cell_to_free(drop_cell)
    );
endmodule
`default_nettype wire
