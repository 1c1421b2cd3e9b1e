#!/usr/bin/env bash
# install.sh BUILD_FOLDER [COMPILER_FLAGS]: what `cmake --install` puts into an empty prefix works there: the program finds what is
# shipped with it, the man page and the completions are its own, and another project builds with find_package(sabath).
set -euo pipefail
build=$1
flags=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
fail() { echo "install: $*" >&2; exit 1; }
must() { "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "'$*' failed"; }; }

must cmake --install "$build" --prefix "$prefix"
sabath=$prefix/bin/sabath
export SABATH_HOME=$work/home
version=$("$sabath" --version)
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

must cmake -S "$here/consumer" -B "$work/consumer" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" "-DCMAKE_CXX_FLAGS=$flags"
must cmake --build "$work/consumer"
"$work/consumer/consumer" "$work" >"$work/out" || { cat "$work/out" >&2; fail "the consumer failed"; }
grep -qx "${version##* }" "$work/out" || fail "the library is of another version than the program: $(cat "$work/out")"
grep -qx 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' "$work/out" || fail "a digest is wrong"
grep -q "none.h5: " "$work/out" || fail "what the library throws does not arrive"
