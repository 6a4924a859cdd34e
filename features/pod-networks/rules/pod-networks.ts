// The networks of a pod by KEP-3698 ("Attaching PodNetwork to a Pod"). The KEP's field Pod.spec.networks is an annotation here, because an
// unchanged API server refuses unknown fields of a pod.

import { checkInterfaceName } from "../../../src/cni/attachment.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { describeJson, memberValue, parseArray, parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { subdomainProblem } from "../../../src/npwg/object-names.ts";
import { podNetworksAnnotation } from "./annotations.ts";

/** The PodNetwork of pods that name none. */
export const defaultPodNetwork = "default";

/** One element of the list: a PodNetwork, or a PodNetworkAttachment of the pod's namespace. */
export interface PodNetworkEntry {
  readonly kind: "PodNetwork" | "PodNetworkAttachment";
  readonly name: string;
  readonly interfaceName: string | undefined;
  readonly isDefaultGw4: boolean;
  readonly isDefaultGw6: boolean;
}

/** As in the NPWG's annotation: more networks than any node attaches to one pod. */
const maxNetworks = 128;
const maxLength = 65_536;
const known = ["podNetworkName", "podNetworkAttachmentName", "interfaceName", "isDefaultGW", "isDefaultGW4", "isDefaultGW6"];

/**
 * Reads the annotation. An absent one means the default PodNetwork (the KEP's auto-population). The static rules of the KEP are checked here, too: an
 * API server without the admission policies accepts any text. Fault SELECTION_INVALID.
 */
export function readPodNetworks(text: string | undefined): Result<readonly PodNetworkEntry[]> {
  if (text === undefined) return ok([podNetworkEntry(defaultPodNetwork)]);
  const what = `annotation ${podNetworksAnnotation}`;
  const source = { kind: "SELECTION_INVALID", maxLength, maxDepth: 4 } as const;
  const elements = parseArray(text, { what, ...source });
  if (!elements.ok) return elements;
  if (elements.value.length > maxNetworks) return refused(`has more than ${maxNetworks} networks`);
  // "Pod has to reference at least 1 PodNetwork": an empty list would take the pod off the network without a word.
  if (elements.value.length === 0) return refused("is empty: name at least one network, or remove the annotation");
  const entries: PodNetworkEntry[] = [];
  for (const [index, element] of elements.value.entries()) {
    const entry = readEntry(element, index, { what: `${what}: element ${index}`, ...source });
    if (!entry.ok) return entry;
    entries.push(entry.value);
  }
  return checkUnique(entries);
}

function readEntry(text: string, index: number, source: Parameters<typeof parseDocument>[1]): Result<PodNetworkEntry> {
  const document = parseDocument(text, source);
  if (!document.ok) return document;
  for (const key of document.value.members.keys()) {
    if (!known.includes(key)) return refused(`element ${index}: unknown key ${quote(key, 40)}; known are ${known.join(", ")}`);
  }
  const value = (key: string): unknown => memberValue(document.value, key) ?? undefined;
  const [network, attachment, interfaceName] = [
    value("podNetworkName"),
    value("podNetworkAttachmentName"),
    value("interfaceName"),
  ];
  if ((network === undefined) === (attachment === undefined)) {
    return refused(`element ${index}: exactly one of podNetworkName and podNetworkAttachmentName is needed`);
  }
  const name = network ?? attachment;
  const kind = network === undefined ? "PodNetworkAttachment" : "PodNetwork";
  if (typeof name !== "string") return refused(`element ${index}: the name must be a string, but is ${describeJson(name)}`);
  const nameProblem = subdomainProblem(name);
  if (nameProblem !== undefined) return refused(`element ${index}: the name ${quote(name, 60)} ${nameProblem}`);
  if (interfaceName !== undefined && typeof interfaceName !== "string") {
    return refused(`element ${index}: interfaceName must be a string, but is ${describeJson(interfaceName)}`);
  }
  const checked = interfaceName === undefined ? undefined : checkInterfaceName(interfaceName);
  if (checked?.ok === false) return refused(`element ${index}: interfaceName: ${checked.fault.msg}`);
  for (const key of ["isDefaultGW", "isDefaultGW4", "isDefaultGW6"]) {
    const flag = value(key);
    if (flag !== undefined && typeof flag !== "boolean") {
      return refused(`element ${index}: ${key} must be true or false, but is ${describeJson(flag)}`);
    }
  }
  // The KEP's last revision has one flag for both families.
  const both = value("isDefaultGW") === true;
  return ok({
    kind,
    name,
    interfaceName,
    isDefaultGw4: both || value("isDefaultGW4") === true,
    isDefaultGw6: both || value("isDefaultGW6") === true,
  });
}

/** The KEP's static rules across the elements: a network, an interface name and the default gateway of a family at most once each. */
function checkUnique(entries: readonly PodNetworkEntry[]): Result<readonly PodNetworkEntry[]> {
  const seen = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const claims = [
      `${entry.kind} ${entry.name}`,
      ...(entry.interfaceName === undefined ? [] : [`interfaceName ${entry.interfaceName}`]),
      ...(entry.isDefaultGw4 ? ["the default gateway of IPv4"] : []),
      ...(entry.isDefaultGw6 ? ["the default gateway of IPv6"] : []),
    ];
    for (const claim of claims) {
      const earlier = seen.get(claim);
      if (earlier !== undefined) return refused(`element ${index}: ${claim} belongs to element ${earlier} already`);
      seen.set(claim, index);
    }
  }
  return ok(entries);
}

/** The element for a PodNetwork alone. */
export function podNetworkEntry(name: string): PodNetworkEntry {
  return { kind: "PodNetwork", name, interfaceName: undefined, isDefaultGw4: false, isDefaultGw6: false };
}

function refused(why: string): Result<never> {
  return failed(fault("SELECTION_INVALID", `annotation ${podNetworksAnnotation} ${why}`));
}
