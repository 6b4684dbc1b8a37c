/* host_boundary.c: one slice of a world, as a list of stages:
 *
 *	collect   decode the batches of the inbox and of the STEPs that take part
 *	apply     apply all of them at once, in the engine's order
 *	record    write the batches to the journal as they were applied
 *	edit      decide whether a tick follows, or the world was only edited
 *	step      make one tick
 *	hash      write the tick's hash to the journal, or that no tick was made; a checkpoint if due;
 *	          then `step` again if a STEP requests more ticks and nothing has to be told between them
 *	report    report what changed to the loop
 *	answer    answer the STEPs that are completed
 *
 * A batch that cannot be decoded never reaches the engine or the journal; its refusal is among the
 * results. If memory runs out or the journal has no room, the slice ends, the boundary stays at its
 * stage and continues from there 10 ms later: each stage does either nothing or all of its work. So
 * no accepted batch is lost, reported twice or applied twice; it is late, and counted (`stalls`).
 * If a limit of the world or its budget is exceeded, or a journal that is not optional cannot be
 * written, the world goes to FAILED and reports why (host_fail); later batches are refused with it.
 */
#include <string.h>

#include "protocol/command_wire.h"
#include "server/base/heap.h"
#include "server/host/host_state.h"

/* Between two tries of a stage: shorter than a client notices, longer than a transaction of the
 * store. */
enum { RETRY_MS = 10 };

/* Ticks that a slice makes of one STEP, so that a slice ends also under a clock that stands still. */
enum { SLICE_TICKS_MAX = 1000 };

/* True if the stage is tried again: memory is short, or the journal's backlog is full (and not its disk). */
static bool is_temporary(struct host *host, enum status status)
{
	struct reason why;
	return status == STATUS_NO_MEMORY ||
	       (status == STATUS_FULL && journal_status(host->journal, &why) == STATUS_OK);
}

/* True if the report queue and the journal both have room for the output of a slice. */
static bool has_output_room(struct host *host)
{
	return report_queue_count(&host->reports) < REPORTS_MAX &&
	       (host_journal(host) == NULL || host->journal_failed || journal_ready(host->journal));
}

uint64_t host_due(struct runnable *runnable)
{
	struct host *host = (struct host *)runnable;
	if (host->boundary.stage != BOUNDARY_IDLE)
		return host->boundary.retry_at;
	bool full = !has_output_room(host);
	if (full && !host->waiting_for_loop)
		host->stalls++;
	host->waiting_for_loop = full;
	if (full)
		return INSTANT_NEVER;
	if (host->mode == WIRE_MODE_RUNNING)
		return schedule_due(&host->schedule);
	return host_edit_wanted(host) || host_step_wanted(host) ? 0 : INSTANT_NEVER;
}

/* The journal has failed; its file ends before this record. OK: the world goes on without it. Otherwise it
 * does not step any more. */
static enum status fail_journal(struct host *host, enum status status)
{
	struct reason why;
	if (journal_status(host->journal, &why) == STATUS_OK)
		reason_set(&why, status, -1, "journal", "the journal refused a record: %s",
			   status_text(status));
	host_fail_journal(host, &why);
	return host->journal_failed ? status : STATUS_OK;
}

/* ---- the journal's beginning ------------------------------------------------------------------- */

/* Writes the shape library, then a checkpoint of the first state: the file is complete from here. */
static enum status record_beginning(struct host *host)
{
	struct world_info info = world_info(host->world);
	enum status status = STATUS_OK;
	while (host_journal(host) != NULL && status == STATUS_OK &&
	       host->shapes_recorded < host->shapes.count) {
		status = journal_shape(host->journal, info.epoch, info.tick,
				       shape_library_at(&host->shapes, host->shapes_recorded));
		host->shapes_recorded += status == STATUS_OK;
	}
	if (host_journal(host) != NULL && status == STATUS_OK)
		status = host_checkpoint(host, NULL, NULL);
	if (is_temporary(host, status))
		return status;
	if (status != STATUS_OK)
		(void)fail_journal(host, status);
	host->boundary.stage = BOUNDARY_REPORT;
	return STATUS_OK;
}

void host_boundary_begin(struct host *host)
{
	host->boundary.mark = arena_mark(&host->scratch);
	host->boundary.stepping = false;
	host->all_drags_due = true;
	host->boundary.stage = BOUNDARY_BEGIN;
	host_run_stages(host);
}

/* ---- collecting -------------------------------------------------------------------------------- */

static void refuse_batch(struct host *host, const struct host_batch *batch,
			 const struct reason *why)
{
	struct boundary *boundary = &host->boundary;
	boundary->refused[boundary->refused_count++] = (struct batch_result){
		.session = batch->session,
		.number = batch->batch,
		.tick = world_info(host->world).tick,
		.status = why->status,
		.why = *why,
	};
}

/* Decodes one batch into the boundary. Not OK: `why` is set. */
static enum status add_batch(struct host *host, const struct host_batch *from, struct reason *why)
{
	struct boundary *boundary = &host->boundary;
	struct command *commands;
	enum status status = command_take_list(&from->list, &host->scratch, &commands, why);
	if (status == STATUS_OK && from->restricted)
		status = host_players_check(host, boundary, from, commands, why);
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
	boundary->records[boundary->count] = (struct journal_batch){
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

static enum status add_inbox(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	for (uint32_t i = 0; i < boundary->entry_count; i++) {
		const struct waiting_batch *waiting = boundary->entries[i].payload;
		/* Nothing is applied any more once the journal has failed. */
		struct reason why = host->failure;
		enum status status =
			host->journal_failed ? why.status : add_batch(host, &waiting->batch, &why);
		if (status == STATUS_NO_MEMORY)
			return status;
		if (status != STATUS_OK)
			refuse_batch(host, &waiting->batch, &why);
	}
	return STATUS_OK;
}

/* Adds the commands of the jobs that begin with this tick. They were checked when the STEP arrived, so
 * decoding fails only if memory runs out. The boundary owns them from then on. */
static enum status add_steps(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	struct step_job *job = NULL;
	struct reason why;
	while ((job = host_step_next(host, job)) != NULL) {
		if (job->begun || job->commands == NULL)
			continue;
		enum status status = add_batch(host, &job->commands->batch, &why);
		if (status == STATUS_NO_MEMORY)
			return status;
		ASSERT(status == STATUS_OK);
	}
	while ((job = host_step_next(host, job)) != NULL) {
		if (job->begun || job->commands == NULL)
			continue;
		boundary->commands[boundary->command_count++] = job->commands;
		job->commands = NULL;
	}
	return STATUS_OK;
}

static enum status collect_batches(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	bool running = host->mode == WIRE_MODE_RUNNING;
	arena_rewind(&host->scratch, boundary->mark);
	boundary->count = boundary->refused_count = boundary->command_count = 0;
	uint32_t jobs = running ? 0 : host_step_enlist(host, boundary->edits);
	bool edited = boundary->entry_count > 0 || host->drags_due;
	if (!running && jobs == 0 && !(boundary->edits && edited)) {
		/* The sessions that requested this tick are gone; batches taken from the inbox wait
		 * for the next one. */
		boundary->stage = BOUNDARY_IDLE;
		return STATUS_OK;
	}
	struct arena *scratch = &host->scratch;
	if (host_players_begin(host, boundary) != STATUS_OK)
		return STATUS_NO_MEMORY;
	uint32_t most = boundary->entry_count + jobs + boundary->own_count;
	boundary->commands = ARENA_ARRAY(scratch, struct waiting_batch *, jobs);
	boundary->batches = ARENA_ARRAY(scratch, struct batch, most);
	boundary->records = ARENA_ARRAY(scratch, struct journal_batch, most);
	boundary->results = ARENA_ARRAY(scratch, struct batch_result, most);
	boundary->refused = ARENA_ARRAY(scratch, struct batch_result, boundary->entry_count);
	if (boundary->commands == NULL || boundary->batches == NULL || boundary->records == NULL ||
	    boundary->results == NULL || boundary->refused == NULL)
		return STATUS_NO_MEMORY;
	enum status status = add_inbox(host);
	if (status == STATUS_OK)
		status = add_steps(host);
	if (status == STATUS_OK)
		host_players_leave(host, boundary);
	if (status == STATUS_OK)
		boundary->stage = BOUNDARY_APPLY;
	return status;
}

/* The cost of a tick is the processor time of apply and step. Where reading it would cost more than the
 * tick, on LOOP, in a series of ticks and where they are requested, it is the wall time since the slice
 * or the tick before began, which is never less. That is accurate enough, because the schedule does not
 * limit steps on request by their cost. */
static bool reads_used_time(const struct host *host)
{
	return !host->on_loop && host->boundary.ticks == 0 && !host->boundary.turn.requested;
}

static uint64_t tick_time_used(const struct host *host)
{
	return reads_used_time(host) ? executor_used(host->executor) : 0;
}

static enum status apply_batches(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	uint64_t before = tick_time_used(host);
	enum status status = world_apply(host->world, boundary->batches,
					 boundary->count + boundary->own_count, boundary->results);
	boundary->cost += tick_time_used(host) - before;
	if (status != STATUS_OK)
		return status;
	host->batches += boundary->count;
	host_players_applied(host, boundary);
	boundary->stage = BOUNDARY_RECORD;
	return STATUS_OK;
}

static void release_batches(struct boundary *boundary)
{
	for (uint32_t i = 0; i < boundary->entry_count; i++)
		waiting_batch_destroy(boundary->entries[i].payload, NULL);
	for (uint32_t i = 0; i < boundary->command_count; i++)
		waiting_batch_destroy(boundary->commands[i], NULL);
	boundary->entry_count = boundary->command_count = 0;
}

/* Records batches in the order in which the engine got them: it sorts them itself, also in a replay. */
static enum status record_batches(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	enum status status = STATUS_OK;
	uint32_t count = boundary->count + boundary->own_count;
	if (host_journal(host) != NULL && !host->journal_failed && count > 0) {
		struct world_info info = world_info(host->world);
		for (uint32_t i = 0; i < boundary->count; i++)
			boundary->records[i].result = (uint8_t)boundary->results[i].status;
		status = journal_apply(host->journal, info.epoch, info.tick, info.edit,
				       boundary->records, count);
	}
	if (is_temporary(host, status))
		return status;
	release_batches(boundary);
	host_players_end(host);
	if (status != STATUS_OK)
		status = fail_journal(host, status);
	boundary->status = status;
	boundary->stage = BOUNDARY_EDIT;
	if (status != STATUS_OK) {
		boundary->why = host->failure;
		boundary->stage = BOUNDARY_REPORT;
	}
	return STATUS_OK;
}

/* ---- stepping ---------------------------------------------------------------------------------- */

/* Puts the results of the steps' commands into their jobs. */
static enum status store_step_results(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	for (struct step_job *job = NULL; (job = host_step_next(host, job)) != NULL;) {
		if (job->begun)
			continue;
		job->results.count = job->result_count = 0;
		for (uint32_t i = 0; i < boundary->count; i++) {
			const struct batch_result *result = &boundary->results[i];
			if (result->session != job->requester.session ||
			    result->number != (job->requester.ref | HOST_STEP_BATCH))
				continue;
			enum status status = host_step_result(job, result);
			if (status != STATUS_OK)
				return status;
		}
	}
	return STATUS_OK;
}

/* Sets the mode by the outcome of the step: FAILED over a limit or the budget; PAUSED again after
 * FAILED. */
static void set_mode_by_outcome(struct host *host, enum schedule_change news)
{
	struct boundary *boundary = &host->boundary;
	if (boundary->status != STATUS_OK) {
		host_fail(host, &boundary->why);
		return;
	}
	if (host->mode == WIRE_MODE_FAILED && !host->journal_failed)
		host_set_mode(host,
			      WIRE_MODE_PAUSED); /* a STEP succeeded, so the world can run again */
	if (host->mode == WIRE_MODE_RUNNING && news == SCHEDULE_OVERRUN) {
		struct reason why;
		reason_set(
			&why, STATUS_BUSY, -1, "world",
			"the world is paused because its ticks exceed its budget even at 1/%d of the "
			"speed: make it smaller or slower, or raise the budget",
			SCHEDULE_STRETCH_MAX);
		host_fail(host, &why);
	}
}

/* Chooses the stage after the commands were applied: BOUNDARY_STEP if a tick follows, else
 * BOUNDARY_REPORT. Without a tick the boundary is an edit, whose number world_apply has raised if
 * the state changed. */
static enum status decide_tick(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	struct step_job *job = NULL;
	enum status status = store_step_results(host);
	if (status != STATUS_OK)
		return status;
	while ((job = host_step_next(host, job)) != NULL)
		job->begun = true;
	boundary->edits =
		boundary->edits || (host->mode != WIRE_MODE_RUNNING && !host_step_needs_tick(host));
	boundary->stage = boundary->edits ? BOUNDARY_REPORT : BOUNDARY_STEP;
	return STATUS_OK;
}

static enum status step_world(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	struct step_job *job = NULL;
	enum status kept = host_keep_start(host);
	if (kept != STATUS_OK)
		return kept;
	uint64_t before = tick_time_used(host);
	/* A step on LOOP is small: threads inside it would cost more than they save. */
	const struct parallel *parallel =
		host->on_loop ? &parallel_serial : executor_parallel(host->executor);
	boundary->status = world_step(host->world, parallel, &boundary->why);
	boundary->cost += tick_time_used(host) - before;
	while (boundary->status == STATUS_OK && (job = host_step_next(host, job)) != NULL)
		job->ticks_left--;
	uint64_t now = executor_now(host->executor);
	uint64_t cost = reads_used_time(host) ? boundary->cost : now - boundary->tick_at;
	if (boundary->status == STATUS_OK)
		tick_costs_add(&host->costs, cost);
	boundary->cost = MAX_OF(boundary->cost, cost);
	boundary->tick_at = now;
	boundary->ticks++;
	set_mode_by_outcome(host, schedule_end(&host->schedule, boundary->cost, now));
	boundary->stage = BOUNDARY_HASH;
	return STATUS_OK;
}

/* A step that was not made is recorded too, because its boundary has applied stored batches. */
static enum status record_step(struct host *host)
{
	if (host_journal(host) == NULL || host->journal_failed)
		return STATUS_OK;
	struct world_info info = world_info(host->world);
	if (host->boundary.status != STATUS_OK)
		return journal_stopped(host->journal, info.epoch, info.tick, host->boundary.status);
	return journal_tick(host->journal, info.epoch, info.tick, world_tick_hash(host->world));
}

/* True if every STEP that takes part requests a further tick. */
static bool jobs_request_more(struct host *host)
{
	struct step_job *job = host_step_next(host, NULL);
	bool more = job != NULL;
	for (; job != NULL && more; job = host_step_next(host, job))
		more = job->ticks_left > 0;
	return more;
}

/* After a tick: whether the slice may make the next one without a report of this one. The next one has the
 * same STEPs, nobody sees single ticks, and no batch was applied whose results wait for the report. */
static bool may_step_again(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	uint32_t stored;
	(void)world_stored_results(host->world, &stored);
	bool told = boundary->count + boundary->own_count + boundary->refused_count + stored > 0;
	if (boundary->status != STATUS_OK || host->journal_failed || told || host->drags_due ||
	    boundary->tick_at >= boundary->until || boundary->ticks >= SLICE_TICKS_MAX ||
	    host->mode == WIRE_MODE_RUNNING ||
	    atomic_load_explicit(&host->ticks_watched, memory_order_relaxed))
		return false;
	return jobs_request_more(host) && has_output_room(host) && !host_inbox_filled(host);
}

static void step_again(struct host *host)
{
	schedule_request(&host->schedule, 1);
	bool begun = schedule_begin(&host->schedule, host->boundary.tick_at, &host->boundary.turn);
	ASSERT(begun);
	host_follow_tick(host);
	world_keep_changes(host->world);
	host->boundary.stage = BOUNDARY_STEP;
}

static enum status record_hash(struct host *host)
{
	enum status status = record_step(host);
	if (is_temporary(host, status))
		return status;
	host->steps_unsaved += host->boundary.status == STATUS_OK;
	bool due = host->boundary.status == STATUS_OK && host->options.checkpoint_ticks > 0 &&
		   host->steps_unsaved >= host->options.checkpoint_ticks;
	if (status == STATUS_OK && host_journal(host) != NULL && due) {
		/* If memory or room is missing, the checkpoint is due again with the next tick. */
		status = host_checkpoint(host, NULL, NULL);
		status = is_temporary(host, status) ? STATUS_OK : status;
	}
	if (status != STATUS_OK)
		(void)fail_journal(host, status);
	host->boundary.stage = BOUNDARY_REPORT;
	if (may_step_again(host))
		step_again(host);
	return STATUS_OK;
}

/* ---- restore ----------------------------------------------------------------------------------- */

/* The file has no checkpoint of a state that is no snapshot, so its image is recorded, too. */
static enum status record_restored_state(struct host *host)
{
	uint64_t tables[WORLD_TABLES_MAX];
	uint32_t count;
	struct bytes image = { 0 };
	struct world_info info = world_info(host->world);
	enum status status = world_save(host->world, &image);
	uint64_t hash = world_state_hash(host->world, tables, &count);
	if (status == STATUS_OK)
		status = journal_restore_state(host->journal, info.epoch, info.tick, info.edit,
					       &image, hash, tables, count);
	bytes_release(&image);
	return status;
}

static enum status record_restore(struct host *host)
{
	struct world_info info = world_info(host->world);
	enum status status = STATUS_OK;
	if (host_journal(host) != NULL && host->restored[0] == '\0')
		status = record_restored_state(host);
	else if (host_journal(host) != NULL)
		status = journal_restore(host->journal, info.epoch, info.tick, info.edit,
					 host->restored);
	if (is_temporary(host, status))
		return status;
	if (status != STATUS_OK)
		(void)fail_journal(host, status);
	host->boundary.stage = BOUNDARY_REPORT;
	return STATUS_OK;
}

void host_boundary_restored(struct host *host, bool drags_end)
{
	host->boundary.mark = arena_mark(&host->scratch);
	host->boundary.stepping = false;
	host->all_drags_due = host->all_drags_due || drags_end;
	host->boundary.stage = BOUNDARY_RESTORE;
	host_run_stages(host);
}

static void answer_restorer(struct host *host)
{
	struct report *report = host_reply(host, &host->restorer);
	report->reply.state_hash =
		(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	report->reply.other_bits = host->restored_other_bits;
	host_send(host, report);
}

/* ---- reporting --------------------------------------------------------------------------------- */

/* Results of a boundary that stays open are reported once: stores how many have been. */
static void store_reported_count(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	if (!boundary->stepping)
		return;
	uint32_t stored;
	(void)world_stored_results(host->world, &stored);
	host->open = boundary->status != STATUS_OK;
	if (boundary->edits)
		world_close_boundary(host->world);
	host->stored_reported = host->open ? stored : 0;
}

/* Records mode and speed. A FAILED world is recorded as PAUSED, so it does not step after a restart. */
static enum status record_pace(struct host *host)
{
	struct world_info info = world_info(host->world);
	bool failed = host->mode == WIRE_MODE_FAILED;
	struct journal_pace pace = { (uint8_t)(failed ? WIRE_MODE_PAUSED : host->mode),
				     host->schedule.speed, host->barrier };
	enum status status = STATUS_OK;
	if (host->pace_due && host_journal(host) != NULL && !host->journal_failed)
		status = journal_pace(host->journal, info.epoch, info.tick, &pace);
	if (is_temporary(host, status))
		return status;
	if (status != STATUS_OK)
		(void)fail_journal(host, status);
	host->pace_due = false;
	return STATUS_OK;
}

static enum status report_boundary(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	enum status status = record_pace(host);
	if (status == STATUS_OK)
		status = host_report_tick(host, boundary);
	if (status != STATUS_OK)
		return status;
	host->whole_due = host->contacts_due = host->joints_due = false;
	store_reported_count(host);
	host->control_due = false;
	if (host->restorer.report != NULL)
		answer_restorer(host);
	boundary->stage = boundary->stepping ? BOUNDARY_ANSWER : BOUNDARY_IDLE;
	return STATUS_OK;
}

static enum status answer_steps(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	enum status status = STATUS_OK;
	if (boundary->status == STATUS_OK)
		status = host_step_answer(host);
	if (status != STATUS_OK)
		return status;
	/* Sessions must not wait for ticks that will not be made. */
	if (boundary->status != STATUS_OK || host->journal_failed)
		host_refuse_all_jobs(host, &host->failure);
	boundary->stage = BOUNDARY_IDLE;
	return STATUS_OK;
}

void host_report_control(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	host->control_due = true;
	if (boundary->stage != BOUNDARY_IDLE)
		return;
	boundary->stepping = false;
	boundary->mark = arena_mark(&host->scratch);
	boundary->stage = BOUNDARY_REPORT;
	host_run_stages(host);
}

/* ---- the slice --------------------------------------------------------------------------------- */

void host_run_stages(struct host *host)
{
	static enum status (*const stages[])(struct host *) = {
		[BOUNDARY_BEGIN] = record_beginning,  [BOUNDARY_RESTORE] = record_restore,
		[BOUNDARY_COLLECT] = collect_batches, [BOUNDARY_APPLY] = apply_batches,
		[BOUNDARY_RECORD] = record_batches,   [BOUNDARY_EDIT] = decide_tick,
		[BOUNDARY_STEP] = step_world,	      [BOUNDARY_HASH] = record_hash,
		[BOUNDARY_REPORT] = report_boundary,  [BOUNDARY_ANSWER] = answer_steps,
	};
	static const enum profile_stage profiled[] = {
		[BOUNDARY_BEGIN] = PROFILE_JOURNAL,   [BOUNDARY_RESTORE] = PROFILE_JOURNAL,
		[BOUNDARY_COLLECT] = PROFILE_COLLECT, [BOUNDARY_APPLY] = PROFILE_APPLY,
		[BOUNDARY_RECORD] = PROFILE_JOURNAL,  [BOUNDARY_EDIT] = PROFILE_COLLECT,
		[BOUNDARY_STEP] = PROFILE_JOURNAL,    [BOUNDARY_HASH] = PROFILE_JOURNAL,
		[BOUNDARY_REPORT] = PROFILE_REPORT,   [BOUNDARY_ANSWER] = PROFILE_REPORT,
	};
	struct boundary *boundary = &host->boundary;
	enum status status = STATUS_OK;
	while (boundary->stage != BOUNDARY_IDLE && status == STATUS_OK) {
		profile_enter(host->profiling, profiled[boundary->stage]);
		status = stages[boundary->stage](host);
		if (boundary->stage == BOUNDARY_IDLE && host->control_due) {
			boundary->stepping = false;
			boundary->stage = BOUNDARY_REPORT;
		}
	}
	if (boundary->stage == BOUNDARY_IDLE) {
		arena_rewind(&host->scratch, boundary->mark);
		return;
	}
	host->stalls++;
	boundary->retry_at = executor_now(host->executor) + RETRY_MS * NS_PER_MS;
}

static void take_inbox(struct host *host)
{
	struct boundary *boundary = &host->boundary;
	/* Only LOOP puts batches, so LOOP knows when the inbox is empty. */
	if (host->on_loop && !host->inbox_filled)
		return;
	boundary->entries = inbox_take(host->inbox, &boundary->entry_count);
	if (host->on_loop)
		host->inbox_filled = false;
}

static bool make_turn(struct host *host, uint64_t now)
{
	struct boundary *boundary = &host->boundary;
	host_step_go_back(host);
	if (boundary->stage != BOUNDARY_IDLE)
		return false;
	boundary->edits = !(host->mode == WIRE_MODE_RUNNING || host_step_wanted(host));
	boundary->turn = (struct schedule_turn){ .deadline = now };
	if (boundary->edits && !host_edit_wanted(host))
		return false;
	if (!boundary->edits && host->mode != WIRE_MODE_RUNNING)
		schedule_request(&host->schedule, 1);
	if (!boundary->edits && !schedule_begin(&host->schedule, now, &boundary->turn))
		return false;
	boundary->stage = BOUNDARY_COLLECT;
	boundary->stepping = true;
	boundary->status = STATUS_OK;
	boundary->cost = 0;
	boundary->mark = arena_mark(&host->scratch);
	/* Entries of an abandoned boundary are applied first, so each session's batches keep their
	 * order. */
	if (boundary->entry_count == 0 && !(boundary->edits && host->mode == WIRE_MODE_BARRIER))
		take_inbox(host);
	return true;
}

/* Runs the stages of a slice, profiled if the world has saved enough for it. */
static void run_slice(struct host *host, uint64_t now)
{
	const struct boundary *boundary = &host->boundary;
	struct profile *profile = &host->profile;
	uint64_t entered = profile->sums.entered;
	if (boundary->stepping && !boundary->edits && profile_credit_suffices(&host->credit)) {
		host->profiling = profile;
		profile_begin(profile, PROFILE_COLLECT);
		world_set_profile(host->world, profile);
	}
	host_run_stages(host);
	if (host->profiling != NULL) {
		world_set_profile(host->world, NULL);
		profile_end(profile, boundary->ticks);
		profile_credit_pay(&host->credit, profile->sums.entered - entered);
		host->profiling = NULL;
	}
	if (boundary->ticks > 0)
		profile_credit_save(&host->credit, boundary->tick_at - now);
}

uint32_t host_run(struct runnable *runnable, uint64_t now, uint64_t until)
{
	struct host *host = (struct host *)runnable;
	/* All reports of a boundary wake LOOP once, at its end. */
	host->in_slice = true;
	host->sent_in_slice = false;
	host->boundary.tick_at = now;
	host->boundary.until = until;
	host->boundary.ticks = 0;
	if (host->boundary.stage != BOUNDARY_IDLE || make_turn(host, now))
		run_slice(host, now);
	host->in_slice = false;
	if (host->sent_in_slice)
		executor_wake(host->executor, EXECUTOR_LOOP, &host->wakeup);
	/* LOOP begins before the queue is full, so that the host does not wait for it. */
	if (!host->on_loop && report_queue_count(&host->reports) == REPORTS_MAX / 2)
		executor_ring(host->executor);
	return host->boundary.ticks;
}

void host_boundary_release(struct host *host)
{
	release_batches(&host->boundary);
}
