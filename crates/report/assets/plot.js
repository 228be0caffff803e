// Plots of lines over one axis each way, with zoom and tips; bars; ranges.

/** A mapping of values to positions and back. */
function scale([from, to], [start, end], log) {
  const map = log ? Math.log10 : (value) => value;
  const back = log ? (value) => 10 ** value : (value) => value;
  const a = map(from);
  const span = map(to) - a || 1;
  return {
    at: (value) => start + ((map(log ? Math.max(value, 1e-30) : value) - a) / span) * (end - start),
    value: (position) => back(a + ((position - start) / (end - start)) * span),
  };
}

/** Round values within a range, about so many. */
function linearTicks([from, to], about) {
  const rough = (to - from) / about;
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) ticks.push(k * step || 0);
  return ticks;
}

/** Powers of ten, with 2 and 5 between them if there is room; round values if there is less than a decade. */
function logTicks([from, to], about) {
  const decades = Math.log10(to / from);
  if (decades < 1) return linearTicks([from, to], about);
  const factors = decades <= about / 3 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / about));
  const ticks = [];
  for (let e = Math.floor(Math.log10(from)); e <= Math.log10(to) + 1e-9; e++) {
    for (const factor of factors) {
      const value = factor * 10 ** e;
      if (value >= from * 0.999 && value <= to * 1.001 && e % every === 0) ticks.push(value);
    }
  }
  return ticks;
}

/** The values between a logarithmic axis's powers of ten that have no label. */
function minorTicks([from, to], major) {
  const ticks = [];
  if (Math.log10(to / from) < 1) return ticks;
  for (let e = Math.floor(Math.log10(from)); e <= Math.log10(to); e++) {
    for (let factor = 1; factor < 10; factor++) {
      const value = factor * 10 ** e;
      if (value > from && value < to && !major.some((tick) => Math.abs(tick / value - 1) < 1e-6)) ticks.push(value);
    }
  }
  return ticks;
}

/** An axis that names its unit once: the label and how ticks are written. */
function unitAxis(label, units, [, to]) {
  const [size, unit] = unitFor(units, to);
  return { label: `${label} (${unit})`, tick: (value) => short(value / size) };
}

/** Draws a plot again when its place has become wider or narrower: in the next frame, for a drawing changes sizes itself. */
function followWidth(plot) {
  const { host } = plot.fig;
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (Math.abs(host.clientWidth - plot.width) > 1) plot.draw();
  })).observe(host);
}

/** Line plots. `view()` says what to draw: x, y, series, tip, numbers, empty. */
class LinePlot {
  constructor(fig, height, view) {
    this.fig = fig;
    this.height = height;
    this.view = view;
    this.zoom = null;
    this.reset = html("button", { type: "button", class: "tool", hidden: true, onclick: () => this.zoomTo(null) }, "Reset zoom");
    fig.node.querySelector("figcaption").insertBefore(this.reset, fig.node.querySelector("figcaption button"));
    redraws.push(() => this.draw());
    followWidth(this);
  }

  /** Draws with another selection, from which an old zoom would be of no use. */
  fresh() {
    this.zoom = null;
    this.draw();
  }

  zoomTo(zoom) {
    this.zoom = zoom;
    this.draw();
  }

  draw() {
    hideTip();
    const view = this.view();
    const { host } = this.fig;
    this.width = host.clientWidth;
    this.reset.hidden = !this.zoom;
    if (!view.series.length) {
      host.replaceChildren(html("p", { class: "empty" }, view.empty));
      return;
    }
    const keep = host.contains(document.activeElement);
    const width = Math.max(320, this.width);
    const { height } = this;
    const box = { left: 62, right: width - 14, top: 10, bottom: height - 44 };
    const domain = this.zoom || { x: view.x.domain, y: view.y.domain };
    const x = scale(domain.x, [box.left, box.right], view.x.log);
    const marks = view.x.label === "Time" ? changeMarks(x, box) : [];
    box.top += roomFor(marks);
    const y = scale(domain.y, [box.bottom, box.top], view.y.log);
    const drawing = svg(null, "svg", {
      class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-roledescription": "interactive plot",
      "aria-label": `${this.fig.title}. ${view.summary || ""} Keys: plus and minus zoom, arrows move, 0 resets.`,
    });
    const clip = svg(svg(drawing, "defs"), "clipPath", { id: `${this.fig.id}-clip` });
    svg(clip, "rect", { x: box.left, y: box.top - 1, width: box.right - box.left, height: box.bottom - box.top + 2 });
    this.axes(drawing, box, x, y, domain, view);
    const inside = svg(drawing, "g", { "clip-path": `url(#${this.fig.id}-clip)` });
    for (const series of view.series) this.bands(inside, series, x, y);
    for (const series of view.series) this.series(inside, series, x, y, box);
    drawChanges(drawing, marks, box);
    if (view.extra) view.extra(inside, x, y, box);
    const cross = svg(drawing, "path", { class: "cross", d: "" });
    const band = svg(drawing, "rect", { class: "band", width: 0, height: 0 });
    this.listen(drawing, { box, x, y, domain, view, cross, band, width });
    host.replaceChildren(drawing);
    if (keep) drawing.focus({ preventScroll: true });
  }

  axes(drawing, box, x, y, domain, view) {
    const xTicks = (view.x.log ? logTicks : linearTicks)(domain.x, (box.right - box.left) / 85);
    const yTicks = (view.y.log ? logTicks : linearTicks)(domain.y, (box.bottom - box.top) / 45);
    const xAxis = view.x.units ? unitAxis(view.x.label, view.x.units, domain.x) : view.x;
    const yAxis = view.y.units ? unitAxis(view.y.label, view.y.units, domain.y) : view.y;
    const grid = svg(drawing, "g", { class: "grid" });
    const words = svg(drawing, "g", { class: "ticks" });
    for (const value of xTicks) {
      const at = x.at(value).toFixed(1);
      svg(grid, "path", { d: `M${at} ${box.top}V${box.bottom}` });
      svg(words, "text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, xAxis.tick(value));
    }
    for (const value of yTicks) {
      const at = y.at(value).toFixed(1);
      svg(grid, "path", { d: `M${box.left} ${at}H${box.right}` });
      svg(words, "text", { x: box.left - 7, y: Number(at) + 4, "text-anchor": "end" }, yAxis.tick(value));
    }
    const minor = svg(drawing, "g", { class: "minor" });
    for (const value of view.x.log ? minorTicks(domain.x, xTicks) : []) {
      svg(minor, "path", { d: `M${x.at(value).toFixed(1)} ${box.bottom}v-4` });
    }
    for (const value of view.y.log ? minorTicks(domain.y, yTicks) : []) {
      svg(minor, "path", { d: `M${box.left} ${y.at(value).toFixed(1)}h4` });
    }
    svg(drawing, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    const middle = (box.top + box.bottom) / 2;
    const name = { class: "name", "text-anchor": "middle" };
    svg(words, "text", { ...name, x: (box.left + box.right) / 2, y: box.bottom + 36 }, xAxis.label);
    svg(words, "text", { ...name, x: 14, y: middle, transform: `rotate(-90 14 ${middle})` }, yAxis.label);
  }

  /** Translucent areas between two ends, below all lines. */
  bands(parent, series, x, y) {
    for (const piece of pieces(series.band || [])) {
      const ends = piece.map(([px, low, high]) => [x.at(px), y.at(low), y.at(high)].map((at) => at.toFixed(1)));
      const there = ends.map(([sx, , high], index) => (index === 0 ? `M${sx} ${high}` : series.step ? `H${sx}V${high}` : `L${sx} ${high}`));
      // Back along the lower ends: a step down comes before the way to it.
      const back = [...ends].reverse().map(([sx, low], index) => (series.step && index ? `V${low}H${sx}` : `L${sx} ${low}`));
      svg(parent, "path", {
        class: "interval", d: `${there.join("")}${back.join("")}Z`, style: `fill:${series.colour}`, "data-run": series.run,
      });
    }
  }

  series(parent, series, x, y, box) {
    const group = svg(parent, "g", { "data-run": series.run });
    const style = `stroke:${series.colour}`;
    for (const piece of pieces(series.points)) {
      let path = "";
      piece.forEach(([px, py], index) => {
        const [sx, sy] = [x.at(px).toFixed(1), y.at(py).toFixed(1)];
        path += index === 0 ? `M${sx} ${sy}` : series.step ? `H${sx}V${sy}` : `L${sx} ${sy}`;
      });
      if (series.area) {
        const first = x.at(piece[0][0]).toFixed(1);
        svg(group, "path", { class: "area", d: `${path}V${box.bottom + 2}H${first}Z`, style: `fill:${series.colour}` });
      }
      svg(group, "path", { class: `line ${series.width || ""}`, d: path, style, "stroke-dasharray": series.dash });
    }
    if (series.markers) {
      for (const [px, py] of series.points) {
        if (py === null) continue;
        svg(group, "circle", { cx: x.at(px).toFixed(1), cy: y.at(py).toFixed(1), r: 3.5, style: `fill:${series.colour}` });
      }
    }
  }

  /** The pointer's position in the drawing's own units. */
  position(event, drawing, width) {
    const frame = drawing.getBoundingClientRect();
    const unit = width / frame.width;
    return [(event.clientX - frame.left) * unit, (event.clientY - frame.top) * unit];
  }

  listen(drawing, state) {
    const { box, x, y, domain, view, cross, band, width } = state;
    const held = ([px, py]) => [Math.min(Math.max(px, box.left), box.right), Math.min(Math.max(py, box.top), box.bottom)];
    let start = null;
    /** A drag that is nearly level zooms along x only, one that is nearly upright along y only. */
    const dragged = (to) => {
      const [dx, dy] = [Math.abs(to[0] - start[0]), Math.abs(to[1] - start[1])];
      if (Math.max(dx, dy) < 8) return null;
      return {
        x: dx < 8 ? [box.left, box.right] : [Math.min(start[0], to[0]), Math.max(start[0], to[0])],
        y: dy < 16 ? [box.top, box.bottom] : [Math.min(start[1], to[1]), Math.max(start[1], to[1])],
      };
    };
    drawing.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = held(this.position(event, drawing, width));
      drawing.setPointerCapture(event.pointerId);
      hideTip();
    });
    drawing.addEventListener("pointermove", (event) => {
      const raw = this.position(event, drawing, width);
      const at = held(raw);
      if (start) {
        const area = dragged(at);
        band.setAttribute("x", area ? area.x[0] : 0);
        band.setAttribute("y", area ? area.y[0] : 0);
        band.setAttribute("width", area ? area.x[1] - area.x[0] : 0);
        band.setAttribute("height", area ? area.y[1] - area.y[0] : 0);
        return;
      }
      const outside = raw[0] < box.left || raw[0] > box.right || raw[1] < box.top || raw[1] > box.bottom;
      const tip = outside ? null : view.tip(x.value(at[0]), y.value(at[1]));
      if (!tip) {
        cross.setAttribute("d", "");
        hideTip();
        return;
      }
      const line = tip.at === undefined ? at[0] : x.at(tip.at);
      const level = tip.level ? `M${box.left} ${at[1].toFixed(1)}H${box.right}` : "";
      cross.setAttribute("d", `M${line.toFixed(1)} ${box.top}V${box.bottom}${level}`);
      showTip(event, tip.title, tip.header, tip.rows);
    });
    drawing.addEventListener("pointerup", (event) => {
      const area = start && dragged(held(this.position(event, drawing, width)));
      start = null;
      band.setAttribute("width", 0);
      if (area) this.zoomTo({ x: area.x.map(x.value), y: [...area.y].reverse().map(y.value) });
    });
    drawing.addEventListener("pointercancel", () => { start = null; band.setAttribute("width", 0); });
    drawing.addEventListener("pointerleave", () => { cross.setAttribute("d", ""); hideTip(); });
    drawing.addEventListener("dblclick", () => this.zoom && this.zoomTo(null));
    drawing.addEventListener("keydown", (event) => {
      const [span, rise] = [box.right - box.left, box.bottom - box.top];
      const moves = {
        "+": [0.25, -0.25, 0, 0], "=": [0.25, -0.25, 0, 0], "-": [-0.5, 0.5, 0, 0],
        ArrowLeft: [-0.2, -0.2, 0, 0], ArrowRight: [0.2, 0.2, 0, 0], ArrowUp: [0, 0, -0.2, -0.2], ArrowDown: [0, 0, 0.2, 0.2],
      };
      if (event.key === "0" || event.key === "Escape") {
        this.zoomTo(null);
      } else if (moves[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const [l, r, t, b] = moves[event.key];
        event.preventDefault();
        this.zoomTo({
          x: l || r ? [x.value(box.left + l * span), x.value(box.right + r * span)] : domain.x,
          y: t || b ? [y.value(box.bottom + b * rise), y.value(box.top + t * rise)] : domain.y,
        });
      }
    });
  }
}

/** A line's points, parted where a value is missing. */
function pieces(points) {
  const parts = [[]];
  for (const point of points) {
    if (point[1] === null) parts.push([]);
    else parts[parts.length - 1].push(point);
  }
  return parts.filter((part) => part.length);
}

/** Plots with one row per run or per place and run; `view()` gives rows, the range of x and how to draw and tell a row. */
class RowPlot {
  constructor(fig, view) {
    this.fig = fig;
    this.view = view;
    redraws.push(() => this.draw());
    followWidth(this);
  }

  draw() {
    hideTip();
    const view = this.view();
    const { host } = this.fig;
    this.width = host.clientWidth;
    if (!view.rows.length) {
      host.replaceChildren(html("p", { class: "empty" }, view.empty));
      return;
    }
    const width = Math.max(320, this.width);
    const named = view.rows.filter((row) => row.name && !row.heading);
    const longest = Math.max(...named.map((row) => row.name.length), 4);
    // Names that are too long for a column of their own stand above their rows.
    const above = 20 + longest * 6.9 > width * 0.34 ? 16 : 0;
    const left = above ? 12 : 20 + longest * 6.9;
    const highOf = (row) => row.height + (row.name && !row.heading ? above : 0);
    const total = view.rows.reduce((sum, row) => sum + highOf(row), 0);
    const box = { left, right: width - (view.margin || 16), top: 8, bottom: 8 + total };
    const height = box.bottom + 44;
    const drawing = svg(null, "svg", {
      class: "plot rows", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${this.fig.title}. ${view.summary || ""}`,
    });
    const x = scale(view.x.domain, [box.left, box.right], false);
    const axis = view.x.units ? unitAxis(view.x.label, view.x.units, view.x.domain) : view.x;
    const words = svg(drawing, "g", { class: "ticks" });
    const grid = svg(drawing, "g", { class: "grid" });
    for (const value of linearTicks(view.x.domain, (box.right - box.left) / 85)) {
      const at = x.at(value).toFixed(1);
      svg(grid, "path", { d: `M${at} ${box.top}V${box.bottom}` });
      svg(words, "text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, axis.tick(value));
    }
    svg(words, "text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, axis.label);
    let top = box.top;
    for (const row of view.rows) {
      const height = highOf(row);
      const middle = top + height - row.height / 2;
      const group = svg(drawing, "g", { "data-run": row.run });
      if (row.rule) svg(group, "path", { class: "rule", d: `M4 ${top}H${box.right}` });
      if (row.name) {
        const letters = Math.floor((above || row.heading ? width - 20 : left - 14) / 6.2);
        const name = row.name.length > letters ? `${row.name.slice(0, letters - 1)}\u2026` : row.name;
        const place = row.heading ? { x: 4, y: middle + 4 } : above ? { x: left, y: top + 13 } : { x: left - 8, y: middle + 4, "text-anchor": "end" };
        svg(group, "text", { class: row.heading ? "label heading" : "label", ...place }, name);
      }
      if (row.draw) row.draw(group, x, middle, row.height);
      if (row.tip) {
        const area = svg(group, "rect", { class: "target", x: 0, y: top, width, height });
        area.addEventListener("pointermove", (event) => showTip(event, ...row.tip()));
        area.addEventListener("pointerleave", hideTip);
        if (row.click) {
          for (const [name, value] of Object.entries({ class: "target link", role: "button", tabindex: 0, "aria-label": row.name })) area.setAttribute(name, value);
          area.addEventListener("click", row.click);
          area.addEventListener("keydown", (event) => event.key === "Enter" && row.click());
        }
      }
      top += height;
    }
    svg(drawing, "path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` });
    host.replaceChildren(drawing);
  }
}
