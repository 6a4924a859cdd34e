// The findings about the steps of a definition's network where no node is at hand: a controller knows plugins by name only.

import type { DefinitionName } from "../configuration/definition-policy.ts";
import type { DefinitionPolicy } from "../configuration/keys/definition-keys.ts";
import { nativePluginRefusal } from "../npwg/definition-plugins.ts";
import { finding, type LintFinding, type LintNetwork, offsetIn } from "./finding.ts";

/** The kind of program that a node executes for a type. `unknown`: the kind depends on the node. */
export type PluginKind = "native" | "component" | "missing" | "unknown";

/** Knowledge about the nodes' plugins. */
export interface NodePlugins {
  readonly kindOf: (type: string) => PluginKind;
  /** The capabilities that the component of a type needs and that are not granted. `definition` binds the network; undefined: none does. */
  readonly missingGrants: (type: string, definition: DefinitionName | undefined) => readonly string[];
}

/** The findings about the steps. `binding`: the definition that binds the network; undefined for a trusted one. */
export function definitionStepFindings(
  network: LintNetwork,
  binding: DefinitionName | undefined,
  policy: DefinitionPolicy,
  plugins: NodePlugins,
): readonly LintFinding[] {
  const { source, object } = network;
  return network.list.plugins.flatMap(({ type, ipamType, document: { parsed } }, index) => {
    const at = (member: readonly string[]): Pick<Parameters<typeof finding>[1], "source" | "object" | "offset"> => ({
      source,
      object,
      offset: offsetIn(network, index, member),
    });
    const kind = plugins.kindOf(type);
    const own = typeFindings(type, kind, binding, plugins).map(({ rule, message }) =>
      finding(rule, { ...at(["type"]), message }),
    );
    // A native plugin may implement its ipam.type itself, so a missing IPAM plugin is no error there.
    const ipamKind = ipamType === undefined ? "unknown" : plugins.kindOf(ipamType);
    const ipam =
      ipamType === undefined || (ipamKind === "missing" && kind !== "component")
        ? []
        : typeFindings(ipamType, ipamKind, binding, plugins).map(({ rule, message }) =>
            finding(rule, { ...at(["ipam", "type"]), message }),
          );
    if (binding === undefined || kind !== "native") return [...own, ...ipam];
    const isComponent = (each: string): boolean => ["component", "unknown"].includes(plugins.kindOf(each));
    const refusal = nativePluginRefusal(policy, binding, { type, configuration: parsed, isComponent });
    const refused = refusal === undefined ? [] : [finding("forbidden-by-policy", { ...at(["type"]), message: refusal.msg })];
    return [...own, ...refused, ...ipam];
  });
}

function typeFindings(
  type: string,
  kind: PluginKind,
  binding: DefinitionName | undefined,
  { missingGrants }: NodePlugins,
): readonly { readonly rule: "unknown-plugin" | "missing-grant"; readonly message: string }[] {
  if (kind === "missing") return [{ rule: "unknown-plugin", message: `no node has a plugin of type ${type}` }];
  const missing = kind === "component" ? missingGrants(type, binding) : [];
  if (missing.length === 0) return [];
  return [{ rule: "missing-grant", message: `${type}: not granted: ${missing.join(", ")}` }];
}
