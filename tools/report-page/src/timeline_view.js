import { h } from "./dom.js";
import { Chart } from "./timeline_chart.js";
import { seconds, Slices } from "./timeline_data.js";

const percent = (share) => `${Math.round(100 * share)} %`;

/**
 * Shows a timeline: rows of threads, curves, and what each line took. See the Python side, `profiler/timeline_data.py`.
 * Returns {count(line), search(text), reveal(k), shown()}.
 */
export function mount(element, data, bus) {
  const slices = new Slices(data);
  let line = null;
  const choose = (wanted) => bus.emit("line", { line: wanted && wanted !== line ? wanted : null, from: element });
  const chart = new Chart(slices, (k) => choose(k < 0 ? 0 : slices.line(k)));
  const table = lineTable(data, chart, choose);
  const shown = slices.count < data.total ? `the first ${slices.count} of ${data.total} kernels are drawn; the table is of all` : data.note ?? "";
  element.append(h("div", { class: "timeline" }, ...heads(data.summary.executors, shown), chart.element, h("div", { class: "scroll" }, table.element, loopTable(data))));
  let found = [];
  bus.on("line", (event) => {
    line = event.line;
    chart.line = slices.byLine.has(line) ? line : null;
    chart.draw();
    table.light(line);
  });
  return {
    count: (wanted) => slices.byLine.get(wanted)?.length ?? 0,
    shown: () => chart.resize(),
    search(text) {
      const words = text.toLowerCase();
      found = [];
      for (let k = 0; words && k < slices.count; k++) if (`${slices.op(k)} ${slices.name(k)} ${slices.place(k)}`.toLowerCase().includes(words)) found.push(k);
      chart.found = new Set(found);
      chart.current = -1;
      chart.draw();
      return found.length;
    },
    reveal: (k) => chart.reveal(found[k]),
  };
}

function heads(executors, note) {
  const told = executors.map((one) =>
    h("p", { class: "note" }, h("b", {}, one.executor), `: ${one.runs} run${one.runs === 1 ? "" : "s"} on ${one.threads} thread${one.threads === 1 ? "" : "s"} in `
      + `${seconds(one.seconds)}; in kernels ${percent(one.busy / one.seconds)} of it, ${Number(one.parallelism.toPrecision(3))} at once; longest chain `
      + `${seconds(one.critical)} (${percent(one.critical / one.seconds)}). `, h("span", { class: "how" }, one.how)));
  return [...told, note ? h("p", { class: "note cut" }, note) : null];
}

const HEADS = [["line", "file and line"], ["source", ""], ["time", "in its kernels, of all threads together"], ["count", "how often it ran"],
  ["at once", "kernels, of any line, that ran while one of this line did"], ["in the longest chain", "of kernels that waited for each other; underlined above"], ["limited by", "why no more ran at once"]];

function lineTable(data, chart, choose) {
  const rows = new Map();
  const most = Math.max(...data.summary.lines.map((one) => one.seconds), 1e-12);
  const body = h("tbody");
  for (const one of data.summary.lines) {
    const line = one.file === 0 ? one.line : 0;
    const place = one.file < 0 ? "(no line)" : `${data.files[one.file].replace(/.*[\\/]/, "")}:${one.line}`;
    const hue = chart.colours.get(line);
    const row = h(
      "tr", { class: line ? "row linked" : "row", "data-line": line || null, tabindex: line ? "0" : null },
      h("td", {}, h("span", { class: "swatch", style: hue === undefined ? null : `--hue: ${hue}` }), place), h("td", { class: "mono" }, one.source),
      h("td", { class: "bar" }, h("span", { style: `width: ${(100 * one.seconds) / most}%` }), `${seconds(one.seconds)}, ${percent(one.share)}`),
      h("td", { class: "digits" }, one.count ? String(one.count) : "?"), h("td", { class: "digits" }, one.parallelism.toFixed(2)),
      h("td", { class: "digits" }, seconds(one.critical)), h("td", {}, one.limited_by),
    );
    if (line) {
      rows.set(line, row);
      row.addEventListener("click", () => choose(line));
      row.addEventListener("keydown", (event) => event.key === "Enter" && choose(line));
    }
    body.append(row);
  }
  const light = (line) => {
    for (const row of rows.values()) row.classList.toggle("lit", row.dataset.line === String(line));
  };
  const head = h("thead", {}, h("tr", {}, ...HEADS.map(([name, title]) => h("th", { scope: "col", title: title || null }, name))));
  return { element: h("table", { class: "by-line" }, head, body), light };
}

function loopTable(data) {
  if (!data.summary.loops.length) return null;
  const rows = data.summary.loops.map((one) => h("tr", {}, ...[
    one.name, one.line ? `line ${one.line}` : "", one.iterations, Number(one.live.toPrecision(3)), one.window, percent(one.held),
  ].map((cell) => h("td", {}, String(cell)))));
  const names = ["loop", "line", "iterations", "live at once", "parallel_iterations", "window full"];
  return h("table", { class: "loops" }, h("thead", {}, h("tr", {}, ...names.map((one) => h("th", { scope: "col" }, one)))), h("tbody", {}, ...rows));
}
