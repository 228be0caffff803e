// The tables of counters.

import { bytes, count, element, microseconds, say } from "./format.js";

const drops = (of) => Object.entries(of.drops).map(([reason, { packets }]) => `${reason} ${count(packets)}`).join(", ");
const COLUMNS = [
  ["Waiting", (of) => of.waiting.packets],
  ["Offered", (of) => of.offered.packets],
  ["Admitted", (of) => of.admitted.packets],
  ["Sent", (of) => of.sent.packets],
  ["Bytes sent", (of) => bytes(of.sent.bytes)],
  ["Marked", (of) => of.marked.packets],
  ["Trimmed", (of) => of.trimmed.packets],
  ["Headers sent", (of) => of.headers_sent.packets],
  ["Returned", (of) => of.returned.packets],
  ["Dropped", (of) => of.dropped.packets],
  ["Most bytes", (of) => bytes(of.peak_bytes)],
  ["Drops by reason", drops],
];
const OUTSIDE = [
  ["Frames received", (port) => port.received.packets],
  ["Bytes received", (port) => bytes(port.received.bytes)],
  ["Frames transmitted", (port) => port.transmitted.packets],
  ["Bytes transmitted", (port) => bytes(port.transmitted.bytes)],
  ["Dropped: not to be cut", (port) => port.untrimmable],
  ["Lost: receive overrun", (port) => port.outside.receive_overruns],
  ["Lost: too long", (port) => port.outside.too_long],
  ["Lost: not sent", (port) => port.outside.send_failures],
];
const is_text = (name) => (name === "Drops by reason" ? "text" : "");
const tables = { counters: [], outside: [] };

function make(id, corner, columns, names) {
  const table = document.querySelector(`#${id} table`);
  const heads = [corner, ...columns.map(([name]) => name)].map((text) => element("th", { scope: "col", className: is_text(text) }, text));
  table.tHead.replaceChildren(element("tr", {}, ...heads));
  tables[id] = names.map(() => columns.map(([name]) => element("td", { className: is_text(name) })));
  const rows = names.map((name, row) => element("tr", {}, element("th", { scope: "row" }, name), ...tables[id][row]));
  table.tBodies[0].replaceChildren(...rows);
}

function fill(id, columns, objects) {
  objects.forEach((object, row) =>
    columns.forEach(([, value], column) => {
      const [cell, shown] = [tables[id][row][column], value(object)];
      cell.classList.toggle("zero", shown === 0);
      say(cell, typeof shown === "number" ? count(shown) : shown);
    }),
  );
}

export function build(snapshot) {
  const queues = snapshot.ports.flatMap((port) => port.queues.map((_, q) => `${port.name} q${q}`));
  make("counters", "Queue", COLUMNS, [...queues, "all"]);
  make("outside", "Port", OUTSIDE, snapshot.ports.map((port) => port.name));
}

// Where all frames are.
function books(of) {
  const known = `${count(of.received)} received + ${count(of.copies)} copies = ${count(of.sent)} sent + ${count(of.dropped)} dropped + ${count(of.pushed_out)} pushed out + ${count(of.untrimmable)} not to be cut + ${count(of.unreturned)} not to be returned + ${count(of.unforwarded)} not forwarded + ${count(of.waiting)} waiting`;
  return of.missing === 0 ? `Frames: ${known}.` : `Frames: ${known}, and ${count(of.missing)} are missing: a fault of the switch.`;
}

export function update(snapshot) {
  const queues = snapshot.ports.flatMap((port) => port.queues.map((queue) => queue.counters));
  fill("counters", COLUMNS, [...queues, snapshot.total]);
  fill("outside", OUTSIDE, snapshot.ports);
  const { runts, back, no_route, no_hops, storm, no_buffer } = snapshot.unforwarded;
  const { count: stalls, total_us, longest_us, given_up_us } = snapshot.stalls;
  const not = `Not forwarded: ${count(runts)} runts, ${count(back)} back to where they came from, ${count(no_route)} without a route, ${count(no_hops)} without a hop left, ${count(storm)} cut by storm control, ${count(no_buffer)} copies without memory.`;
  const away = `Stalls of the machine: ${count(stalls)}, ${microseconds(total_us)} in all, ${microseconds(longest_us)} at most; ${microseconds(given_up_us)} were not made up for.`;
  say(document.getElementById("unforwarded"), `${not} ${away}`);
  say(document.getElementById("books"), books(snapshot.books));
}
