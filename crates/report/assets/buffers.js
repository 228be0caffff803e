// Drops by reason and occupancy by place.

function dropsByReason() {
  const reasons = [...new Set(RUNS.flatMap((run) => run.drops.filter(([, [mean]]) => mean > 0).map(([reason]) => reason)))];
  if (!reasons.length) return null;
  const fig = figure("drops", "Drops and losses by reason", "");
  const caption = () => `Packets dropped or lost, in switches, at hosts and on failed links${seedChosen === null && DATA.seeds > 1
    ? ": the mean over seeds. The line is the 95% confidence interval of the sum." : "."}`;
  const off = new Set();
  /** The mean over seeds and half its interval. */
  const found = (run, reason) => (viewOf(run).drops.find(([of]) => of === reason) || [reason, [0, null]])[1];
  const count = (run, reason) => found(run, reason)[0];
  const words = (value, run) => (viewOf(run).dropped[1] === null ? whole(value) : plain(value));
  const plot = new RowPlot(fig, () => {
    const shares = mode() === 1;
    fig.note.textContent = caption();
    const kept = reasons.filter((reason) => !off.has(reason));
    const height = Math.min(50, Math.max(26, 260 / Math.max(1, shownRuns().length)));
    const totals = new Map(shownRuns().map((run) => [run, kept.reduce((sum, reason) => sum + count(run, reason), 0)]));
    fillNumbers(fig, ["Run", ...reasons, "All"], shownRuns().map((run) => {
      const all = viewOf(run).dropped;
      const told = (of) => (shares ? (all[0] ? percent(of[0] / all[0]) : "\u2013") : withHalf("count", of));
      return [RUNS[run].label, ...reasons.map((reason) => told(found(run, reason))), told(all)];
    }));
    // The interval is that of all drops: it stands only where all are shown.
    const half = (run) => (shares || kept.length < reasons.length ? null : viewOf(run).dropped[1]);
    return {
      empty: "No runs are shown.", margin: shares ? 16 : 74,
      summary: [...totals].map(([run, total]) => `${RUNS[run].label}: ${words(total, run)}.`).join(" "),
      x: shares ? { label: "Share of drops", domain: [0, 1], tick: (value) => `${short(value * 100)}%` }
        : {
          label: "Packets dropped or lost", domain: [0, Math.max(1, ...[...totals].map(([run, total]) => total + (half(run) || 0)))],
          tick: (value) => (value >= 1e6 ? `${short(value / 1e6)}M` : whole(value)),
        },
      rows: [...totals].map(([run, total]) => ({
        run, name: RUNS[run].label, height,
        draw: (group, x, middle) => {
          let sum = 0;
          for (const reason of kept) {
            const packets = count(run, reason);
            const from = x.at(shares ? sum / (total || 1) : sum);
            sum += packets;
            const to = x.at(shares ? sum / (total || 1) : sum);
            if (!packets) continue;
            svg(group, "rect", {
              class: "bar", x: from.toFixed(1), y: middle - height * 0.3, width: Math.max(0.5, to - from).toFixed(1),
              height: height * 0.6, style: `fill:${fill(reasons.indexOf(reason))}`,
            });
          }
          const reach = half(run) || 0;
          if (reach) {
            const [from, to] = [Math.max(0, total - reach), total + reach].map((value) => x.at(value).toFixed(1));
            svg(group, "path", { class: "whisker", d: `M${from} ${middle}H${to}M${from} ${middle - 5}v10M${to} ${middle - 5}v10` });
          }
          if (!shares) svg(group, "text", { class: "label", x: x.at(total + reach) + 6, y: middle + 4 }, words(total, run));
        },
        tip: () => [RUNS[run].label, ["", "Packets", "Share"], kept.map((reason) => ({
          mark: swatch(fill(reasons.indexOf(reason)), undefined, true),
          cells: [reason, withHalf("count", found(run, reason)), total ? percent(count(run, reason) / total) : "\u2013"],
        }))],
      })),
    };
  });
  const mode = choice(fig, "Show", ["Packets", "Share"], () => plot.draw());
  const keys = reasons.map((reason, index) =>
    ({ key: reason, name: reason, colour: fill(index), filled: true, mark: swatch(fill(index), undefined, true) }));
  fig.savedKeys = () => keys.filter(({ key }) => !off.has(key));
  fig.keys.append(...keyButtons(keys, off, () => plot.draw()));
  return fig;
}

function occupancyByPlace() {
  const MOST = 8;
  const highest = new Map();
  for (const [place, , , max] of RUNS.flatMap((run) => run.occupancy)) {
    highest.set(place, Math.max(highest.get(place) || 0, max ? max[0] : 0));
  }
  const places = [...highest.keys()];
  if (!places.length) return null;
  const fig = figure("occupancy", "Buffer occupancy", "");
  const caption = () => `Over time: the dot is the median, the bar ends at the 99th percentile, the ring is the maximum${
    seedChosen === null && DATA.seeds > 1 ? "; means over seeds" : ""}.`;
  const limit = [...highest.values()].sort((a, b) => b - a)[Math.min(MOST, places.length) - 1];
  const fullest = places.filter((place) => highest.get(place) >= limit).slice(0, MOST);
  const plot = new RowPlot(fig, () => {
    const rows = [];
    fig.note.textContent = caption();
    for (const place of which() === 0 ? fullest : places) {
      const having = shownRuns()
        .map((run) => ({ run, of: viewOf(run).occupancy.find(([name]) => name === place) }))
        .filter(({ of }) => of && of[1] && of[2] && of[3]);
      if (RUNS.length > 1 && having.length) rows.push({ name: place, heading: true, height: 24, rule: rows.length > 0 });
      for (const { run, of } of having) {
        const intervals = of.slice(1);
        const [p50, p99, max] = intervals.map(([mean]) => mean);
        rows.push({
          run, name: RUNS.length > 1 ? RUNS[run].label : place, height: RUNS.length > 1 ? 19 : 30,
          values: [place, run, ...intervals],
          draw: (group, x, middle) => {
            const style = `stroke:${colour(run)}`;
            svg(group, "path", { class: "reach", style, d: `M${x.at(p99).toFixed(1)} ${middle}H${x.at(max).toFixed(1)}` });
            svg(group, "path", { class: "span", style, d: `M${x.at(p50).toFixed(1)} ${middle}H${x.at(p99).toFixed(1)}` });
            svg(group, "circle", { class: "ring", style, cx: x.at(max).toFixed(1), cy: middle, r: 4 });
            svg(group, "circle", { style: `fill:${colour(run)}`, cx: x.at(p50).toFixed(1), cy: middle, r: 4.5 });
          },
          tip: () => [`${place}, ${RUNS[run].label}`, null, ["Median", "p99", "Maximum"]
            .map((name, index) => ({ cells: [name, withHalf("share", intervals[index])] }))],
        });
      }
    }
    const measured = rows.filter((row) => row.values);
    fillNumbers(fig, ["Buffer", "Run", "p50", "p99", "Max"], measured.map(({ values: [place, run, ...of] }) =>
      [place, RUNS[run].label, ...of.map((value) => withHalf("share", value))]));
    return {
      empty: "No runs are shown.", rows,
      x: {
        label: "Share of the buffer in use", tick: (value) => `${short(value * 100)}%`,
        domain: [0, Math.max(0.05, ...measured.map((row) => row.values[4][0])) * 1.03],
      },
    };
  });
  const sets = places.length > MOST ? [`The ${MOST} fullest`, `All ${places.length}`] : ["All"];
  const which = choice(fig, "Show", sets, () => plot.draw());
  return fig;
}
