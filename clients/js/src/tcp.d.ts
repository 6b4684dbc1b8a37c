import { Client, ConnectOptions, Transport, TransportEvents } from "./index.js";

/** A stream to tcp:HOST:PORT or unix:PATH, for Client.over. */
export function openTcp(address: string, events: TransportEvents): Promise<Transport>;
/** Opens a session over tcp: or unix:. Rejects with Refused or Closed. */
export function connect(address: string, options?: ConnectOptions): Promise<Client>;
