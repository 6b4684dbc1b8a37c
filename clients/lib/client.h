/* client.h: the state of a client and its internal functions, shared by the files of this room only. */
#ifndef CAIRN_CLIENTS_LIB_CLIENT_H
#define CAIRN_CLIENTS_LIB_CLIENT_H

#include "clients/lib/cairn.h"
#include "clients/lib/connection.h"
#include "protocol/handshake.h"
#include "server/base/array.h"
#include "server/base/bytes.h"

struct client_subscription {
	uint64_t sub;
	uint64_t events;    /* events received so far */
	struct bytes focus; /* the last FOCUS, packed; sent again after a resume */
	struct mirror mirror;
};

/* A batch without a result yet; it is sent again after a resume. */
struct unanswered {
	uint32_t world;
	uint64_t batch;
	struct bytes frame; /* with its header */
};

/* The answer a call is waiting for. */
struct expected {
	enum message_type type, request; /* `type` NONE: no call waits */
	uint64_t ref;
	bool arrived;
	struct message message; /* borrows from the connection's buffer */
};

/* Numbering of batches and STEPs in one world. */
struct batch_counter {
	uint32_t world;
	uint64_t batch, step;
};

struct cairn {
	struct cairn_options options;
	struct connection connection;
	struct cairn_session session;
	uint64_t last_ref;
	struct expected expected;
	struct {
		uint32_t world;
		uint64_t batch; /* 0: no call waits */
		bool done;
		bool refused; /* by an ERROR; the number stays unused */
		struct wire_result result;
	} waiting;
	struct client_subscription subscriptions[CAIRN_SUBSCRIPTIONS_MAX];
	uint32_t subscription_count;
	struct batch_counter *batches; /* owned */
	uint32_t batch_count, batch_capacity;
	uint64_t messages, frames, resyncs; /* handled so far */
	/* Needed to resume. */
	char address[256], redirect[256];
	uint8_t token[16];
	uint32_t token_bytes, retry_ms;
	ARRAY_OF(struct unanswered) unanswered; /* oldest first */
};

enum { CLIENT_UNANSWERED_MAX = WIRE_RESULTS_KEPT };
/* Stores a batch until its result arrives. A batch is not stored, and so not sent again after a resume,
 * if the list is full or no memory is left. */
void client_store_batch(struct cairn *self, const struct message *commands);
/* Removes a stored batch, because its result has arrived or the server refused it. */
void client_forget_batch(struct cairn *self, uint32_t world, uint64_t batch);
void client_subscription_release(struct client_subscription *subscription);
/* The handshake on an open connection. With `resumes` it resumes the old session. */
MUST_CHECK enum status client_handshake(struct cairn *self, bool resumes, struct reason *why);
/* NULL if no subscription has the number. */
struct client_subscription *client_find_subscription(struct cairn *self, uint64_t sub);
/* The ref, id or request by which an answer names its request. */
uint64_t client_ref(const struct message *answer);
/* Waits for the (next) answer to a request that has been sent. */
MUST_CHECK enum status client_wait_answer(struct cairn *self, enum message_type answer,
					  const struct message *request, struct message *out,
					  struct reason *why);
/* Waits for the result named in self->waiting. */
MUST_CHECK enum status client_wait_result(struct cairn *self, struct reason *why);

#endif
