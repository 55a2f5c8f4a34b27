#!/bin/bash
# Installs what is missing (Debian 12 and 13), builds, and runs the demo.
# Arguments go to `outbox-bridge demo`. Safe to repeat.
set -euo pipefail
bridge=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=packages.sh
. "$bridge/packages.sh"

need_packages build
build=$(cache_folder build)
mkdir -p "$build"
log=$build/quickstart.log
echo "Building in $build" >&2
if ! {
  cmake -S "$bridge/.." -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo &&
    cmake --build "$build" --target outbox-bridge -j "$(nproc)"
} >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "The build failed; all of it: $log" >&2
  exit 1
fi
echo "Built $build/outbox-bridge" >&2
exec "$build/outbox-bridge" demo "$@"
