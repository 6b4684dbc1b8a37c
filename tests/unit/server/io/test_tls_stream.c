/* TLS over the simulated network, which cuts reads and writes anywhere. The peer is written by hand
 * on OpenSSL. */
#include <check.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/io/tls_stream.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum { ROOM = 4 << 20 };
#define HERE "tcp:127.0.0.1:7400"

/* ---- a self-signed certificate ----------------------------------------------------------------- */
static char cert_path[64], key_path[64], other_path[64];

static EVP_PKEY *write_key(const char *path)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	FILE *file = fopen(path, "w");
	ck_assert_int_eq(fchmod(fileno(file), 0600), 0);
	ck_assert_int_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
	fclose(file);
	return key;
}

static void write_certificate(const char *path, EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_set_version(cert, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), -60);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_set_pubkey(cert, key);
	X509_NAME *name = X509_get_subject_name(cert);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"cairn", -1, -1,
				   0);
	X509_set_issuer_name(cert, name);
	ck_assert_int_gt(X509_sign(cert, key, EVP_sha256()), 0);
	FILE *file = fopen(path, "w");
	/* The certificate is readable by others, and some tests pass its path as that of a key. */
	ck_assert_int_eq(fchmod(fileno(file), 0600), 0);
	ck_assert_int_eq(PEM_write_X509(file, cert), 1);
	fclose(file);
	X509_free(cert);
}

/* ---- two ends ---------------------------------------------------------------------------------- */
struct owner {
	struct stream *stream;
	uint8_t *bytes;
	size_t count, window;
	uint32_t closed, drained;
	enum status why;
};

/* The client: OpenSSL over a plain stream of the simulation. */
struct guest {
	struct stream *stream;
	SSL_CTX *context;
	SSL *ssl;
	uint8_t raw[3000];
	uint8_t *bytes;
	size_t count;
	bool open, ended, failed;
	uint32_t closed;
};

static struct io_sim *sim;
static struct frame_pool *pool;
static struct tls_context *context;
static struct owner owner;
static struct guest guest;
static bool owner_writes_first; /* the owner writes before it has received anything */

static size_t owner_space(void *at, uint8_t **into)
{
	struct owner *self = at;
	*into = self->bytes + self->count;
	return MIN_OF(self->window, ROOM - self->count);
}

static void owner_received(void *at, size_t bytes)
{
	((struct owner *)at)->count += bytes;
}

static void owner_drained(void *at)
{
	((struct owner *)at)->drained++;
}

static void owner_closed(void *at, enum status why)
{
	struct owner *self = at;
	self->closed++;
	self->why = why;
	self->stream = NULL;
}

static const struct stream_events OWNER = { .space = owner_space,
					    .received = owner_received,
					    .drained = owner_drained,
					    .closed = owner_closed };

static void write_bytes(struct stream *stream, const void *data, size_t bytes)
{
	struct frame *frame;
	ck_assert_int_eq(frame_create(pool, (uint32_t)bytes, &frame), STATUS_OK);
	memcpy(frame->data, data, bytes);
	frame->bytes = (uint32_t)bytes;
	enum status status = stream_write(stream, &frame, 1);
	ck_assert(status == STATUS_OK || status == STATUS_CLOSED);
	frame_release(frame);
}

static void guest_send_sealed(struct guest *self)
{
	uint8_t sealed[32768];
	int got;
	while (self->stream != NULL &&
	       (got = BIO_read(SSL_get_wbio(self->ssl), sealed, sizeof sealed)) > 0)
		write_bytes(self->stream, sealed, (size_t)got);
}

static void guest_step(struct guest *self)
{
	int got = SSL_is_init_finished(self->ssl) ? 1 : SSL_do_handshake(self->ssl);
	self->open = self->open || got == 1;
	while (self->open && (got = SSL_read(self->ssl, self->bytes + self->count, ROOM / 2)) > 0)
		self->count += (size_t)got;
	int error = SSL_get_error(self->ssl, got);
	self->ended = self->ended || error == SSL_ERROR_ZERO_RETURN;
	self->failed = self->failed || error == SSL_ERROR_SSL;
	guest_send_sealed(self);
}

static size_t guest_space(void *at, uint8_t **into)
{
	struct guest *self = at;
	*into = self->raw;
	return sizeof self->raw;
}

static void guest_received(void *at, size_t bytes)
{
	struct guest *self = at;
	BIO_write(SSL_get_rbio(self->ssl), self->raw, (int)bytes);
	guest_step(self);
}

static void guest_connected(void *at)
{
	guest_step(at);
}

static void guest_closed(void *at, enum status why)
{
	struct guest *self = at;
	UNUSED(why);
	self->stream = NULL;
	self->closed++;
}

static const struct stream_events GUEST = { .connected = guest_connected,
					    .space = guest_space,
					    .received = guest_received,
					    .closed = guest_closed };

static void accepted(void *at, struct stream *under)
{
	UNUSED(at);
	owner.stream = tls_stream_create(context, under, pool);
	ck_assert_ptr_nonnull(owner.stream);
	stream_start(owner.stream, &OWNER, &owner);
	if (owner_writes_first)
		write_bytes(owner.stream, "too soon", 8);
}

static void setup(void)
{
	struct reason why;
	struct io_listener *listener;
	struct address address;
	struct io_sim_options options = io_sim_options_default(check_seed());
	snprintf(cert_path, sizeof cert_path, "/tmp/cairn-tls-%d.crt", (int)getpid());
	snprintf(key_path, sizeof key_path, "/tmp/cairn-tls-%d.key", (int)getpid());
	snprintf(other_path, sizeof other_path, "/tmp/cairn-tls-%d.other", (int)getpid());
	EVP_PKEY *key = write_key(key_path);
	write_certificate(cert_path, key);
	EVP_PKEY_free(key);
	EVP_PKEY_free(write_key(other_path));
	options.quiet = true;
	ck_assert_int_eq(io_sim_create(&options, &sim), STATUS_OK);
	ck_assert_int_eq(frame_pool_create(1 << 20, &pool), STATUS_OK);
	ck_assert_int_eq(tls_context_create(cert_path, key_path, &context, &why), STATUS_OK);
	memset(&owner, 0, sizeof owner);
	memset(&guest, 0, sizeof guest);
	owner.bytes = malloc(ROOM);
	guest.bytes = malloc(ROOM);
	owner.window = 1000;
	ck_assert_int_eq(address_parse(HERE, &address, &why), STATUS_OK);
	ck_assert_int_eq(io_listen(io_sim_host(sim, 0), &address, accepted, NULL, &listener, &why),
			 STATUS_OK);
}

static void teardown(void)
{
	io_sim_destroy(sim);
	tls_context_destroy(context);
	frame_pool_destroy(pool);
	SSL_free(guest.ssl);
	SSL_CTX_free(guest.context);
	free(owner.bytes);
	free(guest.bytes);
	unlink(cert_path);
	unlink(key_path);
	unlink(other_path);
}

static void run_for_ms(uint64_t ms)
{
	io_sim_run_until(sim, io_sim_now(sim) + ms * NS_PER_MS);
}

static void connect_guest(int version_max)
{
	struct address address;
	guest.context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_max_proto_version(guest.context, version_max);
	SSL_CTX_set_verify(guest.context, SSL_VERIFY_PEER, NULL);
	ck_assert_int_eq(SSL_CTX_load_verify_locations(guest.context, cert_path, NULL), 1);
	guest.ssl = SSL_new(guest.context);
	SSL_set_bio(guest.ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	BIO_set_mem_eof_return(SSL_get_rbio(guest.ssl), -1);
	SSL_set_connect_state(guest.ssl);
	ck_assert_int_eq(address_parse(HERE, &address, NULL), STATUS_OK);
	ck_assert_int_eq(io_connect(io_sim_host(sim, 1), &address, &GUEST, &guest, &guest.stream),
			 STATUS_OK);
	run_for_ms(200);
}

static void guest_write(const void *data, size_t bytes)
{
	ck_assert_int_eq(SSL_write(guest.ssl, data, (int)bytes), (int)bytes);
	guest_send_sealed(&guest);
}

static void fill(uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)(i * 7 + i / 251);
}

/* ---- properties -------------------------------------------------------------------------------- */
START_TEST(bytes_arrive_in_both_directions_in_any_pieces)
{
	static uint8_t data[300000];
	struct peer peer;
	fill(data, sizeof data);
	connect_guest(TLS1_3_VERSION);
	ck_assert(guest.open);
	ck_assert_uint_eq(tls_context_counters(context)->handshakes, 1);
	stream_peer(owner.stream, &peer);
	ck_assert(peer.secure && peer.local);
	guest_write(data, sizeof data);
	run_for_ms(3000);
	ck_assert_uint_eq(owner.count, sizeof data);
	ck_assert_mem_eq(owner.bytes, data, sizeof data);
	struct frame *frames[3];
	static const uint32_t SIZES[3] = { 10, 200000, 40 };
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(frame_create(pool, SIZES[i], &frames[i]), STATUS_OK);
		memcpy(frames[i]->data, data, SIZES[i]);
		frames[i]->bytes = SIZES[i];
	}
	ck_assert_int_eq(stream_write(owner.stream, frames, 3), STATUS_OK);
	run_for_ms(5000);
	ck_assert_uint_eq(guest.count, 10 + 200000 + 40);
	ck_assert_mem_eq(guest.bytes + 10, data, 200000);
	ck_assert_mem_eq(guest.bytes + 200010, data, 40);
	for (int i = 0; i < 3; i++)
		frame_release(frames[i]);
}
END_TEST

START_TEST(older_versions_are_refused_with_an_alert)
{
	connect_guest(TLS1_2_VERSION);
	run_for_ms(3000);
	ck_assert(!guest.open && guest.failed);
	ck_assert_uint_eq(owner.closed, 1);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(tls_context_counters(context)->failures, 1);
	ck_assert_uint_eq(tls_context_counters(context)->handshakes, 0);
}
END_TEST

START_TEST(plain_text_is_refused)
{
	struct address address;
	guest.context = SSL_CTX_new(TLS_client_method());
	guest.ssl = SSL_new(guest.context);
	SSL_set_bio(guest.ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	static const struct stream_events MUTE = { .space = guest_space,
						   .received = guest_received,
						   .closed = guest_closed };
	ck_assert_int_eq(address_parse(HERE, &address, NULL), STATUS_OK);
	ck_assert_int_eq(io_connect(io_sim_host(sim, 1), &address, &MUTE, &guest, &guest.stream),
			 STATUS_OK);
	run_for_ms(50);
	write_bytes(guest.stream, "\xc6\x00\x00\x00\x05hello", 10);
	run_for_ms(3000);
	ck_assert_uint_eq(owner.closed, 1);
	ck_assert_uint_eq(owner.count, 0);
}
END_TEST

START_TEST(the_owner_gets_nothing_before_the_handshake_is_complete)
{
	owner_writes_first = true;
	connect_guest(TLS1_3_VERSION);
	ck_assert(guest.open);
	ck_assert_uint_eq(guest.count, 0);
	write_bytes(owner.stream, "now", 3);
	run_for_ms(1000);
	ck_assert_uint_eq(guest.count, 3);
}
END_TEST

START_TEST(an_owner_without_space_stops_the_peer_and_gets_everything_later)
{
	static uint8_t data[400000];
	fill(data, sizeof data);
	connect_guest(TLS1_3_VERSION);
	owner.window = 0;
	guest_write(data, sizeof data);
	run_for_ms(2000);
	ck_assert_uint_eq(owner.count, 0);
	owner.window = 5000;
	stream_resume(owner.stream);
	run_for_ms(5000);
	ck_assert_uint_eq(owner.count, sizeof data);
	ck_assert_mem_eq(owner.bytes, data, sizeof data);
}
END_TEST

START_TEST(bytes_before_the_end_arrive_and_a_cut_is_distinguished_from_an_end)
{
	connect_guest(TLS1_3_VERSION);
	write_bytes(owner.stream, "goodbye", 7);
	stream_finish(owner.stream);
	run_for_ms(4000);
	ck_assert_uint_eq(guest.count, 7);
	ck_assert(guest.ended && !guest.failed);
	ck_assert_uint_eq(owner.closed, 1);
}
END_TEST

START_TEST(a_peer_that_sends_close_notify_closes_without_an_error)
{
	connect_guest(TLS1_3_VERSION);
	guest_write("x", 1);
	SSL_shutdown(guest.ssl);
	guest_send_sealed(&guest);
	run_for_ms(4000);
	ck_assert_uint_eq(owner.count, 1);
	ck_assert_uint_eq(owner.closed, 1);
	ck_assert_int_eq(owner.why, STATUS_OK);
}
END_TEST

START_TEST(a_changed_bit_closes_the_stream_and_is_not_delivered)
{
	connect_guest(TLS1_3_VERSION);
	uint8_t sealed[4096];
	ck_assert_int_eq(SSL_write(guest.ssl, "secret", 6), 6);
	int got = BIO_read(SSL_get_wbio(guest.ssl), sealed, sizeof sealed);
	sealed[got - 1] ^= 1;
	write_bytes(guest.stream, sealed, (size_t)got);
	run_for_ms(4000);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(owner.closed, 1);
	ck_assert_int_eq(owner.why, STATUS_CLOSED);
}
END_TEST

START_TEST(queued_bytes_are_bounded)
{
	static uint8_t data[200000];
	connect_guest(TLS1_3_VERSION);
	io_sim_stall(guest.stream, true);
	struct frame *frame;
	ck_assert_int_eq(frame_create(pool, sizeof data, &frame), STATUS_OK);
	memcpy(frame->data, data, sizeof data);
	frame->bytes = sizeof data;
	uint32_t taken = 0;
	while (taken < 100 && stream_write(owner.stream, &frame, 1) == STATUS_OK)
		taken++;
	ck_assert_uint_gt(taken, 2);
	ck_assert_uint_lt(taken, 20);
	ck_assert_uint_le(stream_queued(owner.stream), io_sim_host(sim, 0)->limits.queue_bytes);
	frame_release(frame);
	io_sim_stall(guest.stream, false);
	run_for_ms(20000);
	ck_assert_uint_eq(guest.count, (size_t)taken * sizeof data);
	/* The network delivers in pieces, so the queue of the plain stream may drain several times. */
	ck_assert_uint_ge(owner.drained, 1);
}
END_TEST

START_TEST(an_invalid_certificate_is_named_and_reloading_it_changes_nothing)
{
	struct reason why;
	struct tls_context *none;
	ck_assert_int_eq(tls_context_create("/nonexistent", key_path, &none, &why), STATUS_TYPE);
	ck_assert_str_eq(why.field, "tls-cert");
	ck_assert_int_eq(tls_context_create(cert_path, cert_path, &none, &why), STATUS_TYPE);
	ck_assert_str_eq(why.field, "tls-key");
	ck_assert_int_eq(tls_context_reload(context, cert_path, other_path, &why), STATUS_RANGE);
	connect_guest(TLS1_3_VERSION);
	ck_assert(guest.open);
	/* A reloaded certificate serves later connections; existing connections stay open. */
	/* A key file that others may read is refused. */
	ck_assert_int_eq(chmod(key_path, 0644), 0);
	ck_assert_int_eq(tls_context_reload(context, cert_path, key_path, &why), STATUS_FORBIDDEN);
	ck_assert_str_eq(why.field, "tls-key");
	ck_assert_int_eq(chmod(key_path, 0600), 0);
	ck_assert_int_eq(tls_context_reload(context, cert_path, key_path, &why), STATUS_OK);
	guest_write("x", 1);
	run_for_ms(1000);
	ck_assert_uint_eq(owner.count, 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tls_stream");
	TCase *cases = tcase_create("tls");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, bytes_arrive_in_both_directions_in_any_pieces);
	tcase_add_test(cases, older_versions_are_refused_with_an_alert);
	tcase_add_test(cases, plain_text_is_refused);
	tcase_add_test(cases, the_owner_gets_nothing_before_the_handshake_is_complete);
	tcase_add_test(cases, an_owner_without_space_stops_the_peer_and_gets_everything_later);
	tcase_add_test(cases, bytes_before_the_end_arrive_and_a_cut_is_distinguished_from_an_end);
	tcase_add_test(cases, a_peer_that_sends_close_notify_closes_without_an_error);
	tcase_add_test(cases, a_changed_bit_closes_the_stream_and_is_not_delivered);
	tcase_add_test(cases, queued_bytes_are_bounded);
	tcase_add_test(cases, an_invalid_certificate_is_named_and_reloading_it_changes_nothing);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
