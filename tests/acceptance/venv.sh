# Sourced: run_python FOLDER ARGUMENT... replaces the shell by a Python that
# has the packages of requirements.txt and finds the package `acceptance`.

run_python() {
  local kit=$1 cache stamp venv
  shift
  cache=${OUTBOX_KIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/outbox-bridge/kit}
  mkdir -p "$cache"
  stamp=$(cat "$kit/requirements.txt" <(python3 --version) | sha256sum)
  venv=$cache/venv-${stamp:0:12}
  if [ ! -e "$venv/complete" ]; then
    (
      flock 9
      [ -e "$venv/complete" ] && exit
      python3 -m venv --clear "$venv"
      "$venv/bin/pip" install -q --disable-pip-version-check \
        -r "$kit/requirements.txt"
      touch "$venv/complete"
    ) 9>"$cache/venv.lock" >&2
  fi
  PYTHONPATH=$(dirname "$kit") PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 exec "$venv/bin/python" -P "$@"
}
