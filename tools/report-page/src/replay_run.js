import { h } from "./dom.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
/** How long an event is shown to happen, and how long it is left to be read, at speed 1. */
const [MOVES, RESTS] = [900, 500];
const still = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;

/**
 * Steps through the events: the bar of buttons, the clock. `show(count, {part, state, before})` draws a moment.
 * Returns {bar, go(count), key(event)}.
 */
export function makeRun(data, model, show) {
  const last = data.events.length;
  let count = 0;
  let speed = 1;
  let playing = false;
  let frame = 0; // of the animation that is running
  let timer = 0;

  const button = (label, text, keys, action) =>
    h("button", { type: "button", title: `${label} (${keys})`, "aria-label": label, onclick: action }, text);
  const playButton = button("Play", "▶", "space", () => (playing ? pause() : play()));
  playButton.classList.add("play");
  const slider = h("input", {
    type: "range", min: 0, max: last, value: 0, class: "replay-slider", "aria-label": "Step",
    oninput: () => go(Number(slider.value)),
  });
  const told = h("output", { class: "replay-count" });
  const begins = iterationsOf(data);
  const jump = h("select", { "aria-label": "Jump to an iteration", onchange: () => jump.value && go(Number(jump.value)) },
    h("option", { value: "" }, "jump to …"), ...begins.map(([at, text]) => h("option", { value: at }, text)));
  const speeds = h("select", { "aria-label": "Speed", onchange: () => (speed = Number(speeds.value)) },
    ...SPEEDS.map((one) => h("option", { value: one, selected: one === 1 }, `${one} ×`)));
  const bar = h("div", { class: "replay-bar", role: "toolbar", "aria-label": "Replay" },
    button("To the beginning", "|‹", "Home", () => go(0)),
    button("Iteration back", "«", "Page up", () => iteration(-1)),
    button("Step back", "‹", "←", () => back()),
    playButton,
    button("Step", "›", "→", () => step()),
    button("Iteration on", "»", "Page down", () => iteration(1)),
    button("To the end", "›|", "End", () => go(last)),
    slider, told, jump, h("label", { class: "replay-speed" }, "speed ", speeds));

  function go(to) {
    pause();
    stop();
    count = Math.max(0, Math.min(last, to));
    draw(1);
  }

  function draw(part, before = null) {
    show(count, { part, state: model.after(count), before });
    slider.value = count;
    told.textContent = `${count} of ${last}`;
    jump.value = String(begins.filter(([at]) => at <= count).at(-1)?.[0] ?? "");
  }

  /** Lets the next event happen before one's eyes. */
  function step(then = () => {}) {
    stop();
    if (count === last) return pause();
    const before = model.after(count);
    count += 1;
    const state = model.after(count);
    const takes = still ? 0 : moves(before, state) ? MOVES : MOVES / 3;
    const begun = performance.now();
    draw(takes ? 0 : 1, before);
    const tick = (now) => {
      const part = takes ? Math.min(1, ((now - begun) * speed) / takes) : 1;
      show(count, { part, state, before });
      frame = part < 1 ? requestAnimationFrame(tick) : 0;
      if (part === 1) then();
    };
    frame = requestAnimationFrame(tick);
  }

  function back() {
    go(count - 1);
  }

  function iteration(way) {
    const places = begins.map(([at]) => at);
    const to = way > 0 ? places.find((at) => at > count) ?? last : places.filter((at) => at < count).at(-1) ?? 0;
    go(to);
  }

  function play() {
    if (count === last) count = 0;
    playing = true;
    playButton.textContent = "⏸";
    playButton.setAttribute("aria-label", "Pause");
    const next = () => step(() => {
      if (playing) timer = setTimeout(next, RESTS / speed);
    });
    next();
  }

  function pause() {
    playing = false;
    clearTimeout(timer);
    playButton.textContent = "▶";
    playButton.setAttribute("aria-label", "Play");
  }

  /** Ends the event that is happening. */
  function stop() {
    cancelAnimationFrame(frame);
    frame = 0;
  }

  function key(event) {
    if (event.target.closest?.("select, input") && event.key !== " " || event.ctrlKey || event.metaKey || event.altKey) return;
    const on = () => {
      pause();
      step();
    };
    const action = {
      ArrowRight: on, ArrowLeft: back, Home: () => go(0), End: () => go(last), PageDown: () => iteration(1),
      PageUp: () => iteration(-1), " ": () => (playing ? pause() : play()),
    }[event.key];
    if (!action || (event.key === " " && event.target.closest?.("button, select"))) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  return { bar, go, key };
}

const moves = (before, state) => [...state.tokens.keys()].some((name) => !before.tokens.has(name));

/** Where iterations begin: the number of events, and what it is called. */
function iterationsOf(data) {
  const found = [];
  data.events.forEach(([what, frame, , to], k) => {
    if (what !== "open" && what !== "begin") return;
    const [, parent, index] = data.iterations[to];
    const [outer, , above] = data.iterations[parent];
    found.push([k + 1, `${data.frames[frame].name}: iteration ${index}${outer ? ` (in ${above})` : ""}`]);
  });
  return found;
}
