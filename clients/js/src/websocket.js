/** WebSocket, in browsers and in Node versions with a global WebSocket: one binary message is one frame's content. */
import { Closed } from "./wire.js";

/** As openTcp, for ws: and wss: addresses. */
export function openWebSocket(address, events) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    let error = new Closed("the connection has ended");
    socket.binaryType = "arraybuffer";
    socket.onopen = () => resolve({
      send: (content) => socket.send(content),
      close: () => socket.close(),
      /** Bytes that this process has not handed to the network yet. */
      queued: () => socket.bufferedAmount,
    });
    socket.onmessage = ({ data }) => {
      try {
        events.content(new Uint8Array(data));
      } catch (wrong) {
        error = wrong;
        socket.close();
      }
    };
    socket.onclose = ({ reason }) => {
      if (reason) error = new Closed(reason);
      reject(error);
      events.closed(error);
    };
  });
}
