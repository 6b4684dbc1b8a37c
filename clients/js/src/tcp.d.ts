import { Client, World, ConnectOptions, Transport, TransportEvents } from "./index.js";

/** A stream to tcp:HOST:PORT or unix:PATH, for Client.over. */
export function openTcp(address: string, events: TransportEvents): Promise<Transport>;
/** Opens a session over tcp: or unix:. Rejects with Refused or Closed. */
export function connect(address: string, options?: ConnectOptions): Promise<Client>;
/** Sends a scene file to a world, with the program `cairn`, and joins the world. */
export function load(client: Client, scene: string, name?: string, options?: { token?: string, variables?: Record<string, number | string> }): Promise<World>;
