#!/usr/bin/env bash
# site_faults.sh [BUILD] [TIMES]: each fault of a site's scheduler, ten times in a row.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec ctest --test-dir "${1:-build/release}" --repeat "until-fail:${2:-10}" --output-on-failure -R '^test_sites:|^test_slurm:'
