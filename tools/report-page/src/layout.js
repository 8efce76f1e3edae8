import { Graph, layout as dagreLayout } from "@dagrejs/dagre";
import { boxSize, textWidth } from "./shapes.js";

/** What is drawn of a graph whose `collapsed` clusters are one box each. */
export function visible(graph, collapsed) {
  const cluster = new Map(graph.clusters.map((one) => [one.index, one]));
  /** The outermost collapsed cluster around a cluster, or null. */
  const holder = (index) => {
    let found = null;
    for (let one = cluster.get(index); one && one.parent >= 0; one = cluster.get(one.parent)) {
      if (collapsed.has(one.index)) found = one.index;
    }
    return found;
  };
  const stands = new Map(); // id of a box -> id of what is drawn in its place
  const boxes = [];
  const held = new Map();
  for (const box of graph.boxes) {
    const inside = holder(box.cluster);
    stands.set(box.id, inside === null ? box.id : `cluster:${inside}`);
    if (inside === null) boxes.push(box);
    else held.set(inside, [...(held.get(inside) ?? []), box]);
  }
  const clusters = graph.clusters.filter((one) => one.parent >= 0 && holder(one.index) === null);
  const folded = [...held].map(([index, inside]) => ({ cluster: cluster.get(index), inside }));
  const edges = new Map();
  for (const edge of graph.edges) {
    const [source, target] = [stands.get(edge.source), stands.get(edge.target)];
    if (source === undefined || target === undefined || source === target && source !== edge.source) continue;
    const whole = source === edge.source && target === edge.target;
    const key = whole ? `${edges.size}` : JSON.stringify([source, target, edge.style]);
    if (!edges.has(key)) edges.set(key, { ...edge, source, target, label: whole ? edge.label : "" });
  }
  return { boxes, clusters, folded, edges: [...edges.values()] };
}

/** How much an edge wants to be short and straight, by the style of the box that it comes from. */
const WEIGHTS = { const: 6, enter: 12, invariant: 2, merge: 4, loop_cond: 2 };

/**
 * Lets what a frame takes in stand in its first row, what leaves it in its last, what it is given above it and what takes
 * its results below: for each open cluster there is a point at its top and one at its bottom.
 */
function holdRanks(sheet, shown, open, parents, shapes) {
  const insides = new Map([[0, new Set()], ...[...open].map((index) => [index, new Set()])]); // cluster -> all nodes in it
  const within = new Map(); // node -> the cluster right around it
  const add = (id, cluster) => {
    within.set(id, cluster);
    for (let up = cluster; up >= 0; up = parents.get(up)) insides.get(up)?.add(id);
  };
  for (const box of shown.boxes) add(box.id, box.cluster);
  for (const { cluster } of shown.folded) add(`cluster:${cluster.index}`, cluster.parent);
  const forward = shown.edges.filter((edge) => edge.style !== "back").map(({ source, target }) => [source, target]);
  const ranks = new Map(shown.boxes.map((box) => [box.id, shapes[box.style]?.rank]));
  // constants stand above what takes them: held at the top, each would draw a line through all rows
  const constants = new Set(shown.boxes.filter((box) => box.style === "const").map((box) => box.id));
  for (const [cluster, inside] of insides) {
    const [top, bottom] = [`top:${cluster}`, `bottom:${cluster}`];
    for (const name of [top, bottom]) {
      sheet.setNode(name, { width: 1, height: 1 });
      if (open.has(cluster)) sheet.setParent(name, `cluster:${cluster}`);
    }
    const around = parents.get(cluster);
    if (open.has(around)) { // parents come before their children
      sheet.setEdge(`top:${around}`, top, { weight: 1 }, "around");
      sheet.setEdge(bottom, `bottom:${around}`, { weight: 1 }, "around");
    }
    const given = new Set();
    const taking = new Set();
    for (const [source, target] of forward) {
      if (!inside.has(source) && inside.has(target)) given.add(source);
      else if (inside.has(source) && !inside.has(target)) taking.add(target);
    }
    for (const id of given) sheet.setEdge(id, top, { weight: 1 }, `above ${cluster}`);
    for (const id of taking) sheet.setEdge(bottom, id, { weight: 1 }, `below ${cluster}`);
    const [fed, read] = [new Set(forward.filter(([source]) => inside.has(source)).map(([, target]) => target)),
      new Set(forward.filter(([, target]) => inside.has(target)).map(([source]) => source))];
    for (const id of inside) {
      if (within.get(id) !== cluster || constants.has(id)) continue;
      const rank = ranks.get(id);
      if (cluster && (rank === "top" || !fed.has(id))) sheet.setEdge(top, id, { weight: rank === "top" ? 40 : 1 }, "held");
      if (cluster ? rank === "bottom" || !read.has(id) : rank === "bottom") sheet.setEdge(id, bottom, { weight: rank === "bottom" ? 40 : 1 }, "held");
    }
  }
}

/** Places what is visible: boxes {x, y, width, height} by id, clusters by index, and the points of edges. */
export function layOut(graph, shown, shapes) {
  const sheet = new Graph({ compound: true, multigraph: true });
  sheet.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, edgesep: 14, marginx: 16, marginy: 16 });
  sheet.setDefaultEdgeLabel(() => ({}));
  const used = new Set(shown.boxes.map((box) => box.cluster));
  for (const one of shown.folded) used.add(one.cluster.parent);
  const parents = new Map(graph.clusters.map((one) => [one.index, one.parent]));
  for (const index of [...used]) for (let up = index; up >= 0; up = parents.get(up)) used.add(up);
  const open = new Set(shown.clusters.filter((one) => used.has(one.index)).map((one) => one.index));
  for (const one of shown.clusters) {
    if (open.has(one.index)) sheet.setNode(`cluster:${one.index}`, { paddingTop: 10 });
  }
  for (const box of shown.boxes) {
    const [width, height] = boxSize(box, shapes[box.style]?.outline);
    sheet.setNode(box.id, { width, height });
    if (open.has(box.cluster)) sheet.setParent(box.id, `cluster:${box.cluster}`);
  }
  for (const { cluster, inside } of shown.folded) {
    const width = Math.max(textWidth(cluster.title, 12.5, 600) + 46, textWidth(`${inside.length} nodes`, 10) + 40);
    sheet.setNode(`cluster:${cluster.index}`, { width, height: 44 });
    if (open.has(cluster.parent)) sheet.setParent(`cluster:${cluster.index}`, `cluster:${cluster.parent}`);
  }
  for (const one of shown.clusters) {
    if (open.has(one.index) && open.has(one.parent)) sheet.setParent(`cluster:${one.index}`, `cluster:${one.parent}`);
  }
  holdRanks(sheet, shown, open, parents, shapes);
  const styles = new Map(shown.boxes.map((box) => [box.id, box.style]));
  shown.edges.forEach((edge, number) => {
    const label = edge.label ? { width: textWidth(edge.label, 10) + 6, height: 13, labelpos: "c" } : {};
    label.weight = edge.style === "back" ? 1 : WEIGHTS[styles.get(edge.source)] ?? 3;
    const [from, to] = edge.style === "back" ? [edge.target, edge.source] : [edge.source, edge.target];
    if (from !== to) sheet.setEdge(from, to, label, String(number));
  });
  dagreLayout(sheet);
  const routes = shown.edges.map((edge, number) => {
    const back = edge.style === "back";
    const found = sheet.edge(back ? edge.target : edge.source, back ? edge.source : edge.target, String(number));
    if (!found) return null;
    const points = back ? [...found.points].reverse() : found.points;
    return { points, label: edge.label && found.x !== undefined ? { x: found.x, y: found.y } : null };
  });
  return {
    at: (id) => sheet.node(id),
    open,
    routes,
    width: sheet.graph().width ?? 0,
    height: sheet.graph().height ?? 0,
  };
}

/** A smooth path through the points of an edge. */
export function path(points) {
  if (points.length < 3) return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
  const number = (value) => value.toFixed(1);
  let made = `M${number(points[0].x)} ${number(points[0].y)}`;
  for (let i = 1; i < points.length - 1; i++) {
    const end = i === points.length - 2
      ? points[i + 1]
      : { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
    made += `Q${number(points[i].x)} ${number(points[i].y)} ${number(end.x)} ${number(end.y)}`;
  }
  return made;
}
