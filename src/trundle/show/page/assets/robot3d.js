// A robot in space: three.js objects on frames, moved to where the frames are at a moment.

import * as THREE from "./vendor/three.module.min.js";
import { placed } from "./data.js";
import { halfWidth, wheelHolders } from "./robot2d.js";

const TREADS = 12; // marks around a tread
const CREASE = Math.cos((35 * Math.PI) / 180); // faces that meet at less are shaded as one
const THROUGH = 0.4; // how strongly bodies are drawn through which joints are seen
const Y_AXIS = new THREE.Vector3(0, 1, 0);

// The parts of a robot that can be switched on and off, and whether they are shown at first.
export const LAYERS = [
  { name: "shapes", says: "bodies", on: true },
  { name: "skeleton", says: "joints", on: null }, // on where no shapes are known
  { name: "axes", says: "frames' axes", on: false },
  { name: "centers", says: "centres of mass", on: false },
  { name: "wrenches", says: "forces and moments", on: true },
];

// {group, pose(moment), setTheme(theme), show(layers), dispose()} of a scene's shapes; `opacity` below 1 for ghosts.
export function createRobot3d(shapes, theme, { opacity = 1, colour = null } = {}) {
  const group = new THREE.Group();
  const frames = Array.from({ length: shapes.frames }, () => still(new THREE.Group()));
  group.add(...frames);
  const kit = { shapes, frames, group, layers: new Map(), painted: [], clothes: [], moving: [], opacity, colour };
  kit.joint = 0.017 * shapes.size;
  kit.clothed = new Set(shapes.clothed);
  for (const solid of shapes.solids) addSolid(kit, solid);
  for (const plates of plateGroups(shapes.plates)) addPlates(kit, plates);
  shapes.wheels.forEach((wheel, k) => addWheel(kit, wheel, k));
  const bars = [...shapes.mounts, ...shapes.bars];
  const hidden = ({ start }) => kit.clothed.has(start[0]);
  addBars(kit, [...bars.filter((bar) => !hidden(bar)), ...wheelHolders(shapes.wheels)], "bars");
  addBars(kit, bars.filter(hidden), "skeleton");
  for (const joint of shapes.joints) addJoint(kit, joint);
  for (const { first } of shapes.loops) addBall(kit, first, kit.joint, "joint", "joints");
  for (const center of shapes.centers) addBall(kit, center, 0.8 * kit.joint, "center", "centers");
  frames.forEach((frame) => addAxes(kit, frame));
  shapes.arrows.forEach((arrow, k) => addArrow(kit, arrow, k));
  const setTheme = (next) => paint(kit, next);
  setTheme(theme);
  return { group, setTheme, pose: (moment) => pose(kit, moment), show: (on) => show(kit, on), dispose: () => dispose(kit) };
}

function still(object) {
  object.matrixAutoUpdate = false;
  return object;
}

function pose(kit, { poses, spins, arrows }) {
  kit.frames.forEach((frame, k) => {
    const o = 12 * k;
    frame.matrix.set(...poses.subarray(o, o + 12), 0, 0, 0, 1);
    frame.matrixWorldNeedsUpdate = true;
  });
  for (const move of kit.moving) move(poses, spins, arrows);
}

// Which layers are seen, by name; joints show through bodies whose own shapes hide them.
function show(kit, on) {
  const clothed = kit.clothed.size > 0;
  const skeleton = on.skeleton ?? !clothed;
  const seen = { bodies: on.shapes, bars: on.shapes, joints: skeleton, skeleton: skeleton && clothed, axes: on.axes, centers: on.centers, wrenches: on.wrenches };
  for (const { look, opacity } of kit.clothes) {
    look.opacity = skeleton ? Math.min(opacity, THROUGH) : opacity;
    look.transparent = look.opacity < 1;
    look.depthWrite = !look.transparent;
    look.needsUpdate = true;
  }
  kit.wrenches = on.wrenches;
  for (const [name, objects] of kit.layers) {
    for (const { object, parent } of objects) {
      if (seen[name]) parent.add(object);
      else object.removeFromParent(); // what is hidden takes no time
    }
  }
}

function add(kit, parent, object, layer) {
  parent.add(object);
  if (!kit.layers.has(layer)) kit.layers.set(layer, []);
  kit.layers.get(layer).push({ object, parent });
  return object;
}

// A material whose colour is the theme's of that name, now and when the theme changes.
function material(kit, name, { opacity = 1, ...look } = {}) {
  const strength = opacity * kit.opacity;
  const made = new THREE.MeshLambertMaterial({ transparent: strength < 1, opacity: strength, ...look });
  if (strength < 1) made.depthWrite = false;
  kit.painted.push({ material: made, name });
  return made;
}

function paint(kit, theme) {
  for (const { material: made, name } of kit.painted) made.color.set(colourOf(kit, theme, name));
}

function colourOf({ colour }, theme, name) {
  if (name.startsWith("#")) return name;
  const own = { center: "#e6b800", assumed: theme.body, x: theme.axes[0], y: theme.axes[1], z: theme.axes[2] };
  if (colour !== null && (name === "body" || name === "assumed")) return theme.curves[colour % theme.curves.length];
  return own[name] ?? theme[name];
}

function addSolid(kit, solid) {
  const { frame, colour } = solid;
  const opacity = colour && colour.length > 7 ? parseInt(colour.slice(7), 16) / 255 : 1;
  const look = material(kit, colour ? colour.slice(0, 7) : "body", { opacity, side: THREE.DoubleSide });
  kit.clothes.push({ look, opacity: look.opacity });
  add(kit, kit.frames[frame], still(new THREE.Mesh(surfaceOf(solid), look)), "bodies");
}

const SURFACES = new WeakMap();

// Triangles with normals that are one across edges, but for sharp ones. Kept, as a mesh takes longer than a frame.
function surfaceOf(solid) {
  const known = SURFACES.get(solid.corners);
  if (known) return known.clone();
  const { corners, triangles } = solid;
  const positions = new Float32Array(3 * triangles.length);
  triangles.forEach((corner, k) => positions.set(corners.subarray(3 * corner, 3 * corner + 3), 3 * k));
  const made = new THREE.BufferGeometry();
  made.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  made.setAttribute("normal", new THREE.BufferAttribute(creasedNormals(positions, triangles, corners.length / 3), 3));
  SURFACES.set(corners, made);
  return made.clone();
}

function creasedNormals(positions, triangles, count) {
  const faces = faceNormals(positions);
  const starts = new Uint32Array(count + 1);
  for (const corner of triangles) starts[corner + 1]++;
  for (let k = 0; k < count; k++) starts[k + 1] += starts[k];
  const next = starts.slice();
  const around = new Uint32Array(triangles.length);
  triangles.forEach((corner, k) => (around[next[corner]++] = Math.floor(k / 3)));
  const normals = new Float32Array(positions.length);
  for (let k = 0; k < triangles.length; k++) {
    const own = 4 * Math.floor(k / 3);
    let x = 0;
    let y = 0;
    let z = 0;
    for (let j = starts[triangles[k]]; j < starts[triangles[k] + 1]; j++) {
      const other = 4 * around[j];
      const along = faces[own] * faces[other] + faces[own + 1] * faces[other + 1] + faces[own + 2] * faces[other + 2];
      if (along < CREASE) continue;
      const area = faces[other + 3];
      x += area * faces[other];
      y += area * faces[other + 1];
      z += area * faces[other + 2];
    }
    const length = Math.hypot(x, y, z) || 1;
    normals[3 * k] = x / length;
    normals[3 * k + 1] = y / length;
    normals[3 * k + 2] = z / length;
  }
  return normals;
}

// Of each face its unit normal and twice its area.
function faceNormals(positions) {
  const found = new Float32Array((4 * positions.length) / 9);
  const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  for (let f = 0; 9 * f < positions.length; f++) {
    a.fromArray(positions, 9 * f);
    b.fromArray(positions, 9 * f + 3).sub(a);
    c.fromArray(positions, 9 * f + 6).sub(a);
    const area = b.cross(c).length();
    b.divideScalar(area || 1).toArray(found, 4 * f);
    found[4 * f + 3] = area;
  }
  return found;
}

// The flat polygons on one frame, those of known shape and those of assumed ones apart.
function plateGroups(plates) {
  const groups = new Map();
  for (const plate of plates) {
    const key = `${plate.frame} ${plate.assumed}`;
    groups.set(key, [...(groups.get(key) ?? []), plate]);
  }
  return groups.values();
}

// A known outline is a slab; the faces of an assumed box let through what is in it.
function addPlates(kit, plates) {
  const [{ frame, assumed }] = plates;
  if (kit.clothed.has(frame)) return;
  const thickness = assumed ? 0 : slabThickness(kit.shapes, frame);
  const positions = plates.flatMap(({ corners }) => (assumed ? fan(corners) : slab(corners, thickness)));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions.flat(), 3));
  geometry.computeVertexNormals();
  const look = material(kit, assumed ? "assumed" : "body", { opacity: assumed ? 0.55 : 1, side: THREE.DoubleSide });
  add(kit, kit.frames[frame], still(new THREE.Mesh(geometry, look)), "bodies");
  const edges = new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 20), new THREE.LineBasicMaterial({ transparent: true, opacity: 0.6 * kit.opacity }));
  kit.painted.push({ material: edges.material, name: "muted" });
  add(kit, kit.frames[frame], still(edges), "bodies");
}

function slabThickness({ wheels, size }, frame) {
  const held = wheels.filter(({ pivot }) => pivot[0] === frame).map(({ radius }) => radius);
  return held.length ? 0.7 * Math.min(...held) : 0.05 * size;
}

function fan(corners) {
  return corners.slice(2).flatMap((corner, k) => [corners[0], corners[k + 1], corner]);
}

function slab(corners, thickness) {
  const level = (side) => corners.map(([x, y, z]) => [x, y, z + (side * thickness) / 2]);
  const [below, above] = [level(-1), level(1)];
  const sides = corners.flatMap((_, k) => {
    const next = (k + 1) % corners.length;
    return [below[k], below[next], above[next], below[k], above[next], above[k]];
  });
  return [...fan(above), ...fan(below).reverse(), ...sides];
}

// A wheel rolls along x about y; what is painted on it turns with its spin.
function addWheel(kit, wheel, index) {
  const { frame, radius, round } = wheel;
  const turning = still(new THREE.Group());
  turning.name = wheel.name;
  add(kit, kit.frames[frame], turning, "bodies");
  if (round) {
    turning.add(new THREE.Mesh(new THREE.SphereGeometry(radius, 32, 16), material(kit, "wheel")));
    return;
  }
  const half = halfWidth(wheel);
  const disc = (share, reach) => new THREE.CylinderGeometry(share * radius, share * radius, 2 * reach * half, 40);
  turning.add(new THREE.Mesh(disc(1, 1), material(kit, "wheel")), new THREE.Mesh(disc(0.55, 1.02), material(kit, "body")));
  const marks = new THREE.BufferGeometry();
  marks.setAttribute("position", new THREE.Float32BufferAttribute(wheelMarks(wheel, half).flat(), 3));
  marks.computeVertexNormals();
  turning.add(new THREE.Mesh(marks, material(kit, "mark", { side: THREE.DoubleSide })));
  kit.moving.push((poses, spins) => {
    const spin = spins && Number.isFinite(spins[index]) ? spins[index] : 0;
    turning.matrix.makeRotationY(spin);
    turning.matrixWorldNeedsUpdate = true;
  });
}

// Bars across the tread, slanted like the rollers on the ground (seen from below), and one spoke on either side.
function wheelMarks({ radius, roller_angle: angle }, half) {
  const omni = Math.abs(angle ?? 0) > 1.2;
  const lean = angle === null || omni ? 0 : Math.min((half * Math.tan(Math.abs(angle))) / radius, 0.6) * Math.sign(angle);
  const [across, wide] = omni ? [0.6 * half, 0.1] : [0.98 * half, 0.035];
  const on = (a, y, r) => [r * Math.sin(a), y, r * Math.cos(a)];
  const quad = (p, q, r, s) => [p, q, r, p, r, s];
  const found = [];
  for (let k = 0; k < TREADS; k++) {
    const a = (2 * Math.PI * k) / TREADS;
    const out = 1.012 * radius;
    found.push(...quad(on(a + lean - wide, -across, out), on(a + lean + wide, -across, out), on(a - lean + wide, across, out), on(a - lean - wide, across, out)));
  }
  for (const side of [-1, 1]) {
    const [y, w] = [side * 1.03 * half, 0.06 * radius];
    found.push(...quad([-w, y, 0], [w, y, 0], [w, y, 0.95 * radius], [-w, y, 0.95 * radius]));
  }
  return found;
}

// Bars from one spot to another, which may be on different frames: all in one object, as each takes time to draw.
function addBars(kit, bars, layer) {
  if (!bars.length) return;
  const radius = 0.45 * kit.joint;
  const look = material(kit, "wheel");
  const many = (geometry, count) => {
    const made = new THREE.InstancedMesh(geometry, look, count);
    made.frustumCulled = false;
    return add(kit, kit.group, still(made), layer);
  };
  const rods = many(new THREE.CylinderGeometry(radius, radius, 1, 14), bars.length);
  const tips = many(new THREE.SphereGeometry(radius, 14, 8), 2 * bars.length);
  const [from, to, matrix] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Matrix4()];
  kit.moving.push((poses) => {
    bars.forEach(({ start, end }, k) => {
      from.fromArray(placed(poses, start));
      to.fromArray(placed(poses, end));
      rods.setMatrixAt(k, span(matrix, from, to));
      tips.setMatrixAt(2 * k, matrix.makeTranslation(from));
      tips.setMatrixAt(2 * k + 1, matrix.makeTranslation(to));
    });
    rods.instanceMatrix.needsUpdate = tips.instanceMatrix.needsUpdate = true;
  });
}

const SPAN = { along: new THREE.Vector3(), turn: new THREE.Quaternion(), scale: new THREE.Vector3() };

// Where what is one metre long along y, about its middle, is between two points.
function span(matrix, from, to) {
  const length = Math.max(SPAN.along.subVectors(to, from).length(), 1e-12);
  SPAN.turn.setFromUnitVectors(Y_AXIS, SPAN.along.divideScalar(length));
  SPAN.along.addVectors(from, to).multiplyScalar(0.5);
  return matrix.compose(SPAN.along, SPAN.turn, SPAN.scale.set(1, length, 1));
}

// A pin along its axis, a sleeve along what slides, a ball for what turns every way; what is fixed has none.
function addJoint(kit, { frame, symbol, axis, turns }) {
  if (symbol === "weld") return;
  const r = kit.joint;
  if (axis === null || symbol === "ball") {
    addBall(kit, [frame, [0, 0, 0]], r, "joint", "joints");
    return;
  }
  const geometry = turns ? new THREE.CylinderGeometry(r, r, 2.6 * r, 24) : new THREE.BoxGeometry(1.7 * r, 3.6 * r, 1.7 * r);
  const pin = new THREE.Mesh(geometry, material(kit, "joint"));
  pin.quaternion.setFromUnitVectors(Y_AXIS, new THREE.Vector3(...axis).normalize());
  pin.updateMatrix();
  add(kit, kit.frames[frame], still(pin), "joints");
}

function addBall(kit, [frame, at], radius, name, layer) {
  const ball = new THREE.Mesh(new THREE.SphereGeometry(radius, 20, 12), material(kit, name));
  ball.position.set(...at);
  ball.updateMatrix();
  add(kit, kit.frames[frame], still(ball), layer);
}

function addAxes(kit, frame) {
  const length = 6 * kit.joint;
  ["x", "y", "z"].forEach((name, k) => {
    const axis = new THREE.Mesh(new THREE.CylinderGeometry(0.12 * kit.joint, 0.12 * kit.joint, 1, 8), material(kit, name));
    const to = new THREE.Vector3().setComponent(k, length);
    span(axis.matrix, new THREE.Vector3(), to);
    add(kit, frame, still(axis), "axes");
  });
}

// A force is an arrow with one head, a moment one with two and a ring about it.
function addArrow(kit, { turns }, index) {
  const r = kit.joint;
  const look = material(kit, turns ? "moment" : "force");
  const shaft = still(new THREE.Mesh(new THREE.CylinderGeometry(0.3 * r, 0.3 * r, 1, 12), look));
  const heads = Array.from({ length: turns ? 2 : 1 }, () => still(new THREE.Mesh(new THREE.ConeGeometry(0.9 * r, 2.4 * r, 16), look)));
  const ring = turns ? [still(new THREE.Mesh(new THREE.TorusGeometry(2.2 * r, 0.2 * r, 8, 32, 1.5 * Math.PI), look))] : [];
  const arrow = new THREE.Group();
  arrow.add(shaft, ...heads, ...ring);
  add(kit, kit.group, arrow, "wrenches");
  const [from, to, along] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  const place = (object, share, axis, size) => {
    SPAN.turn.setFromUnitVectors(axis, along);
    object.matrix.compose(SPAN.along.lerpVectors(from, to, share), SPAN.turn, SPAN.scale.setScalar(size));
    object.matrixWorldNeedsUpdate = true;
  };
  kit.moving.push((poses, spins, arrows) => {
    arrow.visible = kit.wrenches && index < arrows.length;
    if (!arrow.visible) return;
    from.fromArray(arrows[index].at);
    along.fromArray(arrows[index].vector);
    const length = along.length();
    arrow.traverse((each) => (each.layers.mask = length > 0.05 * r ? 1 : 0)); // what is too short is left out
    const size = Math.min(1, length / (3 * r)); // of the head of a short one
    to.addVectors(from, along);
    along.normalize();
    span(shaft.matrix, from, to);
    shaft.matrixWorldNeedsUpdate = true;
    heads.forEach((head, k) => place(head, 1 - (k * 2 * size * r) / length, Y_AXIS, size));
    ring.forEach((each) => place(each, 0.5, new THREE.Vector3(0, 0, 1), size));
  });
}

function dispose({ group, layers }) {
  for (const { object } of [...layers.values()].flat()) {
    object.traverse((each) => {
      each.geometry?.dispose();
      each.material?.dispose();
    });
  }
  group.removeFromParent();
}
