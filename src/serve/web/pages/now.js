// What runs, what waits and why, and what ended badly in the last day.

import { poll } from "../api.js";
import { command, h, patch, stateWord, table } from "../dom.js";
import { spark } from "../figure.js";
import { ago, clock, count } from "../format.js";

function runLink(id) {
  return h("a", { href: "#/run/" + id }, id);
}

function age(one) {
  const silent = (Date.now() - Date.parse(one.alive)) / 1000;
  if (one.gone) return "gone";
  if (silent > 180) return h("span", { class: "open-text", title: clock(one.alive) }, "silent since " + ago(one.alive));
  return h("time", { datetime: one.alive, title: clock(one.alive) }, ago(one.alive));
}

function running(all) {
  const rows = all.filter((one) => one.state === "running");
  if (rows.length === 0) return null;
  return [h("h2", {}, "Running"), table(count(rows.length, "run") + " in progress",
    [{ title: "run", name: true }, { title: "state" }, { title: "stage" }, { title: "course" }, { title: "last line" }, { title: "node" }, { title: "alive" }],
    rows.map((one) => ({ key: one.id, cells: [runLink(one.id), stateWord(one.state, one.gone), one.gone ? one.detail : one.stage,
      spark(one.spark, "course of the metric that judges the run"), h("code", { class: "line" }, one.last_line), one.node, age(one)] })))];
}

function waiting(all, { reasons, reasons_from: from }) {
  const rows = all.filter((one) => one.goes_on && one.state !== "running");
  if (rows.length === 0) return null;
  const lines = Object.entries(reasons).sort((a, b) => b[1] - a[1]).map(([text, n]) => h("li", {}, `${count(n, "run")}: ${text}`));
  return [h("h2", {}, "Waiting"), lines.length ? h("ul", { class: "reasons" }, lines) : null,
    from ? h("p", { class: "notice" }, "The scheduler has not answered since ", h("time", { datetime: from, title: clock(from) }, ago(from)), ".") : null,
    table(count(rows.length, "run") + " shown",
      [{ title: "run", name: true }, { title: "state" }, { title: "waits for" }, { title: "study", name: true }, { title: "made" }],
      rows.map((one) => ({ key: one.id, cells: [runLink(one.id), stateWord(one.state),
        one.waits_for ? h("span", { class: one.stuck ? "open-text" : null }, one.waits_for + (one.stuck ? ", which as a rule does not pass by itself" : "")) : one.detail,
        one.study ? h("a", { href: "#/study/" + one.study }, one.study) : "",
        h("time", { datetime: one.created, title: clock(one.created) }, ago(one.created))] })))];
}

function ended(rows) {
  if (rows.length === 0) return null;
  return [h("h2", {}, "Ended badly in the last day"), table(count(rows.length, "run"),
    [{ title: "run", name: true }, { title: "state" }, { title: "reason" }, { title: "node" }, { title: "made" }],
    rows.map((one) => ({ key: "ended-" + one.id, cells: [runLink(one.id), stateWord(one.state), one.detail, one.node,
      h("time", { datetime: one.created, title: clock(one.created) }, ago(one.created))] })))];
}

function studies(rows) {
  if (rows.length === 0) return null;
  return [h("h2", {}, "Studies"), h("ul", { class: "plain" }, rows.map((one) => h("li", { "data-key": "study-" + one.id },
    h("a", { href: "#/study/" + one.id }, one.id), ": ",
    Object.entries(one.states).map(([state, n]) => `${n} ${state}`).join(", "))))];
}

export function now({ main, atEnd, fail, announce }) {
  let before = null;
  atEnd(poll("now", {}, (data) => {
    const text = Object.entries(data.counts).map(([state, n]) => `${n} ${state}`).join(", ");
    const is_idle = text === "";
    const page = h("main", { id: "main", tabindex: "-1" },
      h("h1", {}, "Now"),
      data.problem ? h("p", { class: "notice" }, data.problem) : null,
      h("p", { class: "lead" }, is_idle ? "Nothing is under way." : text),
      is_idle && data.ended_badly.length === 0
        ? h("div", {}, h("p", {}, "Runs appear here as soon as they are planned. Start one:"), command("sabath run digits --seed 1"))
        : null,
      studies(data.studies), running(data.runs), waiting(data.runs, data),
      data.all > data.runs.length ? h("p", { class: "faint" }, `and ${data.all - data.runs.length} more runs: `, h("a", { href: "#/runs?select=" + encodeURIComponent("status=planned or status=running") }, "all of them")) : null,
      ended(data.ended_badly),
      h("h2", {}, "In the terminal"), command("sabath status --watch"));
    patch(main, page);
    if (before !== null && before !== text) announce(text || "nothing is under way");
    before = text;
  }, fail));
}
