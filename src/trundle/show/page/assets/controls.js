// Sliders, typed amounts and switches that change a model's run, which a worker then simulates anew.

import { amountText, csvOf, hashOf, placeOf, readAmount, sliderSteps, turnedTo, valuesOf } from "./amounts.js";
import { element, linked } from "./data.js";
import { createLive } from "./live.js";
import { createRunner } from "./runner.js";

// How long a simulation may take before the page says that it is at work (ms): a shorter sign would only flicker.
const SPINNER_AFTER = 150;
// How long settings have to rest before the link and the screen reader's words follow them (ms).
const SETTLED_AFTER = 400;
// Where twice the step changes the states by more than this share of what they reach, a run isn't trusted.
const TRUSTED = 1e-3;
const GROUPS = { inputs: "Inputs", parameters: "Parameters", start: "Start", run: "Run" };
const POWERS = { 2: "²", 3: "³", 4: "⁴", "-1": "⁻¹", "-2": "⁻²", "-3": "⁻³" };

// The table of the equations' symbols has the numbers of the sliders; a symbol that parts share may come to have several.
function showInEquations(values) {
  for (const cell of document.querySelectorAll("#equations [data-keys]")) {
    cell.dataset.value ??= cell.textContent;
    const numbers = cell.dataset.keys.split(" ").map((key) => {
      const value = values.get(`parameters.${key.replace(/^-/, "")}`) ?? NaN;
      const given = Number.isNaN(value) ? Number(cell.dataset.value) : key.startsWith("-") ? -value : value;
      return String(Number(given.toPrecision(6)));
    });
    cell.textContent = [...new Set(numbers)].join(" or ");
  }
}

// Fills the page's panel with controls of its live model. Returns {set(changes), values, stop()}.
export function createControls(page) {
  const live = createLive(page.data.live);
  const { knobs } = live;
  const panel = document.getElementById("controls");
  const original = new Map(knobs.map((knob) => [knob.key, knob.value]));
  const values = new Map(original);
  const shown = { motion: null, first: null, before: null, good: original, comparing: false, frame: null };
  let held = false; // a slider is still under a finger
  let turning = false;

  // Once a frame: runs may come faster.
  const draw = () => {
    shown.frame ??= requestAnimationFrame(() => {
      shown.frame = null;
      page.setGhost(shown.comparing ? shown.first : shown.before);
      page.setMotion(shown.motion);
    });
  };
  const rows = new Map(knobs.map((knob) => [knob.key, createKnob(knob, live.units, (value) => set([[knob.key, value]]))]));
  const status = createStatus(panel, () => set(shown.good));
  const settle = delayed(SETTLED_AFTER, () => {
    turning = held;
    writeHash(hashOf(knobs, values));
    status.announce();
  });
  const runner = createRunner(live.startWorker, {
    onBusy: status.busy,
    onFailure: (problem, asked) => status.fail(problem, differences(knobs, asked, shown.good)),
    onResult: ({ result, problem }, asked, spent) => {
      const changed = differences(knobs, asked, shown.good);
      if (problem) return status.fail(problem, changed);
      shown.motion = result;
      if (asked === original) shown.first = result;
      status.tell(result, spent, changed);
      if (isTrusted(result)) shown.good = asked;
      draw();
    },
  });

  function set(changes) {
    if (!turning) shown.before = shown.motion; // as it was before this slider was touched
    turning = true;
    for (const [key, value] of changes) {
      values.set(key, value);
      rows.get(key).show(value);
    }
    showInEquations(values);
    panel.classList.toggle("is-changed", hashOf(knobs, values) !== "");
    runner.ask(live.requestOf(values), new Map(values));
    settle();
  }

  const compare = (on) => {
    shown.comparing = on;
    if (shown.motion) draw();
  };
  const save = () => shown.motion && download(`${page.data.title}.csv`, csvOf(shown.motion));
  panel.append(
    createHeader(panel, () => set(original)),
    status.element,
    ...Object.entries(GROUPS).map(([group, title]) => section(title, knobs, group, rows)),
    createFooter(compare, save),
  );
  panel.addEventListener("pointerdown", () => (held = true));
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (held = false) || settle());
  panel.hidden = false;
  const open = () => linked(document) ?? set([...original, ...valuesOf(readHash(), knobs)]);
  addEventListener("hashchange", open);
  runner.ask(live.requestOf(original), original);
  if (readHash()) open();
  return { set, values, stop: runner.stop };
}

function differences(knobs, now, before) {
  const changed = knobs.filter((knob) => now.get(knob.key) !== before.get(knob.key));
  return changed.map((knob) => `${knob.label} to ${amountText(before.get(knob.key))} ${knob.unit}`.trim());
}

function delayed(wait, act) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}

// One knob: {element, show(value)}; `onTurn(value)` gets what its slider or its text is set to.
function createKnob(knob, units, onTurn) {
  const id = `knob-${knob.key}`;
  const unit = knob.unit === "1" ? "" : knob.unit.replace(/\^(-?\d)/g, (all, power) => POWERS[power] ?? all);
  const original = `${amountText(knob.value)} ${unit}`.trim();
  const slider = element("input", { type: "range", min: 0, max: sliderSteps(knob), step: 1, "aria-label": knob.label });
  const typed = element("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  const reset = element("button", { type: "button", class: "knob-reset", title: `back to ${original}` }, "↺");
  const problem = element("p", { class: "knob-problem", id: `${id}-problem`, role: "alert", hidden: true });
  const label = element("label", { for: id, title: knob.meaning }, ...breakable(knob.label));
  const track = element("span", { class: "knob-slider" }, slider);
  const row = element("div", { class: "knob" }, label, track, typed, element("span", { class: "knob-unit" }, unit), reset, problem);
  track.style.setProperty("--original", placeOf(knob.value, knob) / sliderSteps(knob));
  reset.setAttribute("aria-label", `reset ${knob.label} to ${original}`);
  typed.setAttribute("aria-describedby", problem.id);

  const complain = (text) => {
    problem.textContent = text ?? "";
    problem.hidden = text === undefined;
    typed.setAttribute("aria-invalid", text !== undefined);
  };
  const show = (value) => {
    complain();
    slider.value = placeOf(value, knob);
    slider.setAttribute("aria-valuetext", `${amountText(value)} ${unit}`.trim());
    typed.value = String(value);
    reset.disabled = value === knob.value;
    row.classList.toggle("is-changed", value !== knob.value);
  };
  slider.addEventListener("input", () => onTurn(turnedTo(slider.valueAsNumber, knob)));
  typed.addEventListener("focus", () => typed.select());
  typed.addEventListener("change", () => {
    const { value, problem } = readAmount(typed.value, knob, units);
    if (problem) complain(problem);
    else onTurn(value);
  });
  reset.addEventListener("click", () => onTurn(knob.value));
  show(knob.value);
  return { element: row, show };
}

// A name that may go on in a new line behind its dots.
function breakable(name) {
  return name.split(/(?<=\.)/).flatMap((part) => [part, element("wbr")]);
}

function section(title, knobs, group, rows) {
  const inside = knobs.filter((knob) => knob.group === group).map((knob) => rows.get(knob.key).element);
  const summary = element("summary", {}, title);
  return element("details", { class: "knobs", open: true, hidden: inside.length === 0 }, summary, ...inside);
}

// The panel's title, which opens and closes it where it is a drawer, and the button that puts everything back.
function createHeader(panel, onReset) {
  const toggle = () => {
    const open = panel.classList.toggle("is-open");
    drawer.setAttribute("aria-expanded", open);
    if (open) document.getElementById("stage").scrollIntoView();
  };
  const drawer = element("button", { type: "button", class: "drawer-handle", "aria-expanded": "false" }, "Change it");
  const reset = element("button", { type: "button", class: "reset-all" }, "Reset all");
  drawer.addEventListener("click", toggle);
  reset.addEventListener("click", onReset);
  return element("div", { class: "controls-head" }, element("h2", {}, drawer), reset);
}

function createFooter(onCompare, onSave) {
  const against = element("input", { type: "checkbox" });
  const copy = element("button", { type: "button", hidden: !canLink() }, "Copy link");
  const csv = element("button", { type: "button" }, "Download CSV");
  against.addEventListener("change", () => onCompare(against.checked));
  csv.addEventListener("click", onSave);
  copy.addEventListener("click", async () => {
    copy.textContent = (await copyText(location.href)) ? "Link copied" : "Copy it from the address bar";
    setTimeout(() => (copy.textContent = "Copy link"), 2000);
  });
  const compare = element("label", { class: "compare" }, against, "Compare with the original");
  return element("div", { class: "controls-foot" }, compare, copy, csv);
}

// What says how a run came about, and what to do where it didn't: {element, busy, tell, fail, announce}.
function createStatus(panel, onUndo) {
  const words = element("p", { class: "status-words" });
  const undo = element("button", { type: "button", class: "status-undo", hidden: true }, "Undo");
  const spoken = element("p", { class: "sr-only", role: "status", "aria-live": "polite" });
  const box = element("div", { class: "status" }, words, undo, spoken);
  let spinner = 0;
  undo.addEventListener("click", onUndo);
  const say = (level, text, changed) => {
    words.textContent = changed.length && level !== "good" ? `${text} Change back ${changed.join(", ")}?` : text;
    box.dataset.level = level;
    undo.hidden = level === "good" || changed.length === 0;
  };
  const busy = (on) => {
    clearTimeout(spinner);
    panel.setAttribute("aria-busy", on);
    if (on) spinner = setTimeout(() => panel.classList.add("is-busy"), SPINNER_AFTER);
    else panel.classList.remove("is-busy");
  };
  const tell = (result, spent, changed) => {
    const how = `${methodInWords(result)} Done in ${amountText(spent, 2)} ms.`;
    if (isTrusted(result)) say("good", how, changed);
    else say("doubt", `Don't trust these numbers: they hang on the step. ${how}`, changed);
  };
  const fail = (problem, changed) => say("bad", `${problem} The last run that worked is drawn.`, changed);
  return { element: box, busy, tell, fail, announce: () => (spoken.textContent = words.textContent) };
}

function isTrusted({ halfStepError }) {
  return halfStepError <= TRUSTED;
}

function methodInWords({ method, steps, step, halfStepError }) {
  const change = `${amountText(halfStepError, 2)} of what they reach`;
  const length = step < 0.1 ? `${amountText(1000 * step, 3)} ms` : `${amountText(step, 3)} s`;
  return `${method}: ${steps.toLocaleString("en")} steps of ${length}. Twice the step would change the states by ${change}.`;
}

function download(name, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A page inside of a notebook has no address of its own.
function canLink() {
  return location.protocol !== "about:";
}

function readHash() {
  return canLink() ? location.hash : "";
}

// The address takes the setting without a step in the browser's history.
function writeHash(hash) {
  if (canLink()) history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
