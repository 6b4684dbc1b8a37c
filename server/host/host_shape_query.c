/* host_shape_query.c: questions of shapes (RAY, OVERLAP, CAST, CLOSEST, MASS, MOVE, REGIONS).
 *
 * The worker makes a list of what is near, shapes retained, and poses as the tick has them: an image of
 * all that the question is about, which nobody changes. Where it is little the worker answers at once;
 * else the image goes to ANSWERS, the world steps on, and the answer comes later, for the tick at which
 * it was asked:
 *
 *	worker: near → image ──post──► ANSWERS: answer, packed ──bell──► LOOP: into the queue of reports
 *
 * So many may be away at once, so many of one session, and so many bytes; what is over is refused before its
 * image is made, where that can be known. A host does not end before they are back (host.c).
 */
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_state.h"

enum {
	AWAY_SESSION_MAX = 4, /* of one session, of HOST_AWAY_MAX in all */
	NEAR_MAX =
		4096, /* placed shapes a question may be about; a ray or an overlap about any number */
	NEAR_AT_ONCE = 512,  /* room for so many is made before they are counted */
	WORK_AT_ONCE = 2048, /* pairs of pieces the worker answers itself */
	REGIONS_MAX = 1024,  /* listed in an answer */
	HIT_BYTES_MAX = 128, /* of a cast's hit or a region, packed */
	RAY_HIT_BYTES_MAX = 192,
};

/* Pairs of pieces that any question is taken for at most. */
#define WORK_MAX ((uint64_t)1 << 40)
/* Of images away at once, unless there is one alone. */
#define AWAY_BYTES_MAX ((uint64_t)16 << 20)

struct question {
	struct host *host;     /* borrowed: it waits for us */
	struct report *report; /* owned until sent */
	struct wire_query query;
	struct shape *shape;	    /* a reference, or NULL */
	struct placed_shape *a, *b; /* one block, owned; shapes are references once `retained` */
	uint32_t a_count, b_count;
	bool retained;
	uint32_t place; /* in host->away_by */
	uint64_t work;
	struct aabb near; /* of CLOSEST without other: what was looked at */
	vec3 up;
	vec3 way; /* of a ray */
	pose at;  /* of what overlaps */
	struct bytes raw;
	enum status status;
	struct reason why;
	struct wakeup done;
};

static void question_destroy(struct question *self)
{
	for (uint32_t i = 0; self->retained && i < self->a_count; i++)
		shape_release((struct shape *)self->a[i].shape);
	for (uint32_t i = 0; self->retained && i < self->b_count; i++)
		shape_release((struct shape *)self->b[i].shape);
	heap_free(self->a);
	shape_release(self->shape);
	bytes_release(&self->raw);
	heap_free(self->report);
	heap_free(self);
}

static enum status refuse(struct question *self, enum status status, const char *field,
			  const char *text)
{
	return reason_set(&self->why, status, -1, field, "%s", text);
}

/* ---- the image -------------------------------------------------------------------------------- */

enum status host_query_shape(struct host *host, const struct wire_query *query, struct shape **out,
			     struct reason *why)
{
	struct wire_slice bytes = query->shape;
	if (bytes.bytes == SHAPE_NAME_BYTES) {
		const struct shape *known = shape_library_find(&host->shapes, bytes.at);
		if (known == NULL)
			return reason_set(why, STATUS_UNKNOWN_SHAPE, -1, "shape",
					  "no shape of that name may be used in this world");
		*out = shape_retain(known);
		return STATUS_OK;
	}
	if (bytes.bytes > 0 && bytes.at[0] == SHAPE_SOLID)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "shape",
				  "a solid has to be uploaded and named");
	return shape_library_cook(bytes, NULL, out, why);
}

static bool is_finite3(const double v[3])
{
	return vec3_is_finite(get3(v));
}

/* Where the shape starts, checked; its way; and the box of all it may reach. */
static enum status check_flight(struct question *self, pose *from, struct aabb *reach)
{
	const struct wire_query *query = &self->query;
	quat r = get4(query->rotation);
	double size = r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z;
	if (!is_finite3(query->origin) || !is_finite3(query->direction) || !quat_is_finite(r))
		return refuse(self, STATUS_NOT_FINITE, "position", "a number is not finite");
	if (!(vec3_max_component(vec3_abs(get3(query->origin))) <= LENGTH_MAX))
		return refuse(self, STATUS_RANGE, "position",
			      "the position is outside every world");
	if (!(vec3_length(get3(query->direction)) <= 4 * LENGTH_MAX))
		return refuse(self, STATUS_RANGE, "way", "the way is too long");
	if (!(size >= 0.25 && size <= 4))
		return refuse(self, STATUS_RANGE, "rotation",
			      "the rotation is not near unit length");
	*from = pose_make(get3(query->origin), quat_normalize(r));
	if (self->shape->kind == SHAPE_PLANE || self->shape->kind == SHAPE_MESH)
		return refuse(self, STATUS_UNSUPPORTED, "shape", "planes and meshes do not fly");
	struct aabb box = shape_aabb(self->shape, from);
	vec3 way = get3(query->direction);
	double spare = query->step + 8 * query->skin;
	/* A walker may slide anywhere within the length of its way. */
	if (query->kind == WIRE_QUERY_MOVE)
		*reach = aabb_grow(box, 1.1 * vec3_length(way) + 4 * spare + 1);
	else
		*reach = aabb_grow(
			aabb_union(box, aabb_make(vec3_add(box.min, way), vec3_add(box.max, way))),
			1e-3);
	return STATUS_OK;
}

static enum status make_room(struct question *self, uint32_t a, uint32_t b)
{
	self->a = heap_alloc(MAX_OF(a + b, 1u) * sizeof *self->a);
	if (self->a == NULL)
		return refuse(self, STATUS_NO_MEMORY, "query", "out of memory");
	self->b = self->a + a;
	return STATUS_OK;
}

static enum status look_near(struct question *self, struct aabb box, struct query_filter filter)
{
	uint32_t count;
	enum status status = world_near(self->host->world, &box, filter, self->b, NEAR_MAX, &count);
	if (status == STATUS_LIMIT)
		return reason_set(&self->why, status, -1, "query",
				  "%u shapes are near, %d are the most", count, NEAR_MAX);
	self->b_count = count;
	return status == STATUS_OK ? status : refuse(self, status, "query", status_text(status));
}

static uint64_t image_bytes(const struct question *self)
{
	return ((uint64_t)self->a_count + self->b_count) * sizeof *self->a;
}

/* A place among those that are away. Only the worker takes one. */
static enum status take_place(struct question *self)
{
	struct host *host = self->host;
	uint32_t session = self->report->reply.session;
	uint32_t free = HOST_AWAY_MAX, own = 0;
	for (uint32_t i = HOST_AWAY_MAX; i-- > 0;) {
		uint32_t by = atomic_load(&host->away_by[i]);
		free = by == 0 ? i : free;
		own += by == session;
	}
	if (free == HOST_AWAY_MAX || own >= AWAY_SESSION_MAX)
		return reason_set(&self->why, STATUS_BUSY, -1, "query",
				  "%d long questions about this world, and %d of a session, are "
				  "answered at once",
				  HOST_AWAY_MAX, AWAY_SESSION_MAX);
	if (atomic_load(&host->away) > 0 &&
	    atomic_load(&host->away_bytes) + image_bytes(self) > AWAY_BYTES_MAX)
		return refuse(self, STATUS_BUSY, "query",
			      "long questions about very many shapes are being answered");
	self->place = free;
	return STATUS_OK;
}

/* All that a ray or an overlap is about, however much that is. */
static enum status look_all(struct question *self, const struct aabb *box)
{
	const struct wire_query *query = &self->query;
	const struct world *world = self->host->world;
	uint32_t count = NEAR_AT_ONCE;
	enum status status = STATUS_LIMIT;
	while (status == STATUS_LIMIT) {
		/* What will be answered elsewhere is not copied where there is no place for it. */
		self->b_count = count;
		status = count > WORK_AT_ONCE ? take_place(self) : STATUS_OK;
		self->b_count = 0;
		heap_free(self->a);
		self->a = NULL;
		if (status == STATUS_OK)
			status = make_room(self, 0, count);
		if (status != STATUS_OK)
			return status;
		status = box != NULL
				 ? world_near(world, box, filter_of(query), self->b, count, &count)
				 : world_near_ray(world, get3(query->origin), self->way,
						  filter_of(query), self->b, count, &count);
	}
	self->b_count = status == STATUS_OK ? count : 0;
	return status == STATUS_OK ? status : refuse(self, status, "query", status_text(status));
}

static enum status prepare_ray(struct question *self)
{
	const struct wire_query *query = &self->query;
	enum status status = placed_ray_way(get3(query->origin), get3(query->direction),
					    query->length, &self->way);
	return status == STATUS_OK ? look_all(self, NULL) : status;
}

static enum status prepare_overlap(struct question *self)
{
	const struct wire_query *query = &self->query;
	enum status status = host_query_shape(self->host, query, &self->shape, &self->why);
	if (status == STATUS_OK)
		status = placed_overlap_at(get3(query->origin), get4(query->rotation), &self->at);
	if (status != STATUS_OK)
		return status;
	struct aabb box = shape_aabb(self->shape, &self->at);
	return look_all(self, &box);
}

static enum status prepare_flight(struct question *self)
{
	struct aabb reach;
	pose from;
	enum status status = host_query_shape(self->host, &self->query, &self->shape, &self->why);
	if (status == STATUS_OK)
		status = check_flight(self, &from, &reach);
	if (status == STATUS_OK)
		status = make_room(self, 0, NEAR_MAX);
	return status == STATUS_OK ? look_near(self, reach, filter_of(&self->query)) : status;
}

static enum status take_body(struct question *self, uint32_t body, struct placed_shape *out,
			     uint32_t *count)
{
	struct body_view view;
	enum status status = world_body(self->host->world, body, &view);
	if (status != STATUS_OK)
		return refuse(self, status, "body", status_text(status));
	*count = world_placed(self->host->world, body, out, WIRE_BODY_SHAPES);
	return STATUS_OK;
}

static enum status prepare_pair(struct question *self)
{
	const struct wire_query *query = &self->query;
	enum status status = make_room(self, WIRE_BODY_SHAPES, NEAR_MAX);
	if (status == STATUS_OK)
		status = take_body(self, query->body, self->a, &self->a_count);
	if (status != STATUS_OK)
		return status;
	if (query->other == query->body)
		return refuse(self, STATUS_RANGE, "other", "a body is not beside itself");
	if (query->other != 0 || query->kind == WIRE_QUERY_REGIONS)
		return take_body(self, query->other, self->b, &self->b_count);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < self->a_count; i++)
		box = aabb_union(box, shape_aabb(self->a[i].shape, &self->a[i].at));
	struct query_filter filter = { UINT32_MAX, UINT32_MAX, query->body };
	return self->a_count > 0 ? look_near(self, aabb_grow(box, query->length), filter)
				 : STATUS_OK;
}

/* Pairs of pieces it may come to; a mesh counts by its logarithm, a walker by its sweeps. */
static uint64_t work_of(const struct question *self)
{
	uint64_t own = self->shape != NULL ? shape_piece_count(shape_exact(self->shape)) : 0,
		 others = 0;
	for (uint32_t i = 0; i < self->a_count; i++)
		own += shape_piece_count(shape_exact(self->a[i].shape));
	for (uint32_t i = 0; i < self->b_count; i++) {
		const struct shape *shape = shape_exact(self->b[i].shape);
		uint64_t pieces = shape_piece_count(shape);
		others += shape->kind == SHAPE_MESH ? MIN_OF(pieces, 256u) : pieces;
	}
	if (self->query.kind == WIRE_QUERY_RAY)
		own = 1;
	if (self->query.kind == WIRE_QUERY_MOVE)
		own *= 4 * (uint64_t)self->query.iterations;
	uint64_t work = own > 0 && others > WORK_MAX / own ? WORK_MAX : own * others;
	return self->query.kind == WIRE_QUERY_REGIONS ? MAX_OF(work, WORK_AT_ONCE + 1u) : work;
}

/* ---- answers ---------------------------------------------------------------------------------- */

static enum status answer_ray(struct question *self)
{
	const struct wire_query *query = &self->query;
	uint32_t most = MIN_OF(query->limit, self->b_count);
	struct ray_hit *hits = heap_alloc(MAX_OF(most, 1u) * sizeof *hits);
	if (hits == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count =
		placed_ray(self->b, self->b_count, get3(query->origin), self->way, hits, most);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * RAY_HIT_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_ray_hit hit = {
			.body = hits[i].body,
			.placement = hits[i].placement,
			.child = hits[i].child,
			.fraction = hits[i].fraction,
		};
		put3(hit.point, hits[i].point);
		put3(hit.normal, hits[i].normal);
		answer_pack_hit(&packer, &hit);
	}
	heap_free(hits);
	return packed(&self->raw, &packer);
}

static enum status answer_overlap(struct question *self)
{
	uint32_t most = MIN_OF(self->query.limit, self->b_count);
	body_id *ids = heap_alloc(MAX_OF(most, 1u) * sizeof *ids);
	if (ids == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count = placed_overlap(self->b, self->b_count, self->shape, self->at, ids, most);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * 5);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++)
		wire_pack_uint(&packer, ids[i]);
	heap_free(ids);
	return packed(&self->raw, &packer);
}

static struct wire_cast_hit wire_hit(const struct cast_hit *hit)
{
	struct wire_cast_hit out = {
		.body = hit->body,
		.placement = hit->placement,
		.child = hit->child,
		.own_child = hit->own_child,
		.fraction = hit->fraction,
		.depth = hit->depth,
	};
	put3(out.point, hit->point);
	put3(out.normal, hit->normal);
	return out;
}

static pose flight_pose(const struct wire_query *query)
{
	quat r = get4(query->rotation);
	return pose_make(get3(query->origin), quat_normalize(r));
}

static enum status answer_cast(struct question *self)
{
	const struct wire_query *query = &self->query;
	uint32_t most = MIN_OF(query->limit, self->b_count);
	struct cast_hit *hits = heap_alloc(MAX_OF(most, 1u) * sizeof *hits);
	if (hits == NULL)
		return STATUS_NO_MEMORY;
	enum status status;
	uint32_t count = placed_cast(self->b, self->b_count, self->shape, flight_pose(query),
				     get3(query->direction), hits, most, &status);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * HIT_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_cast_hit hit = wire_hit(&hits[i]);
		answer_pack_cast_hit(&packer, &hit);
	}
	heap_free(hits);
	return status == STATUS_OK ? packed(&self->raw, &packer) : status;
}

static enum status answer_closest(struct question *self)
{
	struct closest_pair pair;
	struct wire_closest out = { 0 };
	out.found = placed_closest(self->a, self->a_count, self->b, self->b_count,
				   self->query.length, &pair);
	if (out.found) {
		out.distance = pair.distance;
		put3(out.normal, pair.normal);
		out.a = (struct wire_closest_side){ .body = pair.a.body,
						    .placement = pair.a.placement,
						    .child = pair.a.child,
						    .feature_count = pair.a.feature_count };
		out.b = (struct wire_closest_side){ .body = pair.b.body,
						    .placement = pair.b.placement,
						    .child = pair.b.child,
						    .feature_count = pair.b.feature_count };
		memcpy(out.a.feature, pair.a.feature, sizeof out.a.feature);
		memcpy(out.b.feature, pair.b.feature, sizeof out.b.feature);
		put3(out.a.point, pair.a.point);
		put3(out.b.point, pair.b.point);
	}
	struct wire_packer packer = packer_into(&self->raw, 256);
	answer_pack_closest(&packer, &out);
	return packed(&self->raw, &packer);
}

static enum status answer_mass(struct question *self)
{
	struct mass_view mass;
	enum status status = world_mass(self->host->world, self->query.body, &mass);
	if (status != STATUS_OK)
		return refuse(self, status, "body", status_text(status));
	struct wire_mass out = {
		.mass = mass.mass,
		.inertia = { mass.inertia.x.x, mass.inertia.y.y, mass.inertia.z.z, mass.inertia.y.x,
			     mass.inertia.z.x, mass.inertia.z.y },
		.axes = { mass.axes.w, mass.axes.x, mass.axes.y, mass.axes.z },
		.radius = mass.radius,
		.bodies = mass.bodies,
	};
	put3(out.centre, mass.centre);
	put3(out.moments, mass.moments);
	struct wire_packer packer = packer_into(&self->raw, 256);
	answer_pack_mass(&packer, &out);
	return packed(&self->raw, &packer);
}

_Static_assert((int)WIRE_MOVE_CONTACTS_MAX == (int)MOVER_CONTACTS_MAX,
	       "all contacts fit an answer");

static enum status answer_move(struct question *self)
{
	const struct wire_query *query = &self->query;
	struct mover_options options = { .up = self->up,
					 .iterations = query->iterations,
					 .skin = query->skin,
					 .slope_cosine = query->slope,
					 .step_height = query->step };
	struct mover_result result;
	enum status status = placed_move(self->b, self->b_count, self->shape, flight_pose(query),
					 get3(query->direction), &options, &result);
	if (status != STATUS_OK)
		return status;
	struct wire_move out = { .iterations = result.iterations,
				 .climbed = result.climbed,
				 .contact_count = result.contact_count };
	out.flags =
		(result.grounded ? WIRE_MOVE_GROUNDED : 0u) | (result.stuck ? WIRE_MOVE_STUCK : 0u);
	put3(out.position, result.position);
	put3(out.left, result.left);
	if (result.grounded)
		out.ground = wire_hit(&result.ground);
	for (uint32_t i = 0; i < result.contact_count; i++)
		out.contacts[i] = wire_hit(&result.contacts[i]);
	struct wire_packer packer =
		packer_into(&self->raw, 256 + (size_t)(1 + out.contact_count) * HIT_BYTES_MAX);
	answer_pack_move(&packer, &out);
	return packed(&self->raw, &packer);
}

static enum status answer_regions(struct question *self)
{
	uint32_t most = MIN_OF(self->query.limit, (uint32_t)REGIONS_MAX), found = 0;
	struct overlap_region *regions = heap_alloc(MAX_OF(most, 1u) * sizeof *regions);
	if (regions == NULL)
		return STATUS_NO_MEMORY;
	enum status status = placed_regions(self->a, self->a_count, self->b, self->b_count, regions,
					    most, &found);
	uint32_t count = MIN_OF(found, most);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * HIT_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_region out = {
			.placement = regions[i].placement_a,
			.other_placement = regions[i].placement_b,
			.contours = regions[i].contours,
			.depth = regions[i].depth,
			.volume = regions[i].volume,
		};
		put3(out.point, regions[i].point_a);
		put3(out.other_point, regions[i].point_b);
		put3(out.normal, regions[i].normal);
		answer_pack_region(&packer, &out);
	}
	heap_free(regions);
	if (status == STATUS_UNSUPPORTED)
		return refuse(self, status, "body", "neither body has closed faces");
	return status == STATUS_OK ? packed(&self->raw, &packer) : status;
}

static void answer(struct question *self)
{
	switch (self->query.kind) {
	case WIRE_QUERY_RAY:
		self->status = answer_ray(self);
		return;
	case WIRE_QUERY_OVERLAP:
		self->status = answer_overlap(self);
		return;
	case WIRE_QUERY_CAST:
		self->status = answer_cast(self);
		return;
	case WIRE_QUERY_CLOSEST:
		self->status = answer_closest(self);
		return;
	case WIRE_QUERY_MASS:
		self->status = answer_mass(self);
		return;
	case WIRE_QUERY_MOVE:
		self->status = answer_move(self);
		return;
	default:
		self->status = answer_regions(self);
		return;
	}
}

/* Into the report, which is returned owned. */
static struct report *report_of(struct question *self)
{
	struct report *report = self->report;
	self->report = NULL;
	report->reply.work = self->work;
	if (self->status == STATUS_OK) {
		report->reply.raw = self->raw;
		bytes_init(&self->raw);
		return report;
	}
	if (self->why.status != self->status)
		refuse(self, self->status, "query", status_text(self->status));
	report->reply.status = self->status;
	report->reply.why = self->why;
	return report;
}

/* ---- away and back ---------------------------------------------------------------------------- */

/* LOOP. */
static void come_back(void *context)
{
	struct question *self = context;
	struct host *host = self->host;
	atomic_fetch_sub(&host->away_bytes, image_bytes(self));
	atomic_store(&host->away_by[self->place], 0);
	report_queue_push(&host->reports, report_of(self));
	question_destroy(self);
	host_shape_query_returned(host);
}

/* ANSWERS: touches nothing of the host's. */
static void answer_away(void *context)
{
	struct question *self = context;
	answer(self);
	executor_wake(self->host->executor, EXECUTOR_LOOP, &self->done);
}

/* OK: it is on its way, and no longer ours. */
static enum status send_away(struct question *self)
{
	struct host *host = self->host;
	uint32_t session = self->report->reply.session;
	enum status status = take_place(self);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->a_count; i++)
		shape_retain(self->a[i].shape);
	for (uint32_t i = 0; i < self->b_count; i++)
		shape_retain(self->b[i].shape);
	self->retained = true;
	wakeup_init(&self->done, come_back, self);
	uint64_t bytes = image_bytes(self);
	uint32_t place = self->place;
	atomic_fetch_add(&host->away, 1);
	atomic_fetch_add(&host->away_bytes, bytes);
	atomic_store(&host->away_by[place], session);
	status = executor_post(host->executor, EXECUTOR_ANSWERS, answer_away, self);
	if (status == STATUS_OK)
		return STATUS_OK;
	atomic_store(&host->away_by[place], 0);
	atomic_fetch_sub(&host->away_bytes, bytes);
	atomic_fetch_sub(&host->away, 1);
	return refuse(self, status == STATUS_FULL ? STATUS_BUSY : status, "query",
		      "too many long questions are being answered");
}

static enum status prepare(struct question *self)
{
	vec3 gravity = world_info(self->host->world).gravity;
	double size = vec3_length(gravity);
	self->up = size > 0 ? vec3_scale(gravity, -1.0 / size) : vec3_make(0, 1, 0);
	switch (self->query.kind) {
	case WIRE_QUERY_RAY:
		return prepare_ray(self);
	case WIRE_QUERY_OVERLAP:
		return prepare_overlap(self);
	case WIRE_QUERY_CAST:
	case WIRE_QUERY_MOVE:
		return prepare_flight(self);
	case WIRE_QUERY_CLOSEST:
	case WIRE_QUERY_REGIONS:
		return prepare_pair(self);
	default:
		return STATUS_OK;
	}
}

void host_do_shape_query(struct host *host, struct requester *requester,
			 const struct wire_query *query)
{
	struct question *self = heap_alloc_zero(sizeof *self);
	if (self == NULL) {
		struct reason why;
		reason_set(&why, STATUS_NO_MEMORY, -1, "query", "out of memory");
		host_refuse(host, requester, &why);
		return;
	}
	self->host = host;
	self->query = *query;
	self->report = host_reply(host, requester);
	self->why = (struct reason){ .index = -1 };
	self->status = prepare(self);
	/* From here on the query's own bytes are not needed. */
	self->query.shape = (struct wire_slice){ NULL, 0 };
	self->work = self->status == STATUS_OK ? work_of(self) : 1;
	if (self->status == STATUS_OK && self->work > WORK_AT_ONCE) {
		/* It may be answered, and gone, before this thread looks at it again. */
		enum status status = send_away(self);
		if (status == STATUS_OK)
			return;
		self->status = status;
	} else if (self->status == STATUS_OK) {
		answer(self);
	}
	host->refused += self->status != STATUS_OK;
	host_send(host, report_of(self));
	question_destroy(self);
}
