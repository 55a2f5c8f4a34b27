TITLE = "a mistake in the configuration is named with its line; nothing is contacted"
TIME = 60
import socket
from acceptance.api import *

FILE = """\
// line 1
kafka = {
  brokers = "127.0.0.1:%(broker)d";
  topics = [ "outbox.event.order" ];
  group = "test";
  properties = [ "broker.address.family=v4" ];
};
delivery = {
  url = "%(url)s";
  timeout_ms = 5000;
  connections = 4;
};
retry = { max_attempts = 5;
  base_ms = 100;
};
dlq = { topic = "outbox.dlq"; };
admin = { listen = ""; };
"""
# (what is replaced, by what, what the message must name). The line is that of the replaced text.
MISTAKES = (
    ("  timeout_ms = 5000;", "  timeout_m = 5000;", "timeout_m"),
    ("  base_ms = 100;", "  max_retrys = 5;", "max_retrys"),
    ("  timeout_ms = 5000;", '  timeout_ms = "30";', "timeout_ms"),
    ("  timeout_ms = 5000;", "  timeout_ms = true;", "timeout_ms"),
    ("  timeout_ms = 5000;", "  timeout_ms = -1;", "timeout_ms"),
    ("  connections = 4;", "  connections = 0;", "connections"),
    ("  connections = 4;", "  connections = 2.5;", "connections"),
    ("  base_ms = 100;", "  base_ms = 5000000000;", "5000000000"),
    ("  timeout_ms = 5000;", "  timeout_ms = 5s;", "5s"),
    ("  connections = 4;", "  timeout_ms = 6000;", "timeout_ms"),
    ("  group = ", "  group = 5; // ", "group"),
    ("  group = ", '  start = "oldest"; group = ', "start"),
    ("  topics = ", '  topics = [ "outbox.dlq" ]; // ', "outbox.dlq"),
    ("  properties = ", '  properties = [ "sesion.timeout.ms=6000" ]; // ', "sesion.timeout.ms"),
    ("  properties = ", '  properties = [ "session.timeout.ms=soon" ]; // ', "session.timeout.ms"),
    ("  properties = ", '  properties = [ "enable.auto.commit=true" ]; // ', "enable.auto.commit"),
    ("  url = ", '  url = "ftp://example.test/"; // ', "url"),
    ("  url = ", '  url = "${env:OUTBOX_TEST_NOT_SET}"; // ', "OUTBOX_TEST_NOT_SET"),
    ("  base_ms = 100;", "  base_ms = 100; /* never closed", "comment"),
    ("dlq = {", "dlqs = {", "dlqs"),
    ('admin = { listen = ""; };', 'routes = ( { name = "a"; matchh = { topic = "x"; }; } );', "matchh"),
    ('admin = { listen = ""; };', 'retry = { base_ms = 5; };', "retry"),
)


def contacts(sock):
    """How many have connected to a listening socket that nobody accepts from."""
    sock.settimeout(0)
    n = 0
    while True:
        try:
            sock.accept()[0].close()
            n += 1
        except OSError:
            return n


def run_mistakes(k):
    broker = socket.create_server(("127.0.0.1", 0))
    r = k.receiver()
    good = FILE % {"broker": broker.getsockname()[1], "url": r.url}
    b = k.bridge({"admin": {"listen": "127.0.0.1:1"}}, watch=False)
    wrong = []
    for old, new, name in MISTAKES:
        line = good[:good.index(old)].count("\n") + 1
        b.file.write_text(good.replace(old, new, 1))
        for command in ("run", "check"):
            rc, out = b.once([command, "-c", str(b.file)], 10)
            what = f"{command} with {new.strip()[:45]}"
            if rc != names.CONFIG:
                wrong.append(f"{what}: exit status {rc}, expected {names.CONFIG}")
            elif name not in out:
                wrong.append(f"{what}: {name} is not named: {out.strip()[-100:]}")
            elif not re.search(rf"{re.escape(b.file.name)}:{line}\b|\bline {line}\b", out):
                wrong.append(f"{what}: line {line} is not named: {out.strip()[-100:]}")
    check(not wrong, f"{len(wrong)} of {2 * len(MISTAKES)}: " + "; ".join(wrong[:5]))
    got = contacts(broker)
    check(got == 0, f"{got} connections to Kafka although the configuration is wrong")
    check(k.world.accepted == 0, f"{k.world.accepted} connections to the receiver although the configuration is wrong")


def run_absent(k):
    """What is required and not there; a file that is not there; a command line that is wrong."""
    broker = socket.create_server(("127.0.0.1", 0))
    r = k.receiver()
    good = FILE % {"broker": broker.getsockname()[1], "url": r.url}
    b = k.bridge({"admin": {"listen": "127.0.0.1:1"}}, watch=False)
    for line, name in (("  brokers = .*\n", "brokers"), ("  topics = .*\n", "topics"), ("  url = .*\n", "url")):
        b.file.write_text(re.sub(line, "", good, count=1))
        rc, out = b.once(["run", "-c", str(b.file)], 10)
        check(rc == names.CONFIG and name in out, f"without {name}: exit status {rc}, expected {names.CONFIG} and its name: {out.strip()[-100:]}")
    absent = str(b.file) + ".absent"
    rc, out = b.once(["run", "-c", absent], 10)
    check(rc == names.CONFIG and absent in out, f"absent file: exit status {rc}, expected {names.CONFIG} and its name: {out.strip()[-100:]}")
    for args in ([], ["run"], ["run", "-c"], ["ruin", "-c", str(b.file)], ["run", "-c", str(b.file), "--what"]):
        rc, out = b.once(args, 10)
        check(rc == names.USAGE and out.strip(), f"{' '.join(args) or 'no command'}: exit status {rc}, expected {names.USAGE} and a word")
    check(contacts(broker) == 0, "Kafka was contacted")


def run_spellings(k):
    """5, 5.0 and 5L are the same number; a list may be one value, an array or a list."""
    spellings = (("2", "20", '[ "%s" ]'), ("2.0", "20.0", '"%s"'), ("2L", "2e1", '( "%s" )'))
    for n, (attempts, base, topics) in enumerate(spellings):
        t = k.topic(f"t{n}")
        r = k.receiver()
        r.default = Reply(503)
        b = k.bridge(k.conf(t, r.url, kafka={"group": f"{k.group}{n}"}), watch=False)
        text = b.file.read_text().replace("max_attempts = 5;", f"max_attempts = {attempts};").replace("base_ms = 100;", f"base_ms = {base};")
        text = text.replace(f'topics = [ "{t}" ];', f"topics = {topics % t};")
        b.file.write_text(text)
        rc, out = b.once(["check", "-c", str(b.file)], 10)
        check(rc == 0, f"{attempts}, {base}, {topics}: check says {rc}: {out.strip()[-160:]}")
        k.must_start(b)
        k.produce(t, E(1 + n))
        d, = k.wait_dlq(1, 10, t + ".dlq")
        check(d.text("outbox.dlq.attempts") == "2", f"max_attempts = {attempts}: {d.text('outbox.dlq.attempts')} attempts, expected 2")
        check(len(r.requests()) == 2, f"max_attempts = {attempts}: {len(r.requests())} requests, expected 2")
        check(b.stop() == 0, "exit status at SIGTERM is not 0")
