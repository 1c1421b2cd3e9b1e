#!/usr/bin/env bash
# crate_story.sh SABATH [all]: one user exports a run, another repeats it on "another machine": a network of its own, without the first one's files.
# Needs root for namespaces; exits 77 without.
set -euo pipefail
sabath=$(realpath "$1")
unshare -n -m true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/author/www" "$root/reader" "$root/recipe"
say() { printf '\n-- %s\n' "$*"; }
fail() { echo "FAIL $*" >&2; exit 1; }

# A data set that a mirror serves: on the loopback of each "machine".
printf '1 2 3\n' >"$root/author/www/numbers.txt"
cp -r "$root/author/www" "$root/mirror"
digest=$(sha256sum <"$root/mirror/numbers.txt" | cut -d' ' -f1)
port=8917
cat >"$root/recipe/recipe.json" <<JSON
{"schema": 1, "name": "summed", "x-license": "MIT", "datasets": {"data": "numbers"},
 "stages": [{"name": "sum", "outputs": ["sum.txt"], "run": {"shell": "read a b c < {dataset.data}/numbers.txt; echo \$((a+b+c)) > {output}/sum.txt"}}]}
JSON
mkdir -p "$root/author/home/assets"
cat >"$root/author/home/assets/numbers.json" <<JSON
{"schema": 1, "kind": "dataset", "name": "numbers", "files": [{"path": "numbers.txt", "digest": {"sha256": "$digest"}, "sources": ["http://127.0.0.1:$port/numbers.txt"]}]}
JSON
serve() { ip link set lo up; (cd "$1" && exec python3 -m http.server "$port" --bind 127.0.0.1 >/dev/null 2>&1) & server=$!; for _ in $(seq 50); do (: </dev/tcp/127.0.0.1/$port) 2>/dev/null && return; sleep 0.1; done; fail "the mirror does not answer"; }
export -f serve fail
export sabath root port

say "the author runs and exports"
unshare -n bash -euc 'serve "$root/author/www"; export SABATH_HOME=$root/author/home
  "$sabath" run "$root/recipe" --seed 1; "$sabath" export @last -o "$root/r.crate.zip" --with-code; kill $server'

# machine FOLDER COMMAND...: another machine, which serves this folder and has none of the author's files.
machine() {
  www=$1 unshare -n -m bash -euc 'mount -t tmpfs none "$root/author"; mount -t tmpfs none "$root/recipe"
    serve "$www"; export SABATH_HOME=$root/reader/home; status=0; "$@" || status=$?; kill $server; exit $status' machine "${@:2}"
}
export www
trust=$(SABATH_HOME=$root/other "$sabath" import "$root/r.crate.zip" --json | sed -n 's/.*"digest": "\(.*\)".*/\1/p')

say "nobody trusts it yet: 17"
status=0; machine "$root/mirror" "$sabath" repro "$root/r.crate.zip" </dev/null || status=$?
[ $status = 17 ] || fail "status $status, expected 17"

say "it is repeated, equal to the bit: 0"
machine "$root/mirror" "$sabath" repro "$root/r.crate.zip" --trust "$trust" --require bitwise

say "a byte of the input is another: 11"
rm -rf "$root/reader"; mkdir "$root/reader"; cp -r "$root/mirror" "$root/changed"; printf '1 2 4\n' >"$root/changed/numbers.txt"
status=0; machine "$root/changed" "$sabath" repro "$root/r.crate.zip" --trust "$trust" || status=$?
[ $status = 11 ] || fail "status $status, expected 11"

say "no source has the input any more: 12, with its name"
rm -rf "$root/reader"; mkdir -p "$root/reader" "$root/empty"
status=0; machine "$root/empty" "$sabath" repro "$root/r.crate.zip" --trust "$trust" 2>"$root/errors" || status=$?
cat "$root/errors"
[ $status = 12 ] || [ $status = 10 ] || fail "status $status, expected 12 or 10"
grep -q "numbers" "$root/errors" || fail "the message does not name the input"

say "the author's program was compiled with other flags than its lock has: equal within the tolerance, not to the bit"
mkdir -p "$root/sum/code"
cat >"$root/sum/code/sum.c" <<'C'
#include <stdio.h>
int main(void) {
  volatile int given = 100000;
  int most = given;
  float sum = 0;
  for (int i = 1; i <= most; i++) sum += 1.0f / (float)i;
  printf("{\"sum\": %.9g}\n", sum);
}
C
printf 'FLAGS = -O2\nsum: sum.c\n\t$(CC) $(FLAGS) -o $@ $<\ninstall: sum\n\tinstall -D sum $(PREFIX)/bin/sum\n' >"$root/sum/code/Makefile"
cat >"$root/sum/recipe.json" <<'JSON'
{"schema": 1, "name": "harmonic", "x-license": "MIT",
 "environment": {"layers": [{"kind": "source", "path": "{recipe}/code", "build": "make", "languages": ["c"]}]},
 "metrics": {"sum": {"from": "jsonl", "better": "none", "tolerance": {"relative": 1e-2}}},
 "stages": [{"name": "add", "run": {"shell": "{env}/bin/sum >> $SABATH_METRICS"}}]}
JSON
export SABATH_HOME=$root/author/home
"$sabath" env lock "$root/sum" >/dev/null
"$sabath" run "$root/sum" --seed 1
built=$(find "$root/author" -path '*/bin/sum' -perm /100 | head -1)
[ -n "$built" ] || fail "the built program was not found"
chmod -R u+w "$(dirname "$built")"
gcc -O3 -march=native -ffast-math -o "$built" "$root/sum/code/sum.c"
"$sabath" run "$root/sum" --seed 1
"$sabath" export @last -o "$root/f.crate.zip" --with-code
trust=$(SABATH_HOME=$root/other "$sabath" import "$root/f.crate.zip" --json | sed -n 's/.*"digest": "\(.*\)".*/\1/p')
export SABATH_HOME=$root/reader/home
machine "$root/empty" "$sabath" repro "$root/f.crate.zip" --trust "$trust"
status=0; machine "$root/empty" "$sabath" repro "$root/f.crate.zip" --trust "$trust" --require bitwise || status=$?
[ $status = 1 ] || fail "status $status, expected 1"

[ "${2:-}" = all ] || { echo "crate story: all right"; exit 0; }
say "supercell: compiled by its author, compiled again by its reader: 0"
SABATH_HOME=$root/author/home "$sabath" run supercell --seed 1
SABATH_HOME=$root/author/home "$sabath" export @last -o "$root/s.crate.zip" --with-code
trust=$(SABATH_HOME=$root/other "$sabath" import "$root/s.crate.zip" --json | sed -n 's/.*"digest": "\(.*\)".*/\1/p')
machine "$root/empty" "$sabath" repro "$root/s.crate.zip" --trust "$trust"

say "digits: the reader installs the locked packages from the package index, without the author's files: 0"
SABATH_HOME=$root/author/home "$sabath" run digits --seed 1
SABATH_HOME=$root/author/home "$sabath" export @last -o "$root/d.crate.zip" --with-code
trust=$(SABATH_HOME=$root/other "$sabath" import "$root/d.crate.zip" --json | sed -n 's/.*"digest": "\(.*\)".*/\1/p')
unshare -m bash -euc 'mount -t tmpfs none "$root/author"; mount -t tmpfs none "$HOME"; SABATH_HOME=$root/reader/home "$@"' machine \
  "$sabath" repro "$root/d.crate.zip" --trust "$trust" --require bitwise
echo "crate story: all right"
