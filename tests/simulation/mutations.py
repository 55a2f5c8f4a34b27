#!/usr/bin/env python3
"""mutations.py [--cc COMPILER] FOLDER: do the tests of the engine bite?

Breaks the engine of the checkout FOLDER in one small way after the other, in
a copy, and runs its unit tests. Prints one line for each mutation. Exit
status 1 when one survives, does not compile or fits no line any more, or when
the tests fail without any.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = ("test_ledger", "test_heap", "test_lane", "test_sign", "test_health",
         "test_health_probes", "test_target", "test_scheduler",
         "test_scheduler_turns", "test_scheduler_end", "test_scheduler_limits",
         "test_scheduler_probes", "test_parked", "test_scheduler_model")
# One seed, so that a survivor is the tests' fault and not the day's.
SETTINGS = {"BRIDGE_TEST_SEED": "1", "BRIDGE_TEST_RUNS": "40"}
# Without assert(): the tests must notice, and who builds may leave it out.
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-DNDEBUG", "-O1", "-w")
RUN_SECONDS = 10  # a broken engine may well loop

# name, file, then pairs of a text and what it becomes. A text must stand in
# the file exactly once; a run of spaces in it stands for any white space.
MUTATIONS = (
    ("watermark is the next offset", "ledger.c",
     "return l->first != NULL ? l->first->offset : l->next;",
     "return l->next;"),
    ("opening links nothing", "ledger.c",
     "l->last->ledger_next = ref;", ";"),
    ("an offset may be opened twice", "ledger.c",
     "if (ref->offset < l->next)", "if (ref->offset < l->next - 1)"),
    ("an offset may be settled twice", "ledger.c",
     "? ref->ledger_prev->ledger_next : l->first) != ref ||",
     "? ref->ledger_prev->ledger_next : ref) != ref ||",
     "? ref->ledger_next->ledger_prev : l->last) != ref)",
     "? ref->ledger_next->ledger_prev : ref) != ref)"),
    ("a pass goes backwards", "ledger.c", "if (next > l->next)", "if (true)"),
    ("timers in the wrong order", "heap.c",
     "h->node[(at - 1) / 2]->key > n->key",
     "h->node[(at - 1) / 2]->key < n->key",
     "h->node[child + 1]->key < h->node[child]->key",
     "h->node[child + 1]->key > h->node[child]->key",
     "if (h->node[child]->key >= n->key)",
     "if (h->node[child]->key <= n->key)"),
    ("what leaves the heap's middle lets the last only sink", "heap.c",
     "place(h, at, last); sift_up(h, last);", "place(h, at, last);"),
    ("the lane of a key ignores its partition", "lane.c",
     "(seed ^ (uint64_t)(uintptr_t)part)", "seed",
     "lane->part == part &&", ""),
    ("keys of one hash and length are equal", "lane.c",
     "memcmp(lane->key, key.data, key.len) == 0", "true"),
    ("growing loses a chain's rest", "lane.c",
     "for (; lane != NULL; lane = next)",
     "for (; lane != NULL; lane = NULL)"),
    ("a worker never leaves its target", "target.c",
     "br_ready_ms(best->turn.key) - br_ready_ms(oldest->key) <= slack_ms",
     "slack_ms >= 0"),
    ("no worker prefers its target", "scheduler.c",
     "&s->targets, prefer, PREFER_MS);", "&s->targets, NULL, PREFER_MS);"),
    ("a target in use may be dropped", "target.c",
     "target->workers == 0 && is_idle(target)", "is_idle(target)"),
    ("a target that is aimed at may be dropped", "target.c",
     "if (s->lanes != 0)", "if (false)"),
    ("a closed target stays for ever", "target.c",
     "if (t->count >= KEEP_CLOSED)", "if (false)"),
    ("a closed target goes when nobody wants it", "target.c",
     "now_ms - target->left_ms >= t->rules->probe_max_ms", "true"),
    ("a hold is forgotten with its last event", "target.c",
     "if (s->held_until_ms > now_ms)", "if (false)"),
    ("nobody notes who left", "scheduler.c",
     "lane->stream->target->left_ms = now_ms;", ";"),
    ("a forgotten target stays closed", "target.c",
     "br_health_init(&target->health, t->rules); target->run_types = 0;",
     "br_health_init(&target->health, t->rules);"
     " target->health.state = BR_HEALTH_DOWN; target->run_types = 0;"),
    ("no doubling", "retry.c", "cap : step * 2;", "cap : step;"),
    ("Retry-After is ignored", "scheduler.c",
     "asked = (uint64_t)o->retry_after_ms;", "asked = 0;"),
    ("attempts are not counted", "scheduler.c",
     "ref->attempts++;", ""),
    ("one attempt too many", "scheduler.c",
     "ref->attempts >= ref->event->max_attempts",
     "ref->attempts > ref->event->max_attempts"),
    ("a dead one does not hold its lane", "scheduler.c",
     "br_dead_reason(&s->rules.verdict, o);"
     " lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);"
     " settle(s, ref, BR_SETTLED_DEAD);",
     "br_dead_reason(&s->rules.verdict, o);"
     " settle(s, ref, BR_SETTLED_DEAD);"
     " if (ref->next != NULL) { br_lane_pop(lane); br_lane_push(lane, ref);"
     " lane_serve(s, lane, now_ms); }"
     " else lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);"),
    ("an undecodable one is sent", "scheduler.c",
     "if (ref->event->reason != NULL) {",
     "if (ref->event->target == NULL) ref->event->target = \"\";"
     " if (false) {"),
    ("an undecodable one overtakes its lane", "scheduler.c",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);"
     " else if (ref->event->reason != NULL)"
     " settle(s, ref, BR_SETTLED_DEAD);"),
    ("an empty key is a key", "scheduler.c",
     "s->rules.order == BR_ORDER_NONE || key.len == 0",
     "s->rules.order == BR_ORDER_NONE || key.data == NULL"),
    ("closing forgets what it drops", "scheduler.c",
     "settle(s, lane_pop(s, lane), BR_SETTLED_DROPPED);",
     "(void)lane_pop(s, lane);"),
    ("closing drops what is in flight", "scheduler.c",
     "bool held = lane->state == BR_LANE_RUNNING || lane->state",
     "bool held = lane->state"),
    ("a closed partition's events are tried again", "scheduler.c",
     "if (ref->part->closed) { (void)lane_pop",
     "if (false) { (void)lane_pop"),
    ("who is due now sleeps on", "scheduler.c",
     "n->key <= now_ms", "n->key < now_ms"),
    ("who wakes is as young as the wake-up", "scheduler.c",
     "lane_move(s, n->owner, BR_LANE_READY, n->key, now_ms);",
     "lane_move(s, n->owner, BR_LANE_READY, now_ms, now_ms);"),
    ("nobody says when to come again", "scheduler.c",
     "*wake_ms = n->key;", "(void)n;"),
    ("a buried one counts on", "scheduler.c", "s->dead--;", ""),
    ("free forgives what is left", "scheduler.c",
     "s->total != 0 || s->settled_first != NULL || s->parts != 0",
     "s->settled_first != NULL"),
    # what is parked
    ("what joins a parked lane weighs nothing", "scheduler.c",
     "lane_weigh(s, lane, br_ref_weight(ref), 0);", ";"),
    ("what leaves a parked lane leaves its weight", "scheduler.c",
     "lane_weigh(s, lane, 0, br_ref_weight(ref));", ";"),
    ("failures weigh nothing", "scheduler.c",
     "ref->lane->bytes += sizeof(struct br_failure);", ";"),
    ("failures weigh for ever", "scheduler.c",
     "if (ref->failed) s->extra -=", "if (false) s->extra -="),
    ("a closed target parks nothing", "target.c",
     "held || s->target->health.state != BR_HEALTH_OPEN);", "held);"),
    ("a hold parks nothing", "target.c",
     "held || s->target->health.state != BR_HEALTH_OPEN);",
     "s->target->health.state != BR_HEALTH_OPEN);"),
    ("a hung request parks nothing", "parked.c",
     "now_ms - n->key >= BR_PARKED_RUNNING_MS", "false"),
    ("every request parks its lane", "parked.c",
     "now_ms - n->key >= BR_PARKED_RUNNING_MS", "true"),
    ("everything of closed targets is given up", "parked.c",
     "shed < c.count && s->dying < bytes", "shed < c.count"),
    ("buried ones count as under way", "scheduler.c",
     "s->dying -= br_ref_weight(ref);", ";"),
    ("all dead ones count as given up", "scheduler.c",
     "if (ref->reason != NULL) s->dying += br_ref_weight(ref);",
     "s->dying += br_ref_weight(ref);"),
    ("given up in any order", "parked.c", "if (c.count != 0)", "if (false)"),
    ("open targets' events are given up too", "parked.c",
     "n->kind == BR_WAKE_LANE && is_closed(lane->stream->target)",
     "n->kind == BR_WAKE_LANE"),
    ("who waits for a time is never given up", "parked.c",
     "n->kind == BR_WAKE_LANE && is_closed(lane->stream->target)", "false"),
    ("the largest lanes are the first ones", "parked.c",
     "at > 0 && lane->bytes > list[at - 1].bytes", "false"),
    ("closed targets in any order", "parked.c",
     "at > 0 && waiting > list[at - 1].waiting", "false"),
    # windows
    ("the window lets one more out", "health.c",
     "return in_flight < h->window;", "return in_flight <= h->window;"),
    ("the window grows by every success", "health.c",
     "if (++h->successes < h->window)", "if (++h->successes < 1)"),
    ("the window grows without end", "health.c",
     "if (h->window < rules->connections)", "if (true)"),
    ("a read time-out leaves the window", "health.c",
     "sign == BR_SIGN_SLOW ||", ""),
    ("every refusal halves the window", "scheduler.c",
     "target->in_flight > 1 && br_sign_turned_away(o)",
     "br_sign_turned_away(o)"),
    # closing
    ("closes one early", "health.c",
     "return h->failed >= rules->failures;",
     "return h->failed + 1 >= rules->failures;"),
    ("an event that fails again counts twice", "health.c",
     "if (h->event[i] == serial)", "if (false)"),
    ("an answer does not end the row", "health.c",
     "h->failed = 0; if", "; if"),
    ("a 2xx does not end the row of dead letters", "health.c",
     "h->dead = 0; else", "; else"),
    ("closing takes one dead letter more", "health.c",
     "h->dead >= rules->after", "h->dead > rules->after"),
    ("who refuses never goes down", "health.c",
     "if (down && h->state == BR_HEALTH_REFUSING)", "if (false)"),
    # probes
    ("two probes at once", "health.c",
     "return !h->probing && now_ms >= h->probe_at_ms;",
     "return now_ms >= h->probe_at_ms;"),
    ("an opening forgets the probe that is out", "health.c",
     "h->window = 1;", "h->window = 1; h->probing = false;"),
    ("a target opens with its whole window", "health.c",
     "h->window = 1;", "h->window = 4;"),
    ("probes come at the same pace", "health.c",
     "h->probe_wait_ms *= 2;", ""),
    ("a probe that asked nobody slows the next", "health.c",
     "if (sign == BR_SIGN_NONE) return false; if (sign == BR_SIGN_NEVER",
     "if (sign == BR_SIGN_NEVER"),
    ("bad events slow the probes at once", "health.c",
     "++h->nevers < BR_HEALTH_NEVERS", "++h->nevers < 1"),
    ("bad events never slow the probes", "health.c",
     "++h->nevers < BR_HEALTH_NEVERS", "true"),
    ("an again forgets no bad events", "health.c",
     "h->nevers = 0; return true;", "return true;"),
    ("a closing forgets no bad events", "health.c",
     "h->nevers = 0; h->successes = 0;", "h->successes = 0;"),
    ("a never does not open what is down", "health.c",
     "(sign == BR_SIGN_ALIVE || sign == BR_SIGN_NEVER) && probe",
     "sign == BR_SIGN_ALIVE && probe"),
    ("a never is an again", "sign.c",
     "return BR_SIGN_NEVER;", "return BR_SIGN_ALIVE;"),
    ("who refuses is asked with what was tried most", "target.c",
     "a->first->attempts < b->first->attempts : better_age",
     "a->first->attempts > b->first->attempts : better_age"),
    ("who refuses never sees the oldest", "target.c",
     "target->picked % OLDEST_REFUSING_EVERY == 0", "false"),
    ("a probe counts", "health.c",
     "return rules->give_up_ms != 0 &&", "return true ||"),
    ("probes never count again", "health.c",
     "return rules->give_up_ms != 0 &&", "return false &&"),
    ("nobody asked, and the target opens", "sign.c",
     "return BR_SIGN_NONE;", "return BR_SIGN_ALIVE;"),
    ("probes use up what throttled events have", "scheduler.c",
     "if (!ref->probe || h->state != BR_HEALTH_DOWN) {", "if (true) {"),
    ("a probed lane waits for a time", "scheduler.c",
     "if (down && !d->counted && !ref->part->closed) {", "if (false) {"),
    ("probes do not go round", "scheduler.c", "lane->probes++;", ""),
    ("most attempts first", "target.c",
     "return a->first->attempts < b->first->attempts",
     "return a->first->attempts > b->first->attempts"),
    ("a refusing target: most attempts first", "target.c",
     "? a->first->attempts < b->first->attempts",
     "? a->first->attempts > b->first->attempts"),
    ("an old lane may be passed for ever", "target.c",
     "if (target->picked % OLDEST_EVERY == 0)", "if (false)"),
    ("the oldest is always the probe", "target.c",
     "return target->picked % 2 != 0 ?", "return false ?"),
    ("types of the run are no matter", "target.c",
     "a_in = in_run(target, a);", "a_in = *b_in;"),
    ("a probe only of the oldest route", "target.c",
     "for (s = target->streams; s != NULL; s = s->next) {"
     " if (s->turn.index == BR_HEAP_OUT)",
     "for (; s != NULL; s = NULL) { if (s->turn.index == BR_HEAP_OUT)"),
    ("a closed target has no timer", "target.c",
     "set_timer(t, &target->wake, waits && wanted, h->probe_at_ms);", ""),
    # throttled events and holds
    ("throttled without limit", "scheduler.c",
     "if (ref->uncounted >= ref->event->max_attempts)", "if (false)"),
    ("throttled counts", "health.c",
     "!(sign == BR_SIGN_THROTTLED && h->window > 1)", "true"),
    ("throttled does not count at a window of 1", "health.c",
     "h->window > 1);", "true);"),
    ("a hold is never lifted", "scheduler.c",
     "br_stream_lift(stream);", ";"),
    ("a hold is not made", "scheduler.c",
     "br_stream_hold(stream, now_ms + wait_ms);", ";"),
    ("a hold as long as it was asked for", "scheduler.c",
     "if (wait_ms > most_ms)", "if (false)"),
    ("two probes into a hold", "target.c",
     "(!s->hold_probing && now_ms >= s->held_until_ms)",
     "now_ms >= s->held_until_ms"),
    ("anybody ends a hold", "scheduler.c",
     "else if (ref->hold_probe)", "else"),
    ("a probe into a hold counts", "scheduler.c",
     "if (ref->hold_probe && br_sign_later(sign, o))", "if (false)"),
    ("a hold is of the whole target", "target.c",
     "if (strcmp(s->route, route) == 0)", "if (true)"),
    # sharing
    ("the last worker is anybody's", "scheduler.c",
     "if (s->rules.workers - s->in_flight == 1)", "if (false)"),
    ("targets share for ever", "share.c",
     "stream->target->in_flight != 0 && now_ms < leaves_ms",
     "stream->target->in_flight != 0"),
    ("who has none must leave it too", "share.c",
     "stream->target->in_flight != 0 && now_ms < leaves_ms",
     "now_ms < leaves_ms"),
    ("nobody wakes when the sharing ends", "share.c",
     "*until_ms = leaves_ms;", ";"),
    ("one worker, and no turns", "scheduler.c",
     "if (s->rules.workers == 1)", "if (false)"),
)


class Broken(Exception):
    """What is tested cannot be built, or a mutation does not fit."""


def call(*command):
    done = subprocess.run([str(word) for word in command], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise Broken(done.stdout.strip())
    return done.stdout


def mutate(source, edits):
    for old, new in zip(edits[0::2], edits[1::2]):
        pattern = r"\s+".join(re.escape(word) for word in old.split())
        source, count = re.subn(pattern, lambda _, new=new: new, source)
        if count != 1:
            raise Broken(f"stands {count} times in the file: {old}")
    return source


class Bench:
    """The engine and its tests, compiled once, in a folder for the rest."""

    def __init__(self, compiler, top, folder):
        self.compiler = compiler
        self.core = top / "bridge/core"
        self.folder = folder
        self.include = f"-I{top / 'include'}"
        self.cmocka = call("pkg-config", "--cflags", "--libs",
                           "cmocka").split()
        self.archive = folder / "libcore.a"
        objects = [self.compile(path, folder / f"{path.stem}.o")
                   for path in sorted(self.core.glob("*.c"))]
        call("ar", "rcs", self.archive, *objects)
        for test in TESTS:
            self.compile(top / f"tests/unit/core/{test}.c",
                         folder / f"{test}.o", *self.cmocka)

    def compile(self, source, target, *more):
        call(self.compiler, *FLAGS, self.include, "-c", source, "-o", target,
             *more)
        return target

    def first_failure(self, *objects):
        """The first test that fails with these in the archive's stead."""
        program = self.folder / "program"
        for test in TESTS:
            # What comes before the archive wins over its member.
            call(self.compiler, self.folder / f"{test}.o", *objects,
                 self.archive, *self.cmocka, "-o", program)
            try:
                done = subprocess.run(
                    [str(program)], check=False, timeout=RUN_SECONDS,
                    env={**os.environ, **SETTINGS}, cwd=self.folder,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                return f"{test} (no end)"
            if done.returncode != 0:
                return test
        return None

    def killer(self, file, edits):
        source = self.folder / file
        source.write_text(mutate((self.core / file).read_text(), edits))
        return self.first_failure(
            self.compile(source, self.folder / "mutant.o"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    bad = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutations.") as folder:
        bench = Bench(arguments.cc, arguments.folder.resolve(), Path(folder))
        failed = bench.first_failure()
        if failed is not None:
            print(f"{failed} fails without a mutation")
            return 1
        for name, file, *edits in MUTATIONS:
            try:
                by = bench.killer(file, edits)
                line = f"killed by {by}" if by else "SURVIVED"
                bad += by is None
            except Broken as why:
                line = f"DOES NOT FIT: {why}"
                bad += 1
            print(f"{file:12} {name}: {line}", flush=True)
    print(f"{len(MUTATIONS) - bad} of {len(MUTATIONS)} killed,"
          f" {time.monotonic() - begin:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        sys.exit(str(error))
