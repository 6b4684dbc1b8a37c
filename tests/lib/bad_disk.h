/* bad_disk.h: a disk that fails or is slow when a test requests it: SQLite's writes in this process
 * go through these functions. Reads never fail. */
#ifndef CAIRN_TESTS_BAD_DISK_H
#define CAIRN_TESTS_BAD_DISK_H

#include <stdint.h>

struct io_sim;

/* Redirects writes from now on; call it before the first file is opened. */
void bad_disk_install(void);
/* The n-th write from now and all later ones fail with this errno (ENOSPC, EIO), until
 * bad_disk_mend. */
void bad_disk_break(uint32_t n, int why);
void bad_disk_mend(void);
/* Every write takes up to `ns` ns of simulated time, and occasionally a hundred times that; NULL:
 * none. The thread of the current event is delayed by it. */
void bad_disk_slow(struct io_sim *sim, uint64_t ns);
/* Writes that have failed since bad_disk_break. */
uint64_t bad_disk_failures(void);

#endif
