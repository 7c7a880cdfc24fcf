// RODAS: a Rosenbrock method, L-stable, of order 4, with an error estimate of order 3 that finds its steps.

import { difference, halved, march, summaryOf } from "./mesh.js";
import { arrive, fail, fillCommands, RunFailure } from "./problem.js";

// Hairer & Wanner 1996, section VI.4 (the code RODAS, method 1): (1/(h γ) − J) Uᵢ = f(t + αᵢ h, x + Σ aᵢⱼ Uⱼ) +
// Σ cᵢⱼ Uⱼ / h + dᵢ h ∂f/∂t. The last stage is the error estimate.
const GAMMA = 0.25;
const ALPHA = [0, 0.386, 0.21, 0.63, 1, 1];
const RODAS_D = [0.25, -0.1043, 0.1035, -0.03620000000000023, 0, 0];
const RODAS_A = [
  [],
  [1.544],
  [0.9466785280815826, 0.2557011698983284],
  [3.314825187068521, 2.896124015972201, 0.9986419139977817],
  [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895],
  [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1],
];
const RODAS_C = [
  [],
  [-5.6688],
  [-2.430093356833875, -0.2063599157091915],
  [-0.1073529058151375, -9.594562251023355, -20.47028614809616],
  [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616],
  [8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054],
];
const STUCK = "its steps become too short: the motion is singular or unstable there";
const MOST_STEPS = 2e6;
const TOLERANCE = 1e-6; // of each step, relative to the state and to the largest one of its unit so far

/** A step from x to `next`; what it returns is the estimate of its error, state by state. */
function rosenbrock({ model, n, p, u }) {
  const { dynamics, slopes, project } = model;
  const [rate, slope, drift, y] = [n, n * n, n, n].map((size) => new Float64Array(size));
  const stages = ALPHA.map(() => new Float64Array(n));
  const matrix = new Float64Array(n * n);
  const order = new Int32Array(n);

  /** ∂f/∂t, by a central difference. */
  function driftOf(x, t, small, segment) {
    fillCommands(segment, t - small, u);
    dynamics(x, u, p, rate);
    fillCommands(segment, t + small, u);
    dynamics(x, u, p, drift);
    for (let i = 0; i < n; i++) drift[i] = (drift[i] - rate[i]) / (2 * small);
  }

  return (x, t, h, segment, next) => {
    if (segment.moves) driftOf(x, t, 1e-4 * h, segment);
    fillCommands(segment, t, u);
    slopes(x, u, p, rate, slope);
    for (let k = 0; k < n * n; k++) matrix[k] = -slope[k];
    for (let k = 0; k < n; k++) matrix[k * n + k] += 1 / (h * GAMMA);
    factorise(matrix, order, n);
    for (let s = 0; s < 6; s++) {
      const stage = stages[s];
      y.set(x);
      addStages(y, RODAS_A[s], stages, 1);
      if (s > 0) {
        if (segment.moves) fillCommands(segment, t + ALPHA[s] * h, u);
        dynamics(y, u, p, rate);
      }
      stage.set(rate);
      addStages(stage, RODAS_C[s], stages, 1 / h);
      if (segment.moves) for (let i = 0; i < n; i++) stage[i] += RODAS_D[s] * h * drift[i];
      solveFactorised(matrix, order, stage, n);
    }
    for (let i = 0; i < n; i++) next[i] = y[i] + stages[5][i];
    if (project) {
      project(next, u, p, y);
      next.set(y);
    }
    return stages[5];
  };
}

/** Σ factor · weight · stage, added to a vector. */
function addStages(sum, weights, stages, factor) {
  for (let j = 0; j < weights.length; j++) {
    const [weight, stage] = [factor * weights[j], stages[j]];
    for (let i = 0; i < sum.length; i++) sum[i] += weight * stage[i];
  }
}

/** A = L U in place, rows exchanged for the largest pivot: `order` says with which. */
function factorise(a, order, n) {
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k]) > Math.abs(a[pivot * n + k])) pivot = i;
    order[k] = pivot;
    if (pivot !== k) {
      for (let j = 0; j < n; j++) {
        const kept = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = kept;
      }
    }
    const top = k * n;
    for (let row = top + n; row < n * n; row += n) {
      if (a[row + k] === 0) continue;
      const ratio = a[row + k] / a[top + k];
      a[row + k] = ratio;
      for (let j = k + 1; j < n; j++) a[row + j] -= ratio * a[top + j];
    }
  }
}

/** b ← A⁻¹ b with A as `factorise` left it. */
function solveFactorised(a, order, b, n) {
  for (let k = 0; k < n; k++) {
    const kept = b[order[k]];
    b[order[k]] = b[k];
    b[k] = kept;
  }
  for (let i = 1; i < n; i++) {
    let rest = b[i];
    for (let j = 0; j < i; j++) rest -= a[i * n + j] * b[j];
    b[i] = rest;
  }
  for (let i = n - 1; i >= 0; i--) {
    let rest = b[i];
    for (let j = i + 1; j < n; j++) rest -= a[i * n + j] * b[j];
    b[i] = rest / a[i * n + i];
  }
}

/** Operations that a run by RODAS takes at least: a step to each stop, then two for each. */
export function leastImplicitWork({ model, n, segments }) {
  const slopeOperations = model.slopeOperations ?? n * model.operations;
  return 3 * segments.length * (slopeOperations + 6 * model.operations + (n * n * n) / 3 + 8 * n * n);
}

/** The run by RODAS: steps found by its error estimate, then each of them taken in two halves. */
export function atImplicitSteps(problem) {
  const step = rosenbrock(problem);
  const { mesh, states } = adaptedMesh(problem, step);
  const half = halved(mesh);
  const next = new Float64Array(problem.n);
  const fine = march(problem, half, (x, t, h, segment) => {
    step(x, t, h, segment, next);
    x.set(next);
  });
  if (fine.failed >= 0) throw new RunFailure("its numbers leave all bounds", problem.segments[fine.failed].from);
  const off = difference(problem, states, fine.states);
  return { states: fine.states, summary: summaryOf(problem, "Rosenbrock (RODAS), order 4", half, off) };
}

/** Steps whose estimated errors are within the tolerance, ending at every stop, and the states at the samples. */
function adaptedMesh(problem, step) {
  const { n, segments, time } = problem;
  const states = new Float64Array(n * time.length);
  let x = Float64Array.from(problem.x);
  let next = new Float64Array(n);
  states.set(x);
  const largest = largestOf(problem);
  let [h, taken] = [time[1] / 64, 0];
  const mesh = segments.map((segment, s) => {
    const steps = [];
    let t = segment.from;
    while (t < segment.to) {
      const left = segment.to - t;
      const length = h >= left * (1 - 1e-9) ? left : Math.min(h, left / 2);
      const error = errorNorm(problem, x, next, step(x, t, length, segment, next), largest);
      if (!(length > 1e-14 * (1 + t)) || taken++ > MOST_STEPS) fail(problem, x, t, segment, STUCK);
      const factor = Number.isFinite(error) ? Math.min(6, Math.max(0.2, 0.9 * error ** -0.25)) : 0.1;
      if (error <= 1) {
        steps.push(length);
        t = length === left ? segment.to : t + length;
        [x, next] = [next, x];
        largest.see(x);
        // what was cut short by a stop says little about the step after it
        h = length === left ? Math.max(h, factor * length) : factor * length;
      } else {
        h = factor * length;
      }
    }
    arrive(problem, x, s + 1);
    if (segment.stored > 0) states.set(x, n * segment.stored);
    return Float64Array.from(steps);
  });
  return { mesh, states };
}

/** The largest size so far of the states of each unit. */
function largestOf({ model, n, x }) {
  const kinds = [...new Set(model.kinds)];
  const places = Int32Array.from(model.kinds, (kind) => kinds.indexOf(kind));
  const sizes = new Float64Array(kinds.length);
  const see = (state) => {
    for (let i = 0; i < n; i++) sizes[places[i]] = Math.max(sizes[places[i]], Math.abs(state[i]));
  };
  see(x);
  return { see, of: (i) => sizes[places[i]] };
}

/** The estimated error of a step in tolerances: its root mean square over the states. */
function errorNorm({ n }, x, next, error, largest) {
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const allowed = TOLERANCE * (1e-3 + Math.max(Math.abs(x[i]), Math.abs(next[i]), 0.1 * largest.of(i)));
    sum += (error[i] / allowed) ** 2;
  }
  return Math.sqrt(sum / n);
}
