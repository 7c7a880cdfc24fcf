// Runs @NAME@ from its start and prints time and states as CSV, about a hundred rows:
// node example.js [SECONDS [STEP [INPUT...]]]
import { groups, step } from "./@NAME@.js";

const [seconds = 10, h = @STEP@, ...given] = process.argv.slice(2).map(Number);
const moved = [@GIVEN@];
const state = Float64Array.from(groups.state.defaults);
const parameter = Float64Array.from(groups.parameter.defaults);
const input = Float64Array.from(groups.input.names, (_, k) => given[k] ?? moved[k]);
if (!(seconds > 0 && h > 0 && seconds / h <= 2e9) || given.length > input.length || input.some(Number.isNaN)) {
  console.error("usage: node example.js [SECONDS [STEP [INPUT...]]], with numbers for", ...groups.input.names);
  process.exit(2);
}
console.log("@COLUMNS@");
const steps = Math.round(seconds / h);
const stride = Math.max(1, Math.floor(steps / 100));
for (let k = 0; k < steps; k++) {
  if (k % stride === 0) console.log([k * h, ...state].join());
  step(state, input, parameter, h, state);
}
console.log([steps * h, ...state].join());
