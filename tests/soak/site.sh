#!/usr/bin/env bash
# site.sh SABATH SOURCE [PICTURES]: the site is made, a dead link and a dead anchor fail it, and Chromium shows it without a network.
# Needs the package index and Chromium. Writes pictures of pages to PICTURES, to be looked at.
set -euo pipefail
sabath=$(realpath "$1") source=$(realpath "$2") here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=${3:-$work/pictures}
export NO_MKDOCS_2_WARNING=1
python3 -m venv "$work/venv"
"$work/venv/bin/pip" --quiet --disable-pip-version-check install --no-deps -r "$source/docs/site/requirements.txt" || exit 77
"$work/venv/bin/pip" --quiet --disable-pip-version-check install playwright==1.49.1 || exit 77
make_site() { "$work/venv/bin/mkdocs" build -f "$work/pages/mkdocs.yml" -d "$1"; }

python3 "$source/docs/site/pages.py" "$sabath" "$source" "$work/pages"
make_site "$work/site"
for dead in '[a](nowhere.md)' '[b](tutorial.md#nowhere)'; do
  cp "$work/pages/pages/glossary.md" "$work/kept"
  printf '\n%s\n' "$dead" >>"$work/pages/pages/glossary.md"
  ! make_site "$work/dead" 2>"$work/out" || { echo "site: $dead is accepted" >&2; exit 1; }
  grep -q nowhere "$work/out"
  cp "$work/kept" "$work/pages/pages/glossary.md"
done
command -v chromium >/dev/null || { echo "site: there is no Chromium" >&2; exit 77; }
"$work/venv/bin/python" "$here/site.py" "$work/site" "$pictures"
