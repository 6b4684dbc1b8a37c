/* sim_life.h: one life of the daemon, all of it drawn from a seed: who comes, what they do, what breaks.
 *
 *	seed ──► traits: k clients, network, files, a bad disk, little memory, tokens, liars
 *	     ──► acts: commands, subscriptions of every kind, FOCUS, queries, stepping under lease
 *	         and barrier, stalls, lost connections and resumes, forks, SAVE and RESTORE,
 *	         hostile bytes, restarts
 *
 * Whatever happens: every complete mirror is the world at its tick; each batch has one fate and its tag is
 * in the world at most once; each request of a client that stays is answered once; nobody does what its role
 * may not; a STEP's hash is that of the tick it names; what was called durable is there after a crash, and
 * the world that comes back is one that was; what the daemon counts adds up; all memory comes back. What
 * does not hold fails the test it is called in.
 */
#ifndef CAIRN_TESTS_SIM_LIFE_H
#define CAIRN_TESTS_SIM_LIFE_H

#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"

/* Worlds 0 and 1 run, 2 is stepped, 3 is a copy of one of them that comes and goes. */
enum { LIFE_RUNNING = 2, LIFE_LAB = 2, LIFE_COPY = 3, LIFE_WORLDS = 4 };
enum { LIFE_CLIENTS_MAX = 8, LIFE_FATES_MAX = 2048, LIFE_ASKS_MAX = 4096, LIFE_TOKENS = 64 };

/* What this life is like. */
struct life_traits {
	uint32_t clients, liars;
	bool goes_back; /* worlds are saved and restored: bodies may be undone */
	bool files;
	bool bad_disk; /* which fails now and then; a restart mends it */
	bool poor;     /* allocations fail now and then */
	bool tokens;
	uint32_t restarts; /* at most */
};

/* A batch that was sent, and must be heard of. */
struct life_fate {
	struct sim_client *client;
	uint32_t world, repeats, resumes;
	uint64_t batch, at;
	int64_t tag;
	bool dated;    /* answered twice */
	bool trespass; /* touches what the session may not: never done */
	enum wire_role role;
};

/* A request that must be answered once. */
struct life_ask {
	struct sim_client *client;
	enum message_type about, answer;
	uint64_t ref;
	uint32_t resumes;
	bool forbidden; /* by its role */
};

struct life_seat {
	struct sim_client *client; /* NULL: there is nobody */
	bool liar, stalled, joined[LIFE_WORLDS];
	uint64_t at[LIFE_WORLDS]; /* of its last dated batch */
	uint32_t token;		  /* 1 + index of the one it showed; 0 none */
};

struct life {
	uint64_t seed;
	struct life_traits traits;
	struct server_sim *sim;
	struct rng rng;
	struct sim_client
		*keeper; /* makes and paces the worlds; one who is lost is followed by another */
	struct life_seat seats[LIFE_CLIENTS_MAX];
	uint32_t worlds[LIFE_WORLDS]; /* numbers; 0: not there */
	uint32_t copies;
	struct life_fate fates[LIFE_FATES_MAX];
	uint32_t fate_count;
	struct life_ask asks[LIFE_ASKS_MAX];
	uint32_t ask_count;
	uint64_t next_sub;
	int64_t next_tag;
	uint64_t lab_from, lab_steps;	   /* tick at which the lab began, ticks asked for since */
	bool left[SERVER_SIM_CLIENTS_MAX]; /* a world, at some time: answers may have come since */
	char tokens[LIFE_TOKENS][TOKEN_TEXT_MAX + 1];
	enum wire_role token_roles[LIFE_TOKENS];
	uint32_t token_first, token_count; /* of this daemon */
	char directory[RECORDER_PATH];	   /* "": no files */
	uint32_t restarts;
	uint64_t began_at; /* instant at which this daemon began */
	uint64_t compared; /* at the end */
	uint64_t trace;
	int64_t heap;
};

static inline uint32_t life_draw(struct life *life, uint32_t below)
{
	return rng_below(&life->rng, below);
}
static inline double life_draw_real(struct life *life, double span)
{
	return ((double)life_draw(life, 20001) / 10000 - 1) * span;
}

/* One life of so many acts. Returns a hash of all that happened in it, when and where. */
uint64_t life_live(uint64_t seed, uint32_t acts);

/* ---- between its files ----------------------------------------------------------------------------- */

/* Somebody new in a seat, or nobody where all places of the simulation are taken. */
void life_connect(struct life *life, uint32_t seat);
void life_act(struct life *life);
/* Sends, and notes that an answer must come. */
void life_ask(struct life *life, struct sim_client *client, const struct message *message,
	      enum message_type answer);
/* The keeper's request, made again where it was lost or memory wanted. Its last status. */
enum status life_keeper_try(struct life *life, const struct message *message,
			    enum message_type answer);
/* The keeper, connected. */
struct sim_client *life_keeper(struct life *life);
enum status life_control(struct life *life, uint32_t w, enum wire_control action, double value);
bool life_world_failed(const struct life *life, uint32_t w);
/* Everybody reads again, nothing fails any more, worlds run on and stop; mirrors stand. */
void life_settle(struct life *life);
/* Holds what was heard against what is. `settled`: all that must be heard has been. */
void life_judge(struct life *life, bool settled);
/* After a restart: of the batches of each world those that were applied before its durable tick are done. */
void life_judge_survivors(struct life *life, const struct sim_durable durable[LIFE_COPY]);
/* The daemon is drained or killed, and another takes over the files. */
void life_restart(struct life *life);

#endif
