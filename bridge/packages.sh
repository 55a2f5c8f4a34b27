# Sourced by bridge/quickstart.sh and tests/run.sh: the Debian packages that
# each needs, and the folder for everything that is built or downloaded.
#
#   need_packages build [test]    installs what is missing of these lists;
#                                 nothing if OUTBOX_BRIDGE_NO_INSTALL is set
#   cache_folder NAME             prints a folder for NAME, outside the checkout

packages_build=(
  gcc make cmake pkg-config libc6-dev
  librdkafka-dev libcurl4-openssl-dev libavro-dev libjansson-dev
  libconfig-dev libmicrohttpd-dev libssl-dev
)

packages_test=(
  clang llvm libcmocka-dev python3 python3-venv
  maven postgresql kcat curl openssl ca-certificates
)

# Packages whose name holds a version: sanitizer run time and Java.
add_versioned_packages() {
  case $1 in
  12) packages_test+=(libclang-rt-14-dev) java=openjdk-17-jre-headless ;;
  *) packages_test+=(libclang-rt-dev) java=openjdk-21-jre-headless ;;
  esac
  java_is_new || packages_test+=("$java")
}

# Any Java from 17 on will do: one that is there is not doubled.
java_is_new() {
  local major
  major=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 |
    sed -n 's/.*version "\([0-9]*\).*/\1/p')
  [ "${major:-0}" -ge 17 ]
}

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

need_packages() {
  local id='' version='' list=() missing=() part name
  [ -z "${OUTBOX_BRIDGE_NO_INSTALL:-}" ] || return 0
  if [ -r /etc/os-release ]; then
    id=$(. /etc/os-release && echo "${ID:-}")
    version=$(. /etc/os-release && echo "${VERSION_ID:-}")
  fi
  add_versioned_packages "$version"
  for part in "$@"; do
    case $part in
    build) list+=("${packages_build[@]}") ;;
    test) list+=("${packages_test[@]}") ;;
    esac
  done
  if [ "$id" != debian ] || [[ ! $version =~ ^1[23]$ ]]; then
    other_system "${list[@]}"
    return
  fi
  for name in "${list[@]}"; do
    installed "$name" || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
}

other_system() {
  cat >&2 <<EOF
This is not Debian 12 or 13, so nothing is installed here by itself.
Needed, by the names of Debian's packages:
$(printf '  %s\n' "$@")
Install what matches them, then say so and start again:
  export OUTBOX_BRIDGE_NO_INSTALL=1
EOF
  return 1
}

install_packages() {
  local root=()
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages, and neither root nor sudo to install them:" >&2
      printf '  %s\n' "$@" >&2
      return 1
    fi
    root=(sudo)
  fi
  echo "Installing: $*" >&2
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get update -q >&2 </dev/null &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends "$@" >&2 </dev/null
}

# One folder per checkout, so that two of them never share a build.
cache_folder() {
  local home checkout
  home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
  checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
  printf '%s/%s-%s\n' \
    "${OUTBOX_BRIDGE_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/outbox-bridge}" \
    "$1" "$(printf %s "$checkout" | sha256sum | cut -c1-8)"
}
