// The whole buffer as a bar, with the part of every queue.

import { bytes, color, element, say } from "./format.js";

const bar = document.getElementById("buffer-bar");
const use = document.getElementById("buffer-use");
let parts = [];
let free = null;

export function build(snapshot) {
  parts = snapshot.ports.map((port) =>
    port.queues.map((_, q) => {
      const part = element("div", { className: "part" });
      part.style.background = color(q);
      return part;
    }),
  );
  free = element("div", { className: "free" });
  bar.replaceChildren(...parts.flat(), free);
}

export function update(snapshot) {
  const width = bar.clientWidth;
  snapshot.ports.forEach((port, p) =>
    port.queues.forEach((queue, q) => {
      const share = queue.bytes / snapshot.buffer_bytes;
      const part = parts[p][q];
      part.style.width = `${(100 * share).toFixed(3)}%`;
      part.hidden = queue.bytes === 0;
      const name = `${port.name} q${q}`;
      say(part, share * width > 8 * name.length ? name : share * width > 24 ? `q${q}` : "");
      part.title = `${name}: ${bytes(queue.bytes)}`;
    }),
  );
  const { used_bytes: used, buffer_bytes: all } = snapshot;
  const text = `${bytes(used)} of ${bytes(all)} used (${Math.round((100 * used) / all)}%), at most ${bytes(snapshot.total.peak_bytes)}`;
  say(use, text);
  say(free, `${bytes(all - used)} free`);
  bar.setAttribute("aria-label", `The buffer: ${text}`);
}
