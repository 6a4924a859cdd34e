// The endpoints behind an address of a Service, by the feature that serves Services in pods.

import type { IpAddress } from "../net/ip.ts";
import type { JudgedPod } from "./packet-judge.ts";

/** The endpoints of a Service that a pod of this node reaches at an address. */
export interface ServiceEndpoints {
  /** `namespace/name`. */
  readonly service: string;
  /** The address of each endpoint once, of all ports together. Empty: connections are refused. */
  readonly endpoints: readonly IpAddress[];
}

/** Finds the endpoints behind an address of a Service; undefined: the pod reaches no Service at the address. */
export type FindEndpoints = (pod: JudgedPod, address: IpAddress) => Promise<ServiceEndpoints | undefined>;
