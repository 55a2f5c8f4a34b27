TITLE = "tokens are renewed without traffic; a refused login is told, and ends by itself"
TIME = 200
import base64, contextlib, functools, glob, http.server, json, threading
from acceptance.api import *
from acceptance.broker import Broker, Cluster, PLAIN_PASSWORD

LIFE = 6                # seconds that a token lasts
QUIET = 3 * LIFE        # nothing happens for so long
PASSWORD = "S3cr3t-pAssw0rd-of-045"


@functools.cache
def broker(folder):
    return Broker(folder, reauth_ms=LIFE * 1000)


def own_broker(k):
    b = broker(k.folder.parent / "sasl")
    k.kafka = Cluster(b.bootstrap)
    return b


def conf(k, b, t, url, properties, **more):
    base = k.conf(t, url, **more)
    base["kafka"]["brokers"] = b.sasl
    base["kafka"]["properties"] += ["security.protocol=SASL_PLAINTEXT"] + properties
    return base


def quiet(b):
    """Tokens run out several times while nothing happens. Waiting is the test."""
    end = now() + QUIET
    while now() < end:
        check(b.alive, f"the bridge ended with status {b.proc.returncode} while nothing happened")
        time.sleep(0.2)
    check("alarm=broker_down" not in b.log(), "an alarm although every token was renewed in time")


def dead_letter(k, t, r, b):
    """Consumer and DLQ producer are both needed at once."""
    begin = now()
    k.produce(t, E(1))
    until(lambda: sum(k.kafka.ends(t + ".dlq").values()) == 1, 5, "no dead letter 5 s after the event")
    k.figure = f"dead letter {now() - begin:.2f} s after the event"
    check(len(r.requests(ID(1))) == 1, f"{len(r.requests(ID(1)))} requests for an event that got 400")
    check(b.starts == 1 and b.get("/readyz")[0] == 200, "not ready after it")
    k.wait_committed(t, 1)


def run_unsecured(k):
    own = own_broker(k)
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(400))
    b = k.bridge(conf(k, own, t, r.url, ["sasl.mechanism=OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt=true",
                                         f"sasl.oauthbearer.config=principal=bridge lifeSeconds={LIFE}"]))
    k.must_start(b)
    quiet(b)
    dead_letter(k, t, r, b)


class Tokens:
    """An OIDC token endpoint, which can be closed for a while."""

    def __init__(self, life):
        outer = self
        self.given = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.given += 1
                body = json.dumps({"access_token": token(life), "token_type": "Bearer", "expires_in": life}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.handler = Handler
        self.port = 0
        self.open()

    def open(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self.handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def token(life):
    def part(what):
        return base64.urlsafe_b64encode(json.dumps(what).encode()).rstrip(b"=").decode()
    t = time.time()
    return f'{part({"alg": "none"})}.{part({"sub": "bridge", "iat": t, "exp": t + life})}.'


@contextlib.contextmanager
def other_librdkafka(k):
    """What is started meanwhile runs with the librdkafka of the kit's Python package, which is newer and can do OIDC."""
    import confluent_kafka
    found = glob.glob(os.path.dirname(confluent_kafka.__file__) + ".libs/librdkafka-*.so.1")
    if not found:
        raise Skip("no other librdkafka here")
    folder = k.folder / "lib"
    folder.mkdir()
    (folder / "librdkafka.so.1").symlink_to(found[0])
    os.environ["LD_LIBRARY_PATH"] = str(folder)
    try:
        yield
    finally:
        del os.environ["LD_LIBRARY_PATH"]


def run_oidc(k):
    """Tokens of an endpoint that is away for a while, with a librdkafka that can do that."""
    own = own_broker(k)
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(400))
    tokens = Tokens(LIFE)
    k.secrets.append("Cl1ent-s3cret-of-045")
    b = k.bridge(conf(k, own, t, r.url, ["sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.method=oidc", "sasl.oauthbearer.client.id=bridge",
                                         f"sasl.oauthbearer.client.secret={k.secrets[-1]}",
                                         f"sasl.oauthbearer.token.endpoint.url=http://127.0.0.1:{tokens.port}/token"]))
    with other_librdkafka(k):
        k.must_start(b)
    given = tokens.given
    until(lambda: tokens.given >= given + 3, 3 * LIFE, lambda: f"{tokens.given - given} new tokens in {3 * LIFE} s, expected 3")
    tokens.close()
    until(lambda: b.get("/readyz")[0] == 503, 4 * LIFE, "/readyz stays 200 although no token can be had and the last one has run out")
    check(b.alive, "the bridge ended while the token endpoint was away")
    check("token" in b.log(), "the log says nothing about a token")
    tokens.open()
    begin = now()
    until(lambda: b.get("/readyz")[0] == 200, 25, "not ready 25 s after the token endpoint is back")
    back = now() - begin
    dead_letter(k, t, r, b)
    k.figure += f"; ready {back:.0f} s after the endpoint was back"
    tokens.close()


def run_oidc_refused(k):
    """A librdkafka that cannot do it says so at start; with one that can, the missing secret is told."""
    own = own_broker(k)
    t = k.topic()
    b = k.bridge(conf(k, own, t, k.receiver().url, ["sasl.mechanism=OAUTHBEARER", "sasl.oauthbearer.method=oidc"]), watch=False)
    b.start(ready=0)
    rc = b.wait(20)
    check(rc == names.CONFIG, f"exit status {rc}, expected {names.CONFIG}")
    check("oauthbearer" in b.log().lower(), "the log does not name the property")


def run_password(k):
    """A wrong password from the beginning, and the right one."""
    own = own_broker(k)
    t = k.topic()
    r = k.receiver()
    k.secrets += [PASSWORD, PLAIN_PASSWORD]
    login = ["sasl.mechanism=PLAIN", "sasl.username=bridge"]
    b = k.bridge(conf(k, own, t, r.url, login + [f"sasl.password={PASSWORD}"], kafka={"start_timeout_ms": 8000}), watch=False)
    b.start(ready=0)
    until(lambda: "authentication" in b.log(), 6, "no word of authentication 6 s after the start")
    check(b.alive and b.get("/readyz")[0] == 503, f"alive {b.alive}, /readyz {b.get('/readyz')[0]}: expected to wait for kafka.start_timeout_ms, not ready")
    rc = b.wait(30)
    check(rc == names.UNAVAILABLE, f"exit status {rc}, expected {names.UNAVAILABLE}")
    last = b.log().strip().splitlines()[-1]
    check("authentication" in last, f"the last line does not say why: {last[:200]}")
    b = k.bridge(conf(k, own, t, r.url, login + [f"sasl.password={PLAIN_PASSWORD}"]))
    k.must_start(b)
    k.produce(t, E(1))
    k.wait_committed(t, 1)


def run_changed(k):
    """The password is changed while the bridge runs, and later changed back. With the other librdkafka: that of Debian 12 cannot
    log in with SCRAM at brokers of Kafka 4."""
    own = own_broker(k)
    t = k.topic()
    r = k.receiver()
    k.kafka.scram("bridge", PASSWORD)
    k.secrets.append(PASSWORD)
    b = k.bridge(conf(k, own, t, r.url, ["sasl.mechanism=SCRAM-SHA-256", "sasl.username=bridge", f"sasl.password={PASSWORD}"]))
    with other_librdkafka(k):
        k.must_start(b)
    k.produce(t, E(1))
    k.wait_committed(t, 1)
    k.kafka.scram("bridge", "another one")
    until(lambda: b.get("/readyz")[0] == 503 and "authentication" in b.log(), 4 * LIFE,
          lambda: f"/readyz {b.get('/readyz')}, authentication {'' if 'authentication' in b.log() else 'not '}in the log {4 * LIFE} s after the password was changed")
    check(b.alive, "the bridge ended")
    k.produce(t, E(2))
    k.kafka.scram("bridge", PASSWORD)
    begin = now()
    until(lambda: b.get("/readyz")[0] == 200, 20, "not ready 20 s after the password is right again")
    k.figure = f"ready {now() - begin:.0f} s after the password was right again"
    k.wait_committed(t, 2)
