// Inside a run: queues over time with their drops and who held the buffer, the flows that were hurt most, traced flows, collectives.

/** Those of a run, one for each of the first seeds. */
const detailsOf = (run) => DATA.details[run].filter((detail) => detail);
/** That of the chosen seed, else that of the first. */
const detailOf = (run) => (seedChosen !== null && DATA.details[run][seedChosen]) || detailsOf(run)[0];
/** The runs that have something with some seed. */
const runsWith = (has) => RUNS.map((_, run) => run).filter((run) => detailsOf(run).some(has));
/** Which seeds are shown. */
function seedsInside() {
  const count = Math.max(...DATA.details.map((details) => details.length));
  if (count < 2) return RUNS.some((run) => run.seeds > 1) ? "The first seed of each run. " : "";
  const left = count < DATA.seeds ? ` (one of the first ${count})` : "";
  return `One seed of each run: the first, or the one that is chosen above${left}. `;
}

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

/** A map of queues over time: darker is longer; a red bar stands for drops. A click shows the queue and who held the buffer. */
function queueMap() {
  const having = runsWith(({ map }) => map.queues.length);
  if (!having.length) return null;
  const fig = figure("map", "Queues over time, and who held the buffer", `${seedsInside()}The queues with most drops, then the longest ones, until the last packet that waited. `
    + "A cell is as dark as the queue was long; red: packets were dropped, more for more of them; on the right all drops of the queue. Click a cell, or move with the arrow keys.");
  const run = choice(fig, "Run", having.map((index) => RUNS[index].label), () => plot.draw());
  const side = html("div", { class: "held", "aria-live": "polite" });
  fig.host.after(side);
  let [chosen, drawn] = [null, null];
  const plot = { fig, draw };
  redraws.push(draw);
  followWidth(plot);

  function draw() {
    hideTip();
    const { map } = detailOf(having[run()]);
    if (!map.queues.length) {
      fig.host.replaceChildren(html("p", { class: "note" }, "No queue was recorded with this seed."));
      side.replaceChildren();
      return;
    }
    if (map !== drawn) [chosen, drawn] = [worst(map), map];
    plot.width = fig.host.clientWidth;
    const width = Math.max(320, plot.width);
    const letters = Math.max(...map.queues.map(({ name }) => name.length));
    const left = Math.min(width * 0.36, 16 + letters * 6.4);
    const row = 17;
    const totals = map.queues.map((queue) => queue.drops.reduce((sum, drop) => sum + dropped(drop), 0));
    const totalText = (total) => (total ? `${whole(total)} dropped` : "");
    const counts = Math.max(...totals.map((total) => totalText(total).length));
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
    map.queues.forEach((queue, index) => {
      const y = box.top + row * index;
      const group = svg(drawing, "g");
      const shown = Math.floor((left - 12) / 6.1);
      const name = queue.name.length > shown ? `${queue.name.slice(0, shown - 1)}\u2026` : queue.name;
      svg(group, "text", { class: "label", x: left - 7, y: y + 12, "text-anchor": "end" }, name);
      svg(group, "text", { class: "label", x: box.right + 7, y: y + 12 }, totalText(totals[index]));
      queue.longest.forEach((length, bin) => {
        if (length) {
          const style = `fill:var(--c0);fill-opacity:${(0.12 + 0.88 * (length / longest)).toFixed(2)}`;
          svg(group, "rect", { x: (box.left + wide * bin).toFixed(2), y: y + 1, width: (wide + 0.2).toFixed(2), height: row - 2, style });
        }
      });
      for (const drop of queue.drops) {
        const high = 4 + (row - 6) * Math.sqrt(dropped(drop) / most);
        const place = { x: (box.left + wide * drop[0]).toFixed(2), y: (y + row - 1 - high).toFixed(2) };
        svg(group, "rect", { class: "dropped", ...place, width: Math.max(2, wide).toFixed(2), height: high.toFixed(2) });
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
      const cell = cellAt(event);
      if (!cell) { hideTip(); return; }
      const queue = map.queues[cell.queue];
      const drop = queue.drops.find(([bin]) => bin === cell.bin);
      const rows = [{ cells: ["Longest", bytes(queue.longest[cell.bin])] }, { cells: ["Threshold", orDash(bytes, queue.threshold[cell.bin])] },
        ...(drop ? drop[1].map(([reason, count]) => ({ cells: [`Dropped: ${reason}`, whole(count)] })) : [])];
      showTip(event, `${queue.name}, ${time(map.end * cell.bin / bins)}`, null, rows);
    });
    drawing.addEventListener("pointerleave", hideTip);
    drawing.addEventListener("click", (event) => {
      const cell = cellAt(event);
      if (cell) { chosen = nearest(map.queues[cell.queue], cell); draw(); }
    });
    drawing.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      if (!move) return;
      event.preventDefault();
      const within = (value, count) => Math.min(count - 1, Math.max(0, value));
      chosen = { queue: within(chosen.queue + move[0], map.queues.length), bin: within(chosen.bin + move[1], bins) };
      draw();
      fig.host.querySelector("svg").focus({ preventScroll: true });
    });
    fig.host.replaceChildren(drawing);
    side.replaceChildren(...explain(map, bins));
    fillNumbers(fig, ["Queue", "Longest", "Drops", "Reasons"], map.queues.map((queue, index) => [queue.name, bytes(Math.max(...queue.longest)),
      whole(totals[index]), reasons(queue.drops.map((drop) => drop[1]))]));
  }

  /** The stretch with most drops, or where a queue was longest. */
  function worst(map) {
    let best = { queue: 0, bin: 0, weight: -1 };
    map.queues.forEach((queue, index) => {
      for (const drop of queue.drops) {
        if (dropped(drop) > best.weight) best = { queue: index, bin: drop[0], weight: dropped(drop) };
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
    small(line, queue, map, bins, from);
    const facts = [`Longest ${bytes(queue.longest[chosen.bin])}`];
    if (queue.threshold[chosen.bin] !== null) facts.push(`threshold ${bytes(queue.threshold[chosen.bin])}`);
    facts.push(drop ? `dropped: ${reasons([drop[1]])}` : "nothing dropped");
    const held = drop && drop[2] !== null ? map.holders[drop[2]] : null;
    return [title, html("p", {}, `${facts.join(", ")}.`), line, held ? holders(held)
      : html("p", { class: "note" }, drop ? "Who held the buffer was not recorded." : "Choose a red cell to see who held the buffer when packets were dropped.")];
  }

  function small(line, queue, map, bins, from) {
    const box = { left: 62, right: Math.max(300, fig.host.clientWidth) - 14 };
    const top = Math.max(1, ...queue.longest, ...queue.threshold.filter((value) => value !== null)) * 1.1;
    const x = scale([0, map.end], [box.left, box.right]);
    const marks = changeMarks(x, box);
    box.top = 8 + roomFor(marks);
    box.bottom = box.top + 120;
    const [width, height] = [box.right + 14, box.bottom + 22];
    const y = scale([0, top], [box.bottom, box.top]);
    const drawing = svg(null, "svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Length and threshold of ${queue.name}` });
    const words = svg(drawing, "g", { class: "ticks" });
    for (const value of linearTicks([0, top], 3)) {
      svg(words, "text", { x: box.left - 7, y: y.at(value) + 4, "text-anchor": "end" }, round(bytes(value)));
    }
    const points = (values) => values.map((value, bin) => [map.end * (bin + 0.5) / bins, value]);
    for (const [values, stroke] of [[queue.longest, "var(--c0)"], [queue.threshold, "var(--c2)"]]) {
      for (const piece of pieces(points(values))) {
        const path = piece.map(([px, py], index) => `${index ? "L" : "M"}${x.at(px).toFixed(1)} ${y.at(py).toFixed(1)}`).join("");
        svg(drawing, "path", { class: "line fine", d: path, style: `stroke:${stroke}` });
      }
    }
    for (const [bin] of queue.drops) svg(drawing, "path", { class: "drops", d: `M${x.at(map.end * (bin + 0.5) / bins).toFixed(1)} ${box.top}v7` });
    svg(drawing, "path", { class: "cross", d: `M${x.at(from + map.end / bins / 2).toFixed(1)} ${box.top}V${box.bottom}` });
    svg(drawing, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    drawChanges(drawing, marks, box);
    const keys = html("p", { class: "keys" }, swatch("var(--c0)"), "Length ", swatch("var(--c2)"), "Threshold ", swatch("var(--drop)"), "Drops");
    line.append(drawing, keys);
  }
  return fig;
}

const dropped = ([, byReason]) => byReason.reduce((sum, [, count]) => sum + count, 0);

/** Drops by reason, in words. */
function reasons(lists) {
  const sums = new Map();
  for (const [reason, count] of lists.flat()) sums.set(reason, (sums.get(reason) || 0) + count);
  return [...sums].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${whole(count)} ${reason}`).join(", ");
}

/** Who held the buffer: a bar for each class, and the parts. */
function holders(parts) {
  const all = parts.reduce((sum, [, , held]) => sum + held, 0) || 1;
  const classes = [...new Set(parts.map(([, of]) => of))].sort((a, b) => a - b);
  const share = (held) => html("span", { class: "share", style: `width:${(100 * held / all).toFixed(1)}%` });
  const row = (name, of, held, strong) => html("tr", { class: strong ? "strong" : undefined },
    html("th", {}, name), html("td", {}, of), html("td", { class: "number" }, bytes(held)),
    html("td", { class: "number" }, percent(held / all)), html("td", { class: "bar" }, share(held)));
  const rows = classes.flatMap((of) => {
    const own = parts.filter((part) => part[1] === of).sort((a, b) => b[2] - a[2]);
    const sum = own.reduce((total, part) => total + part[2], 0);
    return [row(`All of class ${of}`, String(of), sum, true), ...own.map(([name, , held]) => row(name, String(of), held))];
  });
  return html("div", { class: "scroll" }, html("table", { class: "holders" },
    html("caption", {}, `Who held the buffer when this was dropped (${bytes(all)})`),
    html("thead", {}, html("tr", {}, ...["Flow", "Class", "Bytes", "Share", ""].map((name) => html("th", {}, name)))), html("tbody", {}, ...rows)));
}

/** The flows that were hurt most, each as a bar of where its time went. */
function hurtFlows() {
  const having = runsWith(({ hurt }) => hurt.length);
  if (!having.length) return null;
  const took = having.flatMap(detailsOf).flatMap(({ hurt }) => hurt.flatMap(({ parts }) => parts.filter(([, spent]) => spent > 0)));
  const names = [...new Set(took.map(([name]) => name))];
  const fig = figure("hurt", "The flows that were hurt most, and where their time went", `${seedsInside()}The flows with the largest slowdown. ${names.length
    ? "The packet that completed a flow is followed back; the time before it was sent is told by what the sender waited for."
    : "Set measure.breakdown = true in the scenario to see where their time went."}`);
  const run = choice(fig, "Run", having.map((index) => RUNS[index].label), () => plot.draw());
  const filled = (name) => fill(names.indexOf(name));
  const plot = new RowPlot(fig, () => {
    const flows = detailOf(having[run()]).hurt;
    const unsplit = ({ parts, fct }) => (parts.length ? parts : [["not recorded", fct]]);
    fillNumbers(fig, ["Flow", "Completion", "Ideal", "Slowdown", ...names, "Queueing by hop", ""], flows.map((flow) => [flow.name, time(flow.fct),
      time(flow.ideal), plain(flow.fct / flow.ideal), ...names.map((name) => time((flow.parts.find((part) => part[0] === name) || [0, 0])[1])),
      flow.hops.map(([name, spent]) => `${name} ${time(spent)}`).join(", "), flow.note]));
    return {
      empty: "No flow is complete.",
      summary: flows.map((flow) => `${flow.name}: ${plain(flow.fct / flow.ideal)} times its ideal time`).join(". "),
      x: { label: "Completion time", units: TIME_UNITS, domain: [0, Math.max(1e-3, ...flows.map(({ fct }) => fct)) * 1.12] },
      rows: flows.map((flow) => ({
        name: flow.name, height: 26, run: undefined,
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
          ...flow.parts.filter(([, spent]) => spent > 0).map(([name, spent]) =>
            ({ mark: swatch(filled(name), undefined, true), cells: [name, time(spent), percent(spent / flow.fct)] })),
          ...flow.hops.filter(([, spent]) => spent > 0).map(([name, spent]) => ({ cells: [`\u2514 queueing at ${name}`, time(spent), percent(spent / flow.fct)] })),
          { cells: [flow.note, "", ""] },
        ]],
      })),
    };
  });
  fig.keys.append(...names.map((name) => html("span", { class: "chip plain" }, swatch(filled(name), undefined, true), name)));
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
  const fig = figure("traced", "Traced flows", `${seedsInside()}What the sender knew after each reply. Drag to zoom, double click to reset.`);
  const names = [...new Set(having.flatMap(detailsOf).flatMap(({ traced }) => traced.map(({ name }) => name)))];
  const plot = new LinePlot(fig, 300, () => {
    const measure = TRACED[what()];
    const shown = having.filter((run) => !hiddenRuns.has(run));
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
  const fig = figure("collectives", "Completion times of collectives", `${seedsInside()}From the start of a round's first flow to the arrival of its last.`);
  const names = [...new Set(having.flatMap(detailsOf).flatMap(({ collectives }) => collectives.map(([workload]) => workload)))];
  const plot = new LinePlot(fig, 260, () => {
    const shown = having.filter((run) => !hiddenRuns.has(run));
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
