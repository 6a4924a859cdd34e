// The values of a selection's keys (NPWG 4.1.2.1.3 to 4.1.2.1.11): one check for each kind of value.

import { checkInterfaceName } from "../cni/attachment.ts";
import { closest } from "../configuration/closest.ts";
import { describeJson, isJsonObject, memberTexts } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { readAddress, readCidr } from "../net/ip.ts";
import { isGroupAddress, parseHardwareAddress } from "./hardware-address.ts";
import type { Bandwidth, JsonMembers, PortMapping } from "./network-selection.ts";
import { subdomainProblem } from "./object-names.ts";
import { type Sentence, shortened, textOf } from "./selection-problem.ts";
import { spellingsOf } from "./spelled-keys.ts";

/** A value, or a problem as the rest of a sentence that begins with the key: "is empty". A value may have a doubt. */
export type Checked<T> = { readonly value: T; readonly doubt?: Sentence } | { readonly problem: string };

/** Checks a parsed JSON value; `text` is its exact text. */
export type Check<T> = (value: unknown, text: string) => Checked<T>;

/** A non-empty string. */
export const checkText: Check<string> = (value) => {
  if (typeof value !== "string") return { problem: `must be a string, but is ${describeJson(value)}` };
  return value === "" ? { problem: "is empty" } : { value };
};

/** 4.1.2.1.5: an interface name. */
export const checkInterface: Check<string> = (value) => {
  if (typeof value !== "string") return { problem: `must be a string, but is ${describeJson(value)}` };
  const name = checkInterfaceName(value);
  return name.ok ? { value } : { problem: `is not a Linux interface name: ${name.fault.msg}` };
};

/** 4.1.2.1.3: at least one IPv4 or IPv6 address, each with an optional prefix length; kept as written (N11-03). */
export const checkIps: Check<readonly string[]> = (value) => {
  const texts = stringList(value, "an address");
  if ("problem" in texts) return texts;
  if (texts.value.length === 0) return { problem: "is an empty list; at least one address is needed" };
  const wrong = texts.value.find((each) => (each.includes("/") ? readCidr(each) : readAddress(each)) === undefined);
  return wrong === undefined
    ? texts
    : { problem: `has ${quote(wrong, 60)}, which is not an IP address with or without prefix length` };
};

/** 4.1.2.1.9: a list of gateways, which may be empty. */
export const checkGateways: Check<readonly string[]> = (value) => {
  const texts = stringList(value, "a gateway");
  if ("problem" in texts) return texts;
  const wrong = texts.value.find((each) => readAddress(each) === undefined);
  return wrong === undefined ? texts : { problem: `has ${quote(wrong, 60)}, which is not an IP address` };
};

/** 4.1.2.1.4 and 4.1.2.1.10: a hardware address with one of these `lengths` in bytes, converted to colon notation. */
export function checkHardwareAddress(lengths: readonly number[]): Check<string> {
  const allowed = lengths.join(" or ");
  return (value) => {
    if (typeof value !== "string") return { problem: `must be a string, but is ${describeJson(value)}` };
    const address = parseHardwareAddress(value);
    if (address === undefined)
      return { problem: `is ${quote(value, 60)}, which is not a hardware address like 02:23:45:67:89:01` };
    if (!lengths.includes(address.length)) return { problem: `has ${address.length} bytes; ${allowed} are needed` };
    if (address.length !== 6 || !isGroupAddress(address)) return { value: address.text };
    return { value: address.text, doubt: `${address.text} is a group address, which no interface can have` };
  };
}

/** 4.1.2.1.6: any object; its values are passed to the plugins unchanged. */
export const checkCniArgs: Check<JsonMembers> = (value, text) =>
  isJsonObject(value) ? { value: memberTexts(text) } : { problem: `must be an object, but is ${describeJson(value)}` };

/** 4.1.2.1.11: the name of a Kubernetes object. */
export const checkClaim: Check<string> = (value) => {
  if (typeof value !== "string") return { problem: `must be a string, but is ${describeJson(value)}` };
  const problem = subdomainProblem(value);
  return problem === undefined ? { value } : { problem: `is ${quote(value, 60)}, which ${problem}` };
};

const portKeys = ["hostPort", "containerPort", "protocol", "hostIP"];
const protocols = ["tcp", "udp", "sctp"] as const;

/** 4.1.2.1.7: at least one mapping. `foldsCase`: keys may be in any case of letters. */
export function checkPortMappings(foldsCase: boolean): Check<readonly PortMapping[]> {
  return (value) => readPortMappings(value, foldsCase);
}

function readPortMappings(value: unknown, foldsCase: boolean): Checked<readonly PortMapping[]> {
  if (!Array.isArray(value)) return { problem: `must be a list, but is ${describeJson(value)}` };
  if (value.length === 0) return { problem: "is an empty list; at least one mapping is needed" };
  const mappings: PortMapping[] = [];
  const doubts: Sentence[] = [];
  for (const [index, each] of value.entries()) {
    const mapping = checkPortMapping(each, foldsCase);
    if ("problem" in mapping) return { problem: `has element ${index}, ${mapping.problem}` };
    mappings.push(mapping.value);
    const { doubt } = mapping;
    if (doubt !== undefined) doubts.push(() => `element ${index}: ${textOf(doubt)}`);
  }
  return withDoubts(mappings, doubts);
}

function checkPortMapping(mapping: unknown, foldsCase: boolean): Checked<PortMapping> {
  if (!isJsonObject(mapping)) return { problem: `which must be an object, but is ${describeJson(mapping)}` };
  const spelled = spelledAs(mapping, portKeys, foldsCase);
  if ("problem" in spelled) return { problem: `which ${spelled.problem}` };
  const { value } = spelled;
  const hostPort = member(value, "hostPort");
  const containerPort = member(value, "containerPort");
  if (!isPort(hostPort)) return { problem: `whose "hostPort" ${portProblem(hostPort)}` };
  if (!isPort(containerPort)) return { problem: `whose "containerPort" ${portProblem(containerPort)}` };
  const written = member(value, "protocol") ?? "tcp";
  const protocol = typeof written === "string" ? protocolOf(written) : undefined;
  if (protocol === undefined) {
    const shown = typeof written === "string" ? quote(written, 20) : describeJson(written);
    return { problem: `whose "protocol" is ${shown}; it must be "TCP", "UDP" or "SCTP"` };
  }
  const hostIP = member(value, "hostIP") ?? undefined;
  if (hostIP !== undefined && (typeof hostIP !== "string" || readAddress(hostIP) === undefined)) {
    return { problem: `whose "hostIP" is not an IP address` };
  }
  const checked = { hostPort, containerPort, protocol, ...(hostIP === undefined ? {} : { hostIP }) };
  return withDoubts(checked, unknownKeys(value, portKeys));
}

const bandwidthKeys = ["ingressRate", "ingressBurst", "egressRate", "egressBurst"] as const;

/** 4.1.2.1.8: at least one rate, and no burst without a rate. `foldsCase`: keys may be in any case of letters. */
export function checkBandwidth(foldsCase: boolean): Check<Bandwidth> {
  return (written) => {
    if (!isJsonObject(written)) return { problem: `must be an object, but is ${describeJson(written)}` };
    const spelled = spelledAs(written, bandwidthKeys, foldsCase);
    return "problem" in spelled ? spelled : readBandwidth(spelled.value);
  };
}

function readBandwidth(value: Readonly<Record<string, unknown>>): Checked<Bandwidth> {
  const bandwidth: { -readonly [K in keyof Bandwidth]: Bandwidth[K] } = {};
  for (const key of bandwidthKeys) {
    const number = member(value, key);
    if (number === undefined) continue;
    if (typeof number !== "number" || !Number.isSafeInteger(number) || number <= 0) {
      return { problem: `has "${key}", which must be a whole number above 0` };
    }
    bandwidth[key] = number;
  }
  if (Object.keys(bandwidth).length === 0) return { problem: `has none of ${bandwidthKeys.join(", ")}` };
  for (const direction of ["ingress", "egress"] as const) {
    if (bandwidth[`${direction}Burst`] !== undefined && bandwidth[`${direction}Rate`] === undefined) {
      return { problem: `has "${direction}Burst" without "${direction}Rate"` };
    }
  }
  return withDoubts(bandwidth, unknownKeys(value, bandwidthKeys));
}

/** The object with the valid keys in their own spelling, and without those that are null: Go's decoder reads such a key as absent. */
function spelledAs(
  object: Readonly<Record<string, unknown>>,
  valid: readonly string[],
  foldsCase: boolean,
): Checked<Readonly<Record<string, unknown>>> {
  if (!foldsCase) return { value: object };
  const found = spellingsOf(Object.keys(object), valid, true);
  if (!found.ok) return { problem: found.problem };
  const meant = new Map([...found.value].map(([key, written]) => [written, key]));
  const present = Object.entries(object).filter(([, each]) => each !== null);
  return { value: Object.fromEntries(present.map(([key, each]) => [meant.get(key) ?? key, each])) };
}

/** A sentence for each unknown key, with the nearest valid key. */
function unknownKeys(object: Readonly<Record<string, unknown>>, valid: readonly string[]): Sentence[] {
  return Object.keys(object)
    .filter((key) => !valid.includes(key) && !key.includes("."))
    .map((key) => () => unknownKey(key, valid));
}

/** The sentence for one unknown key. */
export function unknownKey(key: string, valid: readonly string[]): string {
  const nearest = key.length <= 40 ? closest(key, valid) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `the key ${quote(key, 60)} is reserved and unknown, so it is ignored${hint}`;
}

function withDoubts<T>(value: T, doubts: readonly Sentence[]): Checked<T> {
  return doubts.length === 0 ? { value } : { value, doubt: () => shortened(doubts).join("; ") };
}

function member(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function stringList(value: unknown, what: string): Checked<readonly string[]> {
  if (!Array.isArray(value)) return { problem: `must be a list of strings, but is ${describeJson(value)}` };
  const texts = value.filter((each) => typeof each === "string");
  if (texts.length === value.length) return { value: texts };
  const wrong = value.findIndex((each) => typeof each !== "string");
  return { problem: `has ${describeJson(value[wrong])} as element ${wrong} where ${what} as a string is expected` };
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

function portProblem(value: unknown): string {
  const shown = typeof value === "number" ? String(value) : describeJson(value);
  return `is ${shown}; it must be a whole number from 1 to 65535`;
}

function protocolOf(text: string): PortMapping["protocol"] | undefined {
  const lower = text.toLowerCase();
  return protocols.find((each) => each === lower);
}
