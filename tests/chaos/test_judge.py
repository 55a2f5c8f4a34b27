"""Proves that the judge can say no: a small story in which all is well, and
one change at a time that has to be found by the check it breaks."""
import copy

from .judge import Dead, Evidence, Sent, Written, judge


def story():
    """Three keys on two partitions; 0:2 is refused for ever and buried
    after five attempts, 1:1 is delivered twice after a kill."""
    e = Evidence(bridges=2)
    for p in (0, 1):
        for n in range(6):
            key = b"a" if p == 0 else (b"b", b"c")[n % 2]
            ident = f"id-{p}-{n}"
            e.written.append(Written(
                ident, p, n, key, f"body {p} {n}".encode(),
                [("id", ident.encode()), ("null", None)], 1000 + n,
                500 if (p, n) == (0, 2) else None))
            e.acked[ident] = p, n
    t = 10.0
    for n in range(6):
        for w in (e.written[n], e.written[6 + n]):
            for _ in range(5 if w.refused else 1):
                t += 0.1
                e.sent.append(Sent(t, w.id, w.value, 0, w.refused or 200,
                                   t + 0.05))
            if w.refused:
                e.dead.append(Dead(
                    w.partition, w.offset, w.key, w.value,
                    w.headers + [("outbox.dlq.reason", b"http-status")],
                    w.ts, 5, t + 0.05, "http-status"))
            e.commits.append((t + 0.06, w.partition, n + 1))
    e.faults = [(t - 0.3, "bridge kill")]
    e.sent.append(Sent(t + 0.2, "id-1-1", b"body 1 1", 1, 200, t + 0.3))
    e.ends = e.committed = {0: 6, 1: 6}
    e.moods = [(5.0, 6.0, "500")]
    e.most_open = {"one": 4, "two": 3}
    e.most_said = {"one, process 7": 4}
    e.most_all = 7
    return e


def first(e, ident):
    return next(s for s in e.sent if s.id == ident)


def lose(e):
    e.sent = [s for s in e.sent if s.id != "id-1-3"]


def lose_letter(e):
    e.dead.clear()


def lose_in_broker(e):
    e.written = [w for w in e.written if w.id != "id-1-5"]
    e.sent = [s for s in e.sent if s.id != "id-1-5"]


def only_refused(e):
    first(e, "id-1-3").status = 503


def swap(e):
    a, b = first(e, "id-0-3"), first(e, "id-0-4")
    a.id, b.id, a.body, b.body = b.id, a.id, b.body, a.body


def overlap(e):
    a, b = first(e, "id-0-3"), first(e, "id-0-4")
    b.start = (a.start + a.done) / 2


def overtake_dead(e):
    first(e, "id-0-3").start = first(e, "id-0-2").start + 0.15


def change_body(e):
    e.sent[-1].body = b"body 1 1 "


def change_key(e):
    first(e, "id-1-2").id = "id-9-9"


def two_keys(e):
    e.strange.append("two keys on one request")


def fifth(e):
    e.most_open["two"] = 5


def fifth_said(e):
    e.most_said["one, process 7"] = 5


def too_many(e):
    e.most_all = 9


def change_letter(e):
    e.dead[0].value = b"Body 0 2"


def change_letter_header(e):
    e.dead[0].headers[1] = ("null", b"")


def change_letter_time(e):
    e.dead[0].ts += 1


def bury(e, attempts, at):
    w = next(w for w in e.written if w.id == "id-1-4")
    e.dead.append(Dead(1, 4, w.key, w.value, list(w.headers), w.ts,
                       attempts, at, "http-status"))


def bury_early(e):
    bury(e, 4, 5.5)


def bury_in_peace(e):
    bury(e, 5, first(e, "id-1-4").start)


def bury_many(e):
    at = first(e, "id-1-4").start
    e.moods.append((at - 1, at + 1, "503"))
    for _ in range(e.bridges * (e.failures - 1 + e.connections) + 1):
        bury(e, 5, at)


def commit_back(e):
    t, p, n = e.commits[-1]
    e.commits.append((t + 1, p, n - 1))


def commit_early(e):
    e.commits.append((first(e, "id-0-5").start, 0, 6))


def not_drained(e):
    e.committed = {0: 6, 1: 5}


def crash(e):
    e.exits.append("two ended by itself with status -11")


def repeat(e):
    e.faults.clear()


def repeat_before(e):
    e.faults = [(e.sent[-1].start + 0.1, "bridge kill")]


PLANTED = {
    lose: "nothing lost", lose_letter: "nothing lost",
    lose_in_broker: "nothing lost", only_refused: "nothing lost",
    swap: "order within a key", overlap: "order within a key",
    overtake_dead: "order within a key",
    change_body: "same key, same body", change_key: "same key, same body",
    two_keys: "same key, same body",
    fifth: "connections", fifth_said: "connections",
    too_many: "connections",
    change_letter: "dead letters are the originals",
    change_letter_header: "dead letters are the originals",
    change_letter_time: "dead letters are the originals",
    bury_early: "no healthy event dead",
    bury_in_peace: "no healthy event dead",
    bury_many: "no healthy event dead",
    commit_back: "commits", commit_early: "commits",
    not_drained: "drained", crash: "no process ended by itself",
    repeat: "repeats only after faults",
    repeat_before: "repeats only after faults",
}


def self_test():
    """(passed, [what went wrong])"""
    wrong = []
    found = judge(story())
    for what, texts in found.items():
        if texts:
            wrong.append(f"nothing planted, but {what}: {texts[0]}")
    for plant, what in PLANTED.items():
        e = copy.deepcopy(story())
        plant(e)
        if not judge(e)[what]:
            wrong.append(f"{plant.__name__} is not found by \"{what}\"")
    missing = set(found) - set(PLANTED.values())
    wrong += [f"nothing is planted for \"{what}\"" for what in missing]
    return len(PLANTED) + 1 - len(wrong), wrong
