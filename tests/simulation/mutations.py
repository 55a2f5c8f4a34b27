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

TESTS = ("test_ledger", "test_heap", "test_lane", "test_target",
         "test_scheduler", "test_scheduler_turns", "test_scheduler_end",
         "test_scheduler_model")
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
     "prefer->first->ready_ms - oldest->key <= slack_ms", "slack_ms >= 0"),
    ("no worker prefers its target", "scheduler.c",
     "s->last_target[worker], PREFER_MS);", "NULL, PREFER_MS);"),
    ("a target in use may be dropped", "target.c",
     "target->lanes == 0 && target->workers == 0", "target->lanes == 0"),
    ("no doubling", "retry.c", "cap : step * 2;", "cap : step;"),
    ("Retry-After is ignored", "scheduler.c",
     "asked = (uint64_t)outcome->retry_after_ms;", "asked = 0;"),
    ("attempts are not counted", "scheduler.c",
     "lane->first->attempts++;", ""),
    ("one attempt too many", "scheduler.c",
     "ref->attempts >= ref->event->max_attempts",
     "ref->attempts > ref->event->max_attempts"),
    ("a dead one does not hold its lane", "scheduler.c",
     "br_dead_reason(&s->rules.verdict, outcome);"
     " lane_move(s, lane, BR_LANE_DEAD, 0); settle(s, ref, BR_SETTLED_DEAD);",
     "br_dead_reason(&s->rules.verdict, outcome);"
     " settle(s, ref, BR_SETTLED_DEAD);"
     " if (ref->next != NULL) { br_lane_pop(lane); br_lane_push(lane, ref);"
     " lane_serve(s, lane, now_ms); }"
     " else lane_move(s, lane, BR_LANE_DEAD, 0);"),
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
     "settle(s, br_lane_pop(lane), BR_SETTLED_DROPPED);",
     "(void)br_lane_pop(lane);"),
    ("closing drops what is in flight", "scheduler.c",
     "bool held = lane->state == BR_LANE_RUNNING || lane->state",
     "bool held = lane->state"),
    ("a closed partition's events are tried again", "scheduler.c",
     "if (ref->part->closed) { (void)br_lane_pop",
     "if (false) { (void)br_lane_pop"),
    ("who is due now sleeps on", "scheduler.c",
     "n->key <= now_ms", "n->key < now_ms"),
    ("who wakes is as young as the wake-up", "scheduler.c",
     "lane_move(s, n->owner, BR_LANE_READY, n->key);",
     "lane_move(s, n->owner, BR_LANE_READY, now_ms);"),
    ("nobody says when to come again", "scheduler.c",
     "*wake_ms = n != NULL ? n->key : INT64_MAX;", "*wake_ms = INT64_MAX;"),
    ("a buried one counts on", "scheduler.c", "s->dead--;", ""),
    ("free forgives what is left", "scheduler.c",
     "if (s->total != 0 || s->settled_first != NULL)",
     "if (s->settled_first != NULL)"),
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
