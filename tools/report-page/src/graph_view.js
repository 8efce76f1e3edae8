import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { h, s } from "./dom.js";
import { layOut, path, visible } from "./layout.js";
import { boxSize, outline } from "./shapes.js";

let graphs = 0;

/**
 * Shows a graph: {boxes, edges, clusters, styles}. Pan by dragging, zoom with the wheel or + and -, fold a frame with
 * its title; a click on a node lights up its line. Returns {count(line), search(text), reveal(k), shown()}.
 */
export function mount(element, stage, bus) {
  const view = new GraphView(element, stage, bus);
  return {
    count: (line) => view.byLine.get(line)?.length ?? 0,
    search: (text) => view.search(text),
    reveal: (k) => view.reveal(k),
    shown: () => view.shown(),
  };
}

class GraphView {
  constructor(element, stage, bus) {
    Object.assign(this, { element, stage, bus, collapsed: new Set(), line: null, found: [], drawn: false, id: graphs++ });
    this.byLine = new Map();
    this.boxOf = new Map(stage.boxes.map((box) => [box.id, box]));
    for (const box of stage.boxes) {
      if (box.line) this.byLine.set(box.line, [...(this.byLine.get(box.line) ?? []), box]);
    }
    bus.on("line", ({ line, from }) => {
      this.line = line;
      if (this.drawn) this.light(from !== this.element);
    });
  }

  /** The tab has come to the front: there is a size to draw for. */
  shown() {
    if (this.drawn) return;
    this.drawn = true;
    this.build();
    this.draw();
    this.fit(0.6);
    this.light(true);
  }

  build() {
    const button = (label, text, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    this.canvas = s("svg", { class: "graph", tabindex: "0", role: "group", "aria-label": `${this.stage.title}: a graph` });
    this.world = s("g", { class: "world" });
    this.canvas.append(this.markers(), this.world);
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    const tools = h(
      "div", { class: "graph-tools" },
      button("zoom in", "+", () => this.scale(1.3)),
      button("zoom out", "−", () => this.scale(1 / 1.3)),
      button("whole graph", "⤢", () => this.fit()),
      button("collapse all frames", "⊟", () => this.fold(true)),
      button("expand all frames", "⊞", () => this.fold(false)),
    );
    this.element.append(h("div", { class: "graph-holder" }, this.canvas, tools, this.legend(), this.tip));
    this.zoom = zoom().scaleExtent([0.03, 6]).on("zoom", ({ transform }) => {
      this.world.setAttribute("transform", String(transform));
    });
    select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  markers() {
    const head = (style) =>
      s("marker", { id: `head-${this.id}-${style}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", class: `head e-${style}` },
        s("path", { d: "M0 0.8 L8 4 L0 7.2 z" }));
    return s("defs", {}, head("data"), head("back"), head("control"));
  }

  legend() {
    const used = new Set(this.stage.boxes.map((box) => box.style));
    const rows = Object.entries(this.stage.styles).filter(([name]) => used.has(name)).map(([name, { outline: shape, words }]) =>
      h("li", {}, s("svg", { width: 34, height: 20, viewBox: "-17 -10 34 20", "aria-hidden": "true" },
        s("path", { class: `outline s-${name}`, d: outline(shape, shape === "circle" ? 16 : 30, 16) })), words));
    return h("details", { class: "legend" }, h("summary", {}, "Legend"), h("ul", {}, ...rows));
  }

  // -- drawing --------------------------------------------------------------------------------------------------

  draw() {
    const shown = visible(this.stage, this.collapsed);
    this.place = layOut(this.stage, shown, this.stage.styles);
    this.nodes = new Map();
    const depth = new Map([[0, 0]]);
    for (const one of this.stage.clusters) if (one.parent >= 0) depth.set(one.index, depth.get(one.parent) + 1);
    const areas = shown.clusters.filter((one) => this.place.open.has(one.index)).map((one) => this.area(one, depth.get(one.index)));
    const edges = shown.edges.map((edge, number) => this.edge(edge, this.place.routes[number]));
    const folded = shown.folded.map((one) => this.foldedArea(one));
    const boxes = shown.boxes.map((box) => this.box(box));
    const first = boxes.find((one) => one.classList.contains("linked"));
    first?.setAttribute("tabindex", "0");
    this.world.replaceChildren(...areas, ...edges.filter(Boolean), ...boxes, ...folded);
  }

  title(cluster, x, y, expanded) {
    const toggle = () => this.toggle(cluster.index);
    return s(
      "g", {
        class: "cluster-title", transform: `translate(${x} ${y})`, tabindex: "0", role: "button", "aria-expanded": String(expanded),
        "aria-label": `${cluster.title}, ${expanded ? "collapse" : "expand"}`, "data-cluster": cluster.index, onclick: toggle,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          event.stopPropagation();
          toggle();
          this.world.querySelector(`.cluster-title[data-cluster="${cluster.index}"]`)?.focus();
        },
      },
      s("rect", { class: "fold", x: 0, y: -9, width: 13, height: 13, rx: 3 }),
      s("path", { class: "fold-sign", d: expanded ? "M3 -2.5H10" : "M3 -2.5H10M6.5 -6V1" }),
      s("text", { x: 19, y: 2 }, cluster.title),
    );
  }

  area(cluster, depth) {
    const { x, y, width, height } = this.place.at(`cluster:${cluster.index}`);
    return s(
      "g", { class: `cluster d${Math.min(depth, 4)}`, "data-line": cluster.line || null },
      s("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 10 }),
      this.title(cluster, x - width / 2 + 10, y - height / 2 + 16, true),
    );
  }

  foldedArea({ cluster, inside }) {
    const { x, y, width, height } = this.place.at(`cluster:${cluster.index}`);
    const group = s(
      "g", { class: "cluster folded", "data-cluster": cluster.index },
      s("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 10 }),
      this.title(cluster, x - width / 2 + 10, y - 3, false),
      s("text", { class: "count", x: x - width / 2 + 29, y: y + 14 }, `${inside.length} nodes`),
    );
    for (const box of inside) this.nodes.set(box.id, group);
    return group;
  }

  box(box) {
    const style = this.stage.styles[box.style];
    const { x, y } = this.place.at(box.id);
    const [width, height] = boxSize(box, style?.outline);
    const small = style?.outline === "plain";
    const shift = style?.outline === "invhouse" ? -4 : style?.outline === "house" ? 4 : 0;
    const group = s(
      "g", {
        class: `node${box.line ? " linked" : ""}${small ? " small" : ""}`, transform: `translate(${x} ${y})`, "data-id": box.id,
        "data-line": box.line || null, tabindex: box.line ? "-1" : null, role: box.line ? "button" : null,
        "aria-label": box.line ? `${box.label} ${box.note}, line ${box.line}` : null,
        onclick: () => this.choose(box), onmouseenter: (event) => this.tell(box, event), onmouseleave: () => this.untell(),
        onfocus: () => this.tell(box), onblur: () => this.untell(),
      },
      s("path", { class: `outline s-${box.style}`, d: outline(style?.outline, width, height) }),
      s("text", { y: (box.note ? -2 : 4) + shift }, box.label),
      box.note ? s("text", { class: "note", y: 11 + shift }, box.note) : null,
    );
    this.nodes.set(box.id, group);
    return group;
  }

  edge(edge, route) {
    if (!route) return null;
    return s(
      "g", { class: `edge e-${edge.style}` },
      s("path", { d: path(route.points), "marker-end": `url(#head-${this.id}-${edge.style})` }),
      route.label ? s("text", { x: route.label.x, y: route.label.y + 3 }, edge.label) : null,
    );
  }

  // -- folding, zooming -----------------------------------------------------------------------------------------

  toggle(index) {
    if (!this.collapsed.delete(index)) this.collapsed.add(index);
    this.redraw();
  }

  fold(all) {
    this.collapsed = new Set(all ? this.stage.clusters.filter((one) => one.parent === 0).map((one) => one.index) : []);
    this.redraw();
    this.fit();
  }

  redraw() {
    this.untell();
    this.draw();
    this.light(false);
    this.mark();
  }

  scale(factor) {
    select(this.canvas).call(this.zoom.scaleBy, factor);
  }

  /** Shows the whole graph; from its top on where it would be smaller than `least`. */
  fit(least = 0.03) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const above = 40; // the buttons are there
    const k = Math.max(least, Math.min(1.25, (width - 16) / this.place.width, (height - above - 8) / this.place.height));
    const x = (width - this.place.width * k) / 2;
    const y = above + Math.max(0, (height - above - this.place.height * k) / 3);
    select(this.canvas).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(k));
  }

  /** Moves the sheet so that a node is in the middle, near enough to be read. */
  centre(group) {
    const found = group.classList.contains("folded") ? this.place.at(`cluster:${group.dataset.cluster}`) : this.place.at(group.dataset.id);
    select(this.canvas).call(this.zoom.translateTo, found.x, found.y);
  }

  key(event) {
    const pan = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    const node = event.target.closest?.(".node");
    if (event.key === "+" || event.key === "=") this.scale(1.3);
    else if (event.key === "-") this.scale(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (node && (event.key === "Enter" || event.key === " ")) this.choose(this.boxOf.get(node.dataset.id));
    else if (node && pan) this.step(node, -Math.sign(pan[0]), -Math.sign(pan[1]));
    else if (pan) {
      const k = Number(/scale\(([^)]+)\)/.exec(this.world.getAttribute("transform"))?.[1] ?? 1);
      select(this.canvas).call(this.zoom.translateBy, pan[0] / k, pan[1] / k);
    } else return;
    event.preventDefault();
  }

  /** Moves the focus to the nearest node that is linked, in a direction. */
  step(node, dx, dy) {
    const here = this.place.at(node.dataset.id);
    let best = null;
    for (const one of this.world.querySelectorAll(".node.linked")) {
      const at = this.place.at(one.dataset.id);
      const along = (at.x - here.x) * dx + (at.y - here.y) * dy;
      const aside = Math.abs((at.x - here.x) * dy) + Math.abs((at.y - here.y) * dx);
      if (along > 1 && (!best || along + 2 * aside < best.far)) best = { one, far: along + 2 * aside };
    }
    if (!best) return;
    node.setAttribute("tabindex", "-1");
    best.one.setAttribute("tabindex", "0");
    this.centre(best.one);
    best.one.focus();
  }

  // -- lines, search, tips --------------------------------------------------------------------------------------

  choose(box) {
    if (box.line) this.bus.emit("line", { line: box.line === this.line ? null : box.line, from: this.element });
  }

  light(move) {
    for (const one of this.world.querySelectorAll(".lit")) one.classList.remove("lit");
    const lit = (this.byLine.get(this.line) ?? []).map((box) => this.nodes.get(box.id)).filter(Boolean);
    for (const group of lit) group.classList.add("lit");
    this.canvas.classList.toggle("has-lit", lit.length > 0);
    if (move && lit.length && !lit.some((one) => this.inView(one))) this.centre(lit[0]);
  }

  inView(group) {
    const outer = this.canvas.getBoundingClientRect();
    const inner = group.getBoundingClientRect();
    return inner.right > outer.left && inner.left < outer.right && inner.bottom > outer.top && inner.top < outer.bottom;
  }

  search(text) {
    const words = text.toLowerCase();
    this.found = !words ? [] : this.stage.boxes.filter((box) => `${box.label}\n${box.note}\n${box.tip}`.toLowerCase().includes(words));
    if (this.drawn) this.mark();
    return this.found.length;
  }

  mark() {
    for (const one of this.world.querySelectorAll(".found")) one.classList.remove("found");
    for (const box of this.found) this.nodes.get(box.id)?.classList.add("found");
    this.canvas.classList.toggle("has-found", this.found.length > 0);
  }

  reveal(k) {
    this.shown();
    const box = this.found[k];
    const parents = new Map(this.stage.clusters.map((one) => [one.index, one.parent]));
    let opened = false;
    for (let up = box.cluster; up > 0; up = parents.get(up)) opened = this.collapsed.delete(up) || opened;
    if (opened) this.redraw();
    for (const one of this.world.querySelectorAll(".current")) one.classList.remove("current");
    const group = this.nodes.get(box.id);
    group.classList.add("current");
    this.centre(group);
  }

  tell(box, event) {
    if (!box.tip) return;
    this.tip.textContent = box.tip;
    this.tip.hidden = false;
    const outer = this.canvas.getBoundingClientRect();
    const around = this.nodes.get(box.id).getBoundingClientRect();
    const x = event ? event.clientX : around.right;
    const left = Math.min(Math.max(8, x - outer.left + 12), outer.width - this.tip.offsetWidth - 8);
    let top = around.bottom - outer.top + 8;
    if (top + this.tip.offsetHeight > outer.height) top = around.top - outer.top - this.tip.offsetHeight - 8;
    this.tip.style.left = `${Math.max(8, left)}px`;
    this.tip.style.top = `${Math.max(8, top)}px`;
  }

  untell() {
    this.tip.hidden = true;
  }
}
