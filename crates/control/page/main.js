// The page: it listens to the switch, and draws what it hears.

import * as buffer from "./buffer.js";
import { colors } from "./charts.js";
import * as controls from "./controls.js";
import * as counters from "./counters.js";
import { bytes, count, element, microseconds, say, seconds } from "./format.js";
import * as losses from "./losses.js";
import { Model, shape } from "./model.js";
import * as ports from "./ports.js";

const TEXT_EVERY = 0.25;
const SILENCE = 3;
const model = new Model();
const still = matchMedia("(prefers-reduced-motion: reduce)");
const [status, pause, scale, facts, policy] = ["status", "pause", "scale", "facts", "policy"].map((id) => document.getElementById(id));
const clock = () => performance.now() / 1000;

let built = "";
let changes = -1;
let palette = colors();
let paused = false;
let heard = 0;
let told = 0;
let drawn = 0;
let fresh = false;
let rest = 0;

function fail(message) {
  const place = document.getElementById("errors");
  place.hidden = false;
  say(place, `The page has an error: ${message}`);
}
addEventListener("error", (event) => fail(event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (palette = colors()));

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", paused);
  say(pause, paused ? "Go on" : "Pause");
});

const source = new EventSource("/api/events");
source.onmessage = (event) => {
  const snapshot = JSON.parse(event.data);
  model.push(snapshot, clock());
  heard = clock();
  fresh = true;
  if (shape(snapshot) !== built) build(snapshot);
  if (snapshot.changes !== changes) {
    changes = snapshot.changes;
    controls.load(Math.max(...snapshot.ports.map((port) => port.queues.length)));
  }
};

function build(snapshot) {
  built = shape(snapshot);
  for (const part of [buffer, ports, counters]) part.build(snapshot);
  losses.clear();
}

function fact(name, value, bad = false) {
  return element("div", { className: bad ? "bad" : "" }, element("dt", {}, name), element("dd", {}, value));
}

function show_facts(now) {
  const { stalls, cost, frame_buffers } = now;
  const sum = (object) => Object.values(object).reduce((total, value) => total + value, 0);
  const outside = now.ports.reduce((total, port) => total + sum(port.outside), 0);
  const unforwarded = sum(now.unforwarded);
  const each = (ns) => (cost.packets ? `${Math.round(ns / cost.packets)} ns` : "none yet");
  const longest = stalls.count ? ` (longest ${microseconds(stalls.longest_us)})` : "";
  facts.replaceChildren(
    fact("up", seconds(now.uptime_s)),
    fact("stalls", `${count(stalls.count)}${longest}`, stalls.count > 0),
    fact("lost outside", count(outside), outside > 0),
    fact("not forwarded", count(unforwarded)),
    fact("per packet", `core ${each(cost.core_ns)}, I/O ${each(cost.io_ns)}`),
    fact("frames free", `${count(frame_buffers.free)} of ${count(frame_buffers.all)}`),
  );
  say(policy, now.policy);
  document.title = `${now.policy}, ${bytes(now.used_bytes)} used: Forebay`;
}

function show_state(time) {
  const silent = time - heard > SILENCE;
  const state = silent ? (heard ? "lost" : "waiting") : paused ? "paused" : "live";
  status.dataset.state = state;
  say(status, { lost: "the switch does not answer; trying again", waiting: "connecting", paused: "paused", live: "live" }[state]);
}

function frame() {
  const time = clock();
  if (time - told >= TEXT_EVERY) {
    told = time;
    show_state(time);
    if (model.now && !paused) {
      show_facts(model.now);
      ports.update(model.now, model);
      counters.update(model.now);
      losses.add(model.take());
    }
  }
  if (model.now && !paused && time - drawn >= (still.matches ? 1 : rest)) {
    drawn = time;
    if (fresh) buffer.update(model.now);
    fresh = false;
    const at = model.time(time);
    for (const chart of ports.charts()) if (chart.visible) chart.draw(model, at, scale.value, palette);
    // Where drawing takes long, at least as much time is left for everything else; up to 8 ms hold 60 pictures a second.
    rest = 2 * (clock() - time);
  }
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
