#!/bin/bash
# tests/bench/run.sh [--quick] [--only WORD,...] [--runs N]    see README.md
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
top=$(cd "$here/../.." && pwd)
kit=$here/../acceptance
# shellcheck source=../acceptance/venv.sh
. "$kit/venv.sh"

build=${BENCH_BUILD:-}
if [ -z "$build" ]; then
  cache=${OUTBOX_KIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/outbox-bridge/kit}
  build=$cache/bench-$(sha256sum <<<"$top" | cut -c1-12)
fi
cmake -S "$top" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DBRIDGE_BENCH=ON >/dev/null
cmake --build "$build" -j 2 --target outbox-bridge bench-receiver bench-loop \
  bench-floor bench-decode | tail -n 1
run_python "$(readlink -f "$kit")" -m bench.bench --build "$build" "$@"
