// An attachment as statuses show it.

import type { CniResult } from "../../../src/cni/result.ts";
import type { Family } from "../../../src/net/ip.ts";
import type { DeviceInfo } from "../../../src/npwg/device-info.ts";

/** An attachment as the network statuses show it. */
export interface ShownAttachment {
  readonly ifname: string;
  readonly result: CniResult;
  /** The name in the network status; undefined if the status has no entry for it. */
  readonly statusName: string | undefined;
  /** The selection's `default-route`. */
  readonly defaultRoute: readonly string[] | undefined;
  readonly deviceInfo: DeviceInfo | undefined;
  readonly podNetwork: string | undefined;
  /** The families whose default gateway the pod requested from its PodNetwork. */
  readonly gatewayOf: readonly Family[] | undefined;
}
