// One run: stages, courses of its metrics, use of the machine, logs, outputs.

import { get, poll, repeat } from "../api.js";
import { Chart, Course } from "../chart.js";
import { command, h, patch, stateWord, table, visible } from "../dom.js";
import { drawing, sections } from "../figure.js";
import { ago, bytes, clock, count, duration, number, value } from "../format.js";

function captionOf(head) {
  const shown = (point) => point === null ? "none" : number(value(point[1]));
  const parts = [`${count(head.points, "point")} in ${head.along}s`];
  if (head.width > 1) parts.push(`each place stands for ${head.width} ${head.along}s, with its lowest and highest value`);
  parts.push(`first ${shown(head.first)}`, `last ${shown(head.last)}`);
  if (head.not_finite) parts.push(`${head.not_finite} not finite, from ${head.along} ${head.first_not_finite ? head.first_not_finite[0] : "?"}`);
  if (head.placeless) parts.push(`${head.placeless} without a ${head.along}`);
  if (head.better !== "none") parts.push(`${head.better} is better`);
  return parts.join("; ") + ".";
}

// What a part of a page cannot show does not take the rest away.
export function inPlace(place) {
  return (error) => {
    let note = place.querySelector("p[data-problem]");
    if (!note) {
      note = h("p", { class: "faint", "data-problem": true });
      place.append(note);
    }
    note.textContent = error.message;
  };
}

// Charts of a run's metrics, as many as are chosen. Also of several runs, for Compare.
export function courses(place, ids, { atEnd }, names = []) {
  const fail = inPlace(place);
  const charts = new Map();
  const runs = ids.map((id) => ({ id, courses: new Map(), version: 0 }));
  const note = h("p", { class: "faint" });
  place.append(note);
  const show = () => {
    const keys = [...new Set(runs.flatMap((one) => [...one.courses.keys()]))];
    note.textContent = keys.length === 0 ? "No metric has been reported so far." : "";
    for (const key of keys) {
      const lines = [];
      const marks = [];
      let head = null;
      runs.forEach((one, i) => {
        const course = one.courses.get(key);
        if (!course) return;
        head = head || course.head;
        lines.push({ label: names[i] || (ids.length > 1 ? one.id : key), points: course.sorted() });
        if (course.head.first_not_finite) marks.push({ x: value(course.head.first_not_finite[0]), text: "not finite" });
      });
      // A single point is a number, not a course.
      if (head.points < 2) continue;
      let chart = charts.get(key);
      if (!chart) {
        chart = new Chart(key + (head.unit && head.unit !== "1" ? ` [${head.unit}]` : ""), { x: head.along, sync: "run" });
        charts.set(key, chart);
        place.append(chart.node);
      }
      chart.update(lines, marks, ids.length > 1 ? runs.filter((one) => one.courses.has(key)).map((one, i) => `${names[i] || one.id}: ${captionOf(one.courses.get(key).head)}`).join(" ") : captionOf(head));
    }
  };
  for (const one of runs) {
    atEnd(repeat(async (isStopped) => {
      const data = await get(`run/${one.id}/courses`, { after: one.version });
      if (isStopped()) return 0;
      const changed = data.version !== one.version;
      one.version = data.version;
      for (const metric of data.metrics) {
        const key = metric.stage + "/" + metric.name;
        if (!one.courses.has(key)) one.courses.set(key, new Course());
        one.courses.get(key).take(metric);
      }
      for (const key of [...one.courses.keys()]) {
        if (!data.names.includes(key)) one.courses.delete(key);
      }
      if (changed || data.metrics.length > 0) show();
      return data.is_over ? 60000 : 1500;
    }, fail));
  }
  atEnd(() => charts.forEach((chart) => chart.end()));
}

function usage(place, id, { atEnd }) {
  const fail = inPlace(place);
  const charts = new Map();
  atEnd(poll(`run/${id}/usage`, {}, (data) => {
    for (const kind of data.kinds) {
      let chart = charts.get(kind.name);
      if (!chart) {
        chart = new Chart(kind.title, { x: "seconds since the start", sync: "usage" });
        charts.set(kind.name, chart);
        place.append(chart.node);
      }
      chart.update(kind.lines.map((line, i) => ({ label: kind.lines.length > 1 ? `${kind.name} ${i + 1}` : kind.name,
        points: line.map(([x, low, mean, high]) => ({ x, low, mean, high })) })), [], "");
    }
    if (charts.size === 0) place.replaceChildren(h("p", { class: "faint" }, "No samples so far."));
  }, fail));
  atEnd(() => charts.forEach((chart) => chart.end()));
}

function logs(place, id, stages, { atEnd, query, setQuery }) {
  const fail = inPlace(place);
  const choose = h("select", { "aria-label": "Log" },
    h("option", { value: "|out" }, "newest stage, output"),
    stages.flatMap((one) => [h("option", { value: one.name + "|out" }, one.name + ", output"), h("option", { value: one.name + "|err" }, one.name + ", errors")]),
    h("option", { value: "|job" }, "exec and its job"));
  choose.value = query.get("log") || "|out";
  if (choose.selectedIndex < 0) choose.selectedIndex = 0;
  const text = h("pre", { tabindex: "0", class: "log", "aria-label": "Log" });
  const note = h("p", { class: "faint" });
  place.append(choose, note, text);
  const most = 200000;
  let next = null;
  let title = "";
  choose.addEventListener("change", () => {
    next = null;
    text.textContent = "";
    setQuery({ log: choose.value });
  });
  atEnd(repeat(async (isStopped) => {
    const [stage, stream] = choose.value.split("|");
    const asked = choose.value;
    const part = await get(`run/${id}/log`, { stage, stream, from: next });
    if (isStopped() || asked !== choose.value) return 0;
    if (next === null || part.title !== title || part.from < next) {
      title = part.title;
      text.textContent = "";
      note.textContent = (part.title ? part.title + ", " : "") + bytes(part.size_bytes) + (part.from > 0 ? "; its end is shown" : "");
    }
    const atBottom = text.scrollTop + text.clientHeight >= text.scrollHeight - 8;
    if (part.text) {
      // Escape codes are shown, not obeyed.
      const shown = text.textContent + visible(part.text.replace(/\r\n?/g, "\n"));
      text.textContent = shown.length > most ? shown.slice(shown.indexOf("\n", shown.length - most) + 1) : shown;
    }
    next = part.next;
    if (atBottom) text.scrollTop = text.scrollHeight;
    return part.next < part.size_bytes ? 200 : 2000;
  }, fail));
}

function outputs(data, { fail }) {
  if (!data.outputs || data.outputs.length === 0) return null;
  return [h("h2", {}, "Outputs"), table(count(data.all_outputs, "file"),
    [{ title: "stage" }, { title: "path", name: true }, { title: "size", number: true }, { title: "digest" }, { title: "" }],
    data.outputs.map((one) => ({ key: one.stage + "/" + one.path, cells: [one.stage, one.path, bytes(one.size_bytes),
      h("code", { title: one.digest }, one.digest.slice(0, 19) + "…"),
      h("button", { type: "button", "aria-label": "Download " + one.path, onclick: async () => {
        try {
          const ticket = await get("ticket", { run: data.id, stage: one.stage, path: one.path });
          location.assign(ticket.path);
        } catch (error) {
          fail(error);
        }
      } }, "Download")] })))];
}

function head(data) {
  const items = [["Recipe", data.recipe], ["Node", data.node], ["Seed", data.seed], ["Tags", data.tags.join(", ")],
    ["Made", clock(data.created)], ["Time", data.wall_s ? duration(value(data.wall_s)) : ""],
    ["Attempt", data.attempt > 1 ? String(data.attempt) : ""],
    ["Folder", data.directory]].filter(([, text]) => text);
  return h("dl", {}, items.map(([label, text]) => [h("dt", {}, label), h("dd", {}, text)]),
    data.study ? [h("dt", {}, "Study"), h("dd", {}, h("a", { href: "#/study/" + data.study }, data.study))] : null,
    (data.said || []).map((one) => [h("dt", {}, "Note"), h("dd", {}, `${one.note} (${one.by}, ${clock(one.at)})`)]));
}

export function run(page) {
  const { main, words, atEnd, fail, announce } = page;
  const id = words[1] || "";
  const top = h("div", {});
  const chartPlace = h("section", { "aria-labelledby": "h-courses" }, h("h2", { id: "h-courses" }, "Courses"));
  const usagePlace = h("div", {});
  const usageSection = h("section", { "aria-labelledby": "h-use" }, h("h2", { id: "h-use" }, "Use of the machine"), usagePlace);
  const logPlace = h("section", { "aria-labelledby": "h-log" }, h("h2", { id: "h-log" }, "Log"));
  const bottom = h("div", {});
  const report = h("div", {});
  main.replaceChildren(top, chartPlace, usageSection, logPlace, bottom, report);
  let begun = false;
  let before = "";
  let reported = false;
  let again = 0;
  atEnd(() => clearTimeout(again));
  const tell = () => get("report", { select: id }).then((all) => {
    if (all.open) {
      again = setTimeout(tell, 2000);  // the catalog hears of the end a moment later
      return;
    }
    const of = (names) => sections({ sections: all.sections.filter((one) => names.includes(one.id)) });
    report.replaceChildren(...of(["results", "performance"]), h("details", {}, h("summary", {}, "Where it came from"), of(["provenance"])));
  }, inPlace(report));
  atEnd(poll("run/" + id, {}, (data) => {
    patch(top, h("div", {},
      h("h1", {}, data.id),
      h("p", { class: "lead" }, stateWord(data.state, data.gone),
        data.goes_on && data.stage ? ` stage ${data.stage}` : "",
        data.goes_on && data.updated ? h("span", { class: "faint" }, ` for ${ago(data.updated).replace(" ago", "")}`) : ""),
      data.waits_for ? h("p", { class: data.stuck ? "notice" : null }, "waits for: " + data.waits_for) : null,
      data.gone ? h("p", { class: "notice" }, "Its process has gone without a record. ", h("code", {}, "sabath status"), " closes the run.") : null,
      data.message ? h("p", { class: data.state === "ok" ? null : "notice" }, data.message) : null,
      data.note ? h("p", { class: "notice" }, data.note) : null,
      head(data),
      data.graph && data.graph.marks.length ? h("section", {}, h("h2", {}, "Stages"),
        h("figure", {}, h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Graph of the stages" }, drawing(data.graph)),
          h("figcaption", {}, data.stages.map((one) => `${one.name}: ${one.state.replace("_", " ")}${one.wall_s ? ", " + duration(one.wall_s) : ""}`).join("; ")))) : null));
    patch(bottom, h("div", {}, outputs(data, page),
      h("h2", {}, "In the terminal"),
      command((data.goes_on ? "sabath logs --follow " : "sabath show ") + data.id),
      data.reproduce ? command(data.reproduce) : null,
      command("sabath compare @previous " + data.id)));
    if (!begun) {
      begun = true;
      courses(chartPlace, [id], page);
      usage(usagePlace, id, page);
      logs(logPlace, id, data.stages || [], page);
    }
    if (before && before !== data.state) announce(`${data.id} is ${data.state}`);
    before = data.state;
    if (!data.goes_on && !data.archived && !reported) {
      reported = true;
      tell();
    }
  }, fail));
}
