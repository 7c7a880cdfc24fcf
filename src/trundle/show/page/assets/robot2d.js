// A robot drawn in a plane, on a canvas: bodies, wheels that turn and steer, joints, and what acts on it.

import { placed } from "./data.js";

const SLIM = 0.3; // a wheel without a width has this share of its radius
const AROUND = 28; // corners of half a rim
const MARKS = 6; // on a tread, so that it is seen to turn
const DIRECTIONS = 160; // in which a solid's outermost corners are looked for

// The robot at a moment, `magnified` about the point that is traced.
export function drawRobot({ context, camera, theme, look }, robot, magnified) {
  const { scene, moment, colour } = robot;
  const { poses } = moment;
  const about = flat(look, placed(poses, scene.traced));
  const seen = ([u, v]) => onScreen(camera, [about[0] + magnified * (u - about[0]), about[1] + magnified * (v - about[1])]);
  const screen = (spot) => seen(flat(look, placed(poses, spot)));
  const edge = colour === null ? theme.ghost : colour === 0 ? theme.ink : theme.curves[colour % theme.curves.length];
  const pen = { context, theme, look, poses, seen, screen, edge, scale: camera.scale * magnified };
  context.save();
  context.lineJoin = "round";
  context.lineCap = "round";
  if (colour === null) context.globalAlpha = 0.45;
  else if (colour > 0) context.globalAlpha = 0.8;
  const clothed = new Set(scene.clothed);
  const plates = scene.plates.filter(({ frame }) => !clothed.has(frame));
  for (const plate of sortedPlates(plates, poses, look)) drawPlate(pen, plate);
  for (const solid of scene.solids) drawSolid(pen, solid);
  drawBars(pen, scene);
  scene.wheels.forEach((wheel, k) => drawWheel(pen, wheel, moment.spins ? moment.spins[k] : null));
  for (const wheel of scene.wheels) if (wheel.steered) drawPivot(pen, wheel);
  for (const joint of scene.joints) drawJoint(pen, joint);
  for (const loop of scene.loops) drawPin(pen, screen(loop.first));
  if (colour === 0) drawArrows(pen, scene, moment);
  context.restore();
}

// The nearest last.
function sortedPlates(plates, poses, { toward }) {
  if (plates.length < 2) return plates;
  const depth = ({ frame, corners }) => dot(toward, placed(poses, [frame, corners[0].map((_, k) => mean(corners, k))]));
  return plates.map((plate) => [depth(plate), plate]).sort((a, b) => a[0] - b[0]).map(([, plate]) => plate);
}

function mean(corners, k) {
  return corners.reduce((sum, corner) => sum + corner[k], 0) / corners.length;
}

function polygon(context, points) {
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

function drawPlate({ context, theme, screen, edge }, { frame, corners, assumed }) {
  polygon(context, corners.map((at) => screen([frame, at])));
  context.fillStyle = assumed ? theme.assumed : theme.body;
  context.fill();
  context.lineWidth = 1.2;
  context.strokeStyle = edge;
  context.stroke();
}

// A solid's convex outline.
function drawSolid({ context, theme, screen, edge }, solid) {
  polygon(context, hull(outermost(solid).map(screen)));
  context.fillStyle = solid.colour ?? theme.body;
  context.fill();
  context.lineWidth = 1.2;
  context.strokeStyle = edge;
  context.stroke();
}

// Spots that reach farthest in many directions: all corners of a box, few of a mesh with thousands.
const reaching = new WeakMap();
function outermost(solid) {
  const { frame, corners } = solid;
  if (!reaching.has(solid)) {
    const found = new Set();
    for (let k = 0; k < DIRECTIONS; k++) {
      const z = 1 - (2 * k + 1) / DIRECTIONS; // Fibonacci's sphere
      const [r, a] = [Math.sqrt(1 - z * z), k * Math.PI * (3 - Math.sqrt(5))];
      const direction = [r * Math.cos(a), r * Math.sin(a), z];
      let [best, most] = [0, -Infinity];
      for (let i = 0; i < corners.length; i += 3) {
        const reach = direction[0] * corners[i] + direction[1] * corners[i + 1] + direction[2] * corners[i + 2];
        if (reach > most) [best, most] = [i, reach];
      }
      found.add(best);
    }
    reaching.set(solid, [...found].map((i) => [frame, [corners[i], corners[i + 1], corners[i + 2]]]));
  }
  return reaching.get(solid);
}

// The convex hull of points in the plane (Andrew's monotone chain).
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turns = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (ordered) => {
    const found = [];
    for (const point of ordered) {
      while (found.length > 1 && turns(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function drawBars({ context, theme, screen }, { bars, mounts, wheels }) {
  context.beginPath();
  for (const { start, end } of [...mounts, ...bars, ...wheelHolders(wheels)]) {
    context.moveTo(...screen(start));
    context.lineTo(...screen(end));
  }
  context.lineWidth = 4;
  context.strokeStyle = theme.wheel;
  context.stroke();
}

// A cylinder's outline: its rim carried along the axle to the side that its outward normal points to; a ball's circle.
// The marks on its tread show it turn.
function drawWheel({ context, theme, look, poses, seen, edge, scale }, wheel, spin) {
  const { frame, radius } = wheel;
  const centre = flat(look, placed(poses, [frame, [0, 0, 0]]));
  context.fillStyle = theme.wheel;
  context.strokeStyle = edge;
  context.lineWidth = 1;
  if (wheel.round) {
    context.beginPath();
    context.arc(...seen(centre), radius * scale, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    return;
  }
  const [along, axle, up] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => turned(poses, frame, axis));
  const [alongFlat, axleFlat, upFlat] = [along, axle, up].map((axis) => flat(look, axis));
  const half = halfWidth(wheel);
  const cross = (a, b) => a[0] * b[1] - a[1] * b[0];
  const turn = cross(alongFlat, upFlat) < 0 ? -1 : 1;
  const corners = [];
  for (let k = 0; k < 2 * AROUND; k++) {
    for (const aside of [-1e-9, 1e-9]) {
      const [c, s] = [Math.cos((k * Math.PI) / AROUND + aside), Math.sin((k * Math.PI) / AROUND + aside)];
      const tangent = [0, 1].map((i) => upFlat[i] * c - alongFlat[i] * s);
      const side = half * Math.sign(turn * cross(axleFlat, tangent));
      corners.push(seen([0, 1].map((i) => centre[i] + radius * (alongFlat[i] * c + upFlat[i] * s) + side * axleFlat[i])));
    }
  }
  polygon(context, corners);
  context.fill();
  context.stroke();
  drawTread({ context, theme, look, seen, scale }, wheel, { centre, along, axle, up, half, spin });
}

// Rollers or marks around the tread, and spokes on a face that is seen, turned by the spin; rollers slant as those on
// top do, the other way than the one on the ground.
function drawTread({ context, theme, look, seen, scale }, wheel, { centre, along, axle, up, half, spin }) {
  const rollers = wheel.roller_angle !== null;
  if (spin === null && !rollers) return;
  const angle = Math.min(Math.max(wheel.roller_angle ?? 0, -1.2), 1.2);
  const rim = Math.abs(wheel.roller_angle ?? 0) > 1.2; // omni: rollers along the rim
  const lean = rollers ? (rim ? 0.12 : (Math.min(half * Math.tan(Math.abs(angle)), 0.35 * wheel.radius) / wheel.radius) * Math.sign(angle)) : 0;
  const across = rim ? 0 : half;
  const count = rollers ? 2 * MARKS : MARKS;
  const facing = dot(axle, look.toward);
  const point = (a, share, y) => {
    const [c, s] = [Math.cos(a) * wheel.radius * share, Math.sin(a) * wheel.radius * share];
    const at = [0, 1, 2].map((i) => up[i] * c + along[i] * s + axle[i] * y);
    const [u, v] = flat(look, at);
    return seen([centre[0] + u, centre[1] + v]);
  };
  context.beginPath();
  for (let k = 0; k < count; k++) {
    const a = (spin ?? 0) + (2 * Math.PI * k) / count;
    const outward = Math.cos(a) * dot(up, look.toward) + Math.sin(a) * dot(along, look.toward);
    if (outward > 0.15) {
      context.moveTo(...point(a + lean, 1, -across));
      context.lineTo(...point(a - lean, 1, across));
    }
    if (Math.abs(facing) > 0.15 && spin !== null && k % (count / 3) === 0) {
      context.moveTo(...point(a, 0.12, half * Math.sign(facing)));
      context.lineTo(...point(a, 0.88, half * Math.sign(facing)));
    }
  }
  context.strokeStyle = theme.mark;
  context.lineWidth = Math.min(Math.max(0.12 * half * scale, 0.7), 2);
  context.stroke();
}

// A disc on the pivot of a steered wheel.
function drawPivot({ context, theme, screen, edge, scale }, wheel) {
  const { pivot, radius } = wheel;
  context.beginPath();
  context.arc(...screen(pivot), Math.max(0.3 * Math.min(radius, 2 * halfWidth(wheel)) * scale, 2), 0, 2 * Math.PI);
  context.fillStyle = theme.body;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = edge;
  context.stroke();
}

// A ring for what turns, a box for what slides, a square for what is fixed; hatched ground under what hangs on none.
function drawJoint({ context, theme, look, poses, screen, seen }, { frame, symbol, axis, turns }) {
  const at = screen([frame, [0, 0, 0]]);
  if (symbol === "weld") return;
  if (turns || axis === null) {
    drawPin({ context, theme }, at, symbol === "ball");
    return;
  }
  const along = flat(look, turned(poses, frame, axis));
  context.save();
  context.translate(...at);
  context.rotate(-Math.atan2(along[1], along[0]));
  context.beginPath();
  context.rect(-8, -5, 16, 10);
  context.fillStyle = theme.paper;
  context.fill();
  context.lineWidth = 1.8;
  context.strokeStyle = theme.joint;
  context.stroke();
  context.restore();
}

function drawPin({ context, theme }, [x, y], filled = false) {
  context.beginPath();
  context.arc(x, y, 4.5, 0, 2 * Math.PI);
  context.fillStyle = filled ? theme.joint : theme.paper;
  context.fill();
  context.lineWidth = 1.8;
  context.strokeStyle = theme.joint;
  context.stroke();
}

// Forces as arrows; moments as arcs about the line of sight and, where they are seen from aside, with two heads.
function drawArrows({ context, theme, look, seen, scale }, scene, { arrows }) {
  arrows.forEach(({ at, vector }, k) => {
    const { turns } = scene.arrows[k];
    context.strokeStyle = context.fillStyle = turns ? theme.moment : theme.force;
    context.lineWidth = 2.2;
    const start = flat(look, at);
    const along = flat(look, vector);
    const length = Math.hypot(...along) * scale;
    const toward = turns ? dot(look.toward, vector) : 0;
    if (Math.abs(toward) * scale > 6) drawArc(context, seen(start), (Math.abs(toward) * scale) / 2, toward > 0);
    if (length < 1) return;
    const share = Math.min(1, length / 12); // of the head of a short one
    const tip = (share) => seen([start[0] + share * along[0], start[1] + share * along[1]]);
    drawArrow(context, seen(start), tip(1), share);
    if (turns) drawHead(context, tip(0.85), Math.atan2(-along[1], along[0]), share);
  });
}

function drawArrow(context, start, end, share) {
  context.beginPath();
  context.moveTo(...start);
  context.lineTo(...end);
  context.stroke();
  drawHead(context, end, Math.atan2(end[1] - start[1], end[0] - start[0]), share);
}

function drawArc(context, [x, y], radius, left) {
  const [first, last] = left ? [Math.PI / 4, -(5 / 4) * Math.PI] : [-(5 / 4) * Math.PI, Math.PI / 4];
  context.beginPath();
  context.arc(x, y, radius, first, last, left);
  context.stroke();
  const heading = last + (left ? -Math.PI / 2 : Math.PI / 2);
  drawHead(context, [x + radius * Math.cos(last), y + radius * Math.sin(last)], heading);
}

function drawHead(context, [x, y], angle, share = 1) {
  const corner = (turn) => [x - 9 * share * Math.cos(angle + turn), y - 9 * share * Math.sin(angle + turn)];
  polygon(context, [[x, y], corner(0.4), corner(-0.4)]);
  context.fill();
}

// How far a wheel reaches along its axle.
export function halfWidth({ width, radius }) {
  return (width || SLIM * radius) / 2;
}

// Bars from the pivots of wheels to where they are.
export function wheelHolders(wheels) {
  return wheels.map(({ frame, pivot }) => ({ start: pivot, end: [frame, [0, 0, 0]] }));
}

// Points around a scene's shapes.
export function outline({ plates, bars, mounts, joints, loops, wheels, centers, traced, solids }) {
  const spots = [traced, ...centers, ...joints.map(({ frame }) => [frame, [0, 0, 0]])];
  for (const solid of solids) spots.push(...outermost(solid));
  for (const { frame, corners } of plates) spots.push(...corners.map((at) => [frame, at]));
  for (const { start, end } of [...bars, ...mounts]) spots.push(start, end);
  for (const { first, second } of loops) spots.push(first, second);
  for (const { frame, radius: r, width, round } of wheels) {
    const half = round ? r : width / 2;
    for (const x of [-r, r]) for (const y of [-half, half]) for (const z of [-r, r]) spots.push([frame, [x, y, z]]);
  }
  return spots;
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A point or a direction in the picture's plane.
export function flat({ right, up }, point) {
  return [dot(right, point), dot(up, point)];
}

// A direction of a frame in the world.
function turned(poses, frame, [x, y, z]) {
  const o = 12 * frame;
  return [0, 4, 8].map((k) => poses[o + k] * x + poses[o + k + 1] * y + poses[o + k + 2] * z);
}
