/* Each way to get a configuration wrong, with the line and words of its
 * fault. */
#include "config_support.h"

#include <sys/stat.h>
#include <unistd.h>

struct row {
	const char *text;
	const char *where; /* what the fault's line begins with */
	const char *words; /* and what stands in it */
};

/* Finds the line of the faults that holds both. */
static bool
has_fault(const char *faults, const char *where, const char *words)
{
	const char *p = faults;

	while (*p != '\0') {
		const char *end = strchr(p, '\n');
		char line[2048];

		assert_non_null(end); /* every fault ends its line */
		snprintf(line, sizeof(line), "%.*s", (int)(end - p), p);
		if (strncmp(line, where, strlen(where)) == 0 &&
		    strstr(line, words) != NULL)
			return true;
		p = end + 1;
	}
	return false;
}

static size_t
count_lines(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* Every row must give exactly one fault, the expected one. */
static void
run(const struct row *rows, size_t count, const char *head)
{
	for (size_t i = 0; i < count; i++) {
		struct br_buffer faults = {0}, text = {0};

		br_buffer_str(&text, head);
		br_buffer_str(&text, rows[i].text);
		assert_null(load(text.data, &faults));
		assert_non_null(faults.data);
		if (!has_fault(faults.data, rows[i].where, rows[i].words) ||
		    count_lines(faults.data) != 1)
			fail_msg("row %zu: %s\ngives: %swanted: %s … %s", i,
			    rows[i].text, faults.data, rows[i].where,
			    rows[i].words);
		br_buffer_free(&text);
		br_buffer_free(&faults);
	}
}

#define RUN(rows, head) run(rows, sizeof(rows) / sizeof((rows)[0]), head)

/* What libconfig misreads, or only calls a syntax error. */
static const struct row scanner_rows[] = {
    {"limits = { buffer_bytes = 5000000000; };",
        NAME ":2:27: limits.buffer_bytes: ", "write 5000000000L"},
    {"limits = { buffer_bytes = 0xFFFFFFFF; };",
        NAME ":2:27: ", "write 0xFFFFFFFFL"},
    {"limits = { buffer_bytes = 99999999999999999999; };",
        NAME ":2:27: ", "does not fit into 63 bits"},
    {"limits = { buffer_bytes = 99999999999999999999L; };",
        NAME ":2:27: ", "does not fit into 63 bits"},
    {"limits = {\n  body_bytes = 010;\n};",
        NAME ":3:16: limits.body_bytes: ", "octal"},
    {"delivery2 = 1;", NAME ":2: delivery2: ", "\"delivery\"?"},
    {"retry = { retry_on = [ \"409\", ]; };",
        NAME ":2:29: retry.retry_on: ", "comma behind the last"},
    {"retry = { retry_on = ( \"409\", ); };",
        NAME ":2:29: ", "comma behind the last"},
    {"retry = { retry_on = [ , \"409\" ]; };",
        NAME ":2:24: ", "without a value"},
    {"retry = { retry_on = [ \"409\"; \"410\" ]; };",
        NAME ":2:29: ", "',' between its values"},
    {"retry = { retry_on = [ \"409\" \"410\" ]; };",
        NAME ":2:30: retry.retry_on[0]: ", "a comma is missing"},
    {"retry = { retry_on = [ \"409\", 410 ]; };",
        NAME ":2:31: ", "of one kind"},
    {"retry = { base_ms = 5ms; };",
        NAME ":2:21: retry.base_ms: ", "'5ms' is neither a number"},
    {"retry = { base_ms = 5 ms; };",
        NAME ":2:23: retry.base_ms: ", "write the number alone"},
    {"retry = { base_ms = 1_000; };", NAME ":2:21: ", "'1_000'"},
    {"log = { delivered = yes; };",
        NAME ":2:21: log.delivered: ", "found 'yes'; write true"},
    {"log = { delivered = Off };",
        NAME ":2:21: log.delivered: ", "found 'Off'; write false"},
    {"log = { level = debug; };", NAME ":2:17: log.level: ",
        "found 'debug'; a string stands in double quotes"},
    {"log = { level = 'debug'; };", NAME ":2:17: log.level: ", "single quotes"},
    {"log = { level = \u201cdebug\u201d; };",
        NAME ":2:17: log.level: ", "typographic"},
    {"log = { level = \"info\"; };\n\n/* and so on\nx = 1;",
        NAME ":4:1: ", "comment that opens here is not closed"},
    {"log = { level = \"info; };\n",
        NAME ":2:17: log.level: ", "string that opens here is not closed"},
    {"log = { level = \"info;\n format = \"json\"; };",
        NAME ":3:12: ", "opens in line 2 goes over several lines"},
    {"log = { level = \"in\"fo\"; };",
        NAME ":2:21: log: ", "found a word without quotes"},
    {"log = { level = \"a\\x00b\"; };", NAME ":2:17: ", "NUL"},
    {"@include \"secret.conf\"\n", NAME ":2:1: ", "@include is not supported"},
    {"log = { level = \"in\" \"fo\"; };",
        NAME ":2:22: log.level: ", "two strings side by side"},
    {"log = { level = \"info\"; level = \"debug\"; };",
        NAME ":2:25: log.level: ", "given twice"},
    {"log = { level = \"info\";\nlevel = \"info\"; };",
        NAME ":3:1: log.level: ", "line 2 already"},
    {"kafka = { };", NAME ":2:1: kafka: ", "line 1 already"},
    {"dlq.topic = \"d\";", NAME ":2:4: dlq: ", "GROUP = { KEY"},
    {"dlq.topic = ", NAME ":2:4: dlq: ", "GROUP = { KEY"},
    {"dlq = { topic = ; };", NAME ":2:17: dlq.topic: ", "a value is missing"},
    {"dlq { topic = \"d\"; };", NAME ":2:5: dlq: ", "'=' is missing"},
    {"dlq = { topic \"d\"; };", NAME ":2:15: dlq.topic: ", "'=' is missing"},
    {"dlq = { topic = \"d\"; ",
        NAME ":2:7: dlq: ", "group that opens here is not closed"},
    {"dlq = { topic = \"d\"; }; };", NAME ":2:25: ", "closes nothing"},
    {"dlq = { topic = \"d\";; };", NAME ":2:21: dlq: ", "a ';' too many"},
    {"retry = { retry_on = [ \"409\"",
        NAME ":2:29: retry.retry_on: ", "',' or ']' is expected here"},
    {"retry = { retry_on = [",
        NAME ":2:22: retry.retry_on: ", "list that opens here is not closed"},
    {"routes = [ { name = \"a\"; } ];",
        NAME ":2:12: routes[0]: ", "groups stand in ( )"},
    {"routes = ( name = \"a\" );", NAME ":2:12: routes: ", "stands in braces"},
    {"\"log\" = { };", NAME ":2:1: ", "keys have no quotes"},
    {"[log]\nlevel = \"info\"", NAME ":2:1: ", "a group is written"},
    {"log:\n  level: \"info\"\n",
        NAME ":3:3: log: ", "a group is written NAME = { ... }"},
    {"true = 1;", NAME ":2:1: ", "cannot be keys"},
    {"log = { level = ${env:LEVEL}; };",
        NAME ":2:17: ", "a string stands in double quotes"},
};

static void
scanner_faults(void **state)
{
	(void)state;
	RUN(scanner_rows, HEAD);
}

static void
bytes(void **state)
{
	struct br_buffer faults = {0};

	(void)state;
	assert_null(br_config_load_text(NAME, "a = 1;\nb\0c", 10, &faults));
	assert_true(has_fault(faults.data, NAME ":2:2: ", "NUL byte"));
	br_buffer_clear(&faults);
	assert_null(load("\xEF\xBB\xBF" HEAD, &faults));
	assert_true(has_fault(faults.data, NAME ":1:1: ", "byte order mark"));
	assert_int_equal(count_lines(faults.data), 1);
	br_buffer_clear(&faults);
	assert_null(br_config_load_text(NAME, "\xFF\xFEk\0", 4, &faults));
	assert_true(has_fault(faults.data, NAME ":1:1: ", "UTF-16"));
	br_buffer_free(&faults);
}

/* Unknown keys, wrong types, values that do not fit. */
static const struct row value_rows[] = {
    {"retry = { zzz = 5; };", NAME ":2: retry.zzz: unknown key; ",
        "known keys in retry: max_attempts, base_ms"},
    {"retry = { jiter = 0.5; };",
        NAME ":2: retry.jiter: ", "did you mean \"retry.jitter\"?"},
    {"retry = {\n\n max_attempt = 3;\n};",
        NAME ":4: retry.max_attempt: ", "did you mean \"retry.max_attempts\"?"},
    {"retry = { timeout_ms = 5; };",
        NAME ":2: retry.timeout_ms: ", "did you mean \"delivery.timeout_ms\"?"},
    {"source = { frmat = \"json\"; };",
        NAME ":2: source.frmat: ", "did you mean \"source.format\"?"},
    {"sources = { };", NAME ":2: sources: ", "mean \"source\"?"},
    {"routes = ( { name = \"a\"; mach = { }; } );",
        NAME ":2: routes[0].mach: ", "mean \"routes[].match\"?"},
    {"routes = ( { name = \"a\"; match = { topics = \"x\"; }; } );",
        NAME ":2: routes[0].match.topics: ", "mean \"routes[].match.topic\"?"},
    {"retry = {\n  throttle_match = \"limit (\"; };",
        NAME ":3: retry.throttle_match: ",
        "\"limit (\" is not a regular expression: Unmatched ( or"},
    {"retry = { throttle_match = \"a)\"; };",
        NAME ":2: retry.throttle_match: ", "has a ')' too many"},
    {"retry = { throttle_match = \"x*\"; };",
        NAME ":2: retry.throttle_match: ", "would be found in any answer"},
    {"retry = { throttle_match = \"(a)\\\\1\"; };",
        NAME ":2: retry.throttle_match: ", "refers back to a group"},
    {"retry = { throttle_match = 429; };",
        NAME ":2: retry.throttle_match: ", "concurrent request limit"},
    {"retry = { jitter = 2; };",
        NAME ":2: retry.jitter: ", "a number from 0 to 1"},
    {"retry = { jitter = -0.1; };",
        NAME ":2: retry.jitter: ", "the number -0.1 does not fit"},
    {"retry = { jitter = 1e999; };", NAME ":2: retry.jitter: ", "does not fit"},
    {"retry = { base_ms = \"30\"; };", NAME ":2: retry.base_ms: ",
        "found the string \"30\"; expected a whole number of ms"},
    {"retry = { base_ms = \"1${env:BR_NO:-5}\"; };",
        NAME ":2: retry.base_ms: ", "found a string"},
    {"dlq = { topic = \"a\\nb\"; };",
        NAME ":2: dlq.topic: ", "\"a?b\" is no topic name"},
    {"retry = { base_ms = 5.5; };",
        NAME ":2: retry.base_ms: ", "the number 5.5 does not fit"},
    {"retry = { base_ms = 0; };", NAME ":2: retry.base_ms: ", "from 1 to"},
    {"retry = { base_ms = -1; };",
        NAME ":2: retry.base_ms: ", "the number -1 does not fit"},
    {"retry = { base_ms = true; };", NAME ":2: retry.base_ms: ", "found true"},
    {"retry = { base_ms = [ 5 ]; };",
        NAME ":2: retry.base_ms: ", "found a list"},
    {"retry = 5;", NAME ":2: retry: ", "expected a group"},
    {"retry = { retry_on = [ \"4100\" ]; };",
        NAME ":2: retry.retry_on[0]: ", "\"4100\" is no status"},
    {"retry = { retry_on = \"417-400\"; };",
        NAME ":2: retry.retry_on: ", "\"417-400\" is no status"},
    {"retry = { retry_on = { }; };",
        NAME ":2: retry.retry_on: ", "found a group"},
    {"log = { delivered = 1; };", NAME ":2: log.delivered: ",
        "found the number 1; expected true or false"},
    {"log = { delivered = \"true\"; };",
        NAME ":2: log.delivered: ", "without quotes"},
    {"log = { level = \"inf\"; };", NAME ":2: log.level: ",
        "one of \"debug\", \"info\", \"warn\", \"error\""},
    {"log = { level = 3; };", NAME ":2: log.level: ", "found the number 3"},
    {"dlq = { topic = 3; };", NAME ":2: dlq.topic: ",
        "expected a string, for example topic = \"outbox.dlq\""},
    {"dlq = { topic = \"\"; };", NAME ":2: dlq.topic: ", "must not be empty"},
    {"dlq = { topic = \"a b\"; };", NAME ":2: dlq.topic: ", "is no topic name"},
    {"dlq = { topic = \"t\"; };",
        NAME ":1: kafka.topics: ", "holds \"t\", which is dlq.topic"},
    {"admin = { listen = \"9808\"; };",
        NAME ":2: admin.listen: ", "expected HOST:PORT"},
    {"admin = { listen = \":9808\"; };",
        NAME ":2: admin.listen: ", "expected HOST:PORT"},
    {"admin = { listen = \"h:65536\"; };",
        NAME ":2: admin.listen: ", "expected HOST:PORT"},
    {"admin = { listen = 9808; };",
        NAME ":2: admin.listen: ", "found the number 9808"},
    {"source = { format = \"avro\"; };", NAME ":2: registry.url: ",
        "needs a schema registry"},
    {"source = { formats = ( { topic = \"a\"; } ); };",
        NAME ":2: source.formats[0].format: ", "missing"},
    {"source = { formats = ( { topic = \"a\";\n format = \"xml\"; } ); "
     "};",
        NAME ":3: source.formats[0].format: ", "is not known"},
    {"source = { skip_topics = [ \"^a(\" ]; };",
        NAME ":2: source.skip_topics[0]: ", ""},
    {"source = { type_headers = [ \"\" ]; };",
        NAME ":2: source.type_headers[0]: ", "must not be empty"},
    {"routes = ( { url = \"http://h/\"; } );",
        NAME ":2: routes[0].name: ", "missing"},
    {"routes = ( { name = \"a\"; }, { name = \"a\"; } );",
        NAME ":2: routes: ", "two routes have the name \"a\""},
    {"routes = ( { name = \"a\"; url = \"ftp://h/\"; } );",
        NAME ":2: routes[0].url: ", "http"},
    {"routes = ( { name = \"a\"; match = { topic = \"^(\"; }; } );",
        NAME ":2: routes[0].match.topic: ", ""},
    {"routes = ( { name = \"a\"; match = { header = \"x\"; }; } );",
        NAME ":2: routes[0].match.header: ", "name=value"},
    {"routes = ( \"a\" );",
        NAME ":2: routes[0]: ", "expected a list of groups"},
    {"routes = 5;", NAME ":2: routes: ", "expected a list of groups"},
};

static void
value_faults(void **state)
{
	(void)state;
	RUN(value_rows, HEAD);
}

/* Settings of `kafka`, which stand on line 3. */
static const struct row kafka_rows[] = {
    {"brokers = \"b\"; };", NAME ":2: kafka.topics: missing", "[ \"outbox"},
    {"brokers = \"\"; topics = \"t\"; };",
        NAME ":3: kafka.brokers: ", "must not be empty"},
    {"brokers = \"b\"; topics = [ ]; };",
        NAME ":3: kafka.topics: ", "must not be empty"},
    {"brokers = \"b\"; topics = [ 5 ]; };",
        NAME ":3: kafka.topics[0]: ", "found the number 5"},
    {"brokers = \"b\"; topics = [ \"a/b\" ]; };",
        NAME ":3: kafka.topics[0]: ", "is no topic name"},
    {"brokers = \"b\"; topics = [ \"t\", \"outbox.dlq\" ]; };",
        NAME ":3: kafka.topics: ", "which is dlq.topic"},
};

static void
kafka_faults(void **state)
{
	(void)state;
	RUN(kafka_rows, "delivery = { url = \"http://h/\"; };\nkafka = {\n");
}

static const char *const starts[] = {"yesterday", "-2", "-2w", "-h", "2h", "",
    "2026-02-29T00:00:00Z", "2026-01-31", "-2h ", "2026-01-31T24:00:00Z",
    "2026-01-31T08:00:00", "2026-01-31T08:00:00+2:00", "2026-13-01T00:00:00Z",
    "-99999999999999999999d", "1960-01-01T00:00:00Z", "2026-01-31T08:00:00.Z",
    "2100-02-29T00:00:00Z"};

static const struct row properties[] = {
    {"enable.auto.commit=true", "", "commits itself"},
    {"consumer.enable.auto.offset.store=1", "", "commits itself"},
    {"isolation.level=read_uncommitted", "", "read_committed"},
    {"auto.offset.reset=latest", "", "use kafka.start"},
    {"group.id=x", "", "use kafka.group"},
    {"Group.Instance.Id=x", "", "use kafka.instance"},
    {"bootstrap.servers=x", "", "use kafka.brokers"},
    {"producer.metadata.broker.list=x", "", "use kafka.brokers"},
    {"session.timeout.ms", "", "name=value"},
    {"=5", "", "name=value"},
    {"a b=5", "", "without spaces"},
    {"", "", "must not be empty"},
};

/* Puts one value into a text and expects one fault. */
static void
run_one(const char *head, const char *value, const char *tail,
    const char *where, const char *words)
{
	struct br_buffer text = {0}, faults = {0};

	br_buffer_str(&text, head);
	br_buffer_str(&text, value);
	br_buffer_str(&text, tail);
	assert_null(load(text.data, &faults));
	if (!has_fault(faults.data, where, words) ||
	    count_lines(faults.data) != 1)
		fail_msg("%s gives %s", value, faults.data);
	br_buffer_free(&text);
	br_buffer_free(&faults);
}

static void
start_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		run_one("delivery = { url = \"http://h/\"; };\nkafka = { "
		        "brokers = \"b\"; topics = \"t\";\n start = \"",
		    starts[i], "\"; };", NAME ":3: kafka.start: ", "\"-2h\"");
}

static void
property_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
		run_one("delivery = { url = \"http://h/\"; };\nkafka = { "
		        "brokers = \"b\"; topics = \"t\";\nproperties = [ "
		        "\"a=b\",\n\"",
		    properties[i].text, "\" ]; };",
		    NAME ":4: kafka.properties[1]: ", properties[i].words);
}

/* Faults of `delivery`, whose group is on line 2. */
static const struct row delivery_rows[] = {
    {"", NAME ":1: delivery.url: ", "no event could be sent anywhere"},
    {"delivery = { event_url = \"ignore\"; event_urls = \"h\"; };",
        NAME ":2: delivery.url: ", "event_url = \"use\""},
    {"routes = ( { name = \"a\"; url = \"http://h/\"; },"
     " { name = \"b\"; } );",
        NAME ":2: routes: ", "the route \"b\" has no url"},
    {"delivery = { url = \"hooks\"; };", NAME ":2: delivery.url: ", ""},
    {"delivery = { url = \"http://h:0/\"; };",
        NAME ":2: delivery.url: ", "port"},
    {"delivery = { event_urls = [ \"h\", \"ftp://h\" ]; };",
        NAME ":2: delivery.event_urls[1]: ", ""},
    {"delivery = { url = \"http://h/\"; connections = 0; };",
        NAME ":2: delivery.connections: ", "from 1 to 1024"},
    {"delivery = { url = \"http://h/\"; ca_file = \"/nonexistent\"; };",
        NAME ":2: delivery.ca_file: ", "No such file"},
    {"delivery = { url = \"http://h/\"; order = \"keys\"; };",
        NAME ":2: delivery.order: ", "\"key\", \"partition\", \"none\""},
    {"delivery = { url = \"http://h/\"; idempotency_headers = [ ]; };",
        NAME ":2: delivery.idempotency_headers: ", "not be empty"},
    {"delivery = { url = \"http://h/\"; idempotency_headers = \"a:\"; "
     "};",
        NAME ":2: delivery.idempotency_headers: ", "no ':'"},
    {"delivery = { url = \"http://h/\"; idempotency_headers = "
     "\"content-type\"; };",
        NAME ":2: delivery.idempotency_headers: ", "Content-Type"},
};

static void
delivery_faults(void **state)
{
	(void)state;
	RUN(delivery_rows, "kafka = { brokers = \"b\"; topics = \"t\"; };\n");
}

/* One run tells them all. */
static void
all_at_once(void **state)
{
	struct br_buffer faults = {0};

	(void)state;
	assert_null(load("kafka = {\n brokes = \"b\";\n topics = [ \"t\", ];\n"
	                 " commit_interval_ms = 5ms;\n};\n"
	                 "retry = {\n jitter = 2;\n}\nlogs = 1;\n",
	    &faults));
	assert_true(has_fault(faults.data, NAME ":2: kafka.brokes: ",
	    "unknown key; did you mean \"kafka.brokers\"?"));
	assert_true(
	    has_fault(faults.data, NAME ":1: kafka.brokers: ", "missing"));
	assert_true(has_fault(faults.data, NAME ":3:16: ", "comma"));
	assert_true(has_fault(faults.data, NAME ":4:23: ", "'5ms'"));
	assert_true(has_fault(faults.data, NAME ":7: retry.jitter: ", "2"));
	assert_true(has_fault(faults.data, NAME ":9: logs: ", "\"log\"?"));
	assert_true(has_fault(faults.data, NAME ":1: delivery.url: ", ""));
	assert_int_equal(count_lines(faults.data), 7);
	br_buffer_free(&faults);
}

/* More names than a request has room for, and a row that would need much
 * memory for each target. */
static void
too_many(void **state)
{
	struct br_buffer faults = {0};

	(void)state;
	assert_null(load("kafka = { brokers = \"b\"; topics = [ \"t\" ]; };\n"
	                 "delivery = { url = \"http://h\";\n"
	                 " idempotency_headers = [ \"A\", \"B\", \"C\", "
	                 "\"D\", \"E\", \"F\", \"G\", \"H\", \"I\", "
	                 "\"J\", \"K\", \"L\", \"M\", \"N\" ]; };\n"
	                 "breaker = { failures = 1001; };\n",
	    &faults));
	assert_true(strstr(faults.data, "delivery.idempotency_headers: names "
	                                "14 headers; at most 13") != NULL);
	assert_true(strstr(faults.data, "breaker.failures: ") != NULL);
	assert_int_equal(count_lines(faults.data), 2);
	br_buffer_free(&faults);
}

/* A fault of a thousand is still a page that can be read. */
static void
many(void **state)
{
	struct br_buffer faults = {0}, text = {0};

	(void)state;
	br_buffer_str(&text, HEAD "retry = { retry_on = [ 1");
	for (int i = 0; i < 50000; i++)
		br_buffer_str(&text, ",1");
	br_buffer_str(&text, " ]; };");
	assert_null(load(text.data, &faults));
	assert_in_range(count_lines(faults.data), 50, 100);
	br_buffer_clear(&text);
	br_buffer_clear(&faults);
	for (int i = 0; i < 20000; i++)
		br_buffer_str(&text, "a=(");
	assert_null(load(text.data, &faults));
	assert_true(strstr(faults.data, "nested more than") != NULL ||
	            strstr(faults.data, "braces") != NULL);
	br_buffer_clear(&text);
	br_buffer_clear(&faults);
	for (int i = 0; i < 20000; i++)
		br_buffer_str(&text, "(");
	assert_null(load(text.data, &faults));
	br_buffer_clear(&text);
	br_buffer_clear(&faults);
	for (int i = 0; i < 100000; i++)
		br_buffer_format(&text, "a%d=1 ", i);
	assert_null(load(text.data, &faults));
	assert_true(has_fault(faults.data, NAME ":1:", "more than 1000 keys"));
	br_buffer_free(&text);
	br_buffer_free(&faults);
}

/* What is no configuration file at all. */
static void
files(void **state)
{
	char dir[] = "/tmp/br_config_XXXXXX", path[64], want[128];
	struct br_buffer faults = {0};
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_null(br_config_load(dir, &faults));
	snprintf(want, sizeof(want), "%s: ", dir);
	assert_true(has_fault(faults.data, want, "is a directory"));
	br_buffer_clear(&faults);
	snprintf(path, sizeof(path), "%s/x", dir);
	assert_null(br_config_load(path, &faults));
	assert_true(has_fault(faults.data, path, "No such file"));
	br_buffer_clear(&faults);
	assert_null(br_config_load("/dev/zero", &faults));
	assert_true(has_fault(faults.data, "/dev/zero: ", "larger than 1 MiB"));
	br_buffer_clear(&faults);
	assert_null(br_config_load("/dev/null", &faults));
	assert_true(
	    has_fault(faults.data, "/dev/null:1: kafka.brokers: ", "missing"));
	br_buffer_clear(&faults);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(HEAD, f) >= 0 && fclose(f) == 0);
	assert_int_equal(chmod(path, 0), 0);
	if (access(path, R_OK) != 0) { /* not so for root */
		assert_null(br_config_load(path, &faults));
		assert_true(has_fault(faults.data, path, "ermission"));
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	br_buffer_clear(&faults);
	assert_null(br_config_load(path, &faults)); /* does not hang */
	unlink(path);
	rmdir(dir);
	br_buffer_free(&faults);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(scanner_faults),
	    cmocka_unit_test(bytes), cmocka_unit_test(value_faults),
	    cmocka_unit_test(kafka_faults), cmocka_unit_test(start_faults),
	    cmocka_unit_test(property_faults),
	    cmocka_unit_test(delivery_faults), cmocka_unit_test(all_at_once),
	    cmocka_unit_test(too_many), cmocka_unit_test(many),
	    cmocka_unit_test(files)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
