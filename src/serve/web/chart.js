// Courses of metrics on a canvas: the mean of each stretch, and its extremes as a band.

import uPlot from "./vendor/uplot-1.6.32/uPlot.esm.js";
import { h, s } from "./dom.js";
import { number, value } from "./format.js";

const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]];
const HEIGHT = 260;
const charts = new Set();

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A course that grows: stretches by their number.
export class Course {
  constructor() {
    this.stretches = new Map();
    this.head = null;
  }

  take(json) {
    if (json.whole) this.stretches.clear();
    this.head = json;
    for (const [key, x, low, mean, high, finite, points] of json.buckets)
      this.stretches.set(key, { x: value(x), low: value(low), mean: value(mean), high: value(high), finite, points });
  }

  sorted() {
    return [...this.stretches.entries()].sort((a, b) => a[0] - b[0]).map((one) => one[1]);
  }
}

function columns(lines) {
  // One axis for all lines; a place that a line lacks is a gap that is joined.
  const places = new Set();
  for (const line of lines) for (const one of line.points) places.add(one.x);
  const x = [...places].sort((a, b) => a - b);
  const index = new Map(x.map((one, i) => [one, i]));
  const data = [x];
  for (const line of lines) {
    const mean = new Array(x.length).fill(undefined);
    const low = new Array(x.length).fill(undefined);
    const high = new Array(x.length).fill(undefined);
    for (const one of line.points) {
      const i = index.get(one.x);
      const has = one.finite === undefined || one.finite > 0;
      mean[i] = has ? one.mean : null;
      low[i] = has ? one.low : null;
      high[i] = has ? one.high : null;
    }
    data.push(mean, low, high);
  }
  return data;
}

function isWide(lines) {
  let low = Infinity;
  let high = 0;
  for (const line of lines) {
    for (const one of line.points) {
      if (one.finite === 0 || one.low === null) continue;
      if (one.low <= 0) return false;
      low = Math.min(low, one.low);
      high = Math.max(high, one.high);
    }
  }
  return high / low >= 100;
}

export class Chart {
  constructor(title, options = {}) {
    this.title = title;
    this.options = options;
    this.lines = [];
    this.marks = [];
    this.plot = null;
    this.shown = false;
    this.place = h("div", { class: "plot", "data-keep": true });
    this.caption = h("figcaption", {});
    this.tableButton = h("button", { type: "button", "aria-expanded": "false" }, "As a table");
    this.tablePlace = h("div", { hidden: true });
    this.tableButton.addEventListener("click", () => {
      this.tablePlace.hidden = !this.tablePlace.hidden;
      this.tableButton.setAttribute("aria-expanded", String(!this.tablePlace.hidden));
      if (!this.tablePlace.hidden) this.fillTable();
    });
    this.node = h("figure", { class: "chart", "data-key": "chart-" + title, "data-keep": true },
      h("h3", {}, title), this.place, this.caption, this.tableButton, this.tablePlace);
    // A chart is drawn when it comes into sight.
    this.sight = new IntersectionObserver((entries) => {
      this.shown = entries.some((entry) => entry.isIntersecting);
      if (this.shown) this.draw();
    });
    this.sight.observe(this.node);
    this.size = new ResizeObserver(() => {
      if (this.plot) this.plot.setSize({ width: this.width(), height: HEIGHT });
    });
    this.size.observe(this.place);
    charts.add(this);
  }

  width() {
    return Math.max(240, Math.floor(this.place.clientWidth));
  }

  // `lines`: {label, points: [{x, low, mean, high, finite}]}. `marks`: {x, text}.
  update(lines, marks, caption) {
    this.lines = lines;
    this.marks = marks || [];
    const text = caption || "";
    if (this.caption.textContent !== text) this.caption.textContent = text;
    this.place.setAttribute("role", "img");
    this.place.setAttribute("aria-label", this.title + ". " + text);
    if (this.shown) this.draw();
    if (!this.tablePlace.hidden) this.fillTable();
  }

  draw() {
    const data = columns(this.lines);
    if (data[0].length === 0) return;
    const wide = isWide(this.lines);
    const form = this.lines.map((line) => line.label).join("\n") + wide;
    if (this.plot && this.form === form) {
      this.plot.setData(data, true);
      return;
    }
    if (this.plot) this.plot.destroy();
    this.form = form;
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 } };
    const series = [{ label: this.options.x || "step" }];
    const bands = [];
    this.lines.forEach((line, i) => {
      const stroke = colour("--s" + i % 6);
      const at = series.length;
      series.push({ label: line.label, stroke, width: 1.75, dash: DASHES[i % 6], spanGaps: true, points: { show: line.points.length < 30, size: 5 },
        value: (_, v) => v === null || v === undefined ? "" : number(v) });
      series.push({ label: line.label + " lowest", stroke: "transparent", width: 0, points: { show: false }, spanGaps: true });
      series.push({ label: line.label + " highest", stroke: "transparent", width: 0, points: { show: false }, spanGaps: true });
      bands.push({ series: [at + 2, at + 1], fill: stroke + "33" });
    });
    this.plot = new uPlot({
      width: this.width(), height: HEIGHT, series, bands,
      scales: { x: { time: false }, y: { distr: wide ? 3 : 1 } },
      axes: [{ ...axis, label: this.options.x || "step", labelSize: 20, stroke: colour("--faint") },
        { ...axis, size: 72, label: this.options.y || "", labelSize: 20, values: (_, all) => all.map((v) => v === null ? "" : number(v)) }],
      legend: { show: this.lines.length > 1, live: false },
      cursor: { sync: { key: this.options.sync || "none" } },
      hooks: { draw: [(plot) => this.drawMarks(plot)] },
    }, data, this.place);
    for (const label of this.place.querySelectorAll(".u-legend .u-series")) {
      if (/ (lowest|highest)$/.test(label.textContent)) label.hidden = true;
    }
  }

  drawMarks(plot) {
    const { ctx } = plot;
    ctx.save();
    ctx.strokeStyle = colour("--bad");
    ctx.fillStyle = colour("--bad");
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    for (const mark of this.marks) {
      const x = Math.round(plot.valToPos(mark.x, "x", true));
      if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
      ctx.setLineDash([4, 4]);
      ctx.beginPath();
      ctx.moveTo(x, plot.bbox.top);
      ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
      ctx.stroke();
      ctx.fillText(mark.text, x + 5, plot.bbox.top + 14 * devicePixelRatio);
    }
    ctx.restore();
  }

  fillTable() {
    const most = 200;
    const rows = [];
    for (const line of this.lines) {
      const step = Math.max(1, Math.ceil(line.points.length / most));
      line.points.forEach((one, i) => {
        if (i % step === 0 || i + 1 === line.points.length) rows.push([line.label, one.x, one.low, one.mean, one.high]);
      });
    }
    const title = ["", this.options.x || "step", "lowest", "mean", "highest"];
    const body = rows.map((row) => h("tr", {}, row.map((cell, i) => h(i === 0 ? "th" : "td", {
      class: i > 0 ? "number" : null, scope: i === 0 ? "row" : null,
    }, typeof cell === "number" ? number(cell) : cell || ""))));
    this.tablePlace.replaceChildren(h("div", { class: "scroll long", tabindex: "0", role: "group", "aria-label": this.title },
      h("table", {}, h("caption", {}, this.title),
        h("thead", {}, h("tr", {}, title.map((one) => h("th", { scope: "col" }, one)))),
        h("tbody", {}, body))));
  }

  end() {
    charts.delete(this);
    this.sight.disconnect();
    this.size.disconnect();
    if (this.plot) this.plot.destroy();
    this.plot = null;
  }
}

// Canvases know nothing of style sheets: they are drawn again in other colours.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const chart of charts) {
    chart.form = "";
    if (chart.shown) chart.draw();
  }
});

// Points of one number over another, with their means: {x, y, label}.
export function scatter(title, xTitle, yTitle, points) {
  const finite = points.filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y));
  if (finite.length < 2) return null;
  const width = 640;
  const height = 300;
  const left = 70;
  const bottom = height - 46;
  const span = (values) => {
    const low = Math.min(...values);
    const high = Math.max(...values);
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
  };
  const [x0, x1] = span(finite.map((one) => one.x));
  const [y0, y1] = span(finite.map((one) => one.y));
  const log = x0 > 0 && x1 / x0 >= 100;
  const along = (v) => log ? (Math.log(v) - Math.log(x0)) / (Math.log(x1) - Math.log(x0)) : (v - x0) / (x1 - x0);
  const px = (v) => left + 14 + along(v) * (width - left - 40);
  const py = (v) => bottom - 12 - (v - y0) / (y1 - y0) * (bottom - 34);
  const groups = new Map();
  for (const one of finite) groups.set(one.x, [...(groups.get(one.x) || []), one.y]);
  const means = [...groups.entries()].sort((a, b) => a[0] - b[0]).map(([x, ys]) => [x, ys.reduce((a, b) => a + b, 0) / ys.length]);
  const text = `${title}: ` + means.map(([x, y]) => `${number(x)}: n = ${groups.get(x).length}, mean ${number(y)}`).join("; ");
  return h("figure", {},
    h("h3", {}, title),
    s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": text },
      s("line", { x1: left, y1: bottom, x2: width - 16, y2: bottom, class: "axis" }),
      s("line", { x1: left, y1: 14, x2: left, y2: bottom, class: "axis" }),
      [...groups.keys()].map((x) => s("text", { x: px(x), y: bottom + 16, "text-anchor": "middle" }, number(x))),
      [y0, (y0 + y1) / 2, y1].map((y) => s("text", { x: left - 6, y: py(y) + 4, "text-anchor": "end" }, number(y))),
      s("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, xTitle),
      s("text", { x: 14, y: bottom / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${bottom / 2})` }, yTitle),
      s("g", { class: "c0" },
        s("path", { d: means.map(([x, y], i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join(""), class: "curve" }),
        finite.map((one) => s("circle", { cx: px(one.x).toFixed(1), cy: py(one.y).toFixed(1), r: 4, class: "point" }, s("title", {}, one.label))))),
    h("figcaption", {}, text));
}
