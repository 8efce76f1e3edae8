// The columns of a timeline as the page wants them: absolute times, slices by row and by line, names in words.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** 1234567 -> "1.23 ms" */
export function time(ns, digits = 3) {
  if (!ns) return "0";
  const [scale, unit] = UNITS.find(([one]) => Math.abs(ns) >= one) ?? UNITS[3];
  return `${Number((ns / scale).toPrecision(digits))} ${unit}`;
}

/** 2400000 -> "2.4 M" */
export function amount(value) {
  const [scale, unit] = [[1e9, " G"], [1e6, " M"], [1e3, " k"]].find(([one]) => Math.abs(value) >= one) ?? [1, ""];
  return `${Number((value / scale).toPrecision(3))}${unit}`;
}

export const seconds = (value) => time(value * 1e9);

export class Slices {
  constructor(data) {
    Object.assign(this, { data, nodes: data.nodes, iterations: data.iterations, count: data.slices.start.length });
    const { start, time: lasted, row } = data.slices;
    this.start = new Float64Array(this.count);
    this.end = new Float64Array(this.count);
    this.byRow = data.rows.map(() => []);
    this.byLine = new Map();
    this.followers = new Map();
    for (let k = 0, now = 0; k < this.count; k++) {
      now += start[k];
      this.start[k] = now;
      this.end[k] = now + lasted[k];
      this.byRow[row[k]].push(k);
      const line = this.line(k);
      if (line && !this.byLine.has(line)) this.byLine.set(line, []);
      this.byLine.get(line)?.push(k);
      const before = this.before(k);
      if (before >= 0) this.followers.set(before, [...(this.followers.get(before) ?? []), k]);
    }
    this.lines = [...this.byLine.keys()].sort((a, b) => a - b);
  }

  name(k) { return this.nodes[this.data.slices.node[k]][0]; }
  op(k) { return this.nodes[this.data.slices.node[k]][1] || this.name(k); }
  row(k) { return this.data.slices.row[k]; }
  isCritical(k) { return Boolean(this.data.slices.critical[k]); }

  /** The line of the page's own source that a slice is of; 0 for none. */
  line(k) {
    const [, , file, line] = this.nodes[this.data.slices.node[k]];
    return file === 0 && line ? line : 0;
  }

  /** Where a slice stands in the user's program, in words. */
  place(k) {
    const [, , file, line] = this.nodes[this.data.slices.node[k]];
    return file < 0 ? "" : `${this.data.files[file].replace(/.*[\\/]/, "")}:${line}`;
  }

  /** The slice of another iteration that a slice waited for; -1 for none. */
  before(k) {
    const after = this.data.slices.after[k];
    return after ? k - after : -1;
  }

  /** "while 3, while/body/while 0" */
  loops(k) {
    const [, , , , loops] = this.nodes[this.data.slices.node[k]];
    const numbers = this.iterations[this.data.slices.iteration[k]];
    return loops.map((loop, depth) => `iteration ${numbers[depth]} of ${loop}`).join(", ");
  }

  iteration(k) {
    const numbers = this.iterations[this.data.slices.iteration[k]];
    return numbers.length ? [...numbers].reverse().join(".") : "";
  }

  /** What lies under a point of a row: the last slice that begins before it and has not ended. */
  at(row, moment) {
    const slices = this.byRow[row] ?? [];
    let low = 0;
    let high = slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[slices[middle]] <= moment) low = middle + 1;
      else high = middle;
    }
    for (let j = low - 1; j >= 0 && j > low - 40; j--) if (this.end[slices[j]] >= moment) return slices[j];
    return -1;
  }
}
