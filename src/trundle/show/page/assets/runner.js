// One simulation at a time in a worker, the newest request next. Without a document: `start` makes whatever acts as a worker.

// A run that takes longer than this is given up where a newer setting waits (ms).
const PATIENCE = 600;

// Returns {ask(request, about), stop()}. `start()` returns a fresh worker, which answers {id, …} to each {id, request}.
// Of many requests while one runs only the newest is kept; results come in the order of their requests, with what each
// was `about`.
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
      const { about, begun } = running;
      onResult(data, about, performance.now() - begun);
      next();
    };
    fresh.onerror = (event) => {
      if (fresh !== worker || !running) return;
      event.preventDefault?.();
      const { about } = running;
      drop();
      onFailure(event.message || "The simulation failed.", about);
      next();
    };
    return fresh;
  };

  const giveUp = () => {
    clearTimeout(running.patience);
    drop();
    next();
  };

  const ask = (request, about) => {
    waiting = { id: ++count, request, about };
    if (!running) return next();
    const spent = performance.now() - running.begun;
    clearTimeout(running.patience);
    running.patience = setTimeout(() => waiting && giveUp(), Math.max(0, PATIENCE - spent));
  };

  return { ask, stop: drop };
}
