import { h } from "./dom.js";

/** Replays a run token by token; to come. */
export function mount(element, data, bus) {
  element.append(h("p", { class: "note" }, "no replay view yet"));
}
