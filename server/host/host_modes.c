/* host_modes.c: which session may make a world step, and when: pause, speed, lease, barrier and the queue
 * of STEP requests (host.h draws the modes).
 *
 * A STEP becomes a job: its commands are applied at the boundary before its first tick, then it takes part
 * in n ticks and is answered. A job whose commands are refused takes part in no tick, unless `anyway` is
 * set. A job of no ticks is an edit: its commands are applied without a tick, as are those of COMMANDS
 * while the world is PAUSED or FAILED. In LOCKSTEP and BARRIER sessions drive the world by STEPs, and
 * COMMANDS wait for the next one. Outside BARRIER only the oldest job takes part; under BARRIER the oldest
 * job of each session does, once k sessions have one. Within a tick the jobs' commands are applied in the
 * order of session numbers, never of arrival.
 */
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/packer.h"
#include "protocol/result_wire.h"
#include "server/base/heap.h"
#include "server/host/host_state.h"

void step_job_release(struct step_job *job)
{
	requester_release(&job->requester);
	waiting_batch_destroy(job->commands, NULL);
	job->commands = NULL;
	bytes_release(&job->results);
	bytes_release(&job->observed);
	step_plan_release(job->plan);
	job->plan = NULL;
}

static void refuse_job(struct host *host, struct step_job *job, const struct reason *why)
{
	if (job->plan != NULL)
		host_plan_refuse(host, job, why);
	else
		host_refuse(host, &job->requester, why);
}

static void remove_job(struct host *host, uint32_t index)
{
	step_job_release(&host->jobs.items[index]);
	host->jobs.count--;
	memmove(&host->jobs.items[index], &host->jobs.items[index + 1],
		(host->jobs.count - index) * sizeof *host->jobs.items);
}

/* Sessions at a barrier step a world together, so none of them may put it at another time alone. */
static enum status refuse_at_barrier(const struct host *host, const struct step_job *job,
				     struct reason *why)
{
	if (host->mode != WIRE_MODE_BARRIER || job->back[0] == '\0')
		return STATUS_OK;
	return reason_set(why, STATUS_RANGE, -1, "restore",
			  "at a barrier no STEP returns to a moment: send RESTORE instead");
}

/* OK if the STEP may be queued; else `why` is set. */
static enum status check_step(const struct host *host, const struct step_job *job,
			      struct reason *why)
{
	if (host->mode == WIRE_MODE_RUNNING)
		return reason_set(why, STATUS_RUNNING, -1, "world", "%s",
				  status_text(STATUS_RUNNING));
	if (host->journal_failed)
		return reason_set(why, host->failure.status, -1, "journal", "%s",
				  host->failure.text);
	if (host->lease != 0 && host->lease != job->requester.session)
		return reason_set(why, STATUS_LEASED, -1, "world", "session %u holds the lease",
				  (unsigned)host->lease);
	if (host->jobs.count == STEP_JOBS_MAX)
		return reason_set(
			why, STATUS_BUSY, -1, "world",
			"%d STEPs are waiting, which is the limit: wait for answers first",
			STEP_JOBS_MAX);
	return refuse_at_barrier(host, job, why);
}

static bool has_earlier_job(const struct host *host, uint32_t session, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (host->jobs.items[i].requester.session == session)
			return true;
	return false;
}

/* Outside BARRIER only the oldest job takes part in a tick; under it the oldest of each session. */
static bool has_turn(const struct host *host, uint32_t index)
{
	if (host->mode != WIRE_MODE_BARRIER)
		return index == 0;
	return !has_earlier_job(host, host->jobs.items[index].requester.session, index);
}

static uint32_t count_participants(const struct host *host)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < host->jobs.count; i++)
		count += host->jobs.items[i].ticks_left > 0 && has_turn(host, i);
	return count;
}

bool host_step_wanted(const struct host *host)
{
	uint32_t needed = host->mode == WIRE_MODE_BARRIER ? host->barrier : 1;
	return count_participants(host) >= needed;
}

bool host_inbox_filled(const struct host *host)
{
	struct inbox_counters inbox;
	/* Only LOOP puts batches, so LOOP knows when the inbox is empty. */
	if (host->on_loop && !host->inbox_filled)
		return false;
	inbox_counters(host->inbox, &inbox);
	return inbox.entries > 0;
}

bool host_edit_wanted(const struct host *host)
{
	if (host->mode == WIRE_MODE_RUNNING)
		return false;
	if (host->journal_failed)
		return host->boundary.entry_count > 0 ||
		       host_inbox_filled(host); /* to be refused */
	for (uint32_t i = 0; i < host->jobs.count; i++)
		if (host->jobs.items[i].ticks_left == 0 && has_turn(host, i))
			return true;
	bool driven = host->mode == WIRE_MODE_LOCKSTEP || host->mode == WIRE_MODE_BARRIER;
	return !driven &&
	       (host->boundary.entry_count > 0 || host->drags_due || host_inbox_filled(host));
}

uint32_t host_step_enlist(struct host *host, bool edits)
{
	bool wanted = edits || host_step_wanted(host);
	uint32_t count = 0;
	for (uint32_t i = 0; i < host->jobs.count; i++) {
		struct step_job *job = &host->jobs.items[i];
		job->takes_part = wanted && (job->ticks_left == 0) == edits && has_turn(host, i);
		count += job->takes_part;
	}
	return count;
}

bool host_step_needs_tick(struct host *host)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < host->jobs.count; i++) {
		struct step_job *job = &host->jobs.items[i];
		if (job->takes_part && job->refused && !job->anyway)
			job->ticks_left = 0;
		left += job->takes_part && job->ticks_left > 0;
	}
	return left >= (host->mode == WIRE_MODE_BARRIER ? host->barrier : 1);
}

struct step_job *host_step_next(struct host *host, const struct step_job *after)
{
	/* A session takes part with one job at a time, so session numbers are a total order. */
	struct step_job *next = NULL;
	if (host->jobs.count == 1) /* most, and each tick asks */
		return after == NULL && host->jobs.items[0].takes_part ? host->jobs.items : NULL;
	for (uint32_t i = 0; i < host->jobs.count; i++) {
		struct step_job *job = &host->jobs.items[i];
		bool later = after == NULL || job->requester.session > after->requester.session;
		if (job->takes_part && later &&
		    (next == NULL || job->requester.session < next->requester.session))
			next = job;
	}
	return next;
}

/* Sends STEPPED. NO_MEMORY for the observation: the job is not answered yet. */
static enum status answer_step(struct host *host, struct step_job *job)
{
	struct bytes observation = { 0 };
	struct wire_hash joints = { 0 };
	enum status status = host_observe(host, job->want, &observation);
	if (status == STATUS_OK && (job->want & WIRE_WANT_JOINTS_HASH))
		status = host_hash_joints(host, &joints);
	if (status != STATUS_OK) {
		bytes_release(&observation);
		return status;
	}
	struct reason why;
	enum status kept = STATUS_OK;
	if (job->keep[0] != '\0' && (!job->refused || job->anyway))
		kept = host_keep_moment(host, job->keep, &why);
	struct report *report = host_reply(host, &job->requester);
	struct reply_report *reply = &report->reply;
	reply->kept = kept;
	reply->raw = observation;
	reply->results = job->results;
	reply->result_count = job->result_count;
	bytes_init(&job->results);
	reply->tick_hash = (struct wire_hash){ true, world_tick_hash(host->world) };
	reply->joints_hash = joints;
	if (job->want & WIRE_WANT_HASH)
		reply->state_hash =
			(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	host_send(host, report);
	return STATUS_OK;
}

/* The ticks of a job are made. Answers it, unless its plan has a further step: then *done is false.
 * NO_MEMORY: nothing has changed. */
static enum status finish_ticks(struct host *host, struct step_job *job, bool *done)
{
	*done = true;
	if (job->plan != NULL)
		return host_plan_step(host, job, done);
	return answer_step(host, job);
}

enum status host_step_result(struct step_job *job, const struct batch_result *result)
{
	if (job->plan != NULL)
		return host_plan_result(job, result);
	bool done = result->status == STATUS_OK;
	job->refused = !done;
	struct wire_result packed = {
		.batch = job->requester.ref,
		.tick = result->tick,
		.edit = result->edit,
		.code = result->status,
		.index = done ? -1 : (int32_t)result->why.index,
		.values = result->values,
		.value_count = result->value_count,
		.field = wire_text(done ? "" : result->why.field),
		.text = wire_text(done ? "" : result->why.text),
	};
	/* A result is six small integers, two short texts, and five bytes a value at most. */
	uint32_t room = 512 + 5 * packed.value_count;
	enum status status = bytes_reserve(&job->results, room);
	if (status != STATUS_OK)
		return status;
	struct wire_packer packer = wire_packer_over(job->results.data + job->results.count, room);
	result_pack(&packer, &packed);
	status = wire_packer_status(&packer);
	ASSERT(status == STATUS_OK);
	job->results.count += packer.bytes;
	job->result_count++;
	return STATUS_OK;
}

/* The tick at which a job begins: the world's, or that of its moment; of an unknown moment any tick, because
 * the job is refused for that. */
static uint64_t first_tick(const struct host *host, const struct step_job *job)
{
	struct reason why;
	uint64_t tick = job->from.value;
	if (job->back[0] == '\0')
		return world_info(host->world).tick;
	return host_moment_tick(host, job->back, &tick, &why) == STATUS_OK ? tick : job->from.value;
}

/* The `from` of a job is checked when its turn comes, because earlier jobs may still step the
 * world to it. */
static bool is_at_requested_tick(const struct host *host, const struct step_job *job)
{
	return job->begun || !job->from.set || job->from.value == first_tick(host, job);
}

static void refuse_wrong_tick(struct host *host, struct step_job *job)
{
	struct reason why;
	reason_set(&why, STATUS_TICK, -1, "from", "from is %llu, but the %s is at tick %llu",
		   (unsigned long long)job->from.value, job->back[0] == '\0' ? "world" : "moment",
		   (unsigned long long)first_tick(host, job));
	refuse_job(host, job, &why);
}

/* Answers a job without ticks and commands; without memory for its observation it is refused. */
static void answer_observer(struct host *host, struct step_job *job)
{
	struct reason why;
	enum status status;
	bool done;
	do
		status = finish_ticks(host, job, &done);
	while (status == STATUS_OK && !done);
	if (status == STATUS_OK)
		return;
	reason_set(&why, status, -1, "want", "%s", status_text(status));
	refuse_job(host, job, &why);
}

/* Ends the jobs whose turn it is and that only observe, or whose `from` is not the world's tick. */
static void settle_jobs(struct host *host)
{
	if (host->boundary.stage != BOUNDARY_IDLE && host->boundary.stage != BOUNDARY_ANSWER)
		return; /* settled when the present boundary ends */
	for (uint32_t i = 0; i < host->jobs.count;) {
		struct step_job *job = &host->jobs.items[i];
		bool turn = has_turn(host, i) && !job->takes_part;
		if (turn && !is_at_requested_tick(host, job))
			refuse_wrong_tick(host, job);
		else if (turn && job->ticks_left == 0 && job->commands == NULL &&
			 job->back[0] == '\0')
			answer_observer(host, job);
		else {
			i++;
			continue;
		}
		remove_job(host, i);
	}
}

/* Decodes the commands once, so that a malformed STEP is refused at once instead of at its turn. */
static enum status check_commands(struct host *host, const struct step_job *job, struct reason *why)
{
	struct command *commands;
	struct arena_mark mark = arena_mark(&host->scratch);
	/* The actions of a plan were decoded with it. */
	if (job->commands == NULL || (job->plan != NULL && job->own == 0))
		return STATUS_OK;
	enum status status =
		command_take_list(&job->commands->batch.list, &host->scratch, &commands, why);
	arena_rewind(&host->scratch, mark);
	return status;
}

void host_do_step(struct host *host, struct step_job *job)
{
	struct reason why;
	enum status status = check_step(host, job, &why);
	if (status == STATUS_OK && job->plan != NULL)
		status = host_plan_check(job, &why);
	if (status == STATUS_OK)
		status = check_commands(host, job, &why);
	if (status == STATUS_OK && ARRAY_RESERVE(&host->jobs, host->jobs.count + 1u) != STATUS_OK)
		status = reason_set(&why, STATUS_NO_MEMORY, -1, "world", "%s",
				    status_text(STATUS_NO_MEMORY));
	if (status != STATUS_OK) {
		refuse_job(host, job, &why);
		step_job_release(job);
		return;
	}
	host->jobs.items[host->jobs.count++] = *job;
	settle_jobs(host);
}

/* Index of a job whose turn it is and that has to return to its moment first; the number of jobs: none. */
static uint32_t find_returning(const struct host *host)
{
	uint32_t i = 0;
	while (i < host->jobs.count && (host->jobs.items[i].back[0] == '\0' || !has_turn(host, i)))
		i++;
	return i;
}

void host_step_go_back(struct host *host)
{
	uint32_t i;
	while (host->boundary.stage == BOUNDARY_IDLE &&
	       (i = find_returning(host)) < host->jobs.count) {
		struct step_job *job = &host->jobs.items[i];
		struct requester nobody = { .session = job->requester.session };
		struct reason why;
		enum status status = refuse_at_barrier(host, job, &why);
		if (status == STATUS_OK)
			status = host_go_back(host, &nobody, job->back, &why);
		job->back[0] = '\0';
		if (status != STATUS_OK) {
			refuse_job(host, job, &why);
			remove_job(host, i);
		}
		settle_jobs(host);
	}
}

enum status host_step_answer(struct host *host)
{
	for (uint32_t i = 0; i < host->jobs.count;) {
		struct step_job *job = &host->jobs.items[i];
		enum status status = STATUS_OK;
		bool done = job->takes_part && job->ticks_left == 0;
		if (done)
			status = finish_ticks(host, job, &done);
		if (status != STATUS_OK)
			return status;
		if (done)
			remove_job(host, i);
		else
			i++;
	}
	for (uint32_t i = 0; i < host->jobs.count; i++)
		host->jobs.items[i].takes_part = host->jobs.items[i].refused = false;
	settle_jobs(host);
	return STATUS_OK;
}

void host_refuse_all_jobs(struct host *host, const struct reason *why)
{
	while (host->jobs.count > 0) {
		refuse_job(host, &host->jobs.items[0], why);
		remove_job(host, 0);
	}
}

void host_set_mode(struct host *host, enum wire_mode mode)
{
	/* The scratch memory of a step of thousands of bodies is hundreds of megabytes: a world that stops
	 * running frees it. */
	if (host->mode == WIRE_MODE_RUNNING && mode != WIRE_MODE_RUNNING)
		world_trim(host->world);
	host->mode = mode;
	atomic_store(&host->not_running, mode != WIRE_MODE_RUNNING);
	host->pace_due = true;
	if (mode == WIRE_MODE_RUNNING)
		schedule_run(&host->schedule, executor_now(host->executor));
	else
		schedule_pause(&host->schedule);
	if (mode != WIRE_MODE_LOCKSTEP)
		host->lease = 0;
	if (mode != WIRE_MODE_BARRIER)
		host->barrier = 0;
}

void host_fail(struct host *host, const struct reason *why)
{
	host->failure = *why;
	host_set_mode(host, WIRE_MODE_FAILED);
}

void host_fail_journal(struct host *host, const struct reason *why)
{
	if (host->options.journal_optional) {
		host->journal_lost = true;
		return;
	}
	host->journal_failed = true;
	host_fail(host, why);
}

static enum status apply_control(struct host *host, uint32_t session, enum wire_control action,
				 double value, struct reason *why)
{
	if (host->journal_failed)
		return reason_set(why, host->failure.status, -1, "journal", "%s",
				  host->failure.text);
	if (host->lease != 0 && host->lease != session)
		return reason_set(why, STATUS_LEASED, -1, "world", "session %u holds the lease",
				  (unsigned)host->lease);
	switch (action) {
	case WIRE_CONTROL_PAUSE:
		host_set_mode(host, WIRE_MODE_PAUSED);
		return STATUS_OK;
	case WIRE_CONTROL_RESUME: {
		struct reason running;
		reason_set(&running, STATUS_RUNNING, -1, "world", "%s",
			   status_text(STATUS_RUNNING));
		host_refuse_all_jobs(host, &running);
		host_set_mode(host, WIRE_MODE_RUNNING);
		return STATUS_OK;
	}
	case WIRE_CONTROL_SPEED:
		if (!(value >= 0.001 && value <= TICK_SPEED_MAX / (double)TICK_SPEED_NORMAL))
			return reason_set(why, STATUS_RANGE, -1, "value",
					  "speed is %.10g: it must be within 0.001 and %d", value,
					  TICK_SPEED_MAX / TICK_SPEED_NORMAL);
		schedule_set_speed(&host->schedule, (uint32_t)(value * TICK_SPEED_NORMAL + 0.5),
				   executor_now(host->executor));
		host->pace_due = true;
		return STATUS_OK;
	case WIRE_CONTROL_LOCKSTEP:
		host_set_mode(host, WIRE_MODE_LOCKSTEP);
		host->lease = session;
		return STATUS_OK;
	case WIRE_CONTROL_BARRIER:
		if (!(value >= 1 && value <= STEP_JOBS_MAX && value == (double)(int)value))
			return reason_set(
				why, STATUS_RANGE, -1, "value",
				"value is %.10g: a barrier takes an integer within 1 and %d", value,
				STEP_JOBS_MAX);
		host_set_mode(host, WIRE_MODE_BARRIER);
		host->barrier = (uint32_t)value;
		return STATUS_OK;
	}
	return reason_set(why, STATUS_RANGE, -1, "action",
			  "action is %d: it must be within 0 and %d", (int)action,
			  WIRE_CONTROL_BARRIER);
}

void host_do_control(struct host *host, struct requester *requester, enum wire_control action,
		     double value)
{
	struct reason why;
	if (apply_control(host, requester->session, action, value, &why) != STATUS_OK) {
		host_refuse(host, requester, &why);
		return;
	}
	settle_jobs(host);
	/* The mode is in the report that precedes the reply. */
	host_report_control(host);
	host_send(host, host_reply(host, requester));
}

void host_do_session_gone(struct host *host, struct host_request *closing)
{
	uint32_t session = host_request_session(closing);
	host_players_gone(host, closing);
	for (uint32_t i = host->jobs.count; i-- > 0;)
		if (host->jobs.items[i].requester.session == session)
			remove_job(host, i);
	if (host->lease == session) {
		host_set_mode(host, WIRE_MODE_PAUSED);
		host_report_control(host);
	}
	settle_jobs(host);
}
