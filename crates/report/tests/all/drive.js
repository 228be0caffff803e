// Uses every control of the page as a person would, and writes down what came of it.
addEventListener("load", () => {
  const outcome = {};
  const plotOf = (id) => document.querySelector(`#${id} svg.plot`);
  const count = (id, what) => document.querySelectorAll(`#${id} svg.plot ${what}`).length;
  const ticks = (id) => [...document.querySelectorAll(`#${id} .ticks text`)].map((text) => text.textContent).join(" ");
  const point = (id, type, x, y) => {
    const plot = plotOf(id);
    const frame = plot.getBoundingClientRect();
    plot.setPointerCapture = () => {};
    plot.dispatchEvent(new PointerEvent(type, {
      bubbles: true, button: 0, pointerId: 1, clientX: frame.left + x * frame.width, clientY: frame.top + y * frame.height,
    }));
  };
  const key = (id, name) => plotOf(id).dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  const tip = document.getElementById("tip");

  outcome.lines = {};
  outcome.bad = [];
  const lines = ["fct", "sizes", "qct", "timeline"];
  for (const id of lines) outcome.lines[id] = count(id, "path.line");
  outcome.bars = count("drops", "rect.bar");
  outcome.rings = count("occupancy", "circle.ring");
  outcome.drops = count("timeline", "path.drops");

  // The selectors of the whole page: the table is written anew by the script, and comes back as the page had it.
  const control = (label) => document.querySelector(`#legend select[aria-label="${label}"]`);
  const choose = (label, value) => {
    const select = control(label);
    if (!select) return;
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };
  const look = (step) => {
    outcome.tables[step] = document.getElementById("compare").tBodies[0].innerText;
    const verdicts = document.getElementById("verdicts");
    outcome.verdicts[step] = verdicts.hidden ? "" : verdicts.innerText;
    outcome.notes[step] = document.querySelector("#comparison .note").textContent;
    const map = document.querySelector("#map svg.heat");
    outcome.maps[step] = map && [...map.outerHTML].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 1000003, 7);
    outcome.means[step] = [...document.querySelectorAll("#compare tbody tr")].map((row) => [...row.cells].slice(1).map((cell) => cell.firstChild.textContent.replace(/\u00a0/g, " ").trim()));
    outcome.differences[step] = [...document.querySelectorAll("#compare tbody tr")].map((row) => [...row.cells].slice(1).map((cell) => (cell.querySelector("small") || cell).textContent));
    outcome.abouts[step] = Object.fromEntries([...document.querySelectorAll("figure")].map((figure) => [figure.id, figure.querySelector(".about").textContent.trim()]));
    outcome.captions[step] = Object.fromEntries([...document.querySelectorAll("figure")].map((figure) => [figure.id, figure.querySelector(":scope > .note").textContent]));
    outcome.rows[step] = [...document.querySelectorAll("#difference svg.plot text.label")].map((text) => text.textContent);
  };
  Object.assign(outcome, { tables: {}, verdicts: {}, notes: {}, rows: {}, maps: {}, means: {}, differences: {}, abouts: {}, captions: {} });
  outcome.intervals = count("difference", "path.span");
  outcome.whiskers = count("drops", "path.whisker");
  // Bands, in every scale; a tip on them has their ends.
  const chosen = (id, label, value) => {
    const select = document.querySelector(`#${id} select[aria-label$="${label}"]`);
    select.value = value;
    select.dispatchEvent(new Event("change"));
  };
  const inside = (id, node) => {
    const [area, plot] = [node, plotOf(id)].map((of) => of.getBoundingClientRect());
    return area.width > 50 && area.left >= plot.left && area.right <= plot.right + 1;
  };
  const bandsOf = (id) => {
    const bands = [...document.querySelectorAll(`#${id} svg.plot path.interval`)];
    point(id, "pointermove", 0.6, 0.5);
    return {
      many: bands.length, wide: bands.filter((band) => inside(id, band)).length, tip: tip.hidden ? "" : tip.textContent,
      keys: [...document.querySelectorAll(`#${id} .band-key`)].filter((key) => !key.hidden && !key.parentNode.hidden).map((key) => key.textContent),
      colours: bands.map((band) => [band.style.fill, document.querySelector(`#${id} g[data-run="${band.dataset.run}"] path.line`).style.stroke]),
    };
  };
  outcome.bands = { fct: bandsOf("fct"), sizes: bandsOf("sizes"), qct: bandsOf("qct") };
  chosen("fct", "Scale", 1);
  outcome.bands.tail = bandsOf("fct");
  chosen("fct", "Scale", 0);
  look("written");
  choose("Seeds", 1);
  look("seed");
  outcome.bands.seed = bandsOf("fct");
  for (const node of document.querySelectorAll("figure svg.plot")) {
    if (/NaN|undefined/.test(node.outerHTML)) outcome.bad.push(`single seed: ${node.closest("figure").id}`);
  }
  choose("Seeds", 2);
  look("second");
  choose("Seeds", 0);
  choose("Baseline", 1);
  look("baseline");
  choose("Baseline", 0);
  look("again");

  // Every option of every selector.
  outcome.options = 0;
  for (const select of document.querySelectorAll("figure select")) {
    for (const option of select.options) {
      select.value = option.value;
      select.dispatchEvent(new Event("change"));
      outcome.options += 1;
      const drawn = select.closest("figure").querySelector("svg.plot, .empty");
      if (!drawn) outcome.bad.push(select.getAttribute("aria-label"));
    }
    select.value = 0;
    select.dispatchEvent(new Event("change"));
  }

  outcome.tips = {};
  outcome.zooms = {};
  for (const id of lines) {
    point(id, "pointermove", 0.5, 0.5);
    outcome.tips[id] = tip.hidden ? "" : tip.textContent;
    point(id, "pointerleave", 0.5, 0.5);
    const before = ticks(id);
    const drag = () => {
      point(id, "pointerdown", 0.4, 0.3);
      point(id, "pointermove", 0.6, 0.6);
      point(id, "pointerup", 0.6, 0.6);
    };
    drag();
    const zoomed = ticks(id) !== before && !document.querySelector(`#${id} figcaption button`).hidden;
    plotOf(id).dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    const reset = ticks(id) === before;
    key(id, "+");
    const byKey = ticks(id) !== before;
    key(id, "ArrowRight");
    key(id, "ArrowUp");
    key(id, "-");
    key(id, "0");
    outcome.zooms[id] = [zoomed, reset, byKey, ticks(id) === before];
  }
  document.querySelector("#drops rect.target").dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  outcome.tips.drops = tip.textContent;

  // A click on the map of queues: what is chosen is explained, with who held the buffer.
  const held = () => document.querySelector("#map .held");
  const inHeld = (what) => document.querySelectorAll(`#map .held ${what}`).length;
  outcome.map = {
    cells: count("map", "rect.dropped"), first: held().textContent, unknown: count("map", "path.unknown"),
    keys: [...document.querySelectorAll("#map .keys .key")].map((key) => key.textContent),
    lines: inHeld("svg.plot path.line"), dots: inHeld("svg.plot circle"), drop: (held().querySelector(".drop") || { textContent: "" }).textContent,
    names: [...document.querySelectorAll("#map svg.heat .label")].map((label) => label.textContent).filter(Boolean),
  };
  const red = [...document.querySelectorAll("#map rect.dropped")].pop().getBoundingClientRect();
  plotOf("map").dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: red.left + 1, clientY: red.bottom - 1 }));
  outcome.map.clicked = held().textContent;
  outcome.map.losers = (held().querySelector(".holders") || { textContent: "" }).textContent;
  // The keyboard follows the click.
  for (let times = 0; times < 3; times++) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  outcome.map.moved = held().querySelector("h4").textContent;
  for (let times = 0; times < 40; times++) document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  outcome.map.last = held().textContent;
  outcome.map.changes = document.querySelectorAll(".change").length;
  // The names of failures cover neither each other nor what is drawn.
  outcome.covered = [...document.querySelectorAll("svg.plot")].flatMap((plot) => {
    const names = [...plot.querySelectorAll(".change text")].map((text) => text.getBoundingClientRect());
    const axis = plot.querySelector(".axis").getBoundingClientRect();
    const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return names.filter((name, index) => name.bottom > axis.top + 2 || names.slice(index + 1).some((other) => over(name, other)));
  }).length;
  outcome.hurt = [count("hurt", "rect.bar"), document.querySelectorAll("#hurt tbody tr").length];
  document.querySelector("#hurt rect.target").dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  outcome.tips.hurt = tip.textContent;
  const leads = document.querySelector("#hurt rect.link");
  if (leads) leads.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  outcome.ownDrop = leads ? document.querySelector("#map .held .drop").textContent : "";
  outcome.worst = document.querySelector("#hurt .worst").textContent;
  outcome.lines.traced = count("traced", "path.line");
  outcome.collectives = count("collectives", "circle");
  outcome.network = [document.querySelectorAll(".network rect").length, document.querySelectorAll(".network .fails").length];

  // Numbers that cannot be drawn would show as NaN.
  for (const node of document.querySelectorAll("svg *")) {
    for (const { name, value } of node.attributes) {
      if (/NaN|Infinity|undefined/.test(value)) outcome.bad.push(`${node.tagName} ${name}=${value}`);
    }
  }

  // The legend hides a run, then shows all again.
  const chips = document.querySelectorAll("#legend button");
  const shown = count("fct", "path.line");
  chips[0].click();
  outcome.hidden = [shown - count("fct", "path.line"), chips[0].getAttribute("aria-pressed")];
  for (const chip of [...chips].slice(1, -1)) chip.click();
  outcome.allHidden = document.querySelectorAll("figure .empty").length;
  chips[chips.length - 1].click();
  outcome.again = count("fct", "path.line") === shown;

  // Sorting the comparison by its second column.
  document.querySelectorAll("#compare .sort")[1].click();
  outcome.sorted = [...document.querySelectorAll("#compare tbody tr")].map((row) => Number(row.cells[1].dataset.value));

  // Saving writes a drawing that stands alone; the file itself is not made here.
  HTMLAnchorElement.prototype.click = () => {};
  const write = XMLSerializer.prototype.serializeToString;
  XMLSerializer.prototype.serializeToString = function (node) {
    outcome.saved.push(write.call(this, node));
    return outcome.saved[outcome.saved.length - 1];
  };
  outcome.saved = [];
  for (const id of ["qct", "timeline", "drops"]) [...document.querySelectorAll(`#${id} figcaption button`)].pop().click();

  const labelled = [...document.querySelectorAll("svg.plot")].every((plot) => plot.getAttribute("aria-label"));
  outcome.labelled = labelled && [...document.querySelectorAll("select")].every((select) => select.getAttribute("aria-label"));
  outcome.errors = document.getElementById("errors").textContent;
  const note = document.createElement("pre");
  note.id = "outcome";
  note.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(outcome))));
  document.body.append(note);
});
