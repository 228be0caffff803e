// Completion times of flows and queries, and slowdown by size.

/** The points of a thinned curve: [value, share of all], where those that did not finish keep it below 1. */
function curvePoints(curve, set, grid = seedChosen === null ? DATA.grid : DATA.seedGrid) {
  const { x } = curve;
  const whole = x.length < grid.length || x.length === set.done;
  const reached = set.done / set.all;
  return x.map((value, index) => [value, (whole ? (index + 1) / x.length : grid[index]) * reached]);
}

/** The band around a curve, [value, least share, most share] at each of its points; between those of `bands.rs`, its distances from the curve change evenly. */
function bandAround(band, points) {
  let next = 0;
  const shares = (share) => Math.min(1, Math.max(0, share));
  return points.map(([x, y], index) => {
    while (next < band.length - 1 && band[next][0] < index) next += 1;
    const [from, to] = [band[Math.max(0, next - 1)], band[next]];
    const part = to[0] > from[0] ? (index - from[0]) / (to[0] - from[0]) : 0;
    const [low, high] = [1, 2].map((side) => shares(y + from[side] + (to[side] - from[side]) * part));
    return [x, low, high];
  });
}

/** The ends of a band at a value, as percentages. */
function bandAt(band, value) {
  const before = band.filter(([x]) => x <= value);
  const [, low, high] = before[before.length - 1] || [0, 0, 0];
  return `${(low * 100).toFixed(2)} to ${(high * 100).toFixed(2)}%`;
}

/** What bands are, for the keys of a plot. */
const bandKey = (what) => html("span", { class: "key band-key" }, bandSwatch(),
  `${what}: 95% confidence interval over seeds, where there are at least ${DATA.bandFrom}`);

/** The share of a curve's values that do not exceed a value. */
function shareBelow(points, value) {
  let share = 0;
  for (const [x, y] of points) {
    if (x > value) break;
    share = y;
  }
  return share;
}

/** The value that a share of all do not exceed, or null if so many did not finish. */
function valueAt(points, share) {
  const found = points.find(([, y]) => y >= share - 1e-9);
  return found ? found[0] : null;
}

const MEASURES = [
  { key: "time", format: time, tick: (value) => round(time(value)), suffix: "completion time" },
  { key: "slowdown", format: plain, tick: short, suffix: "slowdown" },
];

/** The key of bands in a drawing that is saved. */
const savedBand = (key) => ({ name: key.textContent, colour: "var(--rule)", filled: true });

/** How flows would do that never had to wait. */
const EMPTY_NETWORK = { name: "empty network", colour: "var(--muted)", dash: "2 3", width: "fine" };

/** A cumulative distribution of times or slowdowns; `pick(view)` gives the chosen set of what is drawn of a point, or null. */
function distribution(fig, [what, those], height, pick, columns, ideal = () => null) {
  const emptyKey = html("span", { class: "key" }, swatch(EMPTY_NETWORK.colour, EMPTY_NETWORK.dash), "Time on the empty network");
  const shadedKey = bandKey("Shaded");
  fig.keys.append(emptyKey, shadedKey);
  const runKeys = fig.savedKeys;
  fig.savedKeys = () => [
    ...runKeys(), ...(emptyKey.hidden ? [] : [EMPTY_NETWORK]), ...(shadedKey.hidden ? [] : [savedBand(shadedKey)])];
  const plot = new LinePlot(fig, height, () => {
    const tail = axis() === 1;
    const measure = MEASURES[which()];
    const sets = shownRuns().map((run) => ({ run, set: pick(viewOf(run)) })).filter(({ set }) => set && set[measure.key].x.length);
    const curves = sets.map(({ run, set }) => {
      const points = curvePoints(set[measure.key], set);
      const { band } = set[measure.key];
      return { run, set, points, band: band && bandAround(band, points) };
    });
    const empty = measure.key === "time" && sets.length ? ideal() : null;
    emptyKey.hidden = !empty;
    shadedKey.hidden = !curves.some(({ band }) => band);
    fig.keys.hidden = emptyKey.hidden && shadedKey.hidden;
    if (empty) curves.push({ run: null, set: empty, points: curvePoints(empty.time, empty, DATA.grid) });
    const smallest = Math.min(...curves.map(({ points }) => points[0][0]));
    const largest = Math.max(...curves.map(({ points }) => points[points.length - 1][0]));
    const floor = Math.max(1e-5, 0.5 / Math.max(1, ...curves.map(({ set }) => set.all)));
    numbers(measure);
    return {
      empty: `None of the ${those} chosen finished in the runs shown.`,
      summary: `${measure.suffix} of ${those} as a cumulative distribution, ${sets.length} runs.`,
      x: {
        label: `${what[0].toUpperCase()}${what.slice(1)} ${measure.suffix}`, log: true, tick: measure.tick,
        domain: [smallest / 1.08, Math.max(largest, smallest * 1.2) * 1.08],
      },
      y: tail
        ? { label: `Share of ${those} above`, log: true, domain: [floor, 1], tick: (value) => `${short(value * 100)}%` }
        : { label: `Share of ${those}`, domain: [0, 1.01], tick: (value) => `${short(value * 100)}%` },
      series: curves.map(({ run, points, band }) => ({
        ...(run === null ? EMPTY_NETWORK : { run, colour: colour(run), dash: dash(run) }), step: true,
        points: [[points[0][0], tail ? 1 : 0], ...points.map(([x, y]) => [x, tail ? Math.max(1 - y, floor / 10) : y])],
        band: band && band.map(([x, ...ends]) => [x, ...(tail ? ends.map((end) => Math.max(1 - end, floor / 10)) : ends)]),
      })),
      tip: (x, y) => {
        const share = Math.min(1, Math.max(0, tail ? 1 - y : y));
        const digits = short(Number((share * 100).toPrecision(share > 0.99 ? 5 : 3)));
        return {
          level: true, title: `${measure.format(x)}, ${digits}%`, header: ["", `up to ${measure.format(x)}`, `p${digits}`],
          rows: curves.map(({ run, points, band }) => ({
            mark: run === null ? swatch(EMPTY_NETWORK.colour, EMPTY_NETWORK.dash) : swatch(colour(run), dash(run)),
            cells: [
              run === null ? EMPTY_NETWORK.name : RUNS[run].label,
              `${(shareBelow(points, x) * 100).toFixed(2)}%${band ? ` (${bandAt(band, x)})` : ""}`,
              orDash(measure.format, valueAt(points, share)),
            ],
          })),
        };
      },
    };
  });
  const numbers = (measure) => {
    const row = (run, set) => {
      const { stats, seeds } = set[measure.key];
      const kind = measure.key === "time" ? "time" : "plain";
      // Over seeds where that is known; the rest is of all flows of all seeds.
      const values = ["mean", "p50", "p95", "p99", "p999", "max"].map((key) => (seeds && seeds[key]
        ? withHalf(kind, seeds[key]) : orDash(measure.format, (stats || {})[key])));
      return [RUNS[run].label, ...columns.map(([, of]) => of(set)), ...values];
    };
    fillNumbers(fig, ["Run", ...columns.map(([name]) => name), "Mean", "p50", "p95", "p99", "p99.9", "Max"],
      shownRuns().filter((run) => pick(viewOf(run))).map((run) => row(run, pick(viewOf(run)))));
  };
  const which = choice(fig, "Show", ["Time", "Slowdown"], () => plot.fresh());
  const axis = choice(fig, "Scale", ["Share", "Tail"], () => plot.fresh());
  return plot;
}

const COUNTS = [["Count", (set) => whole(set.all)], ["Unfinished", (set) => whole(set.all - set.done)]];

function flowTimes() {
  if (!RUNS.some((run) => run.flows.some((group) => group.some(Boolean)))) return null;
  const fig = figure("fct", "Flow completion times",
    "Share of the chosen flows that finished within a time; flows that did not finish count as never. "
    + "Drag to zoom, double click to reset.");
  const buckets = DATA.buckets.map((_, index) => index)
    .filter((bucket) => RUNS.some((run) => run.flows.some((group) => group[bucket])));
  const bucket = choice(fig, "Sizes", buckets.map((index) => DATA.buckets[index]), () => plot.fresh());
  const group = choice(fig, "Flows", DATA.flowGroups, () => plot.fresh());
  const plot = distribution(fig, ["flow", "flows"], 330, (run) => run.flows[group()][buckets[bucket()]], COUNTS,
    () => DATA.ideals[group()][buckets[bucket()]]);
  return fig;
}

function queryTimes() {
  if (!RUNS.some((run) => run.queries.some(Boolean))) return null;
  const fig = figure("qct", "Query completion times",
    "Share of the queries whose last response had arrived within a time; queries that did not finish count as never.");
  const group = choice(fig, "Queries", DATA.queryGroups, () => plot.fresh());
  const plot = distribution(fig, ["query", "queries"], RUNS.length <= STACKED ? 370 : 330, (run) => run.queries[group()],
    [...COUNTS, ["With drops", (set) => percent(set.dropped / set.all)]]);
  return fig;
}

function slowdownBySize() {
  if (!DATA.sizes.some((group) => group.runs.some((run) => run.some(Boolean)))) return null;
  const fig = figure("sizes", "Slowdown by flow size",
    "Flows in up to ten bins of equally many flows, drawn at the median size of each; all runs share the bins.");
  const PERCENTILES = ["p50", "p95", "p99"];
  const shadedKey = bandKey("Shaded");
  fig.keys.append(shadedKey);
  const runKeys = fig.savedKeys;
  fig.savedKeys = () => [...runKeys(), ...(shadedKey.hidden ? [] : [savedBand(shadedKey)])];
  const plot = new LinePlot(fig, 330, () => {
    const { bins, runs: pooled, singles } = DATA.sizes[group()];
    const runs = seedChosen === null ? pooled : singles.map((of) => of[seedChosen]);
    const rank = percentile() + 1;
    const shown = shownRuns().filter((run) => runs[run] && runs[run].some(Boolean));
    /** The interval of a bin's percentile, if it is known. */
    const ends = (bin, of = rank) => bin && bin[PERCENTILES.length + 1] && bin[PERCENTILES.length + of];
    const values = shown.flatMap((run) => runs[run]).filter(Boolean).flatMap((bin) => [bin[rank], ...(ends(bin) || [])]);
    const log = axis() === 0;
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const name = PERCENTILES[percentile()];
    shadedKey.hidden = !shown.some((run) => runs[run].some((bin) => ends(bin)));
    fig.keys.hidden = shadedKey.hidden;
    const mids = bins.map((bin) => Math.max(1, bin.mid));
    fillNumbers(fig, ["Sizes", ...shown.map((run) => RUNS[run].label)],
      bins.map((bin, index) => [range(bin), ...shown.map((run) => orDash((of) => plain(of[rank]), runs[run][index]))]));
    return {
      empty: "None of the flows chosen finished in the runs shown.",
      summary: `${name} of the slowdown in ${bins.length} bins of size, ${shown.length} runs.`,
      x: {
        label: "Flow size", log: true, tick: (value) => round(bytes(value)),
        domain: [mids[0] / 1.4, mids[mids.length - 1] * 1.4],
      },
      y: {
        label: `Slowdown, ${name}`, log, tick: short,
        domain: log ? [Math.min(1, least) * 0.95, Math.max(2, most * 1.15)] : [0, Math.max(2, most * 1.08)],
      },
      series: shown.map((run) => ({
        run, colour: colour(run), dash: dash(run), markers: true,
        points: bins.map((bin, index) => [mids[index], runs[run][index] ? runs[run][index][rank] : null]),
        band: bins.map((bin, index) => [mids[index], ...(ends(runs[run][index]) || [null, null])]),
      })),
      tip: (x) => {
        const distance = (mid) => Math.abs(Math.log(mid / x));
        const nearest = mids.reduce((best, mid, index) => (distance(mid) < distance(mids[best]) ? index : best), 0);
        return {
          at: mids[nearest], title: range(bins[nearest]), header: ["", "Flows", ...PERCENTILES],
          rows: shown.filter((run) => runs[run][nearest]).map((run) => {
            const bin = runs[run][nearest];
            const cells = PERCENTILES.map((_, of) => {
              const interval = ends(bin, of + 1);
              return `${plain(bin[of + 1])}${interval ? ` (${interval.map(plain).join(" to ")})` : ""}`;
            });
            return { mark: swatch(colour(run), dash(run)), cells: [RUNS[run].label, whole(bin[0]), ...cells] };
          }),
        };
      },
    };
  });
  const range = (bin) => (bin.from === bin.to ? bytes(bin.to) : `${bytes(bin.from)} to ${bytes(bin.to)}`);
  const percentile = choice(fig, "Percentile", PERCENTILES, () => plot.fresh(), 2);
  const group = choice(fig, "Flows", DATA.flowGroups, () => plot.fresh());
  const axis = choice(fig, "Scale", ["Log", "Linear"], () => plot.fresh());
  return fig;
}
