/* entropy.h: unpredictable bytes for tokens, from the operating system. */
#ifndef CAIRN_IO_ENTROPY_H
#define CAIRN_IO_ENTROPY_H

#include "server/base/base.h"
#include "server/base/status.h"

/* At most 256 bytes. IO: none are available; the caller must not issue a token. */
MUST_CHECK enum status entropy_fill(void *bytes, size_t count);

#endif
