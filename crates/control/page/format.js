// Numbers and words as a person reads them.

function scaled(value, units) {
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export const bytes = (value) => scaled(value, ["B", "KB", "MB", "GB", "TB"]);
export const bits = (value) => scaled(value, ["b/s", "Kb/s", "Mb/s", "Gb/s", "Tb/s"]);
export const microseconds = (value) => scaled(value * 1000, ["ns", "us", "ms", "s"]);
export const count = (value) => value.toLocaleString("en");
export const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format;
export const packets = (value) => `${count(value)} ${value === 1 ? "packet" : "packets"}`;

export function seconds(value) {
  if (value < 60) return `${value.toFixed(1)} s`;
  const whole = Math.floor(value);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, index) => (index ? String(part).padStart(2, "0") : part)).join(":");
}

// A number with three digits, as short as it can be.
export const short = (value) => String(Number(Number(value).toPrecision(3)));

// What is behind the names of reasons.
export const WHY = {
  oversize: "larger than the whole buffer",
  rank: "its rank had no place",
  "queue-full": "its queue held all the packets it may",
  full: "the buffer was full",
  threshold: "its queue was above its threshold",
  "fair-drop": "its flow had more than its share",
  marking: "the marking rule drops what cannot be marked",
  watermark: "its queue was above the watermark",
  "pushed-out": "it was pushed out for another packet",
  expelled: "it was expelled from a queue above its threshold",
  "header-full": "cut to its header, for which there was no room",
  trimmed: "its header went on",
  returned: "its header went back to the sender",
};

// Makes an element: element("p", {className: "hint"}, "text", child).
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

// Sets a text where it differs: what stays the same costs the browser nothing.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export const color = (queue) => `var(--q${queue % 8})`;
