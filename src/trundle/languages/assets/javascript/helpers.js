@@ hypotenuse: Math.hypot scales its arguments, which takes ten times as long and rounds otherwise than the kernels
const hypotenuse = (x, y) => Math.sqrt(x * x + y * y);
@@ copySign
const copySign = (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x));
@@ remainder: IEEE 754's, x - n y with n the whole number nearest to x/y, the even one of two; all steps are exact
function remainder(x, y) {
  if (!Number.isFinite(x) || y === 0) return NaN;
  const size = Math.abs(y);
  if (size === Infinity) return x;
  const rest = x % (2 * size);
  const left = Math.abs(rest);
  if (left >= 1.5 * size) return rest - Math.sign(rest) * 2 * size;
  return left > 0.5 * size ? rest - Math.sign(rest) * size : rest;
}
@@ errorFunction: Abramowitz & Stegun 7.1.6, whose terms are all positive, and beyond 3 the continued fraction 7.1.14 of erfc
function errorFunction(x) {
  const z = Math.abs(x);
  if (z > 6) return Math.sign(x);
  const scale = Math.exp(-z * z) / Math.sqrt(Math.PI);
  if (z > 3) {
    let fraction = z;
    for (let n = 60; n > 0; n--) fraction = z + n / 2 / fraction;
    return Math.sign(x) * (1 - scale / fraction);
  }
  let term = 2 * x;
  let sum = term;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * z * z) / (2 * n + 1);
    sum += term;
  }
  return scale * sum;
}
