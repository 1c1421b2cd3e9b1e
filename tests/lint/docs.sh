#!/usr/bin/env bash
# docs.sh SABATH: every command has a page, every option of a command stands in its page, and every option in a page exists.
set -euo pipefail
sabath=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0
complain() { echo "docs: $*" >&2; failed=1; }

options_of() { grep -oE '(^|[^[:alnum:]-])--[a-z][a-z0-9-]*' | grep -oE -- '--.*' | sort -u; }
commands_of() { "$sabath" "$@" --help | sed -n '/^Subcommands:/,$p' | awk '/^  [a-z]/ {print $1}'; }

global=$(options_of <docs/commands/global-options.md)
mapfile -t commands < <(commands_of)
[ ${#commands[@]} -ge 10 ] || complain "only ${#commands[@]} commands"
for command in "${commands[@]}"; do
  page=docs/commands/$command.md
  [ -f "$page" ] || { complain "$command has no page"; continue; }
  mapfile -t subs < <(commands_of "$command")
  help=$("$sabath" "$command" --help; for sub in "${subs[@]}"; do "$sabath" "$command" "$sub" --help; done)
  for option in $(options_of <<<"$help"); do
    grep -qF -- "$option" "$page" || grep -qxF -- "$option" <<<"$global" || complain "$page does not name $option"
  done
  for option in $(options_of <"$page"); do
    grep -qxF -- "$option" <<<"$(options_of <<<"$help")" || grep -qxF -- "$option" <<<"$global" ||
      complain "$page names $option, which 'sabath $command' does not have"
  done
  for sub in "${subs[@]}"; do
    grep -qF "sabath $command $sub" "$page" || complain "$page does not show 'sabath $command $sub'"
  done
  [ "$("$sabath" help "$command")" = "$(cat "$page")" ] || complain "'sabath help $command' is not $page"
done
for page in docs/how-to/[a-z]*.md docs/explanation/*.md docs/tutorial.md; do
  topic=$(basename "$page" .md)
  [ "$("$sabath" help "$topic")" = "$(cat "$page")" ] || complain "'sabath help $topic' is not $page"
done
for page in docs/*.md; do
  grep -qF "\"$(basename "$page")\"" docs/site/pages.py || complain "$page stands nowhere in docs/site/pages.py"
done
# A page of a topic names only options that some command has.
known=$(cat docs/commands/*.md | options_of)
for page in docs/how-to/*.md docs/explanation/*.md docs/tutorial.md docs/supercell.md; do
  for option in $(sed -n 's/.*\(sabath .*\)/\1/p' "$page" | options_of); do
    grep -qxF -- "$option" <<<"$known" || complain "$page names $option, which no command has"
  done
done
for option in $(options_of < <("$sabath" --help)); do
  grep -qxF -- "$option" <<<"$global" || complain "docs/commands/global-options.md does not name $option"
done
[ $failed = 0 ] && echo "docs: ${#commands[@]} commands are documented"
exit $failed
