import { h } from "./dom.js";

/** A bar between the source and the stages that makes the source wider or narrower. */
export function makeSplitter(left) {
  const bar = h("div", { class: "splitter", role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-label": "Width of the source" });
  const set = (width) => left.style.setProperty("flex-basis", `${Math.round(Math.min(Math.max(width, 160), innerWidth - 240))}px`);
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  bar.addEventListener("pointermove", (event) => {
    if (bar.hasPointerCapture(event.pointerId)) set(event.clientX - left.getBoundingClientRect().left);
  });
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -32, ArrowRight: 32 }[event.key];
    if (step) set(left.getBoundingClientRect().width + step);
  });
  return bar;
}
