/* host_plan.c: the steps of one world of a STEP_WORLDS.
 *
 * A job with a plan makes several steps, each of which is what a STEP is: commands at one boundary,
 * then n ticks. So a world has the same states in a group as alone. After each step the job
 * observes into a buffer of its own; the answer has all of them.
 */
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* ---- commands ----------------------------------------------------------------------------------- */

enum status host_plan_commands(struct step_job *job, bool restricted, const struct wire_list *own,
			       struct waiting_batch **out)
{
	const struct wire_actions *actions = &job->plan->actions;
	uint32_t action_bytes = (uint32_t)actions->packed.count;
	const struct host_batch batch = {
		.session = job->requester.session,
		.batch = job->requester.ref | HOST_STEP_BATCH,
		.restricted = restricted,
		.list = { NULL, own->bytes + action_bytes, own->count + actions->count },
	};
	*out = NULL;
	if (batch.list.count == 0)
		return STATUS_OK;
	struct waiting_batch *copy = heap_alloc(sizeof *copy + batch.list.bytes);
	if (copy == NULL)
		return STATUS_NO_MEMORY;
	uint8_t *to = (uint8_t *)(copy + 1);
	copy->batch = batch;
	copy->batch.list.at = to;
	if (own->bytes > 0)
		memcpy(to, own->at, own->bytes);
	actions_fill(actions, step_plan_values(job->plan, job->row, job->step), to + own->bytes);
	*out = copy;
	return STATUS_OK;
}

enum status host_plan_check(const struct step_job *job, struct reason *why)
{
	for (uint32_t step = 0; step < job->plan->steps; step++) {
		enum status status = actions_check(
			&job->plan->actions, step_plan_values(job->plan, job->row, step), why);
		if (status != STATUS_OK) {
			why->index += job->own;
			return status;
		}
	}
	return STATUS_OK;
}

enum status host_plan_result(struct step_job *job, const struct batch_result *result)
{
	job->refused = result->status != STATUS_OK;
	if (job->refused) {
		if (job->why.status == STATUS_OK)
			job->why = result->why;
		return STATUS_OK;
	}
	if (job->step > 0 || job->own == 0)
		return STATUS_OK;
	uint32_t count = MIN_OF(job->own, result->value_count);
	struct wire_packer packer = packer_into(&job->results, (size_t)5 * count + 1);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_uint(&packer, result->values[i]);
	job->result_count = count;
	return packed(&job->results, &packer);
}

/* ---- observing ---------------------------------------------------------------------------------- */

/* Numbers of the observation at hand. */
struct observing {
	struct host *host;
	struct writer out;
	enum status status;
	struct reason *why;
};

static void write_vec3(struct writer *out, vec3 v)
{
	write_f64(out, v.x);
	write_f64(out, v.y);
	write_f64(out, v.z);
}

static void observe_body(struct observing *self, const struct observed_item *item)
{
	struct body_view view;
	self->status = world_body(self->host->world, item->id, &view);
	if (self->status != STATUS_OK) {
		reason_set(self->why, self->status, -1, "observe", "there is no body %u",
			   (unsigned)item->id);
		return;
	}
	struct writer *out = &self->out;
	if (item->columns & WIRE_COLUMN_POSITION)
		write_vec3(out, view.position);
	if (item->columns & WIRE_COLUMN_ROTATION) {
		write_f64(out, view.rotation.w);
		write_f64(out, view.rotation.x);
		write_f64(out, view.rotation.y);
		write_f64(out, view.rotation.z);
	}
	if (item->columns & WIRE_COLUMN_VELOCITY)
		write_vec3(out, view.velocity);
	if (item->columns & WIRE_COLUMN_SPIN)
		write_vec3(out, view.angular_velocity);
	if (item->columns & WIRE_COLUMN_STATUS) {
		write_f64(out, view.status);
		write_f64(out, view.asleep);
	}
}

static void observe_ray(struct observing *self, const struct observed_item *item)
{
	vec3 origin = get_vec3(item->origin), direction = get_vec3(item->direction);
	struct ray_hit hit;
	if (item->id != 0) {
		struct body_view view;
		self->status = world_body(self->host->world, item->id, &view);
		if (self->status != STATUS_OK) {
			reason_set(self->why, self->status, -1, "observe",
				   "there is no body %u for a ray", (unsigned)item->id);
			return;
		}
		origin = vec3_add(view.position, quat_rotate(view.rotation, origin));
		direction = quat_rotate(view.rotation, direction);
	}
	struct query_filter filter = { item->category, item->mask, item->ignore };
	uint32_t count = world_ray(self->host->world, origin, direction, item->length, filter, &hit,
				   1, &self->status);
	if (self->status != STATUS_OK) {
		reason_set(self->why, self->status, -1, "observe", "a ray: %s",
			   status_text(self->status));
		return;
	}
	write_f64(&self->out, count > 0 ? hit.fraction * item->length : item->length);
	write_f64(&self->out, count > 0 ? hit.body : 0);
}

/* Sums of the contacts of a body with `other` (0: any). */
static void observe_contacts(struct observing *self, const struct observed_item *item)
{
	struct arena_mark mark = arena_mark(&self->host->scratch);
	struct contact_view *views =
		ARENA_ARRAY(&self->host->scratch, struct contact_view, WIRE_BODY_CONTACTS);
	uint32_t count = 0, points = 0;
	double normal = 0;
	vec3 impulse = { 0, 0, 0 };
	self->status = views == NULL ? STATUS_NO_MEMORY
				     : world_contacts(self->host->world, item->id, views,
						      WIRE_BODY_CONTACTS, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct contact_view *view = &views[i];
		bool is_b = view->b == item->id;
		if (item->other != 0 && (is_b ? view->a : view->b) != item->other)
			continue;
		vec3 on_b = vec3_add(vec3_scale(view->normal, view->normal_impulse),
				     view->friction_impulse);
		points++;
		normal += view->normal_impulse;
		impulse = vec3_add(impulse, vec3_scale(on_b, is_b ? 1 : -1));
	}
	arena_rewind(&self->host->scratch, mark);
	write_f64(&self->out, points);
	write_f64(&self->out, normal);
	write_vec3(&self->out, impulse);
}

static void observe_joint(struct observing *self, const struct observed_item *item)
{
	struct joint_view view;
	self->status = world_joint(self->host->world, item->id, &view);
	if (self->status != STATUS_OK) {
		reason_set(self->why, self->status, -1, "observe", "there is no joint %u",
			   (unsigned)item->id);
		return;
	}
	for (uint32_t i = 0; i < JOINT_AXES; i++)
		write_f64(&self->out, view.coordinates[i]);
	write_vec3(&self->out, view.force);
	write_vec3(&self->out, view.torque);
}

static void observe_totals(struct observing *self)
{
	struct world_energy energy = world_energy(self->host->world);
	write_f64(&self->out, energy.kinetic);
	write_f64(&self->out, energy.potential);
	write_vec3(&self->out, energy.linear);
	write_vec3(&self->out, energy.angular);
}

static void observe_item(struct observing *self, const struct observed_item *item)
{
	switch (item->kind) {
	case OBSERVE_BODIES:
		observe_body(self, item);
		return;
	case OBSERVE_RAYS:
		observe_ray(self, item);
		return;
	case OBSERVE_CONTACTS:
		observe_contacts(self, item);
		return;
	case OBSERVE_JOINTS:
		observe_joint(self, item);
		return;
	case OBSERVE_TOTALS:
		observe_totals(self);
		return;
	}
}

/* Appends one observation. Not OK: nothing is appended; `why` is set unless it is NO_MEMORY. */
static enum status observe(struct host *host, struct step_job *job, struct reason *why)
{
	const struct wire_observe *parts = &job->plan->observe;
	size_t bytes = (size_t)8 * parts->width;
	if (bytes == 0)
		return STATUS_OK;
	enum status status = bytes_reserve(&job->observed, bytes);
	if (status != STATUS_OK)
		return status;
	struct observing self = {
		.host = host,
		.out = writer_over(job->observed.data + job->observed.count, bytes),
		.status = STATUS_OK,
		.why = why,
	};
	for (uint32_t i = 0; i < parts->items.count && self.status == STATUS_OK; i++)
		observe_item(&self, &parts->items.items[i]);
	if (self.status == STATUS_OK) {
		ASSERT(self.out.count == bytes && !self.out.failed);
		job->observed.count += bytes;
	}
	return self.status;
}

/* ---- the end of a step -------------------------------------------------------------------------- */

static void answer(struct host *host, struct step_job *job, const struct reason *why)
{
	struct report *report = host_reply(host, &job->requester);
	struct reply_report *reply = &report->reply;
	reply->steps = job->step;
	reply->raw = job->observed;
	reply->results = job->results;
	reply->result_count = job->result_count;
	bytes_init(&job->observed);
	bytes_init(&job->results);
	reply->tick_hash = (struct wire_hash){ true, world_tick_hash(host->world) };
	if (job->plan->hash)
		reply->state_hash =
			(struct wire_hash){ true, world_state_hash(host->world, NULL, NULL) };
	if (why != NULL) {
		reply->status = why->status;
		reply->why = *why;
		host->refused++;
	}
	host_send(host, report);
}

void host_plan_refuse(struct host *host, struct step_job *job, const struct reason *why)
{
	answer(host, job, why);
}

/* Commands and ticks of the next step. */
static enum status prepare_step(struct step_job *job, bool restricted)
{
	static const struct wire_list none = { NULL, 0, 0 };
	job->step++;
	enum status status = host_plan_commands(job, restricted, &none, &job->commands);
	if (status != STATUS_OK) {
		job->step--;
		return status;
	}
	job->ticks_left = job->n;
	job->begun = job->takes_part = job->refused = false;
	return STATUS_OK;
}

enum status host_plan_step(struct host *host, struct step_job *job, bool *done)
{
	struct reason why = { .status = STATUS_OK };
	size_t before = job->observed.count;
	bool stops = job->refused && !job->anyway;
	*done = true;
	if (stops) {
		answer(host, job, &job->why);
		return STATUS_OK;
	}
	enum status status = observe(host, job, &why);
	if (status == STATUS_NO_MEMORY)
		return status;
	if (status == STATUS_OK && job->step + 1 < job->plan->steps) {
		status = prepare_step(job, job->restricted);
		if (status != STATUS_OK)
			job->observed.count = before;
		*done = false;
		return status;
	}
	job->step++;
	if (status != STATUS_OK)
		answer(host, job, &why);
	else
		answer(host, job, job->why.status != STATUS_OK ? &job->why : NULL);
	return STATUS_OK;
}
