/* See entropy.h. */
#include "server/io/entropy.h"

#include <sys/random.h>

enum status entropy_fill(void *bytes, size_t count)
{
	ASSERT(count <= 256);
	/* The kernel returns requests of up to 256 bytes whole, once its generator is seeded. */
	return getrandom(bytes, count, 0) == (ssize_t)count ? STATUS_OK : STATUS_IO;
}
