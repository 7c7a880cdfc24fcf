// What is to be run: the start on the constraints, the parameters, and segments between which nothing jumps.

const CLOSED = 1e-10; // a state moved by less than this, relatively, by the projection is on the constraints

/** Why there is no run: at which time, and the index of the state that is no number (-1 where it isn't one's fault). */
export class RunFailure extends Error {
  constructor(message, time, state = -1) {
    super(message);
    this.time = time;
    this.state = state;
  }
}

/**
 * The numbers of a run: its start on the constraints, and segments between stored times, jumps and kinks of the inputs, and
 * times at which controllers sample: `due` says which clocks are at a segment's beginning, null where none is. The last of
 * `dues` is that of the end; there are none without clocks.
 */
export function stated(model, { start, inputs, parameters, duration, samples }) {
  const n = model.sizes.state;
  const p = Float64Array.from(parameters);
  const time = Float64Array.from({ length: samples }, (_, k) => (duration * k) / (samples - 1));
  const stops = new Set(time);
  const gap = (1e-9 * duration) / samples;
  for (const table of inputs) {
    for (const t of stopsOf(table)) if (t > 0 && t < duration && !near(time, t, gap)) stops.add(t);
  }
  const clocks = model.sample ? model.clocks : [];
  for (const [period, first] of clocks) {
    for (let k = 0, t = first; t < duration; t = first + ++k * period) if (t > 0 && !near(time, t, gap)) stops.add(t);
  }
  // clocks that meet do so but for rounding; none of these stops is near a stored time
  const ends = [...stops].sort((a, b) => a - b).filter((t, k, all) => k === 0 || t - all[k - 1] > gap);
  const dues = clocks.length ? ends.map((t) => dueAt(clocks, t, gap)) : [];
  const segments = [];
  let sample = 1;
  for (let k = 1; k < ends.length; k++) {
    const [from, to] = [ends[k - 1], ends[k]];
    const stored = to === time[sample] ? sample++ : -1;
    segments.push({ from, to, stored, commands: inputs.map((input) => pieceOf(input, (from + to) / 2)) });
  }
  for (const each of segments) each.moves = each.commands.some(([, a, b, c]) => a || b || c);
  const problem = { model: { ...model, slopes: model.slopes ?? differences(model, n) }, n, p, time, segments, dues, x: Float64Array.from(start), u: new Float64Array(inputs.length) };
  fillCommands(segments[0], 0, problem.u);
  close(problem);
  arrive(problem, problem.x, 0);
  return problem;
}

/** Where an input may be unsmooth: the ends of its pieces, and every `stop` seconds where that is known no better. */
function* stopsOf({ times = [], stop = Infinity }) {
  yield* times;
  for (let k = 1; k * stop < times.at(-1); k++) yield k * stop;
}

/** Which clocks are due at a time, 1 or 0 each; null where none is. */
function dueAt(clocks, t, gap) {
  const due = Float64Array.from(clocks, ([period, first]) => {
    const k = Math.max(0, Math.round((t - first) / period));
    return Math.abs(first + k * period - t) <= gap ? 1 : 0;
  });
  return due.some((each) => each) ? due : null;
}

/** What is sampled where segment `s` begins, or behind the last one, changes the state. */
export function arrive({ model, n, p, u, segments, dues }, x, s) {
  if (!dues[s]) return;
  const segment = segments[Math.min(s, segments.length - 1)];
  fillCommands(segment, s < segments.length ? segment.from : segment.to, u);
  const after = new Float64Array(n);
  model.sample(x, u, p, dues[s], after);
  x.set(after);
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
  if (coefficients) return [times[k], ...coefficients.subarray(4 * k, 4 * k + 4)];
  const slope = interpolation === "previous" ? 0 : (values[k + 1] - values[k]) / (times[k + 1] - times[k]);
  return [times[k], 0, 0, slope, values[k]];
}

export function fillCommands(segment, t, u) {
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

/** ∂f/∂x by differences, for models whose slopes would be more text than a page can hold. */
function differences({ dynamics }, n) {
  const [y, moved] = [new Float64Array(n), new Float64Array(n)];
  return (x, u, p, rate, slope) => {
    dynamics(x, u, p, rate);
    y.set(x);
    for (let k = 0; k < n; k++) {
      const step = 1.5e-8 * Math.max(1, Math.abs(x[k]));
      y[k] = x[k] + step;
      dynamics(y, u, p, moved);
      for (let i = 0; i < n; i++) slope[i * n + k] = (moved[i] - rate[i]) / (y[k] - x[k]);
      y[k] = x[k];
    }
  };
}

/** Say why no steps lead on from a state: which one has no rate. */
export function fail({ model, n, p, u }, x, t, segment, message) {
  const rate = new Float64Array(n);
  fillCommands(segment, t, u);
  model.dynamics(x, u, p, rate);
  throw new RunFailure(message, t, rate.findIndex((each) => !Number.isFinite(each)));
}
