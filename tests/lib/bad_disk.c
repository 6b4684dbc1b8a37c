/* SQLite allows the system calls of its Unix file system to be replaced one by one
 * (xSetSystemCall); the replacements here fail or take time. */
#include "tests/lib/bad_disk.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <unistd.h>

#include "server/base/base.h"
#include "server/base/rng.h"
#include "tests/lib/io_sim_internal.h"

static struct {
	uint32_t good; /* writes that succeed before the first failure; UINT32_MAX: no failure */
	int why;
	uint64_t failures;
	struct io_sim *sim;
	uint64_t slow;
	struct rng rng;
} disk = { .good = UINT32_MAX };

static ssize_t write_at(int file, const void *bytes, size_t count, off_t at)
{
	if (disk.good == 0) {
		disk.failures++;
		errno = disk.why;
		return -1;
	}
	if (disk.good != UINT32_MAX)
		disk.good--;
	/* No time passes outside of events: the daemon is being created or destroyed. */
	if (disk.sim != NULL && disk.sim->actor != SIM_ACTORS) {
		uint64_t most = rng_below(&disk.rng, 100) == 0 ? 100 * disk.slow : disk.slow;
		io_sim_spend(disk.sim, rng_u64(&disk.rng) % (most + 1));
	}
	return pwrite(file, bytes, count, at);
}

void bad_disk_install(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	ASSERT(vfs != NULL && vfs->iVersion >= 3 && vfs->xSetSystemCall != NULL);
	/* Which of the two SQLite calls depends on how it was built. */
	int small = vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_at);
	int large = vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_at);
	ASSERT(small == SQLITE_OK || large == SQLITE_OK);
	bad_disk_mend();
}

void bad_disk_break(uint32_t n, int why)
{
	ASSERT(n > 0);
	disk.good = n - 1;
	disk.why = why;
	disk.failures = 0;
}

void bad_disk_mend(void)
{
	disk.good = UINT32_MAX;
	disk.failures = 0;
}

void bad_disk_slow(struct io_sim *sim, uint64_t ns)
{
	disk.sim = sim;
	disk.slow = ns;
	disk.rng = rng_seeded(ns);
}

uint64_t bad_disk_failures(void)
{
	return disk.failures;
}
