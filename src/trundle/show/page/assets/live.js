// A live model as its controls use it: requests from what knobs say, and workers that answer them.

/** The live part of a page's data with `requestOf(values)`, a Map of knobs' keys to numbers, and `startWorker()`. */
export function createLive(live) {
  const text = new Blob([live.worker], { type: "text/javascript" });
  return {
    ...live,
    requestOf: (values) => requestOf(live, values),
    startWorker: () => {
      const address = URL.createObjectURL(text);
      const worker = new Worker(address);
      setTimeout(() => URL.revokeObjectURL(address), 10_000); // once it is read
      return worker;
    },
  };
}

/** What to simulate where the knobs say so: the run as it is described, with the numbers that they stand for replaced. */
export function requestOf({ base, knobs }, values) {
  const request = structuredClone(base);
  for (const { key, place: [part, at] } of knobs) {
    const value = values.get(key);
    if (value === undefined) continue;
    if (part === "run") request[at] = value;
    else if (part === "inputs" && typeof base.inputs[at] === "object") request.inputs[at] = scaled(base.inputs[at], value);
    else request[part][at] = value;
  }
  return request;
}

/** A table with all its values times a factor. */
function scaled(table, factor) {
  const values = table.values.map((value) => value * factor);
  const coefficients = table.coefficients?.map((each) => each * factor);
  return { ...table, values, ...(coefficients && { coefficients }) };
}
