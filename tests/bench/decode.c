/*
 * decode FILE SECONDS FORMAT SCHEMAS: decodes the records of a file again and
 * again on one thread, as the Kafka thread does, and prints one JSON object:
 * nanoseconds of CPU per record, and allocations of the steady state.
 *
 * FILE is what decoding.py writes: parts, each its length in decimal, a
 * newline and so many bytes; a record is topic, key, value, the number of its
 * headers, name and value of each, and the body that must come of it. SCHEMAS
 * is a folder of Avro schemas, ID.avsc; FORMAT a value of source.format.
 */
#include "bridge/config/loader.h"
#include "bridge/source/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HEADERS 16
#define RECORDS 256
#define WARM_UP 3 /* rounds over all records, before anything counts */
#define BATCHES 9

struct sample {
	struct br_record record;
	struct br_header headers[HEADERS];
	struct br_slice body;
};

struct schemas {
	const char *folder;
	struct br_registry *registry;
};

/* All of this process, avro-c's and libc's own too: see below. */
static unsigned long allocations;

#ifdef BENCH_COUNT /* a sanitizer brings its own */
/* What glibc calls its own; they are exported so that these can be replaced. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *
malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	allocations++;
	return __libc_calloc(count, size);
}

void *
realloc(void *p, size_t size)
{
	allocations++;
	return __libc_realloc(p, size);
}
#endif

static _Noreturn void
die(const char *what, const char *why)
{
	(void)fprintf(stderr, "bench-decode: %s: %s\n", what, why);
	exit(1);
}

/* A file's bytes, to be freed; one more than it has, which is 0. */
static uint8_t *
read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *bytes;
	long size;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
		die(path, "cannot be read");
	rewind(f);
	bytes = calloc(1, (size_t)size + 1);
	if (bytes == NULL || fread(bytes, 1, (size_t)size, f) != (size_t)size)
		die(path, "cannot be read");
	(void)fclose(f);
	*len = (size_t)size;
	return bytes;
}

/* Takes one part off; it is followed by a 0 in the file. */
static struct br_slice
next_part(struct br_slice *rest)
{
	size_t len = 0, at = 0;
	struct br_slice part;

	while (at < rest->len && rest->data[at] != '\n')
		len = len * 10 + (size_t)(rest->data[at++] - '0');
	if (at == rest->len || rest->len - at - 1 <= len)
		die("the records", "the last one is not complete");
	part = (struct br_slice){rest->data + at + 1, len};
	rest->data += at + len + 2;
	rest->len -= at + len + 2;
	return part;
}

static void
read_sample(struct br_slice *rest, struct sample *s)
{
	s->record.topic = (const char *)next_part(rest).data;
	s->record.key = next_part(rest);
	s->record.value = next_part(rest);
	s->record.timestamp_ms = 1796053616019;
	s->record.time_kind = BR_TIME_CREATE;
	s->record.headers = s->headers;
	s->record.header_count =
	    strtoul((const char *)next_part(rest).data, NULL, 10);
	if (s->record.header_count > HEADERS)
		die("the records", "too many headers");
	for (size_t i = 0; i < s->record.header_count; i++) {
		s->headers[i].name = (const char *)next_part(rest).data;
		s->headers[i].value = next_part(rest);
	}
	s->body = next_part(rest);
}

/* Answers from the folder, at once. */
static void
ask(void *opaque, const struct br_schema_key *key)
{
	const struct schemas *schemas = opaque;
	struct br_registry_reply *reply = calloc(1, sizeof(*reply));
	char path[4096];
	uint8_t *text;
	size_t len;

	if (reply == NULL)
		abort();
	reply->key = *key;
	reply->outcome = BR_REGISTRY_FOUND;
	reply->text = calloc(1, sizeof(*reply->text));
	if (reply->text == NULL)
		abort();
	reply->text_count = 1;
	(void)snprintf(path, sizeof(path), "%s/%llu.avsc", schemas->folder,
	    (unsigned long long)key->id);
	text = read_all(path, &len);
	br_buffer_add(reply->text, text, len);
	free(text);
	br_registry_answer(schemas->registry, reply, 0);
}

static struct br_config *
load_config(const char *format)
{
	struct br_buffer faults = {0};
	struct br_config *config;
	char text[512];

	(void)snprintf(text, sizeof(text),
	    "kafka = { brokers = \"x:1\"; topics = [ \"t\" ]; group = \"g\"; "
	    "};\n"
	    "source = { format = \"%s\"; };\n"
	    "delivery = { url = \"http://127.0.0.1:1/\"; };\n"
	    "dlq = { topic = \"d\"; };\n"
	    "registry = { url = \"http://127.0.0.1:1/\"; };\n",
	    format);
	config = br_config_load_text("bench", text, strlen(text), &faults);
	if (config == NULL)
		die("the configuration", faults.data);
	return config;
}

static const char *
check(struct br_decoder *d, const struct sample *s)
{
	struct br_decoded out;

	br_decode(d, &s->record, &out);
	if (out.result != BR_DECODE_DELIVER)
		die("a record is no event", out.detail);
	if (!br_slice_eq(out.body, s->body))
		die(out.format, "a body is not the one that it should be");
	return out.format;
}

static int64_t
cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Decodes all samples so many times; nanoseconds of each. */
static double
measure(struct br_decoder *d, const struct sample *samples, size_t count,
    unsigned long rounds)
{
	int64_t start = cpu_ns();
	struct br_decoded out;

	for (unsigned long r = 0; r < rounds; r++)
		for (size_t i = 0; i < count; i++)
			br_decode(d, &samples[i].record, &out);
	return (double)(cpu_ns() - start) / (double)(rounds * count);
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of some batches, which take about so long together. */
static void
run(struct br_decoder *d, const struct sample *samples, size_t count,
    double seconds)
{
	const char *format = "";
	double ns[BATCHES], first;
	unsigned long rounds, before;

	for (int i = 0; i < WARM_UP; i++)
		for (size_t k = 0; k < count; k++)
			format = check(d, &samples[k]);
	first = measure(d, samples, count, 1) * (double)count;
	rounds = 1 + (unsigned long)(seconds * 1e9 / BATCHES / first);
	before = allocations;
	for (int i = 0; i < BATCHES; i++)
		ns[i] = measure(d, samples, count, rounds);
	before = allocations - before;
	qsort(ns, BATCHES, sizeof(ns[0]), by_size);
	(void)printf("{\"format\": \"%s\", \"ns\": %.1f, \"records\": %lu, "
	             "\"allocations\": %lu}\n",
	    format, ns[BATCHES / 2], rounds * count * BATCHES, before);
}

int
main(int argc, char **argv)
{
	static struct sample samples[RECORDS];
	struct br_config *config;
	struct br_decoder *d;
	struct schemas schemas;
	struct br_slice rest;
	size_t count = 0;
	uint8_t *bytes;

	if (argc != 5) {
		(void)fprintf(
		    stderr, "usage: decode FILE SECONDS FORMAT SCHEMAS\n");
		return 64;
	}
	bytes = read_all(argv[1], &rest.len);
	rest.data = bytes;
	while (rest.len > 0 && count < RECORDS)
		read_sample(&rest, &samples[count++]);
	config = load_config(argv[3]);
	d = br_decoder_new(config);
	schemas.folder = argv[4];
	schemas.registry = br_registry_new(ask, &schemas);
	br_decoder_use(d, schemas.registry);
	run(d, samples, count, strtod(argv[2], NULL));
	br_decoder_free(d);
	br_registry_free(schemas.registry);
	br_config_free(config);
	free(bytes);
	return 0;
}
