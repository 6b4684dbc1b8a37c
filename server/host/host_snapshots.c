/* host_snapshots.c: states kept by name (SAVE, RESTORE, FORK), and checkpoints for the journal.
 *
 * A snapshot is an image in this process, under a quota, and with a journal also a named checkpoint on
 * disk. RESTORE puts the image in place of the world and begins a new epoch: ids given out since the
 * snapshot must never be taken for those given out after it.
 */
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_state.h"

static struct snapshot *find(struct host *host, const char *name)
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
}

enum status host_checkpoint(struct host *host, const char *name, const struct bytes *image)
{
	struct bytes own = { 0 };
	enum status status = STATUS_OK;
	if (image == NULL) {
		status = world_save(host->world, &own);
		image = &own;
	}
	if (status == STATUS_OK) {
		uint64_t tables[WORLD_TABLES_MAX];
		uint32_t count;
		uint64_t hash = world_state_hash(host->world, tables, &count);
		struct world_info info = world_info(host->world);
		status = journal_checkpoint(host->journal, info.epoch, info.tick, name, image, hash,
					    tables, count);
		if (status == STATUS_OK)
			host->checkpoint_tick = info.tick;
	}
	bytes_release(&own);
	return status;
}

/* Keeps `image` (taken on OK) under `name`, within the quotas. */
static enum status keep(struct host *host, const char *name, uint64_t tick, uint64_t hash,
			struct bytes *image, struct reason *why)
{
	struct snapshot *old = find(host, name);
	uint64_t bytes = host->snapshot_bytes + image->count - (old != NULL ? old->image.count : 0);
	if (bytes > host->options.snapshot_bytes_max)
		return reason_set(why, STATUS_LIMIT, -1, "name",
				  "snapshots of this world may take %llu bytes in all",
				  (unsigned long long)host->options.snapshot_bytes_max);
	if (old == NULL) {
		if (host->snapshots.count == host->options.snapshots_max)
			return reason_set(why, STATUS_LIMIT, -1, "name",
					  "a world keeps at most %u snapshots",
					  (unsigned)host->options.snapshots_max);
		if (ARRAY_RESERVE(&host->snapshots, host->snapshots.count + 1u) != STATUS_OK)
			return reason_set(why, STATUS_NO_MEMORY, -1, "name", "%s",
					  status_text(STATUS_NO_MEMORY));
		old = &host->snapshots.items[host->snapshots.count++];
		memset(old, 0, sizeof *old);
		snprintf(old->name, sizeof old->name, "%s", name);
	}
	bytes_release(&old->image);
	old->image = *image;
	bytes_init(image);
	old->tick = tick;
	old->state_hash = hash;
	host->snapshot_bytes = bytes;
	return STATUS_OK;
}

enum status host_add_snapshot(struct host *host, const char *name, uint64_t tick,
			      uint64_t state_hash, struct bytes *image)
{
	return keep(host, name, tick, state_hash, image, NULL);
}

void host_do_save(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	struct bytes image = { 0 };
	struct reason why;
	enum status status = world_save(host->world, &image);
	uint64_t hash = world_state_hash(host->world, NULL, NULL);
	if (status != STATUS_OK)
		reason_set(&why, status, -1, "world", "%s", status_text(status));
	/* The quota is asked first: a snapshot that was refused must not be found in the file. */
	if (status == STATUS_OK)
		status = keep(host, name, world_info(host->world).tick, hash, &image, &why);
	if (status == STATUS_OK && host->journal != NULL) {
		status = host_checkpoint(host, name, &find(host, name)->image);
		journal_flush(host->journal);
		if (status != STATUS_OK)
			reason_set(&why, status, -1, "journal", "%s", status_text(status));
	}
	if (status != STATUS_OK) {
		bytes_release(&image);
		host_refuse(host, REPLY_SAVED, MESSAGE_SAVE, session, ref, &why);
		return;
	}
	struct report *report = host_reply_new(host, REPLY_SAVED, MESSAGE_SAVE, session, ref);
	if (report == NULL)
		return;
	report->reply.state_hash = (struct wire_hash){ true, hash };
	snprintf(report->reply.name, sizeof report->reply.name, "%s", name);
	host_send(host, report);
}

static enum status restore(struct host *host, const struct snapshot *snapshot, struct reason *why)
{
	enum status status = world_restore(host->world, snapshot->image.data, snapshot->image.count,
					   why);
	if (status != STATUS_OK)
		return status;
	world_new_epoch(host->world, world_info(host->world).epoch + 1);
	struct world_info info = world_info(host->world);
	host->whole_due = true;
	host->checkpoint_tick = info.tick;
	if (host->journal != NULL)
		status = journal_restore(host->journal, info.epoch, info.tick, snapshot->name);
	if (status != STATUS_OK) {
		reason_set(why, status, -1, "journal", "the journal refused a record: %s",
			   status_text(status));
		host_fail(host, why);
	}
	return status;
}

void host_do_restore(struct host *host, uint32_t session, uint64_t ref, const char *name)
{
	struct reason why;
	struct snapshot *snapshot = find(host, name);
	enum status status;
	if (snapshot == NULL)
		status = reason_set(&why, STATUS_UNKNOWN_SNAPSHOT, -1, "name",
				    "this world has no snapshot of that name");
	else
		status = restore(host, snapshot, &why);
	if (status != STATUS_OK) {
		host_refuse(host, REPLY_RESTORED, MESSAGE_RESTORE, session, ref, &why);
		return;
	}
	host_report_tick(host, NULL, 0, NULL, 0);
	struct report *report =
		host_reply_new(host, REPLY_RESTORED, MESSAGE_RESTORE, session, ref);
	if (report == NULL)
		return;
	report->reply.state_hash =
		(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	host_send(host, report);
}

void host_do_fork(struct host *host, uint32_t session, uint64_t ref, const char *name,
		  const char *snapshot_name)
{
	struct reason why;
	struct report *report = host_reply_new(host, REPLY_FORKED, MESSAGE_FORK, session, ref);
	if (report == NULL)
		return;
	struct reply_report *reply = &report->reply;
	snprintf(reply->name, sizeof reply->name, "%s", name);
	enum status status = STATUS_OK;
	if (snapshot_name[0] == '\0') {
		status = world_save(host->world, &reply->image);
		reply->state_hash =
			(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	} else {
		const struct snapshot *snapshot = find(host, snapshot_name);
		if (snapshot == NULL) {
			status = STATUS_UNKNOWN_SNAPSHOT;
		} else {
			status = bytes_append(&reply->image, snapshot->image.data,
					      snapshot->image.count);
			reply->state_hash = (struct wire_hash){ true, snapshot->state_hash };
			reply->tick = snapshot->tick;
		}
	}
	if (status == STATUS_OK)
		status = shape_book_copy(&reply->shapes, &host->shapes);
	if (status != STATUS_OK) {
		report_destroy(report);
		reason_set(&why, status, -1, "snapshot", "%s", status_text(status));
		host_refuse(host, REPLY_FORKED, MESSAGE_FORK, session, ref, &why);
		return;
	}
	host_send(host, report);
}
