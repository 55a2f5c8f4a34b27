"""Ports on 127.0.0.1, below those that the kernel gives to clients. A port is reserved by a lock file held open by this
process, so parallel runs never meet."""
import fcntl, os, socket
from pathlib import Path

KAFKA = int(os.environ.get("OUTBOX_KIT_KAFKA_PORT", 23092))      # brokers: from here upwards, in twos (broker, controller)
RECEIVER = int(os.environ.get("OUTBOX_KIT_PORT", 24080))         # receivers, registries, admin pages: from here upwards

_held = []


def cache() -> Path:
    top = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    p = Path(os.environ.get("OUTBOX_KIT_CACHE") or top / "outbox-bridge" / "kit")
    p.mkdir(parents=True, exist_ok=True)
    return p


def _free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def reserve(base, width=1, span=800):
    """The first block of `width` free ports from `base` on; reserved until this process ends."""
    folder = cache() / "ports"
    folder.mkdir(exist_ok=True)
    for port in range(base, base + span, width):
        f = open(folder / str(port), "w")
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            f.close()
            continue
        if all(_free(port + i) for i in range(width)):
            _held.append(f)
            return port
        f.close()
    raise RuntimeError(f"no free port from {base} on")
