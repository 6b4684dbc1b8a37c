/* bad_disk.h: a disk that fails or is slow when a test says so: what SQLite writes in this process goes
 * through here. Reading is never harmed. */
#ifndef CAIRN_TESTS_BAD_DISK_H
#define CAIRN_TESTS_BAD_DISK_H

#include <stdint.h>

struct io_sim;

/* From now on writes come by; call before the first file is opened. */
void bad_disk_install(void);
/* The n-th write from now fails with this errno (ENOSPC, EIO), and so do all after it until
 * bad_disk_mend. */
void bad_disk_break(uint32_t n, int why);
void bad_disk_mend(void);
/* Every write takes up to so many ns of the simulation's time, and now and then a hundred times
 * that; NULL: none. The thread of the event at hand is held up for them. */
void bad_disk_slow(struct io_sim *sim, uint64_t ns);
/* Writes that have failed since bad_disk_break. */
uint64_t bad_disk_failures(void);

#endif
