/**
 * A player without a screen: asks the backend for a token, rolls a ball through the arena, and sees what is near it. Its
 * connection is cut once; it comes back to the same ball.
 *
 *     node player.mjs BACKEND-PORT ADDRESS SECONDS
 */
import { Client, PROFILE, areas, command } from "cairn-client";
import { openTcp } from "cairn-client/tcp";

const [port, address, seconds] = process.argv.slice(2);
const join = async () => (await fetch(`http://127.0.0.1:${port}/join`, { method: "POST" })).json();

const place = await join();
let line;
const client = await Client.over(async (to, events) => line = await openTcp(to, events), address, {
  token: async () => (await join()).token, // again where the session has expired meanwhile
  reconnects: true,
  onBack: (how) => console.log(`back: ${how}`),
});
const world = await client.join(place.world);
const me = await world.spawn({ shapes: [[place.ball]], position: place.position, mass: 1, angular_damping: 1 });
// The bodies within 15 m of the ball, wherever it rolls, and the ball itself.
const seen = await world.subscribe({ profile: PROFILE.view, areas: [areas.ball([0, 0, 0], 15, me)], follow: [me] });

const end = Date.now() + 1000 * Number(seconds);
for (let second = 0; Date.now() < end; second++) {
  const turn = second * 2.1;
  await world.send(command("force", { body: me, force: [6 * Math.cos(turn), 0, 6 * Math.sin(turn)], ticks: 60 }));
  const [x, , z] = seen.mirror.body(me).position;
  console.log(`at ${x.toFixed(1)} ${z.toFixed(1)}, ${seen.mirror.count - 1} others near`);
  if (second === 1) line.close(); // as a train in a tunnel would
  await new Promise((resolve) => setTimeout(resolve, 500));
}
await world.send(command("remove", { body: me }));
client.close();
