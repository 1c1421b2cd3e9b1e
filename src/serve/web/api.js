// Asks the server: a token in a header, short polls with a version, nothing kept open.

const TOKEN = "sabath-token";
let paused = false;
let onState = () => {};

export class ApiError extends Error {
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint || "";
  }
}

export function setPaused(value) {
  paused = value;
}

export function isPaused() {
  return paused;
}

// Is called with "fresh", "gone" or "refused", and the time of the last answer.
export function watchState(call) {
  onState = call;
}

async function ask(path, authorization) {
  let response;
  try {
    response = await fetch("api/" + path, { headers: { Authorization: authorization }, cache: "no-store" });
  } catch {
    throw new ApiError(0, "the server cannot be reached", "");
  }
  let data;
  try {
    data = await response.json();
  } catch {
    throw new ApiError(response.status, "the answer cannot be read", "");
  }
  if (!response.ok) {
    const error = data.error || {};
    throw new ApiError(response.status, error.message || "refused", error.hint);
  }
  return data;
}

// Takes the token, or the code that is exchanged for it, out of the address.
export async function begin() {
  const found = /^#([tc])=([0-9a-f]+)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + "#/");
  if (found[1] === "t") {
    sessionStorage.setItem(TOKEN, found[2]);
    return;
  }
  const { token } = await ask("session", "Code " + found[2]);
  sessionStorage.setItem(TOKEN, token);
}

export function get(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return ask(path + (text ? "?" + text : ""), "Bearer " + (sessionStorage.getItem(TOKEN) || ""));
}

// Calls `ask` again and again until the returned function is called; it returns when to ask next.
// The method `soon` of that function asks at once, for what a reader has just typed or pressed.
// A hidden tab and a paused view ask nothing else.
export function repeat(again, onError) {
  let stopped = false;
  let wanted = true;
  let wake = () => {};
  const sleep = (ms) => new Promise((done) => {
    wake = done;
    setTimeout(done, wanted ? 0 : ms);
  });
  (async () => {
    let failures = 0;
    while (!stopped) {
      if (!document.hidden && !paused || failures > 0 || wanted) {
        let wait = 1000;
        wanted = false;
        try {
          wait = await again(() => stopped);
          failures = 0;
          if (!stopped) onState("fresh", Date.now());
        } catch (error) {
          if (stopped) return;
          failures += 1;
          const waits = error instanceof ApiError && error.status === 503;
          if (error instanceof ApiError && (error.status === 0 || error.status === 401))
            onState(error.status === 0 ? "gone" : "refused", Date.now());
          else if (!waits) onError(error);
          wait = waits ? 1000 : Math.min(5000 * failures, 20000);
        }
        await sleep(Math.max(200, wait));
      } else {
        await sleep(250);
      }
    }
  })();
  const soon = () => {
    wanted = true;
    wake();
  };
  return Object.assign(() => { stopped = true; }, { soon });
}

// Polls an answer that has versions; calls `show` with each new one.
export function poll(path, parameters, show, onError) {
  let since = 0;
  return repeat(async (isStopped) => {
    const answer = await get(path, { ...parameters, since });
    if (isStopped()) return 0;
    since = answer.version;
    if ("data" in answer) show(answer.data);
    return answer.next_ms;
  }, onError);
}
