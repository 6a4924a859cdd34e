// The opaque configuration of a claim or a class (`plexus.dev/v1alpha1`, kind Network): which network a device's attachment joins, and how.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { isPoolName } from "../../../src/configuration/pool-name.ts";
import { readNetworkName } from "../../../src/npwg/network-name.ts";
import { labelProblem, subdomainProblem } from "../../../src/npwg/object-names.ts";
import { type Checked, checkHardwareAddress, checkInterface, checkIps } from "../../../src/npwg/selection-values.ts";
import { parametersKind, parametersVersion } from "./names.ts";

/** The network: a NetworkAttachmentDefinition, a PodNetwork, or a configuration list. */
export type NetworkSource =
  | { readonly kind: "definition"; readonly namespace: string; readonly name: string }
  | { readonly kind: "podNetwork"; readonly name: string }
  /** `text` is the list as JSON. `policies`: the network whose policies hold for the attachment, as `namespace/name` or `podnetwork/NAME`. */
  | { readonly kind: "list"; readonly text: string; readonly policies?: string };

/** One configuration. An absent member keeps the value of an earlier configuration. */
export interface NetworkParameters {
  readonly source?: NetworkSource;
  readonly interface?: string;
  readonly ips?: readonly string[];
  readonly mac?: string;
  /** The AddressPool that has the attachment's addresses. */
  readonly addressPool?: string;
}

const keys = ["apiVersion", "kind", "definition", "podNetwork", "list", "policies", "pool", "interface", "ips", "mac"];
const sourceKeys = ["definition", "podNetwork", "list"];
const definitionKeys = ["namespace", "name"];

/** Reads the parameters. A definition without a namespace is one of `namespace`. The problem names the field and the accepted form. */
export function readNetworkParameters(parameters: unknown, namespace: string): Reading<NetworkParameters> {
  if (!isJsonObject(parameters)) return problem(`parameters must be an object, but is ${describeJson(parameters)}`);
  const { apiVersion, kind } = parameters;
  if (apiVersion !== parametersVersion || kind !== parametersKind)
    return problem(
      `parameters must have apiVersion ${parametersVersion} and kind ${parametersKind}, but have ${shown(apiVersion)} and ${shown(kind)}`,
    );
  const unknown = Object.keys(parameters).find((key) => !keys.includes(key));
  if (unknown !== undefined) return problem(`parameters.${quote(unknown, 60)} is no field; known are ${keys.join(", ")}`);
  const source = readSource(parameters, namespace);
  if (!source.ok) return source;
  const checked = {
    addressPool: taken(parameters, "pool", checkPool),
    interface: taken(parameters, "interface", checkInterface),
    ips: taken(parameters, "ips", checkIps),
    mac: taken(parameters, "mac", checkHardwareAddress([6])),
  };
  for (const each of Object.values(checked)) if (!each.ok) return each;
  const { addressPool, interface: name, ips, mac } = checked;
  return {
    ok: true,
    value: {
      ...(source.value === undefined ? {} : { source: source.value }),
      ...(addressPool.ok && addressPool.value !== undefined ? { addressPool: addressPool.value } : {}),
      ...(name.ok && name.value !== undefined ? { interface: name.value } : {}),
      ...(ips.ok && ips.value !== undefined ? { ips: ips.value } : {}),
      ...(mac.ok && mac.value !== undefined ? { mac: mac.value } : {}),
    },
  };
}

function readSource(parameters: Readonly<Record<string, unknown>>, namespace: string): Reading<NetworkSource | undefined> {
  const { definition, podNetwork, list, policies } = parameters;
  const given = sourceKeys.filter((each) => parameters[each] !== undefined);
  if (given.length > 1) return problem(`parameters have ${given.join(" and ")}; keep the one that is the network`);
  // Another network has policies of its own, which the author of a claim must not be able to replace.
  if (policies !== undefined && list === undefined)
    return problem("parameters.policies is for a list only; a definition and a PodNetwork have their own policies");
  if (definition !== undefined) return readDefinition(definition, namespace);
  if (podNetwork !== undefined) return readPodNetworkName(podNetwork);
  return readList(list, policies, namespace);
}

function readPodNetworkName(name: unknown): Reading<NetworkSource> {
  if (typeof name !== "string") return problem(`parameters.podNetwork must be a PodNetwork's name, but is ${describeJson(name)}`);
  const wrong = subdomainProblem(name);
  if (wrong !== undefined) return problem(`parameters.podNetwork ${quote(name, 60)} ${wrong}`);
  return { ok: true, value: { kind: "podNetwork", name } };
}

function readDefinition(definition: unknown, podNamespace: string): Reading<NetworkSource> {
  if (!isJsonObject(definition))
    return problem(`parameters.definition must be an object with name and namespace, but is ${describeJson(definition)}`);
  const unknown = Object.keys(definition).find((key) => !definitionKeys.includes(key));
  if (unknown !== undefined)
    return problem(`parameters.definition.${quote(unknown, 60)} is no field; known are ${definitionKeys.join(", ")}`);
  const { name, namespace = podNamespace } = definition;
  for (const [key, value] of Object.entries({ name, namespace })) {
    if (typeof value !== "string") return problem(`parameters.definition.${key} must be a string, but is ${describeJson(value)}`);
    const wrong = labelProblem(value);
    if (wrong !== undefined) return problem(`parameters.definition.${key} ${quote(value, 60)} ${wrong}`);
  }
  return { ok: true, value: { kind: "definition", namespace: String(namespace), name: String(name) } };
}

function readList(list: unknown, policies: unknown, namespace: string): Reading<NetworkSource | undefined> {
  if (list === undefined) return { ok: true, value: undefined };
  if (!isJsonObject(list)) return problem(`parameters.list must be a configuration list, but is ${describeJson(list)}`);
  if (!Array.isArray(list["plugins"])) return problem("parameters.list.plugins must be a list of plugins");
  const source = { kind: "list", text: JSON.stringify(list) } as const;
  if (policies === undefined) return { ok: true, value: source };
  if (typeof policies !== "string")
    return problem(`parameters.policies must be a network's name, but is ${describeJson(policies)}`);
  const network = readNetworkName(policies, namespace);
  if (!network.ok) return problem(`parameters.policies ${network.problem}`);
  return { ok: true, value: { ...source, policies: network.value } };
}

function checkPool(value: unknown, text: string): Checked<string> {
  return typeof value === "string" && isPoolName(value)
    ? { value }
    : { problem: `must be the name of an AddressPool, but is ${quote(text, 60)}` };
}

function taken<T>(
  parameters: Readonly<Record<string, unknown>>,
  key: string,
  check: (value: unknown, text: string) => Checked<T>,
): Reading<T | undefined> {
  const value = parameters[key];
  if (value === undefined) return { ok: true, value: undefined };
  const checked = check(value, JSON.stringify(value));
  return "problem" in checked ? problem(`parameters.${key} ${checked.problem}`) : { ok: true, value: checked.value };
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : value === undefined ? "none" : describeJson(value);
}
