// Data sets and models: search, licence, size, digests, sources, what is here, who used it.

import { get, poll, repeat } from "../api.js";
import { command, h, patch, stateWord, table } from "../dom.js";
import { ago, bytes, clock, count } from "../format.js";

export function assets({ main, query, setQuery, atEnd, fail }) {
  const search = h("input", { type: "search", value: query.get("words") || "", "aria-label": "Words", placeholder: "words of a title, a description, a keyword", class: "wide" });
  const list = h("div", {});
  main.replaceChildren(h("h1", {}, "Assets"), h("div", { class: "row" }, search), list);
  const ask = async () => {
    const words = search.value.trim();
    const data = await get("assets", { words });
    if (words !== search.value.trim()) return;
    patch(list, h("div", {},
      table(count(data.assets.length, "asset"),
        [{ title: "name", name: true }, { title: "kind" }, { title: "title" }, { title: "licence" }, { title: "size", number: true }, { title: "files", number: true }, { title: "digests" }],
        data.assets.map((one) => ({ key: one.name, cells: [h("a", { href: "#/asset/" + one.name }, one.name), one.kind, one.title + (one.withdrawn ? " (withdrawn)" : ""), one.license,
          bytes(one.size_bytes), String(one.files), one.has_digests ? "yes" : "not all"] }))),
      data.problems.map((one) => h("p", { class: "notice" }, `${one.path}: ${one.problem}`)),
      command(words ? "sabath search " + words : "sabath list assets")));
  };
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      setQuery({ words: search.value.trim() });
      asking.soon();
    }, 120);
  });
  atEnd(() => clearTimeout(timer));
  const asking = repeat(async () => {
    await ask();
    return 30000;
  }, fail);
  atEnd(asking);
}

function files(document) {
  const all = document.files || [];
  if (all.length === 0) return null;
  const most = 200;
  return [h("h2", {}, "Files"), table(all.length > most ? `the first ${most} of ${all.length} files` : count(all.length, "file"),
    [{ title: "path", name: true }, { title: "size", number: true }, { title: "digests" }, { title: "sources" }],
    all.slice(0, most).map((one) => ({ key: one.path, cells: [one.path, bytes(one.size_bytes ?? one.size),
      [].concat(one.digests || one.digest || []).map((text) => h("div", {}, h("code", {}, String(text)))),
      [].concat(one.sources || one.url || []).map((text) => h("div", {}, String(text)))] })))];
}

export function asset({ main, words, atEnd, fail }) {
  const name = words[1] || "";
  atEnd(poll("asset/" + name, {}, (data) => {
    const one = data.summary;
    const document = data.document;
    const items = [["Kind", one.kind], ["Version", one.version], ["Licence", one.license], ["Size", bytes(one.size_bytes)], ["Keywords", (one.keywords || []).join(", ")],
      ["Citation", document.citation], ["Homepage", document.homepage], ["Identifier", document.identifier], ["Withdrawn", one.withdrawn],
      ["In the cache", data.cache_problem || (data.cached && data.cached.length ? data.cached.map((text) => text.slice(0, 19) + "…").join(", ") : "no")]].filter(([, text]) => text);
    patch(main, h("main", { id: "main", tabindex: "-1" },
      h("h1", {}, one.name), h("p", { class: "lead" }, one.title), one.description ? h("p", {}, one.description) : null,
      h("dl", {}, items.map(([label, text]) => [h("dt", {}, label), h("dd", {}, text)])),
      files(document),
      h("h2", {}, "Runs that used it"),
      data.runs.length === 0 ? h("p", { class: "faint" }, "none yet") : table("the newest runs",
        [{ title: "run", name: true }, { title: "recipe" }, { title: "state" }, { title: "made" }],
        data.runs.map((run) => ({ key: run.id, cells: [h("a", { href: "#/run/" + run.id }, run.id), run.recipe, stateWord(run.state),
          h("time", { datetime: run.created, title: clock(run.created) }, ago(run.created))] }))),
      h("h2", {}, "In the terminal"), command(data.command), command("sabath show " + one.name)));
  }, fail));
}
