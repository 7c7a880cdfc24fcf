// The robot in a plane: from above, from the side, or in space from a corner, on a canvas.

import { momentAt, placed, posesAt, roundStep } from "./data.js";
import { drawRobot, flat, outline } from "./robot2d.js";

const LEAST_ROBOT = 44; // pixels; a robot that would be smaller is drawn larger, and the page says so
const MARGINS = { side: 26, top: 56, bottom: 44 }; // pixels around what is fitted, above it for buttons, below it for words
const ZOOMS = [1e-3, 1e5]; // of the scale at which everything fits
const TRAIL_STEP = 1.5; // pixels between points of a trail

// A view of `scene` (the page's shapes with `motion`, `ghost` and `others`): {draw(scene, moment), resize(), fit(),
// keep(scene), zoom(factor), pan(dx, dy), follow(on)}.
export function createView2d(canvas, theme, { onCamera = () => {} } = {}) {
  const context = canvas.getContext("2d");
  const camera = { x: 0, y: 0, scale: 1, fitted: 1, width: 1, height: 1, ratio: 1, follows: false, offset: [0, 0], moved: false };
  const trails = new WeakMap();
  let shown = null;

  const resize = () => {
    const { width, height } = canvas.getBoundingClientRect();
    camera.ratio = Math.min(globalThis.devicePixelRatio || 1, 2);
    Object.assign(camera, { width: Math.max(width, 1), height: Math.max(height, 1) });
    canvas.width = Math.round(camera.width * camera.ratio);
    canvas.height = Math.round(camera.height * camera.ratio);
  };
  const draw = (scene, moment) => {
    shown = scene;
    const look = scene.seen;
    if (camera.follows) follow(camera, flat(look, placed(moment.poses, scene.traced)));
    context.setTransform(camera.ratio, 0, 0, camera.ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const pen = { context, camera, theme, look };
    if (scene.field) drawField(pen, scene.field);
    if (look.axes.length) drawGrid(pen);
    const robots = robotsOf(scene, moment);
    for (const robot of robots) drawTrail(pen, trails, robot);
    const magnified = Math.max(1, LEAST_ROBOT / (scene.size * camera.scale));
    for (const robot of robots.reverse()) drawRobot(pen, robot, magnified);
    if (!look.axes.length) drawAxes(pen);
    drawScaleBar(pen);
    onCamera({ magnified: magnified > 1.05 ? magnified : 1, follows: camera.follows });
  };
  const fit = (scene = shown) => {
    if (!scene) return;
    const [low, high] = boundsOf(scene);
    const span = [Math.max(high[0] - low[0], 1e-9), Math.max(high[1] - low[1], 1e-9)];
    const { side, top, bottom } = MARGINS;
    const room = [camera.width - 2 * side, camera.height - top - bottom];
    camera.scale = camera.fitted = Math.max(Math.min(room[0] / span[0], room[1] / span[1]), 1e-9);
    camera.x = (low[0] + high[0]) / 2;
    camera.y = (low[1] + high[1]) / 2 + (top - bottom) / 2 / camera.scale;
    camera.offset = [0, 0];
    camera.moved = false;
  };
  const zoom = (factor, at = [camera.width / 2, camera.height / 2]) => {
    const scale = Math.min(Math.max(camera.scale * factor, camera.fitted * ZOOMS[0]), camera.fitted * ZOOMS[1]);
    const [dx, dy] = [at[0] - camera.width / 2, camera.height / 2 - at[1]];
    move(dx / camera.scale - dx / scale, dy / camera.scale - dy / scale);
    camera.scale = scale;
  };
  const move = (x, y) => {
    camera.moved = true;
    camera.x += x;
    camera.y += y;
    camera.offset = [camera.offset[0] + x, camera.offset[1] + y];
  };
  const pan = (dx, dy) => move(-dx / camera.scale, dy / camera.scale);
  const setFollow = (on) => {
    Object.assign(camera, { follows: on, offset: [0, 0], moved: true });
    if (!shown || !on) return;
    camera.scale = Math.max(camera.scale, Math.min(camera.width, camera.height) / (8 * shown.size));
  };
  // A picture that nobody has moved keeps everything in view as the motion changes.
  const keep = (scene) => camera.moved || fit(scene);
  return { draw, resize, fit, keep, zoom, pan, follow: setFollow, get follows() { return camera.follows; } };
}

function follow(camera, at) {
  camera.x = at[0] + camera.offset[0];
  camera.y = at[1] + camera.offset[1];
}

function onScreen({ width, height, x, y, scale }, [u, v]) {
  return [width / 2 + (u - x) * scale, height / 2 - (v - y) * scale];
}

// The robots of a scene with their colours, the first one last among equals: [{scene, motion, moment, colour, strong}].
function robotsOf(scene, moment) {
  const found = [{ scene, motion: scene.motion, moment, colour: 0, strong: true }];
  if (scene.ghost?.poses) {
    const at = momentAt(scene.ghost, moment.time);
    found.push({ scene: scene.ghost.scene ?? scene, motion: scene.ghost, moment: at, colour: null, strong: false });
  }
  scene.others.forEach((other, k) => {
    found.push({ scene: other, motion: other.motion, moment: momentAt(other.motion, moment.time), colour: k + 1, strong: false });
  });
  return found;
}

// Corners around the path and around the robot on it.
function boundsOf(scene) {
  const [low, high] = [[Infinity, Infinity], [-Infinity, -Infinity]];
  const look = scene.seen;
  const shown = [scene, ...scene.others].map((each) => ({ motion: each.motion, shapes: each }));
  if (scene.ghost?.poses) shown.push({ motion: scene.ghost, shapes: scene });
  for (const { motion, shapes } of shown) {
    const points = outline(shapes);
    const every = Math.max(1, Math.floor((motion.time.length * points.length) / 4000));
    for (let k = 0; k < motion.time.length; k += every) {
      const poses = posesAt(motion, k);
      for (const spot of points) {
        const at = flat(look, placed(poses, spot));
        for (const axis of [0, 1]) {
          if (!Number.isFinite(at[axis])) continue;
          low[axis] = Math.min(low[axis], at[axis]);
          high[axis] = Math.max(high[axis], at[axis]);
        }
      }
    }
  }
  if (scene.field) {
    [low[0], low[1]] = [Math.min(low[0], 0), Math.min(low[1], 0)];
    [high[0], high[1]] = [Math.max(high[0], scene.field.width), Math.max(high[1], scene.field.height)];
  }
  return low[0] <= high[0] ? [low, high] : [[-1, -1], [1, 1]];
}

// A picture of the field, its lower left corner at the origin; faint, as paths stay seen.
function drawField({ context, camera }, { image, width, height, strength }) {
  if (!image.complete || !image.naturalWidth) return;
  const [left, top] = onScreen(camera, [0, height]);
  context.globalAlpha = strength;
  context.drawImage(image, left, top, width * camera.scale, height * camera.scale);
  context.globalAlpha = 1;
}

// Lines at round distances on the ground or across the plane, the axes' own a bit stronger.
function drawGrid({ context, camera, theme }) {
  const step = roundStep(90 / camera.scale);
  const [left, bottom] = [camera.x - camera.width / 2 / camera.scale, camera.y - camera.height / 2 / camera.scale];
  context.lineWidth = 1;
  for (const strong of [false, true]) {
    context.beginPath();
    for (let k = Math.ceil(left / step); k * step < left + camera.width / camera.scale; k++) {
      if ((k === 0) !== strong) continue;
      const x = Math.round(onScreen(camera, [k * step, 0])[0]) + 0.5;
      context.moveTo(x, 0);
      context.lineTo(x, camera.height);
    }
    for (let k = Math.ceil(bottom / step); k * step < bottom + camera.height / camera.scale; k++) {
      if ((k === 0) !== strong) continue;
      const y = Math.round(onScreen(camera, [0, k * step])[1]) + 0.5;
      context.moveTo(0, y);
      context.lineTo(camera.width, y);
    }
    context.strokeStyle = strong ? theme.axis : theme.grid;
    context.stroke();
  }
}

// The traced point's whole path faintly, what has been travelled strongly, and where it began.
function drawTrail({ context, camera, theme, look }, trails, { scene, motion, moment, colour, strong }) {
  const trail = trailOf(trails, scene, motion, look, camera.scale);
  const [x, y] = onScreen(camera, [0, 0]);
  context.save();
  context.translate(x, y);
  context.lineJoin = "round";
  context.lineWidth = strong ? 1.5 : 1;
  context.strokeStyle = colour === null ? theme.ghost : theme.curves[colour % theme.curves.length];
  if (colour === null) context.setLineDash([5, 4]);
  context.globalAlpha = colour === null ? 1 : 0.35;
  context.stroke(trail.whole);
  if (colour !== null) {
    context.globalAlpha = 1;
    context.lineWidth = strong ? 2.5 : 1.5;
    context.setLineDash(dashOf(colour));
    context.stroke(trail.until(moment.index, flat(look, placed(moment.poses, scene.traced))));
    context.setLineDash([]);
    drawStart(context, theme, trail.points);
  }
  context.restore();
}

function drawStart(context, theme, [x, y]) {
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fillStyle = theme.paper;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = theme.ink;
  context.stroke();
}

export function dashOf(colour) {
  return [[], [7, 4], [2, 3], [9, 3, 2, 3]][colour % 4];
}

// A path in pixels about the world's origin, made anew only when the scale changes. The travelled part grows by what
// is new, so that its cost doesn't grow with time.
function trailOf(trails, scene, motion, look, scale) {
  const known = trails.get(motion.poses);
  if (known && known.scale === scale) return known;
  const points = new Float64Array(2 * motion.time.length);
  for (let k = 0; k < motion.time.length; k++) {
    const at = flat(look, placed(posesAt(motion, k), scene.traced));
    points[2 * k] = at[0] * scale;
    points[2 * k + 1] = -at[1] * scale;
  }
  const started = () => ({ path: new Path2D(), index: 0, x: NaN, y: NaN });
  const extended = (line, index) => {
    for (; line.index <= index; line.index++) {
      const [x, y] = [points[2 * line.index], points[2 * line.index + 1]];
      const near = Math.abs(x - line.x) + Math.abs(y - line.y) < TRAIL_STEP;
      if (near && line.index < motion.time.length - 1) continue;
      if (Number.isNaN(line.x)) line.path.moveTo(x, y);
      else line.path.lineTo(x, y);
      [line.x, line.y] = [x, y];
    }
    return line;
  };
  let travelled = started();
  const until = (index, [u, v]) => {
    if (index + 1 < travelled.index) travelled = started();
    const path = new Path2D(extended(travelled, index).path);
    path.lineTo(u * scale, -v * scale);
    return path;
  };
  const found = { scale, points, whole: extended(started(), motion.time.length - 1).path, until };
  trails.set(motion.poses, found);
  return found;
}

// A bar of a round length below on the right.
function drawScaleBar({ context, camera, theme }) {
  const length = roundStep(50 / camera.scale);
  const pixels = length * camera.scale;
  const [x, y] = [camera.width - 16 - pixels, camera.height - 14];
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x, y);
  context.lineTo(x + pixels, y);
  context.lineTo(x + pixels, y - 5);
  context.lineWidth = 1.5;
  context.strokeStyle = context.fillStyle = theme.ink;
  context.stroke();
  context.font = `13px ${theme.font}`;
  context.textAlign = "center";
  const shown = length >= 1000 ? `${length / 1000} km` : length >= 0.1 ? `${Number(length.toPrecision(2))} m` : `${Number((length * 1000).toPrecision(2))} mm`;
  context.fillText(shown, x + pixels / 2, y - 8);
}

// The directions of the world's axes, where no plane is looked at.
function drawAxes({ context, camera, look, theme }) {
  const origin = [34, camera.height - 34];
  context.font = `bold 13px ${theme.font}`;
  context.textAlign = "center";
  ["x", "y", "z"].forEach((name, k) => {
    const tip = [origin[0] + 24 * look.right[k], origin[1] - 24 * look.up[k]];
    context.strokeStyle = context.fillStyle = theme.axes[k];
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(...origin);
    context.lineTo(...tip);
    context.stroke();
    context.fillText(name, origin[0] + 33 * look.right[k], origin[1] - 33 * look.up[k] + 4);
  });
}
