import { h } from "./dom.js";

/** Shows a table {note, columns, rows: [[line or 0, [cell, ...]], ...]} whose rows belong to lines. */
export function mount(element, { note, columns, rows }, bus) {
  const byLine = new Map();
  const body = h("tbody");
  for (const [line, cells] of rows) {
    const row = h("tr", { class: line ? "row linked" : "row", "data-line": line || null }, ...cells.map((cell) => h("td", {}, String(cell))));
    if (line) {
      byLine.set(line, [...(byLine.get(line) ?? []), row]);
      row.addEventListener("click", () => bus.emit("line", { line: row.classList.contains("lit") ? null : line, from: element }));
    }
    body.append(row);
  }
  element.append(h("div", { class: "scroll" }, note ? h("p", { class: "note" }, note) : null,
    h("table", {}, h("thead", {}, h("tr", {}, ...columns.map((one) => h("th", { scope: "col" }, one)))), body)));
  bus.on("line", ({ line }) => {
    for (const row of element.querySelectorAll("tr.lit")) row.classList.remove("lit");
    for (const row of byLine.get(line) ?? []) row.classList.add("lit");
  });
  return { count: (line) => byLine.get(line)?.length ?? 0 };
}
