#!/bin/bash
# tests/run.sh [--list] [STEP...]    installs, builds, runs the tests
#
#   gcc         build with warnings as errors; every CTest test
#   clang       the same with clang; unit tests
#   asan tsan   clang with sanitizers; unit and integration tests, and with
#               asan what the fuzz targets have found so far
#   fuzz        each fuzz target for FUZZ_SECONDS (20), in the build of asan
#   acceptance  the program against a Kafka broker and a scripted receiver
#   e2e         PostgreSQL, Debezium, Kafka, program, receiver
#   chaos       three brokers, several programs, a receiver, killed at random
#
# Without STEP: all of them, in this order. A failed step stops no other. The
# last line is `N passed, M failed`; exit status 1 unless all passed.
# Builds and downloads are kept in ~/.cache/outbox-bridge (tests/README.md).
set -uo pipefail
tests=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
top=$(dirname "$tests")
# shellcheck source=../bridge/packages.sh
. "$top/bridge/packages.sh"

steps=(gcc clang asan fuzz tsan acceptance e2e chaos)
passed=0 failed=0 bad=()
jobs=$(nproc)
builds=$(cache_folder tests)
logs=$builds/logs
started=$SECONDS

# count PASSED FAILED
count() {
  passed=$((passed + $1)) failed=$((failed + $2))
}

# report STEP PASSED FAILED SECONDS LOG
report() {
  count "$2" "$3"
  printf '== %s: %d passed, %d failed, %d s\n' "$1" "$2" "$3" "$4"
  [ "$3" = 0 ] || bad+=("$1: $5")
}

# build NAME LOG TARGET OPTION...: configures and builds in $builds/NAME
build() {
  local dir=$builds/$1 log=$2 target=$3
  shift 3
  if ! {
    cmake -S "$top" -B "$dir" "$@" &&
      cmake --build "$dir" --target "$target" -j "$jobs"
  } >"$log" 2>&1; then
    grep -E 'error:|undefined reference|CMake Error' "$log" | head -n 15
    tail -n 3 "$log"
    return 1
  fi
}

# Attribute NAME of the JUnit file's first element, as a number.
junit() {
  local n
  n=$(grep -oE "\b$2=\"[0-9]+\"" "$1" 2>/dev/null | head -n 1 | tr -dc 0-9)
  echo "${n:-0}"
}

# run_ctest NAME LOG ARGUMENT...: prints "PASSED FAILED"; a test that was
# skipped or not run has failed, for this script installs what tests need.
run_ctest() {
  local dir=$builds/$1 log=$2 all ok wrong
  shift 2
  rm -f "$dir/junit.xml"
  "${fixed_addresses[@]}" ctest --test-dir "$dir" --output-on-failure \
    --no-tests=error --output-junit junit.xml -j "$jobs" "$@" >>"$log" 2>&1
  all=$(junit "$dir/junit.xml" tests)
  wrong=$(($(junit "$dir/junit.xml" failures) +
    $(junit "$dir/junit.xml" skipped) + $(junit "$dir/junit.xml" disabled)))
  ok=$((all - wrong))
  [ "$all" -gt 0 ] || wrong=1
  if [ "$wrong" -gt 0 ]; then
    sed -n '/The following tests/,$p' "$log" >&2
  fi
  echo "$ok $wrong"
}

# step_ctest NAME "CMAKE OPTIONS" CTEST ARGUMENTS...
step_ctest() {
  local name=$1 options t=$SECONDS log=$logs/$1.log result
  read -r -d '' -a options <<<"$2"
  shift 2
  if build "$name" "$log" all -DBRIDGE_TESTS=ON -DBRIDGE_WERROR=ON \
    "${options[@]}"; then
    printf '   built in %d s\n' $((SECONDS - t))
    result=$(run_ctest "$name" "$log" "$@")
    # shellcheck disable=SC2086
    report "$name" $result $((SECONDS - t)) "$log"
  else
    report "$name (build)" 0 1 $((SECONDS - t)) "$log"
  fi
}

# The build in which addresses are checked and fuzz targets are made.
asan_options="-DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug
  -DBRIDGE_SANITIZE=address,undefined -DBRIDGE_FUZZ=ON"

# step_judge BUILD "CMAKE OPTIONS" TARGET NAME COMMAND...: a command whose last
# line has the counts, and what must be built for it
step_judge() {
  local dir=$1 options target=$3 name=$4 t=$SECONDS log=$logs/$4.log status last
  read -r -d '' -a options <<<"$2"
  shift 4
  if ! build "$dir" "$logs/program.log" "$target" -DBRIDGE_TESTS=ON \
    -DBRIDGE_WERROR=ON "${options[@]}"; then
    report "$name (build)" 0 1 $((SECONDS - t)) "$logs/program.log"
    return
  fi
  BRIDGE_PROGRAM=$builds/gcc/outbox-bridge "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  last=$(tail -n 1 "$log")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]
  then
    local ok=${BASH_REMATCH[1]}
    local wrong=$((BASH_REMATCH[2] + ${BASH_REMATCH[4]:-0}))
    [ "$status" = 0 ] || [ "$wrong" -gt 0 ] || wrong=1
    report "$name" "$ok" "$wrong" $((SECONDS - t)) "$log"
  else
    report "$name (broke off)" 0 1 $((SECONDS - t)) "$log"
  fi
}

# step_program NAME: tests/NAME/run judges the program
step_program() {
  step_judge gcc -DCMAKE_C_COMPILER=gcc outbox-bridge "$1" "$tests/$1/run"
}

# Sanitizers stop at the first finding; known noise of libraries is listed in
# tests/support/*.supp.
sanitizer_options() {
  local lsan='' tsan=''
  [ ! -e "$tests/support/lsan.supp" ] ||
    lsan=":suppressions=$tests/support/lsan.supp"
  [ ! -e "$tests/support/tsan.supp" ] ||
    tsan=":suppressions=$tests/support/tsan.supp"
  export ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:strict_string_checks=1
  export LSAN_OPTIONS=print_suppressions=0$lsan
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1$tsan
}

# The thread sanitizer of older compilers fails with widely scattered
# addresses; where the kernel lets us, tests run with fixed ones.
fixed_addresses=()
if setarch -R true 2>/dev/null; then
  fixed_addresses=(setarch -R)
fi

run_step() {
  echo "== $1"
  case $1 in
  gcc) step_ctest gcc "-DCMAKE_C_COMPILER=gcc" ;;
  clang) step_ctest clang "-DCMAKE_C_COMPILER=clang" -L unit ;;
  asan) step_ctest asan "$asan_options" -L 'unit|integration|fuzz' ;;
  fuzz) step_judge asan "$asan_options" all fuzz \
    "$tests/fuzz/run" "$builds/asan" "${FUZZ_SECONDS:-20}" ;;
  tsan) step_ctest tsan "-DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug
      -DBRIDGE_SANITIZE=thread" -L 'unit|integration' ;;
  acceptance) step_program acceptance ;;
  e2e) step_program e2e ;;
  chaos) step_program chaos ;;
  esac
}

main() {
  local step
  if [ "${1:-}" = --list ]; then
    printf '%s\n' "${steps[@]}"
    exit 0
  fi
  for step in "$@"; do
    if [[ " ${steps[*]} all " != *" $step "* ]]; then
      echo "no step $step; there are: ${steps[*]} all" >&2
      exit 64
    fi
  done
  if [ $# -gt 0 ] && [[ " $* " != *" all "* ]]; then
    steps=("$@")
  fi
  if ! need_packages build test; then
    echo "0 passed, 1 failed"
    exit 1
  fi
  mkdir -p "$logs"
  sanitizer_options
  for step in "${steps[@]}"; do
    run_step "$step"
  done
  printf '\n%d s in all; builds and logs: %s\n' \
    $((SECONDS - started)) "$builds"
  [ ${#bad[@]} = 0 ] || printf 'failed: %s\n' "${bad[@]}"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

main "$@"
