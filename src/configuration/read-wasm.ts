// Reads the section `wasm`: grants and limits of sandboxed delegates.

import { readCidr } from "../net/ip.ts";
import {
  addressPattern,
  type ElementRule,
  interfaceIdPattern,
  linkPattern,
  networkPattern,
  pluginPattern,
  poolPattern,
  portRange,
  portsPattern,
  resultPlacePattern,
  sysctlPattern,
} from "./grant-patterns.ts";
import type { ObjectReader } from "./object-reader.ts";
import { isExempt, readDemand, readKeys, readRequirement } from "./read-component-keys.ts";
import {
  type ComponentDemand,
  type DelegateGrants,
  type DelegateLimits,
  defaultUids,
  defaultWasm,
  isolations,
  type LinkGrant,
  maxUid,
  type SandboxUids,
  type WasmConfiguration,
} from "./wasm-configuration.ts";

const mebibyte = 1024 * 1024;

/**
 * Reads the section. If it has a mistake and the call continues nevertheless (DEL), nothing is granted: the administrator's
 * intention is unknown.
 */
export function readWasm(reader: ObjectReader): WasmConfiguration {
  const before = reader.problems.length;
  const prefer = Array.isArray(reader.value("prefer")) ? reader.strings("prefer") : reader.boolean("prefer");
  const keys = readKeys(reader.object("keys"));
  const demands: [string, ComponentDemand][] = [];
  const exempt: string[] = [];
  const grants = readGrants(reader.object("grants"), (type, each) => {
    const demand = readDemand(each, keys);
    if (isExempt(each)) exempt.push(type);
    if (demand !== undefined) demands.push([type, demand]);
  });
  const wasm: WasmConfiguration = {
    ...defaultWasm,
    // A mistyped value of the switch counts as off: a lenient reader (DEL) must not run what an administrator wanted to stop.
    enabled: reader.value("enabled") === undefined || reader.boolean("enabled") === true,
    prefer: prefer ?? false,
    isolation: reader.oneOf("isolation", isolations) ?? defaultWasm.isolation,
    sandboxUids: readUids(reader) ?? defaultUids,
    limits: readLimits(reader.object("limits")),
    grants,
    demands: Object.fromEntries(demands),
    require: readRequirement(reader, keys),
    exempt,
    keys,
  };
  reader.end();
  return reader.problems.length === before ? wasm : { ...wasm, grants: {}, otherGrants: {} };
}

/** `"same"`, or an object with `first` and `count`. */
function readUids(reader: ObjectReader): SandboxUids | undefined {
  const value = reader.value("sandboxUids");
  if (value === undefined || value === "same") return value;
  if (typeof value === "string") {
    reader.refuse(
      "sandboxUids",
      `must be "same" or an object with first and count, but is ${JSON.stringify(value.slice(0, 60))}`,
    );
    return undefined;
  }
  const range = reader.object("sandboxUids");
  range?.require("first", "count");
  const first = range?.count("first", maxUid);
  const count = range?.count("count", maxUid);
  range?.end();
  if (first === undefined || count === undefined) return undefined;
  if (first + count - 1 > maxUid) reader.refuse("sandboxUids", `ends at uid ${first + count - 1}; the largest is ${maxUid}`);
  return { first, count };
}

function readLimits(reader: ObjectReader | undefined): DelegateLimits {
  const limits: DelegateLimits = {
    timeMs: reader?.count("timeMs", 60_000),
    memoryMiB: reader?.count("memoryMiB", 1024),
    componentMiB: reader?.count("componentMiB", 31),
    coreInstances: reader?.count("coreInstances", 128),
    admissionMs: reader?.count("admissionMs", 60_000),
    inputBytes: reader?.count("inputBytes", 16 * mebibyte),
    outputBytes: reader?.count("outputBytes", 16 * mebibyte),
    logBytes: reader?.count("logBytes", 16 * mebibyte),
  };
  reader?.end();
  return limits;
}

/** The grants of each delegate's type. `readFurther` reads keys of the type's object that are not capabilities. */
export function readGrants(
  reader: ObjectReader | undefined,
  readFurther: (type: string, reader: ObjectReader) => void = () => undefined,
): Readonly<Record<string, DelegateGrants>> {
  const grants: [string, DelegateGrants][] = (reader?.entries() ?? []).map(([type, each]) => {
    return [type, readGrant(each, () => readFurther(type, each))];
  });
  return Object.fromEntries(grants);
}

/** The reader of each capability's grant, in the order in which capabilities are listed. */
const readers: { readonly [C in keyof DelegateGrants]-?: (reader: ObjectReader) => NonNullable<DelegateGrants[C]> } = {
  log: () => ({}),
  leases: (reader) => {
    const pools = listOf(reader, "pools", poolPattern);
    return { directories: reader.absolutePaths("directories"), ...(pools === undefined ? {} : { pools }) };
  },
  resolver: (reader) => ({ files: reader.absolutePaths("files") }),
  links: readLinks,
  sysctl: (reader) => ({ keys: listOf(reader, "keys", sysctlPattern), allowlist: reader.absolutePath("allowlist") }),
  firewall: (reader) => ({ masquerade: reader.boolean("masquerade"), hostPorts: readPorts(reader, "hostPorts") }),
  announce: () => ({}),
  delegation: (reader) => ({ plugins: listOf(reader, "plugins", pluginPattern) }),
  state: (reader) => ({ directories: reader.absolutePaths("directories") }),
  ovs: (reader) => ({
    bridges: listOf(reader, "bridges", linkPattern),
    socket: reader.absolutePath("socket"),
    interfaceIds: listOf(reader, "interfaceIds", interfaceIdPattern),
  }),
  result: (reader) => ({ change: listOf(reader, "change", resultPlacePattern) }),
};

/** The names of all capabilities. */
export const grantNames: readonly string[] = Object.keys(readers).filter((name) => name !== "result");

function readGrant(reader: ObjectReader, readFurther: () => void): DelegateGrants {
  const grants: [string, object][] = [];
  for (const [name, read] of Object.entries(readers)) {
    const each = reader.object(name);
    if (each === undefined) continue;
    grants.push([name, read(each)]);
    each.end();
  }
  readFurther();
  reader.end();
  return Object.fromEntries(grants);
}

/** The kernel's maximum for any link. */
const maxVethQueues = 4096;

function readLinks(reader: ObjectReader): LinkGrant {
  return {
    bridges: listOf(reader, "bridges", linkPattern),
    parents: listOf(reader, "parents", linkPattern),
    uplinks: listOf(reader, "uplinks", linkPattern),
    networks: readNetworks(reader, "networks", networkPattern),
    podNetworks: readNetworks(reader, "podNetworks", networkPattern),
    nodeAddresses: readNetworks(reader, "nodeAddresses", addressPattern),
    replaceAddresses: reader.boolean("replaceAddresses"),
    podLinks: listOf(reader, "podLinks", linkPattern),
    forwarding: reader.boolean("forwarding"),
    vethQueues: reader.count("vethQueues", maxVethQueues),
  };
}

function readNetworks(reader: ObjectReader, key: string, rule: ElementRule): readonly string[] | undefined {
  const networks = listOf(reader, key, rule);
  for (const text of networks ?? []) if (readCidr(text) === undefined) reader.refuse(key, `${text} is not ${rule.wanted}`);
  return networks;
}

function readPorts(reader: ObjectReader, key: string): readonly string[] | undefined {
  const ports = listOf(reader, key, portsPattern);
  for (const text of ports ?? []) {
    const [first, last] = portRange(text) ?? [0, 0];
    if (first > last) reader.refuse(key, `the range ${text} ends before it begins`);
  }
  return ports;
}

function listOf(reader: ObjectReader, key: string, { pattern, wanted }: ElementRule): readonly string[] | undefined {
  return reader.allMatching(key, pattern, wanted);
}
