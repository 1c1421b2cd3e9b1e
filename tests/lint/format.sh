#!/usr/bin/env bash
# Every C and C++ file is as clang-format leaves it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.c')
[ ${#files[@]} -gt 50 ] || { echo "format: only ${#files[@]} files; wrong folder?" >&2; exit 1; }
clang-format-14 --dry-run --Werror "${files[@]}"
echo "format: ${#files[@]} files are clean"
