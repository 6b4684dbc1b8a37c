/* See secret_file.h. */
#include "server/io/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status read_all(int fd, size_t bytes, struct bytes *out)
{
	enum status status = bytes_reserve(out, bytes + 1);
	size_t got = 0;
	while (status == STATUS_OK && got < bytes) {
		ssize_t part = read(fd, out->data + out->count + got, bytes - got);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return STATUS_IO;
		got += (size_t)part;
	}
	out->count += got;
	return status;
}

enum status secret_file_check(const char *path, size_t bytes_max, const char *field,
			      struct reason *why)
{
	struct bytes text = { 0 };
	enum status status = secret_file_read(path, bytes_max, field, &text, why);
	if (text.count > 0)
		explicit_bzero(text.data, text.count);
	bytes_release(&text);
	return status;
}

enum status secret_file_read(const char *path, size_t bytes_max, const char *field,
			     struct bytes *out, struct reason *why)
{
	struct stat found;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &found) != 0) {
		reason_set(why, STATUS_IO, -1, field, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return STATUS_IO;
	}
	enum status status = STATUS_OK;
	if (!S_ISREG(found.st_mode))
		status = reason_set(why, STATUS_IO, -1, field, "%s is not a regular file", path);
	else if ((found.st_mode & S_IRWXO) != 0)
		status = reason_set(why, STATUS_FORBIDDEN, -1, field,
				    "%s is accessible to all users; run chmod o= on it", path);
	else if ((uint64_t)found.st_size > bytes_max)
		status = reason_set(why, STATUS_TOO_LARGE, -1, field, "%s is too large", path);
	else if (read_all(fd, (size_t)found.st_size, out) != STATUS_OK)
		status = reason_set(why, STATUS_IO, -1, field, "%s cannot be read", path);
	close(fd);
	return status;
}
