// Baselines, and how what was accepted has moved.

import { poll } from "../api.js";
import { command, h, patch, table } from "../dom.js";
import { clock, number, value } from "../format.js";

function keyText(entry) {
  return [entry.task, entry.site, entry.device, Object.entries(entry.parameters).map(([name, one]) => `${name}=${one}`).join(" ")].filter(Boolean).join(", ");
}

function entries(baseline) {
  // Entries for the same runs are one history, oldest first.
  const histories = new Map();
  for (const entry of baseline.entries) {
    const key = entry.definition + keyText(entry);
    histories.set(key, [...(histories.get(key) || []), entry]);
  }
  return [...histories.values()].map((history) => {
    const newest = history[history.length - 1];
    const rows = newest.metrics.map((metric) => {
      const earlier = history.length > 1 ? history[history.length - 2].metrics.find((one) => one.name === metric.name) : null;
      const mean = value(metric.mean);
      const moved = earlier ? mean - value(earlier.mean) : NaN;
      return { key: metric.name, cells: [metric.name + (metric.unit && metric.unit !== "1" ? ` [${metric.unit}]` : ""), String(metric.n), number(mean), number(value(metric.sd)),
        metric.bounds ? `${number(value(metric.bounds[0]))} to ${number(value(metric.bounds[1]))}` : "",
        Number.isNaN(moved) ? "" : `${moved >= 0 ? "+" : ""}${number(moved)}${value(earlier.sd) > 0 ? ` (${number(moved / value(earlier.sd))} sd)` : ""}`,
        history.map((one) => { const found = one.metrics.find((m) => m.name === metric.name); return found ? number(value(found.mean)) : "none"; }).join(" → ")] };
    });
    return [h("h3", {}, keyText(newest) || "all runs"),
      h("p", { class: "faint" }, newest.accepted ? `accepted by ${newest.accepted.by}, ${clock(newest.accepted.at)}${newest.accepted.note ? ": " + newest.accepted.note : ""}` : "proposed, not accepted"),
      table(`${newest.runs.length} runs`, [{ title: "metric", name: true }, { title: "n", number: true }, { title: "mean", number: true }, { title: "sd", number: true }, { title: "bounds" }, { title: "moved" }, { title: "history of the mean" }], rows)];
  });
}

export function baselines({ main, atEnd, fail }) {
  atEnd(poll("baselines", {}, (data) => {
    patch(main, h("main", { id: "main", tabindex: "-1" }, h("h1", {}, "Baselines"),
      data.baselines.length === 0 ? [h("p", {}, "This home has accepted no baseline and checked no run against one."), command("sabath baseline propose recipe=digits -o digits.json")] :
        data.baselines.map((one) => h("section", { "data-key": one.file }, h("h2", {}, (one.recipe ? one.recipe + ": " : "") + one.file),
          one.problem ? h("p", { class: "notice" }, one.problem) : entries(one), command("sabath check --baseline " + one.file)))));
  }, fail));
}
