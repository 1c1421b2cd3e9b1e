// The frame of the view: which page is shown, the state of the connection, keys.

import { ApiError, begin, isPaused, setPaused, watchState } from "./api.js";
import { h, visible } from "./dom.js";
import { now } from "./pages/now.js";
import { run } from "./pages/run.js";
import { compare } from "./pages/compare.js";
import { studies, study } from "./pages/study.js";
import { runs } from "./pages/runs.js";
import { asset, assets } from "./pages/assets.js";
import { baselines } from "./pages/baselines.js";

const PAGES = [
  ["", "Now", now],
  ["runs", "Runs", runs],
  ["studies", "Studies", studies],
  ["assets", "Assets", assets],
  ["baselines", "Baselines", baselines],
  ["run", null, run],
  ["study", null, study],
  ["asset", null, asset],
  ["compare", null, compare],
];

const main = document.getElementById("main");
const notices = document.getElementById("notices");
const fresh = document.getElementById("fresh");
const pause = document.getElementById("pause");
let ends = [];
let announced = 0;
let last = { state: "", at: 0 };

export function address() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { words: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query || "") };
}

// State changes are said once in five seconds at most.
function announce(text) {
  if (Date.now() - announced < 5000) return;
  announced = Date.now();
  notices.replaceChildren(h("p", {}, text));
}

function show(error) {
  const hint = error.hint ? h("p", { class: "faint" }, error.hint) : null;
  main.replaceChildren(h("div", { class: "problem" }, h("h1", {}, "This cannot be shown"), h("p", {}, error.message), hint));
}

function open() {
  for (const end of ends) end();
  ends = [];
  const { words, query } = address();
  const page = PAGES.find(([name]) => name === (words[0] || "")) || PAGES[0];
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.page === page[0]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(h("p", { class: "faint" }, "Loading …"));
  document.title = "sabath: " + visible(page[1] || words.slice(1).join(" "));
  page[2]({
    main,
    words,
    query,
    announce,
    fail: (error) => {
      if (error instanceof ApiError) show(error);
      else throw error;
    },
    atEnd: (call) => ends.push(call),
    // Another state of the same page, in the address.
    setQuery: (changes) => {
      for (const [name, value] of Object.entries(changes)) {
        if (value) query.set(name, value);
        else query.delete(name);
      }
      const text = query.toString();
      history.replaceState(null, "", "#/" + words.map(encodeURIComponent).join("/") + (text ? "?" + text : ""));
    },
    go: (to) => { location.hash = to; },
  });
}

function showFresh() {
  const seconds = Math.round((Date.now() - last.at) / 1000);
  if (isPaused()) fresh.textContent = "paused";
  else if (last.state === "gone") fresh.textContent = "the server is gone; asking again";
  else if (last.state === "refused") fresh.textContent = "the address is of an earlier server: open the new one";
  else if (last.state) fresh.textContent = seconds < 2 ? "up to date" : `updated ${seconds} s ago`;
  document.body.classList.toggle("is-stale", last.state === "gone" || last.state === "refused");
}

function help() {
  const box = h("dialog", { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h("dl", {}, [["/", "search"], ["j, k", "next and previous row"], ["Enter", "open the row"], ["p", "pause"], ["?", "this list"]]
      .map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

function move(step) {
  const rows = [...main.querySelectorAll("tr[data-row]")];
  if (rows.length === 0) return;
  const at = rows.indexOf(document.activeElement.closest ? document.activeElement.closest("tr[data-row]") : null);
  const row = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  const link = row.querySelector("a");
  if (link) link.focus();
}

function togglePause() {
  setPaused(!isPaused());
  pause.setAttribute("aria-pressed", String(isPaused()));
  pause.textContent = isPaused() ? "Go on" : "Pause";
  document.body.classList.toggle("is-paused", isPaused());
  showFresh();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.nodeName)) return;
  const search = main.querySelector("input[type=search]");
  if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  } else if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
  else if (event.key === "p") togglePause();
  else if (event.key === "?") help();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest ? event.target.closest("button[data-copy]") : null;
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } catch {
    button.textContent = "Select it";
  }
});

document.getElementById("skip").addEventListener("click", () => main.focus());
pause.addEventListener("click", togglePause);
document.getElementById("nav").append(h("ul", {}, PAGES.filter(([, title]) => title).map(([name, title]) =>
  h("li", {}, h("a", { href: "#/" + name, "data-page": name }, title)))));
watchState((state, at) => {
  if (state !== last.state && state !== "fresh") announce(state === "gone" ? "The server is gone." : "The server refuses this address.");
  last = { state, at: state === "fresh" ? at : last.at };
  showFresh();
});
setInterval(showFresh, 1000);
function start() {
  begin().then(open, (error) => {
    last = { state: "refused", at: Date.now() };
    show(error);
  });
}

// A new address in the same tab has the token of another server.
addEventListener("hashchange", start);
start();
