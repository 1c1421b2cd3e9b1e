#!/usr/bin/env bash
# The check of links finds a missing file, a missing heading and a way out of the tree, and nothing in code.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/links.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/docs" "$work/recipes"
echo "# Top" >"$work/README.md"
for n in $(seq 100); do printf '# Page %s\n\n## One, two\n' "$n" >"$work/docs/$n.md"; done
printf '[a](2.md#one-two) [b](#one-two) `[c](none.md)`\n\n```\n[d](none.md)\n```\n' >>"$work/docs/1.md"
"$check" "$work" >/dev/null
for dead in none.md 2.md#three '#three' ../../etc/passwd; do
  cp "$work/docs/1.md" "$work/kept"
  echo "[x]($dead)" >>"$work/docs/1.md"
  ! "$check" "$work" >/dev/null 2>"$work/out" || { echo "links: $dead is accepted" >&2; exit 1; }
  grep -qF "docs/1.md: $dead" "$work/out"
  mv "$work/kept" "$work/docs/1.md"
done
