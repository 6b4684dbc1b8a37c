/* host_snapshots.c: states stored by name (SAVE, RESTORE, FORK), and checkpoints for the journal.
 *
 * A snapshot is an image in this process, under a quota, and with a journal also a named checkpoint on
 * disk. RESTORE replaces the world by the image and begins a new epoch, because ids assigned since the
 * snapshot must not be confused with those assigned after it.
 */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"
#include "server/io/log.h"

static struct snapshot *find_snapshot(const struct host *host, const char *name)
{
	for (uint32_t i = 0; i < host->snapshots.count; i++)
		if (strcmp(host->snapshots.items[i].name, name) == 0)
			return &host->snapshots.items[i];
	return NULL;
}

void host_snapshots_release(struct host *host)
{
	for (uint32_t i = 0; i < host->snapshots.count; i++)
		bytes_release(&host->snapshots.items[i].image);
	ARRAY_RELEASE(&host->snapshots);
	bytes_release(&host->image);
}

enum status host_checkpoint(struct host *host, const char *name, const struct bytes *image)
{
	uint64_t tables[WORLD_TABLES_MAX];
	uint32_t count;
	struct bytes *own = &host->image;
	enum status status = STATUS_OK;
	bytes_reset(own);
	if (image == NULL)
		status = world_save_open(host->world, own);
	if (status != STATUS_OK)
		return status;
	uint64_t hash = world_state_hash(host->world, tables, &count);
	struct world_info info = world_info(host->world);
	if (image != NULL)
		status = journal_checkpoint(host->journal, info.epoch, info.tick, info.edit, name,
					    image, hash, tables, count);
	else
		status = journal_swap_checkpoint(host->journal, info.epoch, info.tick, info.edit,
						 name, own, hash, tables, count);
	if (status == STATUS_OK)
		host->steps_unsaved = 0;
	return status;
}

/* OK if an image of `image_bytes` may be stored under `name`; the list has room for it then. LIMIT,
 * NO_MEMORY. */
static enum status reserve_snapshot(struct host *host, const char *name, size_t image_bytes,
				    struct reason *why)
{
	const struct snapshot *old = find_snapshot(host, name);
	uint64_t bytes = host->snapshot_bytes + image_bytes - (old != NULL ? old->image.count : 0);
	if (bytes > host->options.snapshot_bytes_max)
		return reason_set(
			why, STATUS_LIMIT, -1, "name",
			"the snapshots of this world would take %llu bytes, the limit is %llu",
			(unsigned long long)bytes,
			(unsigned long long)host->options.snapshot_bytes_max);
	if (old == NULL && host->snapshots.count == host->options.snapshots_max)
		return reason_set(
			why, STATUS_LIMIT, -1, "name",
			"the world has %u snapshots, which is the limit: save under a name in use",
			(unsigned)host->options.snapshots_max);
	if (ARRAY_RESERVE(&host->snapshots, host->snapshots.count + 1u) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
				  status_text(STATUS_NO_MEMORY));
	return STATUS_OK;
}

/* Stores `image` (taken) under `name`, after reserve_snapshot. */
static void store_snapshot(struct host *host, const char *name, uint64_t tick, uint64_t hash,
			   struct bytes *image)
{
	struct snapshot *snapshot = find_snapshot(host, name);
	if (snapshot == NULL) {
		snapshot = &host->snapshots.items[host->snapshots.count++];
		memset(snapshot, 0, sizeof *snapshot);
		snprintf(snapshot->name, sizeof snapshot->name, "%s", name);
	}
	host->snapshot_bytes += image->count - snapshot->image.count;
	bytes_release(&snapshot->image);
	snapshot->image = *image;
	bytes_init(image);
	snapshot->tick = tick;
	snapshot->state_hash = hash;
	/* One that a client saved under this name stays. */
	if (strcmp(name, HOST_START) == 0)
		host->start_due = false;
}

enum status host_add_snapshot(struct host *host, const char *name, uint64_t tick,
			      uint64_t state_hash, struct bytes *image)
{
	enum status status = reserve_snapshot(host, name, image->count, NULL);
	if (status == STATUS_OK)
		store_snapshot(host, name, tick, state_hash, image);
	return status;
}

/* The quota is checked first, because a refused snapshot must not appear in the file and must not replace
 * an older one of the same name. */
enum status host_store_snapshot(struct host *host, const char *name, uint64_t hash,
				struct reason *why)
{
	struct bytes image = { 0 };
	enum status status = world_save(host->world, &image);
	if (status != STATUS_OK)
		reason_set(why, status, -1, "world", "%s", status_text(status));
	else
		status = reserve_snapshot(host, name, image.count, why);
	if (status == STATUS_OK && host->journal_lost) {
		status = journal_status(host->journal, why);
	} else if (status == STATUS_OK && host->journal != NULL) {
		status = host_checkpoint(host, name, &image);
		journal_flush(host->journal);
		if (status != STATUS_OK)
			reason_set(why, status, -1, "journal", "%s", status_text(status));
	}
	if (status == STATUS_OK)
		store_snapshot(host, name, world_info(host->world).tick, hash, &image);
	bytes_release(&image);
	return status;
}

void host_do_save(struct host *host, struct requester *requester, const char *name)
{
	struct reason why;
	if (host_refuse_in_boundary(host, requester))
		return;
	uint64_t hash = world_state_hash(host->world, NULL, NULL);
	if (host_store_snapshot(host, name, hash, &why) != STATUS_OK) {
		host_refuse(host, requester, &why);
		return;
	}
	struct report *report = host_reply(host, requester);
	report->reply.state_hash = (struct wire_hash){ true, hash };
	snprintf(report->reply.name, sizeof report->reply.name, "%s", name);
	host_send(host, report);
}

/* True if the image was made with other motion numbers than this build has for the world's method. */
static bool is_of_incompatible_build(const struct host *host, const struct bytes *image)
{
	struct motion_numbers numbers, own = engine_motion();
	struct reason why;
	return world_image_numbers(image->data, image->count, &numbers, &why) != STATUS_OK ||
	       !motion_is_same(&numbers, &own, world_info(host->world).method);
}

enum status host_check_restore(const struct host *host, struct reason *why)
{
	if (!host->journal_failed)
		return STATUS_OK;
	return reason_set(why, host->failure.status, -1, "journal", "%s", host->failure.text);
}

/* The restore is recorded in the journal, then reported, before the world changes again. */
void host_restored(struct host *host, struct requester *requester, const char *name,
		   bool other_bits, bool drags_end)
{
	world_new_epoch(host->world, world_info(host->world).epoch + 1);
	host->restored_other_bits = other_bits;
	host->whole_due = true;
	host->open = false;
	host->stored_reported = 0;
	host->restorer = *requester;
	requester->report = NULL;
	snprintf(host->restored, sizeof host->restored, "%s", name);
	host_boundary_restored(host, drags_end);
}

static void restore_to(struct host *host, struct requester *requester, const struct bytes *image,
		       const char *name)
{
	struct reason why;
	enum status status = host_check_restore(host, &why);
	if (status == STATUS_OK)
		status = world_restore(host->world, image->data, image->count, &why);
	if (status == STATUS_OK)
		host_restored(host, requester, name, is_of_incompatible_build(host, image), true);
	else
		host_refuse(host, requester, &why);
}

static enum status refuse_snapshot(const char *name, const char *field, struct reason *why)
{
	return reason_set(why, STATUS_UNKNOWN_SNAPSHOT, -1, field,
			  "the world has no snapshot named \"%s\"%s", name,
			  strcmp(name, HOST_START) == 0 ? ": it has not made its first step" : "");
}

void host_do_restore(struct host *host, struct requester *requester, const char *name)
{
	struct reason why;
	const struct snapshot *snapshot = find_snapshot(host, name);
	if (host_refuse_in_boundary(host, requester))
		return;
	if (snapshot != NULL) {
		restore_to(host, requester, &snapshot->image, name);
		return;
	}
	(void)refuse_snapshot(name, "name", &why);
	host_refuse(host, requester, &why);
}

void host_do_restore_state(struct host *host, struct requester *requester,
			   const struct bytes *image)
{
	if (!host_refuse_in_boundary(host, requester))
		restore_to(host, requester, image, "");
}

/* The image to copy, with its hash and tick, and all shapes it may need. */
static enum status fill_copy(struct host *host, struct reply_report *reply, const char *name)
{
	enum status status;
	if (name[0] == '\0') {
		status = world_save(host->world, &reply->image);
		reply->state_hash =
			(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	} else {
		const struct snapshot *snapshot = find_snapshot(host, name);
		if (snapshot == NULL)
			return STATUS_UNKNOWN_SNAPSHOT;
		status = bytes_append(&reply->image, snapshot->image.data, snapshot->image.count);
		reply->state_hash = (struct wire_hash){ true, snapshot->state_hash };
		reply->tick = snapshot->tick;
	}
	return status == STATUS_OK ? shape_library_copy(&reply->shapes, &host->shapes) : status;
}

void host_do_fork(struct host *host, struct requester *requester, const char *name,
		  const char *snapshot_name)
{
	if (host_refuse_in_boundary(host, requester))
		return;
	struct report *report = host_reply(host, requester);
	struct reply_report *reply = &report->reply;
	snprintf(reply->name, sizeof reply->name, "%s", name);
	enum status status = fill_copy(host, reply, snapshot_name);
	if (status != STATUS_OK) {
		bytes_release(&reply->image);
		host->refused++;
		reply->status = status == STATUS_UNKNOWN_SNAPSHOT
					? refuse_snapshot(snapshot_name, "snapshot", &reply->why)
					: reason_set(&reply->why, status, -1, "snapshot", "%s",
						     status_text(status));
	}
	host_send(host, report);
}

/* ---- recordings ---------------------------------------------------------------------------------- */

void host_do_record(struct host *host, struct requester *requester, const struct journal_keep *keep)
{
	struct reason why;
	if (host_refuse_in_boundary(host, requester))
		return;
	enum status status = STATUS_UNSUPPORTED;
	reason_set(&why, status, -1, "world", "the world has no file, so it cannot be recorded");
	if (host->journal != NULL)
		status = journal_status(host->journal, &why);
	if (status == STATUS_OK) {
		struct world_info info = world_info(host->world);
		status = host_checkpoint(host, NULL, NULL);
		if (status == STATUS_OK && keep != NULL)
			status = journal_keep(host->journal, info.epoch, info.tick, keep);
		journal_flush(host->journal);
		reason_set(&why, status, -1, "journal", "%s", status_text(status));
	}
	if (status != STATUS_OK)
		host_refuse(host, requester, &why);
	else
		host_send(host, host_reply(host, requester));
}

void host_do_record_end(struct host *host)
{
	struct world_info info = world_info(host->world);
	struct journal_keep none = { 0 };
	/* Refused only by a journal that has failed, or holds more than it may: then the recording goes on,
	 * as its file says. */
	if (host_journal(host) != NULL &&
	    journal_keep(host->journal, info.epoch, info.tick, &none) != STATUS_OK)
		log_warn("recording_goes_on", "world=%s", host->options.name);
	else if (host_journal(host) != NULL)
		journal_flush(host->journal);
}
