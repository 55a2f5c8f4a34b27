/* Checkpoints: what is written, byte for byte, and what is believed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "book.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOW 1791000000
#define LONGEST 3600

/* Encodes the map at offset 1000 and compares with the text; NULL: nothing. */
static void
expect_text(const char *map, const struct br_checkpoint_retry *retry,
    size_t retries, size_t limit, const char *want)
{
	const struct br_checkpoint_id id = id_at(1000);
	char out[200];
	struct book b;
	size_t len;

	book_open(&b, 1000, map, strlen(map));
	memset(out, '#', sizeof(out));
	len = br_checkpoint_encode(&id, &b.ledger, retry, retries, limit, out);
	out[len] = '\0';
	assert_string_equal(out, want != NULL ? want : "");
	book_close(&b);
}

static struct br_checkpoint *
must_read(const struct br_checkpoint_id *id, const char *text)
{
	const struct br_checkpoint_now now = {2000, NOW, LONGEST};
	enum br_checkpoint_verdict v;
	struct br_checkpoint *c =
	    read_exactly(id, text, strlen(text), &now, &v);

	assert_int_equal(v, BR_CHECKPOINT_READ);
	return c;
}

/* All texts here come from a program in another language, made from the
 * format in the header. */
static const char runs_text[] = "ob1.AQVWn+Ik";
static const char two_text[] = "ob1.AqoCAQEDCywV";
static const char retry_text[] = "ob1.AAACAAP010w";
static const char both_text[] = "ob1.AQUAAAOB94OsDQUBUAMFAAAAeeM+llE";

static const struct br_checkpoint_retry some[] = {
    {1000, 3, NOW},
    {1006, 1, NOW - 40},
    {1010, 5, 0},
    {1011, 0, NOW + 20},
};

static void
test_runs_are_written(void **state)
{
	char map[303];

	(void)state;
	expect_text("o.....", NULL, 0, 4000, runs_text);
	/* Open ones behind the last settled run are open anyway. */
	expect_text("o.....oooo", NULL, 0, 4000, runs_text);

	/* two open, 298 settled, one open, one settled */
	memset(map, '.', sizeof(map));
	map[0] = map[1] = map[300] = 'o';
	map[302] = '\0';
	expect_text(map, NULL, 0, 4000, two_text);
}

static void
test_retries_are_written(void **state)
{
	const struct br_checkpoint_retry one = {1000, 2, 0};

	(void)state;
	expect_text("o", &one, 1, 4000, retry_text);
	expect_text("o.....oooooo", some, COUNT(some), 4000, both_text);
}

static void
test_nothing_to_say(void **state)
{
	const struct br_checkpoint_id id = id_at(1006);
	const struct br_checkpoint_retry vain[] = {
	    {1000, 0, 0},        /* not tried */
	    {1001, 0, -5},       /* nor this */
	    {999, 1, 0},         /* below the watermark */
	    {1003, 1, 0},        /* not read yet */
	    {INT64_MAX, 1, NOW}, /* nor this */
	    {INT64_MIN, 1, INT64_MIN},
	};
	char out[100];
	struct book b;

	(void)state;
	expect_text("o", NULL, 0, 4000, NULL);
	expect_text("ooo", NULL, 0, 4000, NULL);
	expect_text("ooo", vain, COUNT(vain), 4000, NULL);
	book_open(&b, 1000, "......", 6);
	assert_int_equal(
	    br_checkpoint_encode(&id, &b.ledger, NULL, 0, 4000, out), 0);
	book_close(&b);
}

/* Out of order, twice, or without a meaning: the others stand as they would
 * alone. */
static void
test_odd_retries_are_left_out(void **state)
{
	const struct br_checkpoint_retry odd[] = {
	    {900, 9, NOW},
	    some[0],
	    {1000, 4, 0},
	    {1003, 0, 0},
	    some[1],
	    {1002, 7, NOW},
	    some[2],
	    some[3],
	    {1012, 1, 0},
	};

	(void)state;
	expect_text("o.....oooooo", odd, COUNT(odd), 4000, both_text);
}

static void
test_limits(void **state)
{
	size_t whole = strlen(runs_text);

	(void)state;
	expect_text("o.....", NULL, 0, whole, runs_text);
	for (size_t limit = 0; limit < whole; limit++)
		expect_text("o.....", NULL, 0, limit, NULL);
	/* One pair less as soon as two do not fit. */
	expect_text("o.....oo.", NULL, 0, whole + 2, runs_text);

	/* A quarter for an entry of three bytes: twelve are 16 characters. */
	expect_text(
	    "o", &(struct br_checkpoint_retry){1000, 2, 0}, 1, 20, retry_text);
	expect_text(
	    "o", &(struct br_checkpoint_retry){1000, 2, 0}, 1, 19, NULL);

	assert_int_equal(br_checkpoint_retries_max(0), 0);
	assert_int_equal(br_checkpoint_retries_max(19), 0);
	assert_int_equal(br_checkpoint_retries_max(20), 1);
	assert_int_equal(br_checkpoint_retries_max(4000), 249);
	assert_int_equal(br_checkpoint_retries_max(SIZE_MAX),
	    br_checkpoint_retries_max(BR_CHECKPOINT_MAX));
}

static void
other_offset(void *opaque)
{
	const struct br_checkpoint_id id = id_at(*(int64_t *)opaque);
	char out[100];
	struct book b;

	book_open(&b, 1000, "o.....", 6);
	(void)br_checkpoint_encode(&id, &b.ledger, NULL, 0, 100, out);
}

static void
test_only_beside_the_watermark(void **state)
{
	int64_t offset = 1000;

	(void)state;
	assert_false(aborts(other_offset, &offset));
	offset = 999;
	assert_true(aborts(other_offset, &offset));
	offset = 1001;
	assert_true(aborts(other_offset, &offset));
}

/* The time it takes is bound by what is written, not by what is open: of what
 * lies beyond the end nothing is touched. */
static void
test_stops_at_the_limit(void **state)
{
	const struct br_checkpoint_id id = id_at(1000);
	char map[60], out[40];
	struct book b;

	(void)state;
	for (size_t i = 0; i < sizeof(map); i++)
		map[i] = i % 2 == 0 ? 'o' : '.';
	book_open(&b, 1000, map, sizeof(map));
	/* 36 characters are 27 bytes: eleven pairs of two, and the CRC. */
	b.ref[11].ledger_next = (struct br_ref *)(uintptr_t)1;
	assert_int_equal(br_checkpoint_encode(&id, &b.ledger, NULL, 0, 40, out),
	    4 + (26 * 4 + 2) / 3);
	book_close(&b);
}

static void
ask_ref(void *opaque, const struct br_ref *ref, struct br_checkpoint_retry *r)
{
	(*(size_t *)opaque)++;
	assert_int_equal(r->offset, ref->offset);
	assert_int_equal(r->attempts, 0);
	assert_int_equal(r->due_unix_s, 0);
	r->attempts = ref->attempts - (ref->probe ? 1 : 0);
	if (ref->uncounted > 0)
		r->due_unix_s = NOW;
}

static void
test_collects_what_was_tried(void **state)
{
	struct br_checkpoint_retry got[4];
	size_t asked = 0;
	struct book b;

	(void)state;
	book_open(&b, 5, "oo.oooo", 7);
	b.ref[1].attempts = 2; /* offset 6 */
	b.ref[2].attempts = 1; /* 8: its first attempt is under way */
	b.ref[2].probe = true;
	b.ref[3].uncounted = 1; /* 9 */
	b.ref[5].attempts = 4;  /* 11 */
	assert_int_equal(
	    br_checkpoint_collect(&b.ledger, ask_ref, &asked, got, 4), 3);
	assert_int_equal(asked, 4);
	assert_int_equal(got[0].offset, 6);
	assert_int_equal(got[0].attempts, 2);
	assert_int_equal(got[1].offset, 9);
	assert_int_equal(got[1].attempts, 0);
	assert_int_equal(got[1].due_unix_s, NOW);
	assert_int_equal(got[2].offset, 11);
	assert_int_equal(got[2].attempts, 4);

	asked = 0;
	assert_int_equal(
	    br_checkpoint_collect(&b.ledger, ask_ref, &asked, got, 1), 1);
	assert_int_equal(asked, 1);
	assert_int_equal(
	    br_checkpoint_collect(&b.ledger, ask_ref, &asked, got, 0), 0);
	book_close(&b);
}

static void
test_reads(void **state)
{
	const struct br_checkpoint_id id = id_at(1000);
	struct br_checkpoint *c;

	(void)state;
	c = must_read(&id, both_text);
	assert_int_equal(c->runs, 1);
	assert_int_equal(c->run[0].from, 1001);
	assert_int_equal(c->run[0].to, 1006);
	assert_int_equal(c->end, 1012);
	assert_int_equal(c->retries, COUNT(some));
	for (size_t i = 0; i < COUNT(some); i++) {
		assert_int_equal(c->retry[i].offset, some[i].offset);
		assert_int_equal(c->retry[i].attempts, some[i].attempts);
	}
	/* What is over is due now. */
	assert_int_equal(c->retry[0].due_unix_s, NOW);
	assert_int_equal(c->retry[1].due_unix_s, NOW);
	assert_int_equal(c->retry[2].due_unix_s, 0);
	assert_int_equal(c->retry[3].due_unix_s, NOW + 20);
	br_checkpoint_free(c);

	c = must_read(&id, two_text);
	assert_int_equal(c->retries, 0);
	assert_int_equal(c->runs, 2);
	assert_int_equal(c->run[0].from, 1002);
	assert_int_equal(c->run[0].to, 1300);
	assert_int_equal(c->run[1].from, 1301);
	assert_int_equal(c->run[1].to, 1302);
	assert_int_equal(c->end, 1302);
	br_checkpoint_free(c);
	br_checkpoint_free(NULL);
}

/* The clock was set back by a day, or the longest wait was shortened. */
static void
test_due_times_are_clamped(void **state)
{
	static const struct {
		int64_t now, longest, want[4];
	} cases[] = {
	    {NOW - 100, 3600, {NOW, NOW - 40, 0, NOW + 20}},
	    {NOW - 86400, 10, {NOW - 86390, NOW - 86390, 0, NOW - 86390}},
	    {NOW - 30, 40, {NOW, NOW - 30, 0, NOW + 10}},
	    {NOW + 86400, 10, {NOW + 86400, NOW + 86400, 0, NOW + 86400}},
	    {NOW, 0, {NOW, NOW, 0, NOW}},
	    {NOW, INT64_MAX, {NOW, NOW, 0, NOW + 20}},
	};
	const struct br_checkpoint_id id = id_at(1000);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct br_checkpoint_now now = {
		    1012, cases[i].now, cases[i].longest};
		enum br_checkpoint_verdict v;
		struct br_checkpoint *c =
		    read_exactly(&id, both_text, strlen(both_text), &now, &v);

		assert_non_null(c);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(
			    c->retry[k].due_unix_s, cases[i].want[k]);
		br_checkpoint_free(c);
	}
}

static void
test_look_ups(void **state)
{
	const struct br_checkpoint_id id = id_at(1000);
	struct br_checkpoint *c = must_read(&id, both_text);
	const struct br_checkpoint_retry *r;

	(void)state;
	/* Twice each: asking changes nothing. Then from the beginning. */
	for (int round = 0; round < 2; round++)
		for (int64_t i = 990; i < 1030; i++)
			for (int twice = 0; twice < 2; twice++) {
				r = br_checkpoint_tried(c, i);
				assert_int_equal(br_checkpoint_settled(c, i),
				    i >= 1001 && i < 1006);
				assert_int_equal(
				    r != NULL, i == 1000 || i == 1006 ||
				                   i == 1010 || i == 1011);
				if (r != NULL)
					assert_int_equal(r->offset, i);
			}
	assert_true(br_checkpoint_settled(c, 1005));
	assert_true(br_checkpoint_settled(c, 1001));
	assert_false(br_checkpoint_settled(c, INT64_MAX));
	assert_false(br_checkpoint_settled(c, INT64_MIN));
	assert_null(br_checkpoint_tried(c, INT64_MIN));
	br_checkpoint_free(c);
	assert_false(br_checkpoint_settled(NULL, 1001));
	assert_null(br_checkpoint_tried(NULL, 1000));
}

static void
test_ignores_what_is_not_ours(void **state)
{
	static const struct {
		const char *text;
		enum br_checkpoint_verdict want;
	} cases[] = {
	    {"", BR_CHECKPOINT_NONE},
	    {"o", BR_CHECKPOINT_FOREIGN},
	    {"ob", BR_CHECKPOINT_FOREIGN},
	    {"ob1", BR_CHECKPOINT_FOREIGN},
	    {"ob.", BR_CHECKPOINT_FOREIGN},
	    {"OB1.AQVWn+Ik", BR_CHECKPOINT_FOREIGN},
	    {"obx.AQVWn+Ik", BR_CHECKPOINT_FOREIGN},
	    {"{\"offset\":1}", BR_CHECKPOINT_FOREIGN},
	    {"held:bridge-1", BR_CHECKPOINT_FOREIGN},
	    {"ob0.AQVWn+Ik", BR_CHECKPOINT_VERSION},
	    {"ob2.AQVWn+Ik", BR_CHECKPOINT_VERSION},
	    {"ob01.AQVWn+Ik", BR_CHECKPOINT_VERSION},
	    {"ob11.AQVWn+Ik", BR_CHECKPOINT_VERSION},
	    {"ob1.", BR_CHECKPOINT_DAMAGED},
	    {"ob1.AQVWn+J", BR_CHECKPOINT_DAMAGED}, /* bits left over */
	    {"ob1.AQVWn+I", BR_CHECKPOINT_CHECKSUM},
	    {"ob1.AQVWn+IkA", BR_CHECKPOINT_DAMAGED}, /* a lone character */
	    {"ob1.AQVWn+IkAA", BR_CHECKPOINT_CHECKSUM},
	    {"ob1.AQVWn+Il", BR_CHECKPOINT_CHECKSUM},
	    {"ob1. AQVWn+Ik", BR_CHECKPOINT_DAMAGED},
	};
	const struct br_checkpoint_id id = id_at(1000);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(
		    judge(&id, cases[i].text, strlen(cases[i].text), 2000),
		    cases[i].want);
	assert_int_equal(
	    judge(&id, "\0ob1.AQVWn+Ik", 13, 2000), BR_CHECKPOINT_NONE);
}

/* librdkafka may give more bytes than were committed. */
static void
test_ends_where_the_alphabet_ends(void **state)
{
	static const char more[][4] = {{'\0', 'A', 'A', 'A'}, {'=', '=', 0, 0},
	    {' ', 'o', 'b', '1'}, {'\xc3', '\xa9', 'A', 'A'}, {'\n', 0, 0, 0},
	    {'-', '_', 'A', 'A'}};
	const struct br_checkpoint_id id = id_at(1000);
	char text[20];

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++) {
		memcpy(text, runs_text, 12);
		memcpy(text + 12, more[i], 4);
		assert_int_equal(
		    judge(&id, text, 16, 2000), BR_CHECKPOINT_READ);
	}
}

/* Whoever writes megabytes there costs no memory. */
static void
test_ignores_what_is_too_long(void **state)
{
	static char text[10 * BR_CHECKPOINT_MAX];
	const struct br_checkpoint_id id = id_at(1000);

	(void)state;
	memset(text, 'A', sizeof(text));
	memcpy(text, "ob1.", 4);
	assert_int_equal(
	    judge(&id, text, BR_CHECKPOINT_MAX, 2000), BR_CHECKPOINT_CHECKSUM);
	assert_int_equal(judge(&id, text, BR_CHECKPOINT_MAX + 2, 2000),
	    BR_CHECKPOINT_DAMAGED);
	assert_int_equal(
	    judge(&id, text, sizeof(text), 2000), BR_CHECKPOINT_DAMAGED);
}

/* The checksum is right, what it covers is not. */
static void
test_ignores_what_is_malformed(void **state)
{
	static const char *const cases[] = {
	    "ob1.JBWblA",                  /* empty */
	    "ob1.AQBjbvY4",                /* a settled run of 0 */
	    "ob1.AfUArsE",                 /* no settled run */
	    "ob1.AQUAtQzVcg",              /* nothing after the runs' end */
	    "ob1.AAdrLcI",                 /* likewise, without runs */
	    "ob1.AABwzG5P",                /* only a gap */
	    "ob1.AAABvw49pA",              /* no due time */
	    "ob1.AACAgICAEABwk5mu",        /* 2^32 attempts */
	    "ob1.AAAAACSx56I",             /* neither attempts nor due time */
	    "ob1.AAABAtYoDyI",             /* due before 1970 */
	    "ob1.AAABAcV4/NY",             /* due in 1970, which is no time */
	    "ob1.AAABg4CAgIBAtNLOIw",      /* due too late */
	    "ob1.AAAB////////////AboxCyE", /* due: the sum would wrap */
	    "ob1.AAABgfeDrA0AAf///////////wHr02o1", /* likewise, of the second */
	    "ob1.AAABgfeDrA0AAYD3g6wNuiVnOA",       /* due in 1970, relative */
	    "ob1.gQAFVvJPhg",                       /* 1 in two bytes */
	    "ob1.AYXUadlc",             /* ends inside of a number */
	    "ob1.Af///////////wK93Nzx", /* a number of 65 bits */
	};
	const struct br_checkpoint_id id = id_at(1000);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(judge(&id, cases[i], strlen(cases[i]), 2000),
		    BR_CHECKPOINT_DAMAGED);
}

/* What is settled beyond the log's end was settled in another log. */
static void
test_ignores_what_is_beyond_the_log(void **state)
{
	static const char *const cases[] = {
	    "ob1.AegH2qVUdQ",              /* 1001-2000 settled */
	    "ob1.gICAgICAgIBAAYoAj2I",     /* 2^62 open */
	    "ob1.AYCAgICAgICAgAH0blc3",    /* 2^63 settled */
	    "ob1.Af///////////wGujC8F",    /* 2^64 - 1 settled */
	    "ob1.AOgHAQCuHDpM",            /* offset 2000 was tried */
	    "ob1.AP///////////wEBAPGXMh0", /* an offset beyond all */
	};
	const struct br_checkpoint_id id = id_at(1000), low = id_at(-1);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(judge(&id, cases[i], strlen(cases[i]), 2000),
		    BR_CHECKPOINT_BEYOND);
	assert_int_equal(
	    judge(&id, cases[0], strlen(cases[0]), 2001), BR_CHECKPOINT_READ);
	assert_int_equal(
	    judge(&id, cases[4], strlen(cases[4]), 2001), BR_CHECKPOINT_READ);
	/* An end that is not known, or lies below the commit. */
	assert_int_equal(judge(&id, runs_text, 12, -1), BR_CHECKPOINT_BEYOND);
	assert_int_equal(judge(&id, runs_text, 12, 999), BR_CHECKPOINT_BEYOND);
	assert_int_equal(judge(&id, runs_text, 12, 1005), BR_CHECKPOINT_BEYOND);
	assert_int_equal(judge(&id, runs_text, 12, 1006), BR_CHECKPOINT_READ);
	assert_int_equal(
	    judge(&id, runs_text, 12, INT64_MAX), BR_CHECKPOINT_READ);
	/* Nothing is committed: it cannot be for that. */
	assert_int_equal(judge(&low, runs_text, 12, 2000), BR_CHECKPOINT_NONE);
}

static void
test_ignores_what_is_another_partitions(void **state)
{
	static const struct br_checkpoint_id others[] = {
	    {"g", "orders", 3, 1001},
	    {"g", "orders", 3, 999},
	    {"g", "orders", 2, 1000},
	    {"g", "order", 3, 1000},
	    {"g", "Orders", 3, 1000},
	    {"h", "orders", 3, 1000},
	    {"", "orders", 3, 1000},
	    {"go", "rders", 3, 1000},
	    {"orders", "g", 3, 1000},
	    {"g", "orders", 1000, 3},
	    {"g", "orders", -1, 1000},
	};
	const struct br_checkpoint_id other = {
	    "outbox-bridge", "outbox.event.order", 0, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(others); i++)
		assert_int_equal(
		    judge(&others[i], both_text, strlen(both_text), 2000),
		    BR_CHECKPOINT_CHECKSUM);
	assert_int_equal(
	    judge(&other, "ob1.AQVsaI83", 12, 6), BR_CHECKPOINT_READ);
}

static void
test_every_verdict_has_a_text(void **state)
{
	(void)state;
	for (enum br_checkpoint_verdict v = 0; v <= BR_CHECKPOINT_BEYOND; v++)
		for (enum br_checkpoint_verdict w = 0; w < v; w++)
			assert_string_not_equal(br_checkpoint_verdict_text(v),
			    br_checkpoint_verdict_text(w));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_runs_are_written),
	    cmocka_unit_test(test_retries_are_written),
	    cmocka_unit_test(test_nothing_to_say),
	    cmocka_unit_test(test_odd_retries_are_left_out),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_only_beside_the_watermark),
	    cmocka_unit_test(test_stops_at_the_limit),
	    cmocka_unit_test(test_collects_what_was_tried),
	    cmocka_unit_test(test_reads),
	    cmocka_unit_test(test_due_times_are_clamped),
	    cmocka_unit_test(test_look_ups),
	    cmocka_unit_test(test_ignores_what_is_not_ours),
	    cmocka_unit_test(test_ends_where_the_alphabet_ends),
	    cmocka_unit_test(test_ignores_what_is_too_long),
	    cmocka_unit_test(test_ignores_what_is_malformed),
	    cmocka_unit_test(test_ignores_what_is_beyond_the_log),
	    cmocka_unit_test(test_ignores_what_is_another_partitions),
	    cmocka_unit_test(test_every_verdict_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
