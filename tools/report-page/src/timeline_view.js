import { h } from "./dom.js";

/** Shows a timeline; to come. */
export function mount(element, data, bus) {
  element.append(h("p", { class: "note" }, "no timeline view yet"));
}
