// One element of the JSON form of the selection annotation (NPWG 4.1.2.1): its keys, with a check for each.

import { type JsonObjectDocument, memberText, memberValue } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { defaultRouteExtension } from "./extension-keys.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { isLongLabel, labelProblem } from "./object-names.ts";
import type { NpwgProfile } from "./profile.ts";
import { spellingsOf } from "./spelled-keys.ts";
import { type Reading, type SelectionProblem, type Sentence, textOf } from "./selection-problem.ts";
import {
  type Check,
  checkBandwidth,
  checkClaim,
  checkCniArgs,
  checkGateways,
  checkHardwareAddress,
  checkInterface,
  checkIps,
  checkPortMappings,
  checkText,
  unknownKey,
} from "./selection-values.ts";

const specifiedKeys = [
  "name",
  "namespace",
  "ips",
  "mac",
  "interface",
  "cni-args",
  "portMappings",
  "bandwidth",
  "default-route",
  "infiniband-guid",
  "ipam-claim-reference",
];
const multusKeys = ["deviceID", "interfaceRequest"];

/** A selection, and whether its default routes came from the extension's key instead of the specification's. */
export interface ElementSelection {
  readonly selection: NetworkSelection;
  readonly routesByExtension: boolean;
}

/** Reads one element. `where` prefixes its messages ("element 2"). */
export function readElement(
  document: JsonObjectDocument,
  where: string,
  podNamespace: string,
  profile: NpwgProfile,
): Reading<ElementSelection> {
  const problems: SelectionProblem[] = [];
  const warnings: Sentence[] = [];
  const refuse = (key: string, why: string, ignorable: boolean): void => {
    problems.push({ why: `${where}: "${key}" ${why}`, ignorable });
  };
  const known = profile.multusSelection ? [...specifiedKeys, ...multusKeys] : specifiedKeys;
  const found = spellingsOf(document.members.keys(), known, profile.multusSelection);
  if (!found.ok) return { value: undefined, problems: [{ why: `${where} ${found.problem}`, ignorable: false }], warnings };
  const spellings = found.value;
  const written = (key: string): string => spellings.get(key) ?? key;
  // Go's encoders write null for an absent map or list: KubeVirt writes `"cni-args": null` in every annotation.
  const present = (key: string): boolean =>
    document.members.has(written(key)) && !(profile.multusSelection && memberValue(document, written(key)) === null);
  const take = <T>(key: string, check: Check<T>, ignorable: boolean): T | undefined => {
    if (!present(key)) return undefined;
    const checked = check(memberValue(document, written(key)), memberText(document, written(key)) ?? "");
    if ("problem" in checked) {
      refuse(key, checked.problem, ignorable);
      return undefined;
    }
    const { doubt } = checked;
    if (doubt !== undefined) warnings.push(() => `${where}: "${key}": ${textOf(doubt)}`);
    return checked.value;
  };

  const name = readName(memberValue(document, written("name")), "name", undefined, refuse);
  const namespace = readName(memberValue(document, written("namespace")), "namespace", podNamespace, refuse);
  const selection: NetworkSelection = {
    name: name ?? "",
    namespace: namespace ?? podNamespace,
    interface:
      take("interface", checkInterface, true) ??
      (profile.multusSelection ? take("interfaceRequest", checkInterface, true) : undefined),
    ips: take("ips", checkIps, true),
    mac: take("mac", checkHardwareAddress(profile.macLengths), true),
    infinibandGuid: take("infiniband-guid", checkHardwareAddress([8]), true),
    portMappings: take("portMappings", checkPortMappings(profile.multusSelection), true),
    bandwidth: take("bandwidth", checkBandwidth(profile.multusSelection), true),
    cniArgs: take("cni-args", checkCniArgs, false),
    defaultRoute: take("default-route", checkGateways, true) ?? take(defaultRouteExtension, checkGateways, true),
    ipamClaimReference: take("ipam-claim-reference", checkClaim, false),
    deviceId: profile.multusSelection ? take("deviceID", checkText, false) : undefined,
    extensions: extensionsOf(document),
  };
  if (present("ips") && selection.ipamClaimReference !== undefined) {
    refuse("ipam-claim-reference", 'can\'t be combined with "ips": the claim already has the addresses (4.1.2.1.11)', false);
  }
  if (present("default-route") && present(defaultRouteExtension)) {
    refuse(defaultRouteExtension, 'can\'t be combined with "default-route" in one element', true);
  }
  for (const each of [name, namespace]) if (each !== undefined && isLongLabel(each)) warnings.push(longName(where, each));
  const spelled = new Set(spellings.values());
  for (const key of document.members.keys()) {
    if (!key.includes(".") && !spelled.has(key)) warnings.push(() => `${where}: ${unknownKey(key, known)}`);
  }
  const routesByExtension = present(defaultRouteExtension);
  return { value: problems.length === 0 ? { selection, routesByExtension } : undefined, problems, warnings };
}

/** The warning about a name that is longer than recommended (N1-08). */
export function longName(where: string, name: string): string {
  return `${where}: ${quote(name, 80)} has ${name.length} characters; 63 or fewer are recommended (3.3)`;
}

function readName(
  value: unknown,
  key: "name" | "namespace",
  fallback: string | undefined,
  refuse: (key: string, why: string, ignorable: boolean) => void,
): string | undefined {
  if (fallback !== undefined && (value === undefined || value === null || value === "")) return fallback;
  const checked = value === undefined ? { problem: "is missing" } : checkText(value, "");
  if ("problem" in checked) {
    refuse(key, checked.problem, false);
    return undefined;
  }
  const problem = labelProblem(checked.value);
  if (problem === undefined) return checked.value;
  refuse(key, `is ${quote(checked.value, 60)}, which ${problem}`, false);
  return undefined;
}

function extensionsOf(document: JsonObjectDocument): ReadonlyMap<string, string> {
  const extensions = new Map<string, string>();
  for (const key of document.members.keys()) {
    const text = memberText(document, key);
    if (key.includes(".") && key !== defaultRouteExtension && text !== undefined) extensions.set(key, text);
  }
  return extensions;
}
