// Credentials for one-shot engines on the node: a token of the daemon's own service account that is bound to the Node object. The token
// outlives the daemon's pod, and ends with the Node object, with the service account, or after a day (MO-22).

import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { backoffMs } from "../../../src/kube/backoff.ts";
import { readTokenClaims } from "../../../src/kube/token-claims.ts";
import { writeWhole } from "../../store/files/durable-file.ts";
import { nodeKubeconfigName } from "./in-cluster.ts";
import { ApiClient, statusMessage } from "./api-client.ts";
import type { Connection } from "./connection.ts";
import type { Credentials, CredentialSource } from "./credentials.ts";

/** Where the credentials go, and how the daemon gets them. */
export interface NodeCredentialsInit {
  /** The directory of the kubeconfig, on a file system in memory. */
  readonly directory: string;
  readonly nodeName: string;
  /** The daemon's own credentials. */
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  /** Waits between the repetitions of a request. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly warn: (text: string) => void;
  /** Called after each attempt. */
  readonly onOutcome: (outcome: "renewed" | "failed") => void;
}

/** The state of the credentials. */
export interface NodeCredentialsState {
  /** End of the written token, in ms of Unix time; undefined if this daemon has written none. */
  readonly expiresAt: number | undefined;
  /** The last attempt's failure. */
  readonly problem: string | undefined;
}

/** Requested lifetime, in seconds. The server may grant less. */
const lifetimeSeconds = 86_400;
/** Interval of the looks whether the token is to be renewed, in ms. */
const intervalMs = 30_000;
/** Time limit of one attempt, retries included, in ms. */
const budgetMs = 10_000;
/** The wait after failures grows up to this, in ms. */
const maxPauseMs = 60_000;

interface Issued {
  readonly token: string;
  readonly expiresAt: number;
}

/** The credentials of one node. */
export class NodeCredentials {
  readonly #init: NodeCredentialsInit;
  #state: NodeCredentialsState = { expiresAt: undefined, problem: undefined };
  /** When the token is renewed although nothing else changed, in ms of Unix time. */
  #renewAt = 0;
  /** The daemon's token with which the written one was requested. A new one may belong to a recreated account. */
  #requestedWith: string | undefined;
  #failures = 0;
  #warned = "";
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(init: NodeCredentialsInit) {
    this.#init = init;
  }

  /** Path of the kubeconfig. */
  get path(): string {
    return join(this.#init.directory, nodeKubeconfigName);
  }

  get state(): NodeCredentialsState {
    return this.#state;
  }

  /** Requests and renews the token from now on. Never rejects. */
  async start(): Promise<void> {
    const pauseMs = await this.#look();
    if (!this.#stopped) this.#timer = setTimeout(() => void this.start(), pauseMs).unref();
  }

  /** Ends the renewal; the written credentials stay for one-shot engines. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Renews the token if necessary; answers the time until the next look, in ms. */
  async #look(): Promise<number> {
    const credentials = await this.#init.credentials();
    const nowMs = (): number => this.#init.connection.clock.date().getTime();
    const isCurrent = nowMs() < this.#renewAt && credentials.ok && credentials.value.token === this.#requestedWith;
    if (isCurrent) return Math.min(intervalMs, Math.max(100, this.#renewAt - nowMs()));
    const renewed = credentials.ok ? await this.#renew(credentials.value) : credentials;
    this.#init.onOutcome(renewed.ok ? "renewed" : "failed");
    if (renewed.ok) {
      this.#failures = 0;
      this.#warned = "";
      this.#state = { expiresAt: renewed.value, problem: undefined };
      // A clock that is ahead by more than the token's life would ask again at once.
      return renewed.value <= nowMs() ? intervalMs : Math.min(intervalMs, Math.max(100, this.#renewAt - nowMs()));
    }
    const { msg, details } = renewed.fault;
    // A message has the number of attempts and their time, which differ each time.
    const warned = msg.replaceAll(/\d+/g, "");
    if (warned !== this.#warned) this.#init.warn(`no credentials for one-shot engines: ${msg}. To do: ${details ?? ""}`);
    this.#warned = warned;
    this.#state = { ...this.#state, problem: msg };
    this.#failures += 1;
    return backoffMs(this.#failures, Math.random, maxPauseMs);
  }

  /** Requests a token and writes the kubeconfig; answers the token's end. */
  async #renew(credentials: Credentials): Promise<Result<number>> {
    const requestedAt = this.#init.connection.clock.date().getTime();
    const issued = await this.#request(credentials);
    if (!issued.ok) return issued;
    const { token, expiresAt } = issued.value;
    const written = writeWhole(this.path, kubeconfigText(credentials, token));
    if (!written.ok) return written;
    this.#requestedWith = credentials.token;
    this.#renewAt = requestedAt + (expiresAt - requestedAt) / 3;
    return ok(expiresAt);
  }

  async #request(credentials: Credentials): Promise<Result<Issued>> {
    const claims = readTokenClaims(credentials.token ?? "");
    if (claims === undefined)
      return failed(fault("CREDENTIALS_UNREADABLE", `${credentials.source}: the token is not that of a service account`));
    const { nodeName, connection, sleep, warn } = this.#init;
    const client = new ApiClient({
      credentials: this.#init.credentials,
      connection,
      budgetMs,
      warn,
      clock: connection.clock,
      sleep,
    });
    const path = `/api/v1/namespaces/${claims.namespace}/serviceaccounts/${claims.serviceAccount}/token`;
    const spec = { expirationSeconds: lifetimeSeconds, boundObjectRef: { apiVersion: "v1", kind: "Node", name: nodeName } };
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
    const answer = await client.call({ method: "POST", path, body });
    if (!answer.ok) return answer;
    const { status, body: text } = answer.value;
    if (status >= 300) return failed(fault("API_REFUSED", `token for node ${nodeName}: HTTP ${status}${statusMessage(text)}`));
    const parsed = parseDocument(text, { what: "the TokenRequest", kind: "API_REFUSED" });
    if (!parsed.ok) return parsed;
    const issued = parsed.value.parsed["status"];
    const token = isJsonObject(issued) ? issued["token"] : undefined;
    const expiresAt = isJsonObject(issued) ? Date.parse(String(issued["expirationTimestamp"])) : Number.NaN;
    if (typeof token !== "string" || Number.isNaN(expiresAt))
      return failed(fault("API_REFUSED", `token for node ${nodeName}: the answer has no token with an end`));
    return ok({ token, expiresAt });
  }
}

/** Token and authority are in one file, so that a reader never meets one without the other. JSON is read fastest. */
function kubeconfigText({ server, authority, serverName }: Credentials, token: string): string {
  const cluster = {
    server,
    ...(authority === undefined ? {} : { "certificate-authority-data": Buffer.from(authority).toString("base64") }),
    ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
  };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: "plexus", user: { token } }],
    contexts: [{ name: "plexus", context: { cluster: "cluster", user: "plexus" } }],
    "current-context": "plexus",
  };
  return `${JSON.stringify(config)}\n`;
}
