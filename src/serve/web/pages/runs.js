// A table of runs, with the selections of the command line.

import { get, repeat } from "../api.js";
import { command, h, patch, stateWord, table } from "../dom.js";
import { ago, clock, duration, number, value } from "../format.js";

const FACETS = { recipe: "Recipe", status: "State", host: "Host", user: "User", tag: "Tag" };

function quoted(text) {
  return /^[A-Za-z0-9_.:-]+$/.test(text) ? text : `"${text.replace(/"/g, '""')}"`;
}

function csvOf(data) {
  const field = (text) => {
    const safe = /^[=+@\t-]/.test(text) && !/^-?[\d.]/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  const keys = Object.keys(data.titles);
  const rows = [["run", "recipe", "state", "created", "wall_s", "seed", "node", "tags", ...keys]];
  for (const one of data.runs) {
    rows.push([one.id, one.recipe, one.state, one.created, String(one.wall_s), one.seed, one.node, one.tags.join(" "),
      ...keys.map((key) => one.columns && one.columns[key] !== null && one.columns[key] !== undefined ? String(one.columns[key]) : "")]);
  }
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

export function runs(page) {
  const { main, query, setQuery, atEnd, fail } = page;
  const search = h("input", { type: "search", value: query.get("select") || "", "aria-label": "Selection",
    placeholder: "recipe=supercell,loss<0.3", autocomplete: "off", spellcheck: "false", class: "wide" });
  const columns = h("input", { value: query.get("columns") || "", "aria-label": "Columns", placeholder: "columns: lr, best.loss", autocomplete: "off" });
  const sort = h("input", { value: query.get("sort") || "", "aria-label": "Sort by", placeholder: "sort: -created", autocomplete: "off" });
  const problem = h("p", { class: "notice", role: "status", hidden: true });
  const list = h("div", {});
  const facets = h("div", { class: "facets" });
  main.replaceChildren(h("h1", {}, "Runs"), h("div", { class: "row" }, search, columns, sort), problem, h("div", { class: "split" }, facets, list));
  let version = 0;  // of what the reader asks for
  let from = Number(query.get("from") || 0);
  const chosen = new Set();
  let shown = null;

  const render = () => {
    const data = shown;
    const keys = Object.keys(data.titles);
    const rows = data.runs.map((one) => ({ key: one.id, cells: [
      h("input", { type: "checkbox", "aria-label": "choose " + one.id, checked: chosen.has(one.id), onchange: (event) => {
        if (event.target.checked) chosen.add(one.id);
        else chosen.delete(one.id);
        render();
      } }),
      h("a", { href: "#/run/" + one.id }, one.id), stateWord(one.state), one.left_out ? "no: " + one.left_out : "yes",
      h("time", { datetime: one.created, title: clock(one.created) }, ago(one.created)), one.wall_s > 0 ? duration(one.wall_s) : "", one.seed, one.node, one.tags.join(", "),
      ...keys.map((key) => one.columns && one.columns[key] !== null ? typeof one.columns[key] === "string" ? one.columns[key] : number(value(one.columns[key])) : "")] }));
    const select = search.value.trim();
    const pair = [...chosen];
    const line = ["sabath list runs", select ? `'${select.replace(/'/g, "'\\''")}'` : "", columns.value ? "--columns " + columns.value : "", sort.value ? "--sort " + sort.value : ""].filter(Boolean).join(" ");
    patch(list, h("div", {},
      h("p", { class: "faint", role: "status" }, data.runs.length === 0 ? "No run matches." : `${from + 1} to ${from + data.runs.length}` + (select ? `; ${data.count.counted} of ${data.count.all} count` : "")),
      table("Runs, newest first unless sorted",
        [{ title: "" }, { title: "run", name: true }, { title: "state" }, { title: "counts" }, { title: "made" }, { title: "time", number: true }, { title: "seed", number: true }, { title: "node" }, { title: "tags" },
          ...keys.map((key) => ({ title: data.titles[key], number: true }))], rows),
      h("div", { class: "row" },
        from > 0 ? h("button", { type: "button", "data-key": "back", onclick: () => turn(-100) }, "Newer") : null,
        data.has_more ? h("button", { type: "button", "data-key": "more", onclick: () => turn(100) }, "More") : null,
        pair.length === 2 ? h("a", { class: "button", href: `#/compare?a=${pair[0]}&b=${pair[1]}` }, "Compare the two") : null,
        pair.length > 2 ? h("a", { class: "button", href: "#/compare?select=" + encodeURIComponent(pair.map((id) => "id=" + id).join(" or ")) }, `Compare the ${pair.length}`) : null,
        data.runs.length ? h("button", { type: "button", "data-key": "csv", onclick: () => {
          const link = h("a", { href: URL.createObjectURL(new Blob([csvOf(shown)], { type: "text/csv" })), download: "runs.csv" });
          link.click();
          URL.revokeObjectURL(link.href);
        } }, "Save as CSV") : null),
      command(line)));
  };

  const ask = async () => {
    const asked = version;
    const parameters = { select: search.value.trim(), columns: columns.value.trim(), sort: sort.value.trim() };
    try {
      const data = await get("runs", { ...parameters, from });
      if (asked !== version) return;
      problem.hidden = true;
      shown = data;
      render();
    } catch (error) {
      if (asked !== version) return;  // of a selection that has been changed since
      if (error.status === 0 || error.status === 401 || error.status === 503) throw error;
      problem.hidden = false;
      problem.textContent = error.message + (error.hint ? "; " + error.hint : "");
    }
  };

  const askFacets = async () => {
    const select = search.value.trim();
    let data;
    try {
      data = await get("facets", { select });
    } catch {
      return;
    }
    if (select !== search.value.trim()) return;
    patch(facets, h("div", { class: "facets" }, Object.entries(FACETS).filter(([key]) => data.facets[key].length > 0).map(([key, title]) =>
      h("details", { "data-key": "facet-" + key, open: matchMedia("(min-width: 48rem)").matches }, h("summary", {}, title), h("ul", { class: "plain" }, data.facets[key].map(([text, n]) =>
        h("li", {}, h("button", { type: "button", class: "facet", "data-key": key + "=" + text, onclick: () => {
          const term = `${key}=${quoted(text)}`;
          if (!search.value.includes(term)) search.value = search.value.trim() ? `${search.value.trim()},${term}` : term;
          changed();
        } }, text, h("span", { class: "faint" }, " " + n)))))))));
  };

  function turn(step) {
    from = Math.max(0, from + step);
    version += 1;
    setQuery({ from: from || "" });
    asking.soon();
  }

  let timer = 0;
  function changed() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      from = 0;
      version += 1;
      setQuery({ select: search.value.trim(), columns: columns.value.trim(), sort: sort.value.trim(), from: "" });
      asking.soon();
      askingFacets.soon();
    }, 120);
  }
  for (const input of [search, columns, sort]) input.addEventListener("input", changed);
  atEnd(() => clearTimeout(timer));
  const asking = repeat(async () => {
    await ask();
    return 5000;
  }, fail);
  const askingFacets = repeat(async () => {
    await askFacets();
    return 30000;
  }, fail);
  atEnd(asking);
  atEnd(askingFacets);
}

