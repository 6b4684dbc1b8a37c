/* See entropy.h. */
#include "server/io/entropy.h"

#include <sys/random.h>

enum status entropy_fill(void *bytes, size_t count)
{
	ASSERT(count <= 256);
	/* Up to 256 bytes come whole once the system has started. */
	return getrandom(bytes, count, 0) == (ssize_t)count ? STATUS_OK : STATUS_IO;
}
