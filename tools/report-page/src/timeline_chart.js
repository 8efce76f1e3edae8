import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { h } from "./dom.js";
import { amount, time } from "./timeline_data.js";

const LEFT = 116;
const RIGHT = 14;
const AXIS = 26;
const ROW = 30;
const CURVE = 46;
const TOOLS = 160;
const MOST_ARROWS = 250;
/** Hues of lines, one after the other; grey is for what belongs to no line. */
const HUES = [212, 28, 145, 280, 190, 345, 50, 100, 250, 0];

/**
 * Draws slices and curves of a timeline on a canvas: zoom with the wheel or + and -, pan by dragging or with the arrow
 * keys; `chosen(slice)` is called for a click, with -1 beside of slices.
 */
export class Chart {
  constructor(slices, chosen) {
    Object.assign(this, { slices, chosen, curves: slices.data.curves, line: null, over: -1, found: new Set(), current: -1, arrows: true, transform: zoomIdentity });
    this.height = AXIS + slices.byRow.length * ROW + this.curves.length * CURVE + 8;
    this.canvas = h("canvas", {
      class: "timeline-canvas", tabindex: "0", role: "img",
      "aria-label": `Timeline: ${slices.count} kernels on ${slices.byRow.length} threads in ${time(slices.data.span)}; the table below has the times by line`,
    });
    this.canvas.style.height = `${this.height}px`;
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    const button = (label, text, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
    const tools = h("div", { class: "graph-tools" },
      button("zoom in", "+", () => this.scale(1.6)), button("zoom out", "−", () => this.scale(1 / 1.6)), button("whole run", "⤢", () => this.fit()),
      button("arrows between iterations", "↷", (event) => this.switchArrows(event.currentTarget)));
    tools.lastChild.setAttribute("aria-pressed", "true");
    this.element = h("div", { class: "timeline-chart" }, this.canvas, tools, this.tip);
    this.colours = new Map(slices.lines.map((line, k) => [line, HUES[k % HUES.length]]));
    this.listen();
  }

  listen() {
    const { canvas } = this;
    this.zoom = zoom().on("zoom", ({ transform }) => {
      this.transform = transform;
      this.draw();
    });
    select(canvas).call(this.zoom).on("dblclick.zoom", null);
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => this.chosen(this.under(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // -- where things are -----------------------------------------------------------------------------------------

  get span() { return Math.max(1, this.slices.data.span); }
  get inner() { return Math.max(10, this.width - LEFT - RIGHT); }
  x(moment) { return LEFT + this.transform.applyX((moment / this.span) * this.inner); }
  moment(x) { return (this.transform.invertX(x - LEFT) / this.inner) * this.span; }
  top(row) { return AXIS + row * ROW; }

  resize() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const before = this.inner;
    this.width = width;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const most = Math.max(8, Math.min(1e7, (this.span / 200) * 2));
    this.zoom.scaleExtent([1, most]).extent([[0, 0], [this.inner, this.height]]).translateExtent([[0, 0], [this.inner, this.height]]);
    const { k, x } = this.transform;
    this.apply(zoomIdentity.translate(Number.isFinite(before) ? (x * this.inner) / before : 0, 0).scale(k));
    this.draw();
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - AXIS) / ROW);
    const x = event.clientX - box.left;
    if (x < LEFT) return -1;
    for (const away of [0, -2, 2]) {
      const found = this.slices.at(row, this.moment(x + away));
      if (found >= 0) return found;
    }
    return -1;
  }

  // -- zooming --------------------------------------------------------------------------------------------------

  apply(transform) { select(this.canvas).call(this.zoom.transform, transform); }
  scale(factor) { select(this.canvas).call(this.zoom.scaleBy, factor); }
  fit() { this.apply(zoomIdentity); }

  switchArrows(button) {
    this.arrows = !this.arrows;
    button.setAttribute("aria-pressed", String(this.arrows));
    this.draw();
  }

  /** Brings a slice to the middle, as wide as can be read. */
  reveal(k) {
    this.current = k;
    const wide = Math.max(this.slices.end[k] - this.slices.start[k], 1);
    const scale = Math.max(this.transform.k, Math.min(this.span / (wide * 12), this.zoom.scaleExtent()[1]));
    const middle = (((this.slices.start[k] + this.slices.end[k]) / 2) / this.span) * this.inner;
    this.apply(zoomIdentity.translate(this.inner / 2 - middle * scale, 0).scale(scale));
    this.draw();
  }

  key(event) {
    const pan = { ArrowLeft: 80, ArrowRight: -80 }[event.key];
    if (event.key === "+" || event.key === "=") this.scale(1.6);
    else if (event.key === "-") this.scale(1 / 1.6);
    else if (event.key === "0") this.fit();
    else if (pan) select(this.canvas).call(this.zoom.translateBy, pan / this.transform.k, 0);
    else return;
    event.preventDefault();
  }

  // -- drawing --------------------------------------------------------------------------------------------------

  draw() {
    if (!this.context || !this.width) return;
    const style = getComputedStyle(this.canvas);
    this.ink = Object.fromEntries(["paper", "panel", "ink", "grey", "faint", "line", "lit", "lit-ink", "found", "accent"].map((one) => [one, style.getPropertyValue(`--${one}`).trim()]));
    this.font = style.fontFamily;
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const { context: c } = this;
    c.clearRect(0, 0, this.width, this.height);
    c.font = `11px ${this.font}`;
    c.textBaseline = "middle";
    this.axis();
    c.save();
    c.beginPath();
    c.rect(LEFT, AXIS, this.inner + RIGHT, this.height);
    c.clip();
    for (let row = 0; row < this.slices.byRow.length; row++) this.row(row);
    if (this.arrows) this.drawArrows();
    this.marks();
    this.curves.forEach((curve, k) => this.curve(curve, AXIS + this.slices.byRow.length * ROW + k * CURVE));
    c.restore();
    this.names();
  }

  axis() {
    const { context: c } = this;
    const [from, to] = [this.moment(LEFT), this.moment(LEFT + this.inner)];
    const rough = ((to - from) / this.inner) * 110;
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
    const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10);
    c.fillStyle = this.ink.grey;
    c.strokeStyle = this.ink.line;
    c.textAlign = "center";
    c.lineWidth = 1;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      c.beginPath();
      c.moveTo(x, AXIS - 6);
      c.lineTo(x, this.height);
      c.stroke();
      if (x < this.width - TOOLS) c.fillText(time(Math.round(at), 6), x, AXIS / 2 - 2);
    }
  }

  fill(k) {
    const hue = this.colours.get(this.slices.line(k));
    const dim = this.found.size ? !this.found.has(k) : this.line !== null && this.slices.line(k) !== this.line;
    const alpha = dim ? 0.22 : 1;
    if (hue === undefined) return this.dark ? `hsl(215 8% 45% / ${alpha})` : `hsl(215 10% 68% / ${alpha})`;
    return this.dark ? `hsl(${hue} 45% 45% / ${alpha})` : `hsl(${hue} 62% 66% / ${alpha})`;
  }

  row(row) {
    const { context: c, slices } = this;
    const y = this.top(row) + 4;
    const right = LEFT + this.inner + RIGHT;
    let drawn = -Infinity;
    c.textAlign = "left";
    for (const k of slices.byRow[row]) {
      const end = this.x(slices.end[k]);
      if (end < LEFT) continue;
      const start = this.x(slices.start[k]);
      if (start > right) break;
      if (end < drawn + 0.5) continue; // it would not be seen
      const wide = Math.max(end - start, 1);
      drawn = Math.max(drawn, start + wide);
      c.fillStyle = this.fill(k);
      c.fillRect(start, y, wide > 3 ? wide - 1 : wide, ROW - 8);
      if (slices.isCritical(k)) {
        c.fillStyle = this.ink.ink;
        c.fillRect(start, y + ROW - 10, wide, 2);
      }
      if (wide > 34) this.label(k, Math.max(start, LEFT), Math.min(end, right), y + ROW / 2 - 4);
    }
  }

  label(k, from, to, y) {
    const { context: c } = this;
    const text = `${this.slices.op(k)}${this.slices.iteration(k) ? ` #${this.slices.iteration(k)}` : ""}`;
    const room = to - from - 8;
    if (c.measureText(text).width > room) return;
    c.fillStyle = this.dark ? "#fff" : "#1a1d21";
    c.fillText(text, from + 4, y);
  }

  /** Arrows from what made a value to what waited for it in another iteration; those of a line or slice if many. */
  drawArrows() {
    const { slices } = this;
    const [from, to] = [this.moment(LEFT), this.moment(LEFT + this.inner)];
    let some = [];
    for (let k = 0; k < slices.count && slices.start[k] <= to; k++) {
      const before = slices.before(k);
      if (before >= 0 && slices.start[k] >= from && slices.end[before] <= to) some.push(k);
    }
    const chosen = (k) => k === this.over || slices.before(k) === this.over || (this.line !== null && slices.line(k) === this.line);
    if (some.length > MOST_ARROWS) some = some.filter(chosen).slice(0, 4 * MOST_ARROWS);
    for (const k of some) this.arrow(slices.before(k), k, chosen(k));
  }

  arrow(one, other, strong) {
    const { context: c, slices } = this;
    const [x1, x2] = [this.x(slices.end[one]), this.x(slices.start[other])];
    const [r1, r2] = [slices.row(one), slices.row(other)];
    const y1 = this.top(r1) + ROW / 2;
    const y2 = this.top(r2) + ROW / 2;
    c.strokeStyle = c.fillStyle = strong ? this.ink.accent : this.ink.grey;
    c.globalAlpha = strong ? 1 : 0.55;
    c.lineWidth = strong ? 1.6 : 1;
    c.beginPath();
    c.moveTo(x1, y1);
    if (r1 === r2) c.quadraticCurveTo((x1 + x2) / 2, y1 - Math.min(ROW * 0.8, 6 + (x2 - x1) / 6), x2, y2);
    else c.bezierCurveTo(x1 + 14, y1, x2 - 14, y2, x2, y2);
    c.stroke();
    c.beginPath();
    c.moveTo(x2 + 1, y2);
    c.lineTo(x2 - 5, y2 - 3);
    c.lineTo(x2 - 5, y2 + 3);
    c.fill();
    c.globalAlpha = 1;
  }

  marks() {
    const { context: c, slices } = this;
    const box = (k, colour) => {
      const start = this.x(slices.start[k]);
      c.strokeStyle = colour;
      c.lineWidth = 2;
      c.strokeRect(start - 1, this.top(slices.row(k)) + 3, Math.max(slices.end[k] > slices.start[k] ? this.x(slices.end[k]) - start : 0, 1) + 2, ROW - 6);
    };
    if (this.current >= 0) box(this.current, this.ink.found);
    if (this.over >= 0) box(this.over, this.ink.ink);
  }

  curve({ points }, top) {
    const { context: c } = this;
    const most = Math.max(...points.map(([, value]) => value), 0) || 1;
    const bottom = top + CURVE - 6;
    const y = (value) => bottom - (value / most) * (CURVE - 18);
    c.beginPath();
    c.moveTo(this.x(points[0]?.[0] ?? 0), bottom);
    let last = 0;
    for (const [at, value] of points) {
      c.lineTo(this.x(at), y(last));
      c.lineTo(this.x(at), y(value));
      last = value;
    }
    c.lineTo(this.x(this.span), y(last));
    c.lineTo(this.x(this.span), bottom);
    c.closePath();
    c.fillStyle = this.ink.accent;
    c.globalAlpha = 0.22;
    c.fill();
    c.globalAlpha = 0.8;
    c.lineWidth = 1;
    c.strokeStyle = this.ink.accent;
    c.stroke();
    c.globalAlpha = 1;
  }

  names() {
    const { context: c } = this;
    c.textAlign = "right";
    this.slices.data.rows.forEach((name, row) => this.name(name, this.top(row) + ROW / 2, this.ink.ink));
    this.curves.forEach((curve, k) => {
      const top = AXIS + this.slices.byRow.length * ROW + k * CURVE;
      this.name(curve.name.replace("live iterations of ", "live in "), top + CURVE / 2, this.ink.grey);
      c.fillStyle = this.ink.faint;
      c.fillText(`≤ ${amount(Math.max(0, ...curve.points.map(([, value]) => value)))}`, LEFT - 10, top + CURVE / 2 + 14);
      c.strokeStyle = this.ink.line;
      c.beginPath();
      c.moveTo(0, top + 0.5);
      c.lineTo(this.width, top + 0.5);
      c.stroke();
    });
  }

  name(text, y, colour) {
    const { context: c } = this;
    c.fillStyle = colour;
    let shown = text;
    while (shown.length > 3 && c.measureText(shown).width > LEFT - 16) shown = `${shown.replace("…", "").slice(0, -1)}…`;
    c.fillText(shown, LEFT - 10, y);
  }

  // -- what is under the pointer --------------------------------------------------------------------------------

  hover(event) {
    const over = event ? this.under(event) : -1;
    const curve = event && over < 0 ? this.curveUnder(event) : null;
    this.canvas.style.cursor = over >= 0 ? "pointer" : "grab";
    if (over !== this.over) {
      this.over = over;
      this.draw();
    }
    const text = over >= 0 ? this.told(over) : curve;
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    const box = this.canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, this.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(8, left)}px`;
    const below = event.clientY - box.top + 18;
    const fits = below + this.tip.offsetHeight < this.height;
    this.tip.style.top = `${fits ? below : Math.max(4, below - 30 - this.tip.offsetHeight)}px`;
  }

  curveUnder(event) {
    const box = this.canvas.getBoundingClientRect();
    const k = Math.floor((event.clientY - box.top - AXIS - this.slices.byRow.length * ROW) / CURVE);
    const curve = this.curves[k];
    if (!curve || event.clientX - box.left < LEFT) return null;
    const moment = this.moment(event.clientX - box.left);
    const before = curve.points.filter(([at]) => at <= moment);
    return `${curve.name}: ${amount(before.length ? before[before.length - 1][1] : 0)}\nat ${time(moment, 5)}`;
  }

  told(k) {
    const { slices } = this;
    const before = slices.before(k);
    const parts = [
      `${slices.op(k)}  ${time(slices.end[k] - slices.start[k])}`,
      [slices.place(k), slices.name(k)].filter(Boolean).join("  "),
      slices.loops(k),
      `from ${time(slices.start[k], 5)} on ${slices.data.rows[slices.row(k)]}`,
      before >= 0 ? `needs ${slices.op(before)} of ${slices.loops(before)}` : "",
      slices.isCritical(k) ? "in the longest chain" : "",
    ];
    return parts.filter(Boolean).join("\n");
  }
}
