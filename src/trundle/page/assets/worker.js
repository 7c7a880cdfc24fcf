// The worker in which a page simulates: requests in, runs out. Of requests that come while one is worked on, the last
// one counts.
//
// A request is {id, start, inputs, parameters, duration, samples} as `simulate` takes them, all in the model's order; the
// answer {id, run} with what `simulate` returns, or {id, failure: {message, time, state}}.

import { simulate } from "./simulate.js";

/** Answer the requests that come to a worker's `scope`. */
export function serve(scope, model) {
  let waiting = null;
  scope.onmessage = ({ data }) => {
    if (!waiting) setTimeout(answer); // after all messages that are here already
    waiting = data;
  };
  function answer() {
    const { id, ...request } = waiting;
    waiting = null;
    try {
      const run = simulate(model, request);
      const columns = [...run.states, ...run.inputs, ...run.outputs].map((each) => each.buffer);
      scope.postMessage({ id, run }, [...columns, run.time.buffer, run.poses.buffer, run.spins.buffer]);
    } catch ({ message, time = 0, state = -1 }) {
      scope.postMessage({ id, failure: { message, time, state } });
    }
  }
}
