/* hello.c: a ball falls on the ground, is pushed, and reports its contacts.
 *
 *	cc hello.c $(pkg-config --cflags --libs cairn) -o hello && ./hello tcp:127.0.0.1:7411
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cairn.h>

static cairn_error error;

/* Ends the program if a call failed. */
static void must(int status)
{
	if (status == CAIRN_STATUS_OK)
		return;
	fprintf(stderr, "%s: %s (%s)\n", cairn_status_name(status), error.text, error.field);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	cairn_client *client;
	cairn_world *world;
	must(cairn_client_open(argc > 1 ? argv[1] : "tcp:127.0.0.1:7411", NULL, &client, &error));
	char name[32];
	snprintf(name, sizeof name, "hello-%ld", (long)getpid());
	must(cairn_client_create(client, name, NULL, &world, &error));

	/* Two shapes, and a body of each. */
	cairn_attachment plane = { 0 }, sphere = { 0 };
	must(cairn_world_shape(world, "plane:0,1,0,0", &plane.shape, &error));
	must(cairn_world_shape(world, "sphere:0.5", &sphere.shape, &error));
	cairn_command make[2] = { cairn_command_make(CAIRN_COMMAND_SPAWN),
				  cairn_command_make(CAIRN_COMMAND_SPAWN) };
	make[0].spawn.status = CAIRN_BODY_STATUS_STATIC;
	make[0].spawn.shapes = (cairn_attachments){ &plane, 1 };
	make[1].spawn.shapes = (cairn_attachments){ &sphere, 1 };
	make[1].spawn.position.y = 5;
	uint32_t ids[2];
	must(cairn_world_apply(world, make, 2, ids, &error));

	/* A push, two seconds, and where the ball is now. */
	cairn_command push = cairn_command_make(CAIRN_COMMAND_IMPULSE);
	push.impulse.body = ids[1];
	push.impulse.impulse.x = 500;
	must(cairn_world_apply(world, &push, 1, NULL, &error));
	cairn_state state;
	must(cairn_world_step(world, 120, &state, &error));
	const cairn_body *ball = cairn_state_find(&state, ids[1]);
	printf("tick %" PRIu64 ": the ball is at %.3f %.3f %.3f\n", state.tick, ball->position.x,
	       ball->position.y, ball->position.z);

	/* The same hash from the bodies here and from the server: this replica is right. */
	uint64_t own = cairn_state_tick_hash(&state);
	printf("hash %016" PRIx64 " %s\n", own, own == state.tick_hash ? "right" : "WRONG");

	const cairn_contact *contacts;
	uint32_t count;
	must(cairn_world_contacts(world, ids[1], &contacts, &count, &error));
	for (uint32_t i = 0; i < count; i++)
		printf("contact of %u and %u: %.1f N\n", contacts[i].a, contacts[i].b,
		       contacts[i].impulse * 60);
	/* Only an administrator may end a world: who connects by the Unix socket, or with such a token. */
	int ended = cairn_world_destroy(world, &error);
	if (ended == CAIRN_STATUS_FORBIDDEN)
		printf("the world %s stays\n", name);
	else
		must(ended);
	cairn_client_close(client);
	return own == state.tick_hash ? EXIT_SUCCESS : EXIT_FAILURE;
}
