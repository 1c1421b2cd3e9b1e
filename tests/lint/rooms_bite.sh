#!/usr/bin/env bash
# The check of rooms finds a seeded violation of each kind, and passes without one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests"
fresh() {
  rm -rf "$work/src" "$work/include"
  cp -r "$root/src" "$root/include" "$work/"
}
check() { "$root/tests/lint/rooms.py" "$work" >"$work/out" 2>&1; }
fresh
check || { cat "$work/out" >&2; echo "rooms: the tree itself is refused" >&2; exit 1; }
failed=0
# bites NAME TEXT: the check must fail now, and print TEXT.
bites() {
  if check; then
    echo "rooms: a seeded violation was not found: $1" >&2
    failed=1
  elif ! grep -qF -- "$2" "$work/out"; then
    cat "$work/out" >&2
    echo "rooms: the message does not name the violation: $1" >&2
    failed=1
  fi
  fresh
}
for n in $(seq 41); do : >"$work/src/home/seeded_$n.cpp"; done
bites "a folder of too many sources" "src/home: "
printf '// line\n%.0s' $(seq 501) >"$work/src/home/seeded.cpp"
bites "a long source" "src/home/seeded.cpp: 501 lines"
for n in $(seq 25); do printf '// line\n%.0s' $(seq 499) >"$work/src/collect/seeded_$n.cpp"; done
bites "a large module" "module collect: "
{ echo 'class Seeded {'; printf '  int x;\n%.0s' $(seq 300); echo '};'; } >"$work/src/home/seeded.hpp"
bites "a large class" "class home/Seeded: 302 lines"
{ echo 'class Seeded {'; printf '  int x;\n%.0s' $(seq 200); echo '};'; } >"$work/src/home/seeded.hpp"
{ echo 'void Seeded::work() {'; printf '  x();\n%.0s' $(seq 120); echo '}'; } >"$work/src/home/seeded.cpp"
bites "a class with long members" "class home/Seeded: 324 lines"
echo '#include "seeded_b.hpp"' >"$work/src/home/seeded_a.hpp"
echo '#include "seeded_a.hpp"' >"$work/src/home/seeded_b.cpp"
: >"$work/src/home/seeded_b.hpp"
bites "a loop of nouns" "loop home: seeded_a seeded_b"
[ $failed = 0 ] && echo "rooms: six seeded violations were found"
exit $failed
