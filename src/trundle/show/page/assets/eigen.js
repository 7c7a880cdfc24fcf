// Eigenvalues of real matrices, and what they say about the steps of the classical Runge-Kutta method.

const MOST_ROTATIONS = 60; // QR steps for one eigenvalue; two or three are usual

/**
 * The eigenvalues of a real n × n matrix, row by row, as {re, im}; NaN where it holds something that is no number.
 * Balanced, brought to Hessenberg form by elimination, then QR steps with Wilkinson's shift (Golub & Van Loan 2013,
 * sections 7.4 and 7.5), in complex numbers: shorter than the double step, and matrices here are small.
 */
export function eigenvalues(matrix, n) {
  const re = new Float64Array(n).fill(NaN);
  const im = new Float64Array(n).fill(NaN);
  if (!matrix.every(Number.isFinite)) return { re, im };
  const h = Float64Array.from(matrix);
  balance(h, n);
  reduceToHessenberg(h, n);
  const g = new Float64Array(n * n);
  let end = n - 1;
  for (let turn = 0; end >= 0 && turn < MOST_ROTATIONS; turn++) {
    const start = blockStart(h, g, n, end);
    if (start === end) {
      re[end] = h[end * n + end];
      im[end] = g[end * n + end];
      end--;
      turn = -1;
    } else {
      shiftedStep(h, g, n, start, end, turn);
    }
  }
  return { re, im };
}

/** Scale rows and columns by powers of two until they are alike in size; eigenvalues stay (Parlett & Reinsch 1969). */
function balance(a, n) {
  for (let changed = true, turn = 0; changed && turn < 100; turn++) {
    changed = false;
    for (let i = 0; i < n; i++) {
      let row = 0;
      let column = 0;
      for (let j = 0; j < n; j++) {
        if (j === i) continue;
        row += Math.abs(a[i * n + j]);
        column += Math.abs(a[j * n + i]);
      }
      if (!row || !column) continue;
      const factor = 2 ** Math.round(Math.log2(row / column) / 2);
      if (factor === 1 || column * factor + row / factor > 0.95 * (row + column)) continue;
      changed = true;
      for (let j = 0; j < n; j++) a[i * n + j] /= factor;
      for (let j = 0; j < n; j++) a[j * n + i] *= factor;
    }
  }
}

/** Zeros below the first subdiagonal, by elimination with the largest pivot. */
function reduceToHessenberg(a, n) {
  for (let k = 1; k < n - 1; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k - 1]) > Math.abs(a[pivot * n + k - 1])) pivot = i;
    if (a[pivot * n + k - 1] === 0) continue;
    if (pivot !== k) {
      for (let j = 0; j < n; j++) swap(a, pivot * n + j, k * n + j);
      for (let j = 0; j < n; j++) swap(a, j * n + pivot, j * n + k);
    }
    for (let i = k + 1; i < n; i++) {
      const factor = a[i * n + k - 1] / a[k * n + k - 1];
      if (!factor) continue;
      for (let j = k - 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      for (let j = 0; j < n; j++) a[j * n + k] += factor * a[j * n + i];
      a[i * n + k - 1] = 0;
    }
  }
}

function swap(a, i, j) {
  const kept = a[i];
  a[i] = a[j];
  a[j] = kept;
}

/** Where the block that ends at `end` starts: below a subdiagonal entry that is rounding, which becomes 0. */
function blockStart(h, g, n, end) {
  for (let k = end; k > 0; k--) {
    const at = k * n + k - 1;
    const above = (k - 1) * n + k - 1;
    const below = k * n + k;
    const around = Math.abs(h[above]) + Math.abs(g[above]) + Math.abs(h[below]) + Math.abs(g[below]);
    if (Math.abs(h[at]) + Math.abs(g[at]) <= Number.EPSILON * around) {
      h[at] = g[at] = 0;
      return k;
    }
  }
  return 0;
}

/** The eigenvalue of the last 2 × 2 block that is nearer to its last entry: λ = d + δ − sign √(δ² + b c), δ = (a−d)/2. */
function wilkinson(h, g, n, end) {
  const [a, b, c, d] = [(end - 1) * n + end - 1, (end - 1) * n + end, end * n + end - 1, end * n + end];
  const dr = (h[a] - h[d]) / 2;
  const di = (g[a] - g[d]) / 2;
  const sr = dr * dr - di * di + h[b] * h[c] - g[b] * g[c];
  const si = 2 * dr * di + h[b] * g[c] + g[b] * h[c];
  const size = Math.hypot(sr, si);
  let rr = Math.sqrt((size + Math.abs(sr)) / 2);
  let ri = rr ? si / (2 * rr) : 0;
  if (sr < 0) [rr, ri] = [Math.abs(ri), si < 0 ? -rr : rr];
  const sign = dr * rr + di * ri > 0 ? -1 : 1;
  return [h[d] + dr + sign * rr, g[d] + di + sign * ri];
}

/** One QR step H − σ = Q R, H ← R Q + σ on the block from `start` to `end`, by Givens rotations. */
function shiftedStep(h, g, n, start, end, turn) {
  let [re, im] = wilkinson(h, g, n, end);
  if (turn % 10 === 9) re += Math.hypot(h[end * n + end - 1], g[end * n + end - 1]); // out of a cycle
  const rotations = [];
  for (let k = start; k <= end; k++) {
    h[k * n + k] -= re;
    g[k * n + k] -= im;
  }
  for (let k = start; k < end; k++) rotations.push(rotateRows(h, g, n, k, end));
  for (let k = start; k < end; k++) rotateColumns(h, g, n, k, start, end, rotations[k - start]);
  for (let k = start; k <= end; k++) {
    h[k * n + k] += re;
    g[k * n + k] += im;
  }
}

/** The rotation [c, s; −s̄, c] of the rows k and k + 1 that makes the entry below the diagonal 0: c real, s complex. */
function rotateRows(h, g, n, k, end) {
  const top = k * n;
  const low = top + n;
  const size = Math.hypot(h[top + k], g[top + k]);
  const below = Math.hypot(h[low + k], g[low + k]);
  const length = Math.hypot(size, below);
  if (length === 0) return [1, 0, 0];
  const c = size / length;
  // s = phase of the entry above · conjugate of the one below / length
  const pr = size ? h[top + k] / size : 1;
  const pi = size ? g[top + k] / size : 0;
  const sr = (pr * h[low + k] + pi * g[low + k]) / length;
  const si = (pi * h[low + k] - pr * g[low + k]) / length;
  for (let j = k; j <= end; j++) {
    const ar = h[top + j];
    const ai = g[top + j];
    const br = h[low + j];
    const bi = g[low + j];
    h[top + j] = c * ar + sr * br - si * bi;
    g[top + j] = c * ai + sr * bi + si * br;
    h[low + j] = c * br - sr * ar - si * ai;
    g[low + j] = c * bi - sr * ai + si * ar;
  }
  return [c, sr, si];
}

/** The same rotation's adjoint on the columns k and k + 1. */
function rotateColumns(h, g, n, k, start, end, [c, sr, si]) {
  for (let i = start; i <= Math.min(k + 1, end); i++) {
    const at = i * n + k;
    const ar = h[at];
    const ai = g[at];
    const br = h[at + 1];
    const bi = g[at + 1];
    h[at] = c * ar + sr * br + si * bi;
    g[at] = c * ai + sr * bi - si * br;
    h[at + 1] = c * br - sr * ar + si * ai;
    g[at + 1] = c * bi - sr * ai - si * ar;
  }
}

/**
 * The longest step (s) of the classical Runge-Kutta method with which no decaying motion grows: |R(λ h)| ≤ 1 with
 * R(z) = 1 + z + z²/2 + z³/6 + z⁴/24 for each λ with Re λ ≤ 0 (Hairer & Wanner 1996, section IV.2); Infinity where
 * nothing decays or turns, NaN where the eigenvalues are none.
 */
export function longestStableStep({ re, im }) {
  let longest = Infinity;
  for (let k = 0; k < re.length; k++) {
    const size = Math.hypot(re[k], im[k]);
    if (Number.isNaN(size)) return NaN;
    if (size === 0 || re[k] > 1e-6 * size) continue;
    const x = Math.min(re[k], 0) / size;
    const y = im[k] / size;
    let radius = 0.02; // the region of stability ends before 3.2 in every direction
    while (radius < 3.2 && growth(radius * x, radius * y) <= 1 + 1e-6) radius += 0.02;
    longest = Math.min(longest, (radius - 0.02) / size);
  }
  return longest;
}

/** |R(z)| at z = x + i y. */
function growth(x, y) {
  let re = 1;
  let im = 0;
  for (let k = 4; k > 0; k--) [re, im] = [1 + (re * x - im * y) / k, (re * y + im * x) / k];
  return Math.hypot(re, im);
}
