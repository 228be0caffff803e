// Buffers over time.

/** The index of the last sample at or before a time. */
function sampleAt(times, t) {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

const TIMELINE = [
  { key: "used", name: "Buffer in use", colour: "var(--c0)", area: true, width: "fine" },
  { key: "longest", name: "Longest queue", colour: "var(--c1)", width: "fine" },
  { key: "threshold", name: "Its threshold", colour: "var(--c2)", width: "thin" },
];

function bufferOverTime() {
  const { names, all, runs } = DATA.timeline;
  const having = RUNS.map((_, run) => run).filter((run) => runs[run].some(({ series }) => series.some((of) => of.t.length)));
  if (!having.length) return null;
  const fig = figure("timeline", "Buffer over time", (names.length < all ? `The ${names.length} fullest of ${all} buffers. ` : "")
    + `${fewSeeds}Until the last packet that waited. Drag to zoom, double click to reset.${seedsWhere}`);
  fig.pooled = null;
  const hiddenKeys = new Set();
  const several = having.length > 1;
  const together = several ? ["All runs: buffer in use", "All runs: longest queue"] : [];
  const modes = [...having.map((run) => RUNS[run].label), ...together];
  const seriesOf = (run) => {
    const shown = runs[run].find(({ seed }) => isInside(run, seed));
    return shown && shown.series.find((series) => series.name === names[place()]);
  };
  const plot = new LinePlot(fig, 340, () => {
    const single = mode() < having.length;
    const key = mode() === having.length + 1 ? "longest" : "used";
    const chosen = (single ? [having[mode()]] : having.filter((run) => !hiddenRuns.has(run)))
      .map((run) => ({ run, of: seriesOf(run) })).filter(({ of }) => of && of.t.length);
    const lines = chosen.flatMap(({ run, of }) => (single
      ? TIMELINE.filter((line) => !hiddenKeys.has(line.key) && of[line.key].some((value) => value !== null))
        .map((line) => ({ ...line, points: of.t.map((t, index) => [t, of[line.key][index]]) }))
      : [{ run, colour: colour(run), dash: dash(run), width: "fine", points: of.t.map((t, index) => [t, of[key][index]]) }]));
    const size = Math.max(...chosen.map(({ of }) => of.size), 0);
    const peak = Math.max(1, ...chosen.map(({ of }) => (single ? Math.max(...of.used, ...of.longest) : Math.max(...of[key]))));
    const ends = chosen.map(({ of }) => [of.t[0], of.t[of.t.length - 1]]);
    const from = Math.min(...ends.map(([start]) => start));
    const to = Math.max(...ends.map(([, end]) => end));
    const top = fit() === 0 ? Math.max(size, peak) : peak;
    fig.about(single ? runAndSeed(having[mode()]) : seedsOf(chosen.map(({ run }) => run)));
    const drawn = (key) => chosen.some(({ of }) => of[key].some((value) => value));
    [...fig.keys.children].forEach((button, index) => { button.hidden = !single || !drawn(keys[index].key); });
    numbers(chosen);
    return {
      empty: single && !detailOf(having[mode()]) ? notInside(having[mode()]) : "This buffer was not recorded in the runs shown.",
      summary: chosen
        .map(({ run, of }) => `${RUNS[run].label}: at most ${bytes(Math.max(...of.used))} of ${bytes(of.size)}.`).join(" "),
      x: { label: "Time", units: TIME_UNITS, domain: [from, to > from ? to : from + 1] },
      y: { label: "Bytes", units: BYTE_UNITS, domain: [0, top * 1.15] },
      series: lines,
      extra: (parent, x, y, box) => {
        if (size) {
          svg(parent, "path", { class: "limit", d: `M${box.left} ${y.at(size).toFixed(1)}H${box.right}` });
          svg(parent, "text", { x: box.right - 4, y: y.at(size) - 4, "text-anchor": "end" }, `buffer ${round(bytes(size))}`);
        }
        if (single) drops(parent, x, box, chosen);
      },
      tip: (t) => tip(t, single, key, chosen),
    };
  });
  /** A tick for every sample since which packets were dropped, longer for more. */
  const drops = (parent, x, box, chosen) => {
    for (const { of } of chosen) {
      const since = of.drops.map((count, index) => count - (index ? of.drops[index - 1] : 0));
      const most = Math.max(1, ...since);
      let path = "";
      since.forEach((count, index) => {
        if (count > 0) path += `M${x.at(of.t[index]).toFixed(1)} ${box.top}v${(5 + 11 * (count / most)).toFixed(1)}`;
      });
      if (!hiddenKeys.has("drops")) svg(parent, "path", { class: "drops", d: path });
    }
  };
  const tip = (t, single, key, chosen) => {
    const rows = chosen.flatMap(({ run, of }) => {
      const index = sampleAt(of.t, t);
      if (!single) {
        const cells = [RUNS[run].label, bytes(of[key][index]), `${whole(of.drops[index])} drops so far`];
        return [{ mark: swatch(colour(run), dash(run)), cells }];
      }
      const since = of.drops[index] - (index ? of.drops[index - 1] : 0);
      return [
        ...TIMELINE.map(({ key: part, name, colour: stroke }) => {
          const share = part === "used" && of.size ? percent(of.used[index] / of.size) : "";
          return { mark: swatch(stroke), cells: [name, orDash(bytes, of[part][index]), share] };
        }),
        { mark: swatch("var(--drop)"), cells: ["Drops so far", whole(of.drops[index]), since ? `+${whole(since)}` : ""] },
      ];
    });
    return { title: time(t), rows };
  };
  const numbers = (chosen) => {
    const row = ({ run, of }) => {
      const peak = Math.max(...of.used);
      return [RUNS[run].label, bytes(of.size), bytes(peak), of.size ? percent(peak / of.size) : "\u2013",
        bytes(Math.max(...of.longest)), whole(of.drops[of.drops.length - 1]), whole(of.samples)];
    };
    fillNumbers(fig, ["Run", "Buffer", "Peak use", "Peak share", "Longest queue", "Drops", "Samples"], chosen.map(row));
  };
  const mode = choice(fig, "Run", modes, () => plot.fresh());
  const place = choice(fig, "Buffer", names, () => plot.fresh());
  const fit = choice(fig, "Height", ["Whole buffer", "Highest use"], () => plot.fresh());
  const keys = [...TIMELINE, { key: "drops", name: "Drops, on the upper edge", colour: "var(--drop)" }];
  const runKeys = fig.savedKeys;
  fig.savedKeys = () => (mode() < having.length ? keys.filter(({ key }) => !hiddenKeys.has(key)) : runKeys());
  const marked = keys.map((key) => ({ ...key, mark: swatch(key.colour) }));
  fig.keys.append(...keyButtons(marked, hiddenKeys, () => plot.draw()));
  return fig;
}
