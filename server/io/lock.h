/* lock.h: mutual exclusion for short critical sections.
 *
 * A lock is held for a few instructions, never during a callback. Under the simulated executor, which
 * is one thread, it is never contended.
 */
#ifndef CAIRN_IO_LOCK_H
#define CAIRN_IO_LOCK_H

#include <pthread.h>

#include "server/base/base.h"

struct lock {
	pthread_mutex_t mutex;
};

/* Initialises a lock with static storage, in place of lock_init. */
#define LOCK_INITIAL                                                                               \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER                                                          \
	}

static inline void lock_init(struct lock *self)
{
	ASSERT(pthread_mutex_init(&self->mutex, NULL) == 0);
}

static inline void lock_release(struct lock *self)
{
	ASSERT(pthread_mutex_destroy(&self->mutex) == 0);
}

static inline void lock_take(struct lock *self)
{
	ASSERT(pthread_mutex_lock(&self->mutex) == 0);
}

static inline void lock_give(struct lock *self)
{
	ASSERT(pthread_mutex_unlock(&self->mutex) == 0);
}

#endif
