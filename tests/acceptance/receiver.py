"""A scripted HTTP/1.1 receiver on raw sockets: it logs exactly what came in and answers exactly what the script says.

Every request is a Request in `log`. What is answered is chosen per idempotency key and attempt (`on`), else by `default`,
which is a Reply or a function of the Request. The choice is made when the head is complete, before the body is read.
"""
import fcntl, hashlib, itertools, shutil, socket, ssl, struct, subprocess, threading, time
from dataclasses import dataclass, field

from . import ports

now = time.monotonic
ESTABLISHED = 1


@dataclass
class Reply:
    status: int = 200
    headers: tuple = ()            # ((name, value), ...)
    body: bytes = b""
    delay: float = 0.0             # wait before the first byte of the answer
    raw: bytes = None              # these bytes instead of status, headers, body
    drip: float = 0.0              # seconds between single bytes of the answer
    endless: bytes = None          # after the head: this, again and again, until the client goes away
    every: float = 0.0             # ... with this pause
    cut: int = None                # send only this many bytes of the answer, then close
    silent: bool = False           # read the request, then close without a byte
    rst: str = None                # "head": reset before the body is read; "body": reset after it was read; "reply": after the answer
    early: bool = False            # answer before the body is read, then reset
    hang: bool = False             # never answer; ends when the client goes away
    close: bool = False            # close after the answer without having said so
    idle_close: float = None       # close when idle for so long after this answer
    http10: bool = False


@dataclass
class Request:
    conn: int
    nth: int                       # number of this request on its connection
    t_head: float
    method: str
    path: str
    raw_head: bytes
    headers: list
    key: str
    attempt: int                   # 1, 2, ... per key
    port: int
    t_first: float = 0.0
    t_body: float = None           # body complete
    raw_body: bytes = None
    open: int = 0                  # established connections when the head was complete
    inflight: int = 0
    status: int = None             # what was answered
    t_status: float = None         # first byte of the answer written
    t_end: float = None            # nothing more will happen on this request
    end: str = None                # answered | closed | reset | gone

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def get(self, name, default=None):
        got = self.all(name)
        return got[-1] if got else default


class World:
    """Connections of all receivers that one deployment talks to; counts what is open over all of them."""

    def __init__(self):
        self.lock = threading.Lock()
        self.conns = {}
        self.max_open = 0
        self.accepted = 0
        self.history = []          # (time, open) at each accept

    def established(self):
        n = 0
        for s in list(self.conns.values()):
            try:
                if state(s) == ESTABLISHED:
                    n += 1
            except OSError:
                pass
        return n


def state(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[0]


class Gone(Exception):
    pass


class Receiver:
    def __init__(self, world=None, limit=None, over="rst", tls=None, idle_close=None, key_header="Idempotency-Key", port=None):
        self.world = world or World()
        self.limit, self.over, self.idle_close, self.key_header = limit, over, idle_close, key_header
        self.log, self.plan, self.attempts = [], {}, {}
        self.default = Reply()
        self.lock = threading.Lock()
        self.cond = threading.Condition(self.lock)
        self.inflight = self.max_inflight = 0
        self.refused = 0
        self.tls_failed = 0
        self.serial = itertools.count(1)
        self.stopping = False
        self.ctx = None
        if tls:
            self.ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.ctx.load_cert_chain(*certificate(tls))
        for attempt in range(20):
            self.port = port or ports.reserve(ports.RECEIVER)
            self.sock = socket.socket()
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                self.sock.bind(("127.0.0.1", self.port))
                break
            except OSError:
                self.sock.close()
                if port:
                    raise
        self.sock.listen(64)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    # ---- what cases use
    @property
    def url(self):
        return f"{'https' if self.ctx else 'http'}://127.0.0.1:{self.port}/hook"

    def on(self, key, *replies):
        """Answers for the 1st, 2nd, ... attempt of this key; the last one repeats."""
        self.plan[key] = list(replies)

    def requests(self, key=None):
        with self.lock:
            return [q for q in self.log if key is None or q.key == key]

    def bodies(self, key=None):
        return [q.raw_body for q in self.requests(key)]

    def ok(self, key=None):
        return [q for q in self.requests(key) if q.status and 200 <= q.status < 300]

    def wait(self, what, seconds, every=0.02):
        end = now() + seconds
        while now() < end:
            if what():
                return True
            time.sleep(every)
        return bool(what())

    def stop(self):
        self.stopping = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()
        with self.world.lock:
            mine = [(k, s) for k, s in self.world.conns.items() if k[0] == id(self)]
        for k, s in mine:
            reset(s)

    # ---- inside
    def _accept(self):
        while not self.stopping:
            try:
                s, _ = self.sock.accept()
            except OSError:
                return
            n = next(self.serial)
            with self.world.lock:
                open_now = self.world.established() + 1
                self.world.accepted += 1
                self.world.max_open = max(self.world.max_open, open_now)
                self.world.history.append((now(), open_now))
                self.world.conns[(id(self), n)] = s
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(s, n, open_now), daemon=True).start()

    def _serve(self, s, n, open_now):
        plain = s
        try:
            if self.limit and open_now > self.limit:
                self.refused += 1
                if self.over == "rst":
                    reset(s)
                else:
                    s.sendall(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            if self.ctx:
                try:
                    s.settimeout(10)
                    s = self.ctx.wrap_socket(s, server_side=True)
                    with self.world.lock:
                        self.world.conns[(id(self), n)] = s
                except (ssl.SSLError, OSError):
                    self.tls_failed += 1
                    return
            s.settimeout(None)
            buf, nth, idle = b"", 0, self.idle_close
            while not self.stopping:
                nth += 1
                buf, q, reply = self._request(s, n, nth, buf, idle)
                if q is None:
                    return
                try:
                    keep = self._answer(s, q, reply)
                finally:
                    with self.lock:
                        q.t_end = now()
                        self.inflight -= 1
                        self.cond.notify_all()
                if not keep:
                    return
                idle = reply.idle_close if reply.idle_close is not None else self.idle_close
        except (OSError, Gone, ssl.SSLError):
            pass
        finally:
            with self.world.lock:
                self.world.conns.pop((id(self), n), None)
            for x in (s, plain):
                try:
                    x.close()
                except OSError:
                    pass

    def _request(self, s, n, nth, buf, idle):
        if idle is not None and not buf:
            end = now() + idle
            s.settimeout(idle)
        try:
            first = None
            while b"\r\n\r\n" not in buf:
                more = s.recv(65536)
                if not more:
                    return b"", None, None
                first = first or now()
                s.settimeout(None)
                buf += more
                if len(buf) > 32 << 20:
                    return b"", None, None
        except (TimeoutError, socket.timeout):
            return b"", None, None
        head, rest = buf.split(b"\r\n\r\n", 1)
        head += b"\r\n\r\n"
        lines = head.decode("latin-1").split("\r\n")
        parts = (lines[0].split(" ") + ["", ""])[:3]
        headers = []
        for line in lines[1:]:
            if line:
                name, _, value = line.partition(":")
                headers.append((name, value.strip(" \t")))
        low = {}
        for k, v in headers:
            low.setdefault(k.lower(), v)
        key = low.get(self.key_header.lower())
        with self.lock:
            self.attempts[key] = self.attempts.get(key, 0) + 1
            self.inflight += 1
            self.max_inflight = max(self.max_inflight, self.inflight)
            q = Request(n, nth, now(), parts[0], parts[1], head, headers, key, self.attempts[key], self.port,
                        t_first=first or now(), inflight=self.inflight)
            self.log.append(q)
        with self.world.lock:
            q.open = self.world.established()
        reply = self._choose(q)
        if reply.rst == "head":
            q.end = "reset"
            with self.lock:
                self.inflight -= 1
                q.t_end = now()
            reset(s)
            return b"", None, None
        if reply.early:
            self._send(s, q, reply, b"")
            time.sleep(0.05)
            with self.lock:
                self.inflight -= 1
                q.t_end, q.end = now(), "reset"
            reset(s)
            return b"", None, None
        try:
            if "chunked" in low.get("transfer-encoding", "").lower():
                body, rest = self._chunked(s, rest)
            else:
                need = int(low.get("content-length") or 0)
                got = [rest]
                have = len(rest)
                while have < need:
                    more = s.recv(min(1 << 20, need - have))
                    if not more:
                        raise Gone
                    got.append(more)
                    have += len(more)
                all_ = b"".join(got)
                body, rest = all_[:need], all_[need:]
        except (OSError, Gone, ValueError):
            with self.lock:
                self.inflight -= 1
                q.t_end, q.end = now(), "gone"
            raise Gone
        with self.lock:
            q.raw_body, q.t_body = body, now()
            self.cond.notify_all()
        return rest, q, reply

    def _chunked(self, s, buf):
        body = b""
        while True:
            while b"\r\n" not in buf:
                more = s.recv(65536)
                if not more:
                    raise Gone
                buf += more
            line, buf = buf.split(b"\r\n", 1)
            size = int(line.split(b";")[0], 16)
            while len(buf) < size + 2:
                more = s.recv(65536)
                if not more:
                    raise Gone
                buf += more
            body, buf = body + buf[:size], buf[size + 2:]
            if size == 0:
                return body, buf

    def _choose(self, q):
        plan = self.plan.get(q.key)
        if plan:
            r = plan[min(q.attempt, len(plan)) - 1]
        else:
            r = self.default
        return r(q) if callable(r) else r

    def _pause(self, s, seconds):
        """Waits; ends at once with Gone when the client has closed its end."""
        end = now() + seconds
        while True:
            left = end - now()
            if left <= 0:
                return
            if state(s) != ESTABLISHED or self.stopping:
                raise Gone
            time.sleep(min(0.01, left))

    def _answer(self, s, q, reply):
        try:
            if reply.rst == "body":
                reset(s)
                q.end = "reset"
                return False
            if reply.silent:
                q.end = "closed"
                return False
            if reply.delay:
                self._pause(s, reply.delay)
            if reply.hang:
                self._pause(s, 3600)
            return self._send(s, q, reply)
        except (Gone, OSError):
            q.end = "gone"
            return False

    def _send(self, s, q, reply, _=None):
        if reply.raw is not None:
            out = reply.raw
        else:
            names = {h[0].lower() for h in reply.headers}
            out = f"HTTP/1.{0 if reply.http10 else 1} {reply.status} {'OK' if reply.status < 300 else 'Scripted'}\r\n".encode()
            for name, value in reply.headers:
                out += name.encode("latin-1") + b": " + value.encode("latin-1") + b"\r\n"
            if reply.endless is None and "content-length" not in names and "transfer-encoding" not in names \
                    and reply.status not in (204, 304) and not reply.http10:
                out += f"Content-Length: {len(reply.body)}\r\n".encode()
            out += b"\r\n" + reply.body
        if reply.cut is not None:
            out = out[:reply.cut]
        status = final_status(out)
        if reply.drip:
            for i in range(len(out)):
                s.sendall(out[i:i + 1])
                if i == 12:            # the client can know the status from here on
                    q.status, q.t_status = status, now()
                self._pause(s, reply.drip)
        else:
            q.status, q.t_status = status, now()
            s.sendall(out)
        if reply.endless is not None:
            while True:
                s.sendall(reply.endless)
                if reply.every:
                    self._pause(s, reply.every)
        q.end = "answered"
        if reply.rst == "reply":
            reset(s)
            return False
        if reply.close or reply.cut is not None or reply.http10:
            return False
        return not any(h[0].lower() == "connection" and h[1].lower() == "close" for h in reply.headers)


def final_status(out):
    """The status of an answer, interim ones (1xx) passed over; None if it is no HTTP."""
    while out.startswith(b"HTTP/1.") and out[9:12].isdigit():
        if out[9:10] != b"1":
            return int(out[9:12])
        out = out.partition(b"\r\n\r\n")[2]
    return None


def reset(s):
    """Closes with RST."""
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    except OSError:
        pass


CERTIFICATES = r"""
set -e
cat >ca.cnf <<X
[ca]
default_ca=d
[d]
database=index.txt
new_certs_dir=.
serial=serial
default_md=sha256
policy=p
copy_extensions=copy
[p]
commonName=supplied
X
: >index.txt; echo 01 >serial
here=subjectAltName=IP:127.0.0.1,DNS:localhost
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=test-ca -keyout ca.key -out ca.pem 2>/dev/null
signed() { # NAME SUBJECTALTNAME END
  openssl req -newkey rsa:2048 -nodes -subj /CN=$1 -addext $2 -keyout $1.key -out $1.csr 2>/dev/null
  openssl ca -batch -config ca.cnf -cert ca.pem -keyfile ca.key -startdate 20200101000000Z -enddate $3 -in $1.csr -out $1.pem 2>/dev/null
}
signed good $here 20400101000000Z
signed expired $here 20200201000000Z
signed other subjectAltName=DNS:other.test 20400101000000Z
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=self -addext $here -keyout self-signed.key -out self-signed.pem 2>/dev/null
"""


def certificates():
    """The folder with ca.pem and the certificates, made once."""
    folder = ports.cache() / ("certs-" + hashlib.sha256(CERTIFICATES.encode()).hexdigest()[:12])
    with open(ports.cache() / "certs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            work = folder.with_suffix(".new")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            subprocess.run(["bash", "-c", CERTIFICATES], cwd=work, check=True)
            work.rename(folder)
    return folder


def ca_file():
    return str(certificates() / "ca.pem")


def certificate(kind):
    """(certificate, key) of kind good, self-signed, expired (all for 127.0.0.1 and localhost) or other (for other.test)."""
    return str(certificates() / f"{kind}.pem"), str(certificates() / f"{kind}.key")
