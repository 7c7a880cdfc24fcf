// Panels of curves over time, linked to the clock: a click or a drag in a panel moves the time.

import { element, number, ticks, tickText, valueAt } from "./data.js";

const LEFT = 62; // pixels for the numbers left of a panel
const RIGHT = 10;
const TOP = 8;
const BELOW = 24;
const COVERED = 0.005; // of a panel's range: curves nearer than this hide each other
const NONE = [[], []]; // no points between samples
const ALL_OPEN = 4; // panels that a page shows at once; of more it shows the first of a heading
const OPEN = new Set(["states", "inputs"]);
const TITLES = { states: "States", inputs: "Inputs", contacts: "Contacts", loads: "Loads", checks: "Checks" };

// All panels of a page, in sections: {element, draw(), move(time, moment), resize()}. `shown()` gives the motions to
// draw, [{name, motion, ghost}], the first one's values beside the names.
export function createPlots(plots, units, theme, { shown, onSeek }) {
  const few = plots.filter(({ section }) => OPEN.has(section)).length <= ALL_OPEN;
  const panels = plots.map((plot) => createPanel(plot, units, theme, { shown, onSeek, open: few || plot.title !== "" }));
  const sections = new Map();
  plots.forEach(({ section }, k) => {
    if (!sections.has(section)) {
      const title = TITLES[section] ?? section;
      const within = plots.filter((each) => each.section === section).map((each) => each.title || each.label);
      const made = element("details", { class: "plots", id: `plots-${section}`, open: OPEN.has(section) }, summaryOf(title, [...new Set(within)]));
      made.addEventListener("toggle", () => made.open && draw());
      sections.set(section, made);
    }
    sections.get(section).append(panels[k].element);
  });
  const draw = () => panels.forEach((panel) => panel.draw());
  const move = (moment, numbers) => panels.forEach((panel) => panel.move(moment, numbers));
  return { element: element("div", {}, ...sections.values()), draw, move };
}

// A line that opens and closes what is below; folded it says what it holds.
function summaryOf(head, holds) {
  return element("summary", {}, head, " ", element("span", { class: "holds" }, holds.join(", ")));
}

function createPanel(plot, units, theme, { shown, onSeek, open }) {
  const canvas = element("canvas", { role: "img" });
  const cursor = element("div", { class: "cursor" });
  const area = element("div", { class: "plot" }, canvas, cursor);
  const hidden = new Set();
  const curves = Object.entries(plot.curves).map(([label, name], index) => ({ label, name, index }));
  const legend = curves.map((curve) => legendEntry(curve, units, plot, hidden, () => panel.draw()));
  const head = element("span", { class: "caption" }, element("b", {}, plot.title), plot.title ? " " : "", plot.label);
  const caption = summaryOf(head, curves.map(({ label }) => label));
  const figure = element("details", { class: "panel", open }, caption, area, element("ul", { class: "legend" }, ...legend.map((each) => each.element)));
  figure.addEventListener("toggle", () => figure.open && panel.draw());
  figure.style.setProperty("--letters", Math.max(...curves.map(({ label }) => label.length)));
  const panel = { element: figure, range: null, drawn: false };

  panel.draw = () => {
    const { width, height } = area.getBoundingClientRect();
    panel.drawn = width > 0;
    if (!panel.drawn) return; // in a section that is closed
    const motions = shown().filter(({ motion }) => motion);
    const visible = curves.filter(({ name }) => !hidden.has(name));
    panel.range = drawPanel(canvas, { width, height, plot, theme, motions, visible });
    canvas.setAttribute("aria-label", spoken(plot, visible, motions[0]?.motion, units));
    legend.forEach(({ paint }, k) => paint(theme, k));
  };
  panel.move = (moment, numbers) => {
    if (!panel.drawn || !panel.range) return;
    const { from, to, width } = panel.range;
    const share = to > from ? (moment.time - from) / (to - from) : 0;
    cursor.style.transform = `translateX(${LEFT + share * (width - LEFT - RIGHT)}px)`;
    if (!numbers) return;
    const values = shown()[0]?.motion?.values;
    legend.forEach(({ value }, k) => {
      const array = values?.[curves[k].name];
      const text = array ? panel.range.text(valueAt(array, moment)) : "–";
      if (value.textContent !== text) value.textContent = text;
    });
  };
  scrubbing(area, (x, width) => {
    if (!panel.range) return;
    const { from, to } = panel.range;
    onSeek(from + ((x - LEFT) / (width - LEFT - RIGHT)) * (to - from));
  });
  return panel;
}

function legendEntry({ label, name, index }, units, plot, hidden, redraw) {
  const swatch = element("canvas", { class: "swatch", width: 44, height: 20, "aria-hidden": "true" });
  const value = element("output", {});
  const button = element("button", { type: "button", "aria-pressed": "true", title: "show or hide" }, swatch, element("bdi", {}, label));
  button.addEventListener("click", () => {
    const shows = !hidden.delete(name);
    if (shows) hidden.add(name);
    button.setAttribute("aria-pressed", String(!shows));
    redraw();
  });
  const paint = (theme) => {
    const context = swatch.getContext("2d");
    context.clearRect(0, 0, 44, 20);
    style(context, theme, index, 0, 3);
    context.setLineDash(context.getLineDash().map((each) => 2 * each));
    context.beginPath();
    context.moveTo(3, 10);
    context.lineTo(41, 10);
    context.stroke();
  };
  const unit = plot.log ? units[name] : "";
  return { element: element("li", {}, button, value, unit ? element("span", {}, unit) : ""), value, paint };
}

// Colour by curve, dashes by run, and by round through the colours.
function style(context, theme, index, run, width) {
  context.strokeStyle = theme.curves[index % theme.curves.length];
  context.lineWidth = run ? width * 0.8 : width;
  const round = run || Math.floor(index / theme.curves.length);
  context.setLineDash([[], [7, 4], [2, 3], [9, 3, 2, 3]][round % 4]);
}

function drawPanel(canvas, { width, height, plot, theme, motions, visible }) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!motions.length) return null;
  const lines = linesOf(plot, motions, visible);
  const [low, high] = plot.log ? decades(lines) : limits(plot, lines);
  const from = Math.min(...motions.map(({ motion }) => motion.time[0]));
  const to = Math.max(...motions.map(({ motion }) => motion.time[motion.time.length - 1]));
  const frame = { context, theme, width, height, low, high, from, to, log: plot.log };
  frame.x = (t) => LEFT + ((t - from) / (to - from || 1)) * (width - LEFT - RIGHT);
  frame.y = (v) => height - BELOW - ((v - low) / (high - low)) * (height - TOP - BELOW);
  drawScales(frame);
  context.save();
  context.beginPath();
  context.rect(LEFT, 0, width - LEFT - RIGHT, height - BELOW + 2);
  context.clip();
  const drawn = [];
  for (const line of lines) drawLine(frame, line, drawn);
  context.restore();
  // A value with the decimals that its panel shows, so that digits below each other mean the same and rounding is zero.
  const step = 10 ** Math.floor(Math.log10((high - low) / 2000));
  const text = (value) => (plot.log || !Number.isFinite(value) ? number(value, 3) : tickText(value, step));
  return { from, to, width, text };
}

// The curves of all motions as {time, values, between, index, run, ghost}, ghosts first.
function linesOf(plot, motions, visible) {
  const found = [];
  motions.forEach(({ motion, ghost }, run) => {
    for (const { name, index } of visible) {
      const line = { index, run, time: motion.time, values: motion.values[name], between: NONE };
      if (ghost?.values[name]) found.unshift({ ...line, time: ghost.time, values: ghost.values[name], ghost: true });
      if (line.values) found.push({ ...line, between: plot.log ? NONE : betweenOf(motion, name) });
    }
  });
  if (!plot.log) return found;
  return found.map((line) => ({ ...line, values: line.values.map((each) => (each === 0 ? NaN : Math.log10(Math.abs(each)))) }));
}

// Times and values that a curve runs through between its samples, where they are known.
function betweenOf(motion, name) {
  return motion?.between?.[name] ?? NONE;
}

function extremes(lines) {
  let [low, high] = [Infinity, -Infinity];
  for (const { values, between } of lines) {
    for (const each of [...values, ...between[1]]) {
      if (each < low && each !== -Infinity) low = each;
      if (each > high && each !== Infinity) high = each;
    }
  }
  return low <= high ? [low, high] : [0, 0];
}

// What is in sight. Values that hardly change are flat lines, not magnified rounding.
function limits({ least }, lines) {
  const [low, high] = extremes(lines);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const enough = Math.max(least, 1e-6 * size);
  const half = high - low > enough ? 0.54 * (high - low) : Math.max(0.1 * size, 10 * enough) || 1;
  return [(low + high) / 2 - half, (low + high) / 2 + half];
}

// At least three decades, so that rounding doesn't look like drama.
function decades(lines) {
  const [low, high] = extremes(lines);
  const top = high + 0.5;
  return [Math.max(Math.min(low - 0.3, top - 3), top - 12), top];
}

function drawScales({ context, theme, width, height, low, high, from, to, log, x, y }) {
  context.font = `12px ${theme.font}`;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const across = ticks(low, high, log ? 4 : 3.5);
  const step = log ? Math.max(1, Math.ceil((high - low) / 5)) : across.step;
  const values = log ? ticks(low, high, (high - low) / step).values.filter(Number.isInteger) : across.values;
  for (const value of values) {
    const at = Math.round(y(value)) + 0.5;
    line(context, value === 0 && !log ? theme.axis : theme.grid, LEFT, at, width - RIGHT, at);
    context.fillStyle = theme.muted;
    context.fillText(log ? `1e${value}`.replace("-", "−") : tickText(value, step), LEFT - 8, at);
  }
  if (to <= from) return;
  const along = ticks(from, to, Math.max(2, width / 90));
  context.textBaseline = "alphabetic";
  for (const value of along.values) {
    const at = x(value);
    context.textAlign = at > width - 30 ? "right" : "center";
    context.fillStyle = theme.muted;
    const last = value === along.values[along.values.length - 1];
    context.fillText(tickText(value, along.step) + (last ? " s" : ""), Math.min(at, width - 2), height - 6);
  }
}

function line(context, colour, x0, y0, x1, y1) {
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

// A curve; one that runs along another has gaps, in which that one is seen.
function drawLine({ context, theme, low, high, x, y }, { time, values, between, index, run, ghost }, drawn) {
  style(context, theme, index, run, 1.8);
  const reach = COVERED * (high - low);
  const along = drawn.filter((other) => !ghost && covers(other.values, values, reach)).map(({ level }) => level);
  const level = along.length ? Math.max(...along) + 1 : 0;
  if (level && !run) context.setLineDash([6, 6 * level]);
  if (!ghost) drawn.push({ values, level });
  if (ghost) {
    context.globalAlpha = 0.45;
    context.setLineDash([4, 4]);
    context.lineWidth = 1.2;
  }
  context.lineJoin = "round";
  context.beginPath();
  let pen = false;
  let next = 0;
  const [times, points] = between;
  for (let k = 0; k < values.length; k++) {
    for (; next < times.length && times[next] < time[k]; next++) if (pen) context.lineTo(x(times[next]), y(points[next]));
    if (!Number.isFinite(values[k])) {
      pen = false;
      continue;
    }
    if (pen) context.lineTo(x(time[k]), y(values[k]));
    else context.moveTo(x(time[k]), y(values[k]));
    pen = true;
  }
  context.stroke();
  context.globalAlpha = 1;
}

function covers(first, second, reach) {
  if (first.length !== second.length) return false;
  let near = 0;
  for (let k = 0; k < first.length; k++) near += Math.abs(first[k] - second[k]) < reach;
  return near > 0.15 * first.length;
}

// What a panel shows, for who hears it.
function spoken(plot, curves, motion, units) {
  const said = curves.map(({ label, name }) => {
    const values = motion?.values[name];
    if (!values) return label;
    const [low, high] = extremes([{ values, between: betweenOf(motion, name) }]);
    return `${label} from ${number(low, 3)} to ${number(high, 3)} ${units[name] ?? ""}`;
  });
  return `${[plot.title, plot.label].filter(Boolean).join(", ")} over time: ${said.join("; ")}`;
}

function scrubbing(area, onMove) {
  const moved = (event) => {
    const { left, width } = area.getBoundingClientRect();
    onMove(event.clientX - left, width);
  };
  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    moved(event);
  });
  area.addEventListener("pointermove", (event) => area.hasPointerCapture(event.pointerId) && moved(event));
}
