// Lints one definition by itself: what a call that selects it would refuse, whatever plugins the node has.

import type { Fault } from "../../../src/fault/fault.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { ruleOfFault } from "../../../src/lint/fault-rule.ts";
import { finding, type LintFinding, type LintNetwork, type LintSource } from "../../../src/lint/finding.ts";
import { locateNetwork } from "../../../src/lint/locate-network.ts";
import { mistakesIn, offsetOfMessage } from "../../../src/lint/place-of-message.ts";
import type { LintRuleId } from "../../../src/lint/rules.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import type { ManifestObject } from "../../cluster/manifests/manifest-objects.ts";
import type { HostSettings } from "../explain/host-settings.ts";
import { definedNetwork, type NamedList, originOf } from "../explain/networks.ts";

/** Networks and findings of one target. */
export interface LintTarget {
  readonly networks: readonly NamedList[];
  readonly findings: readonly LintFinding[];
  /** Further objects of a manifest. */
  readonly others?: readonly Readonly<Record<string, unknown>>[];
}

/** The configuration under which definitions are read. */
export interface LintTerms {
  readonly settings: HostSettings | undefined;
  readonly cniPath: string;
}

/** Lints one definition by itself. `origin`: where the configuration stands; undefined: the object comes from an API, so places are those in its configuration. */
export function lintDefinition(
  { object, namespace, name, path }: ManifestObject,
  origin: LintSource | undefined,
  terms: LintTerms,
): LintTarget {
  const definition = readNetworkAttachmentDefinition(object);
  const config = definition.ok ? (definition.value.config ?? "") : "";
  const source = origin ?? originOf(path, config);
  const fullName = `${namespace}/${name}`;
  if (!definition.ok) return refused(source, fullName, definition.fault);
  const network = definedNetwork(definition.value, terms.settings, () => undefined);
  if (!network.ok) return refused(source, fullName, network.fault);
  return { networks: [{ ...network.value, origin: source }], findings: [] };
}

/** The findings of a fault. `rule`: absent: that of the fault's kind. */
export function refused(
  source: LintSource,
  object: string,
  { kind, msg }: Fault,
  rule: LintRuleId = ruleOfFault(kind),
): LintTarget {
  const { text, file } = source;
  const isJson = text === "" || parseDocument(text, { what: file }).ok;
  const found = isJson || rule === "unreadable-file" ? rule : "unreadable-configuration";
  const findings = mistakesIn(msg.startsWith(`${file}: `) ? msg.slice(file.length + 2) : msg).map((message) =>
    finding(found, { source, object, offset: offsetOfMessage(text, message), message }),
  );
  return { networks: [], findings };
}

/** The network for the rules that compare networks. */
export function lintNetworkOf({ source, origin, list, namespace }: NamedList): LintNetwork {
  const known = origin ?? originOf(source, "");
  const object = namespace === undefined ? "" : source;
  return { source: known, object, list, paths: known.text === "" ? [] : locateNetwork(known.text, list) };
}
