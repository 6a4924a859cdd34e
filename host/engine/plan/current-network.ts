// The networks of existing attachments as they are configured today. An attachment is undone with the configuration of its ADD, but the keys
// by which a list tells a runtime what not to do (`disableGC`, `disableCheck`) count as they are now, as in libcni: an administrator who sets
// them means the running pods.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { labelProblem } from "../../../src/npwg/object-names.ts";
import type { PlannedAttachment } from "../../store/journal/entry.ts";
import type { Call, ConfigurationContext } from "../call.ts";
import { readDefaultNetwork, readOtherDelegates } from "./default-network.ts";
import { definitionNetwork, networkOnDisk } from "./named-network.ts";

/** Where an attachment's configuration came from. An attachment that only the result cache knows has no source. */
export interface Origin {
  /** The network's name. */
  readonly network: string;
  readonly source?: PlannedAttachment["source"];
}

/** Faults of one definition. After any other one the source of definitions is not asked again. */
const definitionFaults: readonly FaultKind[] = ["NETWORK_NOT_FOUND", "NETWORK_INVALID"];

/** Finds today's lists for one call. */
export class CurrentNetworks {
  readonly #call: Call;
  #isClusterAway = false;
  /** Today's lists of definitions, by `NAMESPACE/NAME`. */
  readonly #defined = new Map<string, NetworkList | undefined>();
  #configured: readonly NetworkList[] | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Today's list; undefined if the network is no longer configured, or its definition cannot be read now. */
  async of(origin: Origin): Promise<NetworkList | undefined> {
    const name = definitionOf(origin) ?? this.#defaultDefinition(origin);
    return (name === undefined ? undefined : await this.#definition(name)) ?? this.ofNode(origin);
  }

  /** As `of`, without the source of definitions: today's list among the networks that the administrator configured on this node. */
  ofNode(origin: Origin): NetworkList | undefined {
    this.#configured ??= configuredOnNode(this.#call);
    return this.#configured.find(({ name }) => name === origin.network);
  }

  /**
   * Whether a GC or a round of the daemon may undo the attachment: neither its network's list nor Plexus' own configuration has `disableGC`.
   * `journalled`: the list of its ADD, which counts if there is none today.
   */
  async mayCollect(journalled: NetworkList, origin: Origin): Promise<boolean> {
    if (this.#call.configuration.disableGC) return false;
    return !((await this.of(origin)) ?? journalled).disableGC;
  }

  /** The definition that `clusterNetwork` may name. Without one, the name means a file of the node. */
  #defaultDefinition({ source }: Origin): readonly [namespace: string, name: string] | undefined {
    const { clusterNetwork, multusNamespace } = this.#call.configuration;
    const isNamed = source === "default" && clusterNetwork !== undefined && labelProblem(clusterNetwork) === undefined;
    return isNamed ? [multusNamespace, clusterNetwork] : undefined;
  }

  async #definition(name: readonly [namespace: string, name: string]): Promise<NetworkList | undefined> {
    const key = name.join("/");
    if (this.#isClusterAway || this.#defined.has(key)) return this.#defined.get(key);
    const cluster = await this.#call.cluster();
    const definition = await cluster?.networkAttachmentDefinition(...name);
    if (definition?.ok === false && !definitionFaults.includes(definition.fault.kind)) {
      this.#isClusterAway = true;
      this.#call.warn(
        `network ${key}: its definition cannot be read, so disableGC counts as it was at ADD: ${definition.fault.msg}`,
      );
    }
    const network = definition?.ok === true ? definitionNetwork(this.#call.configuration, definition.value) : undefined;
    const list = network?.ok === true ? network.value.list : undefined;
    this.#defined.set(key, list);
    return list;
  }
}

/** Whether the attachment's configuration came from a definition, in contrast to the node's own networks. */
export function isDefinition(origin: Origin): boolean {
  return definitionOf(origin) !== undefined;
}

/** The definition that a source names; undefined for a network that the administrator configured on the node. */
function definitionOf({ source = "" }: Origin): readonly [namespace: string, name: string] | undefined {
  const [namespace = "", name = "", ...rest] = source.split("/");
  return namespace === "" || name === "" || rest.length > 0 ? undefined : [namespace, name];
}

/** The default network, the other elements of `delegates`, and the networks that `defaultNetworks` names. A network that is unreadable now is left out. */
function configuredOnNode(call: ConfigurationContext): readonly NetworkList[] {
  const main = readDefaultNetwork(call);
  const delegates = readOtherDelegates(call);
  const named = call.configuration.defaultNetworks.map((name, index) => networkOnDisk(call, `defaultNetworks[${index}]`, name));
  return [
    ...(main.ok ? [main.value] : []),
    ...(delegates.ok ? delegates.value : []),
    ...named.flatMap((each) => (each.ok ? [each.value.list] : [])),
  ];
}

/** Whether a failed step is left out. */
export type LeavesOut = (step: ChainStep, failure: Fault) => boolean;

/**
 * Leaves out a step that the journal has and today's list lacks, and whose plugin is uninstalled: the trace of an uninstalled service mesh. A runtime
 * executes today's list. Without this rule each pod of the mesh would stay in deletion until DEL is given up.
 *
 * Decides for the steps of an attachment to a network that the administrator configured on this node. A step of a definition is never left out,
 * because its list of today may not be readable in a DEL. Neither is the first step, which made the interface.
 */
export function lostSteps(call: Call, planned: PlannedAttachment): LeavesOut {
  const networks = new CurrentNetworks(call);
  return ({ index, plugin: { type } }, { kind }) => {
    if (index === 0 || kind !== "PLUGIN_NOT_FOUND" || isDefinition(planned)) return false;
    const today = networks.ofNode(planned);
    if (today === undefined || today.plugins.some((plugin) => plugin.type === type)) return false;
    call.warn(
      `network ${planned.source} as ${planned.ifname}: the step ${type} is left out: its plugin is not installed, and ${type} is no longer in the list of ${today.name}`,
    );
    return true;
  };
}
