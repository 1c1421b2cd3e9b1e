#!/usr/bin/env bash
# install.sh BUILD_FOLDER: what `cmake --install` puts into an empty prefix works there. The program finds what is shipped
# with it. The man page and the completions are its own.
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() { echo "install: $*" >&2; exit 1; }
must() { "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "'$*' failed"; }; }

must cmake --install "$build" --prefix "$prefix"
sabath=$prefix/bin/sabath
export SABATH_HOME=$work/home
"$sabath" --version >/dev/null
"$sabath" list recipes | grep -q '^recipe *supercell' || fail "the installed program does not find the shipped recipe"
"$sabath" list assets | grep -q supercell-bubbles || fail "the installed program does not find the shipped assets"

# What other codes compile, and nothing else of the sources.
[ "$(find "$prefix/include" -type f)" = "$prefix/include/sabath_log.h" ] || fail "the header for other codes is not the only one"
printf '#include <sabath_log.h>\nint main(void) { return sabath_log("loss", 0.5, 1); }\n' >"$work/log.c"
must cc -std=c99 -I"$prefix/include" "$work/log.c" -o "$work/log"
SABATH_METRICS=$work/metrics.jsonl "$work/log" || fail "a code cannot log"
[ "$(cat "$work/metrics.jsonl")" = '{"step": 1, "loss": 0.5}' ] || fail "the logged line is $(cat "$work/metrics.jsonl")"
[ -f "$prefix/share/sabath/fortran/sabath_log.f90" ] || fail "no source for Fortran"

man=$(find "$prefix" -name sabath.1)
[ -n "$man" ] || fail "no man page"
"$sabath" help --man | cmp -s - "$man" || fail "the man page is not the program's own"
if command -v man >/dev/null; then
  complaints=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$man" 2>&1 >"$work/page") || fail "man cannot show the page"
  [ -z "$complaints" ] || fail "man complains: $complaints"
  grep -q supercell "$work/page" || grep -qi 'sabath' "$work/page" || fail "the man page is empty"
fi
topics=$("$sabath" help | sed -n "/^Pages of/,\$s/^  \([a-z-]*\) .*/\1/p")
[ "$(wc -w <<<"$topics")" -ge 10 ] || fail "there are only these topics: $topics"
for topic in $topics; do
  page=$prefix/share/man/man7/sabath-$topic.7
  "$sabath" help "$topic" --man | cmp -s - "$page" || fail "$page is not the program's own"
  command -v man >/dev/null || continue
  complaints=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" 2>&1 >"$work/page") || fail "man cannot show $page"
  [ -z "$complaints" ] || fail "man complains of $topic: $complaints"
done
for shell in bash zsh fish; do
  case $shell in
    bash) file=$prefix/share/bash-completion/completions/sabath ;;
    zsh) file=$prefix/share/zsh/site-functions/_sabath ;;
    fish) file=$prefix/share/fish/vendor_completions.d/sabath.fish ;;
  esac
  "$sabath" completion "$shell" | cmp -s - "$file" || fail "the completion for $shell is not the program's own"
done
