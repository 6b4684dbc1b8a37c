/* queries.c: queries of cairn.h. Five have functions of their own; cairn_world_query asks any of
 * protocol/queries.def, and its answer is a tree of values. */
#include <string.h>

#include "clients/c/library.h"
#include "clients/lib/shape_text.h"
#include "protocol/query_wire.h"

static void copy_vec3(double to[3], cairn_vec3 from)
{
	to[0] = from.x;
	to[1] = from.y;
	to[2] = from.z;
}

static void copy_quat(double to[4], cairn_quat from)
{
	to[0] = from.w;
	to[1] = from.x;
	to[2] = from.y;
	to[3] = from.z;
}

/* ---- queries
 * ------------------------------------------------------------------------------------- */

/* Sends a query; `in` reads the answer. */
static enum status ask(cairn_world *world, const struct wire_query *query, struct wire_cursor *in,
		       struct reason *why)
{
	struct message answer;
	enum status status =
		cairn_ask(world->client->wire, world->info.number, query, &answer, why);
	if (status == STATUS_OK)
		*in = wire_cursor_of(answer.answer.answer);
	return status;
}

int cairn_world_ray(cairn_world *world, cairn_vec3 origin, cairn_vec3 direction, double length,
		    cairn_hit *hit, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_query query;
	struct wire_cursor in;
	struct wire_list list = { 0 };
	struct wire_ray_hit found;
	query_init(&query, WIRE_QUERY_RAY);
	copy_vec3(query.origin, origin);
	copy_vec3(query.direction, direction);
	query.length = length;
	query.limit = 1;
	memset(hit, 0, sizeof *hit);
	enum status status = ask(world, &query, &in, &why);
	if (status == STATUS_OK && wire_take_list(&in, &list) != STATUS_OK)
		status = library_malformed(&why, "ray");
	if (status == STATUS_OK && list.count > 0) {
		struct wire_cursor items = wire_cursor_list(&list);
		if (answer_take_hit(&items, &found) != STATUS_OK)
			status = library_malformed(&why, "ray");
		else
			*hit = (cairn_hit){ found.body, found.fraction * length,
					    library_vec3(found.point), library_vec3(found.normal) };
	}
	return library_fail(status, &why, error);
}

static enum status read_contacts(cairn_client *client, struct wire_cursor *in, struct reason *why)
{
	struct wire_list list;
	client->contacts.count = 0;
	if (wire_take_list(in, &list) != STATUS_OK)
		return library_malformed(why, "contacts");
	struct wire_cursor items = wire_cursor_list(&list);
	if (ARRAY_RESERVE(&client->contacts, MAX_OF(list.count, 1u)) != STATUS_OK)
		return library_no_memory(why);
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_contact from;
		if (answer_take_contact(&items, &from) != STATUS_OK)
			return library_malformed(why, "contacts");
		client->contacts.items[client->contacts.count++] = (cairn_contact){
			from.a,
			from.b,
			library_vec3(from.point),
			library_vec3(from.normal),
			from.separation,
			from.impulse,
			library_vec3(from.friction),
		};
	}
	return STATUS_OK;
}

int cairn_world_contacts(cairn_world *world, uint32_t body, const cairn_contact **contacts,
			 uint32_t *count, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_query query;
	struct wire_cursor in;
	query_init(&query, WIRE_QUERY_CONTACTS);
	query.body = body;
	query.limit = WIRE_QUERY_LIMIT_MAX;
	enum status status = ask(world, &query, &in, &why);
	if (status == STATUS_OK)
		status = read_contacts(world->client, &in, &why);
	*contacts = world->client->contacts.items;
	*count = status == STATUS_OK ? world->client->contacts.count : 0;
	return library_fail(status, &why, error);
}

static enum status ask_body(cairn_world *world, uint32_t body, struct wire_body_facts *found,
			    struct reason *why)
{
	static const struct wire_body_facts none = { .mass = 0 };
	uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_query query;
	struct wire_cursor in;
	query_init(&query, WIRE_QUERY_BODY);
	query.body = body;
	*found = none;
	enum status status = ask(world, &query, &in, why);
	if (status == STATUS_OK && answer_take_body(&in, found, shapes) != STATUS_OK)
		status = library_malformed(why, "body");
	found->body.shapes = NULL; /* they were in `shapes` */
	return status;
}

int cairn_world_body(cairn_world *world, uint32_t body, cairn_body_facts *facts, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_body_facts found;
	memset(facts, 0, sizeof *facts);
	enum status status = ask_body(world, body, &found, &why);
	if (status == STATUS_OK) {
		library_body(&found.body, &facts->body);
		facts->mass = found.mass;
		facts->centre = library_vec3(found.centre);
		facts->shapes = found.body.shape_count;
	}
	return library_fail(status, &why, error);
}

int cairn_world_mover(cairn_world *world, uint32_t body, cairn_mover *mover, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_body_facts found;
	memset(mover, 0, sizeof *mover);
	enum status status = ask_body(world, body, &found, &why);
	const struct wire_mover *m = &found.mover;
	if (status == STATUS_OK && !found.walks)
		status = reason_set(&why, STATUS_STATUS_WRONG, -1, "body",
				    "body %u is no mover: set_mover makes an animated body one",
				    (unsigned)body);
	if (status == STATUS_OK)
		*mover = (cairn_mover){ .on_ground = (m->flags & MOVER_ON_GROUND) != 0,
					.blocked = (m->flags & MOVER_BLOCKED) != 0,
					.squeezed = (m->flags & MOVER_SQUEEZED) != 0,
					.pushes = (m->flags & MOVER_PUSHES) != 0,
					.rests = (m->flags & MOVER_RESTS) != 0,
					.ground = m->ground,
					.squeezes = m->squeezes,
					.normal = library_vec3(m->normal),
					.velocity = library_vec3(m->velocity),
					.wish = library_vec3(m->wish),
					.step_height = m->step_height,
					.slope = m->slope,
					.push_force = m->push_force,
					.snap = m->snap };
	return library_fail(status, &why, error);
}

int cairn_world_colours(cairn_world *world, uint32_t from, const cairn_colour_run **runs,
			uint32_t *count, cairn_error *error)
{
	struct reason why = library_reason();
	cairn_client *client = world->client;
	struct cairn_run found[CAIRN_RUNS_MAX];
	enum status status = ARRAY_RESERVE(&client->colours, CAIRN_RUNS_MAX);
	*count = 0;
	if (status != STATUS_OK)
		status = library_no_memory(&why);
	else
		status = cairn_colours(client->wire, world->info.number, from, found, count, &why);
	for (uint32_t i = 0; status == STATUS_OK && i < *count; i++)
		client->colours.items[i] =
			(cairn_colour_run){ found[i].first, found[i].count, found[i].colour };
	*runs = client->colours.items;
	return library_fail(status, &why, error);
}

int cairn_world_visuals(cairn_world *world, uint32_t from, const cairn_visual **visuals,
			uint32_t *count, cairn_error *error)
{
	struct reason why = library_reason();
	cairn_client *client = world->client;
	struct cairn_look found[CAIRN_VISUALS_MAX];
	enum status status = ARRAY_RESERVE(&client->visuals, CAIRN_VISUALS_MAX);
	*count = 0;
	if (status != STATUS_OK)
		status = library_no_memory(&why);
	else
		status = cairn_visuals(client->wire, world->info.number, from, found, count, &why);
	for (uint32_t i = 0; status == STATUS_OK && i < *count; i++) {
		cairn_visual *to = &client->visuals.items[i];
		quat q = found[i].rotation;
		*to = (cairn_visual){ .body = found[i].body,
				      .position = { found[i].position.x, found[i].position.y,
						    found[i].position.z },
				      .rotation = { q.w, q.x, q.y, q.z },
				      .coloured = found[i].coloured,
				      .colour = found[i].colour };
		memcpy(to->shape, found[i].shape.bytes, sizeof to->shape);
	}
	*visuals = client->visuals.items;
	return library_fail(status, &why, error);
}

int cairn_world_names(cairn_world *world, bool joints, uint32_t from, const cairn_label **labels,
		      uint32_t *count, cairn_error *error)
{
	struct reason why = library_reason();
	cairn_client *client = world->client;
	struct cairn_named *found = heap_alloc(CAIRN_LABELS_MAX * sizeof *found);
	enum status status = STATUS_NO_MEMORY;
	*count = 0;
	if (found != NULL)
		status = ARRAY_RESERVE(&client->labels, CAIRN_LABELS_MAX);
	if (status != STATUS_OK)
		status = library_no_memory(&why);
	else
		status = cairn_labels(client->wire, world->info.number, joints, from, found, count,
				      &why);
	for (uint32_t i = 0; status == STATUS_OK && i < *count; i++) {
		client->labels.items[i].id = found[i].id;
		memcpy(client->labels.items[i].text, found[i].text, sizeof found[i].text);
	}
	heap_free(found);
	*labels = client->labels.items;
	return library_fail(status, &why, error);
}

int cairn_world_totals(cairn_world *world, cairn_totals *totals, cairn_error *error)
{
	struct reason why = library_reason();
	struct wire_totals found;
	struct wire_query query;
	struct wire_cursor in;
	query_init(&query, WIRE_QUERY_TOTALS);
	memset(totals, 0, sizeof *totals);
	enum status status = ask(world, &query, &in, &why);
	if (status == STATUS_OK && answer_take_totals(&in, &found) != STATUS_OK)
		status = library_malformed(&why, "totals");
	if (status == STATUS_OK)
		*totals = (cairn_totals){ found.kinetic, found.potential,
					  library_vec3(found.linear), library_vec3(found.angular) };
	return library_fail(status, &why, error);
}

static enum status read_joints(cairn_client *client, struct wire_cursor *in, struct reason *why)
{
	uint32_t count;
	client->joints.count = 0;
	if (wire_take_array(in, &count) != STATUS_OK)
		return library_malformed(why, "joints");
	for (uint32_t i = 0; i < count; i++) {
		struct wire_joint_facts from;
		if (answer_take_joints_item(in, &from) != STATUS_OK)
			return library_malformed(why, "joints");
		if (ARRAY_RESERVE(&client->joints, client->joints.count + 1u) != STATUS_OK)
			return library_no_memory(why);
		cairn_joint *to = &client->joints.items[client->joints.count++];
		library_joint(&from.joint, to);
		to->anchor_a = library_vec3(from.anchor_a);
		to->anchor_b = library_vec3(from.anchor_b);
	}
	return STATUS_OK;
}

int cairn_world_joints(cairn_world *world, uint32_t body, uint32_t first,
		       const cairn_joint **joints, uint32_t *count, cairn_error *error)
{
	enum { PAGE = 1024 };
	struct reason why = library_reason();
	struct wire_query query;
	struct wire_cursor in;
	query_init(&query, WIRE_QUERY_JOINTS);
	query.body = body;
	query.first = first;
	query.limit = PAGE;
	enum status status = ask(world, &query, &in, &why);
	if (status == STATUS_OK)
		status = read_joints(world->client, &in, &why);
	*joints = world->client->joints.items;
	*count = status == STATUS_OK ? world->client->joints.count : 0;
	return library_fail(status, &why, error);
}

/* ---- values
 * -------------------------------------------------------------------------------------- */

static const cairn_value NIL = { .type = CAIRN_VALUE_NIL };

/* Values in a packed answer, which is whole and valid, because the client's frames are
 * validated. */
static uint32_t count_values(struct wire_slice packed)
{
	struct wire_cursor in = wire_cursor_of(packed);
	struct wire_token token;
	uint32_t count = 0;
	while (wire_next(&in, &token) == STATUS_OK)
		count++;
	return count;
}

/* Reads one value; the items of a list are placed one after the other from *next on. */
static enum status read_value(struct wire_cursor *in, cairn_value *to, cairn_value **next)
{
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status != STATUS_OK)
		return status;
	*to = NIL;
	switch (token.type) {
	case WIRE_TOKEN_NIL:
		break;
	case WIRE_TOKEN_BOOL:
		*to = (cairn_value){ .type = CAIRN_VALUE_BOOLEAN,
				     .integer = token.truth,
				     .number = token.truth };
		break;
	case WIRE_TOKEN_INTEGER:
		*to = (cairn_value){ .type = CAIRN_VALUE_INTEGER,
				     .integer = token.integer,
				     .number = (double)token.integer };
		break;
	case WIRE_TOKEN_REAL:
		*to = (cairn_value){ .type = CAIRN_VALUE_REAL, .number = token.real };
		break;
	case WIRE_TOKEN_TEXT:
	case WIRE_TOKEN_BIN:
		*to = (cairn_value){ .type = token.type == WIRE_TOKEN_TEXT ? CAIRN_VALUE_TEXT
									   : CAIRN_VALUE_BYTES,
				     .count = token.count,
				     .bytes = token.at };
		break;
	case WIRE_TOKEN_ARRAY:
	case WIRE_TOKEN_MAP:
		*to = (cairn_value){
			.type = token.type == WIRE_TOKEN_MAP ? CAIRN_VALUE_MAP : CAIRN_VALUE_LIST,
			.count = token.type == WIRE_TOKEN_MAP ? 2 * token.count : token.count,
			.items = *next
		};
		cairn_value *items = *next;
		*next += to->count;
		for (uint32_t i = 0; i < to->count && status == STATUS_OK; i++)
			status = read_value(in, &items[i], next);
		break;
	}
	return status;
}

enum status library_values(cairn_client *client, struct wire_slice packed, const cairn_value **out,
			   struct reason *why)
{
	uint32_t count = count_values(packed);
	client->values.count = 0;
	*out = &NIL;
	if (count == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&client->values, count) != STATUS_OK)
		return library_no_memory(why);
	struct wire_cursor in = wire_cursor_of(packed);
	cairn_value *next = client->values.items + 1;
	if (read_value(&in, client->values.items, &next) != STATUS_OK)
		return library_malformed(why, "answer");
	client->values.count = count;
	*out = client->values.items;
	return STATUS_OK;
}

const cairn_value *cairn_value_at(const cairn_value *value, uint32_t index)
{
	bool list = value->type == CAIRN_VALUE_LIST || value->type == CAIRN_VALUE_MAP;
	return list && index < value->count ? &value->items[index] : &NIL;
}

const cairn_value *cairn_value_get(const cairn_value *value, const char *key)
{
	size_t bytes = strlen(key);
	for (uint32_t i = 0; value->type == CAIRN_VALUE_MAP && i + 1 < value->count; i += 2) {
		const cairn_value *name = &value->items[i];
		if (name->type == CAIRN_VALUE_TEXT && name->count == bytes &&
		    memcmp(name->bytes, key, bytes) == 0)
			return &value->items[i + 1];
	}
	return &NIL;
}

cairn_vec3 cairn_value_vec3(const cairn_value *value)
{
	return (cairn_vec3){ cairn_value_at(value, 0)->number, cairn_value_at(value, 1)->number,
			     cairn_value_at(value, 2)->number };
}

/* ---- any query
 * ----------------------------------------------------------------------------------- */

cairn_query cairn_query_make(int kind)
{
	struct wire_query from;
	cairn_query query;
	memset(&query, 0, sizeof query);
	query_init(&from, (enum wire_query_kind)kind);
	query.kind = kind;
	query.rotation.w = 1;
#define MEMBER_VALUE(name) query.name = from.name;
#define MEMBER_VECTOR(name)
#define MEMBER_QUATERNION(name)
#define MEMBER_STRUCT(name)
#define MEMBER(ctype, name, form, fallback, doc) MEMBER_##form(name)
#include "protocol/queries.def"
#undef MEMBER_VALUE
#undef MEMBER_VECTOR
#undef MEMBER_QUATERNION
	return query;
}

/* Copies a query into the wire's form. `canonical` gets the bytes of its shape. */
static enum status copy_query(const cairn_query *from, struct wire_query *to,
			      struct bytes *canonical, struct reason *why)
{
	query_init(to, (enum wire_query_kind)from->kind);
#define MEMBER_VALUE(name) to->name = from->name;
#define MEMBER_VECTOR(name) copy_vec3(to->name, from->name);
#define MEMBER_QUATERNION(name) copy_quat(to->name, from->name);
#define MEMBER(ctype, name, form, fallback, doc) MEMBER_##form(name)
#include "protocol/queries.def"
#undef MEMBER_VALUE
#undef MEMBER_VECTOR
#undef MEMBER_QUATERNION
#undef MEMBER_STRUCT
	memcpy(to->name.bytes, from->name.bytes, sizeof to->name.bytes);
	to->bodies =
		(struct wire_slice){ (const uint8_t *)from->bodies.items,
				     from->bodies.count * (uint32_t)sizeof *from->bodies.items };
	to->values =
		(struct wire_slice){ (const uint8_t *)from->values.items,
				     from->values.count * (uint32_t)sizeof *from->values.items };
	if (from->shape == NULL)
		return STATUS_OK;
	enum status status = shape_text_parse(from->shape, canonical, why);
	to->shape = (struct wire_slice){ canonical->data, canonical->count };
	return status;
}

int cairn_world_query(cairn_world *world, const cairn_query *query, const cairn_value **answer,
		      cairn_error *error)
{
	struct reason why = library_reason();
	struct bytes canonical = { 0 };
	struct wire_query copy;
	struct message reply;
	*answer = &NIL;
	enum status status = copy_query(query, &copy, &canonical, &why);
	if (status == STATUS_OK)
		status = cairn_ask(world->client->wire, world->info.number, &copy, &reply, &why);
	if (status == STATUS_OK)
		status = library_values(world->client, reply.answer.answer, answer, &why);
	bytes_release(&canonical);
	return library_fail(status, &why, error);
}
