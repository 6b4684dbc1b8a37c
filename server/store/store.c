/* store.c: the directory of worlds, its lock, and the lists of journals with work and news
 * (store_state.h). */
#include "server/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/validate.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/store/schema.h"
#include "server/store/store_state.h"

static const char SUFFIX[] = ".cairn";

void store_path(const struct store *store, const char *name, const char *suffix,
		char path[STORE_PATH_MAX])
{
	int bytes =
		snprintf(path, STORE_PATH_MAX, "%s/%s%s%s", store->directory, name, SUFFIX, suffix);
	ASSERT(bytes > 0 && bytes < STORE_PATH_MAX);
}

static enum status fail_errno(const char *what, struct reason *why)
{
	int code = errno;
	return reason_set(why, code == ENOENT ? STATUS_MISSING : STATUS_IO, -1, "data", "%s: %s",
			  what, strerror(code));
}

/* ---- work and news ----------------------------------------------------------------------------- */

void store_queue_work(struct store *store, struct journal *journal)
{
	lock_take(&store->lock);
	journal->next_work = NULL;
	*store->work_end = journal;
	store->work_end = &journal->next_work;
	lock_give(&store->lock);
	executor_wake(store->executor, EXECUTOR_STORE, &store->work);
}

void store_queue_news(struct store *store, struct journal *journal, bool closed)
{
	lock_take(&store->lock);
	journal->closed = closed;
	if (!journal->in_news) {
		journal->in_news = true;
		journal->next_news = NULL;
		*store->news_end = journal;
		store->news_end = &journal->next_news;
	}
	lock_give(&store->lock);
	if (!store->ending)
		executor_wake(store->executor, EXECUTOR_LOOP, &store->news);
}

static struct journal *take_work(struct store *store)
{
	lock_take(&store->lock);
	struct journal *first = store->work_first;
	store->work_first = NULL;
	store->work_end = &store->work_first;
	lock_give(&store->lock);
	return first;
}

/* STORE: serves each journal with work once; those that are not due go back into the list. */
static uint64_t work_turn(struct store *store, bool force)
{
	uint64_t next = INSTANT_NEVER;
	session_file_turn(store->sessions);
	struct journal *journal = take_work(store);
	struct journal *kept = NULL, **kept_end = &kept;
	while (journal != NULL) {
		struct journal *following = journal->next_work;
		uint64_t again = journal_turn(journal, executor_now(store->executor), force);
		if (again != INSTANT_NEVER) {
			journal->next_work = NULL;
			*kept_end = journal;
			kept_end = &journal->next_work;
			next = MIN_OF(next, again);
		}
		journal = following;
	}
	if (kept == NULL)
		return next;
	lock_take(&store->lock);
	*store->work_end = kept;
	store->work_end = kept_end;
	lock_give(&store->lock);
	return next;
}

static void on_work(void *context)
{
	struct store *store = context;
	executor_set_alarm(store->executor, work_turn(store, false));
}

/* LOOP: reports the news of each journal in the list; frees closed ones. */
static void on_news(void *context)
{
	struct store *store = context;
	if (!store->ending)
		session_file_report(store->sessions);
	for (;;) {
		lock_take(&store->lock);
		struct journal *journal = store->news_first;
		bool closed = false;
		if (journal != NULL) {
			store->news_first = journal->next_news;
			if (store->news_first == NULL)
				store->news_end = &store->news_first;
			journal->in_news = false;
			closed = journal->closed;
		}
		lock_give(&store->lock);
		if (journal == NULL)
			return;
		journal_report(journal);
		if (closed)
			journal_destroy(journal);
	}
}

/* ---- the directory ----------------------------------------------------------------------------- */

/* The process that holds the lock on DIR/cairnd.lock owns the directory; the system releases it when the
 * process ends, in any way. */
static enum status lock_directory(struct store *self, struct reason *why)
{
	char path[STORE_PATH_MAX + 16], text[32] = "";
	snprintf(path, sizeof path, "%s/cairnd.lock", self->directory);
	self->lock_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (self->lock_file < 0 || fchmod(self->lock_file, 0600) != 0)
		return fail_errno(path, why);
	if (flock(self->lock_file, LOCK_EX | LOCK_NB) != 0) {
		ssize_t got = read(self->lock_file, text, sizeof text - 1);
		text[got > 0 ? strcspn(text, "\n") : 0] = '\0';
		return reason_set(why, STATUS_IN_USE, -1, "data",
				  "another cairnd (process %s) is using %.90s: stop it first", text,
				  self->directory);
	}
	int bytes = snprintf(text, sizeof text, "%ld\n", (long)getpid());
	if (ftruncate(self->lock_file, 0) != 0 ||
	    pwrite(self->lock_file, text, (size_t)bytes, 0) != bytes)
		return fail_errno(path, why);
	return STATUS_OK;
}

/* True: the file contains a checkpoint, or cannot be read and needs attention. False for the file that a
 * crash leaves between creation and first transaction: nothing in it was ever reported durable. */
static bool has_begun(const char *path)
{
	sqlite3 *db;
	struct reason why;
	uint64_t checkpoints = 0;
	enum status status = sql_open(path, SQL_ALONE, &db, &why);
	if (status != STATUS_OK)
		return true;
	status = schema_check(db, NULL, &why);
	if (status == STATUS_OK)
		status = sql_number(db, "SELECT count(*) FROM (SELECT 1 FROM checkpoints LIMIT 1)",
				    0, &checkpoints, &why);
	sql_close(db);
	return status == STATUS_OK ? checkpoints > 0 : status != STATUS_MISSING;
}

static enum status add_name(struct store *self, const char *name, size_t bytes)
{
	char *copy = heap_alloc(bytes + 1);
	if (copy == NULL)
		return STATUS_NO_MEMORY;
	memcpy(copy, name, bytes);
	copy[bytes] = '\0';
	enum status status = ARRAY_RESERVE(&self->names, self->names.count + 1u);
	if (status != STATUS_OK) {
		heap_free(copy);
		return status;
	}
	uint32_t at = self->names.count++;
	for (; at > 0 && strcmp(self->names.items[at - 1], copy) > 0; at--)
		self->names.items[at] = self->names.items[at - 1];
	self->names.items[at] = copy;
	return STATUS_OK;
}

static enum status add_file(struct store *self, const char *file)
{
	size_t bytes = strlen(file), tail = sizeof SUFFIX - 1;
	if (bytes <= tail || strcmp(file + bytes - tail, SUFFIX) != 0 ||
	    !validate_name(file, bytes - tail))
		return STATUS_OK;
	char path[STORE_PATH_MAX + 512];
	snprintf(path, sizeof path, "%s/%s", self->directory, file);
	if (!has_begun(path)) {
		log_warn("world_never_began", "file=%s", LOG_TEXT(path));
		return STATUS_OK;
	}
	return add_name(self, file, bytes - tail);
}

static enum status read_directory(struct store *self, struct reason *why)
{
	DIR *directory = opendir(self->directory);
	if (directory == NULL)
		return fail_errno(self->directory, why);
	enum status status = STATUS_OK;
	for (struct dirent *entry; status == STATUS_OK && (entry = readdir(directory)) != NULL;)
		status = add_file(self, entry->d_name);
	closedir(directory);
	if (status != STATUS_OK)
		reason_set(why, status, -1, "data", "%s", status_text(status));
	return status;
}

/* The store creates files for its owner only; wider permissions of the directory are reported. */
static void warn_of_readers(const char *directory)
{
	struct stat found;
	if (stat(directory, &found) == 0 && (found.st_mode & S_IRWXO) != 0)
		log_warn("data_open_to_others", "directory=%s mode=%03o", LOG_TEXT(directory),
			 (unsigned)(found.st_mode & 0777));
}

static enum status open_directory(struct store *self, const char *directory, struct reason *why)
{
	/* NAME.cairn-journal must fit behind it. */
	if (strlen(directory) + WIRE_NAME_MAX + 32 > STORE_PATH_MAX)
		return reason_set(why, STATUS_RANGE, -1, "data",
				  "the path has %zu bytes; at most %d are possible",
				  strlen(directory), STORE_PATH_MAX - WIRE_NAME_MAX - 32);
	snprintf(self->directory, sizeof self->directory, "%s", directory);
	bool made = mkdir(directory, 0700) == 0;
	/* A umask may have removed the owner's own rights. Rights of an existing directory are not
	 * changed. */
	if ((!made && errno != EEXIST) || (made && chmod(directory, 0700) != 0))
		return fail_errno(directory, why);
	warn_of_readers(directory);
	enum status status = lock_directory(self, why);
	return status == STATUS_OK ? read_directory(self, why) : status;
}

/* ---- life -------------------------------------------------------------------------------------- */

enum status store_create(const char *directory, struct executor *executor, struct store **out,
			 struct reason *why)
{
	struct store *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "data", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->executor = executor;
	self->durability = DURABILITY_TICK;
	self->lock_file = -1;
	self->work_end = &self->work_first;
	self->news_end = &self->news_first;
	lock_init(&self->lock);
	wakeup_init(&self->work, on_work, self);
	wakeup_init(&self->news, on_news, self);
	enum status status = open_directory(self, directory, why);
	if (status != STATUS_OK) {
		store_destroy(self);
		return status;
	}
	executor_on_alarm(executor, EXECUTOR_STORE, on_work, self);
	*out = self;
	return STATUS_OK;
}

void store_set_retention(struct store *self, const struct retention *retention)
{
	self->retention = *retention;
}

void store_set_durability(struct store *self, enum durability durability)
{
	self->durability = durability;
}

void store_redo(struct store *self)
{
	self->redo = true;
}

/* The other threads have ended: waiting records are written here, also of journals that were not closed. */
void store_destroy(struct store *self)
{
	self->ending = true;
	work_turn(self, true);
	on_news(self);
	while (self->journals != NULL)
		journal_destroy(self->journals);
	session_file_destroy(self->sessions);
	for (uint32_t i = 0; i < self->names.count; i++)
		heap_free(self->names.items[i]);
	ARRAY_RELEASE(&self->names);
	ARRAY_RELEASE(&self->refused);
	if (self->lock_file >= 0)
		close(self->lock_file);
	lock_release(&self->lock);
	heap_free(self);
}

uint32_t store_worlds(const struct store *store, char (*names)[WIRE_NAME_MAX + 1],
		      uint32_t capacity)
{
	for (uint32_t i = 0; i < MIN_OF(capacity, store->names.count); i++)
		snprintf(names[i], sizeof names[i], "%s", store->names.items[i]);
	return store->names.count;
}

/* ---- refused files ----------------------------------------------------------------------------- */

enum status store_refuse(struct store *store, const char *name, const struct reason *why)
{
	enum status status = ARRAY_RESERVE(&store->refused, store->refused.count + 1u);
	if (status != STATUS_OK)
		return status;
	struct refused_file *file = &store->refused.items[store->refused.count++];
	snprintf(file->name, sizeof file->name, "%s", name);
	file->status = why->status;
	snprintf(file->text, sizeof file->text, "%s", why->text);
	return STATUS_OK;
}

const struct refused_file *store_refused(const struct store *store, uint32_t *count)
{
	*count = store->refused.count;
	return store->refused.items;
}

/* EXISTS while a refused file has the name. One that was moved away is removed from the list. */
static enum status check_refused(struct store *store, const char *name, struct reason *why)
{
	char path[STORE_PATH_MAX];
	store_path(store, name, "", path);
	for (uint32_t i = 0; i < store->refused.count; i++) {
		struct refused_file *file = &store->refused.items[i];
		if (strcmp(file->name, name) != 0)
			continue;
		if (access(path, F_OK) == 0)
			return reason_set(
				why, STATUS_EXISTS, -1, "name",
				"the file of world %.40s was refused (%s) and is kept: move "
				"it away, or take another name",
				name, status_name(file->status));
		memmove(file, file + 1, (--store->refused.count - i) * sizeof *file);
		return STATUS_OK;
	}
	return STATUS_OK;
}

/* ---- worlds ------------------------------------------------------------------------------------ */

static struct journal *find_journal(const struct store *store, const char *name)
{
	for (struct journal *journal = store->journals; journal != NULL; journal = journal->next)
		if (strcmp(journal->name, name) == 0)
			return journal;
	return NULL;
}

enum status store_delete(const struct store *store, const char *name, struct reason *why)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char path[STORE_PATH_MAX];
	enum status status = STATUS_OK;
	for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
		store_path(store, name, suffixes[i], path);
		if (unlink(path) == 0 || (i > 0 && errno == ENOENT))
			continue;
		if (status == STATUS_OK)
			status = fail_errno(path, why);
	}
	return status;
}

/* Creates the empty file, so that a second world of the name, missing permissions and the like are reported
 * at once. A file that contains no checkpoint is replaced. */
static enum status claim_file(const struct store *store, const char *name, struct reason *why)
{
	char path[STORE_PATH_MAX];
	store_path(store, name, "", path);
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int file = open(path, flags, 0600);
	if (file < 0 && errno == EEXIST) {
		if (has_begun(path))
			return reason_set(why, STATUS_EXISTS, -1, "name",
					  "the file %s exists already", path);
		enum status status = store_delete(store, name, why);
		if (status != STATUS_OK)
			return status;
		file = open(path, flags, 0600);
	}
	if (file < 0)
		return fail_errno(path, why);
	/* Independent of the umask. SQLite gives its own files the mode of this one. */
	enum status status = fchmod(file, 0600) == 0 ? STATUS_OK : fail_errno(path, why);
	close(file);
	return status;
}

enum status store_create_world(struct store *store, const char *name,
			       const enum durability *durability, struct journal **out,
			       struct reason *why)
{
	struct journal *old = find_journal(store, name);
	bool leaving = false;
	if (check_refused(store, name, why) != STATUS_OK)
		return why->status;
	if (old != NULL) {
		lock_take(&old->lock);
		leaving = old->closing && old->remove;
		lock_give(&old->lock);
	}
	if (old != NULL && !leaving)
		return reason_set(why, STATUS_EXISTS, -1, "name", "world %s has a file already",
				  name);
	/* While the file of an old world of this name is being deleted, STORE creates the new
	 * one afterwards. */
	enum status status = leaving ? STATUS_OK : claim_file(store, name, why);
	if (status != STATUS_OK)
		return status;
	struct journal *journal = journal_new(store, name);
	if (journal == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				  status_text(STATUS_NO_MEMORY));
	journal->create = true;
	journal->own_durability = durability != NULL;
	if (durability != NULL)
		journal->durability = *durability;
	*out = journal;
	return STATUS_OK;
}

bool store_world_path(const struct store *store, const char *name, char *path, size_t bytes)
{
	char whole[STORE_PATH_MAX];
	store_path(store, name, "", whole);
	return (size_t)snprintf(path, bytes, "%s", whole) < bytes;
}

enum status store_remove_world(struct store *store, const char *name, struct reason *why)
{
	struct journal *journal = find_journal(store, name);
	if (journal == NULL)
		return store_delete(store, name, why);
	lock_take(&journal->lock);
	bool closing = journal->closing;
	bool past = journal->file_gone && !journal->remove; /* STORE found nothing to delete */
	journal->remove = closing;
	lock_give(&journal->lock);
	if (!closing)
		return reason_set(why, STATUS_IN_USE, -1, "name",
				  "the file of world %s is still open", name);
	return past ? store_delete(store, name, why) : STATUS_OK;
}
