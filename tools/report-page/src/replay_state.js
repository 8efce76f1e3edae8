// What there is after each event of a replay: the tokens on the edges, the iterations under way, the kernels at work.
// Pure: a state is made anew from the first event on, so that stepping back is as good as stepping on.

const [WHAT, NODE, AT, TO, PORT, MADE] = [0, 1, 2, 3, 4, 5];
/** Nodes that a dead token does not pass. */
const ENDS = new Set(["next", "enter", "invariant"]);

export class Model {
  constructor(data) {
    this.data = data;
    this.boxes = new Map(data.graph.boxes.map((box) => [box.id, box]));
    this.into = new Map();
    this.out = new Map();
    data.graph.edges.forEach((edge, number) => {
      if (!this.boxes.has(edge.target) || this.boxes.get(edge.source)?.style === "const") return;
      add(this.into, edge.target, number);
      add(this.out, edge.source, number);
    });
    /** by frame: the Merges of its loop variables */
    this.variables = data.frames.map((_, frame) => data.graph.boxes.filter((box) => box.cluster === frame && isVariable(box)));
  }

  /** The id of the box that an event is of; null of frames and iterations. */
  boxOf(event) {
    if (event[WHAT] === "result") return this.data.results[event[NODE]];
    return frameEvents.has(event[WHAT]) ? null : this.data.nodes[event[NODE]];
  }

  /** The iteration that an event is shown with, by its number. */
  iterationOf(event) {
    const comes = ["open", "begin"].includes(event[WHAT]) || ENDS.has(this.boxes.get(this.boxOf(event))?.style);
    return comes && this.boxes.get(this.boxOf(event))?.style !== "next" ? event[TO] : event[AT];
  }

  /** The state after so many events. */
  after(count) {
    const state = { tokens: new Map(), live: [], values: new Map(), busy: new Map(), results: new Map(), failed: null };
    for (const event of this.data.events.slice(0, count)) this.apply(state, event);
    return state;
  }

  apply(state, event) {
    const [what, , at, to, port, made] = event;
    const id = this.boxOf(event);
    if (what === "fire") this.fire(state, id, at, to, port, made);
    else if (what === "dead") this.die(state, id, at);
    else if (what === "start") {
      this.take(state, id, at);
      state.busy.set(`${id} ${at}`, { id, at });
    } else if (what === "done") {
      state.busy.delete(`${id} ${at}`);
      this.give(state, id, to, made, -1);
    } else if (what === "fail") {
      state.busy.delete(`${id} ${at}`);
      this.take(state, id, at);
      state.failed = id;
    } else if (what === "wait") {
      for (const edge of this.into.get(id) ?? []) {
        const token = state.tokens.get(key(edge, at));
        if (token) token.waits = true;
      }
    } else if (what === "result") {
      this.take(state, id, at);
      state.results.set(id, made);
    } else if (what === "open" || what === "begin") {
      state.live.push(to);
      state.values.set(to, new Map());
    } else if (what === "end") {
      state.live = state.live.filter((one) => one !== at);
      for (const [name, token] of state.tokens) {
        if (token.at === at && !token.waits && !token.shared) state.tokens.delete(name);
      }
    } else if (what === "close") {
      const [frame, parent] = this.data.iterations[at];
      for (const [name, token] of state.tokens) {
        const [its, outer] = this.data.iterations[token.at];
        if (token.shared && its === frame && outer === parent) state.tokens.delete(name);
      }
    }
  }

  fire(state, id, at, to, port, made) {
    const box = this.boxes.get(id);
    this.take(state, id, at);
    this.give(state, id, to, made, box.style === "switch" ? port : -1, box.style === "invariant");
    if (isVariable(box)) state.values.get(to)?.set(id, made);
  }

  die(state, id, at) {
    this.take(state, id, at);
    const { style, cluster } = this.boxes.get(id);
    const leaves = style === "exit" || style === "unused" ? cluster !== this.data.iterations[at][0] : !ENDS.has(style);
    for (const edge of leaves ? this.out.get(id) ?? [] : []) put(state, edge, { at, value: "", dead: true });
  }

  take(state, id, at) {
    for (const edge of this.into.get(id) ?? []) {
      if (!state.tokens.get(key(edge, at))?.shared) state.tokens.delete(key(edge, at));
    }
  }

  give(state, id, at, made, live, shared = false) {
    const values = made.split("\n");
    for (const number of this.out.get(id) ?? []) {
      const edge = this.data.graph.edges[number];
      const dead = live >= 0 && edge.port !== live;
      put(state, number, { at, value: dead ? "" : values[live >= 0 ? 0 : edge.port] ?? "", dead, shared });
    }
  }
}

const frameEvents = new Set(["open", "begin", "end", "close"]);
const isVariable = (box) => box.style === "merge" && box.note !== "" && box.note !== "token";
const key = (edge, at) => `${edge} ${at}`;
const put = (state, edge, token) => state.tokens.set(key(edge, token.at), { edge, ...token });

function add(map, name, value) {
  map.set(name, [...(map.get(name) ?? []), value]);
}
