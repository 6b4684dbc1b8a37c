/* host_shape_query.c: queries of shapes (RAY, OVERLAP, CAST, CLOSEST, MASS, MOVE, REGIONS), and STABILITY.
 *
 * The worker lists the shapes near the query, retained, with their poses at the tick: an immutable image
 * of all that the query needs. If the expected work is small the worker answers at once; otherwise the
 * image goes to ANSWERS, the world steps on, and the answer comes later, for the tick of the image:
 *
 *	worker: near → image ──post──► ANSWERS: answer, packed ──wakeup──► LOOP: into the report queue
 *
 * The number of queries at ANSWERS is limited per world (HOST_POSTED_MAX) and per session, and so are the
 * bytes of their images; beyond a limit a query is refused with BUSY, before its image is made where that
 * is known. A host does not end before they have returned (host.c); then those not begun are refused.
 */
#include <string.h>

#include "server/base/heap.h"
#include "server/host/host_answer.h"
#include "server/host/host_stability.h"
#include "server/host/host_state.h"

enum {
	POSTED_SESSION_MAX = 4, /* of one session, of HOST_POSTED_MAX in all */
	NEAR_MAX =
		4096, /* most placed shapes near a query; a ray or an overlap has no such limit */
	NEAR_AT_ONCE = 512,  /* initial capacity of the list of shapes near a ray or an overlap */
	WORK_AT_ONCE = 2048, /* most pairs of pieces of a query that the worker answers itself */
	REGIONS_MAX = 1024,  /* most regions in an answer */
	HIT_BYTES_MAX = 128, /* of a cast's hit or a region, packed */
	RAY_HIT_BYTES_MAX = 192,
};

/* The work of a query saturates here, in pairs of pieces. */
#define WORK_MAX ((uint64_t)1 << 40)
/* Bytes of all images at ANSWERS; a single query may exceed it. */
#define POSTED_BYTES_MAX ((uint64_t)16 << 20)

struct shape_query {
	struct host *host;     /* borrowed: it does not end before the query has returned */
	struct report *report; /* owned until sent */
	struct wire_query query;
	struct shape *shape;	    /* a reference, or NULL */
	struct placed_shape *a, *b; /* one block, owned; shapes are references once `retained` */
	uint32_t a_count, b_count;
	bool retained;
	struct stability_image image; /* of STABILITY: the whole state */
	bool has_image;
	uint32_t slot; /* index in host->posted_by */
	uint64_t work;
	struct aabb near; /* of CLOSEST without other: the box that was searched */
	vec3 up;
	vec3 way; /* of a ray, m */
	pose at;  /* of the shape of an overlap */
	struct bytes raw;
	enum status status;
	struct reason why;
	struct wakeup done;
};

static void shape_query_destroy(struct shape_query *self)
{
	for (uint32_t i = 0; self->retained && i < self->a_count; i++)
		shape_release((struct shape *)self->a[i].shape);
	for (uint32_t i = 0; self->retained && i < self->b_count; i++)
		shape_release((struct shape *)self->b[i].shape);
	heap_free(self->a);
	shape_release(self->shape);
	if (self->has_image)
		stability_image_release(&self->image);
	bytes_release(&self->raw);
	heap_free(self->report);
	heap_free(self);
}

static enum status refuse_query(struct shape_query *self, enum status status, const char *field,
				const char *text)
{
	return reason_set(&self->why, status, -1, field, "%s", text);
}

/* ---- the image -------------------------------------------------------------------------------- */

/* The shape a query carries: cooked from its bytes, or found by its name. Returned owned. */
static enum status host_query_shape(struct host *host, const struct wire_query *query,
				    struct shape **out, struct reason *why)
{
	struct wire_slice bytes = query->shape;
	if (bytes.bytes == SHAPE_NAME_BYTES) {
		const struct shape *known = shape_library_find(&host->shapes, bytes.at);
		if (known == NULL)
			return reason_set(
				why, STATUS_UNKNOWN_SHAPE, -1, "shape",
				"the world's shape library has no shape of that name: upload it");
		*out = shape_retain(known);
		return STATUS_OK;
	}
	if (bytes.bytes > 0 && bytes.at[0] == SHAPE_SOLID)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "shape",
				  "a query cannot carry a solid: upload it and use its name");
	return shape_library_cook(bytes, NULL, out, why);
}

static bool is_finite3(const double v[3])
{
	return vec3_is_finite(get_vec3(v));
}

/* Checks the start pose and the displacement of a cast or a move; `reach` is the box of all it may
 * touch. */
static enum status check_path(struct shape_query *self, pose *from, struct aabb *reach)
{
	const struct wire_query *query = &self->query;
	quat r = get_quat(query->rotation);
	double size = r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z;
	if (!is_finite3(query->origin) || !is_finite3(query->direction) || !quat_is_finite(r))
		return refuse_query(self, STATUS_NOT_FINITE, "position",
				    "a number of position, way or rotation is infinite or not a "
				    "number: all must be finite");
	if (!(vec3_max_component(vec3_abs(get_vec3(query->origin))) <= LENGTH_MAX))
		return reason_set(
			&self->why, STATUS_RANGE, -1, "position",
			"position is [%.10g, %.10g, %.10g]: it must be within ±%.10g m on "
			"each axis",
			query->origin[0], query->origin[1], query->origin[2], LENGTH_MAX);
	double length = vec3_length(get_vec3(query->direction));
	if (!(length <= 4 * LENGTH_MAX))
		return reason_set(&self->why, STATUS_RANGE, -1, "way",
				  "way is %.10g m long: it may be at most %.10g m long", length,
				  4 * LENGTH_MAX);
	if (!(size >= 0.25 && size <= 4))
		return reason_set(&self->why, STATUS_RANGE, -1, "rotation",
				  "rotation has squared length %.10g: it must be within 0.25 and 4",
				  size);
	*from = pose_make(get_vec3(query->origin), quat_normalize(r));
	if (shape_is_ground(self->shape))
		return refuse_query(
			self, STATUS_UNSUPPORTED, "shape",
			"planes, meshes and heightfields cannot be cast or moved: use a convex "
			"shape or a solid");
	struct aabb box = shape_aabb(self->shape, from);
	vec3 way = get_vec3(query->direction);
	double spare = query->step + 8 * query->skin;
	/* A character may slide in any direction within the length of its way. */
	if (query->kind == WIRE_QUERY_MOVE)
		*reach = aabb_grow(box, 1.1 * vec3_length(way) + 4 * spare + 1);
	else
		*reach = aabb_grow(
			aabb_union(box, aabb_make(vec3_add(box.min, way), vec3_add(box.max, way))),
			1e-3);
	return STATUS_OK;
}

static enum status alloc_placed(struct shape_query *self, uint32_t a, uint32_t b)
{
	self->a = heap_alloc(MAX_OF(a + b, 1u) * sizeof *self->a);
	if (self->a == NULL)
		return refuse_query(self, STATUS_NO_MEMORY, "query", "out of memory");
	self->b = self->a + a;
	return STATUS_OK;
}

static enum status list_near(struct shape_query *self, struct aabb box, struct query_filter filter)
{
	uint32_t count;
	enum status status = world_near(self->host->world, &box, filter, self->b, NEAR_MAX, &count);
	if (status == STATUS_LIMIT)
		return reason_set(&self->why, status, -1, "query",
				  "%u shapes are near the query, the limit is %d: make it smaller",
				  count, NEAR_MAX);
	self->b_count = count;
	return status == STATUS_OK ? status
				   : refuse_query(self, status, "query", status_text(status));
}

static uint64_t image_bytes(const struct shape_query *self)
{
	return ((uint64_t)self->a_count + self->b_count) * sizeof *self->a +
	       (self->has_image ? self->image.image.count : 0);
}

/* Finds a free slot in posted_by; BUSY over a limit. Only the worker takes slots. */
static enum status take_query_slot(struct shape_query *self)
{
	struct host *host = self->host;
	uint32_t session = self->report->reply.session;
	uint32_t free = HOST_POSTED_MAX, own = 0;
	for (uint32_t i = HOST_POSTED_MAX; i-- > 0;) {
		uint32_t by = atomic_load(&host->posted_by[i]);
		free = by == 0 ? i : free;
		own += by == session;
	}
	if (free == HOST_POSTED_MAX || own >= POSTED_SESSION_MAX)
		return reason_set(&self->why, STATUS_BUSY, -1, "query",
				  "at most %d long queries of a world, and %d of a session, are "
				  "answered at the same time: try again later",
				  HOST_POSTED_MAX, POSTED_SESSION_MAX);
	if (atomic_load(&host->posted) > 0 &&
	    atomic_load(&host->posted_bytes) + image_bytes(self) > POSTED_BYTES_MAX)
		return refuse_query(
			self, STATUS_BUSY, "query",
			"long queries of this world already hold the memory limit for queries: "
			"try again later");
	self->slot = free;
	return STATUS_OK;
}

/* Lists all shapes near a ray or an overlap; their number is not limited. */
static enum status list_all_near(struct shape_query *self, const struct aabb *box)
{
	const struct wire_query *query = &self->query;
	const struct world *world = self->host->world;
	uint32_t count = NEAR_AT_ONCE;
	enum status status = STATUS_LIMIT;
	while (status == STATUS_LIMIT) {
		/* A list this long is for ANSWERS: it is copied only if a slot is free. */
		self->b_count = count;
		status = count > WORK_AT_ONCE ? take_query_slot(self) : STATUS_OK;
		self->b_count = 0;
		heap_free(self->a);
		self->a = NULL;
		if (status == STATUS_OK)
			status = alloc_placed(self, 0, count);
		if (status != STATUS_OK)
			return status;
		status = box != NULL
				 ? world_near(world, box, filter_of(query), self->b, count, &count)
				 : world_near_ray(world, get_vec3(query->origin), self->way,
						  filter_of(query), self->b, count, &count);
	}
	self->b_count = status == STATUS_OK ? count : 0;
	return status == STATUS_OK ? status
				   : refuse_query(self, status, "query", status_text(status));
}

static enum status prepare_ray(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	enum status status = placed_ray_way(get_vec3(query->origin), get_vec3(query->direction),
					    query->length, &self->way);
	return status == STATUS_OK ? list_all_near(self, NULL) : status;
}

static enum status prepare_overlap(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	enum status status = host_query_shape(self->host, query, &self->shape, &self->why);
	if (status == STATUS_OK)
		status = placed_overlap_at(get_vec3(query->origin), get_quat(query->rotation),
					   &self->at);
	if (status != STATUS_OK)
		return status;
	struct aabb box = shape_aabb(self->shape, &self->at);
	return list_all_near(self, &box);
}

static enum status prepare_path(struct shape_query *self)
{
	struct aabb reach;
	pose from;
	enum status status = host_query_shape(self->host, &self->query, &self->shape, &self->why);
	if (status == STATUS_OK)
		status = check_path(self, &from, &reach);
	if (status == STATUS_OK)
		status = alloc_placed(self, 0, NEAR_MAX);
	return status == STATUS_OK ? list_near(self, reach, filter_of(&self->query)) : status;
}

static enum status refuse_body(struct shape_query *self, const char *field, uint32_t body)
{
	return reason_set(&self->why, STATUS_UNKNOWN_BODY, -1, field, "%s: there is no body %u",
			  field, (unsigned)body);
}

static enum status list_body(struct shape_query *self, const char *field, uint32_t body,
			     struct placed_shape *out, uint32_t *count)
{
	struct body_view view;
	if (world_body(self->host->world, body, &view) != STATUS_OK)
		return refuse_body(self, field, body);
	*count = world_placed(self->host->world, body, out, WIRE_BODY_SHAPES);
	return STATUS_OK;
}

static enum status prepare_pair(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	enum status status = alloc_placed(self, WIRE_BODY_SHAPES, NEAR_MAX);
	if (status == STATUS_OK)
		status = list_body(self, "body", query->body, self->a, &self->a_count);
	if (status != STATUS_OK)
		return status;
	if (query->other == query->body)
		return reason_set(&self->why, STATUS_RANGE, -1, "other",
				  "other is %u, which is body itself: give the id of a second body",
				  (unsigned)query->other);
	if (query->other != 0 || query->kind == WIRE_QUERY_REGIONS)
		return list_body(self, "other", query->other, self->b, &self->b_count);
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < self->a_count; i++)
		box = aabb_union(box, shape_aabb(self->a[i].shape, &self->a[i].at));
	struct query_filter filter = { UINT32_MAX, UINT32_MAX, query->body };
	return self->a_count > 0 ? list_near(self, aabb_grow(box, query->length), filter)
				 : STATUS_OK;
}

/* The image is made only if ANSWERS takes the query. */
static enum status prepare_stability(struct shape_query *self)
{
	enum status status = take_query_slot(self);
	if (status != STATUS_OK)
		return status;
	self->has_image = true;
	return stability_image_make(&self->image, self->host, &self->why);
}

/* Pairs of pieces that may be examined, at most WORK_MAX. A mesh counts as at most 256 pieces, because its
 * hierarchy is searched; a move counts four sweeps an iteration. */
static uint64_t work_of(const struct shape_query *self)
{
	uint64_t own = self->shape != NULL ? shape_piece_count(shape_exact(self->shape)) : 0,
		 others = 0;
	for (uint32_t i = 0; i < self->a_count; i++)
		own += shape_piece_count(shape_exact(self->a[i].shape));
	for (uint32_t i = 0; i < self->b_count; i++) {
		const struct shape *shape = shape_exact(self->b[i].shape);
		uint64_t pieces = shape_piece_count(shape);
		others += shape_is_surface(shape) ? MIN_OF(pieces, 256u) : pieces;
	}
	if (self->query.kind == WIRE_QUERY_RAY)
		own = 1;
	if (self->query.kind == WIRE_QUERY_STABILITY)
		return WORK_AT_ONCE + 1u + self->image.image.count / 64;
	if (self->query.kind == WIRE_QUERY_MOVE)
		own *= 4 * (uint64_t)self->query.iterations;
	uint64_t work = own > 0 && others > WORK_MAX / own ? WORK_MAX : own * others;
	return self->query.kind == WIRE_QUERY_REGIONS ? MAX_OF(work, WORK_AT_ONCE + 1u) : work;
}

/* ---- answers ---------------------------------------------------------------------------------- */

static enum status answer_ray(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	uint32_t most = MIN_OF(query->limit, self->b_count);
	struct ray_hit *hits = heap_alloc(MAX_OF(most, 1u) * sizeof *hits);
	if (hits == NULL)
		return STATUS_NO_MEMORY;
	uint32_t count =
		placed_ray(self->b, self->b_count, get_vec3(query->origin), self->way, hits, most);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * RAY_HIT_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_ray_hit hit = {
			.body = hits[i].body,
			.placement = hits[i].placement,
			.child = hits[i].child,
			.fraction = hits[i].fraction,
		};
		put_vec3(hit.point, hits[i].point);
		put_vec3(hit.normal, hits[i].normal);
		answer_pack_hit(&packer, &hit);
	}
	heap_free(hits);
	return packed(&self->raw, &packer);
}

static enum status answer_overlap(struct shape_query *self)
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
	put_vec3(out.point, hit->point);
	put_vec3(out.normal, hit->normal);
	return out;
}

static pose path_pose(const struct wire_query *query)
{
	quat r = get_quat(query->rotation);
	return pose_make(get_vec3(query->origin), quat_normalize(r));
}

static enum status answer_cast(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	uint32_t most = MIN_OF(query->limit, self->b_count);
	struct cast_hit *hits = heap_alloc(MAX_OF(most, 1u) * sizeof *hits);
	if (hits == NULL)
		return STATUS_NO_MEMORY;
	enum status status;
	uint32_t count = placed_cast(self->b, self->b_count, self->shape, path_pose(query),
				     get_vec3(query->direction), hits, most, &status);
	struct wire_packer packer = packer_into(&self->raw, 8 + (size_t)count * HIT_BYTES_MAX);
	wire_pack_array(&packer, count);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_cast_hit hit = wire_hit(&hits[i]);
		answer_pack_cast_hit(&packer, &hit);
	}
	heap_free(hits);
	return status == STATUS_OK ? packed(&self->raw, &packer) : status;
}

static enum status answer_closest(struct shape_query *self)
{
	struct closest_pair pair;
	struct wire_closest out = { 0 };
	out.found = placed_closest(self->a, self->a_count, self->b, self->b_count,
				   self->query.length, &pair);
	if (out.found) {
		out.distance = pair.distance;
		put_vec3(out.normal, pair.normal);
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
		put_vec3(out.a.point, pair.a.point);
		put_vec3(out.b.point, pair.b.point);
	}
	struct wire_packer packer = packer_into(&self->raw, 256);
	answer_pack_closest(&packer, &out);
	return packed(&self->raw, &packer);
}

static enum status answer_mass(struct shape_query *self)
{
	struct mass_view mass;
	if (world_mass(self->host->world, self->query.body, &mass) != STATUS_OK)
		return refuse_body(self, "body", self->query.body);
	struct wire_mass out = {
		.mass = mass.mass,
		.inertia = { mass.inertia.x.x, mass.inertia.y.y, mass.inertia.z.z, mass.inertia.y.x,
			     mass.inertia.z.x, mass.inertia.z.y },
		.axes = { mass.axes.w, mass.axes.x, mass.axes.y, mass.axes.z },
		.radius = mass.radius,
		.bodies = mass.bodies,
	};
	put_vec3(out.centre, mass.centre);
	put_vec3(out.moments, mass.moments);
	struct wire_packer packer = packer_into(&self->raw, 256);
	answer_pack_mass(&packer, &out);
	return packed(&self->raw, &packer);
}

_Static_assert((int)WIRE_MOVE_CONTACTS_MAX == (int)MOVER_CONTACTS_MAX,
	       "all contacts fit an answer");

static enum status answer_move(struct shape_query *self)
{
	const struct wire_query *query = &self->query;
	struct mover_options options = { .up = self->up,
					 .iterations = query->iterations,
					 .skin = query->skin,
					 .slope_cosine = query->slope,
					 .step_height = query->step };
	struct mover_result result;
	enum status status = placed_move(self->b, self->b_count, self->shape, path_pose(query),
					 get_vec3(query->direction), &options, &result);
	if (status != STATUS_OK)
		return status;
	struct wire_move out = { .iterations = result.iterations,
				 .climbed = result.climbed,
				 .contact_count = result.contact_count };
	out.flags =
		(result.grounded ? WIRE_MOVE_GROUNDED : 0u) | (result.stuck ? WIRE_MOVE_STUCK : 0u);
	put_vec3(out.position, result.position);
	put_vec3(out.left, result.left);
	if (result.grounded)
		out.ground = wire_hit(&result.ground);
	for (uint32_t i = 0; i < result.contact_count; i++)
		out.contacts[i] = wire_hit(&result.contacts[i]);
	struct wire_packer packer =
		packer_into(&self->raw, 256 + (size_t)(1 + out.contact_count) * HIT_BYTES_MAX);
	answer_pack_move(&packer, &out);
	return packed(&self->raw, &packer);
}

static enum status answer_regions(struct shape_query *self)
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
		put_vec3(out.point, regions[i].point_a);
		put_vec3(out.other_point, regions[i].point_b);
		put_vec3(out.normal, regions[i].normal);
		answer_pack_region(&packer, &out);
	}
	heap_free(regions);
	if (status == STATUS_UNSUPPORTED)
		return refuse_query(self, status, "body", "neither body has a closed surface");
	return status == STATUS_OK ? packed(&self->raw, &packer) : status;
}

static void answer_query(struct shape_query *self)
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
	case WIRE_QUERY_STABILITY:
		self->status =
			stability_image_answer(&self->image, &self->query, &self->raw, &self->why);
		return;
	default:
		self->status = answer_regions(self);
		return;
	}
}

/* Moves the answer into the report, which is returned owned. */
static struct report *report_of(struct shape_query *self)
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
		refuse_query(self, self->status, "query", status_text(self->status));
	report->reply.status = self->status;
	report->reply.why = self->why;
	return report;
}

/* ---- to ANSWERS and back ---------------------------------------------------------------------- */

/* LOOP. */
static void return_query(void *context)
{
	struct shape_query *self = context;
	struct host *host = self->host;
	atomic_fetch_sub(&host->posted_bytes, image_bytes(self));
	atomic_store(&host->posted_by[self->slot], 0);
	report_queue_push(&host->reports, report_of(self));
	shape_query_destroy(self);
	host_shape_query_returned(host);
}

/* ANSWERS: reads the image only. */
static void answer_posted(void *context)
{
	struct shape_query *self = context;
	/* The end of the world waits for its queries, so those not begun are refused. */
	if (atomic_load(&self->host->ending))
		self->status = refuse_query(self, STATUS_UNKNOWN_WORLD, "query",
					    "the world ended before the query was answered");
	else
		answer_query(self);
	executor_wake(self->host->executor, EXECUTOR_LOOP, &self->done);
}

/* OK: ANSWERS owns the query from then on. */
static enum status post_query(struct shape_query *self)
{
	struct host *host = self->host;
	uint32_t session = self->report->reply.session;
	enum status status = take_query_slot(self);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->a_count; i++)
		shape_retain(self->a[i].shape);
	for (uint32_t i = 0; i < self->b_count; i++)
		shape_retain(self->b[i].shape);
	self->retained = true;
	wakeup_init(&self->done, return_query, self);
	uint64_t bytes = image_bytes(self);
	uint32_t slot = self->slot;
	atomic_fetch_add(&host->posted, 1);
	atomic_fetch_add(&host->posted_bytes, bytes);
	atomic_store(&host->posted_by[slot], session);
	status = executor_post(host->executor, EXECUTOR_ANSWERS, answer_posted, self);
	if (status == STATUS_OK)
		return STATUS_OK;
	atomic_store(&host->posted_by[slot], 0);
	atomic_fetch_sub(&host->posted_bytes, bytes);
	atomic_fetch_sub(&host->posted, 1);
	return refuse_query(self, status == STATUS_FULL ? STATUS_BUSY : status, "query",
			    "too many long queries are being answered: try again later");
}

static enum status prepare_query(struct shape_query *self)
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
		return prepare_path(self);
	case WIRE_QUERY_CLOSEST:
	case WIRE_QUERY_REGIONS:
		return prepare_pair(self);
	case WIRE_QUERY_STABILITY:
		return prepare_stability(self);
	default:
		return STATUS_OK;
	}
}

void host_do_shape_query(struct host *host, struct requester *requester,
			 const struct wire_query *query)
{
	struct shape_query *self = heap_alloc_zero(sizeof *self);
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
	self->status = prepare_query(self);
	/* The query's own bytes are not needed any more. */
	self->query.shape = (struct wire_slice){ NULL, 0 };
	self->work = self->status == STATUS_OK ? work_of(self) : 1;
	if (self->status == STATUS_OK && self->work > WORK_AT_ONCE) {
		/* Once posted, it may be answered and freed before the call returns. */
		enum status status = post_query(self);
		if (status == STATUS_OK)
			return;
		self->status = status;
	} else if (self->status == STATUS_OK) {
		answer_query(self);
	}
	host->refused += self->status != STATUS_OK;
	host_send(host, report_of(self));
	shape_query_destroy(self);
}
