// Serves metrics, readiness and status over HTTP: on the status socket, which only root and the daemon's user may use, and over TCP if an
// address is configured. TCP clients get no page that names pods.

import type { IncomingMessage, Server } from "node:http";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { RoundReport } from "../node/reconcile/finding.ts";
import { heldQuery, type RemovalReport, type RemovalStep, removalSteps } from "../node/uninstall/removal-report.ts";
import { type DaemonSocket, listenOn, uidOf } from "../store/files/unix-socket.ts";
import type { Clock } from "../system/clock.ts";
import { expositionType, type Metrics } from "./metrics/metrics.ts";
import { listenOnTcp, type Page, pageServer, plainText as text } from "./page-server.ts";
import type { Readiness } from "./status-document.ts";
import type { Telemetry } from "./telemetry.ts";

/** A TCP address. Port 0: any free port. */
export interface TcpAddress {
  readonly host: string;
  readonly port: number;
}

/** The daemon's actions that clients of the status socket may start. */
export interface EndpointCommands {
  /** Runs a reconciler round now. */
  readonly reconcile: (dryRun: boolean) => Promise<RoundReport>;
  /** The answers of features to requests on the status socket, by path. */
  readonly pages: () => Readonly<Record<string, (method: string, query: string) => Page | Promise<Page>>>;
  /** A step of Plexus' removal from the node; undefined if this daemon writes no network configuration. */
  readonly removal: (step: RemovalStep, held: boolean) => Promise<RemovalReport | undefined>;
}

const onlyTrusted: Page = { status: 403, type: text, body: "not served over TCP; use the status socket\n" };

/** Maximum age of metrics and readiness over TCP, in ms. */
const maxAgeMs = 1000;
/** Milliseconds after which `/healthz?start` no longer waits for the daemon's first readiness. */
const startMs = 20_000;

/** The HTTP servers of one daemon. */
export class Endpoint {
  readonly #at: DaemonSocket;
  readonly #address: TcpAddress | undefined;
  readonly #clock: Clock;
  readonly #telemetry: Telemetry;
  readonly #metrics: Metrics;
  readonly #commands: EndpointCommands;
  readonly #servers: Server[] = [];
  readonly #recentText: () => Promise<string>;
  readonly #recentReadiness: () => Promise<Readiness>;
  readonly #createdAt: number;
  #isStarted = false;

  /** `address`: undefined: no TCP. */
  constructor(
    at: DaemonSocket,
    address: TcpAddress | undefined,
    clock: Clock,
    telemetry: Telemetry,
    metrics: Metrics,
    commands: EndpointCommands,
  ) {
    this.#commands = commands;
    this.#at = at;
    this.#address = address;
    this.#clock = clock;
    this.#createdAt = clock.now();
    this.#telemetry = telemetry;
    this.#metrics = metrics;
    this.#recentText = recent(() => metrics.text(), clock);
    this.#recentReadiness = recent(() => telemetry.readiness(), clock);
  }

  /** Listens; answers the TCP port, or undefined without TCP. Fault DAEMON_SOCKET. */
  async listen(): Promise<Result<number | undefined>> {
    const { socket, uids } = this.#at;
    const address = this.#address;
    const local = this.#server(true);
    local.on("connection", (connection) => {
      const uid = uidOf(connection);
      if (uid === undefined || !uids.includes(uid)) connection.destroy();
    });
    const listens = await listenOn(local, socket);
    if (!listens.ok || address === undefined) return listens.ok ? ok(undefined) : listens;
    try {
      return ok(await listenOnTcp(this.#server(false), address));
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

  /** `trusted`: whether the clients are root or the daemon's user. */
  #server(trusted: boolean): Server {
    const server = pageServer((request) => this.#pageOf(request, trusted));
    this.#servers.push(server);
    return server;
  }

  /** The answer to a request. Never rejects. */
  async #pageOf(request: IncomingMessage, trusted: boolean): Promise<Page> {
    // No page takes a request body.
    request.resume();
    try {
      const [path = "", query = ""] = (request.url ?? "").split("?");
      if (request.method === "POST" && path === "/reconcile") return await this.#round(query, trusted);
      if (request.method === "POST" && path === "/removal") return await this.#removal(query, trusted);
      const pages = this.#commands.pages();
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      if (page !== undefined) return trusted ? await page(request.method ?? "", query) : onlyTrusted;
      return await this.#page(request.method ?? "", path, query, trusted);
    } catch (error) {
      this.#telemetry.warn(`${request.url ?? ""}: ${error instanceof Error ? error.message : String(error)}`);
      return { status: 500, type: text, body: "internal error; the daemon's log has the reason\n" };
    }
  }

  /** Runs a reconciler round now; the page is its report. */
  async #round(query: string, trusted: boolean): Promise<Page> {
    if (!trusted) return onlyTrusted;
    if (query !== "" && query !== "dry-run") return { status: 400, type: text, body: "the query must be empty or dry-run\n" };
    return {
      status: 200,
      type: "application/json",
      body: `${JSON.stringify(await this.#commands.reconcile(query === "dry-run"))}\n`,
    };
  }

  /** Takes a step of Plexus' removal; the page says which pods still need Plexus. */
  async #removal(query: string, trusted: boolean): Promise<Page> {
    if (!trusted) return onlyTrusted;
    const held = query.endsWith(heldQuery);
    const step = removalSteps.find((each) => each === (held ? query.slice(0, -heldQuery.length) : query));
    const form = `the query must be one of ${removalSteps.join(", ")}, and may end with ${heldQuery}`;
    if (step === undefined) return { status: 400, type: text, body: `${form}\n` };
    const report = await this.#commands.removal(step, held);
    if (report === undefined) return { status: 409, type: text, body: "this daemon writes no network configuration\n" };
    return { status: 200, type: "application/json", body: `${JSON.stringify(report)}\n` };
  }

  /** Whether the daemon was ready once, or had its time for that: a daemon without the API is never ready, and a restart does not repair that. */
  async #hasStarted(): Promise<boolean> {
    this.#isStarted ||= this.#clock.now() - this.#createdAt >= startMs || (await this.#recentReadiness()).ready;
    return this.#isStarted;
  }

  /** The paths of requests with POST, but for `/removal`. */
  #posts(): string {
    return ["/reconcile", ...Object.keys(this.#commands.pages())].join(", ");
  }

  async #page(method: string, path: string, query: string, trusted: boolean): Promise<Page> {
    if (method !== "GET" && method !== "HEAD")
      return { status: 405, type: text, body: `allowed methods: GET and HEAD; POST for ${this.#posts()} and /removal\n` };
    switch (path) {
      case "/metrics":
        return { status: 200, type: expositionType, body: trusted ? await this.#metrics.text() : await this.#recentText() };
      case "/healthz":
        if (query === "start" && !(await this.#hasStarted()))
          return { status: 503, type: text, body: "not ready for the first time yet\n" };
        return { status: 200, type: text, body: "ok\n" };
      case "/readyz": {
        const { ready, checks } = trusted ? await this.#telemetry.readiness() : await this.#recentReadiness();
        const lines = checks.map((check) => `[${check.ok ? "+" : "-"}] ${check.name}: ${check.message}\n`);
        return { status: ready ? 200 : 503, type: text, body: lines.join("") };
      }
      case "/status":
        if (trusted) {
          return { status: 200, type: "application/json", body: `${JSON.stringify(await this.#telemetry.status())}\n` };
        }
        return { status: 403, type: text, body: "not served over TCP, because it names pods; use the status socket\n" };
      case "/calls":
        if (trusted) return { status: 200, type: "application/json", body: `${this.#telemetry.recentCalls()}\n` };
        return { status: 403, type: text, body: "not served over TCP, because it names pods; use the status socket\n" };
      default:
        return {
          status: 404,
          type: text,
          body: "pages: /metrics, /healthz, /readyz, /status, /calls, /reconcile (POST), /record, /removal (POST)\n",
        };
    }
  }
}

/** A reading that is shared for a while. TCP clients may ask at any rate, and a reading takes milliseconds. */
function recent<T>(read: () => Promise<T>, clock: Clock): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    const now = clock.now();
    if (last === undefined || now - last.at > maxAgeMs) last = { at: now, value: read() };
    return last.value;
  };
}
