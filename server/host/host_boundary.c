/* host_boundary.c: one slice of a world's life, as a list of stages:
 *
 *	collect   what the inbox holds and what the STEPs at hand bring, decoded
 *	apply     all of it at once, in the engine's order
 *	journal   the batches as they were applied
 *	step      one tick
 *	journal   its hash; a checkpoint when one is due
 *	report    what changed; answers to STEPs
 *
 * A batch that cannot be decoded never reaches the engine or the journal; its session is told. The
 * journal has room before a slice begins (host_due), so it cannot refuse in the middle of one.
 */
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/heap.h"
#include "server/host/host_state.h"

/* Everything one boundary applies; arrays in the scratch arena. */
struct boundary {
	struct batch *batches;
	struct journal_batch *journal; /* the same, packed, by the same index */
	struct batch_result *results;
	uint32_t count;
	uint32_t participants[STEP_JOBS_MAX]; /* jobs that take part in this tick */
	uint32_t participant_count;
};

/* A world whose file cannot be written stands still, and whoever waits for a step of it hears why. */
static bool journal_failed(struct host *host)
{
	struct reason why;
	if (host->journal == NULL || journal_status(host->journal, &why) == STATUS_OK)
		return false;
	if (host->mode == WIRE_MODE_RUNNING || host->jobs.count > 0) {
		host_fail(host, &why);
		host_report_tick(host, NULL, 0, NULL, 0);
	}
	return true;
}

uint64_t host_due(struct runnable *runnable)
{
	struct host *host = (struct host *)runnable;
	if (journal_failed(host))
		return INSTANT_NEVER;
	bool full = report_queue_count(&host->reports) >= REPORTS_MAX ||
		    (host->journal != NULL && !journal_ready(host->journal));
	if (full && !host->waiting_for_loop)
		host->stalls++;
	host->waiting_for_loop = full;
	if (full)
		return INSTANT_NEVER;
	if (host->mode == WIRE_MODE_RUNNING)
		return schedule_due(&host->schedule);
	return host_step_wanted(host) ? 0 : INSTANT_NEVER;
}

/* Tells the session of a batch that its commands make no sense. */
static void refuse_batch(struct host *host, const struct host_batch *batch,
			 const struct reason *why)
{
	if (batch->batch & HOST_STEP_BATCH)
		return; /* its job is answered as a whole */
	host_refuse(host, REPLY_REFUSED, MESSAGE_COMMANDS, batch->session, batch->batch, why);
}

/* Decodes one batch into the boundary. Not OK: `why` says what is wrong with it. */
static enum status add_batch(struct host *host, struct boundary *boundary,
			     const struct host_batch *from, struct reason *why)
{
	struct command *commands;
	enum status status = command_take_list(&from->list, &host->scratch, &commands, why);
	if (status != STATUS_OK)
		return status;
	boundary->batches[boundary->count] = (struct batch){
		.session = from->session,
		.number = from->batch,
		.at = from->at,
		.late = from->late,
		.restricted = from->restricted,
		.commands = commands,
		.count = from->list.count,
	};
	boundary->journal[boundary->count] = (struct journal_batch){
		.session = from->session,
		.batch = from->batch,
		.at = from->at,
		.late = from->late,
		.restricted = from->restricted,
		.commands = from->list.at,
		.bytes = from->list.bytes,
		.count = from->list.count,
	};
	boundary->count++;
	return STATUS_OK;
}

/* Nothing of this boundary was applied: every session whose batch was in it is told. */
static void refuse_inbox(struct host *host, const struct inbox_entry *entries, uint32_t count,
			 const struct reason *why)
{
	for (uint32_t i = 0; i < count; i++)
		refuse_batch(host, &((const struct waiting_batch *)entries[i].payload)->batch, why);
}

static void add_inbox(struct host *host, struct boundary *boundary,
		      const struct inbox_entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct waiting_batch *waiting = entries[i].payload;
		struct reason why;
		if (add_batch(host, boundary, &waiting->batch, &why) != STATUS_OK)
			refuse_batch(host, &waiting->batch, &why);
	}
}

/* Brings in the commands of the jobs that begin with this tick. A job whose commands make no sense is
 * refused whole and takes no part. */
static void add_steps(struct host *host, struct boundary *boundary)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < boundary->participant_count; i++) {
		uint32_t index = boundary->participants[i];
		struct step_job *job = &host->jobs.items[index];
		struct reason why;
		if (!job->begun && job->commands != NULL &&
		    add_batch(host, boundary, &job->commands->batch, &why) != STATUS_OK) {
			host_step_refuse(host, index, &why);
			for (uint32_t k = i + 1; k < boundary->participant_count; k++)
				boundary->participants[k] -= boundary->participants[k] > index;
			for (uint32_t k = 0; k < kept; k++)
				boundary->participants[k] -= boundary->participants[k] > index;
			continue;
		}
		boundary->participants[kept++] = index;
	}
	boundary->participant_count = kept;
}

static enum status collect(struct host *host, struct boundary *boundary,
			   const struct inbox_entry *entries, uint32_t entry_count)
{
	memset(boundary, 0, sizeof *boundary);
	if (host->mode != WIRE_MODE_RUNNING)
		boundary->participant_count =
			host_step_participants(host, boundary->participants, STEP_JOBS_MAX);
	uint32_t most = entry_count + boundary->participant_count;
	boundary->batches = ARENA_ARRAY(&host->scratch, struct batch, most);
	boundary->journal = ARENA_ARRAY(&host->scratch, struct journal_batch, most);
	boundary->results = ARENA_ARRAY(&host->scratch, struct batch_result, most);
	if (boundary->batches == NULL || boundary->journal == NULL || boundary->results == NULL)
		return STATUS_NO_MEMORY;
	add_inbox(host, boundary, entries, entry_count);
	add_steps(host, boundary);
	return STATUS_OK;
}

/* Applies and journals. The engine sorts for itself; the journal gets what the engine got. */
static enum status apply(struct host *host, struct boundary *boundary, struct reason *why)
{
	struct world_info info = world_info(host->world);
	enum status status =
		world_apply(host->world, boundary->batches, boundary->count, boundary->results);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "world", "the commands could not be applied: %s",
				  status_text(status));
	host->batches += boundary->count;
	if (host->journal != NULL && boundary->count > 0) {
		status = journal_apply(host->journal, info.epoch, info.tick, boundary->journal,
				       boundary->count);
		if (status != STATUS_OK)
			return reason_set(why, status, -1, "journal",
					  "the journal refused a record: %s", status_text(status));
	}
	return STATUS_OK;
}

/* Puts the results of the steps' commands into their jobs. */
static void keep_step_results(struct host *host, struct boundary *boundary)
{
	for (uint32_t i = 0; i < boundary->participant_count; i++) {
		struct step_job *job = &host->jobs.items[boundary->participants[i]];
		if (!job->begun && job->commands != NULL)
			for (uint32_t k = 0; k < boundary->count; k++)
				if (boundary->results[k].session == job->session &&
				    boundary->results[k].number == job->commands->batch.batch)
					host_step_result(job, &boundary->results[k]);
		waiting_batch_destroy(job->commands, NULL);
		job->commands = NULL;
		job->begun = true;
	}
}

/* All results of the boundary in one list: those of now, then those of kept batches. */
static const struct batch_result *all_results(struct host *host, const struct boundary *boundary,
					      uint32_t *count)
{
	uint32_t kept_count;
	const struct batch_result *kept = world_kept_results(host->world, &kept_count);
	*count = boundary->count;
	if (kept_count == 0)
		return boundary->results;
	struct batch_result *all =
		ARENA_ARRAY(&host->scratch, struct batch_result, boundary->count + kept_count);
	if (all == NULL)
		return boundary->results;
	if (boundary->count > 0)
		memcpy(all, boundary->results, boundary->count * sizeof *all);
	memcpy(all + boundary->count, kept, kept_count * sizeof *all);
	*count = boundary->count + kept_count;
	return all;
}

static enum status journal_step(struct host *host, struct reason *why)
{
	if (host->journal == NULL)
		return STATUS_OK;
	struct world_info info = world_info(host->world);
	enum status status = journal_tick(host->journal, info.epoch, info.tick,
					  world_tick_hash(host->world));
	if (status == STATUS_OK && host->options.checkpoint_ticks > 0 &&
	    info.tick - host->checkpoint_tick >= host->options.checkpoint_ticks)
		status = host_checkpoint(host, NULL, NULL);
	if (status != STATUS_OK)
		reason_set(why, status, -1, "journal", "the journal refused a record: %s",
			   status_text(status));
	return status;
}

/* A step that was not made is part of the history: what was kept for the boundary was applied. */
static enum status journal_stop(struct host *host, enum status step_status, struct reason *why)
{
	if (host->journal == NULL)
		return STATUS_OK;
	struct world_info info = world_info(host->world);
	enum status status = journal_stopped(host->journal, info.epoch, info.tick, step_status);
	if (status != STATUS_OK)
		reason_set(why, status, -1, "journal", "the journal refused a record: %s",
			   status_text(status));
	return status;
}

static void boundary_run(struct host *host, const struct schedule_turn *turn,
			 const struct inbox_entry *entries, uint32_t entry_count)
{
	struct boundary boundary;
	struct reason why;
	uint64_t begun = executor_now(host->executor);
	uint64_t used = executor_used(host->executor);
	enum status status = collect(host, &boundary, entries, entry_count);
	if (status == STATUS_OK)
		status = apply(host, &boundary, &why);
	else
		reason_set(&why, status, -1, "world", "%s", status_text(status));
	enum status step_status = status;
	if (status != STATUS_OK)
		refuse_inbox(host, entries, entry_count, &why);
	if (status == STATUS_OK) {
		keep_step_results(host, &boundary);
		step_status = world_step(host->world, executor_parallel(host->executor), &why);
		status = step_status == STATUS_OK ? journal_step(host, &why) :
						    journal_stop(host, step_status, &why);
	}
	uint64_t ended = executor_now(host->executor);
	used = executor_used(host->executor) - used;
	enum schedule_news news = schedule_end(&host->schedule, used, ended);
	if (step_status == STATUS_OK && news == SCHEDULE_OVERRUN &&
	    host->mode == WIRE_MODE_RUNNING)
		status = reason_set(&why, STATUS_BUSY, -1, "world",
				    "its ticks cost more than its budget; paused");
	bool failed = status != STATUS_OK || step_status != STATUS_OK;
	if (failed)
		host_halt(host);
	/* The tick goes out before the replies that speak of it (report.h). */
	uint32_t result_count;
	const struct batch_result *results = all_results(host, &boundary, &result_count);
	host_report_tick(host, turn, ended - begun, results, result_count);
	host_step_done(host, boundary.participants, boundary.participant_count, step_status, &why);
	if (failed)
		host_fail(host, &why);
}

void host_run(struct runnable *runnable, uint64_t now)
{
	struct host *host = (struct host *)runnable;
	if (host->mode != WIRE_MODE_RUNNING) {
		if (!host_step_wanted(host))
			return;
		schedule_request(&host->schedule, 1);
	}
	struct schedule_turn turn;
	if (!schedule_begin(&host->schedule, now, &turn))
		return;
	struct arena_mark mark = arena_mark(&host->scratch);
	uint32_t count;
	const struct inbox_entry *entries = inbox_take(host->inbox, &count);
	boundary_run(host, &turn, entries, count);
	for (uint32_t i = 0; i < count; i++)
		waiting_batch_destroy(entries[i].payload, NULL);
	arena_rewind(&host->scratch, mark);
}
