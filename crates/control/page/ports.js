// A card for every port: rates, the chart, and the chart's numbers as a table.

import { Chart } from "./charts.js";
import { bits, bytes, color, compact, element, say } from "./format.js";

const place = document.getElementById("ports");
let cards = [];

// Charts that nobody sees are not drawn.
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const card = cards.find((card) => card.chart.canvas === entry.target);
    if (card) card.chart.visible = entry.isIntersecting;
  }
});

export const charts = () => cards.map((card) => card.chart);

export function build(snapshot) {
  watcher.disconnect();
  cards = snapshot.ports.map(card);
  place.replaceChildren(place.firstElementChild, ...cards.map((card) => card.node));
  place.classList.toggle("pairs", [2, 4].includes(cards.length));
  for (const card of cards) watcher.observe(card.chart.canvas);
}

function flow(word) {
  const [rate, fill] = [element("b"), element("i")];
  return { rate, fill, node: element("div", {}, `${word} `, rate, element("span", { className: "meter" }, fill)) };
}

function card(port, index) {
  const link = element("span", { className: "link" });
  const [going_in, going_out] = [flow("in"), flow("out")];
  const canvas = element("canvas", { role: "img", id: `chart-${index}` });
  // Every queue has a lane for its losses above the plot.
  canvas.style.height = `${190 + 10 * Math.min(port.queues.length, 8)}px`;
  const rows = port.queues.map((_, q) => {
    const swatch = element("span", { className: "swatch" });
    swatch.style.background = color(q);
    const cells = Array.from({ length: 5 }, () => element("td"));
    return { cells, node: element("tr", {}, element("th", { scope: "row" }, swatch, `q${q}`), ...cells) };
  });
  const heads = ["queue", "length", "threshold", "rate", "marked", "lost"];
  const table = element(
    "table",
    { className: "queues" },
    element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => row.node)),
  );
  const title = element("header", {}, element("h3", {}, port.name), link, element("div", { className: "flow" }, going_in.node, going_out.node));
  return { link, going_in, going_out, rows, chart: new Chart(canvas, index), node: element("article", { className: "port", "aria-label": `Port ${port.name}` }, title, canvas, table) };
}

export function update(snapshot, model) {
  snapshot.ports.forEach((port, p) => {
    const [card, rates] = [cards[p], model.rates(p)];
    say(card.link, port.is_up ? bits(port.rate_bps) : "interface is down");
    card.link.classList.toggle("down", !port.is_up);
    for (const [flow, rate] of [[card.going_in, rates.in], [card.going_out, rates.out]]) {
      say(flow.rate, bits(rate));
      flow.fill.style.width = `${Math.min(100, (100 * rate) / port.rate_bps).toFixed(1)}%`;
    }
    const told = port.queues.map((queue, q) => {
      const counters = queue.counters;
      const lost = counters.dropped.packets + counters.trimmed.packets + counters.returned.packets;
      const limit = queue.threshold_bytes === null ? "none" : bytes(queue.threshold_bytes);
      const texts = [bytes(queue.bytes), limit, bits(rates.queues[q]), compact(counters.marked.packets), compact(lost)];
      texts.forEach((text, index) => say(card.rows[q].cells[index], text));
      card.rows[q].cells[4].classList.toggle("bad", lost > 0);
      return `queue ${q}: ${texts[0]}, threshold ${limit}`;
    });
    card.chart.canvas.setAttribute("aria-label", `Queue lengths of ${port.name} over the last 30 seconds. Now ${told.join("; ")}`);
  });
}
