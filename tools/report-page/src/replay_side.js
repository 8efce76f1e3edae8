import { h } from "./dom.js";

const colour = (index) => `c${index % 8}`;

/** What stands beside the graph: the frames that are open, with their iterations, and the list of events. */
export function makeSide(model, go) {
  const { data } = model;
  const frames = h("div", { class: "replay-frames", "aria-live": "off" });
  const items = data.events.map((event, k) => {
    const [frame, , index] = data.iterations[model.iterationOf(event)];
    return h("li", { class: event[0] === "dead" ? "told-dead" : null },
      h("button", { type: "button", tabindex: "-1", onclick: () => go(k + 1) },
        h("span", { class: `dot ${frame ? colour(index) : "c-out"}` }), event[6]));
  });
  const list = h("ol", { class: "replay-events" }, ...items);
  const more = data.failure ? `The run failed here: ${data.failure}` : data.cut ? "The run goes on; it is shown up to here." : "";
  const element = h("aside", { class: "replay-side" }, frames, list, more ? h("p", { class: "note" }, more) : null);
  let now = null;

  function show(count, event, state) {
    now?.classList.remove("now");
    now = items[count - 1] ?? null;
    now?.classList.add("now");
    if (now && element.offsetParent) {
      const top = now.offsetTop;
      if (top < list.scrollTop + 20 || top > list.scrollTop + list.clientHeight - 50) list.scrollTop = top - list.clientHeight / 2;
    } else if (!now) list.scrollTop = 0;
    frames.replaceChildren(...opened(model, state));
  }
  const mark = (found) => {
    const those = new Set(found);
    items.forEach((item, k) => item.classList.toggle("found", those.has(k)));
  };
  return { element, show, mark };
}

/** A table for each frame that is open: its iterations, and what its variables are in each. */
function opened(model, state) {
  const { data } = model;
  const found = new Map();
  for (const number of state.live) {
    const [frame, parent, index] = data.iterations[number];
    const name = `${frame} ${parent}`;
    found.set(name, [...(found.get(name) ?? []), { number, frame, parent, index }]);
  }
  if (!found.size) return [h("p", { class: "note" }, "No frame is open.")];
  return [...found.values()].map((live) => {
    const { frame, parent } = live[0];
    const { name, window } = data.frames[frame];
    const [outer, , above] = data.iterations[parent];
    const waiting = [...state.tokens.values()].filter((token) => {
      const [its, around] = data.iterations[token.at];
      return token.waits && its === frame && around === parent;
    }).length;
    const full = live.length >= window;
    const variables = model.variables[frame];
    const rows = live.sort((a, b) => a.index - b.index).map(({ number, index }) =>
      h("tr", {}, h("th", { scope: "row" }, h("span", { class: `chip ${colour(index)}` }, String(index))),
        ...variables.map(({ id }) => {
          const value = state.values.get(number)?.get(id) ?? "–";
          return h("td", { title: value }, value.length > 16 ? `${value.slice(0, 15)}…` : value);
        })));
    const said = `${live.length} of ${window} iteration${window > 1 ? "s" : ""} live${full ? ": the window is full" : ""}`;
    return h("section", { class: `replay-frame${full ? " full" : ""}` },
      h("h3", {}, `frame ${name}`, outer ? h("span", { class: "note" }, ` in iteration ${above}`) : null),
      h("div", { class: "meter", role: "img", "aria-label": said },
        ...(window <= 32 ? Array.from({ length: window }, (_, k) => h("i", { class: k < live.length ? colour(live[k].index) : "" })) : [])),
      h("p", { class: "note" }, said + (waiting ? `; ${waiting} token${waiting > 1 ? "s wait" : " waits"}` : "")),
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "iteration"), ...variables.map(({ note }) => h("th", {}, note)))), h("tbody", {}, ...rows))));
  });
}
