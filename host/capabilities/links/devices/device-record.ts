// The record of a device that an attachment has: where it came from, and what its return restores. It is on the disk before the device moves, so that a
// DEL needs neither the engine of the ADD nor the pod's namespace.

import type { DeviceHolder } from "./function-record.ts";
import { isLinkName } from "./link-name.ts";
import type { ParentDevice } from "../../../system/netlink/link-state.ts";

/** The properties of a device that neither a pod nor a move changes. */
export interface DeviceIdentity {
  readonly kind: string;
  /** Empty for a virtual link. */
  readonly permanentMac: string;
  readonly parentDevice?: ParentDevice | undefined;
  /** The index of a veth's other end, or of the lower link. */
  readonly lower?: number | undefined;
  /** The MAC on the node. It tells virtual links without another end apart. */
  readonly mac: string;
}

/** The attachment and the name in the pod, by which a record is found. */
export interface DeviceKey extends DeviceHolder {
  /** The device's name in the pod. */
  readonly podName: string;
}

/** A device of the node that moved into a pod. */
export interface DeviceRecord extends DeviceKey {
  readonly type: string;
  readonly network: string;
  /** Path of the pod's network namespace at the ADD. */
  readonly netns: string;
  /** The index in the pod; absent while the device moves. */
  readonly podIndex?: number | undefined;
  readonly identity: DeviceIdentity;
  /** The state on the node before the move. */
  readonly name: string;
  readonly mtu: number;
  readonly up: boolean;
  readonly alias: string;
  readonly alternativeNames: readonly string[];
  /** The kernel's messages of the addresses, in hexadecimal digits. */
  readonly addresses: readonly string[];
}

/** The record in a file's text; undefined for any other text. */
export function readRecord(text: string): DeviceRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

const texts = ["type", "network", "containerId", "ifname", "podName", "netns", "name", "alias"] as const;

function isRecord(value: unknown): value is DeviceRecord {
  if (typeof value !== "object" || value === null) return false;
  const member = (name: string): unknown => Reflect.get(value, name);
  const identity = member("identity");
  const lists = [member("alternativeNames"), member("addresses")];
  return (
    texts.every((name) => typeof member(name) === "string") &&
    typeof member("mtu") === "number" &&
    typeof member("up") === "boolean" &&
    lists.every((list) => Array.isArray(list) && list.every((each) => typeof each === "string")) &&
    typeof identity === "object" &&
    identity !== null &&
    ["kind", "permanentMac", "mac"].every((name) => typeof Reflect.get(identity, name) === "string") &&
    isLinkName(String(member("name")))
  );
}
