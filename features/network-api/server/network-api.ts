// The CRI Network API of a daemon: its networks, and the socket on which it serves them.

import type { Result } from "../../../src/fault/result.ts";
import { ok } from "../../../src/fault/result.ts";
import type { ResidentContext } from "../../resident-part.ts";
import { newestConfiguration } from "./newest-configuration.ts";
import { networkRpcs } from "./network-rpcs.ts";
import { NetworkStatuses } from "./network-statuses.ts";
import { NodeNetworks } from "./node-networks.ts";
import type { RpcServer } from "../../../host/node/grpc/rpc-server.ts";
import type { Rpcs } from "../../../host/node/grpc/rpc-method.ts";

/** The daemon's options of the service. */
export interface NetworkApiOptions {
  /** Absolute path of the socket, at most 107 bytes. */
  readonly socket: string;
  /** The runtime's directory of network configurations, whose network is listed as `_fallback`. */
  readonly configurationDirectory: string;
  /** File name of that network; undefined: the directory's first. */
  readonly pinned: string | undefined;
}

/** The service of one daemon. */
export class NetworkApi {
  readonly #options: NetworkApiOptions;
  readonly #daemon: ResidentContext;
  #server: RpcServer | undefined;

  constructor(options: NetworkApiOptions, daemon: ResidentContext) {
    this.#options = options;
    this.#daemon = daemon;
  }

  /** Listens. Fault DAEMON_SOCKET. */
  async listen(): Promise<Result<void>> {
    const { stateDirectory, uids, clock, log, serveStatus, changes } = this.#daemon;
    const { socket, configurationDirectory, pinned } = this.#options;
    const warn = (text: string): void => log("warn", text);
    // Loaded for a daemon that serves the API only: node:http2 takes 5 MiB.
    const { RpcServer } = await import("../../../host/node/grpc/rpc-server.ts");
    const { networkSocket } = await import("./network-socket.ts");
    const configuration = (): string | undefined => newestConfiguration(stateDirectory);
    const makeRpcs = (): Rpcs =>
      networkRpcs(
        new NodeNetworks(stateDirectory, configurationDirectory, pinned, warn),
        new NetworkStatuses(configuration, stateDirectory, clock, serveStatus),
        stateDirectory,
        changes,
      );
    const server = await RpcServer.listen({ socket, uids }, networkSocket, clock, warn, makeRpcs);
    if (!server.ok) return server;
    this.#server = server.value;
    return ok(undefined);
  }

  close(): void {
    this.#server?.close();
  }
}
