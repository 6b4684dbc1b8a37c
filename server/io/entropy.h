/* entropy.h: bytes nobody can guess, for tokens; from the operating system. */
#ifndef CAIRN_IO_ENTROPY_H
#define CAIRN_IO_ENTROPY_H

#include "server/base/base.h"
#include "server/base/status.h"

/* At most 256 bytes. IO: there are none, and nothing that depends on them may be given out. */
MUST_CHECK enum status entropy_fill(void *bytes, size_t count);

#endif
