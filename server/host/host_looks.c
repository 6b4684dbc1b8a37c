/* host_looks.c: the colours of bodies (LOOKS), as runs of consecutive ids that have one colour. Pictures need
 * them once and seldom again, so they are no column of a subscription.
 */
#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

/* Runs of a page, and the largest packed size of one. The page fits the smallest frame limit of a client. */
enum { RUNS_MAX = 1024, RUN_BYTES_MAX = 1 + 5 + 5 + 5 };

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

void host_do_looks(struct host *host, struct requester *requester, uint32_t from)
{
	struct bytes out = { 0 };
	if (host_refuse_in_boundary(host, requester))
		return;
	struct arena_mark mark = arena_mark(&host->scratch);
	uint32_t count = world_bodies(host->world, NULL, 0);
	body_id *ids = ARENA_ARRAY(&host->scratch, body_id, MAX_OF(count, 1u));
	struct look_run *runs = ARENA_ARRAY(&host->scratch, struct look_run, RUNS_MAX);
	enum status status = ids != NULL && runs != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		world_bodies(host->world, ids, count);
		status = pack_runs(runs, find_runs(host->world, ids, count, from, runs), &out);
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
