// An HTTP server for small pages without request bodies: metrics, readiness, status. Bounded in connections, requests and time.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { SilentConnections } from "../store/files/unix-socket.ts";

/** One answer. */
export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content-Type of plain text. */
export const plainText = "text/plain; charset=utf-8";

/** Maximum connections of a server without a request yet, and of those that were answered. A further one closes the oldest of its kind. */
const maxSilent = 32;
/** Maximum requests in work of a server; further ones get status 503. */
const maxRequests = 256;
/** Maximum requests in work of a connection. A further request ends it: pages for all that a client sends ahead take CPU time. */
const maxPipelined = 4;
/** Longest time until a client has sent its request, and until it has read its answer, in ms. */
const timeoutMs = 5000;
/** Interval in ms at which Node ends connections whose request is too slow. */
const intervalMs = 500;

/** A server, not listening yet, that answers each request with the page of `pageOf`, which must not reject. */
export function pageServer(pageOf: (request: IncomingMessage) => Promise<Page>): Server {
  const silent = new SilentConnections(maxSilent);
  // Apart, so that clients that do not read their answers close no connection whose request is under way.
  const answered = new SilentConnections(maxSilent);
  let requests = 0;
  const pipelined = new WeakMap<Socket, number>();
  const server = createServer(
    {
      requestTimeout: timeoutMs,
      headersTimeout: timeoutMs,
      connectionsCheckingInterval: intervalMs,
      keepAliveTimeout: 60_000,
      maxHeaderSize: 8192,
    },
    (request, response) => {
      const { socket } = request;
      const before = pipelined.get(socket) ?? 0;
      if (before >= maxPipelined) return void socket.destroy();
      silent.delete(socket);
      answered.delete(socket);
      socket.setTimeout(0);
      requests += 1;
      pipelined.set(socket, before + 1);
      const isBusy = requests > maxRequests;
      const busy: Page = { status: 503, type: plainText, body: "too many requests at once\n" };
      const answer = async (): Promise<Page> => {
        // The packet's further requests are read by then, and may have ended the connection.
        await setImmediate();
        return isBusy || socket.destroyed ? busy : pageOf(request);
      };
      void answer().then((page) => {
        send(request, response, page);
        requests -= 1;
        pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1);
        answered.add(socket);
      });
    },
  );
  server.on("connection", (socket) => silent.add(socket));
  return server;
}

/** Listens on a TCP address; answers the port. Rejects with the error of listen(2). */
export async function listenOnTcp(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  await promise;
  return portOf(server.address());
}

/** Sends the page. Node closes the connection of a client that does not read for a while. */
function send({ socket, method }: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Page): void {
  socket.setTimeout(timeoutMs);
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, "content-type": type, "content-length": length, "cache-control": "no-store" });
  response.end(method === "HEAD" ? "" : body);
}

function portOf(address: string | AddressInfo | null): number | undefined {
  return typeof address === "object" ? address?.port : undefined;
}
