#!/usr/bin/env bash
# pre_commit.sh SABATH SOURCE: the hooks of .pre-commit-hooks.yaml in pre-commit itself, in a repository that is made here.
# Needs PyPI (or the index of the user's pip); without it exits 77.
set -euo pipefail
sabath=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pre-commit || { echo "pre_commit: cannot be had: skipped"; exit 77; }
mkdir "$work/bin" "$work/tmp"
ln -s "$sabath" "$work/bin/sabath"
export PATH=$work/bin:$work/venv/bin:$PATH HOME=$work TMPDIR=$work/tmp PRE_COMMIT_HOME=$work/cache SABATH_HOME=$work/home GIT_CONFIG_NOSYSTEM=1
git config --global user.name Ada
git config --global user.email ada@localhost
git config --global init.defaultBranch main
git config --global protocol.file.allow always

# The repository of the hooks: what a clone of sabath has of them.
mkdir -p "$work/hooks/src/ci/pre-commit"
cp "$source/.pre-commit-hooks.yaml" "$work/hooks"
cp "$source/src/ci/pre-commit/locks.sh" "$work/hooks/src/ci/pre-commit"
git -C "$work/hooks" init --quiet
git -C "$work/hooks" add .
git -C "$work/hooks" commit --quiet -m "hooks"

mkdir "$work/mine"
cd "$work/mine"
git init --quiet
cat >.pre-commit-config.yaml <<END
repos:
  - repo: file://$work/hooks
    rev: $(git -C "$work/hooks" rev-parse HEAD)
    hooks: [{id: sabath-recipes}, {id: sabath-locks}, {id: sabath-baselines}]
END
pre-commit validate-config
pre-commit validate-manifest "$source/.pre-commit-hooks.yaml"
pre-commit install >/dev/null

# commits HOOK...: the commit is made. refuses HOOK TEXT: this hook refuses it, with a message like the text.
commits() {
  git add -A
  git commit -m "a change" >"$work/out" 2>&1 || { echo "pre_commit: refused:" >&2; cat "$work/out" >&2; exit 1; }
  for hook; do
    grep -qE "^$hook\.+Passed" "$work/out" || { echo "pre_commit: '$hook' was not run:" >&2; cat "$work/out" >&2; exit 1; }
  done
}
refuses() {
  git add -A
  if git commit -m "a change" >"$work/out" 2>&1; then echo "pre_commit: '$1' was passed" >&2; exit 1; fi
  if ! grep -qE "^$1\.+Failed" "$work/out" || ! grep -q -- "$2" "$work/out"; then
    echo "pre_commit: '$1' does not say '$2':" >&2
    cat "$work/out" >&2
    exit 1
  fi
  git reset --quiet
}
recipes="recipes of sabath are valid" locks="locks of sabath are current" baselines="baselines of sabath are valid and accepted"

mkdir -p "recipes/digits"
cp "$source/recipes/digits/recipe.json" "$source/recipes/digits/environment.lock.json" recipes/digits
commits "$recipes" "$locks"
sed -i 's/numpy>=2,<3/numpy>=2.1,<3/' recipes/digits/recipe.json
refuses "$locks" "is out of date"
sed -i 's/"stages"/"stagse"/' recipes/digits/recipe.json
refuses "$recipes" "stagse"
git checkout --quiet recipes/digits

mkdir -p "recipes/my tiny"
cat >"recipes/my tiny/recipe.json" <<'END'
{"schema": 1, "name": "tiny", "environment": {"layers": []}, "deterministic": true,
 "stages": [{"name": "go", "run": {"shell": "echo '{{\"step\": 1, \"loss\": 1}}' >> $SABATH_METRICS"}}],
 "metrics": {"loss": {"unit": "1", "better": "lower"}}}
END
commits "$recipes" "$locks"
sabath run "recipes/my tiny" --seed 1 --tag good >/dev/null
sabath baseline propose tag=good -o "recipes/my tiny/baseline.json" >/dev/null
refuses "$baselines" "nobody accepted"

sabath baseline accept "recipes/my tiny/baseline.json" --by ada >/dev/null
commits "$baselines"
sed -i 's/"mean": 1/"mean": 2/' "recipes/my tiny/baseline.json"
refuses "$baselines" "invalid"
echo "the hooks pass what is right and refuse what is not"
