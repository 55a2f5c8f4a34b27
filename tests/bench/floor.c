/*
 * floor BROKERS TOPIC GROUP URL QUEUE_KBYTES [INSTANCE]: a librdkafka
 * consumer that hands records, by a hash of their key, to four threads which
 * POST them. Runs until TERM.
 *
 * The least that can be called a bridge: no retry, no dead letters, no
 * ledger, commits by librdkafka's timer, and a lost event whenever something
 * fails. What the real one costs more than this is the price of its promises.
 */
#include <curl/curl.h>
#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "post.h"

#define WORKERS 4
#define QUEUE_MAX 256

struct worker {
	pthread_t id;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	rd_kafka_message_t *queue[QUEUE_MAX];
	unsigned first, count;
};

static struct worker worker[WORKERS];
static const char *url;
static volatile sig_atomic_t stop;

static void
on_term(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

static void *
work(void *opaque)
{
	struct worker *w = opaque;
	struct post *post = post_new(url);

	for (;;) {
		rd_kafka_message_t *m;

		(void)pthread_mutex_lock(&w->lock);
		while (w->count == 0)
			(void)pthread_cond_wait(&w->moved, &w->lock);
		m = w->queue[w->first];
		w->first = (w->first + 1) % QUEUE_MAX;
		w->count--;
		(void)pthread_cond_signal(&w->moved);
		(void)pthread_mutex_unlock(&w->lock);
		if (!post_send(post, m->payload, m->len))
			(void)fprintf(stderr, "floor: a request failed\n");
		rd_kafka_message_destroy(m);
	}
	return NULL;
}

static struct worker *
worker_of(const rd_kafka_message_t *m)
{
	const unsigned char *key = m->key;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < m->key_len; i++)
		hash = (hash ^ key[i]) * 16777619u;
	return &worker[(hash ^ hash >> 15) % WORKERS];
}

static void
hand_over(rd_kafka_message_t *m)
{
	struct worker *w = worker_of(m);

	(void)pthread_mutex_lock(&w->lock);
	while (w->count == QUEUE_MAX)
		(void)pthread_cond_wait(&w->moved, &w->lock);
	w->queue[(w->first + w->count) % QUEUE_MAX] = m;
	w->count++;
	(void)pthread_cond_signal(&w->moved);
	(void)pthread_mutex_unlock(&w->lock);
}

static rd_kafka_t *
make_consumer(char **argv, const char *instance)
{
	const char *setting[][2] = {
	    {"bootstrap.servers", argv[1]},
	    {"group.id", argv[3]},
	    {"auto.offset.reset", "earliest"},
	    {"queued.max.messages.kbytes", argv[5]},
	    {"session.timeout.ms", "10000"},
	    {"heartbeat.interval.ms", "1000"},
	    {"group.instance.id", instance},
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk = NULL;
	char why[512];

	for (size_t i = 0; i < sizeof(setting) / sizeof(setting[0]); i++)
		if (setting[i][1] != NULL &&
		    rd_kafka_conf_set(conf, setting[i][0], setting[i][1], why,
		        sizeof(why)) != RD_KAFKA_CONF_OK) {
			(void)fprintf(stderr, "floor: %s\n", why);
			exit(64);
		}
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
	if (rk == NULL) {
		(void)fprintf(stderr, "floor: %s\n", why);
		exit(1);
	}
	(void)rd_kafka_poll_set_consumer(rk);
	return rk;
}

static void
subscribe(rd_kafka_t *rk, const char *topic)
{
	rd_kafka_topic_partition_list_t *list =
	    rd_kafka_topic_partition_list_new(1);

	(void)rd_kafka_topic_partition_list_add(
	    list, topic, RD_KAFKA_PARTITION_UA);
	if (rd_kafka_subscribe(rk, list) != RD_KAFKA_RESP_ERR_NO_ERROR)
		abort();
	rd_kafka_topic_partition_list_destroy(list);
}

int
main(int argc, char **argv)
{
	struct sigaction term = {.sa_handler = on_term};
	rd_kafka_t *rk;

	if (argc < 6) {
		(void)fprintf(stderr, "usage: floor BROKERS TOPIC GROUP URL "
		                      "QUEUE_KBYTES [INSTANCE]\n");
		return 64;
	}
	url = argv[4];
	(void)sigaction(SIGTERM, &term, NULL);
	(void)curl_global_init(CURL_GLOBAL_ALL);
	rk = make_consumer(argv, argc > 6 ? argv[6] : NULL);
	subscribe(rk, argv[2]);
	for (int i = 0; i < WORKERS; i++) {
		(void)pthread_mutex_init(&worker[i].lock, NULL);
		(void)pthread_cond_init(&worker[i].moved, NULL);
		if (pthread_create(&worker[i].id, NULL, work, &worker[i]) != 0)
			abort();
	}
	while (!stop) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 200);

		if (m != NULL && m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
			hand_over(m);
		else if (m != NULL)
			rd_kafka_message_destroy(m);
	}
	_exit(0);
}
