// The page: which plots there are and where, and tables that can be sorted.

/** Up to so many runs, drops and occupancy are placed one above the other beside the queries. */
const STACKED = 2;

/** Half-width figures in pairs, then the timeline, then one that is left over. */
function build() {
  buildLegend();
  writeVerdicts();
  const area = document.getElementById("plots");
  const place = (make) => {
    const fig = make();
    if (fig) area.append(fig.node);
    return fig && fig.node;
  };
  const makers = [flowTimes, slowdownBySize, queryTimes, differences, dropsByReason, occupancyByPlace];
  const halves = makers.map(place).filter(Boolean);
  // With few runs, drops and occupancy are low and share one place.
  const [drops, occupancy] = ["drops", "occupancy"].map((id) => document.getElementById(id));
  if (RUNS.length <= STACKED && drops && occupancy && halves.length % 2) {
    const stack = html("div", { class: "stack" });
    drops.replaceWith(stack);
    stack.append(drops, occupancy);
    halves.splice(-2, 2, stack);
  }
  for (const make of [queueMap, bufferOverTime, hurtFlows, tracedFlows, collectiveTimes]) {
    const wide = place(make);
    if (wide) wide.classList.add("wide");
  }
  if (halves.length % 2) {
    const last = halves[halves.length - 1];
    last.classList.add("wide");
    area.append(last);
  }
  const names = { fct: "flows", qct: "queries", drops: "drops and losses by reason", occupancy: "buffer occupancy", timeline: "buffers over time" };
  const missing = Object.keys(names).filter((id) => !document.getElementById(id)).map((id) => names[id]);
  if (missing.length && RUNS.length) {
    const where = RUNS.length > 1 ? "these runs" : "this run";
    area.append(html("p", { class: "note wide" }, `Not recorded in ${where}: ${missing.join(", ")}.`));
  }
  redraw();
  document.querySelectorAll("table.sortable").forEach(makeSortable);
}

/** Headings become buttons that sort the rows, by number where every cell has one. */
function makeSortable(table) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = html("button", { type: "button", class: "sort", onclick: () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[column];
        const number = parseFloat(cell.dataset.value || cell.textContent.replace(/,/g, ""));
        return [Number.isNaN(number) ? Infinity : number, cell.textContent];
      };
      const compare = (a, b) => (a[0] === b[0] ? a[1].localeCompare(b[1]) : a[0] - b[0]);
      body.append(...[...body.rows].sort((a, b) => (up ? 1 : -1) * compare(key(a), key(b))));
    } }, ...heading.childNodes);
    heading.append(button);
  });
}

build();
