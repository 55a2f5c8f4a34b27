/*
 * judge: what the receiver knows about events, and thinks of their sender.
 *
 * An event is a body that begins with {"id":"e-N","k":"agg-K","s":S,"t":T,
 * where N numbers all events from 0, K the key, S the events of that key
 * from 0 in their order, and T is when it was produced, in microseconds of
 * Unix time. Other bodies are counted and no more. Not thread-safe.
 */
#ifndef BENCH_JUDGE_H
#define BENCH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One request under way. */
struct judge_case {
	bool event; /* false: no event, nothing below holds */
	uint32_t number;
	uint32_t key;
	uint32_t seq;
	int status; /* what it will be answered with */
};

struct judge_rules {
	int64_t fail_key; /* every request of this key is refused; -1: none */
	int fail_status;
};

/* Forgets all events and counts. The rules stay. */
void judge_reset(void);

struct judge_rules *judge_rules(void);

/* A request has arrived in full. */
void judge_arrived(
    struct judge_case *c, const char *body, size_t len, int64_t now_us);

/* It has been answered as c->status says. */
void judge_answered(const struct judge_case *c, int64_t now_us);

/* Its members of the JSON object that /stats prints, each with a comma. */
void judge_print(FILE *out);

/* One line an event: number, key, requests, successes, microseconds from T to
 * the arrival of its first request. */
void judge_print_events(FILE *out);

#endif
