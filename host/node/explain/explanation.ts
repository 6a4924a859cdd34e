// What each step of a network would be: its plugin, what that declares, what it is granted, and what would keep it from being loaded.
// Nothing is run.

import { readFileSync } from "node:fs";
import type { NetworkList, PluginConf } from "../../src/cni/network-list.ts";
import { toVersion } from "../../src/cni/versions.ts";
import { type DelegateGrants, defaultWasm, type WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";
import { catalogue } from "../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { isItself } from "../brain/itself.ts";
import { notFound } from "../brain/plugin-finder.ts";
import { Admission, type AdmittedComponent } from "../sandbox/admission/admit.ts";
import type { Declaration } from "../sandbox/admission/declaration.ts";
import { type Limits, limitsOf } from "../sandbox/limits.ts";
import { findPlugin } from "./find-plugin.ts";
import type { HostSettings } from "./host-settings.ts";
import type { NamedList } from "./networks.ts";
import { suggestedGrant, uncovered } from "./suggest-grant.ts";

export interface ExplainedCapability {
  readonly name: string;
  /** Why the delegate wants it, in its author's words. */
  readonly reason: string;
  /** Whether its code can call it at all. */
  readonly imported: boolean;
  /** The administrator's grant with its scopes; null: none. */
  readonly granted: object | null;
}

export interface ExplainedProblem {
  readonly kind: string;
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
}

export interface ExplainedStep {
  readonly type: string;
  /** `ipam`: what the step above has its addresses from. */
  readonly role: "step" | "ipam";
  readonly kind: "native" | "component" | "missing";
  readonly path: string | null;
  /** `sha256:` and 64 hexadecimal digits, of the file. */
  readonly digest: string | null;
  /** What a component says of itself. */
  readonly delegate: { readonly name: string; readonly version: string; readonly abi: string; readonly about: string } | null;
  /** What a component declares. */
  readonly capabilities: readonly ExplainedCapability[];
  /** Both declared and granted: what it can call. */
  readonly effective: readonly string[];
  readonly limits: Limits | null;
  /** Imported and not granted. */
  readonly missing: readonly string[];
  /** Granted and not declared. */
  readonly idle: readonly string[];
  /** What the host configuration needs besides, for `missing` to be granted. */
  readonly toGrant: object | null;
  /** What the step's configuration names and the grant doesn't list, as far as keys of reference plugins tell. */
  readonly uncovered: readonly string[];
  /** Why it would not be loaded. */
  readonly problem: ExplainedProblem | null;
  readonly steps: readonly ExplainedStep[];
}

export interface ExplainedNetwork {
  readonly source: string;
  readonly name: string;
  readonly cniVersion: string;
  /** Whether an ADD would get as far as its first step. */
  readonly loads: boolean;
  /** Why it would not, whatever its steps are. */
  readonly problem: ExplainedProblem | null;
  readonly steps: readonly ExplainedStep[];
}

export interface Explanation {
  readonly apiVersion: "plexus/v1";
  readonly kind: "Explanation";
  /** Path of Plexus' own configuration; null: none was found, and what is granted is the default. */
  readonly hostConfiguration: string | null;
  readonly cniPath: readonly string[];
  readonly loads: boolean;
  readonly networks: readonly ExplainedNetwork[];
  readonly warnings: readonly string[];
}

/** What the steps are looked up and judged with. */
interface Terms {
  readonly wasm: WasmConfiguration;
  readonly cniPath: string;
  readonly ownType: string;
  readonly cniVersion: string;
  readonly admission: Admission;
}

/** Explains the networks with what the host configuration says; without one, with the defaults. */
export function explain(
  networks: readonly NamedList[],
  { settings, cniPath, warnings }: { settings: HostSettings | undefined; cniPath: string; warnings: readonly string[] },
): Explanation {
  const { wasm = defaultWasm, type = "plexus" } = settings?.configuration ?? {};
  const path = settings?.cniPath ?? cniPath;
  const terms = { wasm, cniPath: path, ownType: type, admission: new Admission() };
  const explained = networks.map(({ source, list }) => explainNetwork(source, list, terms));
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

function explainNetwork(source: string, list: NetworkList, terms: Omit<Terms, "cniVersion">): ExplainedNetwork {
  const { name, cniVersion } = list;
  const steps = list.plugins.map((plugin) => explainPlugin(plugin, { ...terms, cniVersion }));
  const version = toVersion(cniVersion);
  const problem = version.ok ? null : problemOf(version.fault);
  return { source, name, cniVersion, loads: problem === null && steps.every(isLoadable), problem, steps };
}

function isLoadable({ problem, steps }: ExplainedStep): boolean {
  return problem === null && steps.every(isLoadable);
}

function explainPlugin({ type, ipamType, document }: PluginConf, terms: Terms): ExplainedStep {
  const step = explainType(type, "step", document.parsed, terms);
  if (ipamType === undefined) return step;
  const ipam = explainType(ipamType, "ipam", document.parsed, terms);
  // A native plugin may do its IPAM itself, whatever its configuration names; a delegate can't.
  const mayLack = ipam.kind === "missing" && step.kind === "native";
  return { ...step, steps: [mayLack ? { ...ipam, problem: null } : ipam] };
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
  const own = isItself(type, { type: terms.ownType })
    ? fault("CONFIG_INVALID", `type "${type}" can't be a plugin of a network that plexus attaches: it would be plexus itself`)
    : undefined;
  const bytes = readFileSync(found.path);
  const base = { ...none, ...found, digest: digestOf(bytes), problem: own === undefined ? null : problemOf(own) };
  if (found.kind === "native" || own !== undefined) return base;
  const limits = limitsOf(terms.wasm.limits);
  const component = terms.admission.examined(bytes, limits, base.digest);
  if (!component.ok) return { ...base, limits, problem: problemOf(component.fault) };
  return { ...base, limits, ...judged(type, component.value, role === "step" ? config : {}, terms) };
}

/** What the component declares, beside what it is granted. */
function judged(
  type: string,
  { declaration, capabilities: imported }: AdmittedComponent,
  config: Readonly<Record<string, unknown>>,
  { wasm, cniVersion }: Terms,
): Partial<ExplainedStep> {
  const grants = (Object.hasOwn(wasm.grants, type) ? wasm.grants[type] : undefined) ?? wasm.otherGrants;
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
    // What is granted by default is nobody's wish.
    idle: Object.hasOwn(wasm.grants, type)
      ? Object.keys(grants).filter((each) => !Object.hasOwn(declaration.capabilities, each))
      : [],
    toGrant: missing.length === 0 ? null : fragment(type, declaredOf(grants, declaration), missing, config),
    uncovered: uncovered(type, config, grants, imported),
    problem: problemIn(missing, cniVersions, cniVersion),
  };
}

function problemIn(missing: readonly string[], speaks: readonly string[], cniVersion: string): ExplainedProblem | null {
  if (missing.length > 0) return problemOf(fault("CAPABILITY_NOT_GRANTED", `not granted: ${missing.join(", ")}`));
  if (speaks.includes(cniVersion)) return null;
  const why = `the network has cniVersion ${cniVersion}, the delegate speaks ${speaks.join(", ")}`;
  return problemOf(fault("VERSION_UNSUPPORTED", why));
}

/** What is granted already and of use. */
function declaredOf(grants: DelegateGrants, { capabilities }: Declaration): DelegateGrants {
  return Object.fromEntries(Object.entries(grants).filter(([name]) => Object.hasOwn(capabilities, name)));
}

/** A grant replaces the default as a whole, so what is granted already stands in it, too. */
function fragment(
  type: string,
  grants: DelegateGrants,
  missing: readonly string[],
  config: Readonly<Record<string, unknown>>,
): object {
  const added = missing.map((name) => [name, isCapability(allOf, name) ? suggestedGrant(name, config) : {}]);
  return { wasm: { grants: { [type]: { ...grants, ...Object.fromEntries(added) } } } };
}

const allOf: Required<Record<keyof DelegateGrants, true>> = {
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
