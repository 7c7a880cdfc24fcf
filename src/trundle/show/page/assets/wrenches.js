// Forces and moments as arrows: of a motion that a page made itself, and what their lengths stand for.

import { element, number, placed, posesAt } from "./data.js";

// The arrows of a motion as Python draws those of a run (show/arrows.py): what the ground does to each wheel, in the
// wheel's frame at its lowest point, as long as a newton is in the run that the page came with.
export function arrowsOf(motion, scene) {
  const acting = [];
  for (const { name, turns, scale } of scene.arrows) {
    const wheel = turns ? undefined : scene.wheels.find((each) => each.name === name);
    if (wheel) acting.push({ scale, spot: [wheel.frame, [0, 0, -wheel.radius]], parts: partsOf(wheel, motion.values, scene.view) });
  }
  return acting.map(({ scale, spot, parts }) => along(motion, spot, scale, parts));
}

// What a wheel's contact force is the sum of: values over time with their direction in the wheel's frame.
function partsOf({ name, roller_angle: angle }, values, view) {
  const ways = {
    traction: [1, 0, 0],
    side_force: [0, 1, 0],
    roller_force: [Math.sin(angle ?? 0), Math.cos(angle ?? 0), 0],
    load: [0, 0, view === "z" ? 0 : 1], // from above it would point at whoever looks
  };
  const found = Object.entries(ways).map(([part, way]) => ({ values: values[`${name}.${part}`], way }));
  return found.filter((each) => each.values);
}

function along(motion, spot, scale, parts) {
  const { time } = motion;
  const arrow = { at: new Float64Array(3 * time.length), vector: new Float64Array(3 * time.length) };
  const frame = 12 * spot[0];
  for (let k = 0; k < time.length; k++) {
    const here = posesAt(motion, k);
    const force = [0, 1, 2].map((axis) => parts.reduce((sum, { values, way }) => sum + values[k] * way[axis], 0));
    arrow.at.set(placed(here, spot), 3 * k);
    for (let row = 0; row < 3; row++) {
      const o = frame + 4 * row;
      arrow.vector[3 * k + row] = scale * (here[o] * force[0] + here[o + 1] * force[1] + here[o + 2] * force[2]);
    }
  }
  return arrow;
}

// A line for forces and one for moments: their colour, and how large the longest arrow is.
export function wrenchLegend(scene, motion) {
  const kinds = [
    { turns: false, what: "force" },
    { turns: true, what: "moment" },
  ];
  return kinds.flatMap(({ turns, what }) => {
    const unit = scene.arrows.find((arrow) => arrow.turns === turns)?.unit ?? "";
    const largest = motion.arrows.map(({ vector }, k) => (scene.arrows[k].turns === turns ? longest(vector) / scene.arrows[k].scale : 0));
    const most = Math.max(0, ...largest);
    return most > 0 ? [element("li", { class: what }, `${what}, at most ${number(most, 3)} ${unit}`)] : [];
  });
}

function longest(vectors) {
  let most = 0;
  for (let k = 0; k < vectors.length; k += 3) most = Math.max(most, Math.hypot(vectors[k], vectors[k + 1], vectors[k + 2]));
  return most;
}
