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

man=$(find "$prefix" -name sabath.1)
[ -n "$man" ] || fail "no man page"
"$sabath" help --man | cmp -s - "$man" || fail "the man page is not the program's own"
if command -v man >/dev/null; then
  complaints=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$man" 2>&1 >"$work/page") || fail "man cannot show the page"
  [ -z "$complaints" ] || fail "man complains: $complaints"
  grep -q supercell "$work/page" || grep -qi 'sabath' "$work/page" || fail "the man page is empty"
fi
for shell in bash zsh fish; do
  case $shell in
    bash) file=$prefix/share/bash-completion/completions/sabath ;;
    zsh) file=$prefix/share/zsh/site-functions/_sabath ;;
    fish) file=$prefix/share/fish/vendor_completions.d/sabath.fish ;;
  esac
  "$sabath" completion "$shell" | cmp -s - "$file" || fail "the completion for $shell is not the program's own"
done
