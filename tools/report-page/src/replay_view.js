import { select } from "d3-selection";
import { zoom, zoomIdentity, zoomTransform } from "d3-zoom";
import { h, s } from "./dom.js";
import { makeRun } from "./replay_run.js";
import { makeSide } from "./replay_side.js";
import { Model } from "./replay_state.js";
import { outline, textWidth } from "./shapes.js";

const MARGIN = 30;
/** The scale below which the words in the boxes are hard to read. */
const LEGIBLE = 0.5;
let views = 0;

/**
 * Replays a run token by token: {graph, results, frames, nodes, iterations, events, cut, failure}, see
 * autoloop/viewing/report/replayed_loops.py. Returns {count(line), shown(), search(text), reveal(k)}.
 */
export function mount(element, data, bus) {
  const view = new ReplayView(element, data, bus);
  return {
    count: (line) => view.linesOf(line).length, shown: () => view.shown(), search: (text) => view.search(text),
    reveal: (k) => view.run.go(view.found[k] + 1),
  };
}

class ReplayView {
  constructor(element, data, bus) {
    Object.assign(this, { element, data, bus, model: new Model(data), nodes: new Map(), paths: [], id: views++ });
    this.build();
    bus.on("line", ({ line, from }) => from === this.element || this.light(line));
  }

  build() {
    const words = h("p", { class: "replay-words", "aria-live": "polite" });
    this.words = words;
    this.side = makeSide(this.model, (count) => this.run.go(count));
    this.run = makeRun(this.data, this.model, (count, how) => this.show(count, how));
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    this.holder = h("div", { class: "graph-holder" }, this.drawn(), this.tools(), legend(this.data.graph), this.tip);
    const main = h("div", { class: "replay-main" }, h("div", { class: "replay-graph" }, this.holder, marks()), this.side.element);
    this.element.append(h("div", { class: "replay", tabindex: "-1" }, this.run.bar, words, main));
    this.element.addEventListener("keydown", (event) => this.run.key(event));
    document.addEventListener("keydown", (event) => {
      if (event.target === document.body && !this.element.hidden) this.run.key(event);
    });
  }

  /** The tab has come to the front: there is a size to draw for. */
  shown() {
    if (!this.fitted) {
      this.fit(LEGIBLE);
      this.fitted = true;
      this.run.go(0);
    }
  }

  // -- the graph ------------------------------------------------------------------------------------------------

  drawn() {
    const { graph } = this.data;
    const marker = (style) =>
      s("marker", {
        id: `replay-${this.id}-${style}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
        orient: "auto", class: `head e-${style}`,
      }, s("path", { d: "M0 0.8 L8 4 L0 7.2 z" }));
    this.world = s("g", { class: "world" });
    this.canvas = s("svg", { class: "graph replay-svg", role: "img", "aria-label": "The graph and its tokens" },
      s("defs", {}, marker("data"), marker("back"), marker("control")), this.world);
    const [width, height] = graph.clusters[0].at.slice(2);
    this.size = [width + 2 * MARGIN, height + 2 * MARGIN];
    this.areas = new Map();
    const areas = graph.clusters.slice(1).map((one) => this.area(one));
    const edges = graph.edges.map((edge) => this.edge(edge));
    const labels = graph.edges.map((edge, number) => this.label(edge, number)).filter(Boolean);
    const boxes = graph.boxes.map((box) => this.box(box));
    this.layer = s("g", { class: "tokens" });
    const titles = graph.clusters.slice(1).map((one) => this.title(one));
    this.world.append(...areas, ...edges, ...labels, ...boxes, ...titles, this.layer);
    this.zoom = zoom().scaleExtent([0.05, 6]).on("zoom", ({ transform }) => {
      this.world.setAttribute("transform", String(transform));
      this.grown = Math.max(1, Math.min(1.4, 1 / transform.k)); // tokens are legible also where the graph is small
      this.again?.();
    });
    select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    return this.canvas;
  }

  area(one) {
    const [x, y, width, height] = one.at;
    const group = s("g", { class: `cluster d${Math.min(this.depth(one), 4)}` },
      s("rect", { x, y, width, height, rx: 12 }));
    this.areas.set(one.index, group);
    return group;
  }

  title(one) {
    const [x, y] = one.at;
    const crossed = (left, right) => this.paths.some((path, number) => {
      if (!path.dataset.crosses) path.dataset.crosses = this.data.graph.edges[number].path;
      return crossings(path.dataset.crosses, y + 12).some((at) => at > left - 4 && at < right + 4);
    });
    const width = textWidth(one.title, 12.5, 600) + 10;
    let left = x + 14;
    while (left + width < x + one.at[2] && crossed(left, left + width)) left += 12;
    if (left + width >= x + one.at[2]) left = x + 14;
    return s("text", { class: "replay-title", x: left, y: y + 18 }, one.title);
  }

  depth(one) {
    let found = 0;
    for (let at = one; at && at.parent >= 0; at = this.data.graph.clusters[at.parent]) found++;
    return found;
  }

  edge(edge) {
    const path = s("path", { d: edge.path, "marker-end": `url(#replay-${this.id}-${edge.style})` });
    this.paths.push(path);
    return s("g", { class: `edge e-${edge.style}` }, path);
  }

  label(edge, number) {
    if (edge.label !== "T" && edge.label !== "F") return null;
    const first = this.data.graph.edges.findIndex((one) => one.source === edge.source && one.port === edge.port);
    if (first !== number) return null;
    const [x, y] = edge.path.slice(1).split(/[ LC]/).map(Number);
    return s("text", { class: "replay-label", x: x + (edge.label === "F" ? -8 : 8), y: y + 11 }, edge.label);
  }

  box(box) {
    const [x, y, width, height] = box.at;
    const shape = this.data.graph.styles[box.style].outline;
    const shift = shape === "invhouse" ? -4 : shape === "house" ? 4 : 0;
    const note = box.note || box.style === "result" ? s("text", { class: "note", y: 11 + shift }, box.note) : null;
    const group = s("g", {
      class: `node${box.line ? " linked" : ""}${shape === "plain" || shape === "circle" ? " small" : ""} n-${box.style}`,
      transform: `translate(${x} ${y})`, "data-id": box.id,
      onclick: () => box.line && this.bus.emit("line", { line: box.line, from: null }),
      onmouseenter: (event) => this.tell(event, `${box.label} ${box.note}\n${box.tip}`.trim()),
      onmouseleave: () => this.untell(),
    }, s("path", { class: `outline s-${box.style}`, d: outline(shape, width, height) }),
      s("text", { y: (box.note ? -2 : 4) + shift, class: "label" }, box.label), note);
    this.nodes.set(box.id, group);
    return group;
  }

  tools() {
    const button = (label, text, action) =>
      h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    return h("div", { class: "graph-tools" },
      button("zoom in", "+", () => select(this.canvas).call(this.zoom.scaleBy, 1.3)),
      button("zoom out", "−", () => select(this.canvas).call(this.zoom.scaleBy, 1 / 1.3)),
      button("whole graph", "⤢", () => this.fit()));
  }

  /** Shows all of it; no smaller than `least`, then from the top on: what happens out of sight is moved into it. */
  fit(least = 0.05) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const k = Math.max(least, Math.min(1.5, width / this.size[0], height / this.size[1]));
    const x = (width - this.size[0] * k) / 2 + MARGIN * k;
    const y = Math.max(0, (height - this.size[1] * k) / 2) + MARGIN * k;
    select(this.canvas).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(k));
  }

  // -- a moment -------------------------------------------------------------------------------------------------

  /** Shows the state after so many events; `how.part` (0 to 1): how far the last one has come. */
  show(count, { part = 1, state, before }) {
    const event = count ? this.data.events[count - 1] : null;
    if (part === 1 || this.count !== count) this.still(count, event, state);
    this.count = count;
    this.again = () => this.layer.replaceChildren(...this.tokens(event, state, before, part));
    this.layer.replaceChildren(...this.tokens(event, state, before, part));
  }

  /** What does not move. */
  still(count, event, state) {
    const id = event && this.model.boxOf(event);
    const busy = new Map();
    for (const { id: one, at } of state.busy.values()) busy.set(one, [...(busy.get(one) ?? []), at]);
    for (const [one, group] of this.nodes) {
      group.classList.toggle("now", one === id);
      group.classList.toggle("dead", one === id && event[0] === "dead");
      group.classList.toggle("busy", busy.has(one));
      group.classList.toggle("failed", one === state.failed);
      const result = state.results.get(one);
      if (this.model.boxes.get(one).style === "result") {
        group.querySelector(".note").textContent = short(result ?? "");
        group.querySelector(".label").setAttribute("y", result === undefined ? 4 : -2);
        group.classList.toggle("there", result !== undefined);
      }
    }
    const open = new Set(state.live.map((one) => this.data.iterations[one][0]));
    for (const [index, group] of this.areas) {
      group.classList.toggle("open", open.has(index));
      group.classList.toggle("now", Boolean(event) && id === null && event[1] === index);
    }
    this.words.replaceChildren(...this.sentence(event));
    this.side.show(count, event, state);
    if (id) {
      this.see(id);
      const line = this.model.boxes.get(id)?.line;
      if (line) this.bus.emit("line", { line, from: this.element });
    }
  }

  /** Whether all of the graph is in sight. */
  whole() {
    const outer = this.canvas.getBoundingClientRect();
    const inner = this.world.getBoundingClientRect();
    return inner.top >= outer.top - 4 && inner.bottom <= outer.bottom + 4 && inner.left >= outer.left - 4 && inner.right <= outer.right + 4;
  }

  sentence(event) {
    if (!event) {
      const last = this.data.events.length;
      return [`The graph before it runs. Step on with → or play with the space bar: ${last} steps.`];
    }
    const [frame, parent, index] = this.data.iterations[this.model.iterationOf(event)];
    let where = `iteration ${index}`;
    for (let [outer, next, above] = this.data.iterations[Math.max(parent, 0)]; outer; [outer, next, above] = this.data.iterations[next]) {
      where += ` in ${above}`;
    }
    const chip = frame ? h("span", { class: `chip ${colour(index)}` }, where) : h("span", { class: "chip c-out" }, "outside");
    const said = h("span", { class: event[0] === "dead" ? "told-dead" : "" }, event[6]);
    return [chip, said, h("small", {}, this.rule(event))];
  }

  /** What holds for all events of a kind. */
  rule(event) {
    const window = this.data.frames[this.data.iterations[event[3]][0]].window;
    const told = RULES[event[0]];
    if (told) return told.replace("WINDOW", window);
    const { style } = this.model.boxes.get(this.model.boxOf(event));
    return KINDS[style] ?? "";
  }

  /** Moves the sheet where the node is out of sight, or near an edge of what is. */
  see(id) {
    const outer = this.canvas.getBoundingClientRect();
    const inner = this.nodes.get(id)?.getBoundingClientRect();
    if (!inner || !outer.width || this.whole()) return;
    const room = Math.min(50, outer.height / 8);
    const way = (low, high, start, end) => (low < start + room || high > end - room ? (start + end - low - high) / 2 : 0);
    const [x, y] = [way(inner.left, inner.right, outer.left, outer.right), way(inner.top, inner.bottom, outer.top, outer.bottom)];
    const k = zoomTransform(this.canvas).k;
    if (x || y) select(this.canvas).call(this.zoom.translateBy, x / k, y / k);
  }

  tokens(event, state, before, part) {
    const groups = [];
    const stacks = new Map();
    const arrives = 0.35; // the part in which the inputs go into the node
    const later = part < arrives;
    if (part < 1 && before) {
      for (const [name, token] of before.tokens) {
        const now = state.tokens.get(name);
        if (now && now.value === token.value && now.dead === token.dead) continue;
        if (later) groups.push(this.token(token, stacks, Math.min(1, part / arrives)));
      }
    }
    for (const [name, token] of state.tokens) {
      const old = before?.tokens.get(name);
      const isNew = part < 1 && before && !(old && old.value === token.value && old.dead === token.dead);
      if (!isNew) groups.push(this.token(token, stacks, 0));
      else if (!later) groups.push(this.token(token, stacks, 0, (part - arrives) / (1 - arrives)));
    }
    return groups;
  }

  /** A token where it rests; `gone`: how far it has left that for the node; `come`: how far it has come there. */
  token(token, stacks, gone, come = 1) {
    const path = this.paths[token.edge];
    const edge = this.data.graph.edges[token.edge];
    const length = path.getTotalLength();
    const place = stacks.get(token.edge) ?? 0;
    if (!gone) stacks.set(token.edge, place + 1);
    // of two inputs side by side the second one's tokens stand higher
    const beside = (this.model.into.get(edge.target)?.indexOf(token.edge) ?? 0) % 2;
    const back = 8 + (12 + 14 * beside + 20 * place) * this.grown;
    const rest = Math.max(Math.min(14, length / 2), length - back);
    const at = gone ? rest + (length - rest) * gone : rest * smooth(come);
    const { x, y } = path.getPointAtLength(at);
    const [frame, , index] = this.data.iterations[token.at];
    const hue = token.dead ? "c-dead" : frame ? colour(index) : "c-out";
    const text = token.dead ? "dead" : edge.style === "control" ? "" : short(token.value);
    const width = text ? Math.max(18, textWidth(text, 10.5, 600) + 10) : 12;
    const height = text ? 17 : 12;
    const where = frame ? `iteration ${index}` : "outside of the loops";
    const what = token.dead ? "a dead token" : edge.style === "control" ? "no value: its turn" : token.value;
    const more = token.shared ? ", all iterations share it" : token.waits ? ", waits: the window is full" : "";
    return s("g", {
      class: `token ${hue}${token.shared ? " shared" : ""}${token.waits ? " waits" : ""}`,
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${this.grown.toFixed(2)})`, opacity: gone ? (1 - gone * 0.6).toFixed(2) : null,
      onmouseenter: (event) => this.tell(event, `${what}\n${where}${more}`), onmouseleave: () => this.untell(),
    }, s("rect", { x: -width / 2, y: -height / 2, width, height, rx: token.shared ? 2 : height / 2 }),
      text ? s("text", { y: 3.7 }, text) : null);
  }

  // -- lines, tips ----------------------------------------------------------------------------------------------

  /** Finds the steps whose words hold a text. */
  search(text) {
    const wanted = text.toLowerCase();
    const { events } = this.data;
    this.found = wanted ? [...events.keys()].filter((k) => events[k][6].toLowerCase().includes(wanted)) : [];
    this.side.mark(this.found);
    return this.found.length;
  }

  linesOf(line) {
    return this.data.graph.boxes.filter((box) => box.line && box.line === line);
  }

  light(line) {
    const lit = new Set(line === null ? [] : this.linesOf(line).map((box) => box.id));
    for (const [id, group] of this.nodes) group.classList.toggle("lit", lit.has(id));
  }

  tell(event, text) {
    this.tip.textContent = text;
    this.tip.hidden = false;
    const outer = this.holder.getBoundingClientRect();
    const around = event.currentTarget.getBoundingClientRect();
    const left = Math.min(around.right - outer.left + 8, outer.width - this.tip.offsetWidth - 8);
    const top = Math.min(around.top - outer.top, outer.height - this.tip.offsetHeight - 8);
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, top)}px`;
  }

  untell() {
    this.tip.hidden = true;
  }
}

const RULES = {
  open: "A frame is one run of a loop. What is in it is kept apart from what is around it, and its iterations from each other.",
  begin: "Iterations overlap where nothing makes one wait for another; up to WINDOW of this loop may be live at once (parallel_iterations).",
  end: "An iteration is over when nothing of it is under way, and those before it are over: that makes room for another.",
  close: "A frame is closed when its last iteration is over.",
  dead: "Dead tokens take the way that the values do not take, so that nobody waits there for what never comes.",
  wait: "A token that would begin one iteration too many waits until the oldest one is over: so the memory that a loop needs is bounded.",
  start: "A kernel that takes long holds up only those that need its result.",
  done: "What it gives goes to all who wait for it.",
};
const KINDS = {
  feed: "A value that the caller gives.",
  kernel: "An operation is computed when all its inputs have come, each of the same iteration.",
  enter: "Enter takes a value into a loop: each loop variable comes in by one.",
  invariant: "What no iteration changes comes in once, and is there for each of them.",
  merge: "Merge waits for one of its inputs only: first what Enter gives, then what NextIteration brings; after a branch, the side that lives.",
  loop_cond: "LoopCond hands the condition to the Switch of each loop variable.",
  switch: "Switch sends its value one way, T if the condition is true and else F, and a dead token the other way.",
  next: "NextIteration takes a value on to the next iteration, where Merge takes it in.",
  exit: "Exit lets a loop variable out of the frame when the condition has come out false.",
  unused: "Each loop variable has its Exit. What nobody fetches goes no further.",
  identity: "A constant sends no tokens of its own: here it is handed on when its turn has come.",
};

/** What the kinds of boxes are. */
function legend(graph) {
  const used = new Set(graph.boxes.map((box) => box.style));
  const kinds = Object.entries(graph.styles).filter(([name]) => used.has(name)).map(([name, { outline: shape, words }]) =>
    h("li", {}, s("svg", { width: 34, height: 20, viewBox: "-17 -10 34 20", "aria-hidden": "true" },
      s("path", { class: `outline s-${name}`, d: outline(shape, shape === "circle" ? 16 : 30, 16) })), words));
  return h("details", { class: "legend" }, h("summary", {}, "Legend"), h("ul", {}, ...kinds));
}

/** What tokens look like. */
function marks() {
  const mark = (kind, text, words) => h("li", {}, h("span", { class: `pill ${kind}` }, text), words);
  return h("ul", { class: "replay-marks", "aria-label": "Tokens" },
    mark("c0", "7", "token"), mark("c1", "9", "another iteration’s"), mark("c-dead", "dead", "token"),
    mark("c2 waits", "3", "waits"), mark("c0 shared", "10", "for all iterations"), mark("c-out", "14", "outside"));
}

export const colour = (index) => `c${index % 8}`;
const smooth = (part) => part * part * (3 - 2 * part);

function short(value) {
  if (value === "True" || value === "False") return value[0]; // as the sides of a Switch
  if (value.length <= 9) return value;
  const shape = /^\w+(\[[\d,]+\])$/.exec(value)?.[1];
  return shape && shape.length <= 12 ? shape : `${value.slice(0, 8)}…`;
}

/** Where a path crosses a height: x of points of it that are near. */
function crossings(path, y) {
  const numbers = path.match(/-?[\d.]+/g).map(Number);
  const found = [];
  for (let k = 0; k + 3 < numbers.length; k += 2) {
    const [x0, y0, x1, y1] = numbers.slice(k, k + 4);
    if (Math.min(y0, y1) - 14 <= y && y <= Math.max(y0, y1) + 14) found.push(x0, x1);
  }
  return found;
}
