// A chart of a port: the lengths of its queues and their thresholds over the last seconds, and where packets were lost.

import { bytes } from "./format.js";
import { SPAN } from "./model.js";

const RIGHT = 30;
const LEFT = 50;
const BOTTOM = 18;
const LANE = 10;
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';

// The colours in force, as the canvas needs them.
export function colors() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), muted: of("--muted"), grid: of("--grid"), drop: of("--drop"), panel: of("--panel"), queues: [...Array(8).keys()].map((q) => of(`--q${q}`)) };
}

// A round number at or above a value, and the step of its grid.
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const [top, steps] = [[1, 4], [1.5, 3], [2, 4], [3, 3], [4, 4], [5, 5], [6, 3], [8, 4], [10, 5]].find(([digit]) => digit * power >= value * 0.9999);
  return [top * power, (top * power) / steps];
}

export class Chart {
  constructor(canvas, port) {
    this.canvas = canvas;
    this.port = port;
    this.context = canvas.getContext("2d");
    this.top = 0;
    this.visible = true;
    this.drawn = 0;
  }

  draw(model, time, scale, palette) {
    const series = model.series[this.port];
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!series || width === 0) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const context = this.context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    const lanes = Math.min(series.length, 8);
    const box = { left: LEFT, right: width - RIGHT, top: 14 + lanes * LANE, bottom: height - BOTTOM };
    const first = series.map((of) => firstWithin(of.time, time - SPAN));
    const [top, step] = this.scale(model, series, first, scale);
    const x = (at) => box.right - ((time - at) / SPAN) * (box.right - box.left);
    const y = (value) => box.bottom - (value / top) * (box.bottom - box.top);
    this.grid(box, top, step, y, palette);
    context.save();
    context.beginPath();
    context.rect(box.left, box.top - 1, box.right - box.left, box.bottom - box.top + 2);
    context.clip();
    series.forEach((of, q) => area(context, of, first[q], x, y, palette.queues[q % 8]));
    series.forEach((of, q) => limit(context, of, first[q], x, y, q, palette, box.top));
    series.forEach((of, q) => line(context, of, first[q], x, y, palette.queues[q % 8]));
    context.restore();
    this.names(series, box, y, palette);
    this.marks(model, time, box, x, lanes, palette);
    this.drawn += 1;
  }

  // The top of the chart follows what it shows, slowly downwards.
  scale(model, series, first, scale) {
    const buffer = model.now.buffer_bytes;
    if (scale === "buffer") return ceiling(buffer);
    let [longest, lowest] = [0, Infinity];
    series.forEach((of, q) => {
      for (let i = first[q]; i < of.time.length; i += 1) {
        longest = Math.max(longest, of.high[i], of.length[i]);
        if (of.limit[i] !== null) lowest = Math.min(lowest, of.limit[i]);
      }
    });
    const limits = series.map((of) => of.limit.at(-1)).filter((limit) => limit !== null && limit !== undefined);
    const wanted = Math.max(longest * 1.12, Math.min(Math.max(0, ...limits), buffer) * 1.05, lowest < buffer ? lowest : 0, 3000);
    this.top = wanted > this.top ? wanted : this.top + (wanted - this.top) * 0.03;
    return ceiling(Math.min(this.top, buffer * 1.05));
  }

  grid(box, top, step, y, palette) {
    const context = this.context;
    context.strokeStyle = palette.grid;
    context.fillStyle = palette.muted;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let value = 0; value <= top * 1.001; value += step) {
      const at = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(box.left, at);
      context.lineTo(box.right, at);
      context.stroke();
      context.fillText(value === 0 ? "0" : bytes(value), box.left - 6, at);
    }
    context.textBaseline = "alphabetic";
    for (let ago = SPAN; ago >= 0; ago -= 10) {
      context.textAlign = ago === SPAN ? "left" : "center";
      context.fillText(ago ? `-${ago} s` : "now", box.right - (ago / SPAN) * (box.right - box.left), box.bottom + 14);
    }
  }

  // The name of each queue at the end of its line, apart from the others.
  names(series, box, y, palette) {
    const context = this.context;
    const ends = series.map((of, q) => ({ q, at: Math.max(box.top, y(of.length.at(-1) ?? 0)) })).sort((a, b) => b.at - a.at);
    let lowest = box.bottom + 2;
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const end of ends) {
      const at = Math.min(end.at, lowest);
      lowest = at - 11;
      context.fillStyle = palette.queues[end.q % 8];
      context.fillText(`q${end.q}`, box.right + 5, at);
    }
  }

  // A lane for each queue above the plot: triangles where packets were dropped, diamonds where they were cut or sent back.
  marks(model, time, box, x, lanes, palette) {
    const context = this.context;
    const used = Array(lanes).fill(false);
    const paths = new Map();
    for (const { time: when, queue, fate } of model.marks[this.port] ?? []) {
      if (when < time - SPAN || when > time) continue;
      const [lane, left] = [queue % lanes, Math.round(x(when))];
      const at = 4 + lane * LANE;
      used[lane] = true;
      const color = fate === "dropped" ? palette.drop : palette.queues[queue % 8];
      if (!paths.has(color)) paths.set(color, new Path2D());
      const path = paths.get(color);
      if (fate === "dropped") {
        path.moveTo(left - 3, at);
        path.lineTo(left + 3, at);
      } else {
        path.moveTo(left, at);
        path.lineTo(left + 3, at + 3);
      }
      path.lineTo(left, at + 6);
      if (fate !== "dropped") path.lineTo(left - 3, at + 3);
    }
    for (const [color, path] of paths) {
      context.fillStyle = color;
      context.fill(path);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = palette.muted;
    context.font = FONT.replace("11px", "9px");
    used.forEach((is_used, lane) => is_used && context.fillText(`lost q${lane}`, box.left - 6, 7 + lane * LANE));
  }
}

// The index of the last point at or before a time, so that lines begin at the edge.
function firstWithin(times, start) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < start) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

// Draws a line through values, with breaks where there are none. Points on a level with those beside them are left out: they cost time
// and show nothing.
function trace(context, of, first, x, y, values, highest = -Infinity) {
  let [last, skipped, drawing] = [0, null, false];
  for (let i = first; i < of.time.length; i += 1) {
    if (values[i] === null) {
      if (skipped) context.lineTo(...skipped);
      [skipped, drawing] = [null, false];
      continue;
    }
    const point = [x(of.time[i]), Math.max(highest, y(values[i]))];
    if (drawing && Math.abs(point[1] - last) < 0.5) {
      skipped = point;
      continue;
    }
    if (skipped) context.lineTo(...skipped);
    if (drawing) context.lineTo(...point);
    else context.moveTo(...point);
    [last, skipped, drawing] = [point[1], null, true];
  }
  if (skipped) context.lineTo(...skipped);
}

function area(context, of, first, x, y, color) {
  if (first >= of.time.length) return;
  context.beginPath();
  trace(context, of, first, x, y, of.high);
  context.lineTo(x(of.time.at(-1)), y(0));
  context.lineTo(x(of.time[first]), y(0));
  context.globalAlpha = 0.13;
  context.fillStyle = color;
  context.fill();
  context.globalAlpha = 1;
}

function line(context, of, first, x, y, color) {
  context.beginPath();
  trace(context, of, first, x, y, of.length);
  context.lineWidth = 1.8;
  context.lineJoin = "bevel";
  context.strokeStyle = color;
  context.stroke();
}

// A threshold that is above the chart is drawn at its top.
function limit(context, of, first, x, y, q, palette, top) {
  context.beginPath();
  trace(context, of, first, x, y, of.limit, top);
  context.lineWidth = 1.3;
  context.setLineDash([4, 8]);
  // Thresholds that are the same are seen beside each other.
  context.lineDashOffset = 6 * q;
  context.strokeStyle = palette.queues[q % 8];
  context.stroke();
  context.setLineDash([]);
}
