/* host_looks.c: the colours of bodies, as runs of consecutive ids that have one colour, their
 * visuals, and the names of bodies and joints (LOOKS). Clients need them once and seldom again, so
 * they are no column of a subscription. */
#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* Runs and visuals of a page, and the largest packed size of one. A page fits the smallest frame
 * limit of a client. A page of visuals ends with the body that reaches VISUALS_PAGE. */
enum {
	RUNS_MAX = 1024,
	RUN_BYTES_MAX = 1 + 5 + 5 + 5,
	VISUALS_PAGE = 64,
	VISUAL_BYTES_MAX = 1 + 34 + (1 + 3 * 9) + (1 + 4 * 9) + 5,
	LOOKED_BYTES_MAX = 1 + 5 + 3, /* of a body around its visuals */
	NAMES_MAX = 1024,
	NAME_BYTES_MAX = 1 + 5 + 2 + LABEL_BYTES,
};

struct look_run {
	uint32_t first, count, colour;
};

/* The runs of bodies from id `from` on, at most RUNS_MAX; returns how many. */
static uint32_t find_runs(const struct world *world, const body_id *ids, uint32_t count,
			  uint32_t from, struct look_run runs[RUNS_MAX])
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view;
		if (ids[i] < from || world_body(world, ids[i], &view) != STATUS_OK ||
		    view.colour == 0)
			continue;
		ASSERT(view.colour >= COLOUR_GIVEN);
		uint32_t colour = view.colour - COLOUR_GIVEN;
		struct look_run *last = found > 0 ? &runs[found - 1] : NULL;
		if (last != NULL && last->colour == colour && last->first + last->count == ids[i]) {
			last->count++;
			continue;
		}
		if (found == RUNS_MAX)
			break;
		runs[found++] = (struct look_run){ ids[i], 1, colour };
	}
	return found;
}

static enum status pack_runs(const struct look_run *runs, uint32_t count, struct bytes *out)
{
	struct wire_packer packer = packer_into(out, 5 + (size_t)count * RUN_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		wire_pack_array(&packer, 3);
		wire_pack_uint(&packer, runs[i].first);
		wire_pack_uint(&packer, runs[i].count);
		wire_pack_uint(&packer, runs[i].colour);
	}
	return packed(out, &packer);
}

/* ---- visuals ------------------------------------------------------------------------------- */

static void pack_reals(struct wire_packer *packer, const double *values, uint32_t count)
{
	wire_pack_array(packer, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_real(packer, values[i]);
}

static void pack_visual(struct wire_packer *packer, const struct visual_view *visual)
{
	double position[3], rotation[4];
	put_vec3(position, visual->position);
	put_quat(rotation, visual->rotation);
	wire_pack_array(packer, 4);
	wire_pack_bin(packer, visual->name.bytes, sizeof visual->name.bytes);
	pack_reals(packer, position, 3);
	pack_reals(packer, rotation, 4);
	if (visual->colour == 0)
		wire_pack_nil(packer);
	else
		wire_pack_uint(packer, visual->colour - COLOUR_GIVEN);
}

/* Packs the bodies with visuals from id `from` on: a page. */
static enum status pack_visuals(const struct world *world, const body_id *ids, uint32_t count,
				uint32_t from, struct bytes *out)
{
	struct visual_view views[VISUALS_MAX];
	uint32_t last = count, bodies = 0, visuals = 0;
	for (uint32_t i = 0; i < count && visuals < VISUALS_PAGE; i++) {
		uint32_t more = ids[i] < from ? 0 : world_visuals(world, ids[i], NULL, 0);
		bodies += more > 0;
		visuals += more;
		last = i + 1;
	}
	ASSERT(visuals < VISUALS_PAGE + VISUALS_MAX);
	struct wire_packer packer = packer_into(out, 5 + (size_t)bodies * LOOKED_BYTES_MAX +
							     (size_t)visuals * VISUAL_BYTES_MAX);
	wire_pack_array(&packer, bodies);
	for (uint32_t i = 0; i < last; i++) {
		uint32_t has = ids[i] < from ? 0 : world_visuals(world, ids[i], views, VISUALS_MAX);
		if (has == 0)
			continue;
		wire_pack_array(&packer, 2);
		wire_pack_uint(&packer, ids[i]);
		wire_pack_array(&packer, has);
		for (uint32_t k = 0; k < has; k++)
			pack_visual(&packer, &views[k]);
	}
	return packed(out, &packer);
}

static enum status pack_colours(const struct world *world, const body_id *ids, uint32_t count,
				uint32_t from, struct arena *arena, struct bytes *out)
{
	struct look_run *runs = ARENA_ARRAY(arena, struct look_run, RUNS_MAX);
	if (runs == NULL)
		return STATUS_NO_MEMORY;
	return pack_runs(runs, find_runs(world, ids, count, from, runs), out);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Packs the first NAMES_MAX of those with names from id `from` on; of joints or bodies. */
static enum status pack_names(const struct world *world, const uint32_t *ids, uint32_t count,
			      uint32_t from, bool joints, struct bytes *out)
{
	bool (*name_of)(const struct world *, uint32_t, char[LABEL_BYTES]) =
		joints ? world_joint_name : world_body_name;
	char text[LABEL_BYTES];
	uint32_t named = 0, last = 0;
	for (; last < count && named < NAMES_MAX; last++)
		named += ids[last] >= from && name_of(world, ids[last], text);
	struct wire_packer packer = packer_into(out, 5 + (size_t)named * NAME_BYTES_MAX);
	wire_pack_array(&packer, named);
	for (uint32_t i = 0; i < last; i++) {
		if (ids[i] < from || !name_of(world, ids[i], text))
			continue;
		wire_pack_array(&packer, 2);
		wire_pack_uint(&packer, ids[i]);
		wire_pack_string(&packer, text);
	}
	return packed(out, &packer);
}

/* ---- answers ------------------------------------------------------------------------------- */

static uint32_t list_ids(const struct world *world, bool joints, uint32_t *ids, uint32_t capacity)
{
	return joints ? world_joints(world, 0, ids, capacity) : world_bodies(world, ids, capacity);
}

static enum status pack_looks(struct host *host, const uint32_t *ids, uint32_t count, uint32_t from,
			      enum host_look what, struct bytes *out)
{
	switch (what) {
	case LOOK_COLOURS:
		return pack_colours(host->world, ids, count, from, &host->scratch, out);
	case LOOK_VISUALS:
		return pack_visuals(host->world, ids, count, from, out);
	case LOOK_BODY_NAMES:
	case LOOK_JOINT_NAMES:
		return pack_names(host->world, ids, count, from, what == LOOK_JOINT_NAMES, out);
	}
	return STATUS_RANGE;
}

void host_do_looks(struct host *host, struct requester *requester, uint32_t from,
		   enum host_look what)
{
	struct bytes out = { 0 };
	bool joints = what == LOOK_JOINT_NAMES;
	if (host_refuse_in_boundary(host, requester))
		return;
	struct arena_mark mark = arena_mark(&host->scratch);
	uint32_t count = list_ids(host->world, joints, NULL, 0);
	uint32_t *ids = ARENA_ARRAY(&host->scratch, uint32_t, MAX_OF(count, 1u));
	enum status status = STATUS_NO_MEMORY;
	if (ids != NULL) {
		list_ids(host->world, joints, ids, count);
		status = pack_looks(host, ids, count, from, what, &out);
	}
	arena_rewind(&host->scratch, mark);
	if (status == STATUS_OK) {
		struct report *report = host_reply(host, requester);
		report->reply.raw = out;
		report->reply.work = count;
		host_send(host, report);
		return;
	}
	struct reason why;
	bytes_release(&out);
	reason_set(&why, status, -1, "from", "%s", status_text(status));
	host_refuse(host, requester, &why);
}
