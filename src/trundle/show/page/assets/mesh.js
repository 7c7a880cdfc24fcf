// Steps through a problem: where they are, what they lead to, and how far two runs differ.

import { arrive } from "./problem.js";

/**
 * The states at all samples, steps as `mesh` says: for each segment the lengths of its steps. `advance` moves x by one
 * step in place. Stops before the first sample that isn't finite: `failed` is that sample, 0 where all is well.
 */
export function march(problem, mesh, advance) {
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
    arrive(problem, x, s + 1);
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
export function uniformMesh(segments, h) {
  return segments.map(({ from, to }) => {
    const count = Math.max(1, Math.ceil((to - from) / h - 1e-9));
    return new Float64Array(count).fill((to - from) / count);
  });
}

export const halved = (mesh) => mesh.map((steps) => Float64Array.from({ length: 2 * steps.length }, (_, k) => steps[k >> 1] / 2));
export const countSteps = (mesh) => mesh.reduce((sum, steps) => sum + steps.length, 0);

/** By how much two runs differ at the samples, relative to the largest state of the same unit, and whose that is. */
export function difference({ n, time, model }, coarse, fine) {
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

export function summaryOf(problem, method, mesh, off) {
  const steps = countSteps(mesh);
  let shortest = Infinity;
  for (const each of mesh) for (const h of each) shortest = Math.min(shortest, h);
  return { method, step: problem.time.at(-1) / steps, shortest, steps, ...off };
}
