/* See base.h. base_panic prints file, line and fact to stderr, then aborts. */
#include "server/base/base.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void base_panic(const char *file, int line, const char *fact)
{
	fprintf(stderr, "%s:%d: this must hold: %s\n", file, line, fact);
	abort();
}
