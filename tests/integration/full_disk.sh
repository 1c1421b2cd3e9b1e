#!/usr/bin/env bash
# full_disk.sh SABATH: the disk is full while an environment is built: told as that, nothing is left, and it goes on when there is
# room. Needs root, for a small file system of its own; else it says so and tests nothing.
set -euo pipefail
sabath=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ "${2:-}" != inside ]; then
  unshare -m true 2>/dev/null || { echo "full_disk: no mount namespace may be made here: not tested"; exit 77; }
  exec unshare -m "$0" "$sabath" inside
fi
work=$(mktemp -d)
trap 'umount "$work/cache"; chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir "$work/cache" "$work/index"
mount -t tmpfs -o size=4m,mode=0755 none "$work/cache"
export SABATH_HOME=$work/home SABATH_CONFIG=$work/config SABATH_CACHE=$work/cache PIP_NO_INDEX=1 PIP_FIND_LINKS=$work/index
mkdir -p "$work/home/recipes/large"
python3 -c 'print("text = \"" + "0" * 6_000_000 + "\"")' >"$work/code"
(cd "$work" && python3 - "$here/../support/packages/make_package.py" <<'P'
import runpy, sys
script = sys.argv[1]
sys.argv = [script, "index", "large", "1.0", "--code", open("code").read()]
runpy.run_path(script, run_name="__main__")
P
)
cat >"$work/home/recipes/large/recipe.json" <<'R'
{"schema": 1, "name": "large", "environment": {"layers": [{"kind": "pip", "name": "python", "requirements": ["large"]}]},
 "stages": [{"name": "one", "run": ["true"]}]}
R
"$sabath" env lock large

# refuses WORDS...: that they find no room, and leave nothing.
refuses() {
  local status=0
  "$sabath" "$@" 2>"$work/errors" || status=$?
  cat "$work/errors"
  [ $status = 16 ] || { echo "full_disk: $*: exit status $status"; exit 1; }
  grep -q 'No space left on device' "$work/errors"
  [ -z "$(find "$work/cache/envs" -name prefix)" ] || { echo "full_disk: an attempt was left"; exit 1; }
  [ -z "$(find "$work/cache/envs" -name '.request*')" ] || { echo "full_disk: the folder of a request was left"; exit 1; }
}
refuses env build large
refuses env fetch large
mkdir -p "$work/code.git" "$work/home/recipes/code"
(cd "$work/code.git" && git init -q -b main && head -c 6000000 /dev/urandom >data && git add data &&
  git -c user.name=x -c user.email=x@x commit -qm x)
cat >"$work/home/recipes/code/recipe.json" <<R
{"schema": 1, "name": "code", "environment": {"layers": [
 {"kind": "source", "name": "code", "git": "file://$work/code.git", "ref": "main", "build": "make"}]},
 "stages": [{"name": "one", "run": ["true"]}]}
R
refuses env lock code
mount -o remount,size=1g "$work/cache"
"$sabath" env build large
"$sabath" env exec large -- python -c 'import large; print(len(large.text))' | grep 6000000
