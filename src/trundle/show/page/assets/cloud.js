// The robots of a sweep as dots over two of their numbers; a click on one shows how it drove.

import { element, number, ticks, tickText } from "./data.js";

const CLOUD_ROOM = { left: 62, right: 12, top: 8, below: 44 }; // pixels around the dots
const CLICK_REACH = 24; // pixels within which a click means a dot
const DOT_RADIUS = 2.2;
const RING_RADIUS = 5;
const CLOUD_HEIGHT = 300;

// The panel of a sweep's robots: {element, draw(), choose(place)}; `onChoose(changes, run)` gets what the chosen one has:
// numbers by the keys of knobs, and the place of its run among those that the page holds, -1 where it holds none.
export function createCloud(cloud, theme, onChoose) {
  const canvas = element("canvas", { role: "img", tabindex: 0 });
  const mark = element("div", { class: "dot" });
  const area = element("div", { class: "cloud-dots" }, canvas, mark);
  const words = element("p", { role: "status" });
  const [across, up] = [cloud.across, cloud.up].map((first) => axisChoice(cloud.names, first));
  const labels = [["across", across], ["up", up]].map(([name, choice]) => element("label", {}, `${name} `, choice));
  const ringed = (cloud.runs ?? []).map((robot) => cloud.robots.indexOf(robot));
  const made = { chosen: -1, space: null, element: cloudSection(cloud, [element("p", { class: "cloud-axes" }, ...labels), area, words]) };

  made.draw = () => {
    const { width } = area.getBoundingClientRect();
    if (!width) return; // in a section that is closed
    const [x, y] = [across, up].map((choice) => cloud.columns[choice.value]);
    made.space = cloudSpace(x, y, width);
    drawDots(canvas, theme, x, y, made.space, [across, up].map((choice) => axisTitle(cloud, choice.value)));
    drawRings(canvas, theme, ringed.map((place) => [made.space.x(x[place]), made.space.y(y[place])]));
    canvas.setAttribute("aria-label", `${cloud.names[up.value]} by ${cloud.names[across.value]}; arrow keys go from robot to robot`);
    showMark();
  };
  const showMark = () => {
    mark.style.visibility = made.chosen < 0 || !made.space ? "hidden" : "visible";
    if (made.chosen < 0 || !made.space) return;
    mark.style.background = theme.ink;
    const [x, y] = [across, up].map((choice) => cloud.columns[choice.value][made.chosen]);
    mark.style.transform = `translate(${made.space.x(x)}px, ${made.space.y(y)}px)`;
  };
  made.choose = (place) => {
    made.chosen = place;
    showMark();
    words.textContent = robotInWords(cloud, place);
    onChoose(Object.entries(cloud.keys).map(([name, key]) => [key, cloud.columns[cloud.names.indexOf(name)][place]]), ringed.indexOf(place));
  };
  const nearest = (event) => {
    const box = canvas.getBoundingClientRect();
    const place = nearestTo(cloud, made.space, across.value, up.value, event.clientX - box.x, event.clientY - box.y);
    if (place >= 0) made.choose(place);
  };
  canvas.addEventListener("click", nearest);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    made.choose(neighbourOf(cloud.columns[across.value], made.chosen, step));
  });
  for (const choice of [across, up]) choice.addEventListener("change", made.draw);
  made.element.addEventListener("toggle", made.draw);
  return made;
}

function cloudSection(cloud, children) {
  const holds = element("span", { class: "holds" }, `${cloud.robots.length.toLocaleString("en")} of ${cloud.count.toLocaleString("en")}`);
  const says = cloud.runs ? [element("p", {}, `A robot with a ring drives when it is clicked: ${cloud.runs.length} have their runs on this page.`)] : [];
  return element("details", { class: "plots cloud", id: "plots-robots", open: true }, element("summary", {}, "Robots ", holds), ...says, ...children);
}

function axisChoice(names, first) {
  const choice = element("select", {}, ...names.map((name, place) => element("option", { value: place }, name)));
  choice.value = String(first);
  return choice;
}

function axisTitle(cloud, place) {
  const unit = cloud.units[place];
  return unit ? `${cloud.names[place]} (${unit})` : cloud.names[place];
}

// A number with as many decimals as it needs: none for a seed.
function amount(value) {
  return Number.isInteger(value) ? String(value).replace("-", "−") : number(value);
}

function robotInWords(cloud, place) {
  const parts = cloud.names.map((name, k) => `${name} ${amount(cloud.columns[k][place])} ${cloud.units[k]}`.trim());
  return `robot ${cloud.robots[place].toLocaleString("en")}: ${parts.join(", ")}${runInWords(cloud, cloud.robots[place])}`;
}

// Of a page that holds runs: what its own one says, or that it has none.
function runInWords({ runs, notes }, robot) {
  if (!runs) return "";
  const place = runs.indexOf(robot);
  if (place < 0) return `. Its run isn't on this page: a robot with a ring drives.`;
  return notes[place].map((note) => `. ${note}`).join("");
}

// From numbers to pixels, with a little room around the outermost dots.
function cloudSpace(x, y, width) {
  const axis = (values, from, to) => {
    const [low, high] = cloudExtent(values);
    const pad = 0.04 * (high - low) || 0.5 * Math.abs(low) || 0.5;
    const scale = (to - from) / (high - low + 2 * pad);
    return { low: low - pad, high: high + pad, at: (value) => from + scale * (value - low + pad) };
  };
  const over = axis(x, CLOUD_ROOM.left, width - CLOUD_ROOM.right);
  const along = axis(y, CLOUD_HEIGHT - CLOUD_ROOM.below, CLOUD_ROOM.top);
  return { x: over.at, y: along.at, across: over, up: along, width };
}

function cloudExtent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

function drawDots(canvas, theme, x, y, space, titles) {
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(space.width * ratio);
  canvas.height = Math.round(CLOUD_HEIGHT * ratio);
  canvas.style.width = `${space.width}px`;
  canvas.style.height = `${CLOUD_HEIGHT}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12.5px system-ui, sans-serif";
  drawCloudAxes(pen, theme, space, titles);
  pen.fillStyle = theme.curves[0];
  pen.globalAlpha = 0.6;
  for (let k = 0; k < x.length; k++) {
    if (!Number.isFinite(x[k]) || !Number.isFinite(y[k])) continue;
    pen.beginPath();
    pen.arc(space.x(x[k]), space.y(y[k]), DOT_RADIUS, 0, 2 * Math.PI);
    pen.fill();
  }
}

// Rings around the robots whose runs a page holds.
function drawRings(canvas, theme, places) {
  const pen = canvas.getContext("2d");
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.ink;
  pen.lineWidth = 1.5;
  for (const [x, y] of places) {
    pen.beginPath();
    pen.arc(x, y, RING_RADIUS, 0, 2 * Math.PI);
    pen.stroke();
  }
}

function drawCloudAxes(pen, theme, space, titles) {
  const below = CLOUD_HEIGHT - CLOUD_ROOM.below;
  pen.strokeStyle = theme.grid;
  pen.fillStyle = theme.ink;
  const over = ticks(space.across.low, space.across.high, Math.max(2, Math.floor(space.width / 110)));
  const along = ticks(space.up.low, space.up.high, 5);
  pen.textAlign = "center";
  for (const tick of over.values) {
    cloudLine(pen, space.x(tick), CLOUD_ROOM.top, space.x(tick), below);
    pen.fillText(tickText(tick, over.step), space.x(tick), below + 16);
  }
  pen.textAlign = "right";
  for (const tick of along.values) {
    cloudLine(pen, CLOUD_ROOM.left, space.y(tick), space.width - CLOUD_ROOM.right, space.y(tick));
    pen.fillText(tickText(tick, along.step), CLOUD_ROOM.left - 6, space.y(tick) + 4);
  }
  pen.textAlign = "center";
  pen.fillText(titles[0], (CLOUD_ROOM.left + space.width - CLOUD_ROOM.right) / 2, CLOUD_HEIGHT - 8);
  pen.save();
  pen.translate(12, (CLOUD_ROOM.top + below) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(titles[1], 0, 0);
  pen.restore();
}

function cloudLine(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

function nearestTo(cloud, space, across, up, x, y) {
  let best = -1;
  let least = CLICK_REACH ** 2;
  for (let k = 0; k < cloud.robots.length; k++) {
    const away = (space.x(cloud.columns[across][k]) - x) ** 2 + (space.y(cloud.columns[up][k]) - y) ** 2;
    if (away <= least) [best, least] = [k, away];
  }
  return best;
}

// The robot whose number across comes after that of the chosen one, or before it.
function neighbourOf(values, chosen, step) {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b] || a - b);
  const place = order.indexOf(chosen);
  return order[Math.min(order.length - 1, Math.max(0, place + step))];
}
