// What one call of the runtime brings along and works with. Everything that belongs to a call comes from the call.

import type { CniCall, EnvironmentPair } from "../../src/cni/environment.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Result } from "../../src/fault/result.ts";
import type { JsonObjectDocument } from "../../src/json/document.ts";
import type { DeviceAllocation } from "../../src/npwg/device-id.ts";
import type { ResultCache } from "../cache/result-cache.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Hands } from "../hands/hands.ts";
import type { JournalKey } from "../journal/entry-file.ts";
import type { Journal } from "../journal/journal.ts";
import type { LeftBehind } from "../journal/left-behind.ts";
import type { CallDeadline } from "./call-deadline.ts";
import type { PluginFinder } from "./plugin-finder.ts";
import type { RunStep } from "./run-chain.ts";

export interface CallContext {
  readonly call: CniCall;
  /** Plexus' own configuration as the runtime gave it, and what it says. */
  readonly document: JsonObjectDocument;
  readonly configuration: HostConfiguration;
  /** What plugins inherit of the hands' environment. */
  readonly inherited: readonly EnvironmentPair[];
  readonly journal: Journal;
  /** What was given up. */
  readonly leftBehind: LeftBehind;
  readonly cache: ResultCache;
  readonly plugins: PluginFinder;
  /** For what Plexus itself does to links and routes. */
  readonly hands: Pick<Hands, "netlink">;
  /** The source of pods and definitions; undefined where none is configured. */
  readonly cluster: () => Promise<Cluster | undefined>;
  /** The devices that the kubelet allocated to the call's pod and no network of it has yet. */
  readonly devices: () => Promise<Result<DeviceAllocation>>;
  /** Kernel's boot id. */
  readonly bootId: string;
  /** How long the call may take. */
  readonly deadline: CallDeadline;
  /** Runs a step of a network's chain, for the attachment under this interface name; for at most `mostMs` milliseconds, if native. */
  readonly runStep: (network: string, ifname: string, mostMs?: number) => RunStep;
  /** The time of day. */
  readonly date: () => Date;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Whether no network namespace is there under this path. */
  readonly namespaceIsGone: (path: string) => Promise<boolean>;
  /** Tells the administrator something that is no fault: a line of the runtime's log. */
  readonly warn: (text: string) => void;
  /** Serialises what concerns one key or all of them; answers how to let go. */
  readonly locks: CallLocks;
}

export type Release = () => void;

/** Locks that hold across processes (CNI 1.1.0 section 3: never two operations for one container, GC alone). */
export interface CallLocks {
  /** For ADD, DEL and CHECK: this container alone, GC kept out. */
  readonly container: (key: JournalKey) => Promise<Result<Release>>;
  /** For GC: every other call of this state directory kept out. */
  readonly everything: () => Promise<Result<Release>>;
}

/** The identity under which a call is journalled. */
export function journalKey(context: Pick<CallContext, "call" | "configuration">): JournalKey {
  const { call, configuration } = context;
  return { containerId: call.containerId, network: configuration.name, ifname: call.ifname };
}
