// Makes nodes. Text from runs only ever becomes text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

// Control characters and changes of direction are shown, not obeyed.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text) {
  return String(text).replace(HIDDEN, (c) => {
    const code = c.codePointAt(0);
    return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u{" + code.toString(16) + "}";
  });
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : visible(value));
  }
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null;
}

function isLike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
}

function takeAttributes(from, to) {
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !(name === "open" && from.nodeName === "DETAILS")) from.removeAttribute(name);
  }
  for (const { name, value } of [...to.attributes]) {
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

// Makes `now` look like `next`, and keeps the nodes that stay: focus, scrolling and selection are
// not lost. Listeners belong to nodes with a data-key that is the same as before; others are new.
export function patch(now, next) {
  if (now.hasAttribute("data-keep")) return;
  takeAttributes(now, next);
  const keyed = new Map();
  for (const child of now.children) {
    if (keyOf(child) !== null) keyed.set(keyOf(child), child);
  }
  let place = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    const key = keyOf(wanted);
    const known = key === null ? place : keyed.get(key) || place;
    if (known && isLike(known, wanted)) {
      if (known !== place) now.insertBefore(known, place);
      else place = place.nextSibling;
      if (known.nodeType === Node.ELEMENT_NODE) patch(known, wanted);
      else if (known.nodeValue !== wanted.nodeValue) known.nodeValue = wanted.nodeValue;
      continue;
    }
    now.insertBefore(wanted, place);
  }
  while (place) {
    const after = place.nextSibling;
    place.remove();
    place = after;
  }
}

// A table from columns {title, number, name, sort} and rows of cells (text or nodes).
export function table(caption, columns, rows, attributes = {}) {
  return h("div", { class: "scroll", role: "group", "aria-label": caption, tabindex: "0", ...attributes },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map((column) => h(column.title ? "th" : "td", {
        scope: column.title ? "col" : null, class: column.number ? "number" : null, "aria-sort": column.sorted || null,
      }, column.title)))),
      h("tbody", {}, rows.map((row) => h("tr", { "data-key": row.key, "data-row": row.key ? "" : null },
        row.cells.map((cell, i) => h(i === 0 ? "th" : "td", {
          scope: i === 0 ? "row" : null,
          class: columns[i].number ? "number" : columns[i].name ? "name" : null,
        }, cell)))))));
}

// A command to copy.
export function command(line) {
  return h("p", { class: "command" },
    h("code", {}, line),
    h("button", {
      type: "button", class: "copy", "data-copy": line, "aria-label": "Copy the command " + line,
    }, "Copy"));
}

export function stateWord(state, gone) {
  const word = gone ? "gone" : state;
  const sign = { ok: "✓", failed: "✗", running: "▶", planned: "…", stopped: "■", lost: "?", gone: "?",
    interrupted: "⏸", unknown: "?", imported: "↓", "not run": "·" }[word] || "·";
  return h("span", { class: "state state-" + word.replace(" ", "-") },
    h("span", { "aria-hidden": "true" }, sign + " "), word);
}
