// Explains each step of a network without running it.

import { readFileSync } from "node:fs";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import { executesIpam } from "../../../src/cni/reference-plugins.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { stepRulesFor, isPlexusName } from "../../../src/configuration/definition-policy.ts";
import { hostDefaults } from "../../../src/configuration/host-configuration.ts";
import type { StepRules } from "../../../src/configuration/step-rules.ts";
import { defaultWasm, type WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { wasmDisabled } from "../../../src/configuration/wasm-disabled.ts";
import { fault } from "../../../src/fault/fault.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { type JsonPath, nearestOffset } from "../../../src/json/position.ts";
import type { LintSource } from "../../../src/lint/finding.ts";
import { locateNetwork } from "../../../src/lint/locate-network.ts";
import { nativePluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import { shadowRefusal } from "../../capabilities/dry/dry-run.ts";
import { notFound } from "../../engine/call/plugin-finder.ts";
import { Admission } from "../../sandbox/admission/admit.ts";
import { limitsOf } from "../../sandbox/limits.ts";
import { compareWithGrants, type GrantTerms } from "./compare-with-grants.ts";
import { explainDefinition, ruleForNative } from "./explain-definition.ts";
import { explainDemand } from "./explain-demand.ts";
import { type CallTimes, explainRule, type ShadowProblem } from "./explain-rule.ts";
import { type ExplainedNetwork, type ExplainedPlace, type ExplainedStep, type Explanation, problemOf } from "./explanation.ts";
import { findPlugin } from "./find-plugin.ts";
import type { HostSettings } from "./host-settings.ts";
import { type NamedList, policyOf } from "./networks.ts";

/** The configuration against which the steps are checked. */
interface Terms extends GrantTerms {
  readonly cniPath: string;
  /** The plugin type of Plexus itself. */
  readonly ownType: string;
  readonly admission: Admission;
  /** The rules for the steps of the administrator's networks. */
  readonly stepRules: StepRules | undefined;
  readonly times: CallTimes;
}

/** The times of a configuration that sets none. */
const defaultTimes: CallTimes = hostDefaults;

/** Explains the networks under the host configuration, or under the defaults if there is none. */
export async function explain(
  networks: readonly NamedList[],
  { settings, cniPath, warnings }: { settings: HostSettings | undefined; cniPath: string; warnings: readonly string[] },
): Promise<Explanation> {
  const { wasm = defaultWasm, type = "plexus" } = settings?.configuration ?? {};
  const path = settings?.cniPath ?? cniPath;
  const definitions = policyOf(settings);
  const { steps: stepRules, ...times } = settings?.configuration ?? { steps: undefined, ...defaultTimes };
  const terms = { wasm, definitions, cniPath: path, ownType: type, admission: new Admission(), stepRules, times };
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
  { source, list, namespace, binding, origin }: NamedList,
  terms: Omit<Terms, "cniVersion" | "binding">,
): ExplainedNetwork {
  const { name, cniVersion } = list;
  const version = toVersion(cniVersion);
  // An empty version means 0.1.0, which is what a component declares.
  const stepTerms = { ...terms, binding, cniVersion: version.ok ? version.value : cniVersion };
  const rules = stepRulesFor({ steps: terms.stepRules, definitions: terms.definitions }, binding?.definition);
  const places = placesOf(origin, list);
  const steps = list.plugins.map((plugin, index) => {
    const step = withPlaces(explainPlugin(plugin, stepTerms), places[index]);
    const { type, ipamType } = plugin;
    const place = { index, steps: list.plugins.length, type, ipamType };
    return {
      ...step,
      rule: explainRule(rules, terms.times, place, shadowProblemIn(stepTerms, step.kind)),
    };
  });
  const definition = namespace === undefined ? null : explainDefinition(terms.definitions, namespace);
  const problem = version.ok ? null : problemOf(version.fault);
  const at =
    origin === undefined || origin.text === "" ? null : { file: origin.file, ...origin.place(nameOffset(origin.text, name)) };
  return { source, at, name, cniVersion, definition, loads: problem === null && steps.every(isLoadable), problem, steps };
}

/** Finds the problem of a shadow beside a plugin of a step of kind `kind`. */
function shadowProblemIn(terms: Terms, kind: ExplainedStep["kind"]): ShadowProblem {
  return (beside, shadow) => {
    if (kind !== "native" || findPlugin(beside, terms.cniPath, terms.wasm.prefer).kind !== "native")
      return `${beside} is not executed as a native plugin of this step, so nothing is compared`;
    // A shadow may have the native plugin's name: the component is meant.
    const {
      kind: found,
      problem,
      delegate,
      effective,
    } = explainType(
      shadow,
      "ipam",
      {},
      {
        ...terms,
        wasm: { ...terms.wasm, prefer: true },
      },
    );
    if (found !== "component" || delegate === null) return problem?.msg ?? `no component "${shadow}" is on CNI_PATH`;
    return problem?.msg ?? shadowRefusal(shadow, effective)?.msg ?? null;
  };
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

/** The place of each plugin's `type` and `ipam.type`; undefined for plugins that are not in the text. */
function placesOf(origin: LintSource | undefined, list: NetworkList): readonly (StepPlaces | undefined)[] {
  if (origin === undefined || origin.text === "") return [];
  const { file, text, place } = origin;
  const at = (path: JsonPath): ExplainedPlace => ({ file, ...place(nearestOffset(text, path)) });
  return locateNetwork(text, list).map((path) =>
    path === undefined ? undefined : { type: at([...path, "type"]), ipam: at([...path, "ipam", "type"]) },
  );
}

interface StepPlaces {
  readonly type: ExplainedPlace;
  readonly ipam: ExplainedPlace;
}

function withPlaces(step: ExplainedStep, places: StepPlaces | undefined): ExplainedStep {
  if (places === undefined) return step;
  return { ...step, at: places.type, steps: step.steps.map((each) => ({ ...each, at: places.ipam })) };
}

/** The offset of the network's name: in a text with several networks, of the first with this name. */
function nameOffset(text: string, name: string): number {
  const found = new RegExp(`"name"\\s*:\\s*(?=${RegExp.escape(JSON.stringify(name))})`).exec(text);
  return found === null ? 0 : found.index + found[0].length;
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
  const mayLack = ipam.kind === "missing" && step.kind === "native" && !executesIpam(type);
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
    resultChanges: null,
    limits: null,
    demand: null,
    missing: [],
    idle: [],
    toGrant: null,
    uncovered: [],
    rule: null,
    at: null,
    warnings: [],
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
  if (!terms.wasm.enabled) return { ...base, limits, problem: problemOf(wasmDisabled(type, found.path)) };
  const component = terms.admission.examine(bytes, limits, base.digest);
  if (!component.ok) return { ...base, limits, problem: problemOf(component.fault) };
  const { name } = component.value.declaration;
  const warnings = name === type ? [] : [otherName(found.path, name, type)];
  return { ...base, limits, warnings, ...compareWithGrants(type, component.value, role === "step" ? config : {}, terms) };
}

/** A component that was copied over another one still loads: only its declaration tells. */
function otherName(path: string, name: string, type: string): string {
  return `${path} declares the name ${name}, but configurations refer to it by its file name, ${type}`;
}

function digestOf(bytes: Uint8Array): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes, "hex")}`;
}
