import { makeBus } from "./bus.js";
import * as codeView from "./code_view.js";
import { h } from "./dom.js";
import * as graphView from "./graph_view.js";
import * as replayView from "./replay_view.js";
import * as timelineView from "./timeline_view.js";
import { makeSearch } from "./search.js";
import { makeSplitter } from "./splitter.js";
import * as tableView from "./table_view.js";

const data = JSON.parse(document.getElementById("data").textContent);
const bus = makeBus();

/** Everything that has a tab: {name, title, mount(element, bus) -> view or nothing}. */
function tabsOf() {
  const tabs = (data.stages ?? []).map((stage) => ({
    name: stage.name,
    title: stage.title ?? stage.name,
    about: stage.about,
    mount: (element) => (stage.kind === "graph" ? graphView.mount(element, stage, bus) : codeView.mount(element, stage, bus)),
  }));
  if (data.timeline) tabs.push({ name: "timeline", title: "Timeline", mount: (element) => timelineView.mount(element, data.timeline, bus) });
  if (data.replay) tabs.push({ name: "replay", title: "Replay", mount: (element) => replayView.mount(element, data.replay, bus) });
  if (data.memory) tabs.push({ name: "memory", title: "Memory", mount: (element) => tableView.mount(element, data.memory, bus) });
  return tabs;
}

function makeTabs(tabs) {
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": "Stages" });
  const panels = h("div", { class: "panels" });
  const views = new Map();
  let current = null;
  const show = (name, focus = false) => {
    if (!views.has(name)) return;
    current = name;
    for (const [other, { button, panel }] of views) {
      const chosen = other === name;
      button.setAttribute("aria-selected", String(chosen));
      button.setAttribute("tabindex", chosen ? "0" : "-1");
      panel.hidden = !chosen;
      if (chosen && focus) button.focus();
    }
    views.get(name).view?.shown?.();
    bus.emit("tab", { name });
  };
  for (const tab of tabs) {
    const badge = h("span", { class: "badge", hidden: true });
    const button = h("button", {
      type: "button", role: "tab", id: `tab-${tab.name}`, "aria-controls": `panel-${tab.name}`, title: tab.about ?? null, onclick: () => show(tab.name),
    }, tab.title, badge);
    const panel = h("div", { class: `panel panel-${tab.name}`, role: "tabpanel", id: `panel-${tab.name}`, "aria-labelledby": `tab-${tab.name}`, hidden: true });
    bar.append(button);
    panels.append(panel);
    views.set(tab.name, { button, panel, badge, view: tab.mount(panel) });
  }
  bar.addEventListener("keydown", (event) => {
    const names = [...views.keys()];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? 0 : event.key === "End" ? names.length - 1 : step && (names.indexOf(current) + step + names.length) % names.length;
    if (next === undefined) return;
    event.preventDefault();
    show(names[next], true);
  });
  bus.on("line", ({ line }) => {
    for (const { badge, view } of views.values()) {
      const count = line === null ? 0 : view?.count?.(line) ?? 0;
      badge.hidden = !count;
      badge.textContent = String(count);
      badge.setAttribute("aria-label", `${count} of line ${line}`);
    }
  });
  bus.on("show", ({ tab }) => show(tab));
  return { bar, panels, views, show, current: () => current };
}

function main() {
  const source = h("section", { class: "source", "aria-label": "Source" });
  const tabs = makeTabs(tabsOf());
  const hasSource = Boolean(data.source);
  if (hasSource) {
    source.append(h("h2", {}, `${data.source.file}:${data.source.first_line}`));
    codeView.mount(source, { rows: data.source.rows, first: data.source.first_line }, bus);
  }
  const search = makeSearch(tabs, bus);
  const stages = h("section", { class: "stages", "aria-label": "Stages" }, tabs.bar, tabs.panels);
  const columns = h("main", { class: hasSource ? "columns" : "columns alone" }, ...(hasSource ? [source, makeSplitter(source)] : []), stages);
  const help = h("p", { class: "help" }, "Click a line or a node: what belongs to it lights up everywhere. ", h("kbd", {}, "/"), " searches, ", h("kbd", {}, "Esc"), " clears.");
  document.body.append(
    h("header", {}, h("div", { class: "heading" }, h("h1", {}, data.title), data.note ? h("p", { class: "note" }, data.note) : null), help, search),
    columns,
  );
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") bus.emit("line", { line: null, from: null });
  });
  const wanted = location.hash.slice(1); // report.html#replay
  tabs.show(tabs.views.has(wanted) ? wanted : [...tabs.views.keys()][0]);
}

main();
