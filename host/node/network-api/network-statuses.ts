// The status of networks, by CNI's STATUS of their plugins. The agent executes the plugins.

import { statusConfiguration } from "../../../src/network-api/status-configuration.ts";
import { failedStatus, healthy, type NetworkStatus } from "../../../src/network-api/network-status.ts";
import type { StoredNetwork } from "../../../src/network-api/stored-network.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";

/** The answer of a STATUS call. */
export interface StatusReply {
  readonly status: number;
  /** CNI's error object if the call failed. */
  readonly stdout: string | Uint8Array;
}

/** The means of reading statuses. */
export interface NetworkStatusesInit {
  /** The node's configuration of Plexus as the runtime last passed it; undefined before the first call. */
  readonly configuration: () => string | undefined;
  readonly stateDirectory: string;
  /** Serves a STATUS with this configuration; undefined if no agent is connected. */
  readonly serve: (stdin: string) => Promise<StatusReply | undefined>;
}

/** STATUS calls at once. */
const maxAtOnce = 4;
/** Longest time for the statuses of all networks, in ms. */
const maxMs = 10_000;
/** Age up to which a status is used again, in ms: clients may list at any rate. */
const recentMs = 1000;
const maxReason = 1024;

/** The statuses of one node's networks. */
export class NetworkStatuses {
  readonly #init: NetworkStatusesInit;
  readonly #recent = new Map<string, { readonly at: number; readonly status: Promise<NetworkStatus> }>();

  constructor(init: NetworkStatusesInit) {
    this.#init = init;
  }

  /** The status of each network, in their order. Never rejects; a network whose STATUS is not done within 10 s is not ready, with this reason. */
  async of(networks: readonly StoredNetwork[]): Promise<readonly NetworkStatus[]> {
    this.#forgetOld();
    const { promise: late, resolve } = Promise.withResolvers<NetworkStatus>();
    const timer = setTimeout(() => resolve(unfinished), maxMs);
    let over = false;
    void late.then(() => (over = true));
    const statuses: NetworkStatus[] = networks.map(() => unfinished);
    const waiting = networks.entries();
    const work = async (): Promise<void> => {
      for (const [index, network] of waiting) {
        if (over) return;
        statuses[index] = await Promise.race([this.#recentStatus(network), late]);
      }
    };
    await Promise.all(Array.from({ length: maxAtOnce }, work));
    clearTimeout(timer);
    return statuses;
  }

  #recentStatus(network: StoredNetwork): Promise<NetworkStatus> {
    const { text } = network.list;
    const known = this.#recent.get(text);
    if (known !== undefined) return known.status;
    const status = this.#read(network);
    this.#recent.set(text, { at: performance.now(), status });
    return status;
  }

  #forgetOld(): void {
    const now = performance.now();
    for (const [text, { at }] of this.#recent) if (now - at > recentMs) this.#recent.delete(text);
  }

  async #read({ list }: StoredNetwork): Promise<NetworkStatus> {
    const { configuration, stateDirectory, serve } = this.#init;
    const stdin = statusConfiguration(configuration(), list, stateDirectory);
    if (!stdin.ok) return failedStatus(stdin.fault.code, stdin.fault.msg);
    try {
      const reply = await serve(stdin.value);
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
