// The rules of the CRI Network API's socket: its methods, and the form of its failures.

import type { RpcService } from "../../../host/node/grpc/rpc-server.ts";
import { rpcMethods } from "./messages.ts";
import { faultTrailers } from "./rpc-status.ts";

/** The rules. */
export const networkSocket: RpcService = {
  methods: rpcMethods,
  malformed: "NETWORK_CONFIG_INVALID",
  faultTrailers,
};
