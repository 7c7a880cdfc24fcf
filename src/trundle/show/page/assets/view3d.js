// The robot in space, by WebGL: camera, ground, light and trails around what robot3d.js makes.

import * as THREE from "./vendor/three.module.min.js";
import { momentAt, placed, posesAt, roundStep } from "./data.js";
import { LAYERS, createRobot3d } from "./robot3d.js";
import { SEEN_THROUGH, groundLines, groundSurface, heightAt } from "./ground3d.js";
import { outline } from "./robot2d.js";

const FIELD = (28 * Math.PI) / 180; // of view, upright
const START = { azimuth: -Math.PI / 3, elevation: Math.PI / 7 }; // as figures in space are seen from
const STEEPEST = Math.PI / 2 - 1e-3;
const NEAREST = 0.02; // of the distance at which everything fits, and the farthest
const FARTHEST = 30;
const NEAR = 1 / 4; // of the picture's smaller side is a robot that is followed
const TRAIL_POINTS = 700;
const TRAIL_SHARE = 0.0011; // a trail's radius as a share of the distance it is seen from
const TURN = 0.008; // rad for each pixel that is dragged
const GIZMO = 92; // pixels
// How a world is turned whose gravity pulls along −y or −z, so that what is up in it is up in the picture.
const UPRIGHT = { y: new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(1, 0, 0), Math.PI / 2), z: new THREE.Quaternion() };

// A view of `scene` like createView2d's, and besides {dispose(), setTheme(theme), orbit(dx, dy), eye, layers}: what can
// be switched, {name, says, on, set(on)}.
export function createView3d(canvas, theme, { onCamera = () => {} } = {}) {
  const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
  renderer.autoClear = false;
  const world = createWorld();
  const view = { canvas, theme, renderer, ...world, shown: null, moment: null, robots: [], key: null, step: null };
  view.eye = { ...START, distance: 1, fitted: 1, target: new THREE.Vector3(), offset: new THREE.Vector3(), follows: false, moved: false };
  view.seen = Object.fromEntries(LAYERS.map(({ name, on }) => [name, on]));
  const render = () => view.shown && renderView(view);
  const draw = (scene, moment) => {
    Object.assign(view, { shown: scene, moment });
    rebuild(view);
    for (const robot of view.robots) poseRobot(robot, scene, moment);
    if (view.eye.follows) view.eye.target.fromArray(placed(moment.poses, scene.traced)).applyQuaternion(UPRIGHT[scene.up]).add(view.eye.offset);
    renderView(view);
    onCamera({ magnified: 1, follows: view.eye.follows, step: view.step });
  };
  const fit = (scene = view.shown) => scene && fitView(view, scene);
  const begin = (scene) => beginView(view, scene, setFollow);
  const keep = (scene) => view.eye.moved || begin(scene);
  const zoom = (factor) => {
    const { eye } = view;
    eye.distance = Math.min(Math.max(eye.distance / factor, NEAREST * eye.fitted), FARTHEST * eye.fitted);
    eye.moved = true;
  };
  const orbit = (dx, dy) => {
    view.eye.azimuth -= TURN * dx;
    view.eye.elevation = Math.min(Math.max(view.eye.elevation + TURN * dy, -STEEPEST), STEEPEST);
  };
  const pan = (dx, dy) => panView(view, dx, dy);
  const setFollow = (on) => {
    const { eye } = view;
    Object.assign(eye, { follows: on, moved: true });
    eye.offset.set(0, 0, 0);
    if (on && view.shown) eye.distance = Math.min(eye.distance, nearBy(view, view.shown));
  };
  const setTheme = (next) => {
    view.theme = next;
    view.key = null; // labels and lines are drawn anew, too
    if (view.shown) draw(view.shown, view.moment);
  };
  const layers = LAYERS.map(({ name, says }) => layerOption(view, name, says, render));
  const acts = { zoom, orbit, pan, render, fit: () => fit() };
  setUpOrbit(canvas, acts);
  canvas.addEventListener("webglcontextrestored", () => setTheme(view.theme));
  const dispose = () => {
    for (const { robot } of view.robots) robot.dispose();
    renderer.dispose();
  };
  return { draw, resize: () => resizeView(view), fit, begin, keep, zoom, orbit, pan, follow: setFollow, get follows() { return view.eye.follows; }, eye: view.eye, setTheme, layers, dispose };
}

function createWorld() {
  const scene = new THREE.Scene();
  const sky = new THREE.HemisphereLight(0xffffff, 0xb9b4aa, 1.7);
  sky.position.set(0, 0, 1);
  const sun = new THREE.DirectionalLight(0xffffff, 1.7);
  const camera = new THREE.PerspectiveCamera((FIELD * 180) / Math.PI, 1, 0.01, 100);
  camera.up.set(0, 0, 1);
  const ground = new THREE.Group();
  scene.add(sky, sun, sun.target, ground);
  return { scene, sun, camera, ground, gizmo: null };
}

function resizeView({ canvas, renderer, camera }) {
  const { width, height } = canvas.getBoundingClientRect();
  renderer.setPixelRatio(Math.min(globalThis.devicePixelRatio || 1, 2));
  renderer.setSize(Math.max(width, 1), Math.max(height, 1), false);
  camera.aspect = Math.max(width, 1) / Math.max(height, 1);
}

function renderView(view) {
  const { renderer, camera, eye, sun, theme } = view;
  const toward = towardEye(eye);
  camera.position.copy(eye.target).addScaledVector(toward, eye.distance);
  camera.lookAt(eye.target);
  camera.near = eye.distance / 200;
  camera.far = eye.distance + 40 * eye.fitted;
  camera.updateProjectionMatrix();
  sun.target.position.copy(eye.target);
  sun.position.copy(eye.target).add(new THREE.Vector3(-0.5, -0.8, 1.4).multiplyScalar(eye.distance)); // from the left, as on paper
  for (const { trail } of view.robots) trail.seenFrom(eye.distance);
  renderer.setClearColor(theme.paper);
  renderer.clear();
  renderer.render(view.scene, camera);
  renderGizmo(view, toward);
}

function towardEye({ azimuth, elevation }) {
  const level = Math.cos(elevation);
  return new THREE.Vector3(level * Math.cos(azimuth), level * Math.sin(azimuth), Math.sin(elevation));
}

// The robots and trails that are shown, made anew where shapes, motions or colours have changed.
function rebuild(view) {
  const { shown, theme } = view;
  const key = [shown, shown.motion, shown.ghost, shown.plates, shown.wheels, shown.bars, shown.joints, shown.solids, theme.dark];
  if (view.key && key.every((each, k) => each === view.key[k])) return;
  const ground = !view.key || view.key[0] !== shown || view.key[1] !== shown.motion || view.key[8] !== theme.dark;
  view.key = key;
  for (const { robot, trail } of view.robots) {
    robot.dispose();
    disposeTrail(trail);
  }
  const { ghost } = shown;
  const first = { shapes: shown, motion: shown.motion, look: {}, of: () => null };
  view.robots = [first, ...shown.others.map((other, k) => ({ shapes: other, motion: other.motion, look: { opacity: 0.6, colour: k + 1 } }))];
  if (ghost?.poses) view.robots.push({ shapes: ghost.scene ?? shown, motion: ghost, look: { opacity: 0.25 }, ghost: true });
  for (const each of view.robots) {
    each.robot = createRobot3d(each.shapes, theme, each.look);
    each.robot.show(view.seen);
    each.trail = createTrail({ ...each, ground: each.ghost ? shown.ground : each.shapes.ground }, theme);
    for (const { group } of [each.robot, each.trail]) {
      group.quaternion.copy(UPRIGHT[shown.up]);
      view.scene.add(group);
    }
  }
  if (ground) view.step = layGround(view);
  if (!view.gizmo || view.gizmo.dark !== theme.dark || view.gizmo.up !== shown.up) view.gizmo = createGizmo(theme, shown.up);
}

function poseRobot(each, scene, moment) {
  const own = each.motion === scene.motion ? moment : momentAt(each.motion, moment.time);
  each.robot.pose({ ...own, arrows: own.arrows });
  each.trail.until(own.index);
}

// The traced point's path: a thin line, and a tube over what has been travelled, as thick from far as from near.
function createTrail({ shapes, motion, look, ghost, ground }, theme) {
  const colour = new THREE.Color(ghost ? theme.ghost : theme.curves[(look.colour ?? 0) % theme.curves.length]);
  const { points, every } = trailPoints(shapes, motion, ground);
  const group = new THREE.Group();
  group.add(fromFirst(THREE.Line, points, { color: colour, transparent: true, opacity: 0.35 }));
  if (ghost || points.length < 2) return { group, until: () => {}, seenFrom: () => {} };
  const tube = new THREE.InstancedMesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ color: colour }), points.length - 1);
  const one = new THREE.Object3D();
  for (let k = 0; k + 1 < points.length; k++) {
    const along = new THREE.Vector3().subVectors(points[k + 1], points[k]);
    one.position.addVectors(points[k], points[k + 1]).multiplyScalar(0.5).sub(points[0]);
    one.scale.set(1, along.length(), 1);
    one.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    one.updateMatrix();
    tube.setMatrixAt(k, one.matrix);
  }
  tube.position.copy(points[0]);
  tube.frustumCulled = false;
  group.add(tube);
  let radius = 0;
  const seenFrom = (distance) => {
    const wanted = TRAIL_SHARE * distance;
    if (Math.abs(wanted - radius) < 0.15 * radius) return;
    radius = wanted;
    tube.geometry.dispose();
    tube.geometry = new THREE.CylinderGeometry(radius, radius, 1, 6, 1, true);
  };
  return { group, until: (index) => (tube.count = Math.floor(index / every)), seenFrom };
}

// What drives leaves its trail on the ground.
function trailPoints(shapes, motion, ground) {
  const { time } = motion;
  const level = shapes.base === "planar" ? groundLevel({ ...shapes, motion }, 0) : null;
  const every = Math.max(1, Math.ceil(time.length / TRAIL_POINTS));
  const points = [];
  for (let k = 0; k < time.length; k += every) {
    const at = placed(posesAt(motion, k), shapes.traced);
    if (level !== null) at[2] = level;
    if (ground) at[2] = heightAt(ground, at[0], at[1]) + 0.01 * shapes.size;
    if (at.every(Number.isFinite)) points.push(new THREE.Vector3(...at));
  }
  return { points, every };
}

function disposeTrail({ group }) {
  group.removeFromParent();
  group.traverse((object) => {
    object.geometry?.dispose();
    [object.material ?? []].flat().forEach((look) => look.dispose());
  });
}

const SURROUNDINGS = new WeakMap();

// Points around the robots over their motions, in the world; kept, as of many bodies they are many.
function aroundMotion(scene) {
  const known = SURROUNDINGS.get(scene.motion);
  if (known) return known;
  const found = [];
  for (const shapes of [scene, ...scene.others]) {
    const spots = [...outline({ ...shapes, solids: [] }), ...shapes.solids.flatMap(boxAround)];
    const { time } = shapes.motion;
    const every = Math.max(1, Math.floor(time.length / 60));
    for (let k = 0; k < time.length; k += every) {
      const now = posesAt(shapes.motion, k);
      for (const spot of spots) {
        const at = placed(now, spot);
        if (at.every(Number.isFinite)) found.push(new THREE.Vector3(...at).applyQuaternion(UPRIGHT[scene.up]));
      }
    }
  }
  if (!found.length) found.push(new THREE.Vector3());
  SURROUNDINGS.set(scene.motion, found);
  return found;
}

// The corners of the box around a body's own shape.
function boxAround({ frame, corners }) {
  const { min, max } = new THREE.Box3().setFromArray(corners);
  return [min.x, max.x].flatMap((x) => [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => [frame, [x, y, z]])));
}

// As near as everything is in the picture, seen from where it is seen now.
function fitView(view, scene) {
  const { eye, camera } = view;
  const points = aroundMotion(scene);
  new THREE.Box3().setFromPoints(points).getCenter(eye.target);
  const toward = towardEye(eye);
  const right = new THREE.Vector3().crossVectors(camera.up, toward).normalize();
  const up = new THREE.Vector3().crossVectors(toward, right);
  const [high, wide] = [Math.tan(FIELD / 2), Math.tan(FIELD / 2) * camera.aspect];
  const p = new THREE.Vector3();
  const away = points.map((point) => {
    p.subVectors(point, eye.target);
    return p.dot(toward) + Math.max(Math.abs(p.dot(right)) / wide, Math.abs(p.dot(up)) / high);
  });
  eye.fitted = eye.distance = 1.12 * away.reduce((most, each) => Math.max(most, each), 1e-6);
  eye.offset.set(0, 0, 0);
  eye.moved = false;
}

// A robot starts as large as it is looked at; one that drives far, of which little would be seen, is followed from near.
function beginView(view, scene, follow) {
  fitView(view, scene);
  const near = nearBy(view, scene);
  if (scene.base === "fixed" || near >= view.eye.distance) return;
  follow(true);
  view.eye.distance = near;
}

// How far away a robot is seen as large as one that is followed.
function nearBy({ camera }, { size }) {
  return size / (2 * NEAR * Math.tan(FIELD / 2) * Math.min(camera.aspect, 1));
}

function panView({ canvas, eye, camera }, dx, dy) {
  const metres = (2 * eye.distance * Math.tan(FIELD / 2)) / Math.max(canvas.clientHeight, 1);
  const right = new THREE.Vector3().setFromMatrixColumn(camera.matrix, 0);
  const up = new THREE.Vector3().setFromMatrixColumn(camera.matrix, 1);
  const move = right.multiplyScalar(-dx * metres).addScaledVector(up, dy * metres);
  eye.target.add(move);
  eye.offset.add(move);
  eye.moved = true;
}

// Lines at round distances on the ground, those through the world's origin stronger; how far apart they are. What hangs
// below the origin has the ground below it.
function layGround({ shown, theme, ground }) {
  for (const old of [...ground.children]) disposeTrail({ group: old });
  const box = new THREE.Box3().setFromPoints(aroundMotion(shown));
  const size = box.getSize(new THREE.Vector3());
  const step = roundStep(Math.max(size.x, size.y, 1.5 * shown.size) / 8);
  if (shown.ground) {
    ground.add(groundSurface(shown.ground, theme));
    for (const strong of [false, true]) ground.add(lines(groundLines(shown.ground, step, strong), { color: theme.ghost, transparent: true, opacity: strong ? 1 : 0.4 }));
  }
  const laid = new Set([shown.ground]);
  shown.others.forEach((other, k) => {
    if (!other.ground || laid.has(other.ground)) return;
    laid.add(other.ground);
    ground.add(groundSurface(other.ground, { ground: theme.curves[(k + 1) % theme.curves.length] }, SEEN_THROUGH));
  });
  if (shown.ground) return step;
  const reach = Math.max(0.8 * shown.size, 1.5 * step);
  const level = groundLevel(shown, box.min.z);
  const low = ["x", "y"].map((axis) => Math.floor((box.min[axis] - reach) / step));
  const high = ["x", "y"].map((axis) => Math.ceil((box.max[axis] + reach) / step));
  for (const strong of [false, true]) ground.add(gridLines({ low, high, step, level, strong }, theme));
  return step;
}

// Wheels stand on it; of others what hangs below the world's origin is above it.
function groundLevel({ wheels, base, motion, size }, lowest) {
  if (base === "planar" && wheels.length) return Math.min(...wheels.map(({ frame, radius }) => placed(motion.poses, [frame, [0, 0, 0]])[2] - radius));
  return lowest < -1e-3 * size ? lowest - 0.02 * size : 0;
}

function gridLines({ low, high, step, level, strong }, theme) {
  const points = [];
  const line = (...ends) => points.push(...ends.map(([x, y]) => new THREE.Vector3(x * step, y * step, level)));
  for (let i = low[0]; i <= high[0]; i++) if ((i === 0) === strong) line([i, low[1]], [i, high[1]]);
  for (let j = low[1]; j <= high[1]; j++) if ((j === 0) === strong) line([low[0], j], [high[0], j]);
  return lines(points, { color: strong ? theme.ghost : theme.axis });
}

const lines = (points, look) => fromFirst(THREE.LineSegments, points, look);

// Lines through points, which are kept from the first one on: single precision has steps of half a metre at UTM's places.
function fromFirst(Kind, points, look) {
  const [first = new THREE.Vector3()] = points;
  const geometry = new THREE.BufferGeometry().setFromPoints(points.map((point) => point.clone().sub(first)));
  const drawn = new Kind(geometry, new THREE.LineBasicMaterial(look));
  drawn.position.copy(first);
  return drawn;
}

// A text that faces whoever looks, its height in metres of the world.
function label(text, theme, height, at, colour = theme.muted) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const font = `500 44px ${theme.font}`;
  pen.font = font;
  canvas.width = Math.ceil(pen.measureText(text).width) + 8;
  canvas.height = 64;
  Object.assign(pen, { font, fillStyle: colour, textAlign: "center", textBaseline: "middle" });
  pen.fillText(text, canvas.width / 2, 34);
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, transparent: true, depthWrite: false }));
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.position.set(...at);
  return sprite;
}

// The directions of the world's axes, in a corner.
function createGizmo(theme, up) {
  const scene = new THREE.Scene();
  ["x", "y", "z"].forEach((name, k) => {
    const tip = new THREE.Vector3().setComponent(k, 1).applyQuaternion(UPRIGHT[up]);
    scene.add(new THREE.ArrowHelper(tip, new THREE.Vector3(), 0.8, theme.axes[k], 0.25, 0.18));
    scene.add(label(name, theme, 0.5, tip.clone().multiplyScalar(1.08).toArray(), theme.axes[k]));
  });
  const camera = new THREE.OrthographicCamera(-1.45, 1.45, 1.45, -1.45, 0, 10);
  camera.up.set(0, 0, 1);
  return { scene, camera, dark: theme.dark, up };
}

function renderGizmo({ renderer, gizmo, canvas }, toward) {
  gizmo.camera.position.copy(toward).multiplyScalar(5);
  gizmo.camera.lookAt(0, 0, 0);
  renderer.clearDepth();
  renderer.setViewport(Math.max(canvas.clientWidth - GIZMO - 8, 0), 8, GIZMO, GIZMO);
  renderer.render(gizmo.scene, gizmo.camera);
  renderer.setViewport(0, 0, Math.max(canvas.clientWidth, 1), Math.max(canvas.clientHeight, 1));
}

function layerOption(view, name, says, render) {
  const isOn = () => view.seen[name] ?? !view.shown?.solids.length;
  const set = (on) => {
    view.seen[name] = on;
    for (const { robot } of view.robots) robot.show(view.seen);
    render();
  };
  return { name, says, get on() { return isOn(); }, set };
}

// Drag to turn; with the right button, shift or two fingers to move; wheel or spread to come nearer; shift and arrows turn.
function setUpOrbit(canvas, { zoom, orbit, pan, render, fit }) {
  const fingers = new Map();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  canvas.style.touchAction = "none";
  canvas.addEventListener("pointerdown", ({ pointerId, clientX: x, clientY: y }) => {
    canvas.setPointerCapture(pointerId);
    fingers.set(pointerId, { x, y });
  });
  canvas.addEventListener("pointermove", ({ pointerId, clientX: x, clientY: y, shiftKey, buttons }) => {
    const last = fingers.get(pointerId);
    if (!last) return;
    const [dx, dy, before] = [x - last.x, y - last.y, fingers.size === 2 ? spread() : 0];
    fingers.set(pointerId, { x, y });
    if (before) zoom(spread() / before);
    if (before) pan(dx / 2, dy / 2);
    else if (shiftKey || buttons & 6) pan(dx, dy);
    else orbit(dx, dy);
    render();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, ({ pointerId }) => fingers.delete(pointerId));
  const on = (name, does) => canvas.addEventListener(name, (event) => {
    event.preventDefault();
    does(event);
    render();
  }, { passive: false });
  on("contextmenu", () => {});
  on("dblclick", fit);
  on("wheel", ({ deltaY, deltaMode }) => zoom(Math.exp(-deltaY * (deltaMode ? 0.03 : 0.0015))));
  const turns = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] };
  canvas.addEventListener("keydown", (event) => {
    if (!event.shiftKey || !turns[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    orbit(...turns[event.key]);
    render();
  });
}
