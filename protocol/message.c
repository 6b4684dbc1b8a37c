/* message.c: the tables behind message.h. */
#include "protocol/message.h"

#include <string.h>

/* Each message becomes a function that owns its field table, because only inside a scope of its own
 * can `self` name the message's struct for offsetof. */
#define MESSAGE(number, NAME, name, from_, layout_, role_, doc)                                    \
	static const struct message_info *info_##name(void)                                        \
	{                                                                                          \
		typedef struct msg_##name self;                                                    \
		static const char title[] = #NAME;                                                 \
		static const char about[] = doc;                                                   \
		enum {                                                                             \
			TYPE = (number),                                                           \
			FROM = WIRE_FROM_##from_,                                                  \
			LAYOUT = WIRE_LAYOUT_##layout_                                             \
		};                                                                                 \
		enum { ROLE = WIRE_ROLE_##role_ };                                                 \
		static const struct message_field fields[] = {
#define ANY_FIELD(kind, field, need, max, fallback, doc)                                           \
	{ #field,                                                                                  \
	  doc,                                                                                     \
	  WIRE_KIND_##kind,                                                                        \
	  need,                                                                                    \
	  (uint32_t)(offsetof(struct message, hello) + offsetof(self, field)),                     \
	  (double)(max),                                                                           \
	  fallback },
#define NEED(kind, field, max, doc) ANY_FIELD(kind, field, true, max, 0, doc)
#define FIELD(kind, field, max, fallback, doc) ANY_FIELD(kind, field, false, max, fallback, doc)
#define END(name)                                                                                  \
	}                                                                                          \
	;                                                                                          \
	static const struct message_info info = { (enum message_type)TYPE,                         \
						  title,                                           \
						  about,                                           \
						  (enum wire_from)FROM,                            \
						  (enum wire_layout)LAYOUT,                        \
						  (enum wire_role)ROLE,                            \
						  false,                                           \
						  COUNT_OF(fields),                                \
						  fields };                                        \
	return &info;                                                                              \
	}
#define RESERVED(number, NAME, name, from_, role_, doc)                                            \
	static const struct message_info *info_##name(void)                                        \
	{                                                                                          \
		static const struct message_info info = { MESSAGE_##NAME,                          \
							  #NAME,                                   \
							  doc,                                     \
							  WIRE_FROM_##from_,                       \
							  WIRE_LAYOUT_ARRAY,                       \
							  WIRE_ROLE_##role_,                       \
							  true,                                    \
							  0,                                       \
							  NULL };                                  \
		return &info;                                                                      \
	}
#include "protocol/messages.def"
#undef ANY_FIELD

typedef const struct message_info *info_getter(void);

/* In the order of the list. */
static info_getter *const TABLE[] = {
#define MESSAGE(number, NAME, name, from, layout, role, doc) info_##name,
#define RESERVED(number, NAME, name, from, role, doc) info_##name,
#include "protocol/messages.def"
};

/* Indexed by number, because each message is looked up several times. */
static info_getter *const BY_NUMBER[128] = {
#define MESSAGE(number, NAME, name, from, layout, role, doc) [number] = info_##name,
#define RESERVED(number, NAME, name, from, role, doc) [number] = info_##name,
#include "protocol/messages.def"
};

const struct message_info *message_info(uint32_t type)
{
	info_getter *info = type < COUNT_OF(BY_NUMBER) ? BY_NUMBER[type] : NULL;
	return info != NULL ? info() : NULL;
}

const struct message_info *message_info_at(size_t index)
{
	return index < COUNT_OF(TABLE) ? TABLE[index]() : NULL;
}

static void fallback_set(struct message *self, const struct message_field *field)
{
	void *at = (uint8_t *)self + field->offset;
	switch (field->kind) {
	case WIRE_KIND_UINT:
		*(uint64_t *)at = (uint64_t)field->fallback;
		return;
	case WIRE_KIND_INT:
		*(int64_t *)at = field->fallback;
		return;
	case WIRE_KIND_REAL:
		*(double *)at = (double)field->fallback;
		return;
	default:
		return;
	}
}

void message_init(struct message *self, enum message_type type)
{
	memset(self, 0, sizeof *self);
	self->type = type;
	const struct message_info *info = message_info(type);
	if (info == NULL)
		return;
	for (uint32_t i = 0; i < info->field_count; i++) {
		if (!info->fields[i].needed)
			fallback_set(self, &info->fields[i]);
	}
}

static const char *const ROLES[] = { "nobody", "observer", "player", "controller", "admin" };

const char *wire_role_name(enum wire_role role)
{
	return (unsigned)role < COUNT_OF(ROLES) ? ROLES[role] : ROLES[0];
}

enum status wire_role_parse(struct wire_slice name, enum wire_role *role)
{
	for (unsigned i = WIRE_ROLE_OBSERVER; i < COUNT_OF(ROLES); i++) {
		if (name.bytes == strlen(ROLES[i]) && memcmp(name.at, ROLES[i], name.bytes) == 0) {
			*role = (enum wire_role)i;
			return STATUS_OK;
		}
	}
	return STATUS_RANGE;
}

bool wire_role_may(enum wire_role role, uint32_t type)
{
	const struct message_info *info = message_info(type);
	if (info == NULL || info->reserved)
		return true;
	return (info->from & WIRE_FROM_CLIENT) != 0 && role >= info->role;
}

struct wire_slice wire_text(const char *text)
{
	return (struct wire_slice){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

bool wire_status_closes(enum status status)
{
	switch (status) {
	case STATUS_HANDSHAKE:
	case STATUS_SLOW:
	case STATUS_DRAINING:
	case STATUS_FRAMING:
	case STATUS_AUTH:
		return true;
	default:
		return false;
	}
}

const char *wire_status_goodbye(enum status status)
{
	switch (status) {
	case STATUS_CLOSED:
		return "a PING was not answered in time";
	case STATUS_HANDSHAKE:
		return "before WELCOME: no HELLO in time, another message, another major version";
	case STATUS_SLOW:
		return "the client does not read, and its queue is full";
	case STATUS_DRAINING:
		return "the server shuts down";
	case STATUS_FRAMING:
		return "the bytes are not frames, or a frame does not end in time";
	case STATUS_FORBIDDEN:
		return "an administrator ended the session";
	case STATUS_BUSY:
		return "every message of five seconds was refused, or too many connections of one address";
	case STATUS_AUTH:
		return "a token was not accepted";
	default:
		return NULL;
	}
}
