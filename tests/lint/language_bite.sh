#!/usr/bin/env bash
# The check of language finds a seeded violation of each kind.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# bites FILE TEXT: the text, in a file of this name, is a violation that holds the given words.
bites() {
  mkdir -p "$work/$(dirname "$1")"
  cat >"$work/$1"
  (cd "$work" && "$root/tests/lint/language.py" --show "$1") >"$work/out"
  grep -qF -- "$2" "$work/out" || { cat "$work/out" >&2; echo "language: a seeded violation was not found: $2" >&2; failed=1; }
}
many() { printf 'word %.0s' $(seq "$1"); }
bites docs/seeded.md "sentence: a sentence of 31 words" <<<"$(many 31)."
bites docs/seeded.md "paragraph: a paragraph of 7 lines" < <(for n in 1 2 3 4 5 6 7; do echo "Line $n."; done)
bites docs/seeded.md "column: a line of 161 characters" <<<"$(printf 'x%.0s' $(seq 161))"
bites docs/seeded.md "word: 'told'" <<<"The user is told."
bites docs/verified.md "length: 101 lines" < <(for n in $(seq 101); do echo; done)
bites docs/commands/seeded.md "page: does not begin with examples" <<<"# seeded"
bites docs/commands/seeded.md "page: does not end with '## Exit status'" <<<"# seeded"
bites src/seeded.cpp "message: a sentence of 31 words" <<<"auto x = \"$(many 16)\"
  \"$(many 15)\";"
bites src/seeded.cpp "comment: a sentence of 31 words" <<<"// $(many 15)
// $(many 16)"
bites src/seeded.cpp "word: 'goes on' in a message" <<<'throw Error("the run in the folder goes on");'
bites include/seeded.hpp "term: 'SchedulerDesk'" <<<'class SchedulerDesk;'
# The whole check refuses a tree with one violation, and accepts it without.
mkdir -p "$work/tree/docs" "$work/tree/src" "$work/tree/include"
for n in $(seq 100); do echo "// A comment." >"$work/tree/src/$n.cpp"; done
for n in $(seq 10); do echo "A page." | tee "$work/tree/README.md" >"$work/tree/docs/$n.md"; done
"$root/tests/lint/language.py" "$work/tree" >/dev/null || { echo "language: a tree without a violation was refused" >&2; failed=1; }
echo "// The user is told." >"$work/tree/src/1.cpp"
if "$root/tests/lint/language.py" "$work/tree" >/dev/null 2>&1; then echo "language: a tree with a violation was accepted" >&2; failed=1; fi
[ $failed = 0 ] && echo "language: eleven seeded violations were found"
exit $failed
