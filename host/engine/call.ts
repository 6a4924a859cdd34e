// A call: one ADD, DEL, CHECK, GC or STATUS, from the runtime's request to the answer. A call has the request's variables, configuration, deadline, locks and
// events, and the interfaces through which it acts (shim, stores, cluster, components). No part of it outlives the call. The parts that the process keeps for
// longer are its node (node.ts). The parts for one plugin are a step (host/capabilities/step.ts).

import type { CniCall, EnvironmentPair } from "../../src/cni/environment.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Result } from "../../src/fault/result.ts";
import type { JsonObjectDocument } from "../../src/json/document.ts";
import type { DeviceAllocation } from "../../src/npwg/device-id.ts";
import type { AllocatorDevices } from "../../src/npwg/allocator-devices.ts";
import type { ResultCache } from "../store/cache/result-cache.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { PluginOutput } from "./events/call-log.ts";
import type { Shim } from "../protocol/shim.ts";
import type { JournalKey } from "../store/journal/entry-file.ts";
import type { Journal } from "../store/journal/journal.ts";
import type { Abandoned } from "../store/journal/abandoned.ts";
import type { TakeLock } from "../store/locks/file-lock.ts";
import type { CallDeadline } from "../../src/step-policy/call-deadline.ts";
import type { CallLocks } from "./call/call-locks.ts";
import type { Clock } from "../system/clock.ts";
import type { NetlinkSender } from "../system/netlink/exchange.ts";
import type { CallEvents } from "./events/call-events.ts";
import type { DelegateRunner } from "../capabilities/delegate-runner.ts";
import type { PluginFinder } from "./call/plugin-finder.ts";
import type { ChainFacts } from "../capabilities/step.ts";
import type { PassedOverStep } from "../../src/cni/failed-step.ts";
import type { PlanFeature } from "./planned/plan-feature.ts";
import type { RunStep } from "../../src/cni/chains.ts";
import type { JournalEntry } from "../store/journal/entry.ts";

/** A chain of this call. */
export interface ChainIdentity extends ChainFacts {
  /** ADD: the pod had a link with the interface name before. The undo of a step then gets no CNI_NETNS: it would remove that link. */
  readonly isNameTaken?: boolean | undefined;
  /** ADD: receives each step that a rule passes over, before the next step runs. */
  readonly onPassedOver?: ((step: PassedOverStep) => void) | undefined;
}

/** Plexus' own configuration, of a call or of a command of plexusctl. The administrator's networks are read from it. */
export interface ConfigurationContext {
  /** The network configuration on stdin, with the keys that only the configuration file has. */
  readonly document: JsonObjectDocument;
  /** The host configuration that `document` contains. */
  readonly configuration: HostConfiguration;
  /** Writes a warning for the administrator to the call's log. */
  readonly warn: (text: string) => void;
}

/** The parts that planning an ADD reads. Planning changes nothing on the node, so that `plexusctl` also plans for pods without a call. */
export interface PlanContext extends ConfigurationContext {
  /** The variables of the runtime's request. */
  readonly request: CniCall;
  /** Finds the plugins of chains. */
  readonly plugins: PluginFinder;
  /** The source of pods and definitions; undefined if none is configured. */
  readonly cluster: () => Promise<Cluster | undefined>;
  /** The devices that the kubelet allocated to the call's pod and that no attachment of the pod uses yet. */
  readonly devices: () => Promise<Result<DeviceAllocation>>;
  /** The devices of other allocators than the kubelet's device manager, which features know, and that no attachment of the pod uses yet. */
  readonly allocatorDevices: () => Promise<Result<readonly AllocatorDevices[]>>;
  /** The features' parts in the plan of an ADD. */
  readonly features: readonly PlanFeature[];
  readonly shim: NetlinkSender;
}

/** One ADD, DEL, CHECK, GC or STATUS. */
export interface Call extends PlanContext {
  /** The shim's environment, which plugins inherit. */
  readonly inherited: readonly EnvironmentPair[];
  readonly journal: Journal;
  /** The records of abandoned attachments. */
  readonly abandoned: Abandoned;
  readonly cache: ResultCache;
  /** Finds the plugins that delegates call. */
  readonly delegatedPlugins: PluginFinder;
  /** True if steps must be components, because the native binary of the same name made this call. */
  readonly componentsOnly: boolean;
  /** Runs steps in components. */
  readonly delegates: DelegateRunner;
  /** Carries out the call's effects: it executes plugins, and sends requests to the kernel. */
  readonly shim: Shim;
  /** Name of the directory for the nested calls of native steps, in the run directory; empty for none. */
  readonly nestedCallDirectory: string;
  /** The chains that the call has begun. A nested call belongs to one of them. */
  readonly chains: ChainIdentity[];
  /** The stream of the call's events. */
  readonly events: CallEvents;
  /** Takes the stderr of native plugins, unless the step's error contains it. */
  readonly output: (output: PluginOutput) => void;
  readonly clock: Clock;
  /** The start of the process that serves the call. */
  readonly startedAt: Date;
  /** The kernel's boot id. */
  readonly bootId: string;
  /** The time that the call may take. */
  readonly deadline: CallDeadline;
  /** Makes a runner for one chain, by the rules for its steps. A native plugin may take `maxMs` milliseconds, if that is less than configured. */
  readonly runStep: (chain: ChainIdentity, maxMs?: number) => RunStep;
  /** Whether no network namespace is mounted at this path. */
  readonly namespaceIsGone: (path: string) => Promise<boolean>;
  /** The locks that keep other calls out. */
  readonly locks: CallLocks;
  /** Takes a lock on a file that other programs use, too. */
  readonly takeLock: TakeLock;
}

/** The key of the call's journal entry. */
export function journalKey(call: Call): JournalKey {
  const { request, configuration } = call;
  return { containerId: request.containerId, network: configuration.name, ifname: request.ifname };
}

/** Whether the entry is of another boot. Its network namespace is gone then, even if its path exists again. */
export function isOfAnotherBoot({ bootId }: Call, { plan }: JournalEntry): boolean {
  return plan.bootId !== bootId;
}
