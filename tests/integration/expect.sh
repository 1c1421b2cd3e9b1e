# Sourced: what the stories say of the program's answers. $work is the story's folder.

fail() {
  echo "${0##*/}: $1" >&2
  cat "$work/out" >&2
  exit 1
}

# expect STATUS COMMAND...: the exit status must be as said; what was printed goes to $work/out, what was told to $work/err.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/out" 2>"$work/err" || status=$?
  [ "$status" = "$wanted" ] && return
  cat "$work/err" >&2
  fail "'$*' ended with $status, not $wanted:"
}

# says PATTERN: the last answer has a line like it.
says() { grep -qE -- "$1" "$work/out" || fail "nothing says '$1' in:"; }
