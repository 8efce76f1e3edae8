// Makes elements. Texts are set as text, never as markup: whatever stands in the user's source stays text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/** h("p", {class: "note"}, "text", otherElement) */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** The same of svg. */
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
