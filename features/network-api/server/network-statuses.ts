// The status of networks, by CNI's STATUS of their plugins. The agent executes the plugins.

import { statusConfiguration } from "../rules/status-configuration.ts";
import { failedStatus, healthy, type NetworkStatus } from "../rules/network-status.ts";
import type { StoredNetwork } from "../rules/stored-network.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { Clock } from "../../../host/system/clock.ts";

/** The answer of a STATUS call. */
export interface StatusReply {
  readonly status: number;
  /** CNI's error object if the call failed. */
  readonly stdout: string | Uint8Array;
}

/** STATUS calls at once, of all clients together. */
const maxAtOnce = 4;
/** Longest time for the statuses of all networks, in ms. */
const maxMs = 10_000;
/** Age up to which a status is used again, in ms: clients may list at any rate. */
const maxAgeMs = 1000;
const maxReason = 1024;

/** A STATUS call that waits, runs or has ended. */
interface StatusCall {
  readonly status: Promise<NetworkStatus>;
  /** The end of the call, in ms of the monotonic clock; undefined before. */
  endedAt: number | undefined;
}

/** The statuses of one node's networks. */
export class NetworkStatuses {
  /** The node's configuration of Plexus as the runtime last passed it; undefined before the first call. */
  readonly #configuration: () => string | undefined;
  readonly #stateDirectory: string;
  readonly #clock: Clock;
  /** Serves a STATUS with this configuration; undefined if no agent is connected. */
  readonly #serve: (stdin: string) => Promise<StatusReply | undefined>;
  /** The calls by the network's list. A call that waits or runs serves later clients, too: a plugin that hangs runs once. */
  readonly #calls = new Map<string, StatusCall>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(
    configuration: () => string | undefined,
    stateDirectory: string,
    clock: Clock,
    serve: (stdin: string) => Promise<StatusReply | undefined>,
  ) {
    this.#configuration = configuration;
    this.#stateDirectory = stateDirectory;
    this.#clock = clock;
    this.#serve = serve;
  }

  /** The status of each network, in their order. Never rejects; a network whose STATUS is not done within 10 s is not ready, with this reason. */
  async of(networks: readonly StoredNetwork[]): Promise<readonly NetworkStatus[]> {
    this.#forgetOld();
    const { promise: late, resolve } = Promise.withResolvers<NetworkStatus>();
    const timer = setTimeout(() => resolve(unfinished), maxMs);
    const statuses = await Promise.all(networks.map((network) => Promise.race([this.#recentStatus(network), late])));
    clearTimeout(timer);
    return statuses;
  }

  #recentStatus(network: StoredNetwork): Promise<NetworkStatus> {
    const { text } = network.list;
    const known = this.#calls.get(text);
    if (known !== undefined) return known.status;
    const call: StatusCall = { status: this.#inTurn(network), endedAt: undefined };
    void call.status.then(() => (call.endedAt = this.#clock.now()));
    this.#calls.set(text, call);
    return call.status;
  }

  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [text, { endedAt }] of this.#calls)
      if (endedAt !== undefined && now - endedAt > maxAgeMs) this.#calls.delete(text);
  }

  async #inTurn(network: StoredNetwork): Promise<NetworkStatus> {
    if (this.#running < maxAtOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#read(network);
    } finally {
      // The next call takes this call's place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #read({ list }: StoredNetwork): Promise<NetworkStatus> {
    const stdin = statusConfiguration(this.#configuration(), list, this.#stateDirectory);
    if (!stdin.ok) return failedStatus(stdin.fault.code, stdin.fault.msg);
    try {
      const reply = await this.#serve(stdin.value);
      if (reply === undefined) return failedStatus(0, "no agent is connected, so that STATUS cannot run");
      return reply.status === 0 ? healthy : errorStatus(reply.stdout);
    } catch (error) {
      return failedStatus(0, `the agent ended during STATUS: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const unfinished = failedStatus(0, `STATUS was not done within ${maxMs / 1000} s`);

/** The status of CNI's error object. */
function errorStatus(stdout: string | Uint8Array): NetworkStatus {
  try {
    const error: unknown = JSON.parse(Buffer.from(stdout).toString("utf8"));
    if (isJsonObject(error)) return failedStatus(Number(error["code"]), inertLine(String(error["msg"]), maxReason));
  } catch {
    // Not an error object.
  }
  return failedStatus(0, "STATUS failed without an error object");
}
