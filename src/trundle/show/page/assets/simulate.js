// Runs of a model in JavaScript: ẋ = f(x, u(t), p) at fixed steps, and by how much twice the step changes them.
//
// A model is its emitted functions with its sizes (see page/live.py):
//   {sizes: {state, input, parameter, output, pose, spin, measure}, kinds: [unit of each state], operations, slopeOperations,
//    clocks: [[period, first] in s of what is sampled], dynamics(state, input, parameter, rate),
//    slopes(state, input, parameter, rate, slope), observe(…, output), place(…, pose, spin), measure(…, measure) or null,
//    project(…, state) or null, sample(state, input, parameter, due, state) or null}

import { atStableSteps } from "./classical.js";
import { fillCommands, stated } from "./problem.js";
import { atImplicitSteps, leastImplicitWork } from "./rodas.js";

/**
 * Run a model.
 *
 * @param model its functions, as above
 * @param start all states at t = 0; parameters: all of them; duration in s; samples: how many equal times are stored
 * @param inputs for each a number, or a table {times, values, interpolation: "linear" | "previous"} held at its ends, or
 *   one with `coefficients`: four for each of its pieces, those of (t − its start)³, ², ¹ and 1; and
 *   with `stop`, every how many seconds of it a step ends
 * @returns {time, states, inputs, outputs: a column each, poses: (samples × frames × 12), spins: (samples × wheels),
 *   measures, method, step: the mean one in s, shortest, steps, halfStepError: by how much the run at twice the step
 *   differs, relative to the largest state of the same unit, worst: the state of which that is, seconds}
 * @throws RunFailure with the time and the state at which there are no numbers
 */
export function simulate(model, { start, inputs, parameters, duration, samples = 601 }) {
  const began = performance.now();
  const problem = stated(model, { start, inputs, parameters, duration, samples });
  const found = atStableSteps(problem, leastImplicitWork(problem)) ?? atImplicitSteps(problem);
  return { ...shown(problem, found), ...found.summary, seconds: (performance.now() - began) / 1000 };
}

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
