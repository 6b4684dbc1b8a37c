/* See notify.h. */
#include "server/io/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_send(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path != NULL ? strlen(path) : 0;
	if (length < 2 || length >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, length);
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* the abstract namespace */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

uint32_t notify_watchdog_ms(void)
{
	const char *interval = getenv("WATCHDOG_USEC"), *whose = getenv("WATCHDOG_PID");
	if (interval == NULL || (whose != NULL && strtoll(whose, NULL, 10) != (long long)getpid()))
		return 0;
	unsigned long long us = strtoull(interval, NULL, 10);
	return (uint32_t)MIN_OF(us / 2000, (unsigned long long)UINT32_MAX);
}
