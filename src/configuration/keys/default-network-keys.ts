// The networks that every pod gets: the default network, further ones, and the further chain beside the default network's file.

import type { ObjectReader } from "../object-reader.ts";
import { key, type ValuesOf } from "../table/key.ts";
import type { Kind } from "../table/kind.ts";
import { boolean, matching, text } from "../table/kinds.ts";
import { names, texts } from "../table/lists.ts";

const foundByPlexusd = "plexusd finds the default network: take the key out, or name the network's file by --cluster-network";

/** The key that leaves steps of the default network's list out, because the runtime's list has them after Plexus. */
export const omittedStepsKey = "omitDefaultSteps";

/** `checkDefaultNetwork` reads the list, because its bounds depend on `clusterNetwork`; the engine reads its elements. */
const inlineNetworks: Kind<never> = {
  read: () => undefined,
  schema: () => ({ type: "array", items: { type: "object" } }),
};

const chainNameRule = { pattern: /^(?:[a-zA-Z0-9][a-zA-Z0-9_.-]*)?$/, wanted: "a name that can be part of a path" };

export const defaultNetworkKeys = {
  clusterNetwork: key({
    kind: text,
    about:
      "The default network: a NetworkAttachmentDefinition in multusNamespace, else the name of a configuration in confDir; or the path of a file; or the path of a directory, whose first configuration by name is used.",
    byPlexusd: foundByPlexusd,
    inChart: "none",
  }),
  delegates: key({
    kind: inlineNetworks,
    about: "Inline networks; the first is the default network.",
    byPlexusd: foundByPlexusd,
    inChart: "none",
  }),
  defaultNetworks: key({
    kind: names,
    about:
      "Further networks for every pod outside systemNamespaces, named in the same way as clusterNetwork. A pod with the annotation plexus.dev/default-networks: none gets none of them.",
    usual: [],
  }),
  systemNamespaces: key({
    kind: texts,
    about:
      'Namespaces whose pods get no defaultNetworks, and the default network whatever state the PodNetwork "default" is in; {usual} by default. Their pods get a status like all others.',
    usual: ["kube-system"],
  }),
  retired: key({
    kind: boolean,
    about:
      "Whether Plexus is being removed; {usual} by default. With true an ADD attaches only the default network, as the runtime would without Plexus; DELs of earlier pods undo all that is journalled.",
    usual: false,
    byPlexusd: "plexusctl uninstall --wait sets it",
    inChart: "none",
  }),
  [omittedStepsKey]: key({
    kind: texts,
    about:
      "Plugin types whose steps of the default network's list are left out, because the runtime's list has a step of that type after Plexus; none by default. plexusd sets the key.",
    usual: [],
    byPlexusd: "plexusd sets it for steps that another program adds to its file",
    inChart: "none",
  }),
  auxiliaryCNIChainName: key({
    kind: matching(chainNameRule),
    about:
      "A further chain for every pod: the .conf files in the directory of this name beside clusterNetwork's file, if any. Its first plugin gets an empty result as prevResult. The status has no entry for it.",
  }),
};

/** `clusterNetwork` or `delegates` names the default network, as JSON Schema. */
export const defaultNetworkSchema = {
  anyOf: [
    { type: "object", properties: { clusterNetwork: { type: "string", minLength: 1 } }, required: ["clusterNetwork"] },
    { type: "object", properties: { delegates: { ...inlineNetworks.schema(), minItems: 1 } }, required: ["delegates"] },
  ],
};

/**
 * Checks that `clusterNetwork` or `delegates` names the default network. With both, Multus takes the former; a notice then says that the
 * latter has no effect.
 */
export function checkDefaultNetwork(
  reader: ObjectReader,
  { clusterNetwork, auxiliaryCNIChainName: chain }: ValuesOf<typeof defaultNetworkKeys>,
  notices: string[],
): void {
  const inline = reader.value("delegates");
  // Multus' generator writes an empty list.
  const none = inline === undefined || (Array.isArray(inline) && inline.length === 0 && clusterNetwork !== undefined);
  if (!none) reader.objects("delegates");
  if (clusterNetwork !== undefined && !none) {
    notices.push("configuration: delegates has no effect, because clusterNetwork names the default network");
  } else if (clusterNetwork === undefined && none && reader.has("clusterNetwork")) {
    reader.refuse("clusterNetwork", "is empty, and delegates is missing: one of them must name the default network");
  } else if (clusterNetwork === undefined && none) {
    reader.refuse("delegates", "is missing, and so is clusterNetwork: one of them must name the default network");
  }
  if (chain !== undefined && clusterNetwork?.startsWith("/") !== true)
    reader.refuse("auxiliaryCNIChainName", "needs a clusterNetwork that is a file: the chain's directory lies beside it");
}
