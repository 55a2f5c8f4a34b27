/* file: see the header. */
#include "bridge/config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens the file; -1 and a reason when it is not one. */
static int
open_file(const char *path, const char **reason)
{
	/* A pipe without a writer must not hold us up. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		*reason = strerror(errno);
	} else if (S_ISDIR(st.st_mode)) {
		*reason = "it is a directory";
	} else if (fcntl(fd, F_SETFL, 0) != 0) {
		*reason = strerror(errno);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

bool
br_file_read(const char *path, struct br_buffer *out, const char **reason)
{
	int fd = open_file(path, reason);
	size_t start = out->len;
	char part[16384];
	ssize_t n = 0;

	if (fd < 0)
		return false;
	while (out->len - start <= BR_FILE_MAX) {
		n = read(fd, part, sizeof(part));
		if (n > 0)
			br_buffer_add(out, part, (size_t)n);
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (n < 0)
		*reason = strerror(errno);
	else if (out->len - start > BR_FILE_MAX)
		*reason = "it is larger than 1 MiB";
	close(fd);
	return n >= 0 && out->len - start <= BR_FILE_MAX;
}
