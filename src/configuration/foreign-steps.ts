// Steps that other programs, such as the installers of service meshes, append to the configuration that plexusd writes.

import { parseConfiguration, elementTexts, isJsonObject, memberText, memberValue, parseDocument } from "../json/document.ts";
import { omittedStepsKey } from "./keys/default-network-keys.ts";
import { isPlexusType, namesPlexus } from "./directory-network.ts";

/** The key of plexusd's list with a digest of the other keys, by which an edit of another program is recognised. */
export const digestKey = "digest";

/** A step of another program in the file of plexusd. */
export interface ForeignStep {
  readonly type: string;
  /** The plugin's object as written. */
  readonly text: string;
}

/** The content of a file that plexusd wrote, as found. */
export interface WrittenContent {
  /** Path of the default network's file; undefined: the file names none. */
  readonly clusterNetwork: string | undefined;
  readonly capabilities: readonly string[];
  /** Types whose steps of the default network's list are left out. */
  readonly omitted: readonly string[];
  /** The steps of other programs in order. Of several with one type the last counts. */
  readonly steps: readonly ForeignStep[];
  /** The content without steps of other programs, to compare it. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Whether the file has an element that is neither Plexus' plugin nor counts as a step: a duplicate, or Plexus itself once more. */
  readonly hasSurplus: boolean;
}

/**
 * Reads the content of a file with plexusd's mark; undefined if the file is not a JSON object with a list of plugins. `plexusTypes`: the types by which
 * Plexus' own plugin is called on this node.
 */
export function readWrittenContent(text: string, plexusTypes: readonly string[]): WrittenContent | undefined {
  const document = parseDocument(text, { what: "network configuration" });
  if (!document.ok || !Array.isArray(memberValue(document.value, "plugins"))) return undefined;
  const elements = elementTexts(memberText(document.value, "plugins") ?? "[]").flatMap((element) => {
    const plugin = parseConfiguration(element, { what: "plugin" });
    const type = plugin.ok ? memberValue(plugin.value, "type") : undefined;
    return plugin.ok ? [{ type: typeof type === "string" ? type : "", text: element.trim(), parsed: plugin.value.parsed }] : [];
  });
  const plexus = elements.find(({ type }) => isPlexusType(type, plexusTypes));
  const others = elements.filter(({ type, parsed }) => type !== "" && !namesPlexus(parsed, plexusTypes));
  const lastOfType = new Map(others.map(({ type }, index) => [type, index]));
  const steps = others.filter(({ type }, index) => lastOfType.get(type) === index);
  const { clusterNetwork, capabilities, [omittedStepsKey]: omitted } = plexus?.parsed ?? {};
  return {
    clusterNetwork: typeof clusterNetwork === "string" ? clusterNetwork : undefined,
    capabilities: isJsonObject(capabilities) ? Object.keys(capabilities).filter((key) => capabilities[key] === true) : [],
    omitted: Array.isArray(omitted) ? omitted.filter((type) => typeof type === "string") : [],
    steps: steps.map(({ type, text: step }) => ({ type, text: step })),
    own: { ...document.value.parsed, [digestKey]: undefined, plugins: [plexus?.parsed] },
    hasSurplus: elements.length !== steps.length + (plexus === undefined ? 0 : 1),
  };
}
