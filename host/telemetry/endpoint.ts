// Where the daemon tells: over HTTP on a socket of its own, which only root and its own user may ask, and on an address where one is
// configured. There only what names no pod.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { listenOn, uidOf } from "../daemon/unix-socket.ts";
import { expositionType } from "../metrics/exposition.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { RoundReport } from "../reconcile/finding.ts";
import type { Telemetry } from "./telemetry.ts";

export interface EndpointInit {
  /** Absolute path of the socket. */
  readonly socket: string;
  /** Uids that may ask on it. */
  readonly uids: readonly number[];
  readonly address: { readonly host: string; readonly port: number } | undefined;
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const text = "text/plain; charset=utf-8";
/** Connections at once; scrapers keep theirs. For one more, the one that came first goes: who sits there silently must not lock others out. */
const mostConnections = 32;
const patienceMs = 5000;
/** Over TCP metrics may be so old, in ms. */
const recentMs = 1000;

export class Endpoint {
  readonly #init: EndpointInit;
  readonly #telemetry: Telemetry;
  readonly #metrics: Metrics;
  readonly #reconcile: (dryRun: boolean) => Promise<RoundReport>;
  readonly #servers: Server[] = [];
  #recent: { readonly at: number; readonly text: Promise<string> } | undefined;

  constructor(init: EndpointInit, telemetry: Telemetry, metrics: Metrics, reconcile: (dryRun: boolean) => Promise<RoundReport>) {
    this.#reconcile = reconcile;
    this.#init = init;
    this.#telemetry = telemetry;
    this.#metrics = metrics;
  }

  /** Listens. Faults: DAEMON_SOCKET. Answers the address's port, where one is configured: 0 asks for any. */
  async listen(): Promise<Result<number | undefined>> {
    const { socket, uids, address } = this.#init;
    const own = this.#server(true);
    own.on("connection", (connection) => {
      const uid = uidOf(connection);
      if (uid === undefined || !uids.includes(uid)) connection.destroy();
    });
    const listens = await listenOn(own, socket);
    if (!listens.ok || address === undefined) return listens.ok ? ok(undefined) : listens;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = this.#server(false);
    server.once("error", reject);
    server.listen(address.port, address.host, resolve);
    try {
      await promise;
      return ok(portOf(server.address()));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return failed(fault("DAEMON_SOCKET", `--metrics-listen ${address.host}:${address.port}: ${why}`));
    }
  }

  close(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #server(trusted: boolean): Server {
    const server = createServer(
      { requestTimeout: patienceMs, headersTimeout: patienceMs, keepAliveTimeout: 60_000, maxHeaderSize: 8192 },
      (request, response) => void this.#answer(request, response, trusted),
    );
    boundConnections(server);
    this.#servers.push(server);
    return server;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, trusted: boolean): Promise<void> {
    // Nothing here takes a body.
    request.resume();
    let page: Page;
    try {
      const [path = "", query = ""] = (request.url ?? "").split("?");
      const asked = request.method === "POST" && path === "/reconcile";
      page = asked ? await this.#round(query, trusted) : await this.#page(request.method ?? "", path, trusted);
    } catch (error) {
      this.#telemetry.warn(`${request.url ?? ""}: ${error instanceof Error ? error.message : String(error)}`);
      page = { status: 500, type: text, body: "failed; the daemon's log says why\n" };
    }
    const { status, type, body } = page;
    response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body), "cache-control": "no-store" });
    response.end(request.method === "HEAD" ? "" : body);
  }

  /** A round of the reconciler, now. */
  async #round(query: string, trusted: boolean): Promise<Page> {
    if (!trusted) return { status: 403, type: text, body: "ask on the daemon's own socket\n" };
    if (query !== "" && query !== "dry-run") return { status: 400, type: text, body: "the query is dry-run, or none\n" };
    return { status: 200, type: "application/json", body: `${JSON.stringify(await this.#reconcile(query === "dry-run"))}\n` };
  }

  /** For who may ask as often as the network lets it: reading costs milliseconds. */
  #recentText(): Promise<string> {
    const now = performance.now();
    if (this.#recent === undefined || now - this.#recent.at > recentMs) this.#recent = { at: now, text: this.#metrics.text() };
    return this.#recent.text;
  }

  async #page(method: string, path: string, trusted: boolean): Promise<Page> {
    if (method !== "GET" && method !== "HEAD")
      return { status: 405, type: text, body: "only GET and HEAD; and POST of /reconcile\n" };
    switch (path) {
      case "/metrics":
        return { status: 200, type: expositionType, body: trusted ? await this.#metrics.text() : await this.#recentText() };
      case "/healthz":
        return { status: 200, type: text, body: "ok\n" };
      case "/readyz": {
        const { ready, checks } = await this.#telemetry.readiness();
        const lines = checks.map((check) => `[${check.ok ? "+" : "-"}] ${check.name}: ${check.message}\n`);
        return { status: ready ? 200 : 503, type: text, body: lines.join("") };
      }
      case "/status":
        if (trusted) {
          return { status: 200, type: "application/json", body: `${JSON.stringify(await this.#telemetry.status())}\n` };
        }
        return { status: 403, type: text, body: "it names pods: ask on the daemon's own socket\n" };
      default:
        return { status: 404, type: text, body: "there are /metrics, /healthz, /readyz, /status and, by POST, /reconcile\n" };
    }
  }
}

function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const [oldest] = open;
    if (open.size > mostConnections) oldest?.destroy();
  });
}

function portOf(address: string | AddressInfo | null): number | undefined {
  return typeof address === "object" ? address?.port : undefined;
}
