// One simulation at a time in a worker, the newest request next. No document: `start` makes whatever acts as a worker.

// A run that takes longer than this is given up where a newer setting waits (ms).
const PATIENCE = 600;

// Returns {ask(request), stop()}. `start()` returns a fresh worker, which answers {id, ...} to each {id, request}.
// Of many requests while one runs only the newest is kept; results come in the order of their requests.
export function createRunner(start, { onResult, onBusy, onFailure }) {
  let worker = null;
  let running = null;
  let waiting = null;
  let count = 0;

  const drop = () => {
    worker?.terminate();
    worker = null;
    running = null;
  };

  const next = () => {
    clearTimeout(running?.patience);
    running = waiting;
    waiting = null;
    onBusy(running !== null);
    if (!running) return;
    running.begun = performance.now();
    worker ??= started();
    worker.postMessage({ id: running.id, request: running.request });
  };

  const started = () => {
    const fresh = start();
    fresh.onmessage = ({ data }) => {
      if (data.id !== running?.id) return;
      const { request, begun } = running;
      onResult(data, request, performance.now() - begun);
      next();
    };
    fresh.onerror = (event) => {
      if (fresh !== worker) return;
      event.preventDefault?.();
      const { request } = running;
      drop();
      onFailure(event.message || "The simulation failed.", request);
      next();
    };
    return fresh;
  };

  const giveUp = () => {
    clearTimeout(running.patience);
    drop();
    next();
  };

  const ask = (request) => {
    waiting = { id: ++count, request };
    if (!running) return next();
    const spent = performance.now() - running.begun;
    clearTimeout(running.patience);
    running.patience = setTimeout(() => waiting && giveUp(), Math.max(0, PATIENCE - spent));
  };

  return { ask, stop: drop };
}
