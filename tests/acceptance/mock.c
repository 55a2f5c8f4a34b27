/* A process around librdkafka's mock cluster, for answers that a real broker does not give on demand.
 *
 *   mock [BROKERS]        prints "bootstrap HOST:PORT,..." and then reads commands, one a line; answers "ok" or "err TEXT"
 *     topic NAME PARTITIONS
 *     push APIKEY ERROR COUNT      the next COUNT requests of this ApiKey get this error
 *     clear APIKEY
 *     topicerr NAME ERROR          error of this topic in metadata answers; 0 clears it
 *     down BROKER | up BROKER | rtt BROKER MILLISECONDS
 *     coordinator GROUP BROKER
 *     quit                         (so does the end of standard input)
 * Build: cc mock.c -o mock -lrdkafka
 */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>

static void
answer(rd_kafka_resp_err_t e)
{
	if (e)
		printf("err %s\n", rd_kafka_err2name(e));
	else
		printf("ok\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char err[512], line[1024], a[512], b[512];
	int x, y, z;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_conf_set(conf, "client.id", "mock", err, sizeof(err));
	rd_kafka_t *rk =
	    rd_kafka_new(RD_KAFKA_PRODUCER, conf, err, sizeof(err));
	if (!rk) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	rd_kafka_mock_cluster_t *m =
	    rd_kafka_mock_cluster_new(rk, argc > 1 ? atoi(argv[1]) : 1);
	if (!m) {
		fprintf(stderr, "no mock cluster\n");
		return 1;
	}
	printf("bootstrap %s\n", rd_kafka_mock_cluster_bootstraps(m));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "topic %511s %d", a, &x) == 2)
			answer(rd_kafka_mock_topic_create(m, a, x, 1));
		else if (sscanf(line, "push %d %d %d", &x, &y, &z) == 3) {
			rd_kafka_resp_err_t *list = calloc(z, sizeof(*list));
			for (int i = 0; i < z; i++)
				list[i] = (rd_kafka_resp_err_t)y;
			rd_kafka_mock_push_request_errors_array(
			    m, (int16_t)x, (size_t)z, list);
			free(list);
			answer(0);
		} else if (sscanf(line, "clear %d", &x) == 1) {
			rd_kafka_mock_clear_request_errors(m, (int16_t)x);
			answer(0);
		} else if (sscanf(line, "topicerr %511s %d", a, &x) == 2) {
			rd_kafka_mock_topic_set_error(
			    m, a, (rd_kafka_resp_err_t)x);
			answer(0);
		} else if (sscanf(line, "down %d", &x) == 1)
			answer(rd_kafka_mock_broker_set_down(m, x));
		else if (sscanf(line, "up %d", &x) == 1)
			answer(rd_kafka_mock_broker_set_up(m, x));
		else if (sscanf(line, "rtt %d %d", &x, &y) == 2)
			answer(rd_kafka_mock_broker_set_rtt(m, x, y));
		else if (sscanf(line, "coordinator %511s %d", a, &x) == 2)
			answer(rd_kafka_mock_coordinator_set(m, "group", a, x));
		else if (sscanf(line, "%511s", b) == 1 && !strcmp(b, "quit"))
			break;
		else {
			printf("err what?\n");
			fflush(stdout);
		}
	}
	rd_kafka_mock_cluster_destroy(m);
	rd_kafka_destroy(rk);
	return 0;
}
