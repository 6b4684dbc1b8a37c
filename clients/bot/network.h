/* network.h: a bad network on this machine, without root: a relay, in a thread of its own, between
 * the bots and the server. It forwards bytes with delay and jitter, pauses for stalls, and may stop
 * forwarding a connection for good without closing it (half-open). */
#ifndef CAIRN_CLIENTS_BOT_NETWORK_H
#define CAIRN_CLIENTS_BOT_NETWORK_H

#include "clients/bot/bot.h"

struct bad_network;

/* Listens on a loopback port and relays to options->address as options->network describes.
 * `address` (64 bytes) gets the address to connect to instead. IO, NO_MEMORY. */
MUST_CHECK enum status network_start(const struct bot_options *options, struct bad_network **out,
				     char address[64], struct reason *why);
/* Ends every connection and joins the thread. NULL is ignored. */
void network_stop(struct bad_network *self);

#endif
