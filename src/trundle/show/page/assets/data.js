// Page data as Python wrote it, and what a motion is at any time between its samples.

const NUMBERS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u2: Uint16Array };

// JSON with arrays as {base64, type}, little-endian as every machine that runs browsers. One that stands in several
// places has an `id`, which the other places have as their `base64`. Objects have no prototype: a value may be called
// "constructor" or "__proto__".
export function decode(value) {
  const shared = new Map();
  collectShared(value, shared);
  return decodeWith(value, shared);
}

function decodeWith(value, shared) {
  if (Array.isArray(value)) return value.map((each) => decodeWith(each, shared));
  if (value === null || typeof value !== "object") return value;
  if (isNumbers(value)) return shared.get(value.id ?? value.base64) ?? decodeNumbers(value);
  const found = Object.create(null);
  for (const [name, each] of Object.entries(value)) found[name] = decodeWith(each, shared);
  return found;
}

function isNumbers({ base64, type }) {
  return (typeof base64 === "string" || typeof base64 === "number") && Object.hasOwn(NUMBERS, type);
}

// Arrays with an id, by it, from anywhere in the data: they may stand behind their first use.
function collectShared(value, shared) {
  if (value === null || typeof value !== "object") return;
  if (isNumbers(value)) {
    if (value.id !== undefined) shared.set(value.id, decodeNumbers(value));
  } else for (const each of Object.values(value)) collectShared(each, shared);
}

function decodeNumbers({ base64, type }) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = text.charCodeAt(k);
  return new NUMBERS[type](bytes.buffer);
}

// A motion is {time (T), values {name: (T)}, between {name: [times, values] between the samples} or none, poses (T × frames × 12, rows of
// [R | p]), spins (T × wheels) or null, arrows}. Of a page's run or of a comparison's.
export function motionOf({ run, scene }) {
  if (run === null) return null;
  const { poses = null, spins = null, arrows = [], frames = 0 } = scene ?? {};
  return { ...run, poses, spins, arrows, frames };
}

// The last sample at or before a time; the first where there is none.
export function sampleAt(time, t) {
  let low = 0;
  let high = time.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (time[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Where everything is at a time: {time, index, fraction, poses (frames × 12), spins, arrows [{at, vector}]}.
export function momentAt(motion, t) {
  const { time, poses, spins, frames } = motion;
  const index = sampleAt(time, t);
  const next = Math.min(index + 1, time.length - 1);
  const fraction = next > index ? Math.min(Math.max((t - time[index]) / (time[next] - time[index]), 0), 1) : 0;
  const between = (numbers, width) => interpolated(numbers, width, index, next, fraction);
  const found = { time: t, index, fraction, poses: null, spins: null, arrows: [] };
  if (poses) {
    found.poses = between(poses, 12 * frames);
    if (fraction > 0) for (let k = 0; k < frames; k++) orthonormalise(found.poses, 12 * k);
  }
  if (spins) found.spins = between(spins, spins.length / time.length);
  found.arrows = motion.arrows.map((arrow) => ({ at: between(arrow.at, 3), vector: between(arrow.vector, 3) }));
  return found;
}

export function valueAt(numbers, { index, fraction }) {
  const value = numbers[index];
  return fraction > 0 ? value + fraction * (numbers[index + 1] - value) : value;
}

function interpolated(numbers, width, index, next, fraction) {
  const found = new Float64Array(width);
  const [a, b] = [index * width, next * width];
  for (let k = 0; k < width; k++) found[k] = numbers[a + k] + fraction * (numbers[b + k] - numbers[a + k]);
  return found;
}

// The columns of a rotation between two others made unit and square again (Gram and Schmidt), the third their product.
function orthonormalise(m, o) {
  const n = Math.hypot(m[o], m[o + 4], m[o + 8]) || 1;
  const [x0, x1, x2] = [m[o] / n, m[o + 4] / n, m[o + 8] / n];
  const along = x0 * m[o + 1] + x1 * m[o + 5] + x2 * m[o + 9];
  let [y0, y1, y2] = [m[o + 1] - along * x0, m[o + 5] - along * x1, m[o + 9] - along * x2];
  const l = Math.hypot(y0, y1, y2) || 1;
  [y0, y1, y2] = [y0 / l, y1 / l, y2 / l];
  m.set([x0, y0, x1 * y2 - x2 * y1], o);
  m.set([x1, y1, x2 * y0 - x0 * y2], o + 4);
  m.set([x2, y2, x0 * y1 - x1 * y0], o + 8);
}

// The poses of a motion's sample.
export function posesAt({ poses, frames }, sample) {
  return poses.subarray(12 * frames * sample, 12 * frames * (sample + 1));
}

// A point of a frame in the world; a spot is [frame, [x, y, z]].
export function placed(poses, [frame, at]) {
  const o = 12 * frame;
  return [0, 4, 8].map((k) => poses[o + k] * at[0] + poses[o + k + 1] * at[1] + poses[o + k + 2] * at[2] + poses[o + k + 3]);
}

// Numbers for people: as many digits as are worth reading, a real minus.
export function number(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "no number" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const scientific = size !== 0 && (size < 1e-3 || size >= 1e6);
  const whole = size >= 10 ** (digits - 1); // toPrecision would write 1.19e+3
  const text = scientific ? value.toExponential(digits - 2) : whole ? value.toFixed(0) : value.toPrecision(digits);
  return text.replaceAll("-", "−").replace("e+", "e");
}

// Ticks at round steps of 1, 2 or 5 within a range.
export function ticks(low, high, most) {
  const step = roundStep((high - low) / most);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return { step, values: found };
}

export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((each) => each * power >= least * (1 - 1e-9)) ?? 10);
}

// A value at a tick, as short as its step allows.
export function tickText(value, step) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (Math.abs(value) < step / 2) return "0";
  const text = value.toFixed(Math.min(decimals, 20));
  const short = text.length > 7 ? value.toExponential(Math.max(0, Math.floor(Math.log10(Math.abs(value) / step)))) : text;
  return short.replaceAll("-", "−").replace("e+", "e");
}

// The section that the page's address links to, if there is one.
export function linked(document) {
  const name = location.hash.slice(1);
  const sections = [...document.querySelectorAll("details.plots, #equations [id]")];
  return sections.find(({ id }) => id === name || encodeURIComponent(id) === name);
}

// An element with attributes and children; texts are texts, never markup.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}
