/* address.h: where to listen or connect, as people write it.
 *
 *   unix:/run/cairn.sock   a Unix stream socket
 *   tcp:127.0.0.1:7411     an IPv4 address; port 0 lets the system choose
 *   tcp:[::1]:7411         an IPv6 address
 *   tcp:localhost:7411     the same as 127.0.0.1; no other name is looked up
 *
 * options.h restricts the addresses at which a server may listen.
 */
#ifndef CAIRN_IO_ADDRESS_H
#define CAIRN_IO_ADDRESS_H

#include "server/base/base.h"
#include "server/base/status.h"

enum address_kind { ADDRESS_UNIX, ADDRESS_TCP4, ADDRESS_TCP6 };

enum {
	ADDRESS_PATH_MAX = 107, /* the kernel's limit, without the terminating zero */
	ADDRESS_TEXT_MAX = 128
};

struct address {
	enum address_kind kind;
	uint16_t port;			 /* TCP only */
	uint8_t octets[16];		 /* TCP only: 4 or 16 of them, network order */
	char path[ADDRESS_PATH_MAX + 1]; /* Unix only */
};

/* Reads `text` (borrowed). On refusal `out` is unchanged and `why` (may be NULL) is set: TYPE not
 * an address, RANGE port or path length. */
MUST_CHECK enum status address_parse(const char *text, struct address *out, struct reason *why);

/* Checks an address for clients to connect to: unix:PATH, tcp:HOST:PORT, tls:HOST:PORT, ws://HOST:PORT
 * or wss://HOST:PORT, the last two also with a path; HOST may be a name. RANGE. */
MUST_CHECK enum status address_check_target(const char *text, const char *field,
					    struct reason *why);

/* An IPv4 address in the form of an IPv6 one (::ffff:a.b.c.d), as listeners for both report it,
 * becomes the IPv4 address; others are unchanged. */
void address_unmap(struct address *address);

/* True: only this machine can reach it: 127.0.0.0/8, ::1, a Unix socket. */
bool address_is_loopback(const struct address *address);

/* Writes the text form, terminated by a zero, at most ADDRESS_TEXT_MAX bytes with it. */
void address_print(const struct address *address, char text[ADDRESS_TEXT_MAX]);

/* ---- networks -------------------------------------------------------------------------------- */
/* Addresses that begin with the same bits. */
struct address_network {
	enum address_kind kind; /* ADDRESS_TCP4 or ADDRESS_TCP6 */
	uint8_t octets[16];
	uint32_t bits; /* 0 … 32 or 128 */
};

/* Reads "192.0.2.7", "192.0.2.0/24", "2001:db8::/32"; without bits it is one address. TYPE not an
 * IP address; RANGE more bits than it has. */
MUST_CHECK enum status network_parse(const char *text, struct address_network *out,
				     struct reason *why);
bool network_has(const struct address_network *network, enum address_kind kind,
		 const uint8_t octets[16]);

#endif
