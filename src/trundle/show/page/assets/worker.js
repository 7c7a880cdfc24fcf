// The worker in which a page simulates: requests in, runs with their names out.
//
// A request is {id, request: {start, inputs, parameters, duration, samples}} as `simulate` takes them, all in the model's
// order; the answer {id, result} with the run's `values` by name and the scene's `shapes` as they changed, or
// {id, problem} in words, with the `time` it is about.

import { simulate } from "./simulate.js";

/**
 * Answer the requests that come to a worker's `scope`; `names` are those of the model's states, inputs and outputs,
 * `shapes` those parts of the scene that hang on parameters, `paths` where in them each measure of the model stands.
 */
export function serve(scope, model, { names, shapes, paths }) {
  scope.onmessage = ({ data: { id, request } }) => {
    try {
      const { states, inputs, outputs, measures, ...run } = simulate(model, request);
      const columns = [...states, ...inputs, ...outputs];
      const every = [...names.states, ...names.inputs, ...names.outputs];
      const result = { ...run, values: Object.fromEntries(every.map((name, k) => [name, columns[k]])) };
      result.shapes = measured(shapes, paths, measures);
      result.worst = names.states[run.worst];
      scope.postMessage({ id, result }, [run.time, run.poses, run.spins, ...columns].map((each) => each.buffer));
    } catch (error) {
      const about = error.state >= 0 ? ` (${names.states[error.state]} has no rate)` : "";
      const when = error.time === undefined ? "" : `At t = ${Number(error.time.toPrecision(4))} s `;
      scope.postMessage({ id, problem: `${when}${error.message}${about}.`, time: error.time });
    }
  };
}

/** A copy of shapes with a number put at the end of each path. */
export function measured(shapes, paths, numbers) {
  const found = structuredClone(shapes);
  paths.forEach((path, k) => {
    const keys = path.split("/");
    const last = keys.pop();
    keys.reduce((part, key) => part[key], found)[last] = numbers[k];
  });
  return found;
}
