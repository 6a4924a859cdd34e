// The CRI Network API of a daemon: its networks, and the socket on which it serves them.

import type { Result } from "../../../src/fault/result.ts";
import { ok } from "../../../src/fault/result.ts";
import type { InterfaceChanges } from "../../../host/node/container-changes.ts";
import { newestConfiguration } from "./newest-configuration.ts";
import { type NetworkRpcs, networkRpcs } from "./network-rpcs.ts";
import { NetworkStatuses, type StatusReply } from "./network-statuses.ts";
import { NodeNetworks, type NodeNetworksInit } from "./node-networks.ts";
import type { RpcServer } from "./rpc-server.ts";

/** Settings of the service. */
export interface NetworkApiInit extends Omit<NodeNetworksInit, "warn"> {
  /** Absolute path of the socket, at most 107 bytes. */
  readonly socket: string;
  /** User ids that may connect. */
  readonly uids: readonly number[];
}

/** The parts of the daemon that the service uses. */
export interface NetworkApiDeps {
  readonly warn: (text: string) => void;
  /** Serves a STATUS with this configuration through the agent; undefined if none is connected. */
  readonly serveStatus: (stdin: string) => Promise<StatusReply | undefined>;
  /** Changes running sandboxes. */
  readonly changes: () => InterfaceChanges;
}

/** The service of one daemon. */
export class NetworkApi {
  readonly #init: NetworkApiInit;
  readonly #deps: NetworkApiDeps;
  #server: RpcServer | undefined;

  constructor(init: NetworkApiInit, deps: NetworkApiDeps) {
    this.#init = init;
    this.#deps = deps;
  }

  /** Listens. Fault DAEMON_SOCKET. */
  async listen(): Promise<Result<void>> {
    const { stateDirectory } = this.#init;
    const { warn, serveStatus, changes } = this.#deps;
    const { RpcServer } = await import("./rpc-server.ts");
    const configuration = (): string | undefined => newestConfiguration(stateDirectory);
    const makeRpcs = (): NetworkRpcs =>
      networkRpcs({
        networks: new NodeNetworks({ ...this.#init, warn }),
        statuses: new NetworkStatuses({ configuration, stateDirectory, serve: serveStatus }),
        stateDirectory,
        changes,
      });
    const server = await RpcServer.listen({ ...this.#init, warn }, makeRpcs);
    if (!server.ok) return server;
    this.#server = server.value;
    return ok(undefined);
  }

  close(): void {
    this.#server?.close();
  }
}
