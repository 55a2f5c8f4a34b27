/* Targets and their streams: who is served next; their number is bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "bridge/core/share.h"

#define SLACK_MS 50
#define MINUTE_MS 60000

static const struct br_health_rules rules = {
    .connections = 4, .failures = 1, .probe_ms = 1000, .probe_max_ms = 60000};

/* A table and lanes that may stand in its streams. */
struct bench {
	struct br_target_table t;
	struct br_lane lane[5];
};

static void
set_up(struct bench *b)
{
	*b = (struct bench){.t.rules = &rules};
	for (size_t i = 0; i < 5; i++)
		b->lane[i].place = (struct br_heap_node){
		    .index = BR_HEAP_OUT, .owner = &b->lane[i]};
}

static void
ready(struct bench *b, struct br_stream *s, size_t i, int64_t since_ms)
{
	br_stream_ready(&b->t, s, &b->lane[i], since_ms, since_ms);
}

static void
unready(struct bench *b, struct br_stream *s, size_t i)
{
	br_stream_unready(&b->t, s, &b->lane[i], 0);
}

static struct br_stream *
next(struct bench *b)
{
	return br_stream_next(&b->t, NULL, 0);
}

static void
test_one_for_each_name(void **state)
{
	struct bench b;
	struct br_stream *one, *two, *other;

	(void)state;
	set_up(&b);
	one = br_stream_get(&b.t, "https://a.test:443", "r", 0);
	two = br_stream_get(&b.t, "https://a.test:443", "", 0);
	other = br_stream_get(&b.t, "https://a.test:8443", "r", 0);
	assert_ptr_not_equal(one, two);
	assert_ptr_equal(one->target, two->target);
	assert_ptr_not_equal(one->target, other->target);
	assert_string_equal(one->target->name, "https://a.test:443");
	assert_string_equal(other->target->name, "https://a.test:8443");
	assert_string_equal(one->route, "r");
	assert_string_equal(two->route, "");
	assert_ptr_equal(
	    br_stream_get(&b.t, "https://a.test:443", "r", 0), one);
	assert_ptr_equal(br_stream_get(&b.t, "https://a.test:443", "", 0), two);
	assert_int_equal(b.t.count, 2);
	assert_null(next(&b));
	assert_null(br_stream_next(&b.t, one->target, SLACK_MS));
	assert_null(br_stream_turn(&b.t));
	br_target_table_free(&b.t);
}

/* The oldest lane of a stream decides when it is its turn. */
static void
test_oldest_first(void **state)
{
	struct br_stream *a, *c;
	struct bench b;

	(void)state;
	set_up(&b);
	a = br_stream_get(&b.t, "a", "", 0);
	c = br_stream_get(&b.t, "c", "", 0);
	ready(&b, c, 0, 10);
	ready(&b, a, 1, 20);
	ready(&b, c, 2, 30);
	ready(&b, a, 3, 40);
	ready(&b, a, 4, 15); /* was due before: it is older */
	assert_ptr_equal(next(&b), c);
	assert_ptr_equal(br_stream_pick(c), &b.lane[0]);
	unready(&b, c, 0);
	assert_ptr_equal(next(&b), a);
	assert_ptr_equal(br_stream_pick(a), &b.lane[4]);
	unready(&b, a, 3);
	unready(&b, a, 4);
	assert_ptr_equal(next(&b), a);
	assert_ptr_equal(br_stream_pick(a), &b.lane[1]);
	assert_int_equal(br_ready_ms(a->turn.key), 20);
	unready(&b, a, 1);
	assert_ptr_equal(next(&b), c);
	ready(&b, a, 1, 60);
	assert_ptr_equal(next(&b), c);
	unready(&b, c, 2);
	assert_ptr_equal(next(&b), a);
	unready(&b, a, 1);
	assert_null(next(&b));
	br_target_table_free(&b.t);
}

/* What is ready since the same millisecond keeps its order. */
static void
test_order_within_a_ms(void **state)
{
	struct br_stream *a;
	struct bench b;

	(void)state;
	set_up(&b);
	a = br_stream_get(&b.t, "a", "", 0);
	for (size_t i = 0; i < 5; i++)
		ready(&b, a, i, 7);
	for (size_t i = 0; i < 5; i++) {
		assert_ptr_equal(br_stream_pick(a), &b.lane[i]);
		unready(&b, a, i);
	}
	br_target_table_free(&b.t);
}

static void
test_preference_has_a_limit(void **state)
{
	struct br_stream *a, *c, *d;
	struct bench b;

	(void)state;
	set_up(&b);
	a = br_stream_get(&b.t, "a", "", 0);
	c = br_stream_get(&b.t, "c", "", 0);
	d = br_stream_get(&b.t, "d", "", 0);
	ready(&b, a, 0, 1000);
	ready(&b, c, 1, 1050);
	assert_ptr_equal(br_stream_next(&b.t, c->target, SLACK_MS), c);
	assert_ptr_equal(br_stream_next(&b.t, c->target, SLACK_MS - 1), a);
	assert_ptr_equal(br_stream_next(&b.t, a->target, SLACK_MS), a);
	assert_ptr_equal(br_stream_next(&b.t, d->target, SLACK_MS), a);
	assert_ptr_equal(br_stream_next(&b.t, NULL, SLACK_MS), a);
	unready(&b, a, 0);
	unready(&b, c, 1);
	br_target_table_free(&b.t);
}

/* A hold takes one stream out of the turns, and sets a timer. */
static void
test_hold(void **state)
{
	struct br_stream *held, *other;
	struct bench b;

	(void)state;
	set_up(&b);
	held = br_stream_get(&b.t, "a", "one", 0);
	other = br_stream_get(&b.t, "a", "two", 0);
	br_stream_hold(held, 500);
	br_stream_hold(held, 400); /* shorter: the longer one stays */
	ready(&b, held, 0, 10);
	ready(&b, other, 1, 20);
	assert_ptr_equal(next(&b), other);
	assert_int_equal(br_heap_top(&b.t.timers)->key, 500);
	assert_ptr_equal(br_heap_top(&b.t.timers)->owner, held);
	br_target_update(&b.t, held->target, 499);
	assert_ptr_equal(next(&b), other);
	br_target_update(&b.t, held->target, 500);
	assert_ptr_equal(next(&b), held);
	assert_null(br_heap_top(&b.t.timers));
	held->hold_probing = true;
	br_target_update(&b.t, held->target, 501);
	assert_ptr_equal(next(&b), other);
	assert_null(br_heap_top(&b.t.timers));
	br_stream_lift(held);
	br_target_update(&b.t, held->target, 502);
	assert_ptr_equal(next(&b), held);
	unready(&b, held, 0);
	unready(&b, other, 1);
	br_target_table_free(&b.t);
}

/* A closed target is out of the turns until its probe is due. */
static void
test_closed(void **state)
{
	struct br_stream *a;
	struct bench b;

	(void)state;
	set_up(&b);
	a = br_stream_get(&b.t, "a", "", 0);
	assert_true(br_health_end(&a->target->health, &rules, false,
	    BR_SIGN_FAILURE, 1, false, false, 100));
	br_target_update(&b.t, a->target, 100);
	assert_null(br_heap_top(&b.t.timers)); /* nobody wants to go there */
	ready(&b, a, 0, 200);
	assert_null(next(&b));
	assert_ptr_equal(br_heap_top(&b.t.timers)->owner, a->target);
	assert_int_equal(br_heap_top(&b.t.timers)->key, 1100);
	br_target_probe_now(&b.t, 300);
	assert_null(br_heap_top(&b.t.timers));
	assert_ptr_equal(next(&b), a);
	unready(&b, a, 0);
	assert_null(next(&b));
	br_target_table_free(&b.t);
}

/* The last free worker: for who has none; alone at it, for anybody. */
static void
test_share(void **state)
{
	struct br_stream *a, *c;
	struct br_share share;
	struct bench b;
	int64_t until_ms;

	(void)state;
	set_up(&b);
	a = br_stream_get(&b.t, "a", "", 0);
	c = br_stream_get(&b.t, "c", "", 0);
	br_share_init(&share);
	assert_null(br_share_last(&share, &b.t, 0, &until_ms));
	assert_true(until_ms == INT64_MAX);
	ready(&b, a, 0, 10);
	ready(&b, c, 1, 20);
	br_share_note(&share, a->target, 1000);
	a->target->in_flight = 3;
	/* nobody else was there */
	assert_ptr_equal(br_share_last(&share, &b.t, 1000, &until_ms), a);
	br_share_note(&share, c->target, 2000);
	br_share_note(&share, a->target, 3000);
	assert_ptr_equal(br_share_last(&share, &b.t, 3000, &until_ms), c);
	c->target->in_flight = 1;
	assert_null(br_share_last(&share, &b.t, 3000, &until_ms));
	assert_int_equal(until_ms, 2000 + MINUTE_MS);
	assert_null(br_share_last(&share, &b.t, until_ms - 1, &until_ms));
	assert_ptr_equal(br_share_last(&share, &b.t, until_ms, &until_ms), a);
	unready(&b, a, 0);
	/* c leaves it to a, which was used later */
	assert_null(br_share_last(&share, &b.t, 62000, &until_ms));
	assert_int_equal(until_ms, 3000 + MINUTE_MS);
	unready(&b, c, 1);
	br_target_table_free(&b.t);
}

/* Any number of hosts may come by; what is in use stays. */
static void
test_unused_ones_go(void **state)
{
	struct br_stream *aimed, *last, *held;
	struct bench b;
	char name[32];

	(void)state;
	set_up(&b);
	aimed = br_stream_get(&b.t, "aimed at", "", 0);
	last = br_stream_get(&b.t, "used last", "", 0);
	held = br_stream_get(&b.t, "held", "", 0);
	aimed->lanes = 1;
	last->target->workers = 1;
	br_stream_hold(held, 1000);
	for (int i = 0; i < 20000; i++) {
		struct br_stream *s;

		(void)snprintf(name, sizeof(name), "https://h%d.test:443", i);
		s = br_stream_get(&b.t, name, "", 0);
		assert_string_equal(s->target->name, name);
		assert_int_equal(s->lanes, 0);
		/* 1024, and one more in each chain that was empty */
		assert_true(b.t.count <= 1024 + 256);
	}
	assert_ptr_equal(br_stream_get(&b.t, "aimed at", "", 0), aimed);
	assert_ptr_equal(br_stream_get(&b.t, "used last", "", 0), last);
	assert_ptr_equal(br_stream_get(&b.t, "held", "", 0), held);
	assert_true(b.t.count >= 256);
	aimed->lanes = 0;
	br_target_table_free(&b.t);
}

/* Hosts by the thousand that refuse everything, or ask to be left alone. A
 * closed one is known for a while, unless there are too many of them. */
static void
test_closed_ones_go(void **state)
{
	struct br_stream *first;
	struct bench b;
	size_t most = 0;
	char name[32];

	(void)state;
	set_up(&b);
	first = br_stream_get(&b.t, "first", "", 0);
	for (int i = 0; i < 100000; i++) {
		/* 1000 in the time for which one is known */
		int64_t now_ms = (int64_t)i * 60;
		struct br_stream *s;

		(void)snprintf(name, sizeof(name), "https://h%d.test:443", i);
		s = br_stream_get(&b.t, name, "", now_ms);
		if (i % 2 == 0) {
			assert_true(br_health_end(&s->target->health, &rules,
			    false, BR_SIGN_FAILURE, 1, false, false, now_ms));
			b.t.closed++;
		} else
			br_stream_hold(s, now_ms + 60000);
		s->target->left_ms = now_ms;
		if (i < 500)
			assert_ptr_equal(
			    br_stream_get(&b.t, "first", "", now_ms), first);
		most = b.t.count > most ? b.t.count : most;
		assert_true(b.t.closed <= b.t.count);
	}
	assert_true(most >= 1024 && most <= 2 * 1024 + 256);

	/* All of them at once: then the first must go. */
	for (int i = 0; i < 20000; i++) {
		struct br_stream *s;

		(void)snprintf(name, sizeof(name), "https://g%d.test:443", i);
		s = br_stream_get(&b.t, name, "", 6000000);
		assert_true(br_health_end(&s->target->health, &rules, false,
		    BR_SIGN_FAILURE, 1, false, false, 6000000));
		b.t.closed++;
		s->target->left_ms = 6000000;
		assert_true(b.t.count <= 4096 + 256);
		assert_true(b.t.closed <= b.t.count);
	}
	assert_true(b.t.count >= 4096);
	br_target_table_free(&b.t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_for_each_name),
	    cmocka_unit_test(test_oldest_first),
	    cmocka_unit_test(test_order_within_a_ms),
	    cmocka_unit_test(test_preference_has_a_limit),
	    cmocka_unit_test(test_hold),
	    cmocka_unit_test(test_closed),
	    cmocka_unit_test(test_share),
	    cmocka_unit_test(test_unused_ones_go),
	    cmocka_unit_test(test_closed_ones_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
