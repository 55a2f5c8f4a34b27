/*
 * c11_threads: C11 threads on top of POSIX threads, for ThreadSanitizer.
 *
 * librdkafka makes its threads with thrd_create(), which ThreadSanitizer does
 * not see: the first allocation in such a thread ends the program. Linked
 * into a test, these are taken instead of the C library's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

struct start {
	thrd_start_t function;
	void *arg;
};

static void *
run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	return (void *)(long)start.function(start.arg);
}

int
thrd_create(thrd_t *thread, thrd_start_t function, void *arg)
{
	struct start *start = malloc(sizeof(*start));

	if (start == NULL)
		return thrd_nomem;
	start->function = function;
	start->arg = arg;
	if (pthread_create(thread, NULL, run, start) == 0)
		return thrd_success;
	free(start);
	return thrd_error;
}

int
thrd_join(thrd_t thread, int *result)
{
	void *value;

	if (pthread_join(thread, &value) != 0)
		return thrd_error;
	if (result != NULL)
		*result = (int)(long)value;
	return thrd_success;
}
