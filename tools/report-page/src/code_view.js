import { h } from "./dom.js";

/**
 * Shows rows of text, each of which may belong to a line of the user's source.
 * rows: [[user's line, or several, or 0, [[kind, text], ...]], ...]; `first`: number of the first row.
 * Returns {count(line), search(text), reveal(k)}.
 */
export function mount(element, { rows, first = 1, missing = null, remarks = [] }, bus) {
  const byLine = new Map();
  const notes = new Map();
  if (remarks.length) element.append(remarkList(remarks, notes, bus));
  const list = h("div", { class: "code", role: "list" });
  if (missing) element.append(h("p", { class: "missing" }, missing));
  rows.forEach(([of, spans], index) => {
    const lines = Array.isArray(of) ? of : of ? [of] : [];
    const line = lines.at(-1);
    const row = h(
      "div", { class: line ? "row linked" : "row", role: "listitem", "data-line": line || null, tabindex: line ? "-1" : null },
      h("span", { class: "number", "aria-hidden": "true" }, String(first + index)),
      h("span", { class: "text" }, ...spans.map(([kind, text]) => (kind ? h("span", { class: `tok-${kind}` }, text) : text))),
    );
    for (const one of lines) byLine.set(one, [...(byLine.get(one) ?? []), row]);
    list.append(row);
  });
  element.classList.add("column");
  element.append(h("div", { class: "scroll" }, list));

  let lit = [];
  const choose = (row) => {
    const line = Number(row.dataset.line);
    bus.emit("line", { line: row.classList.contains("lit") ? null : line, from: element });
  };
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".row.linked");
    if (row && !String(getSelection())) choose(row);
  });
  list.addEventListener("keydown", (event) => {
    const row = event.target.closest(".row.linked");
    if (!row) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(row);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const all = [...list.querySelectorAll(".row.linked")];
      const next = all[all.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) focusOn(next);
    }
  });
  let reachable = list.querySelector(".row.linked");
  reachable?.setAttribute("tabindex", "0"); // one stop of the Tab key; arrows go on from there
  function focusOn(row) {
    reachable?.setAttribute("tabindex", "-1");
    reachable = row;
    row.setAttribute("tabindex", "0");
    row.focus();
  }

  bus.on("line", ({ line, from }) => {
    for (const row of [...lit, ...[...notes.values()].flat()]) row.classList.remove("lit");
    lit = byLine.get(line) ?? [];
    for (const row of [...lit, ...(notes.get(line) ?? [])]) row.classList.add("lit");
    if (lit.length && from !== element && !lit.some(inView)) lit[0].scrollIntoView({ block: "center" });
  });

  function inView(row) {
    const outer = row.closest(".scroll")?.getBoundingClientRect();
    const inner = row.getBoundingClientRect();
    return outer && inner.bottom > outer.top && inner.top < outer.bottom;
  }

  let found = [];
  function search(text) {
    for (const row of found) row.classList.remove("found", "current");
    const words = text.toLowerCase();
    found = words ? [...list.children].filter((row) => row.lastChild.textContent.toLowerCase().includes(words)) : [];
    for (const row of found) row.classList.add("found");
    return found.length;
  }
  function reveal(k) {
    for (const row of found) row.classList.remove("current");
    found[k].classList.add("current");
    found[k].scrollIntoView({ block: "center" });
  }
  return { count: (line) => byLine.get(line)?.length ?? 0, search, reveal };
}

/** What the compiler remarks, each on a line of the user's source. */
function remarkList(remarks, notes, bus) {
  const items = remarks.map(([line, text]) => {
    const item = h("button", { type: "button", "data-line": line || null, onclick: () => bus.emit("line", { line: line || null, from: null }) },
      h("span", { class: "remark-line" }, line ? `line ${line}` : ""), text);
    if (line) notes.set(line, [...(notes.get(line) ?? []), item]);
    return h("li", {}, item);
  });
  return h("details", { class: "remarks", open: true }, h("summary", {}, "What LLVM says of vectors"), h("ul", {}, ...items));
}
