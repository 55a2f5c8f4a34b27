# Sourced by stack-up and stack-down: where things are, and small helpers.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# jars and class data archives: fetched or made once, outside the checkout
cache=${STACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/outbox-bridge/stack}
# data, logs and pid files of one stack: gone with stack-down --purge
run=${STACK_RUN:-/tmp/outbox-bridge-stack.$(id -u)}
kafka_port=${STACK_KAFKA_PORT:-23892}      # the controller is one above
connect_port=${STACK_CONNECT_PORT:-23894}
pg_port=${STACK_PG_PORT:-23895}
registry_port=${STACK_REGISTRY_PORT:-}     # empty: no schema registry
pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
pg_bin=${STACK_PG_BIN:-$pg_bin}
pg_data=$run/pg
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
begun=$(date +%s%N)

say() {
  printf '%s [%5d ms] %s\n' "${0##*/}" \
    $((($(date +%s%N) - begun) / 1000000)) "$*"
}

die() {
  say "FAILED: $*" >&2
  exit 1
}

# alive NAME: the process that start (or PostgreSQL) noted under NAME runs
alive() {
  local pid
  [ -s "$run/pid/$1" ] || return 1
  pid=$(<"$run/pid/$1")
  [ -r "/proc/$pid/cmdline" ] &&
    tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF -- "$run/conf/$1.properties"
}

# wait_for NAME SECONDS COMMAND...: polls; gives up when the process has died
wait_for() {
  local name=$1 end=$((SECONDS + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    alive "$name" || die "$name ended; see $run/log/$name.log"
    [ $SECONDS -lt $end ] || die "$name is not ready; see $run/log/$name.log"
    sleep 0.1
  done
  say "$name is ready"
}

# as_pg COMMAND...: PostgreSQL refuses root, and so runs as user postgres then
as_pg() (
  cd /
  if [ "$(id -u)" = 0 ]; then
    exec runuser -u postgres -- "$@"
  fi
  exec "$@"
)
