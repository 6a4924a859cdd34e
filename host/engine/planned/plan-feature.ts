// The part of an optional feature in the plan of an ADD. Programs hand the list of features in; planning knows none of them by name.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { FurtherDevices } from "../../../src/npwg/further-devices.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import type { Cluster, Pod, PodOfCall } from "../../cluster/cluster.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import type { AttachmentPlan, ShownAttachment } from "./attachment-plan.ts";
import type { ClaimedNetwork } from "./claimed-network.ts";

/** The attachments of a pod as planned so far. */
export interface PlannedNetworks {
  readonly cluster: Cluster | undefined;
  readonly pod: Pod | undefined;
  readonly attachments: readonly AttachmentPlan[];
  /** The networks of the pod's annotation, in its order. */
  readonly selected: readonly NetworkSelection[];
}

/** One network that a feature selects for a pod. */
export interface SelectedNetwork {
  /** The name that the pod's status and the journal have. */
  readonly podNetwork: string;
  readonly selection: NetworkSelection;
  /** The definitions of the network: the first has its chain, further ones add keys to the chain's plugins. */
  readonly definitions: readonly { readonly namespace: string; readonly name: string }[];
}

/** All networks that a feature selects for a pod. */
export interface SelectedNetworks {
  /** The network on the runtime's interface. `target` is undefined if it is the cluster's default network. */
  readonly primary: { readonly podNetwork: string; readonly target: SelectedNetwork | undefined };
  readonly further: readonly SelectedNetwork[];
}

/** A pod whose interfaces are about to be made. */
export interface GuardedPod {
  readonly containerId: string;
  readonly netns: string;
  readonly cluster: Cluster;
  readonly pod: Pod;
  /** All interfaces of the pod, the new ones included. */
  readonly interfaces: readonly GuardedInterface[];
}

/** An interface, and its network's definition or PodNetwork. */
export interface GuardedInterface {
  readonly ifname: string;
  /** `namespace/name` of the definition, or the origin of a network that the administrator configured. */
  readonly source: string;
  readonly podNetwork?: string | undefined;
  /** The text of the network's configuration list; absent if it is not known. */
  readonly conflist?: string;
  /** The facts of its ADD; absent before the ADD. */
  readonly attached?: AttachedFacts;
}

/** The link and the addresses of an attachment after its ADD. */
export interface AttachedFacts {
  /** The link in the pod as the ADD left it; undefined if it is not known. */
  readonly link: LinkIdentity | undefined;
  /** The addresses of the ADD's result, without prefix lengths. */
  readonly addresses: readonly string[];
  /** Whether this call has made the link: no process of the pod has changed it yet. */
  readonly isNew: boolean;
}

/** The parts of a call that every hook gets. */
export interface FeatureContext {
  readonly configuration: HostConfiguration;
  readonly warn: (text: string) => void;
}

/** The parts of a call that a guard needs. */
export interface GuardContext extends FeatureContext {
  readonly shim: NetlinkSender;
}

/** The hooks of one feature in the plan of an ADD. A hook of a feature that is off costs nothing but a look at the configuration. */
export interface PlanFeature {
  /** The feature's part in STATUS: whether the node could serve an ADD. */
  readonly readiness?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    readonly check: (cluster: Cluster | undefined) => Promise<Result<void>>;
  };
  /** Networks of the pod besides those of the annotation `k8s.v1.cni.cncf.io/networks`. */
  readonly networks?: {
    readonly isNeeded: (configuration: HostConfiguration, pod: Pod | undefined) => boolean;
    /** Undefined: the feature selects none, and the pod gets the cluster's default network. */
    readonly select: (
      context: FeatureContext,
      cluster: Cluster | undefined,
      pod: Pod | undefined,
    ) => Promise<Result<SelectedNetworks | undefined>>;
    /** The network of this name, which the pod's resource claim names, by the same rules. */
    readonly named: (
      context: FeatureContext,
      cluster: Cluster | undefined,
      pod: Pod,
      podNetwork: string,
    ) => Promise<Result<SelectedNetwork>>;
    /** Whether a running pod's networks are those of the feature. */
    readonly ownsNetworksOf: (pod: Pod) => boolean;
    /** Annotations of the pod besides the network status. */
    readonly annotations: (attachments: readonly ShownAttachment[]) => Promise<Readonly<Record<string, string>>>;
  };
  /** Devices of the pod besides those that the kubelet allocated. */
  readonly devices?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    /** Undefined: this cluster has none. */
    readonly read: (pod: PodOfCall, cluster: Cluster) => Promise<Result<FurtherDevices | undefined>>;
  };
  /** Networks of the pod's resource claims, which come after those of its annotation. */
  readonly claimed?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    readonly networks: (
      context: FeatureContext,
      cluster: Cluster | undefined,
      pod: Pod,
    ) => Promise<Result<readonly ClaimedNetwork[]>>;
  };
  /** The values that attachments need from outside of the node before the first plugin runs, such as the port of a fabric. */
  readonly completion?: {
    /** Whether any of the attachments needs it. */
    readonly isNeeded: (configuration: HostConfiguration, attachments: readonly AttachmentPlan[]) => boolean;
    readonly complete: (planned: PlannedNetworks) => Promise<Result<readonly AttachmentPlan[]>>;
    /** The fault of an attachment that needs it and cannot get it while the pod runs. HOT_PLUG_REFUSED. */
    readonly refuse: (attachment: AttachmentPlan) => Promise<Result<void>>;
  };
  /** Prepares the pod's network namespace before the first step of a further attachment, for example by the rules of policies. */
  readonly guard?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    readonly guard: (context: GuardContext, pod: GuardedPod) => Promise<Result<Guarding>>;
    /** The part on the node: rules at the node's ends of the pod's links. */
    readonly node?: {
      readonly isOn: (configuration: HostConfiguration) => boolean;
      /** After the attachments' links are made, and before the runtime is answered. */
      readonly secure: (context: GuardContext, pod: GuardedPod) => Promise<Result<void>>;
      /** After all attachments of a container are undone. A failure is a warning of the hook's own: the daemon removes what is left. */
      readonly release: (context: GuardContext, containerId: string) => Promise<void>;
    };
  };
}

/** A preparation that is decided, and begun. */
export interface Guarding {
  /** Settles when the preparation is in force. Its rejection is handled even if nobody waits. */
  readonly inForce: Promise<Result<void>>;
}

/** The preparation whose end this is. */
export function guardingOf(inForce: Promise<Result<void>>): Guarding {
  inForce.catch(() => undefined);
  return { inForce };
}

/**
 * Lets each feature guard the pod before its interfaces are made. The runtime's own network may be attached before the preparation is in force. Fault: that of the
 * first feature that cannot.
 */
export async function guarded(
  features: readonly PlanFeature[],
  context: GuardContext,
  pod: GuardedPod,
): Promise<Result<Guarding>> {
  const begun: Promise<Result<void>>[] = [];
  for (const { guard } of features) {
    if (guard?.isOn(context.configuration) !== true) continue;
    const guarding = await guard.guard(context, pod);
    if (!guarding.ok) {
      // The call must not end before its effects.
      await Promise.all(begun);
      return guarding;
    }
    begun.push(guarding.value.inForce);
  }
  return ok(guardingOf(Promise.all(begun).then((ends) => ends.find((each) => !each.ok) ?? ok(undefined))));
}

/** Whether a feature has a part on the node. */
export function needsSecuring(features: readonly PlanFeature[], configuration: HostConfiguration): boolean {
  return features.some(({ guard }) => guard?.node?.isOn(configuration) === true);
}

/** Lets each feature act on the node once the pod's interfaces are there. Fault: that of the first feature that cannot. */
export async function secured(features: readonly PlanFeature[], context: GuardContext, pod: GuardedPod): Promise<Result<void>> {
  for (const { guard } of features) {
    if (guard?.node?.isOn(context.configuration) !== true) continue;
    const done = await guard.node.secure(context, pod);
    if (!done.ok) return done;
  }
  return ok(undefined);
}

/** Lets each feature remove its part on the node of a container whose attachments are undone. */
export async function released(features: readonly PlanFeature[], context: GuardContext, containerId: string): Promise<void> {
  for (const { guard } of features)
    if (guard?.node?.isOn(context.configuration) === true) await guard.node.release(context, containerId);
}

/** The networks of the one feature that selects any for the pod. */
export async function selectedNetworks(
  features: readonly PlanFeature[],
  context: FeatureContext,
  cluster: Cluster | undefined,
  pod: Pod | undefined,
): Promise<Result<SelectedNetworks | undefined>> {
  for (const { networks } of features) {
    if (networks?.isNeeded(context.configuration, pod) !== true) continue;
    const selected = await networks.select(context, cluster, pod);
    if (!selected.ok || selected.value !== undefined) return selected;
  }
  return ok(undefined);
}

/** The annotations that features write for these attachments. */
export async function featureAnnotations(
  features: readonly PlanFeature[],
  attachments: readonly ShownAttachment[],
): Promise<Readonly<Record<string, string>>> {
  if (attachments.every(({ podNetwork }) => podNetwork === undefined)) return {};
  const annotations = await Promise.all(features.map(({ networks }) => networks?.annotations(attachments) ?? {}));
  return Object.assign({}, ...annotations);
}

/** The devices that the features know of the call's pod. `pod` and `cluster` are asked only if a feature needs them. */
export async function furtherDevices(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  pod: () => Result<PodOfCall | undefined>,
  cluster: () => Promise<Cluster | undefined>,
): Promise<Result<readonly FurtherDevices[]>> {
  const devices: FurtherDevices[] = [];
  for (const feature of features) {
    if (feature.devices?.isOn(configuration) !== true) continue;
    const named = pod();
    if (!named.ok) return named;
    const source = await cluster();
    if (named.value === undefined || source === undefined) continue;
    const read = await feature.devices.read(named.value, source);
    if (!read.ok) return read;
    if (read.value !== undefined) devices.push(read.value);
  }
  return ok(devices);
}

/** The attachments with what the features add to them. */
export async function completed(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  planned: PlannedNetworks,
): Promise<Result<readonly AttachmentPlan[]>> {
  let { attachments } = planned;
  for (const { completion } of features) {
    if (completion?.isNeeded(configuration, attachments) !== true) continue;
    const whole = await completion.complete({ ...planned, attachments });
    if (!whole.ok) return whole;
    attachments = whole.value;
  }
  return ok(attachments);
}

/** The fault of an attachment that a feature can complete only when a pod starts. */
export async function refusedOfRunningPod(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  attachment: AttachmentPlan,
): Promise<Result<void>> {
  for (const { completion } of features) {
    if (completion?.isNeeded(configuration, [attachment]) !== true) continue;
    const refused = await completion.refuse(attachment);
    if (!refused.ok) return refused;
  }
  return ok(undefined);
}
