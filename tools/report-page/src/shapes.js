// The outlines of boxes by Graphviz's names, as the pictures of autoloop.draw have them; (0, 0) is the middle.

const polygon = (...points) => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;

function rounded(w, h, r) {
  return `M${-w + r} ${-h}H${w - r}Q${w} ${-h} ${w} ${-h + r}V${h - r}Q${w} ${h} ${w - r} ${h}H${-w + r}Q${-w} ${h} ${-w} ${h - r}V${-h + r}Q${-w} ${-h} ${-w + r} ${-h}Z`;
}

function ellipse(w, h) {
  return `M${-w} 0A${w} ${h} 0 1 1 ${w} 0A${w} ${h} 0 1 1 ${-w} 0Z`;
}

/** shape -> outline of half the width and half the height */
const OUTLINES = {
  box: (w, h) => rounded(w, h, 5),
  plain: (w, h) => rounded(w, h, 3),
  ellipse,
  circle: ellipse,
  diamond: (w, h) => polygon([0, -h], [w, 0], [0, h], [-w, 0]),
  hexagon: (w, h) => polygon([-w, 0], [-w + 10, -h], [w - 10, -h], [w, 0], [w - 10, h], [-w + 10, h]),
  trapezium: (w, h) => polygon([-w + 9, -h], [w - 9, -h], [w, h], [-w, h]),
  invtrapezium: (w, h) => polygon([-w, -h], [w, -h], [w - 9, h], [-w + 9, h]),
  house: (w, h) => polygon([-w, h], [-w, -h + 8], [0, -h], [w, -h + 8], [w, h]),
  invhouse: (w, h) => polygon([-w, -h], [w, -h], [w, h - 8], [0, h], [-w, h - 8]),
};

export const outline = (shape, width, height) => (OUTLINES[shape] ?? OUTLINES.box)(width / 2, height / 2);

/** Room beside the text, left and right together, by shape. */
const SLANT = { box: 18, plain: 10, diamond: 48, hexagon: 36, ellipse: 28 };

const canvas = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
export const FONT = 'system-ui, "Segoe UI", Roboto, Helvetica, Arial, "DejaVu Sans", sans-serif';

export function textWidth(text, size, weight = 400) {
  canvas.font = `${weight} ${size}px ${FONT}`;
  return canvas.measureText(text).width;
}

export function boxSize(box, shape) {
  if (shape === "circle") return [26, 26];
  if (shape === "plain") return [textWidth(box.label, 10.5) + 12, 19];
  const text = Math.max(textWidth(box.label, 12.5), box.note ? textWidth(box.note, 10) : 0);
  const pointed = shape === "house" || shape === "invhouse" ? 8 : shape === "diamond" ? 12 : 0;
  return [Math.max(text + (SLANT[shape] ?? 32), 46), (box.note ? 40 : 30) + pointed];
}
