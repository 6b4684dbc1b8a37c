/* See lying_disk.h. */
#include "tests/lib/lying_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/base/base.h"
#include "server/base/rng.h"
#include "tests/lib/io_sim_internal.h"

enum { SECTOR = 512, PATH_BYTES = 512, REGIONS_MAX = 64 };

struct content {
	uint8_t *data;
	uint64_t bytes, room;
};
/* A write or, with data NULL, a truncation since the last sync. */
struct change {
	uint8_t *data;
	uint64_t at, bytes;
};
struct kept_file {
	struct kept_file *next;
	char path[PATH_BYTES];
	struct content now, safe;
	struct change *changes;
	uint32_t change_count, change_room;
	uint32_t users;
	void *regions[REGIONS_MAX]; /* shared memory of the log's index */
};
struct open_file {
	sqlite3_file base;
	struct kept_file *kept;
};

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	struct kept_file *files;
	struct rng rng;
	uint32_t write_fails, sync_fails;
	uint64_t room;
	bool cut;
	struct io_sim *sim;
	uint64_t slow;
	struct lying_disk_counts counts;
} disk;

/* ---- contents ---------------------------------------------------------------------------------- */

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void put_bytes(struct content *to, uint64_t at, const uint8_t *data, uint64_t bytes)
{
	if (at + bytes > to->room) {
		to->room = 2 * (at + bytes) + 4096;
		to->data = must(realloc(to->data, to->room));
	}
	if (at > to->bytes)
		memset(to->data + to->bytes, 0, at - to->bytes);
	if (bytes > 0)
		memcpy(to->data + at, data, bytes);
	to->bytes = MAX_OF(to->bytes, at + bytes);
}

static void apply_change(struct content *to, const struct change *change)
{
	if (change->data != NULL)
		put_bytes(to, change->at, change->data, change->bytes);
	else
		to->bytes = MIN_OF(to->bytes, change->at);
}

static void note_change(struct kept_file *file, const uint8_t *data, uint64_t at, uint64_t bytes)
{
	if (file->change_count == file->change_room) {
		file->change_room = 2 * file->change_room + 16;
		file->changes =
			must(realloc(file->changes, file->change_room * sizeof *file->changes));
	}
	struct change *change = &file->changes[file->change_count++];
	*change = (struct change){ .at = at, .bytes = bytes };
	if (data != NULL) {
		change->data = must(malloc(bytes + 1));
		memcpy(change->data, data, bytes);
	}
	apply_change(&file->now, change);
}

static void forget_changes(struct kept_file *file)
{
	for (uint32_t i = 0; i < file->change_count; i++)
		free(file->changes[i].data);
	file->change_count = 0;
}

static void copy_content(struct content *to, const struct content *from)
{
	to->bytes = 0;
	put_bytes(to, 0, from->data, from->bytes);
}

/* A random subset of the changes reaches the disk; one in four of these is torn. */
static void lose_power(struct kept_file *file)
{
	uint32_t chance = rng_below(&disk.rng, 5); /* of 4: how much survives this time */
	for (uint32_t i = 0; i < file->change_count; i++) {
		struct change *change = &file->changes[i];
		if (rng_below(&disk.rng, 4) >= chance) {
			disk.counts.lost++;
			continue;
		}
		uint64_t sectors = change->bytes / SECTOR;
		if (change->data != NULL && sectors > 0 && rng_below(&disk.rng, 4) == 0) {
			change->bytes = SECTOR * rng_below(&disk.rng, (uint32_t)sectors + 1);
			disk.counts.torn++;
		}
		apply_change(&file->safe, change);
	}
	forget_changes(file);
	copy_content(&file->now, &file->safe);
}

/* ---- one file ---------------------------------------------------------------------------------- */

static struct kept_file *kept_of(sqlite3_file *file)
{
	return ((struct open_file *)file)->kept;
}

static int close_file(sqlite3_file *file)
{
	kept_of(file)->users--;
	return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *out, int count, sqlite3_int64 at)
{
	const struct content *now = &kept_of(file)->now;
	uint64_t from = (uint64_t)at, bytes = (uint64_t)count;
	uint64_t there = from < now->bytes ? MIN_OF(now->bytes - from, bytes) : 0;
	if (there > 0)
		memcpy(out, now->data + from, there);
	memset((uint8_t *)out + there, 0, bytes - there);
	return there == bytes ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static bool is_due(uint32_t *count)
{
	return *count > 0 && --*count == 0;
}

static int write_file(sqlite3_file *file, const void *data, int count, sqlite3_int64 at)
{
	struct kept_file *kept = kept_of(file);
	uint64_t end = (uint64_t)at + (uint64_t)count;
	uint64_t more = end > kept->now.bytes ? end - kept->now.bytes : 0;
	disk.counts.writes++;
	if (disk.cut)
		return SQLITE_IOERR_WRITE;
	if (is_due(&disk.write_fails)) {
		uint64_t torn = (uint64_t)rng_below(&disk.rng, (uint32_t)count + 1);
		note_change(kept, data, (uint64_t)at, torn);
		disk.counts.failed++;
		return SQLITE_IOERR_WRITE;
	}
	if (more > disk.room) {
		disk.counts.failed++;
		return SQLITE_FULL;
	}
	if (disk.room != UINT64_MAX)
		disk.room -= more;
	note_change(kept, data, (uint64_t)at, (uint64_t)count);
	return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	if (disk.cut)
		return SQLITE_IOERR_TRUNCATE;
	note_change(kept_of(file), NULL, (uint64_t)size, 0);
	return SQLITE_OK;
}

static int sync_file(sqlite3_file *file, int flags)
{
	struct kept_file *kept = kept_of(file);
	UNUSED(flags);
	disk.counts.syncs++;
	if (disk.cut)
		return SQLITE_IOERR_FSYNC;
	/* No time passes outside of events: the daemon is being created or destroyed. */
	if (disk.sim != NULL && disk.sim->actor != SIM_ACTORS)
		io_sim_spend(disk.sim, rng_u64(&disk.rng) % (disk.slow + 1));
	if (is_due(&disk.sync_fails)) {
		disk.counts.failed++;
		forget_changes(kept);
		return SQLITE_IOERR_FSYNC;
	}
	for (uint32_t i = 0; i < kept->change_count; i++)
		apply_change(&kept->safe, &kept->changes[i]);
	forget_changes(kept);
	return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = (sqlite3_int64)kept_of(file)->now.bytes;
	return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level)
{
	UNUSED(file);
	UNUSED(level);
	return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *reserved)
{
	UNUSED(file);
	*reserved = 0;
	return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int op, void *argument)
{
	UNUSED(file);
	UNUSED(op);
	UNUSED(argument);
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	UNUSED(file);
	return 4096;
}

static int characteristics(sqlite3_file *file)
{
	UNUSED(file);
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int map_shared(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
	struct kept_file *kept = kept_of(file);
	if (region >= REGIONS_MAX)
		return SQLITE_IOERR_SHMMAP;
	if (kept->regions[region] == NULL && extend)
		kept->regions[region] = must(calloc(1, (size_t)size));
	*out = kept->regions[region];
	return SQLITE_OK;
}

static int lock_shared(sqlite3_file *file, int offset, int n, int flags)
{
	UNUSED(file);
	UNUSED(offset);
	UNUSED(n);
	UNUSED(flags);
	return SQLITE_OK;
}

static void order_shared(sqlite3_file *file)
{
	UNUSED(file);
}

static void drop_shared(struct kept_file *kept)
{
	for (int i = 0; i < REGIONS_MAX; i++) {
		free(kept->regions[i]);
		kept->regions[i] = NULL;
	}
}

static int unmap_shared(sqlite3_file *file, int remove)
{
	if (remove || kept_of(file)->users <= 1)
		drop_shared(kept_of(file));
	return SQLITE_OK;
}

static const sqlite3_io_methods METHODS = {
	.iVersion = 2,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = write_file,
	.xTruncate = truncate_file,
	.xSync = sync_file,
	.xFileSize = file_size,
	.xLock = lock_file,
	.xUnlock = lock_file,
	.xCheckReservedLock = check_lock,
	.xFileControl = control_file,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
	.xShmMap = map_shared,
	.xShmLock = lock_shared,
	.xShmBarrier = order_shared,
	.xShmUnmap = unmap_shared,
};

/* ---- the file system --------------------------------------------------------------------------- */

static struct kept_file *find_file(const char *path)
{
	for (struct kept_file *file = disk.files; file != NULL; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	return NULL;
}

static void free_file(struct kept_file *file)
{
	forget_changes(file);
	drop_shared(file);
	free(file->changes);
	free(file->now.data);
	free(file->safe.data);
	free(file);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *given)
{
	struct open_file *file = (struct open_file *)out;
	static uint32_t unnamed;
	char path[PATH_BYTES];
	UNUSED(vfs);
	if (name == NULL)
		snprintf(path, sizeof path, "/temporary/%u", (unsigned)++unnamed);
	else
		snprintf(path, sizeof path, "%s", name);
	file->base.pMethods = NULL;
	struct kept_file *kept = find_file(path);
	if (kept == NULL) {
		/* The store makes an empty file first, where its owner alone may read. */
		int real = name != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
		if (real >= 0)
			close(real);
		kept = must(calloc(1, sizeof *kept));
		snprintf(kept->path, sizeof kept->path, "%s", path);
		kept->next = disk.files;
		disk.files = kept;
	}
	kept->users++;
	file->kept = kept;
	file->base.pMethods = &METHODS;
	if (given != NULL)
		*given = flags;
	return SQLITE_OK;
}

/* Made safe at once: a log is removed only after its pages are in the file. */
static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	UNUSED(vfs);
	UNUSED(sync);
	struct kept_file **at = &disk.files;
	if (disk.cut)
		return SQLITE_IOERR_DELETE;
	while (*at != NULL && strcmp((*at)->path, name) != 0)
		at = &(*at)->next;
	if (*at == NULL)
		return SQLITE_IOERR_DELETE_NOENT;
	struct kept_file *file = *at;
	*at = file->next;
	free_file(file);
	(void)unlink(name);
	return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	const struct kept_file *file = find_file(name);
	UNUSED(vfs);
	*out = file != NULL && (flags != SQLITE_ACCESS_EXISTS || file->now.bytes > 0);
	return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
	UNUSED(vfs);
	snprintf(out, (size_t)bytes, "%s", name);
	return SQLITE_OK;
}

static int fill_random(sqlite3_vfs *vfs, int bytes, char *out)
{
	UNUSED(vfs);
	for (int i = 0; i < bytes; i++)
		out[i] = (char)rng_below(&disk.rng, 256);
	return bytes;
}

static int sleep_us(sqlite3_vfs *vfs, int us)
{
	UNUSED(vfs);
	return us;
}

static int current_time(sqlite3_vfs *vfs, double *out)
{
	UNUSED(vfs);
	*out = 2461000.5;
	return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
	UNUSED(vfs);
	if (bytes > 0)
		out[0] = '\0';
	return 0;
}

/* ---- for tests --------------------------------------------------------------------------------- */

static void free_files(void)
{
	while (disk.files != NULL) {
		struct kept_file *file = disk.files;
		disk.files = file->next;
		free_file(file);
	}
}

void lying_disk_install(uint64_t seed)
{
	if (disk.real == NULL) {
		disk.real = sqlite3_vfs_find(NULL);
		disk.vfs = (sqlite3_vfs){
			.iVersion = 1,
			.szOsFile = sizeof(struct open_file),
			.mxPathname = PATH_BYTES,
			.zName = "lying",
			.xOpen = open_file,
			.xDelete = delete_file,
			.xAccess = access_file,
			.xFullPathname = full_path,
			.xRandomness = fill_random,
			.xSleep = sleep_us,
			.xCurrentTime = current_time,
			.xGetLastError = last_error,
		};
	}
	free_files();
	disk.rng = rng_seeded(seed);
	disk.sim = NULL;
	disk.counts = (struct lying_disk_counts){ 0 };
	lying_disk_power();
	ASSERT(sqlite3_vfs_register(&disk.vfs, 1) == SQLITE_OK);
}

void lying_disk_remove(void)
{
	ASSERT(sqlite3_vfs_register(disk.real, 1) == SQLITE_OK);
	free_files();
	disk.sim = NULL;
}

void lying_disk_fail_write(uint32_t n)
{
	disk.write_fails = n;
}

void lying_disk_fail_sync(uint32_t n)
{
	disk.sync_fails = n;
}

void lying_disk_room(uint64_t bytes)
{
	disk.room = bytes;
}

void lying_disk_slow(struct io_sim *sim, uint64_t ns)
{
	disk.sim = sim;
	disk.slow = ns;
}

void lying_disk_cut(void)
{
	disk.cut = true;
}

void lying_disk_power(void)
{
	if (disk.cut)
		for (struct kept_file *file = disk.files; file != NULL; file = file->next)
			lose_power(file);
	disk.cut = false;
	disk.write_fails = disk.sync_fails = 0;
	disk.room = UINT64_MAX;
}

struct lying_disk_counts lying_disk_counts(void)
{
	return disk.counts;
}
