#!/usr/bin/env bash
# The test of pages refuses a wrong line, a line too many or too few, a wrong number and a failure that the page does not show.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../integration" && pwd)/page_commands.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
# page: standard input in a code block.
page() { { echo '```'; cat; echo '```'; } >"$work/page.md"; "$check" /bin/true "$work" page.md >"$work/out"; }
good() { page || { cat "$work/out" >&2; failed=1; }; }
bad() { ! page || { echo "pages: this was accepted:" >&2; cat "$work/page.md" >&2; failed=1; }; }
good < <(printf '$ echo hello\nhello\n$ printf "a 1\\\\nb 2\\\\n"\na 1\n...\n$ false\n$ echo $?\n1\n')
good < <(printf '$ echo run-20261128-030715-ejgoivsj took 3 s, 0.10910416518741037\nrun-20261127-030715-abcdefgh took 4.2 s, 0.109104165\n')
good < <(printf '$ mkdir a; cd a\n$ pwd\n~/a\n')
good < <(printf '$ echo it is a-20261128-030715-ejgoivsj\nit is b-20261128-030715-ejgoivsj\n$ test b-20261128-030715-ejgoivsj = a-20261128-030715-$(echo ejgoivsj)\n')
bad < <(printf '$ echo hello\nbye\n')
bad < <(printf '$ echo hello\nhello\nhello\n')
bad < <(printf '$ printf "hello\\\\nhello\\\\n"\nhello\n')
bad < <(printf '$ echo 0.191391\n0.191392\n')
bad < <(printf '$ echo 0.10910416518741037\n0.1091051651874\n')
bad < <(printf '$ echo hello\n')
bad < <(printf '$ false\n')
bad < <(printf '$ false\n$ echo $?\n2\n')
bad < <(printf 'no command\n')
exit $failed
