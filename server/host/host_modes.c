/* host_modes.c: who may make a world step, and when: pause, speed, lease, barrier and the queue of
 * STEP requests (host.h draws the modes).
 *
 * A STEP is a job: its commands are applied at the boundary before its first tick, then it takes part
 * in n ticks and is answered. Outside BARRIER only the oldest job takes part; under BARRIER the oldest job of
 * each session does, once k sessions have one. Within a tick the jobs' commands are applied in the order
 * of their sessions' numbers, never of their arrival.
 */
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/packer.h"
#include "protocol/result_wire.h"
#include "server/base/heap.h"
#include "server/host/host_state.h"

void step_job_release(struct step_job *job)
{
	waiting_batch_destroy(job->commands, NULL);
	job->commands = NULL;
	bytes_release(&job->results);
}

static void remove_job(struct host *host, uint32_t index)
{
	step_job_release(&host->jobs.items[index]);
	host->jobs.count--;
	memmove(&host->jobs.items[index], &host->jobs.items[index + 1],
		(host->jobs.count - index) * sizeof *host->jobs.items);
}

static void refuse_job(struct host *host, const struct step_job *job, const struct reason *why)
{
	host_refuse(host, REPLY_STEPPED, MESSAGE_STEP, job->session, job->request, why);
}

/* Why this STEP cannot even wait. */
static enum status check_step(const struct host *host, const struct step_job *job,
			      struct reason *why)
{
	if (host->mode == WIRE_MODE_RUNNING)
		return reason_set(why, STATUS_RUNNING, -1, "world", "%s",
				  status_text(STATUS_RUNNING));
	if (host->lease != 0 && host->lease != job->session)
		return reason_set(why, STATUS_LEASED, -1, "world", "session %u holds the lease",
				  (unsigned)host->lease);
	if (job->left == 0 && job->commands != NULL)
		return reason_set(why, STATUS_RANGE, -1, "n", "commands need at least one tick");
	if (host->jobs.count == STEP_JOBS_MAX)
		return reason_set(why, STATUS_BUSY, -1, "world", "%d steps are waiting already",
				  STEP_JOBS_MAX);
	return STATUS_OK;
}

/* Commands are decoded at their boundary; whether they can be is asked at once, so that a STEP which is
 * refused for them makes no tick. */
static enum status check_commands(struct host *host, const struct step_job *job,
				  struct reason *why)
{
	if (job->commands == NULL)
		return STATUS_OK;
	struct command *commands;
	struct arena_mark mark = arena_mark(&host->scratch);
	enum status status = command_take_list(&job->commands->batch.list, &host->scratch,
					       &commands, why);
	arena_rewind(&host->scratch, mark);
	return status;
}

static bool session_waits(const struct host *host, uint32_t session, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (host->jobs.items[i].session == session)
			return true;
	return false;
}

uint32_t host_step_participants(const struct host *host, uint32_t *indices, uint32_t capacity)
{
	uint32_t count = 0;
	uint32_t wanted = host->mode == WIRE_MODE_BARRIER ? capacity : MIN_OF(capacity, 1u);
	for (uint32_t i = 0; i < host->jobs.count && count < wanted; i++) {
		uint32_t session = host->jobs.items[i].session;
		if (session_waits(host, session, i))
			continue;
		/* Keep them in order of sessions: few, so by insertion. */
		uint32_t at = count++;
		for (; at > 0 && host->jobs.items[indices[at - 1]].session > session; at--)
			indices[at] = indices[at - 1];
		indices[at] = i;
	}
	return count;
}

bool host_step_wanted(const struct host *host)
{
	uint32_t indices[STEP_JOBS_MAX];
	uint32_t count = host_step_participants(host, indices, STEP_JOBS_MAX);
	return count > 0 && (host->mode != WIRE_MODE_BARRIER || count >= host->barrier);
}

static void answer_job(struct host *host, struct step_job *job)
{
	struct report *report = host_reply_new(host, REPLY_STEPPED, MESSAGE_STEP, job->session,
					       job->request);
	if (report == NULL)
		return;
	struct reply_report *reply = &report->reply;
	reply->results = job->results;
	reply->result_count = job->result_count;
	bytes_init(&job->results);
	reply->tick_hash = (struct wire_hash){ true, world_tick_hash(host->world) };
	if (job->want & WIRE_WANT_HASH)
		reply->state_hash = (struct wire_hash){
			true, world_state_hash(host->world, NULL, NULL)
		};
	reply->status = host_observe(host, job->want, &reply->raw);
	host_send(host, report);
}

void host_step_refuse(struct host *host, uint32_t index, const struct reason *why)
{
	refuse_job(host, &host->jobs.items[index], why);
	remove_job(host, index);
}

void host_step_result(struct step_job *job, const struct batch_result *result)
{
	struct wire_result packed = {
		.batch = job->request,
		.tick = result->tick,
		.code = result->status,
		.index = result->status == STATUS_OK ? -1 : (int32_t)result->why.index,
		.values = result->values,
		.value_count = result->value_count,
		.field = wire_text(result->status == STATUS_OK ? "" : result->why.field),
		.text = wire_text(result->status == STATUS_OK ? "" : result->why.text),
	};
	/* A result is five small integers, two short texts, and five bytes a value at most. */
	uint32_t room = 512 + 5 * packed.value_count;
	if (bytes_reserve(&job->results, room) != STATUS_OK)
		return;
	struct wire_packer packer =
		wire_packer_over(job->results.data + job->results.count, room);
	result_pack(&packer, &packed);
	if (wire_packer_status(&packer) != STATUS_OK)
		return;
	job->results.count += packer.bytes;
	job->result_count++;
}

/* The `from` of a job is checked when its turn comes: earlier ones may still move the world there. */
static bool at_its_tick(const struct host *host, const struct step_job *job)
{
	return job->begun || !job->from.set || job->from.value == world_info(host->world).tick;
}

static void refuse_tick(struct host *host, const struct step_job *job)
{
	struct reason why;
	reason_set(&why, STATUS_TICK, -1, "from", "the world stands at tick %llu",
		   (unsigned long long)world_info(host->world).tick);
	refuse_job(host, job, &why);
}

/* Ends the jobs whose turn it is and that need no tick, or stand at the wrong one. */
static void settle_jobs(struct host *host)
{
	for (uint32_t i = 0; i < host->jobs.count;) {
		struct step_job *job = &host->jobs.items[i];
		bool turn = host->mode == WIRE_MODE_BARRIER ? !session_waits(host, job->session, i)
							    : i == 0;
		bool lost = turn && !at_its_tick(host, job);
		if (lost)
			refuse_tick(host, job);
		else if (turn && job->left == 0)
			answer_job(host, job);
		else {
			i++;
			continue;
		}
		remove_job(host, i);
	}
}

void host_do_step(struct host *host, struct step_job *job)
{
	struct reason why;
	if (check_step(host, job, &why) != STATUS_OK ||
	    check_commands(host, job, &why) != STATUS_OK ||
	    (ARRAY_RESERVE(&host->jobs, host->jobs.count + 1u) != STATUS_OK &&
	     reason_set(&why, STATUS_NO_MEMORY, -1, "world", "%s",
			status_text(STATUS_NO_MEMORY)) != STATUS_OK)) {
		refuse_job(host, job, &why);
		step_job_release(job);
		return;
	}
	host->jobs.items[host->jobs.count++] = *job;
	settle_jobs(host);
}

void host_step_done(struct host *host, const uint32_t *indices, uint32_t count, enum status status,
		    const struct reason *why)
{
	/* From the last to the first, so that removing one leaves the other indices good. */
	bool participates[STEP_JOBS_MAX] = { false };
	for (uint32_t i = 0; i < count; i++)
		participates[indices[i]] = true;
	for (uint32_t i = host->jobs.count; i-- > 0;) {
		if (!participates[i])
			continue;
		struct step_job *job = &host->jobs.items[i];
		if (status != STATUS_OK)
			refuse_job(host, job, why);
		else if (--job->left == 0)
			answer_job(host, job);
		else
			continue;
		remove_job(host, i);
	}
	settle_jobs(host);
}

static void refuse_all_jobs(struct host *host, const struct reason *why)
{
	while (host->jobs.count > 0) {
		refuse_job(host, &host->jobs.items[0], why);
		remove_job(host, 0);
	}
}

static void set_mode(struct host *host, enum wire_mode mode)
{
	host->mode = mode;
	if (mode == WIRE_MODE_RUNNING)
		schedule_run(&host->schedule, executor_now(host->executor));
	else
		schedule_pause(&host->schedule);
	if (mode != WIRE_MODE_LOCKSTEP)
		host->lease = 0;
	if (mode != WIRE_MODE_BARRIER)
		host->barrier = 0;
}

void host_halt(struct host *host)
{
	set_mode(host, WIRE_MODE_FAILED);
}

void host_fail(struct host *host, const struct reason *why)
{
	host_halt(host);
	refuse_all_jobs(host, why);
}

static enum status control(struct host *host, uint32_t session, enum wire_control action,
			   double value, struct reason *why)
{
	if (host->lease != 0 && host->lease != session)
		return reason_set(why, STATUS_LEASED, -1, "world", "session %u holds the lease",
				  (unsigned)host->lease);
	switch (action) {
	case WIRE_CONTROL_PAUSE:
		set_mode(host, WIRE_MODE_PAUSED);
		return STATUS_OK;
	case WIRE_CONTROL_RESUME: {
		struct reason running;
		reason_set(&running, STATUS_RUNNING, -1, "world", "%s", status_text(STATUS_RUNNING));
		refuse_all_jobs(host, &running);
		set_mode(host, WIRE_MODE_RUNNING);
		return STATUS_OK;
	}
	case WIRE_CONTROL_SPEED:
		if (!(value >= 0.001 && value <= TICK_SPEED_MAX / (double)TICK_SPEED_NORMAL))
			return reason_set(why, STATUS_RANGE, -1, "value",
					  "speed %g is not within 0.001 … %d", value,
					  TICK_SPEED_MAX / TICK_SPEED_NORMAL);
		schedule_set_speed(&host->schedule, (uint32_t)(value * TICK_SPEED_NORMAL + 0.5),
				   executor_now(host->executor));
		return STATUS_OK;
	case WIRE_CONTROL_LOCKSTEP:
		set_mode(host, WIRE_MODE_LOCKSTEP);
		host->lease = session;
		return STATUS_OK;
	case WIRE_CONTROL_BARRIER:
		if (!(value >= 1 && value <= STEP_JOBS_MAX))
			return reason_set(why, STATUS_RANGE, -1, "value",
					  "a barrier takes 1 … %d sessions", STEP_JOBS_MAX);
		set_mode(host, WIRE_MODE_BARRIER);
		host->barrier = (uint32_t)value;
		return STATUS_OK;
	}
	return reason_set(why, STATUS_RANGE, -1, "action", "no action has the number %d", (int)action);
}

void host_do_control(struct host *host, uint32_t session, uint64_t ref, enum wire_control action,
		     double value)
{
	struct reason why;
	if (control(host, session, action, value, &why) != STATUS_OK) {
		host_refuse(host, REPLY_CONTROL, MESSAGE_CONTROL, session, ref, &why);
		return;
	}
	settle_jobs(host);
	/* The mode travels in the report that precedes the reply. */
	host_report_tick(host, NULL, 0, NULL, 0);
	struct report *report =
		host_reply_new(host, REPLY_CONTROL, MESSAGE_CONTROL, session, ref);
	if (report != NULL)
		host_send(host, report);
}

void host_do_session_gone(struct host *host, uint32_t session)
{
	for (uint32_t i = host->jobs.count; i-- > 0;)
		if (host->jobs.items[i].session == session)
			remove_job(host, i);
	if (host->lease == session) {
		set_mode(host, WIRE_MODE_PAUSED);
		host_report_tick(host, NULL, 0, NULL, 0);
	}
	settle_jobs(host);
}
