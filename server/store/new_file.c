/* See new_file.h. */
#include "server/store/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status new_file_fail(const char *path, struct reason *why)
{
	int code = errno;
	enum status status = code == EEXIST   ? STATUS_EXISTS
			     : code == ENOENT ? STATUS_MISSING
			     : code == ENOSPC ? STATUS_FULL
					      : STATUS_IO;
	return reason_set(why, status, -1, "file", "%s: %s", path, strerror(code));
}

enum status new_file_claim(const char *path, struct reason *why)
{
	int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return new_file_fail(path, why);
	bool own = fchmod(file, 0600) == 0;
	enum status status = own ? STATUS_OK : new_file_fail(path, why);
	close(file);
	return status;
}

void new_file_remove(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char name[NEW_FILE_PATH + 16];
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
		(void)unlink(name);
	}
}

void new_file_folder(const char *path, char folder[NEW_FILE_PATH])
{
	const char *slash = strrchr(path, '/');
	int bytes = slash != NULL ? (int)(slash - path) : 1;
	snprintf(folder, NEW_FILE_PATH, "%.*s", bytes, slash != NULL ? path : ".");
	if (folder[0] == '\0')
		snprintf(folder, NEW_FILE_PATH, "/");
}

enum status new_file_sync(const char *path, uint64_t *bytes, struct reason *why)
{
	char folder[NEW_FILE_PATH];
	struct stat found;
	new_file_folder(path, folder);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool synced = file >= 0 && directory >= 0 && fstat(file, &found) == 0 && fsync(file) == 0 &&
		      fsync(directory) == 0;
	enum status status = synced ? STATUS_OK : new_file_fail(path, why);
	*bytes = synced ? (uint64_t)found.st_size : 0;
	if (file >= 0)
		close(file);
	if (directory >= 0)
		close(directory);
	return status;
}

enum status new_file_finish(sqlite3 *db, enum status status, struct reason *why)
{
	if (status == STATUS_OK)
		status = sql_exec(db, "PRAGMA journal_mode = DELETE", why);
	sql_close(db);
	return status;
}
