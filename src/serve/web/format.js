// Numbers and times as people read them.

export function number(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e7) return String(Number(value.toPrecision(6)));
  return value.toExponential(4).replace(/\.?0+e/, "e");
}

export function bytes(value) {
  if (value === undefined || value === null) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (value >= 1024 && i + 1 < units.length) {
    value /= 1024;
    i += 1;
  }
  return (i === 0 ? value : value.toFixed(value < 10 ? 1 : 0)) + " " + units[i];
}

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 1) return Math.round(seconds * 1000) + " ms";
  if (seconds < 60) return seconds.toFixed(seconds < 10 ? 1 : 0) + " s";
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes + " min " + String(Math.floor(seconds % 60)).padStart(2, "0") + " s";
  return Math.floor(minutes / 60) + " h " + String(minutes % 60).padStart(2, "0") + " min";
}

export function ago(time) {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return "";
  return duration(Math.max(0, (Date.now() - then) / 1000)) + " ago";
}

export function clock(time) {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return "";
  return then.toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

export function value(json) {
  return json === "NaN" ? NaN : json === "Infinity" ? Infinity : json === "-Infinity" ? -Infinity : json;
}

export function count(n, noun) {
  return n + " " + noun + (n === 1 ? "" : "s");
}
