// What all plots share: errors, data, numbers, colours, elements, the tip, which points are shown and which of their seeds.

window.addEventListener("error", (event) => {
  const box = document.getElementById("errors");
  box.hidden = false;
  box.append(`A plot could not be drawn: ${event.message} (line ${event.lineno}). `);
});

const DATA = JSON.parse(document.getElementById("data").textContent);
const RUNS = DATA.runs;
const SVG = document.getElementById("root").namespaceURI;

/** An HTML element with attributes and children; text is never read as HTML. */
function html(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** An SVG element with attributes, appended to a parent. */
function svg(parent, tag, attributes = {}, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) node.setAttribute(name, value);
  }
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

// Numbers.

/** Three significant digits, or all digits of the whole part. */
function plain(value) {
  const size = Math.abs(value);
  if (size >= 999.5) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

const whole = (value) => Math.round(value).toLocaleString("en-US");
const percent = (share) => `${(share * 100).toFixed(1)}%`;

const TIME_UNITS = [[1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]];
const BYTE_UNITS = [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]];
const unitFor = (units, value) => units.find(([size]) => Math.abs(value) >= size * 0.9995) || units[units.length - 1];
const inUnit = (units) => (value) => {
  if (value === 0) return `0 ${units.find(([size]) => size === 1)[1]}`;
  const [size, unit] = unitFor(units, value);
  return `${unit === "B" ? whole(value) : plain(value / size)} ${unit}`;
};
/** Times are in microseconds throughout. */
const time = inUnit(TIME_UNITS);
const bytes = inUnit(BYTE_UNITS);
/** 99.9 rather than 99.90, for percentiles and ticks. */
const short = (value) => String(Number(value.toPrecision(6)));
/** 4 MB rather than 4.00 MB. */
const round = (text) => text.replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
const orDash = (format, value) => (value === null || value === undefined ? "\u2013" : format(value));

/** A value that may become two lines before its interval, and nowhere else: as `compare.rs` writes it. */
const unbroken = (text) => text.replace(/ /g, "\u00a0").replace("\u00a0\u00b1", " \u00b1");

/** A mean and half its confidence interval, which may be null, in one unit; as `number.rs` writes it. */
function withHalf(kind, [mean, half]) {
  const [size, unit] = kind !== "time" ? [1, ""] : mean === 0 ? [1, "us"] : unitFor(TIME_UNITS, mean);
  const number = (value) => {
    if (kind === "share") return (value * 100).toFixed(1);
    return kind === "count" && half === null ? whole(value) : plain(value / size);
  };
  const end = { share: "%", time: ` ${unit}` }[kind] || "";
  return `${number(mean)}${half === null ? "" : ` \u00b1 ${number(half)}`}${end}`;
}

// Points, which the page calls runs: colour by position, then by dash; which are shown, and all seeds of them or one.

const [COLOURS, FILLS] = [7, 12];
const colour = (run) => `var(--c${run % COLOURS})`;
const dash = (run) => [undefined, "7 3", "2 3"][Math.floor(run / COLOURS) % 3];
const fill = (index) => `var(--f${index % FILLS})`;
const hiddenRuns = new Set();
/** The chosen one of the single seeds; null for all together. */
let seedChosen = null;
/** What is drawn of a point; null if it has no run with the chosen seed. */
const viewOf = (run) => (seedChosen === null ? RUNS[run] : RUNS[run].singles[seedChosen]);
const shownRuns = () => RUNS.map((_, run) => run).filter((run) => !hiddenRuns.has(run) && viewOf(run));
const redraws = [];
const redraw = () => redraws.forEach((draw) => draw());
/** All seeds, or the chosen one, in words; nothing where there is only one. */
const everySeed = () => (DATA.seeds > 1 ? `all ${DATA.seeds} seeds` : "");
const seedsTold = () => (seedChosen === null ? everySeed() : `seed ${DATA.singles[seedChosen]}`);

/** Fades everything that belongs to other runs; null shows all again. */
function emphasize(run) {
  for (const node of document.querySelectorAll("[data-run]")) {
    node.classList.toggle("faded", run !== null && Number(node.dataset.run) !== run);
  }
}

/** A short line in a run's colour and dash, or a patch of a fill. */
function swatch(stroke, dashes, filled) {
  const picture = svg(null, "svg", { class: "swatch", width: 22, height: 10, "aria-hidden": "true" });
  if (filled) svg(picture, "rect", { x: 4, y: 0, width: 12, height: 10, rx: 2, style: `fill:${stroke}` });
  else svg(picture, "path", { d: "M1 5H21", class: "line", style: `stroke:${stroke}`, "stroke-dasharray": dashes });
  return picture;
}

/** A patch of what bands look like. */
function bandSwatch() {
  const picture = swatch("var(--muted)", "", true);
  picture.firstChild.setAttribute("class", "interval");
  return picture;
}

function buildLegend() {
  const legend = document.getElementById("legend");
  if (RUNS.length < 2) {
    if (DATA.singles.length) legend.append(...pageControls());
    else legend.remove();
    return;
  }
  const buttons = RUNS.map((run, index) => html("button", {
    type: "button", class: "chip", "aria-pressed": "true", title: "Show or hide this run",
    onclick: () => toggle(index),
    onmouseenter: () => !hiddenRuns.has(index) && emphasize(index),
    onmouseleave: () => emphasize(null),
  }, swatch(colour(index), dash(index)), run.label));
  const sync = () => {
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(!hiddenRuns.has(index))));
    for (const row of document.querySelectorAll("#compare tr[data-run]")) {
      row.classList.toggle("off", hiddenRuns.has(Number(row.dataset.run)));
    }
    redraw();
  };
  const toggle = (index) => {
    if (!hiddenRuns.delete(index)) hiddenRuns.add(index);
    emphasize(null);
    sync();
  };
  const all = html("button", { type: "button", class: "chip plain", onclick: () => { hiddenRuns.clear(); sync(); } }, "Show all");
  legend.append(...buttons, all, ...pageControls());
  for (const row of document.querySelectorAll("#compare tr[data-run]")) {
    const index = Number(row.dataset.run);
    row.querySelector("th").prepend(swatch(colour(index), dash(index)));
    row.addEventListener("mouseenter", () => emphasize(index));
    row.addEventListener("mouseleave", () => emphasize(null));
  }
}

// The tip: a small table next to the pointer.

const tipBox = document.getElementById("tip");

/** Rows are arrays of cells; the first cell of a row may be preceded by a swatch. */
function showTip(event, title, header, rows) {
  const body = rows.map(({ mark, cells }) => html("tr", {}, ...cells.map((cell, index) =>
    html(index ? "td" : "th", {}, ...(index === 0 && mark ? [mark] : []), cell))));
  const head = header ? [html("tr", {}, ...header.map((cell) => html("th", {}, cell)))] : [];
  tipBox.replaceChildren(html("strong", {}, title), html("table", {}, ...head, ...body));
  tipBox.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tipBox;
  const right = event.clientX + 18 + width > document.documentElement.clientWidth;
  tipBox.style.left = `${Math.max(4, right ? event.clientX - 18 - width : event.clientX + 18)}px`;
  tipBox.style.top = `${Math.max(4, Math.min(event.clientY - height / 2, window.innerHeight - height - 4))}px`;
}

const hideTip = () => { tipBox.hidden = true; };

// Figures.

/** A figure with a title, selectors, a place for the drawing and its numbers as a table. */
function figure(id, title, hint) {
  const controls = html("div", { class: "controls" });
  const save = html("button", { type: "button", class: "tool", title: "Save this plot as an SVG file" }, "Save SVG");
  const keys = html("div", { class: "keys" });
  const host = html("div", { class: "host" });
  const about = html("small", { class: "about" });
  const note = html("p", { class: "note" }, hint);
  const numbers = html("div", { class: "scroll" });
  const details = html("details", { class: "numbers-of" }, html("summary", {}, "Numbers"), numbers);
  const node = html("figure", { id, "aria-labelledby": `${id}-title` },
    html("figcaption", {}, html("h3", { id: `${id}-title` }, title, about), save),
    controls, host, keys, note, details);
  const runKeys = () => shownRuns().map((run) => ({ name: RUNS[run].label, colour: colour(run), dash: dash(run) }));
  const fig = { id, title, node, controls, host, keys, note, numbers, savedKeys: runKeys, pooled: seedsTold };
  /** What is shown, behind the title: of which run and seed. */
  fig.about = (text) => { about.textContent = text ? `\u2002${text}` : ""; };
  redraws.push(() => fig.pooled && fig.about(fig.pooled()));
  save.addEventListener("click", () => saveDrawing(fig));
  return fig;
}

/** A labelled selector. Options are strings; the function returned tells which one is chosen. */
function choice(fig, label, options, change, start = 0) {
  const select = html("select", { "aria-label": `${fig.title}: ${label}` },
    ...options.map((option, index) => html("option", { value: index, selected: index === start }, option)));
  select.addEventListener("change", change);
  if (options.length > 1) fig.controls.append(html("label", {}, html("span", {}, label), select));
  const chosen = () => Number(select.value);
  chosen.set = (index) => { select.value = index; };
  return chosen;
}

function fillNumbers(fig, header, rows) {
  const isNumber = (cell) => /^[-+\u2212]?\d[^(]{0,30}$/.test(cell);
  const cells = (tag, row) => row.map((cell, index) => html(index ? tag : "th", { "data-name": header[index] }, index && isNumber(cell) ? unbroken(cell) : cell));
  fig.numbers.replaceChildren(html("table", { class: "numbers" },
    html("thead", {}, html("tr", {}, ...cells("th", header))),
    html("tbody", {}, ...rows.map((row) => html("tr", {}, ...cells("td", row))))));
}

/** Buttons that show and hide the parts of one plot. */
function keyButtons(keys, hidden, draw) {
  return keys.map(({ key, name, mark }) => {
    const button = html("button", { type: "button", class: "chip", "aria-pressed": "true", onclick: () => {
      if (!hidden.delete(key)) hidden.add(key);
      button.setAttribute("aria-pressed", String(!hidden.has(key)));
      draw();
    } }, mark, name);
    return button;
  });
}

/** Saves a drawing with its styles written into it, and its title, what was chosen and its keys above it. */
function saveDrawing(fig) {
  const drawing = fig.host.querySelector("svg");
  if (!drawing) return;
  const copy = drawing.cloneNode(true);
  const style = (from, to) => {
    const computed = getComputedStyle(from);
    for (const name of ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor"]) {
      to.style.setProperty(name, computed.getPropertyValue(name));
    }
    [...from.children].forEach((child, index) => style(child, to.children[index]));
  };
  style(drawing, copy);
  const root = getComputedStyle(document.documentElement);
  const plainColour = (value) => value.replace(/var\((--\w+)\)/, (_, name) => root.getPropertyValue(name));
  const chosen = [...fig.controls.querySelectorAll("label")].map((label) =>
    `${label.firstChild.textContent}: ${label.lastChild.selectedOptions[0].textContent}`).join("; ");
  const keys = fig.savedKeys();
  const { width, height } = drawing.viewBox.baseVal;
  const above = 48 + 16 * keys.length;
  copy.setAttribute("viewBox", `0 ${-above} ${width} ${height + above}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height + above);
  const panel = `fill:${plainColour("var(--panel)")}`;
  copy.prepend(svg(null, "rect", { x: 0, y: -above, width, height: height + above, style: panel }));
  const words = `font:13px sans-serif;fill:${plainColour("var(--ink)")}`;
  svg(copy, "text", { x: 10, y: 20 - above, style: `${words};font-weight:bold` }, fig.node.querySelector("h3").textContent);
  svg(copy, "text", { x: 10, y: 37 - above, style: `${words};font-size:11.5px` }, chosen);
  keys.forEach((key, index) => {
    const y = 55 - above + 16 * index;
    svg(copy, "path", {
      d: `M10 ${y - 4}h24`, "stroke-width": key.filled ? 10 : 2.5, stroke: plainColour(key.colour), "stroke-dasharray": key.dash,
    });
    svg(copy, "text", { x: 42, y, style: words }, key.name);
  });
  const file = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  const link = html("a", { href: URL.createObjectURL(file), download: `${fig.id}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
