/* See tls_stream.h. OpenSSL runs between two BIOs in memory: bytes from below go into `in`, and after each
 * call the bytes in `out` are written to the stream below. */
#include "server/io/tls_stream.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/io/secret_file.h"

enum {
	RAW_BYTES = 16 << 10,
	RECORD_BYTES = 16 << 10, /* the most plain text of one record (RFC 8446) */
	RECORD_COST = 64,	 /* upper bound of the overhead of one record */
	SEALED_BYTES = 128 << 10 /* of a frame below */
};

struct tls_context {
	SSL_CTX *ssl;
	struct tls_counters counters;
	uint8_t plain[RECORD_BYTES]; /* small frames that share a record */
};

enum tls_state { TLS_NEW, TLS_OPEN, TLS_FINISHING, TLS_CLOSING };

struct tls_stream {
	struct stream stream;
	struct stream *under;
	struct tls_context *context;
	struct frame_pool *pool;
	SSL *ssl;
	BIO *in, *out; /* owned by the SSL */
	enum tls_state state;
	enum status why;
	bool established; /* the handshake is complete */
	bool paused;	  /* the owner had no space */
	uint8_t raw[RAW_BYTES];
};

static struct tls_stream *tls_of(const struct stream *stream)
{
	return (struct tls_stream *)stream;
}

/* ---- certificates ---------------------------------------------------------------------------- */
static enum status refuse_file(struct reason *why, enum status status, const char *field,
			       const char *what)
{
	char text[80] = "";
	ERR_error_string_n(ERR_get_error(), text, sizeof text);
	ERR_clear_error();
	return reason_set(why, status, -1, field, "%s: %s", what, text);
}

static enum status make_ssl(SSL_CTX **out, struct reason *why)
{
	SSL_CTX *ssl = SSL_CTX_new(TLS_server_method());
	if (ssl == NULL || SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) != 1) {
		SSL_CTX_free(ssl);
		return refuse_file(why, STATUS_NO_MEMORY, "tls", "OpenSSL does not start");
	}
	SSL_CTX_set_num_tickets(ssl, 0);
	SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
	*out = ssl;
	return STATUS_OK;
}

/* A daemon cannot ask for a passphrase: an encrypted key is refused. */
static int no_passphrase(char *out, int bytes, int writing, void *context)
{
	UNUSED(out);
	UNUSED(bytes);
	UNUSED(writing);
	UNUSED(context);
	return 0;
}

/* The file must not be readable by other users. */
static enum status load_key(SSL_CTX *ssl, const char *path, struct reason *why)
{
	struct bytes text = { 0 };
	enum status status = secret_file_read(path, TLS_KEY_FILE_MAX, "tls-key", &text, why);
	if (status == STATUS_OK) {
		BIO *in = BIO_new_mem_buf(text.data, (int)text.count);
		EVP_PKEY *key =
			in != NULL ? PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL) : NULL;
		if (key == NULL || SSL_CTX_use_PrivateKey(ssl, key) != 1) {
			bool other =
				ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
			status = refuse_file(why, other ? STATUS_RANGE : STATUS_TYPE, "tls-key",
					     path);
		}
		EVP_PKEY_free(key);
		BIO_free(in);
	}
	if (text.count > 0)
		OPENSSL_cleanse(text.data, text.count);
	bytes_release(&text);
	return status;
}

static enum status load_files(SSL_CTX *ssl, const char *certificate, const char *key,
			      struct reason *why)
{
	if (SSL_CTX_use_certificate_chain_file(ssl, certificate) != 1)
		return refuse_file(why, STATUS_TYPE, "tls-cert", certificate);
	return load_key(ssl, key, why);
}

static enum status make_server(const char *certificate, const char *key, SSL_CTX **out,
			       struct reason *why)
{
	enum status status = make_ssl(out, why);
	if (status == STATUS_OK && (status = load_files(*out, certificate, key, why)) != STATUS_OK)
		SSL_CTX_free(*out);
	return status;
}

enum status tls_context_create(const char *certificate, const char *key, struct tls_context **out,
			       struct reason *why)
{
	SSL_CTX *ssl;
	enum status status = make_server(certificate, key, &ssl, why);
	if (status != STATUS_OK)
		return status;
	struct tls_context *self = heap_alloc_zero(sizeof *self);
	if (self == NULL) {
		SSL_CTX_free(ssl);
		return reason_set(why, STATUS_NO_MEMORY, -1, "tls", "out of memory");
	}
	self->ssl = ssl;
	*out = self;
	return STATUS_OK;
}

enum status tls_context_reload(struct tls_context *self, const char *certificate, const char *key,
			       struct reason *why)
{
	SSL_CTX *ssl;
	enum status status = make_server(certificate, key, &ssl, why);
	if (status != STATUS_OK)
		return status;
	/* Streams keep a reference to the context that they were created with. */
	SSL_CTX_free(self->ssl);
	self->ssl = ssl;
	return STATUS_OK;
}

void tls_context_destroy(struct tls_context *self)
{
	if (self == NULL)
		return;
	SSL_CTX_free(self->ssl);
	heap_free(self);
}

const struct tls_counters *tls_context_counters(const struct tls_context *self)
{
	return &self->counters;
}

/* ---- sending --------------------------------------------------------------------------------- */
static void end_stream(struct tls_stream *self, enum status why)
{
	if (self->state == TLS_CLOSING)
		return;
	self->state = TLS_CLOSING;
	self->why = why;
	stream_close(self->under);
}

/* Writes the bytes that OpenSSL has encrypted to the stream below. */
static void send_sealed(struct tls_stream *self)
{
	size_t pending;
	while (self->state != TLS_CLOSING && (pending = BIO_ctrl_pending(self->out)) > 0) {
		struct frame *frame;
		uint32_t room = (uint32_t)MIN_OF(pending, (size_t)SEALED_BYTES);
		if (frame_create(self->pool, room, &frame) != STATUS_OK) {
			end_stream(self, STATUS_NO_MEMORY);
			return;
		}
		int got = BIO_read(self->out, frame->data, (int)room);
		frame->bytes = got > 0 ? (uint32_t)got : 0;
		enum status status =
			frame->bytes > 0 ? stream_write(self->under, &frame, 1) : STATUS_IO;
		frame_release(frame);
		/* The peer would reject the next record after a missing one, so the stream fails. */
		if (status != STATUS_OK)
			end_stream(self, STATUS_CLOSED);
	}
}

static bool seal(struct tls_stream *self, const uint8_t *data, size_t bytes)
{
	return bytes == 0 || SSL_write(self->ssl, data, (int)bytes) == (int)bytes;
}

/* Small frames share a record; a large frame has its own. */
static bool seal_frames(struct tls_stream *self, struct frame *const frames[], uint32_t count)
{
	uint8_t *plain = self->context->plain;
	size_t used = 0;
	bool sealed = true;
	for (uint32_t i = 0; i < count && sealed; i++) {
		if (used + frames[i]->bytes > RECORD_BYTES) {
			sealed = seal(self, plain, used);
			used = 0;
		}
		if (frames[i]->bytes > RECORD_BYTES) {
			sealed = sealed && seal(self, frames[i]->data, frames[i]->bytes);
			continue;
		}
		memcpy(plain + used, frames[i]->data, frames[i]->bytes);
		used += frames[i]->bytes;
	}
	return sealed && seal(self, plain, used);
}

static enum status tls_write(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct tls_stream *self = tls_of(stream);
	size_t bytes = 0;
	if ((self->state != TLS_OPEN && self->state != TLS_NEW) || !self->established)
		return STATUS_CLOSED;
	for (uint32_t i = 0; i < count; i++)
		bytes += frames[i]->bytes + (frames[i]->bytes / RECORD_BYTES + 1) * RECORD_COST;
	if (bytes + stream_queued(self->under) > stream->io->limits.queue_bytes) {
		stream->io->counters.writes_refused++;
		return STATUS_FULL;
	}
	ERR_clear_error();
	if (!seal_frames(self, frames, count))
		end_stream(self, STATUS_IO);
	send_sealed(self);
	return self->state == TLS_CLOSING ? STATUS_CLOSED : STATUS_OK;
}

static size_t tls_queued(const struct stream *stream)
{
	return stream_queued(tls_of(stream)->under);
}

/* ---- receiving ------------------------------------------------------------------------------- */
/* Ends a stream whose peer violated the protocol or has closed. A pending alert is still sent. */
static void fail_stream(struct tls_stream *self, int result)
{
	int error = SSL_get_error(self->ssl, result);
	if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
		return;
	send_sealed(self);
	if (self->state == TLS_CLOSING)
		return;
	if (!self->established)
		self->context->counters.failures++;
	self->why = error == SSL_ERROR_ZERO_RETURN ? STATUS_OK : STATUS_CLOSED;
	self->state = TLS_FINISHING;
	stream_finish(self->under);
}

static bool shake(struct tls_stream *self)
{
	if (self->established)
		return true;
	int result = SSL_do_handshake(self->ssl);
	if (result != 1) {
		fail_stream(self, result);
		return false;
	}
	self->established = true;
	self->context->counters.handshakes++;
	if (self->stream.events != NULL && self->stream.events->connected != NULL)
		self->stream.events->connected(self->stream.context);
	return true;
}

/* Passes decrypted bytes to the owner, as far as it has space. */
static void deliver_plain(struct tls_stream *self)
{
	ERR_clear_error();
	if (shake(self)) {
		while (self->state == TLS_OPEN) {
			uint8_t *into = NULL;
			size_t room = self->stream.events->space(self->stream.context, &into);
			self->paused = room == 0;
			if (self->paused)
				break;
			int got = SSL_read(self->ssl, into, (int)MIN_OF(room, (size_t)1 << 30));
			if (got <= 0) {
				fail_stream(self, got);
				break;
			}
			self->stream.events->received(self->stream.context, (size_t)got);
			ERR_clear_error();
		}
	}
	send_sealed(self);
}

static size_t under_space(void *context, uint8_t **into)
{
	struct tls_stream *self = context;
	*into = self->raw;
	return self->paused ? 0 : sizeof self->raw;
}

static void under_received(void *context, size_t bytes)
{
	struct tls_stream *self = context;
	if (self->state != TLS_OPEN && self->state != TLS_NEW)
		return;
	if (BIO_write(self->in, self->raw, (int)bytes) != (int)bytes) {
		end_stream(self, STATUS_NO_MEMORY);
		return;
	}
	deliver_plain(self);
}

static void under_drained(void *context)
{
	struct tls_stream *self = context;
	if (self->state == TLS_OPEN && self->stream.events->drained != NULL)
		self->stream.events->drained(self->stream.context);
}

static void under_closed(void *context, enum status why)
{
	struct tls_stream *self = context;
	bool told = self->state == TLS_CLOSING || self->state == TLS_FINISHING;
	self->state = TLS_CLOSING;
	if (self->stream.events != NULL)
		self->stream.events->closed(self->stream.context, told ? self->why : why);
	SSL_free(self->ssl);
	heap_free(self);
}

static const struct stream_events UNDER = {
	.space = under_space,
	.received = under_received,
	.drained = under_drained,
	.closed = under_closed,
};

/* ---- life ------------------------------------------------------------------------------------ */
static void tls_start(struct stream *stream, const struct stream_events *events, void *context)
{
	struct tls_stream *self = tls_of(stream);
	stream->events = events;
	stream->context = context;
	if (self->state == TLS_NEW)
		self->state = TLS_OPEN;
}

static void tls_resume(struct stream *stream)
{
	struct tls_stream *self = tls_of(stream);
	if (!self->paused || self->state != TLS_OPEN)
		return;
	self->paused = false;
	deliver_plain(self);
	if (!self->paused)
		stream_resume(self->under);
}

static void tls_finish(struct stream *stream)
{
	struct tls_stream *self = tls_of(stream);
	ASSERT(stream->events != NULL);
	if (self->state != TLS_OPEN)
		return;
	ERR_clear_error();
	if (self->established)
		(void)SSL_shutdown(self->ssl);
	send_sealed(self);
	if (self->state != TLS_OPEN)
		return;
	self->state = TLS_FINISHING;
	self->paused = false;
	stream_finish(self->under);
}

static void tls_close(struct stream *stream)
{
	end_stream(tls_of(stream), STATUS_OK);
}

static void tls_peer(const struct stream *stream, struct peer *out)
{
	stream_peer(tls_of(stream)->under, out);
	out->secure = true;
	if (strncmp(out->text, "tcp:", 4) == 0)
		memcpy(out->text, "tls", 3);
}

static const struct stream_ops TLS_OPS = {
	.start = tls_start,
	.write = tls_write,
	.queued = tls_queued,
	.resume = tls_resume,
	.finish = tls_finish,
	.close = tls_close,
	.peer = tls_peer,
};

static bool make_session(struct tls_stream *self, const struct tls_context *context)
{
	self->ssl = SSL_new(context->ssl);
	self->in = BIO_new(BIO_s_mem());
	self->out = BIO_new(BIO_s_mem());
	if (self->ssl == NULL || self->in == NULL || self->out == NULL) {
		BIO_free(self->in);
		BIO_free(self->out);
		SSL_free(self->ssl);
		return false;
	}
	/* An empty buffer is not the end of file: more bytes may arrive. */
	BIO_set_mem_eof_return(self->in, -1);
	SSL_set_bio(self->ssl, self->in, self->out);
	SSL_set_accept_state(self->ssl);
	return true;
}

struct stream *tls_stream_create(struct tls_context *context, struct stream *under,
				 struct frame_pool *pool)
{
	struct tls_stream *self = heap_alloc_zero(sizeof *self);
	if (self == NULL || !make_session(self, context)) {
		heap_free(self);
		stream_close(under);
		return NULL;
	}
	self->stream.io = under->io;
	self->stream.ops = &TLS_OPS;
	self->under = under;
	self->context = context;
	self->pool = pool;
	context->counters.streams++;
	stream_start(under, &UNDER, self);
	return &self->stream;
}
