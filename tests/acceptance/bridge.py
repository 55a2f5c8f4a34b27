"""Builds the product, writes its configuration, runs it and watches it from outside."""
import hashlib, http.client, os, re, shutil, signal, subprocess, sys, time
from pathlib import Path

from . import ports
from .broker import die_with_parent, locked

HERE = Path(__file__).resolve().parent
now = time.monotonic


class NoProject(Exception):
    pass


def build():
    """The program to judge: BRIDGE_PROGRAM, or target outbox-bridge of this checkout, built out of its tree."""
    given = os.environ.get("BRIDGE_PROGRAM")
    if given:
        if not os.access(given, os.X_OK):
            raise NoProject(f"BRIDGE_PROGRAM={given} is no program")
        return given
    src = HERE.parents[1]
    tag = hashlib.sha256(str(src).encode()).hexdigest()[:12]
    out = ports.cache() / f"build-{tag}"
    with locked(f"build-{tag}"):
        log = open(ports.cache() / f"build-{tag}.log", "w+")
        for cmd in (["cmake", "-S", str(src), "-B", str(out), "-DCMAKE_BUILD_TYPE=RelWithDebInfo"],
                    ["cmake", "--build", str(out), "--target", "outbox-bridge", "-j", str(os.cpu_count() or 2)]):
            if subprocess.run(cmd, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode:
                log.seek(0)
                text = log.read()
                first = next((l for l in text.splitlines() if "error" in l.lower()), text[-300:])
                raise NoProject(f"the build fails: {first.strip()[:300]} (log: {log.name})")
    found = [p for p in out.rglob("outbox-bridge") if p.is_file() and os.access(p, os.X_OK)]
    if not found:
        raise NoProject("the build made no program outbox-bridge")
    return str(found[0])


# ---- configuration

def libconfig(value, indent=1):
    pad = "  " * indent
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}L" if abs(value) > 2**31 - 1 else str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        out = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        return f'"{out}"'
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], dict):
            return "( " + ",\n".join(libconfig(v, indent + 1) for v in value) + " )"
        return "[ " + ", ".join(libconfig(v) for v in value) + " ]"
    if isinstance(value, dict):
        return "{\n" + "".join(f"{pad}{k} = {libconfig(v, indent + 1)};\n" for k, v in value.items()) + "  " * (indent - 1) + "}"
    raise TypeError(value)


def config_text(conf):
    return "".join(f"{k} = {libconfig(v)};\n" for k, v in conf.items())


def merge(a, b):
    out = dict(a)
    for k, v in b.items():
        out[k] = merge(out[k], v) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out


class Bridge:
    """One instance of the product."""

    def __init__(self, program, conf, folder, name="b"):
        self.program, self.folder, self.name = list(program), Path(folder), name
        self.conf = conf
        self.file = self.folder / f"{name}.conf"
        self.errors = self.folder / f"{name}.err"
        self.proc = None
        self.starts = 0
        self.killed = set()
        self.write(conf)

    def write(self, conf):
        self.conf = conf
        self.file.write_text(config_text(conf))

    # ---- run
    def spawn(self, args, out=None, err=None):
        self.starts += 1
        env = dict(os.environ)
        return subprocess.Popen(self.program + args, stdin=subprocess.DEVNULL, stdout=out or open(self.folder / f"{self.name}.out", "a"),
                                stderr=err or open(self.errors, "a"), env=env, preexec_fn=die_with_parent)

    def start(self, ready=20):
        """Starts `run`; waits up to `ready` seconds for /readyz (0: does not wait). True when ready."""
        for attempt in range(4):
            at = len(self.log())
            self.proc = self.spawn(["run", "-c", str(self.file)])
            if not ready:
                return True
            if self.wait_ready(ready):
                return True
            if self.alive or "Address already in use" not in self.log()[at:]:
                return False
            # some client of this machine holds our admin port as its own end: another one
            self.write(merge(self.conf, {"admin": {"listen": f"127.0.0.1:{ports.reserve(ports.RECEIVER)}"}}))
        return False

    def wait_ready(self, seconds):
        end = now() + seconds
        while now() < end:
            if self.proc.poll() is not None:
                return False
            if self.get("/readyz")[0] == 200:
                return True
            time.sleep(0.05)
        return False

    def once(self, args, timeout=30):
        """Runs another command to its end: (exit status or None, what it printed)."""
        p = subprocess.Popen(self.program + args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             preexec_fn=die_with_parent)
        try:
            out, _ = p.communicate(timeout=timeout)
            return p.returncode, out.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            p.kill()
            out, _ = p.communicate()
            return None, out.decode("utf-8", "replace")

    @property
    def alive(self):
        return self.proc is not None and self.proc.poll() is None

    def signal(self, sig):
        if self.alive:
            self.proc.send_signal(sig)

    def kill(self):
        if self.proc:
            self.killed.add(self.proc.pid)
            self.proc.kill()
            self.proc.wait()

    def wait(self, seconds):
        """Exit status, or None when it still runs after so long."""
        try:
            return self.proc.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, seconds=15):
        """SIGTERM; the exit status, or None when it had to be killed."""
        if not self.alive:
            return self.proc.returncode if self.proc else None
        self.proc.terminate()
        rc = self.wait(seconds)
        if rc is None:
            self.kill()
        return rc

    # ---- watch
    def log(self):
        try:
            return self.errors.read_text("utf-8", "replace")
        except OSError:
            return ""

    def output(self):
        f = self.folder / f"{self.name}.out"
        return self.log() + (f.read_text("utf-8", "replace") if f.exists() else "")

    def rss(self, peak=False):
        """Resident bytes, now or at most so far."""
        try:
            m = re.search(r"VmHWM:\s+(\d+)" if peak else r"VmRSS:\s+(\d+)", Path(f"/proc/{self.proc.pid}/status").read_text())
            return int(m.group(1)) * 1024 if m else 0
        except OSError:
            return 0

    def get(self, path, method="GET", timeout=2):
        """(status, body) of the admin page; (0, "") when it does not answer."""
        host, port = self.conf["admin"]["listen"].rsplit(":", 1)
        c = http.client.HTTPConnection(host, int(port), timeout=timeout)
        try:
            c.request(method, path)
            r = c.getresponse()
            return r.status, r.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            c.close()

    def metrics(self):
        """{name{labels}: value}"""
        out = {}
        for line in self.get("/metrics")[1].splitlines():
            m = re.match(r"([A-Za-z_:][\w:]*(?:\{.*\})?)\s+(\S+)", line)
            if m and not line.startswith("#"):
                try:
                    out[m.group(1)] = float(m.group(2))
                except ValueError:
                    pass
        return out

    def metric(self, word):
        """Sum of all samples whose name (without labels) holds the word."""
        return sum(v for k, v in self.metrics().items() if word in k.split("{")[0])
