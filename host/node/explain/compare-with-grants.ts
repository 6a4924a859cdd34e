// Compares a component's declaration with the grants of its type.

import { grantsFor } from "../../../src/configuration/definition-policy.ts";
import type { DefinitionPolicy } from "../../../src/configuration/keys/definition-keys.ts";
import { type DelegateGrants, grantedCapabilities } from "../../../src/configuration/keys/grant-keys.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import type { AdmittedComponent } from "../../sandbox/admission/admit.ts";
import type { Declaration } from "../../sandbox/admission/declaration.ts";
import { type ExplainedProblem, type ExplainedStep, problemOf } from "./explanation.ts";
import type { NamedList } from "./networks.ts";
import { isUsed, suggestedGrant, uncovered } from "./suggest-grant.ts";

/** The configuration that decides a type's grants. */
export interface GrantTerms {
  readonly wasm: WasmConfiguration;
  readonly definitions: DefinitionPolicy;
  /** The definition that binds the network, if any. */
  readonly binding: NamedList["binding"];
  readonly cniVersion: string;
}

/** The members of the step that follow from the component's declaration and its grants. */
export function compareWithGrants(
  type: string,
  { declaration, capabilities: imported }: AdmittedComponent,
  config: Readonly<Record<string, unknown>>,
  { wasm, definitions, binding, cniVersion }: GrantTerms,
): Partial<ExplainedStep> {
  const grants = grantsFor({ wasm, definitions }, binding?.definition, type);
  const grantOf = (name: string): object | null => (isCapability(grants, name) ? (grants[name] ?? null) : null);
  const declared = Object.entries(declaration.capabilities);
  const isOptional = (name: string): boolean => declaration.optional?.includes(name) === true;
  const missing = imported.filter((name) => grantOf(name) === null && !isOptional(name));
  // An optional capability is proposed if this configuration uses it.
  const wanted = imported.filter((name) => {
    if (grantOf(name) !== null) return false;
    if (!isOptional(name)) return true;
    return isCapability(allCapabilities, name) && isUsed(name, config, imported);
  });
  const { name, version, abi, about, cniVersions } = declaration;
  return {
    delegate: { name, version, abi, about },
    capabilities: declared.map(([each, reason]) => ({
      name: each,
      reason,
      imported: imported.includes(each),
      ...(isOptional(each) ? { optional: true } : {}),
      granted: grantOf(each),
    })),
    effective: imported.filter((each) => grantOf(each) !== null),
    resultChanges: grants.result?.change ?? null,
    missing,
    // Default grants are not listed: no administrator chose them for this type.
    idle:
      grants !== wasm.otherGrants && grants !== definitions.otherGrants
        ? grantedCapabilities(grants).filter((each) => !Object.hasOwn(declaration.capabilities, each))
        : [],
    toGrant:
      wanted.length === 0 ? null : grantFragment(type, declaredGrants(grants, declaration), imported, wanted, config, binding),
    uncovered: uncovered(binding === undefined ? "wasm.grants" : "grants", type, config, grants, {
      imported,
      optional: declaration.optional ?? [],
    }),
    problem: problemIn(missing, cniVersions, cniVersion),
  };
}

function problemIn(missing: readonly string[], supported: readonly string[], cniVersion: string): ExplainedProblem | null {
  if (missing.length > 0) return problemOf(fault("CAPABILITY_NOT_GRANTED", `not granted: ${missing.join(", ")}`));
  if (supported.includes(cniVersion)) return null;
  const why = `the network has cniVersion ${cniVersion}, but the delegate supports ${supported.join(", ")}`;
  return problemOf(fault("VERSION_UNSUPPORTED", why));
}

/** The existing grants of capabilities that the component declares, and the bound on its results. */
function declaredGrants(grants: DelegateGrants, { capabilities }: Declaration): DelegateGrants {
  return Object.fromEntries(Object.entries(grants).filter(([name]) => name === "result" || Object.hasOwn(capabilities, name)));
}

/** The addition to the host configuration. It repeats the existing grants, because a type's grants replace the default grants entirely. */
function grantFragment(
  type: string,
  grants: DelegateGrants,
  imported: readonly string[],
  wanted: readonly string[],
  config: Readonly<Record<string, unknown>>,
  binding: NamedList["binding"],
): object {
  const added = wanted.map((name) => [name, isCapability(allCapabilities, name) ? suggestedGrant(name, config, imported) : {}]);
  const granted = { grants: { [type]: { ...grants, ...Object.fromEntries(added) } } };
  if (binding === undefined) return { wasm: granted };
  return { definitions: { rules: [{ namespaces: [binding.definition.namespace], ...granted }] } };
}

const allCapabilities: Required<Record<Exclude<keyof DelegateGrants, "result">, true>> = {
  log: true,
  leases: true,
  resolver: true,
  links: true,
  sysctl: true,
  firewall: true,
  announce: true,
  delegation: true,
  state: true,
  ovs: true,
  routing: true,
  shaping: true,
  filter: true,
  dhcp: true,
  flows: true,
};

function isCapability(grants: object, name: string): name is keyof DelegateGrants {
  return Object.hasOwn(grants, name);
}
