// Inside a run: queues over time with their drops and who held the buffer, the flows that were hurt most, traced flows, collectives.

/** Those of a run, one for each of the first seeds. */
const detailsOf = (run) => DATA.details[run];
/** Packets dropped, or lost on failed links, in a map. */
const droppedIn = ({ map }) => map.queues.reduce((sum, queue) => sum + totalOf(queue), 0);
const totalOf = (queue) => queue.drops.reduce((sum, drop) => sum + dropped(drop), 0);
/** Whether a seed is shown from inside: the chosen one is; else the first one with drops, or the first one. */
const isInside = (run, seed) => seed === (seedChosen === null
  ? (detailsOf(run).find((detail) => droppedIn(detail)) || detailsOf(run)[0] || {}).seed : DATA.singles[seedChosen]);
/** What is shown of the inside of a run; undefined if the chosen seed is not among the first ones. */
const detailOf = (run) => detailsOf(run).find(({ seed }) => isInside(run, seed));
/** The runs that have something with some seed. */
const runsWith = (has) => RUNS.map((_, run) => run).filter((run) => detailsOf(run).some(has));
/** The place, among runs, of the first that shows something to begin with. */
const firstWith = (runs, has) => Math.max(0, runs.findIndex((run) => has(detailOf(run))));
/** Seeds that a page can have too many of to show them all from inside. */
const seedsInside = DATA.details.some((details) => details.length < DATA.seeds) && Math.max(...DATA.details.map((details) => details.length));
const fewSeeds = seedsInside ? `Of the first ${seedsInside > 1 ? `${seedsInside} seeds` : "seed"}. ` : "";
/** A run and its seed, behind a title. */
function runAndSeed(run) {
  const detail = detailOf(run);
  const parts = [RUNS.length > 1 ? RUNS[run].label : "", DATA.seeds > 1 ? `seed ${detail ? detail.seed : DATA.singles[seedChosen]}` : ""];
  return parts.filter(Boolean).join(", ");
}
/** The same for plots of several runs. */
function seedsOf(runs) {
  const seeds = [...new Set(runs.map(detailOf).filter(Boolean).map(({ seed }) => seed))];
  return DATA.seeds > 1 ? `seed ${(seeds.length ? seeds : [DATA.singles[seedChosen]]).join(", ")}` : "";
}
/** What is said where the chosen seed is not shown from inside. */
const notInside = (run) => `The page has no inside of ${RUNS[run].label} with seed ${DATA.singles[seedChosen]}. Choose seed ${
  detailsOf(run).map(({ seed }) => seed).join(", ")} above.`;

/** Where the seed of a panel is chosen. */
const seedsWhere = DATA.singles.length ? " The seed stands behind the title; another one is chosen at \u201cSeeds\u201d at the top of the page." : "";
/** Shows a drop of a flow in the map of queues, if there is one: of a run, as it comes with the flow. */
let showDrop = () => {};

/** Failures and repairs of all runs, each once, by time: they are marked on every time axis. */
const CHANGES = RUNS.flatMap((_, run) => detailsOf(run).flatMap((detail) => detail.changes))
  .filter(([at, what], index, all) => all.findIndex((other) => other[0] === at && other[1] === what) === index)
  .sort(([a], [b]) => a - b);

/** Rows of names above a plot, and the height of one. */
const [CHANGE_ROWS, CHANGE_HEIGHT] = [4, 13];

/** The failures and repairs within a box, each with the first row above it where its name covers no other. */
function changeMarks(x, { left, right }) {
  const rows = [];
  const within = CHANGES.map(([at, what]) => ({ at, what, place: x.at(at) })).filter(({ place }) => place >= left && place <= right);
  return within.map((mark) => {
    const long = mark.what.length * 5.6 + 8;
    const back = mark.place + long > right;
    const [from, to] = back ? [mark.place - long, mark.place] : [mark.place, mark.place + long];
    let row = rows.findIndex((names) => names.every((name) => name.to <= from || name.from >= to));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push({ from, to });
    return { ...mark, back, row };
  });
}

/** What the names of marks need above a box. */
const roomFor = (marks) => CHANGE_HEIGHT * Math.min(CHANGE_ROWS, Math.max(0, ...marks.map(({ row }) => row + 1)));

/** Draws marks of failures and repairs. With too many rows a name is only told when the pointer is on the mark. */
function drawChanges(parent, marks, box) {
  for (const { at, what, place, back, row } of marks) {
    const group = svg(parent, "g", { class: "change" });
    const named = row < CHANGE_ROWS;
    const top = named ? box.top - CHANGE_HEIGHT * row - 11 : box.top;
    svg(group, "path", { d: `M${place.toFixed(1)} ${top}V${box.bottom}` });
    svg(group, "title", {}, `${time(at)}: ${what}`);
    if (named) svg(group, "text", { x: place + (back ? -4 : 4), y: top + 9, "text-anchor": back ? "end" : "start" }, what);
  }
}

/** A map of queues over time: the stronger the colour, the longer; a red bar stands for drops. A click shows the queue and who held the buffer. */
function queueMap() {
  const having = runsWith(({ map }) => map.queues.length);
  if (!having.length) return null;
  const fig = figure("map", "Queues over time, and who held the buffer",
    `${fewSeeds}The queues with most drops, then the longest ones, until the last packet that waited. Click a cell, or move with the arrow keys.${seedsWhere}`);
  fig.pooled = null;
  const run = choice(fig, "Run", having.map((index) => RUNS[index].label), () => draw(), firstWith(having, (detail) => detail && droppedIn(detail)));
  const side = html("div", { class: "held", "aria-live": "polite" });
  const keys = html("div", { class: "keys" });
  fig.host.after(keys, side);
  let [chosen, drawn] = [null, null];
  const plot = { fig, draw };
  redraws.push(() => draw());
  followWidth(plot);

  showDrop = (index, [name, own]) => {
    run.set(having.indexOf(index));
    draw();
    const { map } = detailOf(index);
    const queue = map.queues.findIndex((of) => of.name === name);
    const bins = map.queues[0].longest.length;
    draw({ queue, bin: Math.min(bins - 1, Math.floor(own[0] / map.end * bins)), own });
    fig.node.scrollIntoView({ block: "start" });
  };

  /** Draws; with a chosen cell, the keyboard stays with the map. */
  function draw(cell) {
    hideTip();
    const index = having[run()];
    fig.about(runAndSeed(index));
    const detail = detailOf(index);
    const map = detail && detail.map;
    plot.width = fig.host.clientWidth;
    fig.note.hidden = !map || !map.queues.length;
    if (fig.note.hidden) {
      fig.host.replaceChildren(html("p", { class: "note" }, map ? nothing(index) : notInside(index)));
      [keys, side, fig.numbers].forEach((part) => part.replaceChildren());
      return;
    }
    if (map !== drawn) [chosen, drawn] = [worst(map), map];
    if (cell) chosen = cell;
    const width = Math.max(320, plot.width);
    const letters = Math.max(...map.queues.map(({ name }) => name.length));
    const left = Math.min(width * 0.36, 16 + letters * 6.4);
    const row = 17;
    const totals = map.queues.map(totalOf);
    const totalText = (total, queue) => (total ? `${whole(total)} ${queue.lost ? "lost" : "dropped"}` : "");
    const counts = Math.max(...totals.map((total, place) => totalText(total, map.queues[place]).length));
    const box = { left, right: width - 14 - counts * 7 };
    const x = scale([0, map.end], [box.left, box.right]);
    const marks = changeMarks(x, box);
    box.top = 8 + roomFor(marks);
    box.bottom = box.top + row * map.queues.length;
    const drawing = svg(null, "svg", {
      class: "plot heat", viewBox: `0 0 ${width} ${box.bottom + 44}`, role: "img", tabindex: 0,
      "aria-label": `${fig.title}. ${map.queues.length} queues. Arrow keys choose a cell.`,
    });
    const bins = map.queues[0].longest.length;
    const wide = (box.right - box.left) / bins;
    const longest = Math.max(1, ...map.queues.flatMap((queue) => queue.longest));
    const most = Math.max(1, ...map.queues.flatMap((queue) => queue.drops.map(dropped)));
    map.queues.forEach((queue, place) => {
      const y = box.top + row * place;
      const group = svg(drawing, "g");
      const shown = Math.floor((left - 12) / 6.1);
      const name = queue.name.length > shown ? `${queue.name.slice(0, shown - 1)}\u2026` : queue.name;
      svg(group, "text", { class: "label", x: left - 7, y: y + 12, "text-anchor": "end" }, name);
      svg(group, "text", { class: "label", x: box.right + 7, y: y + 12 }, totalText(totals[place], queue));
      if (isUnknown(queue)) {
        svg(group, "path", { class: "unknown", d: `M${box.left} ${y + row / 2}H${box.right}` });
      }
      queue.longest.forEach((length, bin) => {
        if (length) {
          const style = `fill:var(--c0);fill-opacity:${(0.12 + 0.88 * (length / longest)).toFixed(2)}`;
          svg(group, "rect", { x: (box.left + wide * bin).toFixed(2), y: y + 1, width: (wide + 0.2).toFixed(2), height: row - 2, style });
        }
      });
      for (const drop of queue.drops) {
        const high = 4 + (row - 6) * Math.sqrt(dropped(drop) / most);
        const at = { x: (box.left + wide * drop[0]).toFixed(2), y: (y + row - 1 - high).toFixed(2) };
        svg(group, "rect", { class: "dropped", ...at, width: Math.max(2, wide).toFixed(2), height: high.toFixed(2) });
      }
    });
    const frame = { x: box.left + wide * chosen.bin, y: box.top + row * chosen.queue, width: Math.max(3, wide), height: row };
    svg(drawing, "rect", { class: "chosen", ...frame });
    const axis = unitAxis("Time", TIME_UNITS, [0, map.end]);
    const words = svg(drawing, "g", { class: "ticks" });
    for (const value of linearTicks([0, map.end], (box.right - box.left) / 85)) {
      svg(words, "text", { x: x.at(value).toFixed(1), y: box.bottom + 16, "text-anchor": "middle" }, axis.tick(value));
    }
    svg(words, "text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, axis.label);
    svg(drawing, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    drawChanges(drawing, marks, box);
    const cellAt = (event) => {
      const rect = drawing.getBoundingClientRect();
      const unit = width / rect.width;
      const [px, py] = [(event.clientX - rect.left) * unit, (event.clientY - rect.top) * unit];
      if (px < 0 || px > box.right || py < box.top || py >= box.bottom) return null;
      const bin = Math.min(bins - 1, Math.max(0, Math.floor((px - box.left) / wide)));
      return { queue: Math.floor((py - box.top) / row), bin };
    };
    drawing.addEventListener("pointermove", (event) => {
      const at = cellAt(event);
      if (!at) { hideTip(); return; }
      const queue = map.queues[at.queue];
      const drop = queue.drops.find(([bin]) => bin === at.bin);
      const size = (name, value) => ({ cells: [name, value === null ? "not recorded" : bytes(value)] });
      const rows = [...(queue.lost ? [] : [size(isUnknown(queue) ? "Longest at a drop" : "Longest", queue.longest[at.bin])]),
        ...(isUnknown(queue) || queue.threshold[at.bin] === null ? [] : [size("Lowest threshold", queue.threshold[at.bin])]),
        ...(isUnknown(queue) && drop ? drop[4].map(([when, length, threshold]) => ({ cells: [`At ${time(when)}`,
          `${bytes(length)}${threshold === null ? "" : `, threshold ${bytes(threshold)}`}`] })) : []),
        ...(drop ? drop[1].map(([reason, count]) => ({ cells: [`${queue.lost ? "Lost" : "Dropped:"} ${reason}`, whole(count)] })) : [])];
      showTip(event, `${queue.name}, ${time(map.end * at.bin / bins)}`, null, rows);
    });
    drawing.addEventListener("pointerleave", hideTip);
    drawing.addEventListener("click", (event) => {
      const at = cellAt(event);
      if (at) draw(nearest(map.queues[at.queue], at));
    });
    drawing.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!move) return;
      event.preventDefault();
      const within = (value, count) => Math.min(count - 1, Math.max(0, value));
      draw({ queue: within(chosen.queue + move[0], map.queues.length), bin: within(chosen.bin + move[1], bins) });
    });
    fig.host.replaceChildren(drawing);
    if (cell) drawing.focus({ preventScroll: true });
    const shown = [
      [map.queues.some((queue) => queue.longest.some((length) => length)), "var(--c0)", "Length: the stronger the colour, the longer", true],
      [totals.some((total) => total), "var(--drop)", "Dropped or lost: higher is more", true],
      [map.queues.some(isUnknown), "var(--muted)", "Length not recorded, but at drops", false],
    ].filter(([is]) => is);
    keys.replaceChildren(...shown.map(([, stroke, name, filled]) => html("span", { class: "key" }, swatch(stroke, filled ? undefined : "2 3", filled), name)));
    side.replaceChildren(...explain(map, bins));
    fillNumbers(fig, ["Queue", "Longest", "Dropped or lost", "Reasons"], map.queues.map((queue, place) => [queue.name,
      queue.lost ? "\u2013" : bytes(Math.max(...queue.longest)), whole(totals[place]), reasons(queue.drops.map((drop) => drop[1]))]));
  }

  /** Why there is nothing to show. */
  function nothing(index) {
    const others = detailsOf(index).filter((detail) => detail.map.queues.length).map(({ seed }) => seed);
    return `No packet was dropped with this seed, and no queue was recorded.${others.length ? ` There is something to see with seed ${others.join(", ")}.` : ""}`;
  }

  /** The stretch with most drops, or where a queue was longest. */
  function worst(map) {
    let best = { queue: 0, bin: 0, weight: -1 };
    map.queues.forEach((queue, index) => {
      for (const drop of queue.drops) {
        // What links lost has no queue and no buffer to look at.
        const weight = queue.lost ? 0 : dropped(drop);
        if (weight > best.weight) best = { queue: index, bin: drop[0], weight };
      }
    });
    if (best.weight < 0) best.bin = map.queues[0].longest.indexOf(Math.max(...map.queues[0].longest));
    return best;
  }

  /** A click beside a narrow red bar means the bar. */
  function nearest(queue, cell) {
    const close = queue.drops.map(([bin]) => bin).filter((bin) => Math.abs(bin - cell.bin) <= 1);
    return { queue: cell.queue, bin: close.includes(cell.bin) || !close.length ? cell.bin : close[0] };
  }

  /** The chosen queue over time, and who held the buffer. */
  function explain(map, bins) {
    const queue = map.queues[chosen.queue];
    const drop = queue.drops.find(([bin]) => bin === chosen.bin);
    const from = map.end * chosen.bin / bins;
    const title = html("h4", {}, `${queue.name}, ${time(from)} to ${time(from + map.end / bins)}`);
    const line = html("div", { class: "host" });
    if (queue.lost) {
      return [title, html("p", {}, drop ? `Lost: ${reasons([drop[1]])}.` : "Nothing lost."), ...(drop ? [losers(drop[4])] : []), html("p", { class: "note" },
        "Packets that were on a link when it failed, or that were sent on it while it did not work. No buffer dropped them.")];
    }
    small(line, queue, map, bins, from);
    const length = queue.longest[chosen.bin];
    const facts = [length === null ? "Length not recorded" : `Longest${isUnknown(queue) ? " at a drop" : ""} ${bytes(length)}`];
    if (!isUnknown(queue) && queue.threshold[chosen.bin] !== null) facts.push(`lowest threshold ${bytes(queue.threshold[chosen.bin])}`);
    facts.push(drop ? `dropped: ${reasons([drop[1]])}` : "nothing dropped");
    const held = drop && drop[2] !== null ? map.holders[drop[2]] : null;
    return [title, html("p", {}, `${facts.join(", ")}.`), line, ...(drop && drop[3] ? [html("p", { class: "drop" }, oneDrop(drop))] : []), held ? holders(held)
      : html("p", { class: "note" }, drop ? "Who held the buffer was not recorded." : "Choose a red cell to see who held the buffer when packets were dropped.")];
  }

  /** One drop in words: what, why, and how long the queue and its threshold were. */
  function oneDrop([, byReason, , told]) {
    const [at, flow, length, reason, queued, threshold, used, isReply] = chosen.own || told;
    const of = chosen.own ? "The first of this flow: at" : byReason.reduce((sum, [, count]) => sum + count, 0) > 1 ? "One of them: at" : "At";
    const packet = isReply ? `a reply (such as an ACK) of ${bytes(length)} to ${flow}` : `a packet of ${bytes(length)} of ${flow}`;
    return `${of} ${time(at)}, ${packet}: ${reason}. The queue had ${bytes(queued)}${
      besideThreshold(reason, length, queued, threshold)}. The buffer held ${bytes(used)}${reason === "buffer full" ? ", too much for this packet" : ""}.`;
  }

  function small(line, queue, map, bins, from) {
    const box = { left: 62, right: Math.max(300, fig.host.clientWidth) - 14 };
    const known = (values) => values.filter((value) => value !== null);
    const pairs = isUnknown(queue) ? queue.drops.flatMap((drop) => drop[4]) : [];
    const thresholds = isUnknown(queue) ? pairs.map((pair) => pair[2]) : queue.threshold;
    const top = Math.max(1, ...known(queue.longest), ...known(thresholds)) * 1.1;
    const x = scale([0, map.end], [box.left, box.right]);
    const marks = changeMarks(x, box);
    box.top = 8 + roomFor(marks);
    box.bottom = box.top + 120;
    const [width, height] = [box.right + 14, box.bottom + 38];
    const y = scale([0, top], [box.bottom, box.top]);
    const drawing = svg(null, "svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Length and threshold of ${queue.name}` });
    const words = svg(drawing, "g", { class: "ticks" });
    for (const value of linearTicks([0, top], 3)) {
      svg(words, "text", { x: box.left - 7, y: y.at(value) + 4, "text-anchor": "end" }, round(bytes(value)));
    }
    const axis = unitAxis("Time", TIME_UNITS, [0, map.end]);
    for (const value of linearTicks([0, map.end], (box.right - box.left) / 85)) {
      svg(words, "text", { x: x.at(value).toFixed(1), y: box.bottom + 15, "text-anchor": "middle" }, axis.tick(value));
    }
    svg(words, "text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom + 33, "text-anchor": "middle" }, axis.label);
    const points = (values) => values.map((value, bin) => [map.end * (bin + 0.5) / bins, value]);
    const lines = [["Length", queue.longest, "var(--c0)"], ["Threshold", thresholds, "var(--c2)"]].filter(([, values]) => known(values).length);
    for (const [, values, stroke] of queue.sampled ? lines : []) {
      for (const piece of pieces(points(values))) {
        const path = piece.map(([px, py], index) => `${index ? "L" : "M"}${x.at(px).toFixed(1)} ${y.at(py).toFixed(1)}`).join("");
        svg(drawing, "path", { class: "line fine", d: path, style: `stroke:${stroke}` });
      }
    }
    // Only the instants of drops are known: nothing is drawn between them. A drop is its length and its threshold then.
    for (const [when, length, threshold] of pairs) {
      const px = x.at(when).toFixed(1);
      if (threshold !== null) {
        svg(drawing, "path", { class: "pair", d: `M${px} ${y.at(length).toFixed(1)}V${y.at(threshold).toFixed(1)}` });
        svg(drawing, "path", { class: "threshold", d: `M${(px - 4).toFixed(1)} ${y.at(threshold).toFixed(1)}h8`, style: "stroke:var(--c2)" });
      }
      svg(drawing, "circle", { cx: px, cy: y.at(length).toFixed(1), r: 2.5, style: "fill:var(--c0)" });
    }
    for (const [bin] of queue.drops) svg(drawing, "path", { class: "drops", d: `M${x.at(map.end * (bin + 0.5) / bins).toFixed(1)} ${box.top}v7` });
    svg(drawing, "path", { class: "cross", d: `M${x.at(from + map.end / bins / 2).toFixed(1)} ${box.top}V${box.bottom}` });
    svg(drawing, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    drawChanges(drawing, marks, box);
    const shown = lines.map(([name, , stroke]) => [name, stroke]).concat(queue.drops.length ? [["Drops", "var(--drop)"]] : []);
    const named = shown.map(([name, stroke]) => html("span", { class: "key" }, swatch(stroke), name));
    const unknown = isUnknown(queue) ? [html("span", { class: "key" }, "Between drops the length was not recorded; measure.queues, a setting of the scenario file, records it.")] : [];
    line.append(drawing, html("div", { class: "keys" }, ...named, ...unknown));
  }
  return fig;
}

/** Whether the length of a queue is known at its drops only. */
const isUnknown = (queue) => !queue.sampled && !queue.lost;

const dropped = ([, byReason]) => byReason.reduce((sum, [, count]) => sum + count, 0);

/** Drops by reason, in words. */
function reasons(lists) {
  const sums = new Map();
  for (const [reason, count] of lists.flat()) sums.set(reason, (sums.get(reason) || 0) + count);
  return [...sums].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${whole(count)} ${reason}`).join(", ");
}

/** What is said of a queue's threshold where a packet was dropped for a reason. */
function besideThreshold(reason, length, queued, threshold) {
  if (threshold === null) return "; it had no threshold";
  const size = bytes(threshold);
  if (reason === "above the threshold" && queued <= threshold && queued + length > threshold) {
    return `; with this packet it would have been above its threshold of ${size}`;
  }
  if ((reason === "above the threshold" || reason === "expelled") && queued > threshold) return `, above its threshold of ${size}`;
  return `; its threshold was ${size}`;
}

/** A table of sums and their parts, each with a bar: sums are bold. */
function partsTable(caption, header, rows, all) {
  const share = (part) => html("span", { class: "share", style: `width:${(100 * part / all).toFixed(1)}%` });
  const row = ({ strong, cells: [name, ...others], part }) => html("tr", { class: strong ? "strong" : undefined },
    html("th", {}, name), ...others.map((cell) => html("td", { class: "number" }, cell)),
    html("td", { class: "number" }, percent(part / all)), html("td", { class: "bar" }, share(part)));
  return html("div", { class: "scroll" }, html("table", { class: "holders" }, html("caption", {}, caption),
    html("thead", {}, html("tr", {}, ...header.map((name, index) => html("th", { class: index ? "number" : undefined }, name)), html("th", { colspan: 2 }, "Share"))),
    html("tbody", {}, ...rows.map(row))));
}

/** Who held the buffer: a bar for each class, and the parts. */
function holders([at, parts]) {
  const all = parts.reduce((sum, [, , held]) => sum + held, 0) || 1;
  const classes = [...new Set(parts.map(([, of]) => of))].sort((a, b) => a - b);
  const rows = classes.flatMap((of) => {
    const own = parts.filter((part) => part[1] === of).sort((a, b) => b[2] - a[2]);
    const row = (name, held, strong) => ({ strong, cells: [name, String(of), bytes(held)], part: held });
    return [row(`All of class ${of}`, own.reduce((total, part) => total + part[2], 0), true), ...own.map(([name, , held]) => row(name, held))];
  });
  return html("div", {}, partsTable(`Who held the buffer at ${time(at)}: ${bytes(all)} in all`, ["Flow", "Class", "Bytes"], rows, all),
    html("p", { class: "note" }, "Who held the buffer is recorded at a drop, anew when a quarter of it has changed: it may be from shortly before the drop told of above."));
}

/** Whose packets were lost: a bar for each workload, and the flows with most. */
function losers(workloads) {
  const all = workloads.reduce((sum, [, count]) => sum + count, 0);
  const rows = workloads.flatMap(([name, count, flows]) => {
    const others = count - flows.reduce((sum, [, lost]) => sum + lost, 0);
    const row = (text, lost, strong) => ({ strong, cells: [text, whole(lost)], part: lost });
    return [row(`All of ${name}`, count, true), ...flows.map(([flow, lost]) => row(flow, lost)), ...(others ? [row(`other flows of ${name}`, others)] : [])];
  });
  return partsTable("Whose packets were lost", ["Flow", "Packets"], rows, all);
}

/** A part of flows' completion times: its name, that in sentences, and what it is. */
const partOf = (name) => DATA.parts.find(([known]) => known === name) || [name, name, ""];
/** Fills of the parts: all of them differ. */
const PART_FILLS = [0, 1, 2, 3, 4, 6, 8, 9, 10, 11, 7, 5];

/** What slowed a flow: the parts of its time with most of it, the hop where it queued longest, and what happened to its packets. */
function inWords({ name, start, fct, ideal, parts, hops, note }) {
  const most = parts.filter(([, spent]) => spent > 0.05 * fct).sort((a, b) => b[1] - a[1]);
  const [hop, spent] = hops.reduce((best, of) => (of[1] > best[1] ? of : best), ["", 0]);
  const at = spent > 0.05 * fct ? `, most of it at ${hop}` : "";
  const told = most.map(([part, took]) => `${percent(took / fct)} ${partOf(part)[1]}${part === "queueing" ? at : ""}`);
  return `The slowest: ${name} started at ${time(start)} and took ${time(fct)}, ${plain(fct / ideal)} times as long as on the empty network. ${
    told.length ? `Its time: ${told.join("; ")}. ` : ""}What happened to its packets: ${note}.`;
}

/** The flows that were hurt most, each as a bar of where its time went. */
function hurtFlows() {
  const having = runsWith(({ hurt }) => hurt.length);
  if (!having.length) return null;
  const took = having.flatMap(detailsOf).flatMap(({ hurt }) => hurt.flatMap(({ parts }) => parts.filter(([, spent]) => spent > 0)));
  const spentOn = new Set(took.map(([name]) => name));
  const names = DATA.parts.map(([name]) => name).filter((name) => spentOn.has(name));
  const fig = figure("hurt", "The flows that were hurt most, and where their time went", `${fewSeeds}The flows with the largest slowdown; the number is the slowdown. ${names.length
    ? "The packet that completed a flow is followed back; the time before it was sent is told by what the sender waited for. Click a flow to see its first drop in the queues above."
    : "Set measure.breakdown = true in the scenario file to see where their time went."}${seedsWhere}`);
  fig.pooled = null;
  const run = choice(fig, "Run", having.map((index) => RUNS[index].label), () => plot.draw(), firstWith(having, (detail) => detail && droppedIn(detail)));
  const filled = (name) => fill(PART_FILLS[names.indexOf(name)]);
  const worst = html("p", { class: "worst" });
  fig.host.after(worst);
  const plot = new RowPlot(fig, () => {
    const index = having[run()];
    fig.about(runAndSeed(index));
    const detail = detailOf(index);
    const flows = detail ? detail.hurt : [];
    // What takes less than half a percent of every flow is too narrow to be seen.
    const took = names.filter((name) => flows.some(({ parts, fct }) => parts.some((part) => part[0] === name && part[1] >= 0.005 * fct)));
    fig.keys.replaceChildren(...took.map((name) => html("span", { class: "key", title: `${partOf(name)[1]}. ${partOf(name)[2]}` }, swatch(filled(name), undefined, true), name)),
      ...took.filter((name) => /timer|timeout/.test(name)).map((name) => html("p", { class: "note part" }, `${name[0].toUpperCase()}${name.slice(1)}: ${partOf(name)[1]}. ${partOf(name)[2]}`)));
    const dropOf = ({ drop }) => (drop && detail.map.queues.some(({ name }) => name === drop[0]) ? drop : null);
    worst.textContent = flows.length ? inWords(flows[0]) : "";
    const unsplit = ({ parts, fct }) => (parts.length ? parts : [["not recorded", fct]]);
    fillNumbers(fig, ["Flow", "Start", "Completion", "Ideal", "Slowdown", ...took, "Queueing of its last packet, by hop", "Its packets"], flows.map((flow) => [flow.name, time(flow.start), time(flow.fct),
      time(flow.ideal), plain(flow.fct / flow.ideal), ...took.map((name) => time((flow.parts.find((part) => part[0] === name) || [0, 0])[1])),
      flow.hops.map(([name, spent]) => `${name} ${time(spent)}`).join(", "), flow.note]));
    return {
      empty: detail ? "No flow is complete." : notInside(index),
      summary: flows.map((flow) => `${flow.name}: ${plain(flow.fct / flow.ideal)} times its ideal time`).join(". "),
      x: { label: "Completion time", units: TIME_UNITS, domain: [0, Math.max(1e-3, ...flows.map(({ fct }) => fct)) * 1.12] },
      rows: flows.map((flow) => ({
        name: flow.name, height: 26, run: undefined, click: dropOf(flow) && (() => showDrop(index, flow.drop)),
        draw: (group, x, middle) => {
          let from = 0;
          for (const [name, spent] of unsplit(flow)) {
            const [a, b] = [x.at(from), x.at(from + spent)];
            from += spent;
            if (b - a > 0.05) {
              svg(group, "rect", { class: "bar", x: a.toFixed(2), y: middle - 9, width: (b - a).toFixed(2), height: 18,
                style: `fill:${names.includes(name) ? filled(name) : "var(--f7)"}` });
            }
          }
          svg(group, "text", { class: "label", x: x.at(flow.fct) + 5, y: middle + 4 }, `${plain(flow.fct / flow.ideal)}\u00d7`);
        },
        tip: () => [`${flow.name}: ${time(flow.fct)}`, null, [
          { cells: ["Started at", time(flow.start)] },
          ...flow.parts.filter(([, spent]) => spent > 0).map(([name, spent]) =>
            ({ mark: swatch(filled(name), undefined, true), cells: [partOf(name)[1], time(spent), percent(spent / flow.fct)] })),
          ...flow.hops.filter(([, spent]) => spent > 0).map(([name, spent]) => ({ cells: [`\u2514 at ${name}`, time(spent), percent(spent / flow.fct)] })),
          ...flow.note.split("; ").map((what) => ({ cells: [what] })),
          ...(flow.drop ? [{ cells: [`First dropped at ${time(flow.drop[1][0])} in ${flow.drop[0]}${dropOf(flow) ? ": click to see it" : ""}`] }] : []),
        ]],
      })),
    };
  });
  fig.savedKeys = () => names.map((name) => ({ name, colour: filled(name), filled: true }));
  return fig;
}

const TRACED = [
  { name: "Congestion window", label: "Packets", of: (flow) => flow.window },
  { name: "Round trip", label: "Round trip", units: TIME_UNITS, of: (flow) => flow.rtt },
  { name: "Rate", label: "Gb/s", of: (flow) => rates(flow) },
  { name: "Retransmissions so far", label: "Packets", of: (flow) => flow.retransmitted },
];

/** Gigabits per second that were acknowledged, over an eightieth of the time each. */
function rates({ t, acked }) {
  const span = (t[t.length - 1] - t[0]) / 80 || 1;
  let back = 0;
  return t.map((at, index) => {
    while (back < index && t[back] < at - span) back += 1;
    const known = acked[index] !== null && acked[back] !== null && at > t[back];
    return known ? (acked[index] - acked[back]) * 8e-3 / (at - t[back]) : null;
  });
}

function tracedFlows() {
  const having = runsWith(({ traced }) => traced.some(({ t }) => t.length));
  if (!having.length) return null;
  const fig = figure("traced", "Traced flows", `${fewSeeds}What the sender knew after each reply. Drag to zoom, double click to reset.`);
  fig.pooled = null;
  const names = [...new Set(having.flatMap(detailsOf).flatMap(({ traced }) => traced.map(({ name }) => name)))];
  const plot = new LinePlot(fig, 300, () => {
    const measure = TRACED[what()];
    const shown = having.filter((run) => !hiddenRuns.has(run) && detailOf(run));
    fig.about(seedsOf(shown));
    const flows = shown.map((run) => ({ run, flow: detailOf(run).traced.find(({ name }) => name === names[which()]) })).filter(({ flow }) => flow && flow.t.length);
    const series = flows.map(({ run, flow }) => {
      const values = measure.of(flow);
      return { run, colour: colour(run), dash: dash(run), width: "fine", points: flow.t.map((t, index) => [t, values[index]]) };
    }).filter(({ points }) => points.some(([, value]) => value !== null));
    const values = series.flatMap(({ points }) => points.map(([, value]) => value).filter((value) => value !== null));
    const ends = flows.flatMap(({ flow }) => [flow.t[0], flow.t[flow.t.length - 1]]);
    const top = Math.max(1e-9, ...values) * 1.1;
    fillNumbers(fig, ["Run", "Responses", "Last", "Highest"], series.map(({ run, points }) => {
      const known = points.map(([, value]) => value).filter((value) => value !== null);
      const text = (value) => (measure.units ? time(value) : plain(value));
      return [RUNS[run].label, whole(points.length), text(known[known.length - 1]), text(Math.max(...known))];
    }));
    return {
      empty: "This transport does not say.",
      x: { label: "Time", units: TIME_UNITS, domain: ends.length ? [Math.min(...ends), Math.max(...ends) + 1e-6] : [0, 1] },
      y: measure.units ? { label: measure.label, units: measure.units, domain: [0, top] } : { label: measure.label, tick: short, domain: [0, top] },
      series,
      tip: (t) => ({ title: time(t), rows: series.map(({ run, points }) => {
        const index = sampleAt(points.map(([at]) => at), t);
        return { mark: swatch(colour(run), dash(run)), cells: [RUNS[run].label, orDash(measure.units ? time : plain, points[index][1])] };
      }) }),
    };
  });
  const which = choice(fig, "Flow", names, () => plot.fresh());
  const what = choice(fig, "Show", TRACED.map(({ name }) => name), () => plot.fresh());
  return fig;
}

/** Completion times of the rounds of collectives. */
function collectiveTimes() {
  const having = runsWith(({ collectives }) => collectives.length);
  if (!having.length) return null;
  const fig = figure("collectives", "Completion times of collectives", `${fewSeeds}From the start of a round's first flow to the arrival of its last.`);
  fig.pooled = null;
  const names = [...new Set(having.flatMap(detailsOf).flatMap(({ collectives }) => collectives.map(([workload]) => workload)))];
  const plot = new LinePlot(fig, 260, () => {
    const shown = having.filter((run) => !hiddenRuns.has(run) && detailOf(run));
    fig.about(seedsOf(shown));
    const series = shown.map((run) => ({ run, colour: colour(run), dash: dash(run), markers: true,
      points: detailOf(run).collectives.filter(([workload]) => workload === names[which()]).map(([, number, took]) => [number, took]) }));
    const known = series.flatMap(({ points }) => points.filter(([, took]) => took !== null));
    const rounds = series.flatMap(({ points }) => points.map(([number]) => number));
    fillNumbers(fig, ["Run", "Rounds", "Complete", "Mean", "Slowest"], series.map(({ run, points }) => {
      const times = points.map(([, took]) => took).filter((took) => took !== null);
      const mean = times.length ? times.reduce((sum, took) => sum + took, 0) / times.length : null;
      return [RUNS[run].label, whole(points.length), whole(times.length), orDash(time, mean), orDash(time, times.length ? Math.max(...times) : null)];
    }));
    return {
      empty: "No run is shown.",
      x: { label: "Round", tick: short, domain: [Math.min(0, ...rounds), Math.max(1, ...rounds)] },
      y: { label: "Completion time", units: TIME_UNITS, domain: [0, Math.max(1e-3, ...known.map(([, took]) => took)) * 1.15] },
      series,
      tip: (at) => ({ title: `Round ${Math.round(at)}`, rows: series.map(({ run, points }) => {
        const found = points.find(([number]) => number === Math.round(at));
        return { mark: swatch(colour(run), dash(run)), cells: [RUNS[run].label, orDash(time, found && found[1])] };
      }) }),
    };
  });
  const which = choice(fig, "Workload", names, () => plot.fresh());
  return fig;
}
