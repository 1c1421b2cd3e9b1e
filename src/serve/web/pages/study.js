// Studies, and one of them: its points by state, a metric over what varies, the report so far.

import { get, poll, repeat } from "../api.js";
import { scatter } from "../chart.js";
import { command, h, patch, stateWord, table } from "../dom.js";
import { facts, sections, verdict } from "../figure.js";
import { inPlace } from "./run.js";
import { ago, clock, count, number, value } from "../format.js";

export function studies({ main, atEnd, fail }) {
  atEnd(poll("studies", {}, (data) => {
    patch(main, h("main", { id: "main", tabindex: "-1" }, h("h1", {}, "Studies"),
      data.studies.length === 0 ? h("div", {}, h("p", {}, "No study yet. A sweep makes one:"), command("sabath run digits --sweep hidden=16,32 --seeds 1..3")) :
        table(data.all === 1 ? "1 study" : data.all + " studies",
          [{ title: "study", name: true }, { title: "recipe" }, { title: "points", number: true }, { title: "states" }, { title: "made" }],
          data.studies.map((one) => ({ key: one.study, cells: [h("a", { href: "#/study/" + one.study }, one.study), one.recipe || "",
            one.points === undefined ? "" : String(one.points), one.problem || Object.entries(one.states).map(([state, n]) => `${n} ${state}`).join(", "),
            h("time", { datetime: one.created, title: clock(one.created) }, ago(one.created))] }))),
      command("sabath list studies")));
  }, fail));
}

function settingOf(point, varied) {
  return varied.map((name) => `${name}=${point.set[name]}`).join(" ") || "default";
}

function matrix(data, metric) {
  const seeds = [...new Set(data.points.map((one) => one.seed === undefined ? "no seed" : String(one.seed)))];
  const rows = new Map();
  for (const point of data.points) {
    const setting = settingOf(point, data.varied);
    if (!rows.has(setting)) rows.set(setting, new Map());
    const column = point.seed === undefined ? "no seed" : String(point.seed);
    rows.get(setting).set(column, [...(rows.get(setting).get(column) || []), point]);
  }
  return table(`${count(data.points.length, "point")} of the study`,
    [{ title: data.varied.length ? data.varied.join(", ") : "setting", name: true }, ...seeds.map((one) => ({ title: one === "no seed" ? one : "seed " + one }))],
    [...rows.entries()].map(([setting, cells]) => ({ key: setting, cells: [setting, ...seeds.map((name) => (cells.get(name) || []).map((point) =>
      h("div", { class: "point-cell" }, stateWord(point.state), " ",
        point.run ? h("a", { href: "#/run/" + point.run, "aria-label": `run ${point.run}` }, metric && metric in (point.values || {}) ? number(value(point.values[metric])) : "run") : "")))] })));
}

function plots(data, metric) {
  if (!metric) return null;
  const title = data.metrics.find((one) => one.name === metric);
  return [...data.varied, "seed"].map((name) => {
    const points = data.points.filter((one) => one.values && metric in one.values).map((one) => ({
      x: Number(name === "seed" ? one.seed : one.set[name]), y: Number(value(one.values[metric])), label: `${one.run}: ${number(value(one.values[metric]))}` }));
    if (new Set(points.map((one) => one.x)).size < 2) return null;
    return scatter(`${metric} over ${name}`, name, metric + (title && title.unit && title.unit !== "1" ? ` [${title.unit}]` : ""), points);
  });
}

export function study(page) {
  const { main, words, query, setQuery, atEnd, fail, announce } = page;
  const id = words[1] || "";
  const top = h("div", {});
  const report = h("div", {});
  main.replaceChildren(top, report);
  let last = null;
  let before = "";
  const show = () => {
    const data = last;
    const metric = query.get("metric") || (data.metrics[0] ? data.metrics[0].name : "");
    const counts = {};
    for (const point of data.points) counts[point.state] = (counts[point.state] || 0) + 1;
    const text = Object.entries(counts).map(([state, n]) => `${n} ${state}`).join(", ");
    patch(top, h("div", {},
      h("h1", {}, data.study),
      h("p", { class: "lead" }, text),
      h("p", { class: "faint" }, `Recipe ${data.recipe}, made ${clock(data.created)}.`,
        data.open > 0 ? data.driven ? " A process starts its runs." : " No process starts its runs now." : ""),
      data.metrics.length ? h("label", { "data-key": "metric" }, "Metric ",
        h("select", { "data-key": "choice", onchange: (event) => {
          setQuery({ metric: event.target.value });
          show();
        } }, data.metrics.map((one) => h("option", { value: one.name, selected: one.name === metric }, one.name + (one.better === "none" ? "" : `, ${one.better} is better`))))) : null,
      h("h2", {}, "Points"), matrix(data, metric),
      plots(data, metric),
      h("h2", {}, "In the terminal"), command("sabath show " + data.study),
      data.open > 0 && !data.driven ? command("sabath run --resume " + data.study) : null, command(data.command)));
    if (before && before !== text) announce(text);
    before = text;
  };
  atEnd(poll("study/" + id, {}, (data) => {
    last = data;
    show();
  }, fail));
  atEnd(repeat(async (isStopped) => {
    const data = await get("report", { select: "study=" + id });
    if (isStopped()) return 0;
    patch(report, h("div", {}, h("h2", {}, data.open ? "Report so far" : "Report"), verdict(data), facts(data), sections(data)));
    return data.open || (last && last.open > 0) ? 5000 : 60000;
  }, inPlace(report)));
}
