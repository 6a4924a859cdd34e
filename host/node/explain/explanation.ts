// Explains each step of a network without running it: its plugin, what the plugin declares, what it is granted, and why it would not load.

import { readFileSync } from "node:fs";
import type { PluginConf } from "../../../src/cni/network-list.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { type DefinitionPolicy, grantsFor } from "../../../src/configuration/definition-policy.ts";
import { type DelegateGrants, defaultWasm, type WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { nativePluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import { isPlexusName } from "../../../src/configuration/refuse-self.ts";
import { notFound } from "../../engine/steps/plugin-finder.ts";
import { Admission, type AdmittedComponent } from "../../sandbox/admission/admit.ts";
import type { Declaration } from "../../sandbox/admission/declaration.ts";
import { type Limits, limitsOf } from "../../sandbox/limits.ts";
import { type ExplainedDefinition, explainDefinition, ruleForNative } from "./explain-definition.ts";
import { type ExplainedDemand, explainDemand } from "./explain-demand.ts";
import { findPlugin } from "./find-plugin.ts";
import type { HostSettings } from "./host-settings.ts";
import { type NamedList, policyOf } from "./networks.ts";
import { suggestedGrant, uncovered } from "./suggest-grant.ts";

/** A capability that a component declares. */
export interface ExplainedCapability {
  readonly name: string;
  /** Why the delegate needs it, as its author declared. */
  readonly reason: string;
  /** Whether the component imports the capability: only then can its code call it. */
  readonly imported: boolean;
  /** The administrator's grant with its scopes; null if not granted. */
  readonly granted: object | null;
}

/** A fault, as data. */
export interface ExplainedProblem {
  readonly kind: string;
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
}

/** One plugin of a network. */
export interface ExplainedStep {
  readonly type: string;
  /** `ipam`: the IPAM plugin of the step above. */
  readonly role: "step" | "ipam";
  readonly kind: "native" | "component" | "missing";
  readonly path: string | null;
  /** SHA-256 of the file: `sha256:` and 64 hexadecimal digits. */
  readonly digest: string | null;
  /** A component's declaration of itself. */
  readonly delegate: { readonly name: string; readonly version: string; readonly abi: string; readonly about: string } | null;
  /** The capabilities that a component declares. */
  readonly capabilities: readonly ExplainedCapability[];
  /** Capabilities that are imported and granted: the code can call them. */
  readonly effective: readonly string[];
  readonly limits: Limits | null;
  /** The host configuration's demands on the component's digest and signer; null without demands. */
  readonly demand: ExplainedDemand | null;
  /** Capabilities that are imported, but not granted. */
  readonly missing: readonly string[];
  /** Capabilities that are granted, but not declared. */
  readonly idle: readonly string[];
  /** An addition to the host configuration that grants the `missing` capabilities; null if none is missing. */
  readonly toGrant: object | null;
  /** Values in the step's configuration that the grant does not cover. Derived from keys of the reference plugins, so only a hint. */
  readonly uncovered: readonly string[];
  /** Why the plugin would not load; null if it would. */
  readonly problem: ExplainedProblem | null;
  /** The step's IPAM plugin, if it has one. */
  readonly steps: readonly ExplainedStep[];
}

/** A network and its steps. */
export interface ExplainedNetwork {
  /** The file, or `namespace/name` of the definition. */
  readonly source: string;
  readonly name: string;
  readonly cniVersion: string;
  /** The policy for the definition's namespace; null for a network that is no definition's. */
  readonly definition: ExplainedDefinition | null;
  /** Whether an ADD would reach its first step. */
  readonly loads: boolean;
  /** A problem of the network itself, not of a step. */
  readonly problem: ExplainedProblem | null;
  readonly steps: readonly ExplainedStep[];
}

/** The document that `plexusctl explain -o json` prints. */
export interface Explanation {
  readonly apiVersion: "plexus/v1";
  readonly kind: "Explanation";
  /** Path of Plexus' own configuration; null if none was found, so that the default grants apply. */
  readonly hostConfiguration: string | null;
  readonly cniPath: readonly string[];
  readonly loads: boolean;
  readonly networks: readonly ExplainedNetwork[];
  readonly warnings: readonly string[];
}

/** The configuration against which the steps are checked. */
interface Terms {
  readonly wasm: WasmConfiguration;
  readonly definitions: DefinitionPolicy;
  /** The definition that binds the network, if any. */
  readonly binding: NamedList["binding"];
  readonly cniPath: string;
  /** The plugin type of Plexus itself. */
  readonly ownType: string;
  readonly cniVersion: string;
  readonly admission: Admission;
}

/** Explains the networks under the host configuration, or under the defaults if there is none. */
export async function explain(
  networks: readonly NamedList[],
  { settings, cniPath, warnings }: { settings: HostSettings | undefined; cniPath: string; warnings: readonly string[] },
): Promise<Explanation> {
  const { wasm = defaultWasm, type = "plexus" } = settings?.configuration ?? {};
  const path = settings?.cniPath ?? cniPath;
  const definitions = policyOf(settings);
  const terms = { wasm, definitions, cniPath: path, ownType: type, admission: new Admission() };
  const explained = await Promise.all(networks.map((network) => withDemands(explainNetwork(network, terms), wasm)));
  return {
    apiVersion: "plexus/v1",
    kind: "Explanation",
    hostConfiguration: settings?.path ?? null,
    cniPath: path.split(":").filter((each) => each !== ""),
    loads: explained.every(({ loads }) => loads),
    networks: explained,
    warnings,
  };
}

function explainNetwork(
  { source, list, namespace, binding }: NamedList,
  terms: Omit<Terms, "cniVersion" | "binding">,
): ExplainedNetwork {
  const { name, cniVersion } = list;
  const steps = list.plugins.map((plugin) => explainPlugin(plugin, { ...terms, binding, cniVersion }));
  const definition = namespace === undefined ? null : explainDefinition(terms.definitions, namespace);
  const version = toVersion(cniVersion);
  const problem = version.ok ? null : problemOf(version.fault);
  return { source, name, cniVersion, definition, loads: problem === null && steps.every(isLoadable), problem, steps };
}

/** The network with the demands on its components. A call checks them before it looks into a component. */
async function withDemands(network: ExplainedNetwork, wasm: WasmConfiguration): Promise<ExplainedNetwork> {
  const steps = await Promise.all(network.steps.map((step) => withDemand(step, wasm)));
  return { ...network, steps, loads: network.loads && steps.every(isLoadable) };
}

async function withDemand(step: ExplainedStep, wasm: WasmConfiguration): Promise<ExplainedStep> {
  const steps = await Promise.all(step.steps.map((each) => withDemand(each, wasm)));
  const explained = step.kind === "component" && step.path !== null ? await explainDemand(step.type, step.path, wasm) : undefined;
  if (explained === undefined) return { ...step, steps };
  const { demand, refusal } = explained;
  return { ...step, steps, demand, problem: refusal === undefined ? step.problem : problemOf(refusal) };
}

function isLoadable({ problem, steps }: ExplainedStep): boolean {
  return problem === null && steps.every(isLoadable);
}

function explainPlugin(plugin: PluginConf, terms: Terms): ExplainedStep {
  const { type, ipamType, document } = plugin;
  const found = explainType(type, "step", document.parsed, terms);
  const step = found.kind === "native" && found.problem === null ? { ...found, ...nativeRefusal(plugin, terms) } : found;
  if (ipamType === undefined) return step;
  const ipam = explainType(ipamType, "ipam", document.parsed, terms);
  // A native plugin may implement its ipam.type itself, so a missing IPAM plugin is no error. A delegate cannot.
  const mayLack = ipam.kind === "missing" && step.kind === "native";
  return { ...step, steps: [mayLack ? { ...ipam, problem: null } : ipam] };
}

/** The problem of a native plugin that the definition's namespace may not use, and the rule that would allow it. */
function nativeRefusal(
  { type, ipamType, document: { parsed } }: PluginConf,
  { binding, definitions, cniPath, wasm }: Terms,
): Partial<ExplainedStep> {
  if (binding === undefined) return {};
  const isComponent = (each: string): boolean => each === ipamType && findPlugin(each, cniPath, wasm.prefer).kind === "component";
  const refused = nativePluginRefusal(definitions, binding.definition, { type, configuration: parsed, isComponent });
  if (refused === undefined) return {};
  const ipam = ipamType === undefined || isComponent(ipamType) || !isJsonObject(parsed["ipam"]) ? undefined : parsed["ipam"];
  return { problem: problemOf(refused), toGrant: ruleForNative(binding.definition, type, parsed, ipam) };
}

function explainType(
  type: string,
  role: ExplainedStep["role"],
  config: Readonly<Record<string, unknown>>,
  terms: Terms,
): ExplainedStep {
  const none = {
    type,
    role,
    digest: null,
    delegate: null,
    capabilities: [],
    effective: [],
    limits: null,
    demand: null,
    missing: [],
    idle: [],
    toGrant: null,
    uncovered: [],
    problem: null,
    steps: [],
  };
  const found = findPlugin(type, terms.cniPath, terms.wasm.prefer);
  if (found.kind === "missing") {
    return { ...none, kind: "missing", path: null, problem: problemOf(notFound(type, terms.cniPath, found.unfit)) };
  }
  const selfReference = isPlexusName(type, { type: terms.ownType })
    ? fault("CONFIG_INVALID", `type "${type}" is plexus itself, which cannot be a plugin of a network that plexus attaches`)
    : undefined;
  const bytes = readFileSync(found.path);
  const problem = selfReference === undefined ? null : problemOf(selfReference);
  const base = { ...none, ...found, digest: digestOf(bytes), problem };
  if (found.kind === "native" || selfReference !== undefined) return base;
  const limits = limitsOf(terms.wasm.limits);
  const component = terms.admission.examine(bytes, limits, base.digest);
  if (!component.ok) return { ...base, limits, problem: problemOf(component.fault) };
  return { ...base, limits, ...compareWithGrants(type, component.value, role === "step" ? config : {}, terms) };
}

/** Compares the component's declaration with its grants. */
function compareWithGrants(
  type: string,
  { declaration, capabilities: imported }: AdmittedComponent,
  config: Readonly<Record<string, unknown>>,
  { wasm, definitions, binding, cniVersion }: Terms,
): Partial<ExplainedStep> {
  const grants = grantsFor({ wasm, definitions }, binding?.definition, type);
  const grantOf = (name: string): object | null => (isCapability(grants, name) ? (grants[name] ?? null) : null);
  const declared = Object.entries(declaration.capabilities);
  const missing = imported.filter((name) => grantOf(name) === null);
  const { name, version, abi, about, cniVersions } = declaration;
  return {
    delegate: { name, version, abi, about },
    capabilities: declared.map(([each, reason]) => ({
      name: each,
      reason,
      imported: imported.includes(each),
      granted: grantOf(each),
    })),
    effective: imported.filter((each) => grantOf(each) !== null),
    missing,
    // Default grants are not listed: no administrator chose them for this type.
    idle:
      grants !== wasm.otherGrants && grants !== definitions.otherGrants
        ? Object.keys(grants).filter((each) => !Object.hasOwn(declaration.capabilities, each))
        : [],
    toGrant: missing.length === 0 ? null : grantFragment(type, declaredGrants(grants, declaration), missing, config, binding),
    uncovered: uncovered(binding === undefined ? "wasm.grants" : "grants", type, config, grants, imported),
    problem: problemIn(missing, cniVersions, cniVersion),
  };
}

function problemIn(missing: readonly string[], supported: readonly string[], cniVersion: string): ExplainedProblem | null {
  if (missing.length > 0) return problemOf(fault("CAPABILITY_NOT_GRANTED", `not granted: ${missing.join(", ")}`));
  if (supported.includes(cniVersion)) return null;
  const why = `the network has cniVersion ${cniVersion}, but the delegate supports ${supported.join(", ")}`;
  return problemOf(fault("VERSION_UNSUPPORTED", why));
}

/** The existing grants of capabilities that the component declares. */
function declaredGrants(grants: DelegateGrants, { capabilities }: Declaration): DelegateGrants {
  return Object.fromEntries(Object.entries(grants).filter(([name]) => Object.hasOwn(capabilities, name)));
}

/** The addition to the host configuration. It repeats the existing grants, because a type's grants replace the default grants entirely. */
function grantFragment(
  type: string,
  grants: DelegateGrants,
  missing: readonly string[],
  config: Readonly<Record<string, unknown>>,
  binding: NamedList["binding"],
): object {
  const added = missing.map((name) => [name, isCapability(allCapabilities, name) ? suggestedGrant(name, config) : {}]);
  const granted = { grants: { [type]: { ...grants, ...Object.fromEntries(added) } } };
  if (binding === undefined) return { wasm: granted };
  return { definitions: { rules: [{ namespaces: [binding.definition.namespace], ...granted }] } };
}

const allCapabilities: Required<Record<keyof DelegateGrants, true>> = {
  log: true,
  leases: true,
  resolver: true,
  links: true,
  sysctl: true,
  firewall: true,
  announce: true,
  delegation: true,
  state: true,
};

function isCapability(grants: object, name: string): name is keyof DelegateGrants {
  return Object.hasOwn(grants, name);
}

function problemOf({ kind, code, msg }: Fault): ExplainedProblem {
  return { kind, code, msg, remedy: catalogue[kind].remedy };
}

function digestOf(bytes: Uint8Array): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes, "hex")}`;
}
