// Runs of a model in JavaScript: ẋ = f(x, u(t), p) at fixed steps, and how far off half the step says they are.
//
// A model is its emitted functions with its sizes (see page/live.py):
//   {sizes: {state, input, parameter, output, pose, spin, measure}, kinds: [unit of each state], operations, slopeOperations,
//    dynamics(state, input, parameter, rate), slopes(state, input, parameter, rate, slope), observe(…, output),
//    place(…, pose, spin), measure(…, measure) or null, project(…, state) or null}

import { eigenvalues, longestStableStep } from "./eigen.js";

// Errors of twice the step that are aimed at, relative to the largest state of the same unit: the step itself is some
// sixteen times better. The finer one where it is cheap.
const [GOAL, FINE] = [1e-4, 1e-6];
// Operations that the classical method may take, some 50 ms, and those that are cheap.
const [PLENTY, CHEAP] = [3e7, 8e6];
const MOST_STEPS = 2e6;
const LOOKS = 12; // moments along a run at which its stability is looked at again
const SAFE = 0.9; // share of the longest stable step that is taken
const CLOSED = 1e-10; // a state moved by less than this, relatively, by the projection is on the constraints

/**
 * Run a model.
 *
 * @param model its functions, as above
 * @param start all states at t = 0; parameters: all of them; duration in s; samples: how many equal times are stored
 * @param inputs for each a number, or a table {times, values, interpolation: "linear" | "previous"} held at its ends, or
 *   one with `coefficients`: for each of its pieces those of (t − its start)³, ², ¹ and 1
 * @returns {time, states, inputs, outputs: a column each, poses: (samples × frames × 12), spins: (samples × wheels),
 *   measures, method, step: the mean one in s, shortest, steps, halfStepError: by how much the run at twice the step
 *   differs, relative to the largest state of the same unit, worst: the state of which that is, seconds}
 * @throws RunFailure with the time and the state at which there are no numbers
 */
export function simulate(model, { start, inputs, parameters, duration, samples = 601 }) {
  const began = performance.now();
  const problem = stated(model, { start, inputs, parameters, duration, samples });
  const found = atStableSteps(problem) ?? atImplicitSteps(problem);
  return { ...shown(problem, found), ...found.summary, seconds: (performance.now() - began) / 1000 };
}

/** Why there is no run: at which time, and the index of the state that is no number (-1 where it isn't one's fault). */
export class RunFailure extends Error {
  constructor(message, time, state = -1) {
    super(message);
    this.time = time;
    this.state = state;
  }
}

// ---- What is to be run ------------------------------------------------------------------------------------------

/** The numbers of a run: its start on the constraints, and segments between samples, jumps and kinks of the inputs. */
function stated(model, { start, inputs, parameters, duration, samples }) {
  const n = model.sizes.state;
  const p = Float64Array.from(parameters);
  const time = Float64Array.from({ length: samples }, (_, k) => (duration * k) / (samples - 1));
  const stops = new Set(time);
  const gap = (1e-9 * duration) / samples;
  for (const table of inputs) {
    for (const t of table.times ?? []) if (t > 0 && t < duration && !near(time, t, gap)) stops.add(t);
  }
  const ends = [...stops].sort((a, b) => a - b);
  const segments = [];
  let sample = 1;
  for (let k = 1; k < ends.length; k++) {
    const [from, to] = [ends[k - 1], ends[k]];
    const stored = to === time[sample] ? sample++ : -1;
    segments.push({ from, to, stored, commands: inputs.map((input) => pieceOf(input, (from + to) / 2)) });
  }
  for (const each of segments) each.moves = each.commands.some(([, a, b, c]) => a || b || c);
  const problem = { model, n, p, time, segments, x: Float64Array.from(start), u: new Float64Array(inputs.length) };
  fillCommands(segments[0], 0, problem.u);
  close(problem);
  return problem;
}

function near(time, t, gap) {
  const k = Math.round((t / time.at(-1)) * (time.length - 1));
  return Math.abs(time[k] - t) <= gap;
}

/** What an input is around a time: [start, a, b, c, d] of a (t − start)³ + b (t − start)² + c (t − start) + d. */
function pieceOf(input, t) {
  if (typeof input === "number") return [0, 0, 0, 0, input];
  const { times, values, coefficients, interpolation = "linear" } = input;
  const last = times.length - 1;
  if (t < times[0] || last === 0) return [0, 0, 0, 0, values[0]];
  if (t >= times[last]) return [0, 0, 0, 0, values[last]];
  let k = 0;
  while (times[k + 1] <= t) k++;
  if (coefficients) return [times[k], ...coefficients[k]];
  const slope = interpolation === "previous" ? 0 : (values[k + 1] - values[k]) / (times[k + 1] - times[k]);
  return [times[k], 0, 0, slope, values[k]];
}

function fillCommands(segment, t, u) {
  for (let k = 0; k < u.length; k++) {
    const piece = segment.commands[k];
    const s = t - piece[0];
    u[k] = ((piece[1] * s + piece[2]) * s + piece[3]) * s + piece[4];
  }
}

/** Move the start onto the constraints, by Newton steps of least change; RunFailure where that doesn't end. */
function close({ model, n, p, x, u }) {
  if (!model.project) return;
  const moved = new Float64Array(n);
  for (let turn = 0; turn < 50; turn++) {
    model.project(x, u, p, moved);
    let change = 0;
    for (let k = 0; k < n; k++) change = Math.max(change, Math.abs(moved[k] - x[k]) / (1 + Math.abs(x[k])));
    x.set(moved);
    if (change <= CLOSED) return;
    if (!(change < 1e3)) break;
  }
  throw new RunFailure("its loops can't be closed with these numbers", 0);
}

// ---- Marching -----------------------------------------------------------------------------------------------------

/**
 * The states at all samples, steps as `mesh` says: for each segment the lengths of its steps. `advance` moves x by one
 * step in place. Stops before the first sample that isn't finite: `failed` is that sample, 0 where all is well.
 */
function march(problem, mesh, advance) {
  const { n, segments, time } = problem;
  const states = new Float64Array(n * time.length);
  const x = Float64Array.from(problem.x);
  states.set(x);
  for (let s = 0; s < segments.length; s++) {
    const segment = segments[s];
    let t = segment.from;
    for (let k = 0; k < mesh[s].length; k++) {
      advance(x, t, mesh[s][k], segment);
      t += mesh[s][k];
    }
    if (!isFiniteState(x)) return { states, failed: problem.segments.findIndex((each, i) => i >= s && each.stored > 0) };
    if (segment.stored > 0) states.set(x, n * segment.stored);
  }
  return { states, failed: -1 };
}

function isFiniteState(x) {
  let sum = 0;
  for (let k = 0; k < x.length; k++) sum += x[k] - x[k];
  return sum === 0;
}

/** Equal steps of at most h within each segment. */
function uniformMesh(segments, h) {
  return segments.map(({ from, to }) => {
    const count = Math.max(1, Math.ceil((to - from) / h - 1e-9));
    return new Float64Array(count).fill((to - from) / count);
  });
}

const halved = (mesh) => mesh.map((steps) => Float64Array.from({ length: 2 * steps.length }, (_, k) => steps[k >> 1] / 2));
const stepsOf = (mesh) => mesh.reduce((sum, steps) => sum + steps.length, 0);

/** By how much two runs differ at the samples, relative to the largest state of the same unit, and whose that is. */
function difference({ n, time, model }, coarse, fine) {
  const largest = new Map();
  for (let k = 0; k < fine.length; k++) {
    const kind = model.kinds[k % n];
    largest.set(kind, Math.max(largest.get(kind) ?? 0, Math.abs(fine[k])));
  }
  let error = 0;
  let worst = 0;
  for (let k = 0; k < n * time.length; k++) {
    const off = Math.abs(fine[k] - coarse[k]) / (largest.get(model.kinds[k % n]) || 1);
    if (off > error) [error, worst] = [off, k % n];
  }
  return { halfStepError: error, worst };
}

function summaryOf(problem, method, mesh, off) {
  const steps = stepsOf(mesh);
  let shortest = Infinity;
  for (const each of mesh) for (const h of each) shortest = Math.min(shortest, h);
  return { method, step: problem.time.at(-1) / steps, shortest, steps, ...off };
}

// ---- The classical Runge-Kutta method -----------------------------------------------------------------------------

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

/** The run at steps that are stable wherever it comes; null where these are too many for the classical method. */
function atStableSteps(problem) {
  const { model, n, time, segments } = problem;
  const [advance, duration] = [classical(problem), time.at(-1)];
  let h = SAFE * stableStep(problem, problem.x, 0);
  for (let turn = 0; turn < 8; turn++) {
    if (Number.isNaN(h)) failAtStart(problem);
    let mesh = uniformMesh(segments, h);
    if (3 * 4 * model.operations * stepsOf(mesh) > Math.max(PLENTY, leastImplicitWork(problem))) return null;
    let coarse = march(problem, mesh, advance);
    const along = stableAlong(problem, coarse);
    if (coarse.failed >= 0 || along < 0.95 * (duration / stepsOf(mesh))) {
      h = Math.min(h / 2, SAFE * along);
      continue;
    }
    for (;;) {
      mesh = halved(mesh);
      const fine = march(problem, mesh, advance);
      if (fine.failed >= 0) return null;
      const off = difference(problem, coarse.states, fine.states);
      const next = 2 * 4 * model.operations * stepsOf(mesh);
      if (off.halfStepError <= (next > CHEAP ? GOAL : FINE) || next > PLENTY)
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

function failAtStart({ model, n, p, x, u }) {
  const rate = new Float64Array(n);
  model.dynamics(x, u, p, rate);
  const state = rate.findIndex((each) => !Number.isFinite(each));
  throw new RunFailure("its motion has no value where it starts: it is singular there, or a number is out of bounds", 0, state);
}

// ---- RODAS: a Rosenbrock method, L-stable, of order 4 with an error estimate of order 3 ------------------------------

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
const TOLERANCE = 1e-6; // of each step, relative to the state and to the largest one of its unit so far

/** A step from x to `next`; what it returns is the estimate of its error, state by state. */
function rosenbrock({ model, n, p, u }) {
  const { dynamics, slopes, project } = model;
  const [rate, slope, drift, y] = [n, n * n, n, n].map((size) => new Float64Array(size));
  const stages = ALPHA.map(() => new Float64Array(n));
  const matrix = new Float64Array(n * n);
  const order = new Int32Array(n);
  return (x, t, h, segment, next) => {
    if (segment.moves) {
      // ∂f/∂t by a difference: exact where inputs are linear in time and rates in inputs, as most are
      fillCommands(segment, t + 1e-3 * h, u);
      dynamics(x, u, p, drift);
    }
    fillCommands(segment, t, u);
    slopes(x, u, p, rate, slope);
    if (segment.moves) for (let i = 0; i < n; i++) drift[i] = (drift[i] - rate[i]) / (1e-3 * h);
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
function leastImplicitWork({ model, n, segments }) {
  return 3 * segments.length * (model.slopeOperations + 6 * model.operations + (n * n * n) / 3 + 8 * n * n);
}

/** The run by RODAS: steps found by its error estimate, then each of them taken in two halves. */
function atImplicitSteps(problem) {
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
  const mesh = segments.map((segment) => {
    const steps = [];
    let t = segment.from;
    while (t < segment.to) {
      const left = segment.to - t;
      const length = h >= left * (1 - 1e-9) ? left : Math.min(h, left / 2);
      const error = errorNorm(problem, x, next, step(x, t, length, segment, next), largest);
      if (!(length > 1e-14 * (1 + t)) || taken++ > MOST_STEPS) failAt(problem, x, t, segment);
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

function failAt({ model, n, p, u }, x, t, segment) {
  const rate = new Float64Array(n);
  fillCommands(segment, t, u);
  model.dynamics(x, u, p, rate);
  const state = rate.findIndex((each) => !Number.isFinite(each));
  throw new RunFailure("its steps become too short: the motion is singular or unstable there", t, state);
}

// ---- What is shown of a run ---------------------------------------------------------------------------------------

/** Columns of states, inputs and outputs, poses and spins at all samples. */
function shown({ model, n, p, u, time, segments }, { states }) {
  const { output, pose, spin, measure } = model.sizes;
  const columns = (count) => Array.from({ length: count }, () => new Float64Array(time.length));
  const run = { time, states: columns(n), inputs: columns(u.length), outputs: columns(output) };
  run.poses = new Float64Array(time.length * pose);
  run.spins = new Float64Array(time.length * spin);
  const found = new Float64Array(output);
  let s = 0;
  for (let k = 0; k < time.length; k++) {
    // at a jump what holds from there on, at the end what held before
    while (s < segments.length - 1 && segments[s].to <= time[k]) s++;
    fillCommands(segments[s], time[k], u);
    const x = states.subarray(n * k, n * k + n);
    model.observe(x, u, p, found);
    model.place(x, u, p, run.poses.subarray(pose * k, pose * k + pose), run.spins.subarray(spin * k, spin * k + spin));
    x.forEach((value, i) => (run.states[i][k] = value));
    u.forEach((value, i) => (run.inputs[i][k] = value));
    found.forEach((value, i) => (run.outputs[i][k] = value));
  }
  if (measure) model.measure(states, u, p, (run.measures = new Float64Array(measure)));
  return run;
}
