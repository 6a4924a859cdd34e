// The form of an optional feature's part in an ADD and in STATUS. Programs hand the list of features in; the engine knows none of them by name, and runs their hooks by
// `feature-hooks.ts`.

import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { AllocatorDevices } from "../../../src/npwg/allocator-devices.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import type { Cluster, Pod, PodOfCall } from "../../cluster/cluster.ts";
import type { ClaimedDevice } from "../../store/journal/entry.ts";
import type { NetlinkSender } from "../../system/netlink/exchange.ts";
import type { AttachmentPlan, ShownAttachment } from "./attachment-plan.ts";

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
  /** The definitions of the network: the first has its chain, the others add keys to the chain's plugins. */
  readonly definitions: readonly { readonly namespace: string; readonly name: string }[];
}

/** All networks that a feature selects for a pod. */
export interface SelectedNetworks {
  /** The network on the runtime's interface. `target` is undefined if it is the cluster's default network. */
  readonly primary: { readonly podNetwork: string; readonly target: SelectedNetwork | undefined };
  /** The secondary networks. */
  readonly secondary: readonly SelectedNetwork[];
}

/** A network that a resource claim of the pod asks for, and the device that its attachment uses. */
export interface ClaimedNetwork {
  /** The claim and its request, for messages. */
  readonly what: string;
  readonly selection: NetworkSelection;
  /** The list that the claim itself has, in the place of a definition. */
  readonly inline: NetworkAttachmentDefinition | undefined;
  /** The attachment's PodNetwork. */
  readonly podNetwork?: string;
  /** The PodNetwork's parameters besides the first one: they add keys to the plugins of its chain. */
  readonly addedParameters?: readonly { readonly namespace: string; readonly name: string }[];
  /** Whether the network is the administrator's, so that no rule of a namespace binds it. */
  readonly isTrusted: boolean;
  /** The network's list with the device. */
  readonly place: (list: NetworkList) => Result<NetworkList>;
  /** The AddressPool that the attachment must have an address of. */
  readonly pool?: string;
  /** The device information of an exclusive device, for the network status. */
  readonly device?: object;
  readonly claim: ClaimedDevice;
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

/** The hooks of one feature in the plan of an ADD, and in STATUS. A hook with a `key` runs only if the configuration has the key, so a feature that is off costs nothing. */
export interface PlanFeature {
  /** The feature's part in STATUS: whether the node could serve an ADD. */
  readonly readiness?: {
    readonly isOn: (configuration: HostConfiguration) => boolean;
    readonly check: (cluster: Cluster | undefined) => Promise<Result<void>>;
  };
  /** Networks of the pod besides those of the annotation `k8s.v1.cni.cncf.io/networks`. */
  readonly networks?: {
    readonly key: keyof HostConfiguration;
    /** Whether the pod must not start without the feature's answer although the key is off. */
    readonly isNeeded: (pod: Pod) => boolean;
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
    readonly read: (pod: PodOfCall, cluster: Cluster) => Promise<Result<AllocatorDevices | undefined>>;
  };
  /** Networks of the pod's resource claims, which come after those of its annotation. */
  readonly claimed?: {
    readonly key: keyof HostConfiguration;
    readonly networks: (
      context: FeatureContext,
      cluster: Cluster | undefined,
      pod: Pod,
    ) => Promise<Result<readonly ClaimedNetwork[]>>;
  };
  /** The values that attachments need from outside of the node before the first plugin runs, such as the port of a fabric. */
  readonly completion?: {
    readonly key: keyof HostConfiguration;
    /** Whether any of the attachments needs it. */
    readonly isNeeded: (attachments: readonly AttachmentPlan[]) => boolean;
    readonly complete: (planned: PlannedNetworks) => Promise<Result<readonly AttachmentPlan[]>>;
    /** The fault of an attachment that needs it and cannot get it while the pod runs. HOT_PLUG_REFUSED. */
    readonly refuse: (attachment: AttachmentPlan) => Promise<Result<void>>;
  };
  /** Prepares the pod's network namespace before the first step of a secondary network, for example by the rules of policies. */
  readonly guard?: {
    readonly key: keyof HostConfiguration;
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
