/* network.h: a bad network on this machine, without root: a relay in a thread of its own that
 * carries bytes between two addresses late, unevenly, not at all for a while, or never again
 * without saying so. */
#ifndef CAIRN_CLIENTS_BOT_NETWORK_H
#define CAIRN_CLIENTS_BOT_NETWORK_H

#include "clients/bot/bot.h"

struct bad_network;

/* Listens on a loopback port and relays to options->address under options->network. `address` (64
 * bytes) is where to connect instead. */
MUST_CHECK enum status network_start(const struct bot_options *options, struct bad_network **out,
				     char address[64], struct reason *why);
/* Ends every connection and joins the thread. NULL is ignored. */
void network_stop(struct bad_network *self);

#endif
