// Two runs or two groups: verdict and reason first, then what differs first.

import { get, repeat } from "../api.js";
import { command, h, patch, stateWord, table } from "../dom.js";
import { facts, sections, verdict } from "../figure.js";
import { courses } from "./run.js";

// Where values within the rule began to differ in bits.
function bitwise(one) {
  if (!one.last || one.equal_to === one.last) return "";
  return one.equal_to ? "equal to the bit up to " + one.equal_to : "differs in bits from its first value on";
}

function soFar(data) {
  const judged = data.metrics ? data.metrics.filter((one) => one.judged) : [];
  const others = data.metrics ? data.metrics.filter((one) => !one.judged) : [];
  const differing = judged.filter((one) => one.differs);
  const equal = judged.filter((one) => !one.differs && one.equal_to === one.last && one.last);
  const rows = (all) => all.map((one) => ({ key: one.name, cells: [one.name, one.differs ? "diverges" : one.equal_to === one.last && one.last ? "equal to the bit" : "within the rule",
    one.last, one.text || bitwise(one)] }));
  const columns = [{ title: "metric", name: true }, { title: "so far" }, { title: "up to" }, { title: "" }];
  return [
    h("p", { class: "verdict " + (data.differs ? "bad" : "open") },
      h("strong", {}, data.differs ? "DIVERGES" : "SO FAR"), h("span", {}, data.headline)),
    h("p", { class: "faint" }, data.required ? `Required: ${data.required}. The verdict comes when both runs have ended.` : ""),
    differing.length ? table("Metrics that differ", columns, rows(differing)) : null,
    equal.length ? h("details", { "data-key": "equal" }, h("summary", {}, `${equal.length} equal to the bit so far`), table("Equal to the bit", columns, rows(equal))) : null,
    others.length ? h("details", { "data-key": "others" }, h("summary", {}, `${others.length} not judged`), table("Not judged", columns, rows(others))) : null,
  ];
}

function over(data) {
  const one = data.comparison;
  const mood = one.result === "PASS" ? "good" : one.result === "FAIL" ? "bad" : "open";
  return [h("p", { class: "verdict " + mood }, h("strong", {}, one.result), h("span", {}, one.reason))];
}

// With two runs: ?a=ID&b=ID. With groups: ?select=SELECTION&by=KEY.
export function compare(page) {
  const { main, query, atEnd, fail, go } = page;
  const a = query.get("a") || "";
  const b = query.get("b") || "";
  const select = query.get("select") || "";
  const form = h("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    const data = new FormData(event.target);
    const words = new URLSearchParams([...data.entries()].filter(([, text]) => text));
    go("/compare?" + words);
  } },
  h("label", {}, "A ", h("input", { name: "a", value: a, autocomplete: "off" })),
  h("label", {}, "B ", h("input", { name: "b", value: b, autocomplete: "off" })),
  h("label", {}, "or runs ", h("input", { name: "select", value: select, autocomplete: "off" })),
  h("label", {}, "by ", h("input", { name: "by", value: query.get("by") || "", autocomplete: "off" })),
  h("button", {}, "Compare"));
  const top = h("div", {});
  const chartPlace = h("section", {});
  const rest = h("div", {});
  main.replaceChildren(h("h1", {}, a ? "Compare two runs" : "Compare groups"), form, top, chartPlace, rest);
  if (a && b) {
    chartPlace.append(h("h2", {}, "Courses"));
    courses(chartPlace, [a, b], page, ["A", "B"]);
    let reported = false;
    atEnd(repeat(async (isStopped) => {
      const data = await get("compare", { a, b, across: query.get("across") });
      if (isStopped()) return 0;
      patch(top, h("div", {},
        h("p", {}, "A: ", h("a", { href: "#/run/" + a }, a), " ", stateWord(data.a.state)),
        h("p", {}, "B: ", h("a", { href: "#/run/" + b }, b), " ", stateWord(data.b.state)),
        data.state === "over" ? over(data) : soFar(data),
        command(data.command)));
      if (data.state !== "over") return 2000;
      if (!reported) {
        reported = true;
        const report = await get("report", { select: `id=${a} or id=${b}`, across: query.get("across") });
        if (!isStopped()) rest.replaceChildren(facts(report), ...sections({ sections: report.sections.filter((one) => one.id !== "courses") }));
      }
      return 60000;
    }, fail));
    return;
  }
  if (!select) {
    top.append(h("p", {}, "Name two runs, or a selection and what groups it."));
    return;
  }
  atEnd(repeat(async (isStopped) => {
    const report = await get("report", { select, by: query.get("by"), across: query.get("across") });
    if (isStopped()) return 0;
    patch(top, h("div", {}, report.question ? h("p", {}, report.question) : null, verdict(report), facts(report), command(report.command)));
    patch(rest, h("div", {}, sections(report)));
    return report.open ? 5000 : 60000;
  }, fail));
}
