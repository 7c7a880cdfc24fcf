// Amounts that people set: read from text with units, moved by sliders, kept in a link. Without a document, as Node tests it.

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i;
const UNIT_PART = /^([a-zA-Zµμ°Ω%]+|1)(?:(?:\^|\*\*)(-?\d))?$/;
const OTHER_SPELLINGS = { "°": "deg", Ω: "ohm", "%": "percent" };
const LINEAR_STEPS = 200;
const LOG_STEPS = 240;
// From this ratio of its ends on a range is moved by equal ratios, as inductances and frictions are.
const LOG_RATIO = 20;
const LONGEST_HASH = 20_000;

// A unit's {factor, dimension} in SI by a table of {symbol: [factor, dimension]}, or null: "N m/A", "kg m^2", "1".
export function readUnit(text, table) {
  let factor = 1;
  let dimension = [0, 0, 0, 0];
  const signs = text.replace(/(^|\s)per\s/g, "/").replace(/\s+squared\b/g, "^2").replace(/\s+cubed\b/g, "^3");
  const parts = signs.trim().replace(/\s*([*/·])\s*/g, " $1").split(/[\s*·]+/);
  for (const part of parts.filter(Boolean)) {
    const sign = part.startsWith("/") ? -1 : 1;
    const found = UNIT_PART.exec(part.replace("/", ""));
    if (!found) return null;
    const symbol = OTHER_SPELLINGS[found[1]] ?? found[1].replace(/^[µμ]/, "u");
    if (symbol === "1") continue;
    if (!Object.hasOwn(table, symbol)) return null;
    const power = sign * Number(found[2] ?? 1);
    const [size, own] = table[symbol];
    factor *= size ** power;
    dimension = dimension.map((each, i) => each + power * own[i]);
  }
  return { factor, dimension };
}

// What was typed for a knob: {value} in SI, or {problem} in words. A bare number is in the knob's own unit.
export function readAmount(text, knob, table) {
  const typed = text.trim().replace("−", "-");
  const number = NUMBER.exec(typed)?.[0];
  if (number === undefined) return { problem: `“${typed}” doesn't start with a number` };
  const rest = typed.slice(number.length).trim();
  let value = Number(number);
  if (rest) {
    const unit = readUnit(rest, table);
    const own = readUnit(knob.unit, table);
    if (!unit) return { problem: `“${rest}” is no unit that is known here` };
    if (!own || unit.dimension.some((each, i) => each !== own.dimension[i])) {
      return { problem: `“${rest}” doesn't fit: ${knob.label} is in ${knob.unit || "pure numbers"}` };
    }
    value *= unit.factor;
  }
  return isAllowed(value, knob) ? { value } : { problem: `${knob.label} ${boundsInWords(knob)}` };
}

// Whether a knob may have a value at all: sliders keep to low…high, typed values only to what makes sense.
export function isAllowed(value, knob) {
  return Number.isFinite(value) && value >= (knob.least ?? -Infinity) && value <= (knob.most ?? Infinity);
}

function boundsInWords(knob) {
  const least = knob.least === undefined ? "" : `at least ${amountText(knob.least)}`;
  const most = knob.most === undefined ? "" : `at most ${amountText(knob.most)}`;
  const bounds = [least, most].filter(Boolean).join(" and ");
  return bounds ? `is ${bounds} ${knob.unit}`.trim() : "is a finite number";
}

// A number as people read it: few digits, a real minus.
export function amountText(value, digits = 4) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const text =
    size && (size < 1e-3 || size >= 1e5)
      ? value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
  return text.replace(/^-/, "−");
}

function isLogarithmic(knob) {
  return knob.low > 0 && knob.high / knob.low >= LOG_RATIO;
}

// How many steps a knob's slider has.
export function sliderSteps(knob) {
  return isLogarithmic(knob) ? LOG_STEPS : LINEAR_STEPS;
}

// A slider's place, 0 to its steps, for a value; values beyond the range are at its end.
export function placeOf(value, knob) {
  const share = isLogarithmic(knob)
    ? Math.log(Math.max(value, knob.low) / knob.low) / Math.log(knob.high / knob.low)
    : (value - knob.low) / (knob.high - knob.low);
  return Math.min(1, Math.max(0, share)) * sliderSteps(knob);
}

// The value at a slider's place, rounded to what one step tells apart; the ends exactly.
export function turnedTo(place, knob) {
  const steps = sliderSteps(knob);
  if (place <= 0) return knob.low;
  if (place >= steps) return knob.high;
  if (isLogarithmic(knob)) {
    return Number((knob.low * (knob.high / knob.low) ** (place / steps)).toPrecision(3));
  }
  const step = (knob.high - knob.low) / steps;
  const value = knob.low + place * step;
  const digits = Math.min(100, Math.max(0, Math.ceil(-Math.log10(step))));
  return Number(value.toFixed(digits)) + 0;
}

// A setting as the text behind a link's #: what differs from the original, in full digits.
export function hashOf(knobs, values) {
  const changed = knobs.filter((knob) => values.get(knob.key) !== knob.value);
  return changed.map(({ key }) => `${encodeURIComponent(key)}=${encodeURIComponent(values.get(key))}`).join("&");
}

// The values that a link's hash holds, by key; whatever names no knob or is no sensible number is left out.
export function valuesOf(hash, knobs) {
  const found = new Map();
  if (hash.length > LONGEST_HASH) return found;
  const known = new Map(knobs.map((knob) => [knob.key, knob]));
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const [key, text] = pair.split("=", 2).map(decoded);
    const knob = known.get(key);
    if (!knob || text === undefined || NUMBER.exec(text)?.[0] !== text) continue;
    if (isAllowed(Number(text), knob)) found.set(key, Number(text));
  }
  return found;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

// A number with the digits that tell it apart from its neighbours, nine at most in single precision.
function cellOf(column, i) {
  const value = column[i];
  if (!(column instanceof Float32Array) || !Number.isFinite(value)) return value;
  const rounded = [6, 7, 8, 9].map((digits) => Number(value.toPrecision(digits)));
  return rounded.find((each) => Math.fround(each) === value);
}

// A run as CSV, as `trundle` writes one: a header of names, numbers with as many digits as read back exactly.
export function csvOf({ time, values }) {
  const columns = { time, ...values };
  const names = Object.keys(columns);
  const cells = names.map((name) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  const lines = Array.from(time, (_, i) => names.map((name) => cellOf(columns[name], i)).join(","));
  return [cells.join(","), ...lines, ""].join("\n");
}
