import { h } from "./dom.js";

/** The search field: finds in the tab at the front, Enter goes on to the next place, / comes here. */
export function makeSearch(tabs, bus) {
  let at = -1;
  let count = 0;
  const field = h("input", { type: "search", placeholder: "Search this view", "aria-label": "Search this view", spellcheck: "false" });
  const told = h("output", { class: "found-count", "aria-live": "polite" });
  const view = () => tabs.views.get(tabs.current())?.view;

  function look() {
    count = view()?.search?.(field.value.trim()) ?? 0;
    at = -1;
    tell();
  }
  function tell() {
    told.textContent = !field.value.trim() ? "" : !count ? "nothing found" : at < 0 ? `${count} found` : `${at + 1} of ${count}`;
  }
  function go(step) {
    if (!count) return;
    at = at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
    view().reveal(at);
    tell();
  }
  field.addEventListener("input", look);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      field.value = "";
      look();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest?.("input, textarea, select")) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
  bus.on("tab", () => {
    for (const { view: other } of tabs.views.values()) if (other !== view()) other?.search?.("");
    look();
  });
  return h("div", { class: "search", role: "search" }, field, told);
}
