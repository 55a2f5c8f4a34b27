/*
 * loop URL THREADS SECONDS: threads that POST the same 512 bytes as fast as
 * the receiver answers, each over one connection, without Kafka.
 *
 * Prints one line of JSON. No program that waits for each answer before it
 * sends the next request over these connections can be much faster.
 */
#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "post.h"

#define THREADS_MAX 64
#define BODY_BYTES 512

struct thread {
	pthread_t id;
	const char *url;
	unsigned long requests;
	unsigned long failures;
};

static atomic_bool over;
static char body[BODY_BYTES];

static double
now_s(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double
cpu_s(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void *
work(void *opaque)
{
	struct thread *t = opaque;
	struct post *post = post_new(t->url);

	while (!atomic_load(&over)) {
		if (post_send(post, body, sizeof(body)))
			t->requests++;
		else
			t->failures++;
	}
	post_free(post);
	return NULL;
}

static void
fill_body(void)
{
	static const char head[] = "{\"p\":\"", tail[] = "\"}";

	memset(body, 'x', sizeof(body));
	memcpy(body, head, sizeof(head) - 1);
	memcpy(body + sizeof(body) - 2, tail, 2);
}

static void
sleep_s(double seconds)
{
	struct timespec t = {.tv_sec = (time_t)seconds};

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	(void)nanosleep(&t, NULL);
}

int
main(int argc, char **argv)
{
	static struct thread thread[THREADS_MAX];
	unsigned long requests = 0, failures = 0;
	double start_s, used_s;
	long count;

	count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
	if (count < 1 || count > THREADS_MAX) {
		(void)fprintf(stderr, "usage: loop URL THREADS SECONDS\n");
		return 64;
	}
	fill_body();
	(void)curl_global_init(CURL_GLOBAL_ALL);
	start_s = now_s();
	for (long i = 0; i < count; i++) {
		thread[i].url = argv[1];
		if (pthread_create(&thread[i].id, NULL, work, &thread[i]) != 0)
			abort();
	}
	sleep_s(strtod(argv[3], NULL));
	used_s = now_s() - start_s;
	atomic_store(&over, true);
	for (long i = 0; i < count; i++) {
		(void)pthread_join(thread[i].id, NULL);
		requests += thread[i].requests;
		failures += thread[i].failures;
	}
	(void)printf("{\"rate\": %.1f, \"requests\": %lu, \"failures\": %lu, "
	             "\"cpu_s\": %.3f}\n",
	    (double)requests / used_s, requests, failures, cpu_s());
	return 0;
}
