// Curves in a plane: speed along the way by what binds, wheels' forces on friction circles, motors' torques by speed.
// A dot is where each is now.

import { element, ticks, tickText, valueAt } from "./data.js";

const EDGES = { left: 52, right: 10, top: 8, below: 40 }; // pixels around what is drawn
const HEADS = { binding: "Speed along the way", friction: "Friction circles", motors: "Motors by torque and speed" };
const FADED = 0.35; // what has been runs into what is to come: curves begin so faint
const COLOURS = 8; // of curves, in the style sheet
const PARTS = 12; // of a curve, each with a strength of its own

// All planes of a page, in sections: {element, draw(), move(moment)}. `shown()` gives the motions, the first one counts.
export function createPlanes(planes, theme, shown) {
  const made = planes.map((plane) => createPlane(plane, theme, shown));
  const sections = [...new Set(planes.map(({ section }) => section))].map((section) => {
    const here = made.filter((_, k) => planes[k].section === section);
    const titles = planes.filter((plane) => plane.section === section).map(({ title }) => title);
    const head = element("summary", {}, HEADS[section] ?? section, " ", element("span", { class: "holds" }, titles.join(", ")));
    const grid = element("div", { class: "planes" }, ...here.map((plane) => plane.element));
    const folded = element("details", { class: "plots", id: `plots-${section}` }, head, grid);
    folded.addEventListener("toggle", () => folded.open && here.forEach((plane) => plane.draw()));
    return folded;
  });
  const draw = () => made.forEach((plane) => plane.draw());
  const move = (moment) => made.forEach((plane) => plane.move(moment));
  return { element: element("div", {}, ...sections), draw, move };
}

function createPlane(plane, theme, shown) {
  const canvas = element("canvas", { role: "img" });
  const names = plane.names ?? plane.curves.map(([label]) => label);
  const dots = (plane.track ? [0] : plane.curves).map(() => element("div", { class: "dot" }));
  const area = element("div", { class: "plane" }, canvas, ...dots);
  const told = plane.track || names.length > 1 ? [legendOf(names)] : [];
  const caption = element("figcaption", {}, element("b", {}, plane.title), ...told);
  const made = { element: element("figure", { class: plane.track ? "wide" : "" }, caption, area), space: null, at: null };
  made.draw = () => {
    const { width, height } = area.getBoundingClientRect();
    const motion = shown()[0]?.motion;
    made.space = null;
    if (!width || !motion) return; // in a section that is closed
    const curves = plane.track ? [trackOf(plane)] : plane.curves.map((curve) => placesOf(curve, motion));
    made.space = spaceOf(plane, curves, { width, height });
    drawPlane(canvas, plane, theme, curves, made.space);
    canvas.setAttribute("aria-label", `${plane.title}: ${plane.up} by ${plane.across}`);
    dots.forEach((dot, k) => (dot.style.background = plane.track ? theme.ink : theme.curves[k % theme.curves.length]));
    if (made.at) made.move(made.at);
  };
  made.move = (moment) => {
    made.at = moment;
    const motion = shown()[0]?.motion;
    if (!made.space || !motion) return;
    dots.forEach((dot, k) => {
      const [across, up] = plane.track
        ? trackAt(plane, valueAt(motion.time, moment))
        : pointAt(plane.curves[k], (name) => valueAt(motion.values[name], moment));
      const seen = Number.isFinite(across) && Number.isFinite(up);
      dot.style.visibility = seen ? "visible" : "hidden";
      if (seen) dot.style.transform = `translate(${made.space.x(across)}px, ${made.space.y(up)}px)`;
    });
  };
  return made;
}

function legendOf(names) {
  return element("ul", {}, ...names.map((name, k) => element("li", { class: `of${k % COLOURS}` }, name)));
}

// The places of a track, which has times of its own.
function trackOf({ track: [, across, up] }) {
  return Array.from(across, (x, k) => [x, up[k]]);
}

function trackAt({ track: [times, across, up] }, time) {
  const after = Array.from(times).findIndex((each) => each >= time);
  if (after <= 0) return after ? [across[across.length - 1], up[up.length - 1]] : [across[0], up[0]];
  const index = after - 1;
  const moment = { index, fraction: (time - times[index]) / (times[after] - times[index]) };
  return [valueAt(across, moment), valueAt(up, moment)];
}

// Where a curve is, by what its values are.
function pointAt([, across, up, divided], value) {
  const [by, one, other] = divided ?? [null, 1, 1];
  const size = by === null ? 1 : value(by);
  return [value(across) / (one * size), value(up) / (other * size)];
}

function placesOf(curve, motion) {
  return Array.from(motion.time, (_, k) => pointAt(curve, (name) => motion.values[name]?.[k] ?? NaN));
}

// What is in sight, and where: pixels across x and up y.
function spaceOf({ edges, equal }, curves, { width, height }) {
  const inner = { width: width - EDGES.left - EDGES.right, height: height - EDGES.top - EDGES.below };
  const points = [...curves.flat(), ...edges.flatMap(([xs, ys]) => [...xs].map((x, k) => [x, ys[k]]))];
  const [left, right] = reachOf(points.map(([x]) => x));
  const [low, high] = reachOf(points.map(([, y]) => y));
  let [across, up] = [(right - left) / inner.width, (high - low) / inner.height];
  if (equal) across = up = Math.max(across, up);
  const middle = { x: (left + right) / 2, y: (low + high) / 2 };
  const centre = { x: EDGES.left + inner.width / 2, y: EDGES.top + inner.height / 2 };
  const half = { x: (across * inner.width) / 2, y: (up * inner.height) / 2 };
  return {
    width,
    height,
    x: (value) => centre.x + (value - middle.x) / across,
    y: (value) => centre.y - (value - middle.y) / up,
    left: middle.x - half.x,
    right: middle.x + half.x,
    low: middle.y - half.y,
    high: middle.y + half.y,
  };
}

function reachOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const each of values) {
    if (each < low && each !== -Infinity) low = each;
    if (each > high && each !== Infinity) high = each;
  }
  if (low > high) return [-1, 1];
  const room = 0.06 * (high - low) || 1;
  return [low - room, high + room];
}

function drawPlane(canvas, plane, theme, curves, space) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
  canvas.width = Math.round(space.width * ratio);
  canvas.height = Math.round(space.height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.lineJoin = "round";
  drawPlaneScales(context, plane, theme, space);
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.2;
  for (const [xs, ys] of plane.edges) drawPath(context, [...xs].map((x, k) => [x, ys[k]]), space);
  if (plane.track) return drawTrack(context, plane, theme, curves[0], space);
  context.lineWidth = 1.6;
  curves.forEach((points, k) => {
    context.strokeStyle = theme.curves[k % theme.curves.length];
    for (let part = 0; part < PARTS; part++) {
      const cut = (share) => Math.round((share * (points.length - 1)) / PARTS);
      context.globalAlpha = FADED + ((1 - FADED) * part) / (PARTS - 1);
      drawPath(context, points.slice(cut(part), cut(part + 1) + 1), space);
    }
  });
  context.globalAlpha = 1;
}

// A thin line, and over it what binds from when to when, wider and in its colour.
function drawTrack(context, { track: [times], spans }, theme, points, space) {
  context.strokeStyle = theme.muted;
  drawPath(context, points, space);
  context.lineWidth = 3;
  for (const [colour, from, to] of spans) {
    context.strokeStyle = theme.curves[colour % theme.curves.length];
    drawPath(context, points.filter((_, k) => times[k] >= from && times[k] <= to), space);
  }
}

function drawPath(context, points, { x, y }) {
  let pen = false;
  context.beginPath();
  for (const [across, up] of points) {
    const seen = Number.isFinite(across) && Number.isFinite(up);
    if (seen && pen) context.lineTo(x(across), y(up));
    else if (seen) context.moveTo(x(across), y(up));
    pen = seen;
  }
  context.stroke();
}

function drawPlaneScales(context, plane, theme, space) {
  const { width, height, x, y } = space;
  const [bottom, end] = [height - EDGES.below, width - EDGES.right];
  context.font = `12px ${theme.font}`;
  context.lineWidth = 1;
  const stroke = (value, x0, y0, x1, y1) => {
    context.strokeStyle = value === 0 ? theme.axis : theme.grid;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  };
  const across = ticks(space.left, space.right, Math.max(3, (end - EDGES.left) / 55));
  const up = ticks(space.low, space.high, Math.max(2, (bottom - EDGES.top) / 40));
  context.fillStyle = theme.muted;
  context.textAlign = "center";
  for (const value of across.values) {
    const at = Math.round(x(value)) + 0.5;
    stroke(value, at, EDGES.top, at, bottom);
    context.fillText(tickText(value, across.step), at, bottom + 15);
  }
  context.fillText(plane.across, (EDGES.left + end) / 2, height - 6);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of up.values) {
    const at = Math.round(y(value)) + 0.5;
    stroke(value, EDGES.left, at, end, at);
    context.fillText(tickText(value, up.step), EDGES.left - 6, at);
  }
  context.save();
  context.translate(10, (EDGES.top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(plane.up, 0, 0);
  context.restore();
  context.textBaseline = "alphabetic";
}
