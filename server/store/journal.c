/* journal.c: moves records from the host's thread to the disk, and reports progress back. See journal.h.
 *
 * Guarantee: `durable` is called for (epoch, tick, edit) only after COMMIT of the transaction with that
 * tick's hash, or with the batches applied since, has returned under synchronous=FULL. Records reach the
 * file in the order given, so after every transaction the file contains a prefix of the world's history.
 *
 * Failure: if a write fails (a full disk, an error of the device), the transaction is rolled back,
 * the journal accepts no more records, is never ready again and calls `failed` once; the world
 * stops, and all that was reported durable is still on disk. Only a restart tries again: it
 * recovers the world from the file.
 */
#include "server/store/journal.h"

#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/store/store_state.h"

/* ---- putting (host's thread) ------------------------------------------------------------------- */

/* Locks the journal for a record of `bytes`. Not OK: not locked, and no record may be put. While the
 * backlog is within its bound a record of any size is accepted: an image is as large as its world. */
static enum status begin_put(struct journal *journal, uint64_t bytes)
{
	lock_take(&journal->lock);
	ASSERT(!journal->closing);
	enum status status = journal->failed;
	if (status == STATUS_OK && journal->backlog > JOURNAL_BACKLOG_MAX &&
	    journal->backlog + bytes > JOURNAL_BACKLOG_REFUSED)
		status = STATUS_FULL;
	if (status != STATUS_OK)
		lock_give(&journal->lock);
	return status;
}

static enum status end_put(struct journal *journal, enum status status, uint64_t charged)
{
	bool queue = status == STATUS_OK && !journal->queued;
	if (status == STATUS_OK) {
		journal->backlog += journal->waiting.charged - charged;
		journal->records++;
	}
	journal->queued |= queue;
	lock_give(&journal->lock);
	if (queue)
		store_queue_work(journal->store, journal);
	return status;
}

enum status journal_apply(struct journal *journal, uint32_t epoch, uint64_t tick, uint32_t edit,
			  const struct journal_batch *batches, uint32_t count)
{
	enum status status = begin_put(journal, record_apply_charge(batches, count));
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_apply(&journal->waiting, epoch, tick, edit, batches, count);
	return end_put(journal, status, charged);
}

enum status journal_tick(struct journal *journal, uint32_t epoch, uint64_t tick, uint64_t tick_hash)
{
	enum status status = begin_put(journal, RECORD_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_tick(&journal->waiting, epoch, tick, tick_hash);
	return end_put(journal, status, charged);
}

enum status journal_stopped(struct journal *journal, uint32_t epoch, uint64_t tick,
			    enum status stop)
{
	enum status status = begin_put(journal, RECORD_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_stop(&journal->waiting, epoch, tick, stop);
	return end_put(journal, status, charged);
}

enum status journal_checkpoint(struct journal *journal, uint32_t epoch, uint64_t tick,
			       uint32_t edit, const char *name, const struct bytes *image,
			       uint64_t state_hash, const uint64_t *table_hashes,
			       uint32_t table_count)
{
	enum status status = begin_put(journal, record_checkpoint_charge(image));
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_checkpoint(&journal->waiting, epoch, tick, edit, name, image,
					      state_hash, table_hashes, table_count);
	return end_put(journal, status, charged);
}

enum status journal_swap_checkpoint(struct journal *journal, uint32_t epoch, uint64_t tick,
				    uint32_t edit, const char *name, struct bytes *image,
				    uint64_t state_hash, const uint64_t *table_hashes,
				    uint32_t table_count)
{
	enum status status = begin_put(journal, record_checkpoint_charge(image));
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_swap_checkpoint(&journal->waiting, epoch, tick, edit, name, image,
					       state_hash, table_hashes, table_count);
	return end_put(journal, status, charged);
}

enum status journal_shape(struct journal *journal, uint32_t epoch, uint64_t tick,
			  const struct shape *shape)
{
	enum status status = begin_put(journal, RECORD_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_shape(&journal->waiting, epoch, tick, shape);
	return end_put(journal, status, charged);
}

enum status journal_restore(struct journal *journal, uint32_t epoch, uint64_t tick, uint32_t edit,
			    const char *name)
{
	enum status status = begin_put(journal, RECORD_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_restore(&journal->waiting, epoch, tick, edit, name);
	return end_put(journal, status, charged);
}

enum status journal_restore_state(struct journal *journal, uint32_t epoch, uint64_t tick,
				  uint32_t edit, const struct bytes *image, uint64_t state_hash,
				  const uint64_t *table_hashes, uint32_t table_count)
{
	enum status status = begin_put(journal, RECORD_CHARGE + record_checkpoint_charge(image));
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_restore_state(&journal->waiting, epoch, tick, edit, image,
						 state_hash, table_hashes, table_count);
	return end_put(journal, status, charged);
}

enum status journal_pace(struct journal *journal, uint32_t epoch, uint64_t tick,
			 const struct journal_pace *pace)
{
	enum status status = begin_put(journal, RECORD_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_pace(&journal->waiting, epoch, tick, pace);
	return end_put(journal, status, charged);
}

enum status journal_keep(struct journal *journal, uint32_t epoch, uint64_t tick,
			 const struct journal_keep *keep)
{
	enum status status = begin_put(journal, RECORD_KEEP_CHARGE);
	if (status != STATUS_OK)
		return status;
	uint64_t charged = journal->waiting.charged;
	status = record_buffer_put_keep(&journal->waiting, epoch, tick, keep);
	return end_put(journal, status, charged);
}

/* Sets one of the journal's flags (flush, closing) and wakes the store thread for it. */
static void request_turn(struct journal *journal, bool *flag)
{
	lock_take(&journal->lock);
	bool queue = !journal->queued;
	*flag = true;
	journal->queued = true;
	lock_give(&journal->lock);
	/* A journal that waits for commit_at is queued again, so that the flag takes effect now. */
	if (queue)
		store_queue_work(journal->store, journal);
	else
		executor_wake(journal->store->executor, EXECUTOR_STORE, &journal->store->work);
}

void journal_flush(struct journal *journal)
{
	request_turn(journal, &journal->flush);
}

uint64_t journal_records(struct journal *journal)
{
	lock_take(&journal->lock);
	uint64_t records = journal->failed == STATUS_OK ? journal->records : UINT64_MAX;
	lock_give(&journal->lock);
	return records;
}

bool journal_ready(struct journal *journal)
{
	lock_take(&journal->lock);
	bool ready = journal->failed == STATUS_OK && journal->backlog <= JOURNAL_BACKLOG_MAX;
	journal->throttled |= !ready;
	lock_give(&journal->lock);
	return ready;
}

enum status journal_status(struct journal *journal, struct reason *why)
{
	lock_take(&journal->lock);
	enum status status = journal->failed;
	if (status != STATUS_OK)
		reason_set(why, status, -1, "journal", "the world's file cannot be written: %s",
			   journal->failure);
	lock_give(&journal->lock);
	return status;
}

/* ---- writing (STORE) --------------------------------------------------------------------------- */

enum { PRUNE_ROWS = 128, PRUNE_PUT_OFF_MAX = 16 };

static enum status write_records(struct journal *journal, struct world_file_progress *progress,
				 struct reason *why)
{
	char path[STORE_PATH_MAX];
	enum status status = STATUS_OK;
	/* A session is on disk before its batches. */
	session_file_turn(journal->store->sessions);
	if (journal->create) {
		store_path(journal->store, journal->name, "", path);
		status = world_file_create(
			&journal->file, path, journal->name,
			journal->own_durability ? durability_name(journal->durability) : NULL, why);
		journal->create = status != STATUS_OK;
	}
	if (status == STATUS_OK && !record_buffer_is_empty(&journal->writing))
		status = world_file_write(&journal->file, &journal->writing, progress, why);
	return status;
}

/* Prunes a slice of twice as many records as were written since the last one, so that pruning
 * catches up. */
static bool prune_now(struct journal *journal)
{
	struct prune_counts most = { 1 + 2 * journal->unpruned.checkpoints,
				     PRUNE_ROWS + 2 * journal->unpruned.records };
	journal->unpruned = (struct prune_counts){ 0 };
	struct journal_figures *figures = &journal->figures_now;
	struct prune_counts counts = { 0 };
	struct reason why;
	bool more = false;
	enum status status = world_file_prune(&journal->file, &journal->store->retention, &most,
					      &counts, &more, &why);
	figures->checkpoints_pruned += counts.checkpoints;
	figures->records_pruned += counts.records;
	figures->prune_failures += status != STATUS_OK;
	if (status != STATUS_OK && !journal->failure_logged)
		log_warn("prune_failed", "world=%s status=%s text=%s", journal->name,
			 status_name(status), LOG_TEXT(why.text));
	journal->failure_logged |= status != STATUS_OK;
	if (world_file_size(&journal->file, &figures->file_bytes, &figures->free_bytes, &why) !=
	    STATUS_OK)
		figures->file_bytes = figures->free_bytes = 0;
	return more;
}

/* Prunes after the news of durable records are sent, which therefore do not wait for it. While
 * more than half of the backlog's bound waits, it is postponed up to PRUNE_PUT_OFF_MAX times, so
 * that the world need not stall. True: the journal needs another turn. */
static bool prune_slice_if_due(struct journal *journal, const struct prune_counts *written)
{
	journal->unpruned.checkpoints += written->checkpoints;
	journal->unpruned.records += written->records;
	if (!journal->file.pruner.due)
		return false;
	lock_take(&journal->lock);
	bool pressed =
		journal->backlog > JOURNAL_BACKLOG_MAX / 2 && journal->put_off < PRUNE_PUT_OFF_MAX;
	lock_give(&journal->lock);
	journal->put_off = pressed ? journal->put_off + 1 : 0;
	bool more = pressed || prune_now(journal);
	lock_take(&journal->lock);
	journal->figures = journal->figures_now;
	journal->figures_moved |= !pressed;
	/* If a record was put meanwhile, the journal is in the work list already. */
	bool again = more && !journal->queued;
	journal->queued |= again;
	lock_give(&journal->lock);
	if (!pressed)
		store_queue_news(journal->store, journal, false);
	return again;
}

/* Under the lock: notes the result of a transaction for the host and LOOP. */
static void note_written(struct journal *journal, const struct world_file_progress *made,
			 enum status status, const struct reason *why)
{
	journal->backlog -= journal->writing.charged;
	if (made->moved) {
		journal->progress.epoch = made->epoch;
		journal->progress.tick = made->tick;
		journal->progress.edit = made->edit;
		journal->progress.moved = true;
	}
	if (status == STATUS_OK)
		journal->stored = journal->writing_to;
	if (status != STATUS_OK && journal->failed == STATUS_OK) {
		journal->failed = status;
		snprintf(journal->failure, sizeof journal->failure, "%s", why->text);
		journal->wake_due = true;
	}
	if (journal->throttled && journal->failed == STATUS_OK &&
	    journal->backlog < JOURNAL_BACKLOG_MAX / 2) {
		journal->throttled = false;
		journal->wake_due = true;
	}
}

/* The host has closed the journal and all records are written: closes the file and sends the last news. */
static void close_file(struct journal *journal)
{
	struct reason why;
	world_file_close(&journal->file);
	lock_take(&journal->lock);
	bool remove = journal->remove;
	journal->file_gone = true;
	lock_give(&journal->lock);
	if (remove && store_delete(journal->store, journal->name, &why) != STATUS_OK)
		log_warn("file_not_deleted", "world=%s text=%s", journal->name, LOG_TEXT(why.text));
	store_queue_news(journal->store, journal, true);
}

/* Under the lock: takes the waiting records, or again those of a locked file. False: commit_at is not
 * reached. */
static bool take_records(struct journal *journal, uint64_t now, bool force)
{
	bool hurry = journal->busy_since == 0 && (journal->flush || journal->closing);
	if (!force && !hurry && now < journal->commit_at)
		return false;
	journal->queued = false;
	if (journal->busy_since != 0)
		return true;
	struct record_buffer empty = journal->writing;
	journal->writing = journal->waiting;
	journal->writing_to = journal->records;
	journal->waiting = empty;
	journal->flush = false;
	return true;
}

/* Another program has locked the file: the records are tried again soon, for BUSY_MAX. Meanwhile the world
 * goes on until the backlog's bound. True: the journal is in the work list for that. */
static bool is_put_off(struct journal *journal, enum status status, bool force)
{
	uint64_t now = executor_now(journal->store->executor);
	if (status != STATUS_AGAIN || force ||
	    (journal->busy_since != 0 && now - journal->busy_since > BUSY_MAX)) {
		journal->busy_since = 0;
		return false;
	}
	if (journal->busy_since == 0)
		log_warn("journal_busy", "world=%s: another program has locked its file",
			 journal->name);
	journal->busy_since = journal->busy_since != 0 ? journal->busy_since : MAX_OF(now, 1u);
	journal->figures_now.busy++;
	journal->commit_at = now + BUSY_RETRY;
	lock_take(&journal->lock);
	journal->queued = true;
	journal->figures = journal->figures_now;
	journal->figures_moved = true;
	lock_give(&journal->lock);
	store_queue_news(journal->store, journal, false);
	return true;
}

/* A transaction that takes longer is logged: the disk is slow for every world. */
#define COMMIT_SLOW NS_PER_S

static void note_commit(struct journal *journal, uint64_t began)
{
	struct journal_figures *figures = &journal->figures_now;
	uint64_t took = executor_now(journal->store->executor) - began;
	figures->commits++;
	figures->commit_ns += took;
	figures->commit_ns_max = MAX_OF(figures->commit_ns_max, took);
	if (took > COMMIT_SLOW)
		log_warn("journal_slow", "world=%s ms=%llu", journal->name,
			 (unsigned long long)(took / NS_PER_MS));
}

static uint64_t commit_apart(const struct journal *journal)
{
	return journal->durability == DURABILITY_COMMAND ? 0 : COMMIT_APART;
}

uint64_t journal_turn(struct journal *journal, uint64_t now, bool force)
{
	struct world_file_progress made = { 0 };
	struct reason why = { 0 };
	lock_take(&journal->lock);
	bool taken = take_records(journal, now, force), closing = journal->closing;
	enum status status = journal->failed;
	lock_give(&journal->lock);
	if (!taken)
		return journal->commit_at;

	if (status == STATUS_OK) {
		status = write_records(journal, &made, &why);
		note_commit(journal, now);
	}
	if (is_put_off(journal, status, force))
		return journal->commit_at;
	journal->commit_at = executor_now(journal->store->executor) + commit_apart(journal);

	lock_take(&journal->lock);
	note_written(journal, &made, status, &why);
	/* Records that were put while the file was locked, and are in no list. */
	bool more = !record_buffer_is_empty(&journal->waiting) && !journal->queued;
	journal->queued |= more;
	journal->figures = journal->figures_now;
	journal->figures_moved = true;
	bool news = journal->progress.moved || journal->stored != journal->stored_told ||
		    journal->wake_due || (journal->failed != STATUS_OK && !journal->failure_told);
	lock_give(&journal->lock);
	record_buffer_reset(&journal->writing);
	if (more && force)
		return journal_turn(journal, now, force);
	if (closing && !more) {
		close_file(journal);
		return INSTANT_NEVER;
	}
	if (news)
		store_queue_news(journal->store, journal, false);
	if (more)
		return journal->commit_at;
	bool again = status == STATUS_OK && !force && prune_slice_if_due(journal, &made.written);
	return again ? journal->commit_at : INSTANT_NEVER;
}

/* ---- news (LOOP) ------------------------------------------------------------------------------- */

static void report_progress(struct journal *journal, const struct world_file_progress *progress)
{
	const struct journal_events *events = &journal->events;
	if (progress->moved && events->durable != NULL)
		events->durable(events->context, progress->epoch, progress->tick, progress->edit);
}

void journal_report(struct journal *journal)
{
	lock_take(&journal->lock);
	struct world_file_progress progress = journal->progress;
	memset(&journal->progress, 0, sizeof journal->progress);
	enum status failed = journal->failed;
	uint64_t stored = journal->stored;
	bool tell_stored = stored != journal->stored_told;
	journal->stored_told = stored;
	bool tell_failure = failed != STATUS_OK && !journal->failure_told;
	journal->failure_told |= tell_failure;
	bool wake = journal->wake_due && !journal->closing;
	journal->wake_due = false;
	struct journal_figures figures = journal->figures;
	bool tell_figures = journal->figures_moved && journal->events.figures != NULL;
	journal->figures_moved = false;
	lock_give(&journal->lock);
	report_progress(journal, &progress);
	if (tell_stored && journal->events.stored != NULL)
		journal->events.stored(journal->events.context, stored);
	if (tell_figures)
		journal->events.figures(journal->events.context, &figures);
	if (tell_failure && journal->events.failed != NULL)
		journal->events.failed(journal->events.context, failed, journal->failure);
	if (wake && journal->wake != NULL)
		journal->wake(journal->wake_context);
}

void journal_set_events(struct journal *journal, const struct journal_events *events)
{
	journal->events = *events;
}

void journal_on_ready(struct journal *journal, void (*wake)(void *context), void *context)
{
	journal->wake = wake;
	journal->wake_context = context;
}

/* ---- life (LOOP) ------------------------------------------------------------------------------- */

struct journal *journal_new(struct store *store, const char *name)
{
	struct journal *journal = heap_alloc_zero(sizeof *journal);
	if (journal == NULL)
		return NULL;
	journal->store = store;
	journal->durability = store->durability;
	snprintf(journal->name, sizeof journal->name, "%s", name);
	lock_init(&journal->lock);
	journal->next = store->journals;
	store->journals = journal;
	return journal;
}

void journal_close(struct journal *journal)
{
	memset(&journal->events, 0, sizeof journal->events);
	journal->wake = NULL;
	request_turn(journal, &journal->closing);
}

void journal_destroy(struct journal *journal)
{
	struct journal **at = &journal->store->journals;
	while (*at != journal)
		at = &(*at)->next;
	*at = journal->next;
	world_file_close(&journal->file);
	record_buffer_release(&journal->waiting);
	record_buffer_release(&journal->writing);
	lock_release(&journal->lock);
	heap_free(journal);
}
