/* notify.h: messages to a service manager by sd_notify's protocol, a datagram to the socket that
 * NOTIFY_SOCKET names. Written here, because nothing else needs a library of systemd. */
#ifndef CAIRN_IO_NOTIFY_H
#define CAIRN_IO_NOTIFY_H

#include "server/base/base.h"

/* READY=1, STOPPING=1, WATCHDOG=1, STATUS=…, several separated by newlines. Without NOTIFY_SOCKET
 * nothing is sent; a datagram that cannot be sent is dropped. */
void notify_send(const char *state);
/* How often WATCHDOG=1 is expected, ms: half of WATCHDOG_USEC; 0: never, or for another process. */
uint32_t notify_watchdog_ms(void);

#endif
