// The comparison: which seeds and which baseline, the cells of its table, and differences as a plot.

/** The point that the others are compared with. */
let baseline = 0;

/** A selector for the whole page. */
function pageControl(label, options, change) {
  const select = html("select", { "aria-label": label }, ...options.map((option, index) => html("option", { value: index }, option)));
  select.addEventListener("change", () => change(Number(select.value)));
  return html("label", { class: "page-control" }, html("span", {}, label), select);
}

/** All seeds or one of them; the baseline. */
function pageControls() {
  const controls = [];
  if (DATA.singles.length) {
    const left = DATA.seeds - DATA.singles.length;
    const all = `All ${DATA.seeds}${left ? ` (the first ${DATA.singles.length} also one by one)` : ""}`;
    controls.push(pageControl("Seeds", [all, ...DATA.singles.map((seed) => `Seed ${seed}`)], (chosen) => {
      seedChosen = chosen === 0 ? null : chosen - 1;
      writeComparison();
      redraw();
    }));
  }
  const offered = DATA.measures.length ? DATA.measures[0].differences.length : 0;
  if (offered > 1) {
    controls.push(pageControl("Baseline", RUNS.slice(0, offered).map((run) => run.label), (chosen) => {
      baseline = chosen;
      writeComparison();
      redraw();
    }));
  }
  return controls;
}

/** The value of a measure and its difference from the baseline: of all seeds, or of the chosen one, which decides nothing. */
function compared(measure, run) {
  if (seedChosen === null) {
    const [mean, base] = [measure.means[run], measure.means[baseline]];
    const text = measure.texts[run];
    return { mean, base, text, difference: run === baseline ? null : measure.differences[baseline][run], best: measure.best === run };
  }
  const [value, of] = [measure.singles[run][seedChosen], measure.singles[baseline][seedChosen]];
  const both = run !== baseline && value !== null && of !== null;
  const single = (number) => (number === null ? null : [number, null]);
  const text = value === null ? null : withHalf(measure.kind, [value, null]);
  return { mean: single(value), base: single(of), text, difference: both ? [value - of, null, 0] : null, best: false };
}

/** A difference as it comes with the page; that of a single seed as `number.rs` would write it. */
function differenceText(measure, [mean, half, , known], base) {
  if (known) return known;
  const sign = mean > 0 ? "+" : mean < 0 ? "\u2212" : "";
  const { share } = measure;
  const factor = share ? 100 / base[0] : 1;
  const text = withHalf(share ? "plain" : measure.kind, [Math.abs(mean) * factor, half === null ? null : half * factor]);
  return `${sign}${text}${share ? "%" : ""}`;
}

const NO_DIFFERENCE = "no significant difference";
/** What a difference says, by the numbers of `measures.rs`. Higher and lower are significant, and neither good nor bad. */
const VERDICTS = { "-1": "better", 1: "worse", "-2": "finishes more", 2: "finishes less", "-3": "lower", 3: "higher" };
const SIDES = { "-1": "better", 1: "worse", "-2": "better", 2: "worse" };

/** The same cells as those of `compare.rs`. */
function writeCell(cell, measure, run) {
  const { mean, base, text: value, difference, best } = compared(measure, run);
  cell.className = mean === null ? "none" : best ? "best" : "";
  if (mean === null) {
    delete cell.dataset.value;
    cell.replaceChildren("\u2013");
    return;
  }
  cell.dataset.value = mean[0];
  const parts = [unbroken(value)];
  if (best) parts.push(" ", html("b", {}, "best"));
  if (difference) {
    const word = difference[1] === null ? undefined : VERDICTS[difference[2]];
    const text = unbroken(differenceText(measure, difference, base));
    parts.push(html("small", { class: word && SIDES[difference[2]] }, text, ...(word ? [` ${word}`] : [])));
  }
  cell.replaceChildren(...parts);
}

const seedNote = document.getElementById("seed-note");
const noteOfAll = seedNote ? seedNote.textContent : "";
const significanceNote = document.getElementById("significance-note");
const significanceOfAll = significanceNote ? [...significanceNote.childNodes] : [];

/** Which runs are better than the baseline, and in what: one line for each. */
function writeVerdicts() {
  const place = document.getElementById("verdicts");
  if (!place) return;
  place.hidden = !DATA.paired;
  if (seedChosen !== null) {
    place.replaceChildren(html("li", {}, `Seed ${DATA.singles[seedChosen]} alone does not tell which differences are significant: choose all seeds for that.`));
    return;
  }
  place.replaceChildren(...RUNS.map((_, run) => run).filter((run) => run !== baseline).map((run) => {
    const decided = (sides) => DATA.measures.filter(({ differences }) => {
      const of = differences[baseline] && differences[baseline][run];
      return of && of[1] !== null && sides.includes(of[2]);
    }).map(({ name }) => (/^[A-Z][a-z]/.test(name) ? name[0].toLowerCase() + name.slice(1) : name));
    const parts = [[[-1], "better"], [[-2], "finishes more"], [[1], "worse"], [[2], "finishes less"], [[3], "higher"], [[-3], "lower"]]
      .map(([sides, word]) => [word, decided(sides)]).filter(([, names]) => names.length)
      .map(([word, names]) => `${word} (${names.join(", ")})`);
    const text = parts.length ? `${parts.join("; ")}. ${NO_DIFFERENCE[0].toUpperCase()}${NO_DIFFERENCE.slice(1)} in the rest.`
      : `${NO_DIFFERENCE}: every 95% confidence interval includes zero.`;
    return html("li", {}, html("b", {}, RUNS[run].label), ` against ${RUNS[baseline].label}: ${text}`);
  }));
}

function writeComparison() {
  writeVerdicts();
  for (const row of document.querySelectorAll("#compare tbody tr[data-run]")) {
    DATA.measures.forEach((measure, index) => writeCell(row.cells[index + 1], measure, Number(row.dataset.run)));
  }
  document.querySelectorAll(".baseline").forEach((node) => { node.textContent = RUNS[baseline].label; });
  if (seedNote) seedNote.textContent = seedChosen === null ? noteOfAll : ` Seed ${DATA.singles[seedChosen]} alone.`;
  if (significanceNote) significanceNote.replaceChildren(...(seedChosen === null ? significanceOfAll : [", of this seed, which does not tell whether it is significant."]));
}

/** Differences to the baseline with their intervals. */
function differences() {
  if (!DATA.paired) return null;
  const fig = figure("difference", "Difference to the baseline",
    `Seed by seed, of ${everySeed()}, whatever seed is chosen above. The bar is the 95% confidence interval; where it crosses zero, there is no significant difference.`);
  fig.pooled = null;
  fig.about(everySeed());
  const offered = DATA.measures.filter((measure) => measure.differences.some((row) => row.some((of) => of && of[1] !== null)));
  const plot = new RowPlot(fig, () => {
    const measure = offered[which()];
    const base = measure.means[baseline];
    const { share } = measure;
    const scaled = (value) => (share ? (100 * value) / base[0] : value);
    const rows = RUNS.map((_, run) => run).filter((run) => run !== baseline && !hiddenRuns.has(run))
      .map((run) => ({ run, of: measure.differences[baseline][run] })).filter(({ of }) => of && of[1] !== null);
    // No measure is below zero: an interval that says so of a run is drawn as far as that.
    const ends = rows.flatMap(({ of: [mean, half] }) => [Math.max(mean - half, -base[0]), mean + half].map(scaled));
    const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    const pad = (most - least || 1) * 0.06;
    fillNumbers(fig, ["Run", "Mean", `Difference from ${RUNS[baseline].label}`, "Verdict"], rows.map(({ run, of }) => [RUNS[run].label,
      orDash(String, measure.texts[run]), differenceText(measure, of, base),
      VERDICTS[of[2]] || NO_DIFFERENCE]));
    return {
      empty: "No other runs are shown.",
      summary: rows.map(({ run, of }) => `${RUNS[run].label}: ${differenceText(measure, of, base)} ${VERDICTS[of[2]] || ""}.`).join(" "),
      x: {
        label: `${measure.name} against ${RUNS[baseline].label}`,
        domain: [least - pad, most + pad], ...(share || measure.kind !== "time" ? {} : { units: TIME_UNITS }),
        tick: (value) => (share ? `${short(value)}%` : short(value)),
      },
      rows: rows.map(({ run, of, of: [mean, half, verdict] }) => ({
        run, name: RUNS[run].label, height: Math.min(62, Math.max(24, 230 / rows.length)),
        draw: (group, x, middle, height) => {
          const style = `stroke:${colour(run)}`;
          const zero = x.at(0).toFixed(1);
          svg(group, "path", { class: "zero", d: `M${zero} ${middle - height / 2}v${height}` });
          const isCut = mean - half < -base[0];
          const [from, to] = [isCut ? -base[0] : mean - half, mean + half].map((value) => x.at(scaled(value)).toFixed(1));
          svg(group, "path", { class: verdict ? "span" : "span undecided", style, d: `M${from} ${middle}H${to}` });
          svg(group, "path", { class: "reach", style, d: `${isCut ? "" : `M${from} ${middle - 6}v12`}M${to} ${middle - 6}v12` });
          svg(group, "circle", { style: `fill:${colour(run)}`, cx: x.at(scaled(mean)).toFixed(1), cy: middle, r: 4.5 });
        },
        tip: () => [RUNS[run].label, null, [
          { cells: [`${measure.name}`, orDash(String, measure.texts[run])] },
          { cells: [RUNS[baseline].label, orDash(String, measure.texts[baseline])] },
          { cells: ["Difference", differenceText(measure, of, base)] },
          { cells: ["", VERDICTS[verdict] || NO_DIFFERENCE] },
        ]],
      })),
    };
  });
  const which = choice(fig, "Measure", offered.map((measure) => measure.name), () => plot.draw());
  return fig;
}
