/* lying_disk.h: a disk in memory for SQLite that loses what was not synced.
 *
 * It is a VFS of its own and the default one once it is installed. A file has its content, and the content
 * that is safe: that of its last sync. A loss of power keeps the safe content and of the writes and
 * truncations since then a random subset, some of them torn at a multiple of 512 bytes. On request the n-th
 * write or sync fails, or the disk is full; a failed sync drops the writes that it should have made safe, as
 * Linux does, while reads still see them. Files exist on the real file system too, empty, because the store
 * lists its directory. Single-threaded.
 */
#ifndef CAIRN_TESTS_LYING_DISK_H
#define CAIRN_TESTS_LYING_DISK_H

#include <stdint.h>

struct io_sim;

/* From now on SQLite uses this disk, which is empty; `seed` decides what survives. */
void lying_disk_install(uint64_t seed);
/* SQLite uses the real disk again; all files are freed. */
void lying_disk_remove(void);
/* The n-th write (1: the next) fails with EIO, or is torn and then fails; 0: none. */
void lying_disk_fail_write(uint32_t n);
/* The n-th sync fails; 0: none. */
void lying_disk_fail_sync(uint32_t n);
/* The disk has room for this many more bytes; UINT64_MAX: any number. */
void lying_disk_room(uint64_t bytes);
/* A sync takes up to `ns` of simulated time; NULL: none. */
void lying_disk_slow(struct io_sim *sim, uint64_t ns);
/* The power fails: from now on every write fails, until lying_disk_power. */
void lying_disk_cut(void);
/* Power is back, faults have ended, and files have what survived. */
void lying_disk_power(void);

struct lying_disk_counts {
	uint64_t writes, syncs, lost, torn, failed; /* lost and torn: writes, at cuts */
};
struct lying_disk_counts lying_disk_counts(void);

#endif
