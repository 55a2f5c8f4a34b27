/* harness: see the header. The dead letters stand in harness_dlq.c. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bridge/config/loader.h"

#define ID "event-%06u"

/* ---- the receiver's side */

static struct rig_lane *
lane_of(struct rig *r, const struct rig_event *e)
{
	int key = r->options.order == RIG_BY_KEY ? e->key : 0;

	return &r->lane[e->partition * RIG_KEYS + key];
}

/* The request begins: is it this event's turn? Called with the lock. */
static void
enter(struct rig *r, struct rig_event *e, int n)
{
	struct rig_lane *lane = lane_of(r, e);

	if (lane->in_flight++ > 0)
		r->overlaps++;
	/* What was accepted before comes again after a lost assignment; that
	 * is no disorder. */
	if (lane->current != -1 && !r->dead[lane->current] &&
	    e->offset > r->event[lane->current].offset)
		r->passed++;
	if (lane->current != n && e->offset <= lane->last_offset &&
	    e->accepted == 0)
		r->disorders++;
	lane->current = n;
	if (e->offset > lane->last_offset)
		lane->last_offset = e->offset;
}

static void
leave(struct rig *r, struct rig_event *e, bool accepted)
{
	struct rig_lane *lane = lane_of(r, e);

	lane->in_flight--;
	e->ended_ms = br_clock_mono_ms();
	if (!accepted)
		return;
	lane->current = -1;
	r->accepted += e->accepted == 0;
	e->accepted++;
}

static bool
body_is_right(struct rig *r, unsigned n, const struct receiver_request *rq)
{
	struct br_buffer body = {0};
	bool right;

	rig_body(r, n, &body);
	right = rq->body_len == body.len &&
	        memcmp(rq->body, body.data, body.len) == 0;
	br_buffer_free(&body);
	return right;
}

/* The event of a request by its key; RIG_EVENTS: unknown. */
static unsigned
number_of(const struct receiver_request *rq)
{
	char id[64];
	unsigned n;

	if (!receiver_header(rq, "Idempotency-Key", id, sizeof(id)) ||
	    sscanf(id, ID, &n) != 1 || n >= RIG_EVENTS)
		return RIG_EVENTS;
	return n;
}

static void
on_request(struct exchange *x, void *context)
{
	const struct receiver_request *rq = exchange_request(x);
	struct rig *r = context;
	unsigned n = number_of(rq), attempt = 0;
	struct rig_event *e = &r->event[n % RIG_EVENTS];
	bool right = n < RIG_EVENTS && body_is_right(r, n, rq);
	int status = 200;

	(void)pthread_mutex_lock(&r->lock);
	if (n >= r->count || e->foreign)
		r->unknown++;
	else {
		r->wrong_bodies += !right;
		attempt = ++e->requests;
		e->began_ms = br_clock_mono_ms();
		e->connection = rq->connection;
		enter(r, e, (int)n);
	}
	(void)pthread_mutex_unlock(&r->lock);
	if (attempt == 0) {
		(void)exchange_answer(x, 200, "unknown");
		return;
	}
	if (r->options.script != NULL)
		status = r->options.script(r, x, n, attempt);
	(void)pthread_mutex_lock(&r->lock);
	leave(r, e, status >= 200 && status <= 299);
	(void)pthread_mutex_unlock(&r->lock);
	if (status != 0)
		(void)exchange_answer(x, status, "answer");
}

bool
rig_at_gate(struct rig *r, struct exchange *x, int value)
{
	while (atomic_load(&r->gate) != value)
		if (!exchange_pause(x, 2))
			return false;
	return true;
}

/* ---- setting up */

struct rig *
rig_new(const struct rig_options *options)
{
	struct receiver_options receiver = {.on_request = on_request};
	struct rig *r = calloc(1, sizeof(*r));
	struct br_error err;

	assert_non_null(r);
	r->options = *options;
	if (r->options.partitions == 0)
		r->options.partitions = 1;
	for (int i = 0; i < RIG_PARTITIONS * RIG_KEYS; i++)
		r->lane[i] =
		    (struct rig_lane){.current = -1, .last_offset = -1};
	(void)pthread_mutex_init(&r->lock, NULL);
	br_metrics_reset();
	r->mock = br_mock_new(1, &err);
	assert_non_null(r->mock);
	assert_true(
	    br_mock_topic(r->mock, RIG_TOPIC, r->options.partitions, &err));
	assert_true(br_mock_topic(r->mock, RIG_DLQ, 1, &err));
	receiver.context = r;
	r->receiver = receiver_new(&receiver);
	assert_non_null(r->receiver);
	return r;
}

static const char *
text_of(const char *text)
{
	return text != NULL ? text : "";
}

static void
write_config(struct rig *r, struct br_buffer *text)
{
	const struct rig_options *o = &r->options;

	br_buffer_format(text,
	    "kafka = { brokers = \"%s\"; topics = [ \"" RIG_TOPIC "\" ];\n"
	    "group = \"" RIG_GROUP "\"; commit_interval_ms = 20; %s };\n",
	    br_mock_bootstrap(r->mock), text_of(o->kafka));
	br_buffer_str(text, "delivery = { ");
	if (!o->no_url)
		br_buffer_format(
		    text, "url = \"%s/hook\"; ", receiver_url(r->receiver));
	br_buffer_format(text, "%s };\n", text_of(o->delivery));
	if (!o->no_retry_group)
		br_buffer_str(text, "retry = { base_ms = 10; };\n");
	/* Closing a target is another story than these tests tell. */
	br_buffer_format(text,
	    "breaker = { %s };\n"
	    "dlq = { topic = \"" RIG_DLQ "\"; };\n"
	    "admin = { listen = \"\"; };\n"
	    "log = { level = \"warn\"; };\n%s\n",
	    o->breaker != NULL ? o->breaker : "failures = 0; after = 0;",
	    text_of(o->rest));
}

static void
load_config(struct rig *r)
{
	char file[] = "/tmp/bridge-test-XXXXXX";
	struct br_buffer text = {0}, faults = {0};
	int fd = mkstemp(file);

	write_config(r, &text);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text.data, text.len), (ssize_t)text.len);
	(void)close(fd);
	r->config = br_config_load(file, &faults);
	(void)unlink(file);
	if (r->config == NULL)
		fail_msg("configuration: %s", faults.data);
	br_buffer_free(&text);
	br_buffer_free(&faults);
}

static void *
run(void *context)
{
	struct rig *r = context;

	r->status = br_bridge_run(r->bridge);
	atomic_store(&r->ended, true);
	return NULL;
}

void
rig_begin(struct rig *r)
{
	struct br_error err;
	int status;

	load_config(r);
	br_log_setup(r->config->log.level, false);
	r->bridge = br_bridge_new(r->config, &status, &err);
	if (r->bridge == NULL)
		fail_msg("bridge: %s", err.text);
	atomic_store(&r->ended, false);
	assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
}

bool
rig_ready(struct rig *r)
{
	struct br_buffer why = {0};
	bool ready = br_bridge_ready(r->bridge, &why);

	br_buffer_free(&why);
	return ready;
}

bool
rig_complains(struct rig *r, const char *word)
{
	struct br_buffer why = {0};
	bool does = !br_bridge_ready(r->bridge, &why) && why.data != NULL &&
	            strstr(why.data, word) != NULL;

	br_buffer_free(&why);
	return does;
}

void
rig_start(struct rig *r)
{
	rig_begin(r);
	WAIT_FOR(rig_ready(r));
}

int
rig_stop(struct rig *r)
{
	br_bridge_stop(r->bridge);
	WAIT_FOR(atomic_load(&r->ended));
	(void)pthread_join(r->thread, NULL);
	assert_int_not_equal(br_bridge_free(r->bridge), BR_FREED_NOT);
	br_config_free(r->config);
	r->bridge = NULL;
	r->config = NULL;
	return r->status;
}

/* ---- events */

void
rig_body(const struct rig *r, unsigned n, struct br_buffer *out)
{
	br_buffer_format(out, "{\"event\": %u, \"a\":1.50,\"pad\":\"", n);
	while (out->len < r->options.body_bytes)
		br_buffer_format(out, "%c", 'a' + (int)(out->len % 26));
	br_buffer_str(out, "\xc5\x81\"}");
}

static unsigned
note(struct rig *r, const struct br_record *record, int key, bool foreign)
{
	struct rig_event *e;
	unsigned n;

	assert_true(r->count < RIG_EVENTS);
	(void)pthread_mutex_lock(&r->lock);
	n = r->count++;
	e = &r->event[n];
	*e = (struct rig_event){.partition = record->partition,
	    .offset = r->end[record->partition]++,
	    .key = key,
	    .foreign = foreign};
	(void)pthread_mutex_unlock(&r->lock);
	return n;
}

unsigned
rig_event_with(struct rig *r, int32_t partition, int key,
    const struct br_header *headers, size_t count)
{
	struct br_header all[8];
	struct br_buffer body = {0};
	struct br_error err;
	char id[32], key_text[16];
	struct br_record record = {.topic = RIG_TOPIC,
	    .partition = partition,
	    .timestamp_ms = br_clock_wall_ms(),
	    .headers = all,
	    .header_count = count + 1};
	unsigned n = note(r, &record, key, false);

	assert_true(count < 8 && key < RIG_KEYS);
	(void)snprintf(id, sizeof(id), ID, n);
	(void)snprintf(key_text, sizeof(key_text), "key-%d", key);
	all[0] = (struct br_header){"id", br_slice_str(id)};
	if (count != 0)
		memcpy(&all[1], headers, count * sizeof(*headers));
	rig_body(r, n, &body);
	record.key = br_slice_str(key_text);
	record.value = (struct br_slice){(uint8_t *)body.data, body.len};
	if (!br_mock_produce(r->mock, &record, &err))
		fail_msg("%s", err.text);
	br_buffer_free(&body);
	return n;
}

unsigned
rig_event(struct rig *r, int32_t partition, int key)
{
	return rig_event_with(r, partition, key, NULL, 0);
}

unsigned
rig_record(struct rig *r, const struct br_record *record)
{
	struct br_error err;
	unsigned n = note(r, record, 0, true);

	if (!br_mock_produce(r->mock, record, &err))
		fail_msg("%s", err.text);
	return n;
}

void
rig_flush(struct rig *r)
{
	struct br_error err;

	if (!br_mock_flush(r->mock, WAIT_MS, &err))
		fail_msg("%s", err.text);
}

struct rig_event
rig_look(struct rig *r, unsigned n)
{
	struct rig_event e;

	(void)pthread_mutex_lock(&r->lock);
	e = r->event[n];
	(void)pthread_mutex_unlock(&r->lock);
	return e;
}

unsigned
rig_accepted(struct rig *r)
{
	unsigned n;

	(void)pthread_mutex_lock(&r->lock);
	n = r->accepted;
	(void)pthread_mutex_unlock(&r->lock);
	return n;
}

bool
rig_all_accepted(struct rig *r)
{
	unsigned due = 0, got;

	(void)pthread_mutex_lock(&r->lock);
	for (unsigned n = 0; n < r->count; n++)
		due += !r->event[n].foreign;
	got = r->accepted;
	(void)pthread_mutex_unlock(&r->lock);
	return got == due;
}

/* ---- what is true in the end */

int64_t
rig_committed(struct rig *r, int32_t partition)
{
	return br_mock_committed(
	    r->mock, RIG_GROUP, RIG_TOPIC, partition, 10000);
}

bool
rig_all_committed(struct rig *r)
{
	for (int32_t p = 0; p < r->options.partitions; p++) {
		int64_t at = rig_committed(r, p);

		assert_true(at <= r->end[p]);
		if (at != r->end[p])
			return false;
	}
	return true;
}

double
rig_sample(const char *sample)
{
	struct br_buffer page = {0};
	const char *at;
	double value = -1;

	br_metrics_render(&page);
	at = page.data;
	while (at != NULL && (at = strstr(at, sample)) != NULL) {
		size_t len = strlen(sample);

		if ((at == page.data || at[-1] == '\n') && at[len] == ' ') {
			value = strtod(at + len, NULL);
			break;
		}
		at += len;
	}
	br_buffer_free(&page);
	return value;
}

void
rig_check_book(struct rig *r, int connections)
{
	assert_true(receiver_open_max(r->receiver) <= connections);
	(void)pthread_mutex_lock(&r->lock);
	assert_int_equal(r->unknown, 0);
	assert_int_equal(r->wrong_bodies, 0);
	if (r->options.order != RIG_NO_ORDER) {
		assert_int_equal(r->overlaps, 0);
		assert_int_equal(r->disorders, 0);
		assert_int_equal(r->passed, 0);
	}
	(void)pthread_mutex_unlock(&r->lock);
}

void
rig_check_once(struct rig *r)
{
	for (unsigned n = 0; n < r->count; n++) {
		struct rig_event e = rig_look(r, n);

		assert_int_equal(e.requests, e.foreign ? 0 : 1);
		assert_int_equal(e.accepted, e.foreign ? 0 : 1);
	}
}
