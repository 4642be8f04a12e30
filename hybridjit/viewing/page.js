"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
for (const part of [...data.stages, ...data.steps]) part.lines = part.lines.map((k) => data.lines[k]);
const byId = (id) => document.getElementById(id);
const refused = data.steps.findIndex((step) => step.refusal);
const state = {
  stage: refused < 0 ? 0 : data.stages.findIndex((stage) => stage.title === "schedule"),
  step: refused < 0 ? data.steps.length - 1 : refused,
  line: null,
};

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function row(text, origin, number, className) {
  const made = element("span", "row" + (className ? " " + className : ""));
  made.append(element("span", "number", number === null ? "" : String(number)), text || " ");
  if (origin !== null) {
    made.classList.add("linked");
    made.dataset.origin = origin;
    made.addEventListener("mouseenter", () => light(origin));
  }
  return made;
}

function light(origin) {
  state.line = origin;
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (origin === null) return;
  for (const found of document.querySelectorAll(`[data-origin="${origin}"]`)) {
    found.classList.add("lit");
  }
  for (const panel of [byId("source"), byId("stage")]) {
    const first = panel.querySelector(".lit");
    if (first && !panel.matches(":hover")) first.scrollIntoView({ block: "nearest" });
  }
}

function showSource() {
  byId("source").replaceChildren(
    ...data.source.map(([number, text]) => row(text, number, number, "")),
  );
}

function isStepped() {
  return data.stages[state.stage].title === "schedule";
}

function showStage() {
  const stage = data.stages[state.stage];
  const stepper = byId("stepper");
  stepper.hidden = !isStepped();
  byId("stage-title").textContent = stage.title;
  showRefusal(isStepped() ? data.steps[state.step] : null);
  const panel = byId("stage");
  panel.replaceChildren(...(isStepped() ? stepRows() : stage.lines.map(
    ([text, origin], k) => row(text, origin, k + 1, ""),
  )));
  [...byId("tabs").children].forEach((tab, k) => tab.setAttribute("aria-selected", String(k === state.stage)));
  light(state.line);
}

function showRefusal(step) {
  const box = byId("refusal");
  box.hidden = !step || !step.refusal;
  if (box.hidden) return;
  box.replaceChildren(element("p", "", `refused: ${step.refusal}`));
  box.insertAdjacentHTML("beforeend", step.picture); // ours: an SVG whose texts are escaped
}

function stepRows() {
  const step = data.steps[state.step];
  byId("slider").max = data.steps.length - 1;
  byId("slider").value = state.step;
  byId("step").textContent = `${state.step} of ${data.steps.length - 1}: ${step.call}`;
  const made = new Set(step.changed);
  const rows = [];
  const gone = (k) => step.removed.filter(([place]) => place === k)
    .forEach(([, text]) => rows.push(row(text, null, null, "gone")));
  step.lines.forEach(([text, origin], k) => {
    gone(k);
    rows.push(row(text, origin, k + 1, made.has(k) ? "made" : ""));
  });
  gone(step.lines.length);
  return rows;
}

// What an iteration of a loop does at once: a cell for each lane, a row for each vector of a tile.
function drawing(loop) {
  const sizes = (loop.tile.match(/^[0-9 x]+/) || [""])[0].split(" x ").map(Number).filter(Boolean);
  const columns = Math.min(loop.tile ? sizes[sizes.length - 1] : loop.lanes, 32);
  const rows = Math.min(loop.tile ? sizes.slice(0, -1).reduce((a, b) => a * b, 1) : 1, 24);
  const copies = loop.on_threads ? 3 : 1;
  if (columns * rows * copies === 1) return null;
  const svg = shape("svg", {
    class: "drawing", role: "img", "aria-label": loop.runs,
    width: columns * 7 + copies * 4, height: rows * 7 + copies * 4,
  });
  for (let copy = copies - 1; copy >= 0; copy--) {
    for (let cell = 0; cell < rows * columns; cell++) {
      svg.append(shape("rect", {
        x: (cell % columns) * 7 + copy * 4, y: Math.floor(cell / columns) * 7 + copy * 4,
        width: 6, height: 6, class: copy ? "thread" : "lane",
      }));
    }
  }
  return svg;
}

function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const UNITS = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]];

function footprint(bytes) {
  const [factor, unit] = UNITS.find(([least]) => bytes >= least) || [1, "bytes"];
  const cache = data.caches.find(([, size]) => bytes <= size);
  return `a run touches ${Number((bytes / factor).toPrecision(3))} ${unit}, ${cache ? cache[0] : "more than caches hold"}`;
}

function showLoops() {
  byId("loops").replaceChildren(...data.loops.map((loop) => {
    const hasLanes = loop.lanes > 1 || loop.tile.includes("lanes");
    const made = element("li", loop.on_threads ? "threads" : hasLanes ? "lanes" : "");
    made.style.setProperty("--depth", loop.depth);
    made.append(element("b", "", loop.name), ` × ${loop.extent}`, element("small", "", loop.runs));
    const drawn = drawing(loop);
    if (drawn) made.append(drawn);
    if (loop.work !== null) made.append(element("small", "footprint", footprint(loop.work.footprint)));
    if (loop.line !== null && !loop.file) {
      made.dataset.origin = loop.line;
      made.addEventListener("mouseenter", () => light(loop.line));
    }
    return made;
  }));
  byId("remarks").textContent = data.remarks;
}

function choose(stage) {
  if (stage < 0 || stage >= data.stages.length) return;
  state.stage = stage;
  remember();
  showStage();
}

function goTo(step) {
  state.step = Math.max(0, Math.min(data.steps.length - 1, step));
  remember();
  showStage();
}

function remember() {
  history.replaceState(null, "", `#stage=${state.stage}&step=${state.step}`);
}

function moveLine(by) {
  const lines = data.source.map(([number]) => number);
  const place = lines.indexOf(state.line);
  light(lines[Math.max(0, Math.min(lines.length - 1, place < 0 ? 0 : place + by))]);
}

const KEYS = {
  ArrowRight: () => isStepped() && goTo(state.step + 1),
  ArrowLeft: () => isStepped() && goTo(state.step - 1),
  ArrowDown: () => moveLine(1),
  ArrowUp: () => moveLine(-1),
  Escape: () => light(null),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
  const action = KEYS[event.key] || (/^[1-9]$/.test(event.key) && (() => choose(Number(event.key) - 1)));
  if (!action) return;
  event.preventDefault();
  action();
}

function begin() {
  const given = new URLSearchParams(location.hash.slice(1));
  byId("title").textContent = document.title;
  data.stages.forEach((stage, k) => {
    const tab = element("button", "", stage.title);
    tab.setAttribute("role", "tab");
    tab.addEventListener("click", () => choose(k));
    byId("tabs").append(tab);
  });
  byId("slider").addEventListener("input", (event) => goTo(Number(event.target.value)));
  byId("back").addEventListener("click", () => goTo(state.step - 1));
  byId("forth").addEventListener("click", () => goTo(state.step + 1));
  document.addEventListener("keydown", onKey);
  if (given.has("stage")) state.stage = Math.min(Number(given.get("stage")) || 0, data.stages.length - 1);
  if (given.has("step")) state.step = Math.min(Number(given.get("step")) || 0, data.steps.length - 1);
  showSource();
  showLoops();
  showStage();
  if (given.has("line")) light(Number(given.get("line")));
}

begin();
