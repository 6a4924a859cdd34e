// The driver on its socket: the kubelet finds the socket in its directory plugins_registry, registers the driver, and has claims prepared there. One
// socket serves both services, so the kubelet is told no other endpoint.

import type { Fault } from "../../../src/fault/fault.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { codeTrailers } from "../../../host/node/grpc/rpc-trailers.ts";
import { RpcServer } from "../../../host/node/grpc/rpc-server.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { driverName } from "../rules/names.ts";
import { driverMethods, driverVersion } from "./kubelet-messages.ts";
import { prepareClaims, type PrepareDeps, unprepareClaims } from "./prepare-claims.ts";

/** Settings of the server. */
export interface DriverInit extends Omit<PrepareDeps, "calls"> {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  readonly uids: readonly number[];
  readonly clock: Clock;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Called when the kubelet has registered the driver: a kubelet that starts removes the node's slices. */
  readonly onRegistered: () => void;
}

/** gRPC's status code INTERNAL. */
const internal = 13;
const maxMessage = 1024;

/** Listens. Fault DAEMON_SOCKET. */
export function serveDriver(init: DriverInit): Promise<Result<RpcServer>> {
  const { socket, uids, clock, log, onRegistered } = init;
  const warn = (text: string): void => log("warn", text);
  const deps: PrepareDeps = { ...init, calls: new Set() };
  return RpcServer.listen(
    { socket, uids },
    {
      methods: driverMethods,
      malformed: "CLAIM_UNUSABLE",
      faultTrailers: ({ msg }: Fault) => codeTrailers(internal, inertLine(msg, maxMessage)),
    },
    clock,
    warn,
    () => ({
      unary: {
        GetInfo: async () => ok({ type: "DRAPlugin", name: driverName, endpoint: socket, supported_versions: [driverVersion] }),
        NotifyRegistrationStatus: async (request) => {
          const { plugin_registered: isRegistered, error } = {
            plugin_registered: false,
            error: "",
            ...(isJsonObject(request) ? request : {}),
          };
          if (isRegistered === true) onRegistered();
          else warn(`claims: the kubelet refused the driver ${driverName}: ${inertLine(String(error), maxMessage)}`);
          return ok({});
        },
        NodePrepareResources: async (request) => ok(await prepareClaims(deps, request)),
        NodeUnprepareResources: async (request) => ok(unprepareClaims(deps, request)),
      },
    }),
  );
}
