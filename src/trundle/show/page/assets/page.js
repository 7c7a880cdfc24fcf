// The page: its data, views, player, plots and keys put together. `setMotion` shows another run of the same robot.

import { decode, element, linked, momentAt, motionOf, number } from "./data.js";
import { createPlayer, createTransport, playerKeys } from "./player.js";
import { createPlots } from "./plots.js";
import { createView2d, dashOf } from "./view2d.js";
import { arrowsOf, wrenchLegend } from "./wrenches.js";

const NUMBERS_EVERY = 100; // ms between new numbers beside curves while the clock runs
const CURVES = 8;

// Starts the page of a document; `parts` are what a page may have besides: {createView3d, createControls, createPlanes, createCloud}.
export function startPage(document, parts = {}) {
  const data = decode(JSON.parse(document.getElementById("data").textContent));
  const page = { data, parts, theme: readTheme(document), scene: sceneOf(data), motion: motionOf(data), ghost: null, view: null };
  setUpPlayer(document, page);
  setUpMotions(document, page);
  if (page.motion) showFacts(document, page);
  showRuns(document, data);
  setUpViews(document, page);
  setUpThemes(document, page);
  setUpKeys(document, page);
  if (parts.createControls) page.controls = parts.createControls(page);
  if (parts.createCloud) setUpCloud(document, page);
  new ResizeObserver(page.resize).observe(document.getElementById("stage"));
  new ResizeObserver(page.redraw).observe(document.getElementById("plots"));
  setUpFolds(document, page);
  setUpField(page);
  start(page);
  globalThis.trundlePage = page;
  return page;
}

// The clock, and everything that follows it.
function setUpPlayer(document, page) {
  page.player = createPlayer({ onTime: (time) => page.draw(time), onState: () => transport.updateState() });
  const transport = createTransport(page.player);
  document.getElementById("transport").replaceWith(transport.element);
  page.plots = createPlots(page.data.plots ?? [], page.data.units, page.theme, {
    shown: () => motionsOf(page),
    onSeek: (time) => page.player.seek(time, true),
  });
  document.getElementById("plots").append(page.plots.element);
  page.planes = page.parts.createPlanes?.(page.data.planes, page.theme, () => motionsOf(page));
  if (page.planes) document.getElementById("plots").append(page.planes.element);

  let numbered = 0;
  page.draw = (time = page.player.state.time) => {
    if (!page.motion) return;
    page.moment = momentAt(page.motion, time);
    if (page.view && page.scene) page.view.draw(page.scene, page.moment);
    transport.update();
    const now = performance.now();
    const numbers = !page.player.state.playing || now - numbered > NUMBERS_EVERY;
    if (numbers) numbered = now;
    page.plots.move(page.moment, numbers);
    page.planes?.move(page.moment);
  };
  page.redraw = () => {
    page.plots.draw();
    page.planes?.draw();
    page.cloud?.draw();
    page.draw();
  };
  page.resize = () => {
    page.view?.resize();
    if (page.scene) page.view?.keep?.(page.scene);
    page.redraw();
  };
}

function setUpMotions(document, page) {
  // Another run of the same robot, {time, values, poses, spins, arrows?, shapes?}. The clock stays where it is.
  page.setMotion = (motion) => {
    page.motion = { arrows: [], groups: page.data.run?.groups, frames: page.scene?.frames ?? 0, ...motion };
    if (page.scene) {
      Object.assign(page.scene, motion.shapes ?? {}, { motion: page.motion });
      page.motion.arrows = motion.arrows ?? arrowsOf(page.motion, page.scene);
    }
    page.view?.keep?.(page.scene);
    showFacts(document, page);
    page.plots.draw();
    page.player.setRange(page.motion.time[0], page.motion.time.at(-1)); // which draws the moment
  };
  // A run that is shown faintly beside, as it is given to setMotion; null for none.
  page.setGhost = (motion) => {
    page.ghost = motion;
    if (page.scene) page.scene.ghost = motion && { arrows: [], frames: page.scene.frames, ...motion };
  };
}

function start(page) {
  const { motion, player } = page;
  if (motion) player.setRange(motion.time[0], motion.time.at(-1));
  page.resize();
  startView(page);
  page.redraw();
  if (page.scene && !stands()) player.play();
}

// A sweep's robots stand before all plots; the one that is chosen drives.
function setUpCloud(document, page) {
  const { choices, grounds, cloud } = page.data;
  const show = (run) => {
    if (run < 0) return;
    const chosen = choices[run];
    page.setMotion({ ...motionOf(chosen), shapes: { ...chosen.scene, ground: grounds[chosen.ground] ?? null } });
    playAgain(page.player);
  };
  page.cloud = page.parts.createCloud(cloud, page.theme, (changes, run) => (choices ? show(run) : page.controls.set(changes)));
  document.getElementById("plots").prepend(page.cloud.element);
  if (choices) page.cloud.choose(cloud.robots.indexOf(cloud.runs[0]));
}

// Another robot drives from its start.
function playAgain(player) {
  player.seek(player.state.start);
  if (!stands()) player.play();
}

// Whether a person wants nothing to move by itself.
function stands() {
  return globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// A picture of the field lies under what is seen from above.
function setUpField({ scene, data, redraw }) {
  if (!data.field || scene?.seen.axes.join("") !== "xy") return;
  const image = new Image();
  image.addEventListener("load", redraw);
  image.src = data.field.source;
  scene.field = { ...data.field, image };
}

// The shapes of a page's robot with its motion, those of the runs that it is compared with among `others`.
// The first run's ground is laid in full; one that another run has for itself is seen through, in that run's colour.
function sceneOf({ scene, run, others = [], ground = null, grounds = [] }) {
  if (!scene) return null;
  const compared = others.filter((each) => each.scene).map((each) => ({
    ...each.scene, motion: motionOf(each), others: [], title: each.title,
    ground: grounds[each.ground] ?? null,
  }));
  return { ...scene, motion: motionOf({ scene, run }), ghost: null, others: compared, ground: grounds[ground] ?? null };
}

function motionsOf(page) {
  const others = (page.data.others ?? []).map((each) => ({ name: each.title, motion: motionOf(each) }));
  return [{ name: page.data.title, motion: page.motion, ghost: page.ghost }, ...others];
}

// The page's colours, from its style sheet.
function readTheme(document) {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ink", "muted", "paper", "grid", "axis", "body", "assumed", "wheel", "mark", "joint", "ghost", "ground", "force", "moment", "font"];
  const theme = Object.fromEntries(names.map((name) => [name, read(name)]));
  theme.curves = Array.from({ length: CURVES }, (_, k) => read(`curve${k}`));
  theme.axes = ["x", "y", "z"].map((axis) => read(`axis-${axis}`));
  theme.dark = read("scheme") === "dark";
  return theme;
}

// How long the motion is that is shown, how much of a run is drawn, and what its arrows stand for.
function showFacts(document, { motion, scene }) {
  if (scene) document.getElementById("wrenches").replaceChildren(...wrenchLegend(scene, motion));
  const drawn = motion.time.length;
  const { samples = drawn, off = 0 } = motion;
  const share = Math.max(1e-3, Number((100 * off).toPrecision(1)));
  const thinned = drawn < samples ? `, ${drawn.toLocaleString("en")} of them drawn (lines within ${share} % of a panel)` : "";
  const length = Number((motion.time.at(-1) - motion.time[0]).toPrecision(4));
  document.getElementById("length").textContent = `${length} s · ${samples.toLocaleString("en")} samples${thinned}`;
}

function showRuns(document, data) {
  if (!data.others?.length) return;
  const names = [data, ...data.others].map(({ label, title }) => label || title);
  document.getElementById("runs").append(...names.map((name, k) => element("li", {}, runSwatch(k), element("bdi", {}, name))));
}

// A line as that run's trail and curves are drawn.
function runSwatch(k) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const given = { x1: 0, y1: 6, x2: 34, y2: 6, "stroke-width": k ? 2 : 2.5, "stroke-dasharray": dashOf(k).join(" ") };
  for (const [name, value] of Object.entries(given)) line.setAttribute(name, value);
  line.setAttribute("class", `run${k % CURVES}`);
  svg.setAttribute("class", "swatch");
  svg.append(line);
  return svg;
}

// The view in the stage, and its buttons; in 3D where the page has that and it was asked for.
function setUpViews(document, page) {
  const at = (name) => document.getElementById(name);
  const onCamera = ({ magnified, follows, step = null }) => {
    const regions = step ? (page.scene?.ground?.regions ?? []).map(({ name, factor }) => `${name}: friction × ${number(factor, 2)}`) : [];
    const lines = step ? [`lines every ${Number(step.toPrecision(2))} m`, ...regions].join(" · ") : "";
    const text = magnified > 1 ? `robot drawn ${number(magnified, 2)} times its size` : lines;
    if (at("note").textContent !== text) at("note").textContent = text;
    at("follow").setAttribute("aria-pressed", String(Boolean(follows)));
  };
  const show = (wanted) => {
    page.view?.dispose?.();
    const { view, spatial } = createView(document, page, wanted, onCamera);
    Object.assign(page, { view, spatial });
    at("spatial").setAttribute("aria-pressed", String(spatial));
    at("seen").textContent = spatial ? "seen in space" : `seen ${page.scene.seen.from}`;
    if (!spatial) setUpPointer(at("canvas"), page);
    page.resize();
    startView(page);
    page.draw();
    showLayers(at("layers"), view.layers ?? []);
  };
  if (!page.scene) {
    at("stage").classList.add("empty");
    at("note").textContent = page.data.unseen;
    for (const button of at("tools").querySelectorAll("button")) button.hidden = true;
    return;
  }
  page.showSpatial = show;
  at("spatial").hidden = !page.parts.createView3d;
  at("spatial").addEventListener("click", () => show(!page.spatial));
  const acts = viewActs(page);
  for (const name of ["follow", "fit", "nearer", "farther"]) at(name).addEventListener("click", acts[name]);
  const { seen, solids } = page.scene;
  show(Boolean(page.parts.createView3d) && (seen.axes.length === 0 || solids.length > 0));
}

// A view on a new canvas; in the plane where the browser has no WebGL.
function createView(document, page, wanted, onCamera) {
  const onCanvas = (create, from) => {
    const canvas = element("canvas", { id: "canvas", tabindex: 0, role: "img", "aria-label": `${page.data.title}, drawn ${from}` });
    document.getElementById("canvas").replaceWith(canvas);
    return create(canvas, page.theme, { data: page.data, onCamera });
  };
  try {
    if (wanted) return { view: onCanvas(page.parts.createView3d, "in space"), spatial: true };
  } catch {
    Object.assign(document.getElementById("spatial"), { disabled: true, title: "this browser has no WebGL" });
  }
  return { view: onCanvas(createView2d, page.scene.seen.from), spatial: false };
}

// What of the robot is shown, to be switched: [{says, on, set(on)}].
function showLayers(details, layers) {
  details.hidden = !layers.length;
  const boxes = layers.map(({ says, on, set }) => {
    const box = element("input", { type: "checkbox", checked: on });
    box.addEventListener("change", () => set(box.checked));
    return element("label", {}, box, says);
  });
  details.replaceChildren(element("summary", {}, "show"), ...boxes);
}

// As a view begins by itself, or with everything in sight.
function startView({ view, scene }) {
  if (view) (view.begin ?? view.fit)(scene);
}

function viewActs(page) {
  const act = (does) => () => {
    if (!page.view) return;
    does();
    page.draw();
  };
  return {
    follow: act(() => page.view.follow(!page.view.follows)),
    fit: act(() => {
      page.view.follow(false);
      page.view.fit(page.scene);
    }),
    nearer: act(() => page.view.zoom(1.25)),
    farther: act(() => page.view.zoom(0.8)),
  };
}

// Drag to pan, wheel or two fingers to zoom, twice to fit.
function setUpPointer(canvas, page) {
  const fingers = new Map();
  const draw = () => page.player.state.playing || page.draw();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  const inside = ({ clientX, clientY }) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, inside(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const before = fingers.size === 2 ? spread() : 0;
    const now = inside(event);
    fingers.set(event.pointerId, now);
    page.view.pan((now[0] - last[0]) / fingers.size, (now[1] - last[1]) / fingers.size);
    if (before) page.view.zoom(spread() / before, now);
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("dblclick", () => {
    page.view.fit(page.scene);
    draw();
  });
  const wheel = (event) => {
    event.preventDefault();
    page.view.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), inside(event));
    draw();
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
}

function setUpThemes(document, page) {
  const root = document.documentElement;
  const dark = globalThis.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const update = () => {
    Object.assign(page.theme, readTheme(document));
    button.setAttribute("aria-label", `${page.theme.dark ? "light" : "dark"} colours`);
    page.view?.setTheme?.(page.theme);
    page.redraw();
  };
  page.toggleTheme = () => {
    root.dataset.theme = page.theme.dark ? "light" : "dark";
    update();
  };
  const asSystem = () => {
    root.dataset.theme = dark.matches ? "dark" : "light";
    update();
  };
  button.addEventListener("click", page.toggleTheme);
  dark.addEventListener("change", asSystem);
  asSystem();
}

// A link to what is folded opens it, and paper has all of it.
function setUpFolds(document, page) {
  const reveal = () => {
    const wanted = linked(document);
    if (!wanted) return;
    for (let at = wanted; at; at = at.parentElement) if (at.matches("details")) at.open = true;
    page.plots.draw();
    page.planes?.draw();
    wanted.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (linked(document)) requestAnimationFrame(reveal);
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.plots:not([open]), details.panel:not([open]), #equations details:not([open])")];
    for (const each of folded) each.open = true;
    page.redraw();
  });
  addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });
}

// Keys and the help that lists them. Fields that take text or arrows keep theirs.
function setUpKeys(document, page) {
  const acts = viewActs(page);
  const help = document.getElementById("help");
  const keys = [
    ...playerKeys(page.player),
    { keys: ["f"], shown: "f", says: "follow the robot", does: acts.follow },
    { keys: ["0"], shown: "0", says: "show everything", does: acts.fit },
    { keys: ["+", "="], shown: "+", says: "nearer", does: acts.nearer },
    { keys: ["-"], shown: "−", says: "farther", does: acts.farther },
    { keys: ["d"], shown: "d", says: "dark or light", does: page.toggleTheme },
    { keys: ["?"], shown: "?", says: "this help", does: () => (help.open ? help.close() : help.showModal()) },
  ];
  if (page.parts.createView3d && page.scene) {
    keys.push({ keys: ["3"], shown: "3", says: "in space or in the plane", does: () => page.showSpatial(!page.spatial) });
  }
  document.getElementById("keys").append(
    ...keys.flatMap(({ shown, says }) => [element("dt", {}, element("kbd", {}, shown)), element("dd", {}, says)]),
  );
  document.getElementById("help-button").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not(.time, [type=checkbox]), textarea, select")) return;
    if (key === " " && target.matches("button, summary, [type=checkbox]")) return;
    const found = keys.find((each) => each.keys.includes(key));
    if (!found) return;
    event.preventDefault();
    found.does();
  });
}
