/* explain: see the header. */
#include "bridge/commands/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bridge/commands/explain_file.h"
#include "bridge/commands/explain_json.h"
#include "bridge/commands/explain_look.h"
#include "bridge/commands/explain_text.h"
#include "bridge/commands/setup.h"
#include "bridge/config/loader.h"
#include "bridge/http/client.h"
#include "bridge/kafka/single.h"
#include "bridge/runtime/bridge.h"

#define KAFKA_MS 15000
#define WIDTH 80      /* where no terminal tells */
#define WIDTH_MAX 120 /* prose in longer lines is hard to read */
#define TOPIC_MAX 249 /* Kafka's own limit */

static const char usage[] =
    "usage: outbox-bridge explain -c FILE [--json] TOPIC:PARTITION:OFFSET\n"
    "       outbox-bridge explain -c FILE [--json] --file RECORD.json\n"
    "       (- for standard input; several records: one a line, or a list)\n";

struct request {
	const char *config;
	const char *file; /* NULL: a place in Kafka */
	const char *place;
	char topic[TOPIC_MAX + 1];
	int32_t partition;
	int64_t offset;
	bool json;
};

/* What is common to all records of a call. */
struct call {
	const struct request *rq;
	struct br_explainer *explainer;
	struct br_buffer out;
	struct br_paper paper;
	size_t count;
};

/* ---- the command line */

static bool
misused(const char *what, const char *word)
{
	(void)fprintf(
	    stderr, "outbox-bridge: explain: %s%s\n%s", what, word, usage);
	return false;
}

/* A number without sign or white space, up to `max`. */
static bool
read_number(const char *text, size_t len, int64_t max, int64_t *out)
{
	char digits[20];

	if (len == 0 || len >= sizeof(digits) ||
	    strspn(text, "0123456789") < len)
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	errno = 0;
	*out = strtoll(digits, NULL, 10);
	return errno == 0 && *out <= max;
}

static bool
read_place(struct request *rq)
{
	const char *text = rq->place, *last = strrchr(text, ':'), *middle;
	int64_t partition;
	size_t topic;

	middle =
	    last != NULL ? memrchr(text, ':', (size_t)(last - text)) : NULL;
	topic = middle != NULL ? (size_t)(middle - text) : 0;
	if (topic == 0 || topic > TOPIC_MAX ||
	    !read_number(middle + 1, (size_t)(last - middle - 1), INT32_MAX,
	        &partition) ||
	    !read_number(last + 1, strlen(last + 1), INT64_MAX, &rq->offset))
		return misused("not TOPIC:PARTITION:OFFSET: ", text);
	memcpy(rq->topic, text, topic);
	rq->topic[topic] = '\0';
	rq->partition = (int32_t)partition;
	return true;
}

/* Where the value of an option goes; NULL for a word that is none. */
static const char **
option(struct request *rq, const char *word)
{
	if (strcmp(word, "-c") == 0)
		return &rq->config;
	return strcmp(word, "--file") == 0 ? &rq->file : NULL;
}

static bool
read_arguments(int argc, char **argv, struct request *rq)
{
	for (int i = 1; i < argc; i++) {
		const char **value = option(rq, argv[i]);

		if (value != NULL) {
			if (*value != NULL)
				return misused("given twice: ", argv[i]);
			if (i + 1 >= argc)
				return misused("needs a value: ", argv[i]);
			*value = argv[++i];
		} else if (strcmp(argv[i], "--json") == 0) {
			rq->json = true;
		} else if (argv[i][0] == '-' || rq->place != NULL) {
			return misused("not understood here: ", argv[i]);
		} else {
			rq->place = argv[i];
		}
	}
	if (rq->config == NULL)
		return misused("needs a configuration: ", "-c FILE");
	if ((rq->file == NULL) == (rq->place == NULL))
		return misused("needs one place in Kafka, or --file", "");
	return rq->file != NULL || read_place(rq);
}

/* ---- output */

static size_t
terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width <= 0 && columns != NULL)
		width = strtol(columns, NULL, 10);
	if (width <= 0)
		width = WIDTH;
	return width < WIDTH_MAX ? (size_t)width : WIDTH_MAX;
}

static bool
wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) == 1 && (no == NULL || no[0] == '\0') &&
	       term != NULL && strcmp(term, "dumb") != 0;
}

/* Writes what has gathered; false when that fails, which is said. */
static bool
flush(struct call *s)
{
	bool ok = fwrite(s->out.data, 1, s->out.len, stdout) == s->out.len &&
	          fflush(stdout) == 0;

	br_buffer_clear(&s->out);
	/* Whoever closed the pipe has seen enough. */
	if (!ok && errno != EPIPE)
		perror("outbox-bridge: standard output");
	return ok;
}

static bool
explain(struct call *s, const struct br_record *record)
{
	const struct br_explained *x = br_explainer_look(s->explainer, record);

	if (s->rq->json) {
		br_explain_json(x, &s->out);
		return flush(s);
	}
	if (s->count++ > 0)
		br_buffer_str(&s->out, "\n\n");
	br_explain_text(x, &s->paper);
	return flush(s);
}

static int
complain(int status, const struct br_error *err)
{
	(void)fprintf(stderr, "outbox-bridge: explain: %s\n", err->text);
	return status;
}

/* ---- where records come from */

static int
explain_file(struct call *s)
{
	enum br_explain_file_result result;
	struct br_record record;
	struct br_error err;
	struct br_explain_file *f = br_explain_file_open(s->rq->file, &err);
	bool written = true;

	if (f == NULL)
		return complain(BR_EXIT_USAGE, &err);
	while ((result = br_explain_file_next(f, &record, &err)) ==
	           BR_EXPLAIN_FILE_RECORD &&
	       written)
		written = explain(s, &record);
	br_explain_file_free(f);
	if (!written)
		return BR_EXIT_FATAL;
	return result == BR_EXPLAIN_FILE_FAULT ? complain(BR_EXIT_USAGE, &err)
	                                       : BR_EXIT_OK;
}

static int
explain_place(struct call *s, const struct br_config *config)
{
	const struct request *rq = s->rq;
	int64_t limit_ms = config->kafka.start_timeout_ms;
	struct br_single *single;
	struct br_error err;
	bool written;

	if (limit_ms > KAFKA_MS)
		limit_ms = KAFKA_MS;
	single = br_single_read(
	    config, rq->topic, rq->partition, rq->offset, limit_ms, &err);
	if (single == NULL)
		return complain(BR_EXIT_UNAVAILABLE, &err);
	written = explain(s, br_single_record(single));
	br_single_free(single);
	return written ? BR_EXIT_OK : BR_EXIT_FATAL;
}

static int
run(const struct request *rq, const struct br_config *config)
{
	struct call s = {.rq = rq};
	struct br_error err;
	int status;

	/* What librdkafka has to say comes as our own reason. */
	br_log_setup(BR_ERROR, false);
	if (!br_http_global_init(&err))
		return complain(BR_EXIT_FATAL, &err);
	s.explainer = br_explainer_new(config, &err);
	if (s.explainer == NULL) {
		br_http_global_cleanup();
		return complain(BR_EXIT_CONFIG, &err);
	}
	s.paper = (struct br_paper){
	    .out = &s.out, .width = terminal_width(), .colour = wants_colour()};
	status =
	    rq->file != NULL ? explain_file(&s) : explain_place(&s, config);
	br_paper_free(&s.paper);
	br_buffer_free(&s.out);
	br_explainer_free(s.explainer);
	br_http_global_cleanup();
	return status;
}

int
br_command_explain(int argc, char **argv)
{
	struct request rq = {0};
	struct br_config *config;
	int status;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		(void)fputs(usage, stdout);
		return BR_EXIT_OK;
	}
	if (!read_arguments(argc, argv, &rq))
		return BR_EXIT_USAGE;
	config = br_setup_load(rq.config, &status);
	if (config == NULL)
		return status;
	status = run(&rq, config);
	br_config_free(config);
	return status;
}
