// Losses as they happen, and why. Losses of one kind that follow each other within a second share a line.

import { bytes, element, packets, say, seconds, WHY } from "./format.js";

const MOST = 120;
const list = document.getElementById("loss-list");
const none = document.getElementById("no-losses");
const MARKS = { dropped: "\u25BC", trimmed: "\u25C6", returned: "\u25C6" };
let latest = new Map();

export function clear() {
  latest = new Map();
  list.replaceChildren();
  none.hidden = false;
}

export function add(losses) {
  for (const loss of losses) {
    const key = `${loss.port} ${loss.queue} ${loss.why}`;
    const line = latest.get(key);
    if (line && loss.time - line.time < 1) {
      line.packets += loss.packets;
      line.bytes += loss.bytes;
      write(line);
    } else {
      latest.set(key, begin(loss));
    }
  }
  none.hidden = list.children.length > 0;
  while (list.children.length > MOST) list.lastChild.remove();
}

function begin(loss) {
  const line = { ...loss, how: element("span", { className: "how" }), size: element("span") };
  const what = element("span", { className: "what" }, line.how, `: ${WHY[loss.why] ?? loss.why}`);
  const where = element("span", { className: "where" }, `${loss.name} q${loss.queue}`);
  list.prepend(element("li", { title: loss.why }, element("time", {}, seconds(loss.time)), where, line.size, what));
  write(line);
  return line;
}

function write(line) {
  say(line.how, `${MARKS[line.fate]} ${packets(line.packets)} ${line.fate}`);
  say(line.size, bytes(line.bytes));
}
