// The settings: a choice of policy, sliders for its alphas, the rates of the ports, and everything else that can be changed.

import { element, say, short } from "./format.js";

const form = document.getElementById("settings");
const [LOWEST, HIGHEST] = [-6, 10];
const HELD = 400;
let controls = new Map();
let shown = "";
let queues = 1;

form.addEventListener("submit", (event) => event.preventDefault());

// Asks for the settings in force and shows them.
export async function load(queues_per_port) {
  queues = queues_per_port;
  try {
    const answer = await fetch("/api/settings");
    if (answer.ok) show(await answer.json());
  } catch {
    // The page says already that the switch does not answer.
  }
}

// Controls are made anew when there are other keys, and else only given their values.
function show(settings) {
  const keys = settings.keys.map((key) => ({ ...key, values: key.form === "list" ? list(key.value) : null }));
  const kind = JSON.stringify([queues, keys.map((key) => [key.key, key.form, key.values?.length, key.interface])]);
  if (kind !== shown) {
    shown = kind;
    build(keys);
  }
  for (const key of keys) controls.get(key.key)?.show(key);
}

// A list of numbers, or null if it is a list of something else.
function list(text) {
  try {
    const values = JSON.parse(text);
    return values.every((value) => typeof value === "number") ? values : null;
  } catch {
    return null;
  }
}

function build(keys) {
  const focused = document.activeElement?.id;
  controls = new Map();
  const is_alpha = (key) => key.key.startsWith("policy.alpha") && (key.form === "number" || key.values);
  const group = (title, members, make) => {
    if (members.length === 0) return [];
    return [element("fieldset", {}, element("legend", {}, title), ...members.flatMap(make))];
  };
  const rest = keys.filter((key) => key.key !== "policy.kind" && !is_alpha(key) && key.form !== "rate");
  const others = element("details", {}, element("summary", {}, "Other settings"), element("div", {}, ...rest.map((key) => field(key, key.key))));
  form.replaceChildren(
    ...keys.filter((key) => key.key === "policy.kind").map(choice),
    ...keys.filter(is_alpha).map(alphas),
    ...group("Rates of the ports", keys.filter((key) => key.form === "rate"), (key) => field(key, key.interface || key.key)),
    ...(rest.length ? [others] : []),
  );
  if (focused) document.getElementById(focused)?.focus();
}

const id_of = (key, part = "") => `set-${key.replaceAll(".", "-")}${part}`;

// A place for what the switch says to a change.
function answer() {
  const node = element("p", { className: "answer", role: "status" });
  let timer = 0;
  const put = (text, name) => {
    clearTimeout(timer);
    node.className = `answer ${name}`;
    say(node, text);
  };
  return {
    node,
    refused: (text) => put(`\u2717 ${text}`, "refused"),
    taken() {
      put("\u2713 in force", "taken");
      timer = setTimeout(() => put("", ""), 1500);
    },
  };
}

// Sends changes one after the other; of those that wait only the last matters.
function sender(said, restore) {
  let [busy, next] = [false, null];
  return async function send(changes) {
    if (busy) {
      next = changes;
      return;
    }
    busy = true;
    try {
      const reply = await fetch("/api/settings", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(changes) });
      const body = await reply.json();
      busy = false;
      if (reply.ok) {
        said.taken();
        if (!next) show(body);
      } else {
        said.refused(sentence(body.error ?? `the switch answered ${reply.status}`));
        if (!next) restore();
      }
    } catch {
      busy = false;
      said.refused("the switch does not answer");
    }
    const waiting = next;
    next = null;
    if (waiting) await send(waiting);
  };
}

// What a person needs of an error message: not the argument, which stands beside it.
const sentence = (text) => text.replace(/^error: /, "").replace(/^--set ".*?": /, "").replace(/\n\s*help: /, "\n");

function choice(key) {
  const select = element("select", { id: id_of(key.key) }, ...key.choices.map((word) => element("option", { value: word }, word)));
  const said = answer();
  let last = key.value;
  const send = sender(said, () => (select.value = last));
  select.addEventListener("change", () => send({ [key.key]: select.value }));
  controls.set(key.key, {
    show(now) {
      last = now.value;
      select.value = now.value;
    },
  });
  return element("div", { className: "control wide" }, element("label", { for: select.id }, "Policy"), select, said.node);
}

function field(key, label) {
  const input = element("input", { type: "text", id: id_of(key.key), spellcheck: false });
  const said = answer();
  let last = key.value;
  const send = sender(said, () => {});
  input.addEventListener("change", () => input.value.trim() !== last && send({ [key.key]: input.value.trim() }));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") input.value = last;
  });
  controls.set(key.key, {
    show(now) {
      if (document.activeElement !== input || input.value === last) input.value = now.value;
      last = now.value;
    },
  });
  return element("div", { className: "control" }, element("label", { for: input.id }, label), input, said.node);
}

const place_of = (alpha) => Math.min(HIGHEST, Math.max(LOWEST, Math.log2(Math.max(alpha, 2 ** LOWEST))));

// Sliders for an alpha: one, or one for each queue number.
function alphas(key) {
  const said = answer();
  let values = key.values ?? [Number(key.value)];
  const rows = values.map((_, index) => slider(key, index, values.length > 1));
  const put = (refused) => rows.forEach((row, index) => row.put(values[index], refused));
  const send = sender(said, () => put(true));
  const change = (index, value) => {
    const wanted = values.map((old, at) => (at === index ? value : old));
    if (wanted.some(Number.isNaN)) return said.refused("give a number");
    return send({ [key.key]: key.values ? `[${wanted.join(", ")}]` : String(wanted[0]) });
  };
  rows.forEach((row, index) => row.listen((value) => change(index, value)));
  controls.set(key.key, {
    show(now) {
      values = now.values ?? [Number(now.value)];
      put(false);
    },
  });
  const title = key.key.replace("policy.", "").replaceAll("_", " ");
  const parts = [element("legend", {}, title), ...rows.map((row) => row.node), element("div", { className: "control" }, said.node)];
  if (queues > 1 && key.key === "policy.alpha") parts.push(split(key, () => values, send));
  return element("fieldset", {}, ...parts);
}

function split(key, values, send) {
  const box = element("input", { type: "checkbox", id: id_of(key.key, "-each"), checked: key.values !== null });
  box.addEventListener("change", () => {
    const first = values()[0];
    send({ [key.key]: box.checked ? `[${Array(queues).fill(first).join(", ")}]` : String(first) });
  });
  return element("label", { className: "check", for: box.id }, box, "one for each queue number");
}

function slider(key, index, many) {
  const label = many ? `queue ${index}` : key.key.split(".")[1].replaceAll("_", " ");
  const id = id_of(key.key, many ? `-${index}` : "");
  const range = element("input", { type: "range", id, min: LOWEST, max: HIGHEST, step: 0.25 });
  const box = element("input", { type: "text", id: `${id}-value`, inputMode: "decimal", "aria-label": `${label}, exactly` });
  let [last, moved] = [0, -Infinity];
  const put = (value, refused) => {
    last = value;
    // What is being moved is not moved back by answers to where it was a moment ago.
    if (!refused && performance.now() - moved < HELD) return;
    range.value = place_of(value);
    range.setAttribute("aria-valuetext", short(value));
    if (document.activeElement !== box) box.value = short(value);
  };
  const listen = (change) => {
    range.addEventListener("input", () => {
      moved = performance.now();
      const value = Number(short(2 ** Number(range.value)));
      box.value = short(value);
      range.setAttribute("aria-valuetext", short(value));
      change(value);
    });
    box.addEventListener("change", () => change(box.value.trim() === "" ? NaN : Number(box.value)));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") box.value = short(last);
    });
  };
  return { put, listen, node: element("div", { className: "control slider" }, element("label", { for: id, className: many ? "" : "unseen" }, label), range, box) };
}
