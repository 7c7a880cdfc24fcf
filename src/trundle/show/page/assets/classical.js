// The classical Runge-Kutta method at steps that are stable wherever the run comes.

import { eigenvalues, longestStableStep } from "./eigen.js";
import { difference, halved, march, countSteps, summaryOf, uniformMesh } from "./mesh.js";
import { fail, fillCommands } from "./problem.js";

// Errors of twice the step that are aimed at, relative to the largest state of the same unit: the step itself is some
// sixteen times better. The finer one where it is cheap.
const [GOAL, FINE] = [1e-4, 1e-6];
// Operations that the classical method may take, some 50 ms, and those that are cheap.
const [PLENTY, CHEAP] = [3e7, 4e6];
const LOOKS = 12; // moments along a run at which its stability is looked at again
const SINGULAR = "its motion has no value where it starts: it is singular there, or a number is out of bounds";
const SAFE = 0.9; // share of the longest stable step that is taken

/** x + h/6 (k₁ + 2k₂ + 2k₃ + k₄), then back onto the constraints (Kutta 1901). */
function classical({ model, n, p, u }) {
  const { dynamics, project } = model;
  const [k1, k2, k3, k4, y] = [0, 0, 0, 0, 0].map(() => new Float64Array(n));
  return (x, t, h, segment) => {
    fillCommands(segment, t, u);
    dynamics(x, u, p, k1);
    for (let i = 0; i < n; i++) y[i] = x[i] + (h / 2) * k1[i];
    if (segment.moves) fillCommands(segment, t + h / 2, u);
    dynamics(y, u, p, k2);
    for (let i = 0; i < n; i++) y[i] = x[i] + (h / 2) * k2[i];
    dynamics(y, u, p, k3);
    for (let i = 0; i < n; i++) y[i] = x[i] + h * k3[i];
    if (segment.moves) fillCommands(segment, t + h, u);
    dynamics(y, u, p, k4);
    for (let i = 0; i < n; i++) x[i] += (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    if (project) {
      project(x, u, p, y);
      x.set(y);
    }
  };
}

/**
 * The run at steps that are stable wherever it comes; null where these are more operations than `most`, or where it takes
 * too many to be right.
 */
export function atStableSteps(problem, most) {
  const { model, n, time, segments } = problem;
  const [advance, duration] = [classical(problem), time.at(-1)];
  let h = SAFE * stableStep(problem, problem.x, 0);
  for (let turn = 0; turn < 8; turn++) {
    if (Number.isNaN(h)) fail(problem, problem.x, 0, segments[0], SINGULAR);
    let mesh = uniformMesh(segments, h);
    if (3 * 4 * model.operations * countSteps(mesh) > Math.max(PLENTY, most)) return null;
    let coarse = march(problem, mesh, advance);
    const along = stableAlong(problem, coarse);
    if (coarse.failed >= 0 || along < 0.95 * (duration / countSteps(mesh))) {
      h = Math.min(h / 2, SAFE * along);
      continue;
    }
    for (;;) {
      mesh = halved(mesh);
      const fine = march(problem, mesh, advance);
      if (fine.failed >= 0) return null;
      const off = difference(problem, coarse.states, fine.states);
      const next = 2 * 4 * model.operations * countSteps(mesh);
      if (off.halfStepError > GOAL && next > PLENTY) return null;
      if (off.halfStepError <= (next > CHEAP ? GOAL : FINE))
        return { states: fine.states, summary: summaryOf(problem, "Runge-Kutta, order 4", mesh, off) };
      coarse = fine;
    }
  }
  return null;
}

/** The longest stable step at a state and a time. */
function stableStep({ model, n, p, u }, x, t, segment = null) {
  if (segment) fillCommands(segment, t, u);
  const slope = new Float64Array(n * n);
  model.slopes(x, u, p, new Float64Array(n), slope);
  return longestStableStep(eigenvalues(slope, n));
}

/** The shortest of the longest stable steps along a run, as far as it is finite. */
function stableAlong(problem, { states, failed }) {
  const { n, time, segments } = problem;
  const end = failed >= 0 ? segments[failed].stored : time.length;
  let shortest = Infinity;
  for (let k = 1; k <= LOOKS; k++) {
    const at = Math.floor(((end - 1) * k) / LOOKS);
    const segment = segments.find((each) => each.to >= time[at]);
    const h = stableStep(problem, states.subarray(n * at, n * at + n), time[at], segment);
    if (h < shortest) shortest = h;
  }
  return shortest;
}
