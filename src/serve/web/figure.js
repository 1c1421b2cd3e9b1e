// Figures that the server has laid out: marks with their places become SVG nodes.

import { h, s } from "./dom.js";

let figures = 0;

function node(mark) {
  const [kind, classes, ...rest] = mark;
  const kinds = { class: classes || null };
  switch (kind) {
    case "line":
      return s("line", { x1: rest[0], y1: rest[1], x2: rest[2], y2: rest[3], ...kinds });
    case "rect":
      return s("rect", { x: rest[0], y: rest[1], width: rest[2], height: rest[3], ...kinds },
        rest[4] ? s("title", {}, rest[4]) : null);
    case "dot":
      return s("circle", { cx: rest[0], cy: rest[1], r: rest[2], ...kinds });
    case "path":
      return s("path", { d: rest[0], ...kinds });
    case "text": {
      const text = rest.length > 4 ? rest[3] : "";
      return s("text", {
        x: rest[0], y: rest[1], "text-anchor": rest[rest.length - 1],
        transform: rest[2] ? `rotate(${rest[2]} ${rest[0]} ${rest[1]})` : null, ...kinds,
      }, text);
    }
    default:
      return null;
  }
}

export function drawing(laid) {
  figures += 1;
  const id = "figure-" + figures;
  const root = s("svg", {
    viewBox: `0 0 ${laid.width} ${laid.height}`, width: laid.width, height: laid.height,
    role: "img", "aria-labelledby": `${id}-t ${id}-d`,
  }, s("title", { id: id + "-t" }, laid.title), s("desc", { id: id + "-d" }, laid.description));
  const open = [root];
  for (const mark of laid.marks) {
    if (mark[0] === "open") {
      const group = s("g", { class: mark[1] || null });
      open[open.length - 1].append(group);
      open.push(group);
    } else if (mark[0] === "close") {
      if (open.length > 1) open.pop();
    } else {
      const made = node(mark);
      if (made) open[open.length - 1].append(made);
    }
  }
  return root;
}

// A line of few signs; without axes.
export function spark(values, title) {
  const finite = values.filter((one) => typeof one === "number");
  if (finite.length < 2) return null;
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const width = 120;
  const height = 24;
  let data = "";
  let pen = "M";
  values.forEach((one, i) => {
    if (typeof one !== "number") {
      pen = "M";
      return;
    }
    const x = i / (values.length - 1) * (width - 2) + 1;
    const y = high === low ? height / 2 : height - 2 - (one - low) / (high - low) * (height - 4);
    data += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = "L";
  });
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "spark c0", "aria-label": title },
    s("path", { d: data, class: "curve" }));
}

// The sections of a report.
export function sections(report) {
  return report.sections.map((section) => h("section", { "data-key": "section-" + section.id, "aria-labelledby": "h-" + section.id },
    h("h2", { id: "h-" + section.id }, section.title),
    section.blocks.map((block) => {
      if (block.kind === "paragraph") return h("p", {}, block.text);
      if (block.kind === "listing") {
        return [h("h3", {}, block.caption), h("pre", { tabindex: "0" }, h("code", {}, block.lines.join("\n")))];
      }
      if (block.kind === "figure") {
        return [h("h3", {}, block.title),
          h("figure", {}, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": block.title }, drawing(block.drawing)),
            h("figcaption", {}, block.description))];
      }
      return h("div", {
        class: "scroll" + (block.long ? " long" : ""), role: "group", "aria-label": block.caption, tabindex: "0",
      }, h("table", {}, h("caption", {}, block.caption),
        h("thead", {}, h("tr", {}, block.columns.map((column) =>
          h("th", { scope: "col", class: column.cells === "number" ? "number" : null }, column.title)))),
        h("tbody", {}, block.rows.map((row) => h("tr", {}, row.map((cell, i) => h(i === 0 ? "th" : "td", {
          scope: i === 0 ? "row" : null,
          class: block.columns[i].cells === "text" ? null : block.columns[i].cells,
        }, cell)))))));
    })));
}

export function verdict(report) {
  return h("p", { class: "verdict " + (report.mood || "open") },
    h("strong", {}, report.verdict), h("span", {}, report.reason));
}

export function facts(report) {
  return h("dl", {}, report.facts.map(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]));
}
