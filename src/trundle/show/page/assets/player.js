// The clock of an animation: what time it is, whether it runs, how fast; and its buttons, slider and keys.

import { element } from "./data.js";

// For runs of a millisecond and of a day.
const SPEEDS = [1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 100, 1000, 10_000];
const JUMP = 1; // seconds of a long step

// A clock over [start, end]; `onTime` is called with every new time, `onState` when it starts, stops or changes speed.
export function createPlayer({ onTime, onState }) {
  const state = { time: 0, start: 0, end: 0, speed: 1, playing: false };
  let last = null;

  const frame = (now) => {
    if (!state.playing) return;
    const passed = last === null ? 0 : Math.min((now - last) / 1000, 0.25); // a hidden page's clock stands still
    last = now;
    seek(state.time + passed * state.speed, false);
    if (state.time >= state.end) pause();
    else requestAnimationFrame(frame);
  };
  const seek = (time, stops = false) => {
    state.time = Math.min(Math.max(time, state.start), state.end);
    if (stops) pause();
    onTime(state.time);
  };
  const play = () => {
    if (state.playing || state.end <= state.start) return;
    if (state.time >= state.end) seek(state.start);
    state.playing = true;
    last = null;
    onState(state);
    requestAnimationFrame(frame);
  };
  const pause = () => {
    if (!state.playing) return;
    state.playing = false;
    onState(state);
    onTime(state.time); // numbers that are renewed now and then while it plays
  };
  return {
    state,
    seek,
    play,
    pause,
    toggle: () => (state.playing ? pause() : play()),
    step: (by) => seek(state.time + by, true),
    faster: (by) => {
      const at = SPEEDS.indexOf(state.speed) + by;
      state.speed = SPEEDS[Math.min(Math.max(at, 0), SPEEDS.length - 1)];
      onState(state);
    },
    setSpeed: (speed) => {
      state.speed = speed;
      onState(state);
    },
    setRange: (start, end) => {
      Object.assign(state, { start, end });
      seek(state.time);
      onState(state);
    },
  };
}

// Play button, time slider, clock and speed, kept as the player is. Returns {element, update}.
export function createTransport(player) {
  const { state } = player;
  const play = element("button", { type: "button", class: "play" });
  const slider = element("input", { type: "range", class: "time", "aria-label": "time", step: "any", min: 0, max: 1 });
  const clock = element("output", { class: "clock" });
  const total = element("span", { class: "total" });
  const speed = element("select", { class: "speed", "aria-label": "speed", title: "speed" });
  speed.append(...SPEEDS.map((each) => element("option", { value: each }, `${each}×`)));

  play.addEventListener("click", player.toggle);
  slider.addEventListener("input", () => player.seek(Number(slider.value), true));
  speed.addEventListener("change", () => player.setSpeed(Number(speed.value)));

  const update = () => {
    const digits = decimals(state.end - state.start);
    slider.min = state.start;
    slider.max = state.end;
    slider.value = state.time;
    const text = state.time.toFixed(digits);
    if (clock.textContent !== text) clock.textContent = text;
  };
  const updateState = () => {
    play.dataset.playing = state.playing;
    play.setAttribute("aria-label", state.playing ? "pause" : "play");
    play.title = `${state.playing ? "pause" : "play"} (space)`;
    speed.value = state.speed;
    total.textContent = `/ ${Number(state.end.toPrecision(4))} s`;
    slider.setAttribute("aria-valuetext", `${state.time.toFixed(2)} s of ${state.end.toFixed(2)} s`);
    update();
  };
  const readout = element("span", { class: "readout" }, clock, total);
  return { element: element("div", { class: "transport" }, play, slider, readout, speed), update, updateState };
}

function decimals(duration) {
  return duration >= 2 ? 2 : Math.min(2 + Math.ceil(-Math.log10(Math.max(duration, 1e-9) / 2)), 9);
}

// Keys of the page, by what `KeyboardEvent.key` says; the help shows the same list.
export function playerKeys(player) {
  const sample = () => (player.state.end - player.state.start) / 500;
  return [
    { keys: [" ", "k"], shown: "space", says: "play or pause", does: player.toggle },
    { keys: ["ArrowRight", "."], shown: "→", says: "a step forward", does: () => player.step(sample()) },
    { keys: ["ArrowLeft", ","], shown: "←", says: "a step back", does: () => player.step(-sample()) },
    { keys: ["PageUp", "l"], shown: "l", says: "a second forward", does: () => player.step(JUMP) },
    { keys: ["PageDown", "j"], shown: "j", says: "a second back", does: () => player.step(-JUMP) },
    { keys: ["Home"], shown: "home", says: "to the start", does: () => player.seek(player.state.start, true) },
    { keys: ["End"], shown: "end", says: "to the end", does: () => player.seek(player.state.end, true) },
    { keys: ["]", ">"], shown: "]", says: "faster", does: () => player.faster(1) },
    { keys: ["[", "<"], shown: "[", says: "slower", does: () => player.faster(-1) },
  ];
}
