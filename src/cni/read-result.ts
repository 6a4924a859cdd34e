// Reads a plugin's stdout as a result (L-12, L-51, L-53, L-57): parses the shape of its own version and verifies every address.

import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, editMembers, type JsonObjectDocument, memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { type Family, formatAddress, formatCidr, readAddress, readCidr } from "../net/ip.ts";
import {
  type Fields,
  note,
  type Problems,
  member,
  readInteger,
  readObject,
  readObjects,
  readString,
  readStrings,
} from "./field-reader.ts";
import type { CniResult, PluginResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result.ts";
import { type CniVersion, isSupportedVersion, SUPPORTED_VERSIONS, versionGroup } from "./versions.ts";

const U32_MAX = 0xffff_ffff;
const S32_MIN = -0x8000_0000;
const S32_MAX = 0x7fff_ffff;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function readPrefixed(problems: Problems, fields: Fields, key: string, path: string, family?: Family): string {
  const text = readString(problems, fields, key, path);
  const cidr = text === undefined ? undefined : readCidr(text);
  if (cidr === undefined || (family !== undefined && cidr.address.family !== family)) {
    const wanted = `an IP${family === undefined ? "" : `v${family}`} address with a prefix length`;
    note(problems, `${path}${key} must be ${wanted}, but is ${text === undefined ? "missing" : quote(text, 60)}`);
    return "";
  }
  // Hot path: nearly all addresses are dotted decimal, which has one spelling only.
  return text?.includes(":") === false ? text : formatCidr(cidr);
}

function readGateway(problems: Problems, fields: Fields, key: string, path: string): string | undefined {
  const text = readString(problems, fields, key, path);
  if (text === undefined) return undefined;
  const address = readAddress(text);
  if (address !== undefined) return text.includes(":") ? formatAddress(address) : text;
  note(problems, `${path}${key} must be an IP address, but is ${quote(text, 60)}`);
  return undefined;
}

function readInterface(problems: Problems, fields: Fields, path: string, modern: boolean): ResultInterface {
  const result: Mutable<ResultInterface> = { name: readString(problems, fields, "name", path) ?? "" };
  const mac = readString(problems, fields, "mac", path);
  if (mac !== undefined) result.mac = mac;
  const sandbox = readString(problems, fields, "sandbox", path);
  if (sandbox !== undefined) result.sandbox = sandbox;
  if (!modern) return result;
  // Go leaves out a zero MTU when it prints, so zero means absent.
  const mtu = readInteger(problems, fields, "mtu", path, 0, U32_MAX);
  if (mtu !== undefined && mtu !== 0) result.mtu = mtu;
  const socketPath = readString(problems, fields, "socketPath", path);
  if (socketPath !== undefined) result.socketPath = socketPath;
  const pciID = readString(problems, fields, "pciID", path);
  if (pciID !== undefined) result.pciID = pciID;
  return result;
}

function readIp(problems: Problems, fields: Fields, path: string, key: "address" | "ip", family?: Family): ResultIp {
  const result: Mutable<ResultIp> = { address: readPrefixed(problems, fields, key, path, family) };
  const gateway = readGateway(problems, fields, "gateway", path);
  if (gateway !== undefined) result.gateway = gateway;
  if (key === "ip") return result;
  const index = readInteger(problems, fields, "interface", path, S32_MIN, S32_MAX);
  if (index !== undefined) result.interface = index;
  return result;
}

/** Results of 0.3.0-0.4.0 name each address's family; this field must not contradict the address. */
function readVersionedIp(problems: Problems, fields: Fields, path: string): ResultIp {
  const result = readIp(problems, fields, path, "address");
  const version = readString(problems, fields, "version", path);
  if (version !== undefined && result.address !== "" && version !== familyOf(result.address)) {
    note(problems, `${path}version is ${quote(version, 20)}, but ${path}address is ${result.address}`);
  }
  return result;
}

/** The family of a canonical address. */
export function familyOf(canonical: string): "4" | "6" {
  return canonical.includes(":") ? "6" : "4";
}

function readRoute(problems: Problems, fields: Fields, path: string): ResultRoute {
  const result: Mutable<ResultRoute> = { dst: readPrefixed(problems, fields, "dst", path) };
  const gw = readGateway(problems, fields, "gw", path);
  if (gw !== undefined) result.gw = gw;
  for (const key of ["mtu", "advmss", "priority"] as const) {
    const value = readInteger(problems, fields, key, path, 0, U32_MAX);
    if (value !== undefined && value !== 0) result[key] = value;
  }
  for (const key of ["table", "scope"] as const) {
    const value = readInteger(problems, fields, key, path, 0, U32_MAX);
    if (value !== undefined) result[key] = value;
  }
  return result;
}

function readDns(problems: Problems, fields: Fields): ResultDns | undefined {
  const dns = readObject(problems, fields, "dns", "");
  if (dns === undefined) return undefined;
  const domain = readString(problems, dns, "domain", "dns.");
  const nameservers = readStrings(problems, dns, "nameservers", "dns.");
  const search = readStrings(problems, dns, "search", "dns.");
  const options = readStrings(problems, dns, "options", "dns.");
  if (domain === undefined && nameservers.length + search.length + options.length === 0) return undefined;
  return { nameservers, ...(domain === undefined ? {} : { domain }), search, options };
}

/** The two addresses of a result of 0.1.0 or 0.2.0 with their routes, IPv4 first (L-53). */
function readOldAddresses(problems: Problems, fields: Fields): Pick<CniResult, "ips" | "routes"> {
  const ips: ResultIp[] = [];
  const routes: ResultRoute[] = [];
  for (const family of [4, 6] as const) {
    const old = readObject(problems, fields, `ip${family}`, "");
    if (old === undefined) continue;
    ips.push(readIp(problems, old, `ip${family}.`, "ip", family));
    routes.push(...readObjects(problems, old, "routes", `ip${family}.`, (route, path) => readRoute(problems, route, path)));
  }
  return { ips, routes };
}

function readFields(problems: Problems, fields: Fields, cniVersion: CniVersion): CniResult {
  const dns = readDns(problems, fields);
  const common = dns === undefined ? { cniVersion } : { cniVersion, dns };
  const group = versionGroup(cniVersion);
  if (group === "020") return { ...common, interfaces: [], ...readOldAddresses(problems, fields) };
  const modern = group === "100";
  return {
    ...common,
    interfaces: readObjects(problems, fields, "interfaces", "", (entry, path) => readInterface(problems, entry, path, modern)),
    ips: readObjects(problems, fields, "ips", "", (entry, path) =>
      modern ? readIp(problems, entry, path, "address") : readVersionedIp(problems, entry, path),
    ),
    routes: readObjects(problems, fields, "routes", "", (entry, path) => readRoute(problems, entry, path)),
  };
}

/**
 * A plugin that exits with 0 but prints an error object has failed (A-07). Read as a result, the object would be an empty
 * success.
 */
function disguisedError(document: JsonObjectDocument, what: string): Fault | undefined {
  const code = memberValue(document, "code");
  const msg = memberValue(document, "msg");
  if (typeof code !== "number" || code === 0 || typeof msg !== "string") return undefined;
  if (["interfaces", "ips", "ip4", "ip6"].some((key) => document.members.has(key))) return undefined;
  return fault("RESULT_INVALID", `${what} is an error although the plugin ended with success: code ${code}: ${quote(msg)}`);
}

/**
 * Reads a result. A result without a version gets the configuration's, `defaultVersion` (L-12), also in its text. `null` is read
 * as `{}`. `what` names it in messages ("result of plugin bridge"). Fault: RESULT_INVALID (6), with the field's path.
 */
export function readResult(text: string, defaultVersion: CniVersion, what = "result"): Result<PluginResult> {
  const trimmed = text.trim();
  const parsed = parseDocument(trimmed === "null" ? "{}" : trimmed, { what, kind: "RESULT_INVALID" });
  if (!parsed.ok) return parsed;
  const document = parsed.value;
  const error = disguisedError(document, what);
  if (error !== undefined) return failed(error);
  const named = member(document.parsed, "cniVersion") ?? "";
  if (typeof named !== "string") {
    return failed(fault("RESULT_INVALID", `${what}: cniVersion must be a string, but is ${describeJson(named)}`));
  }
  const cniVersion = named === "" ? defaultVersion : named;
  if (!isSupportedVersion(cniVersion)) {
    const known = SUPPORTED_VERSIONS.join(", ");
    return failed(fault("RESULT_INVALID", `${what}: unsupported CNI result version ${quote(named, 40)}, known are ${known}`));
  }
  const problems: Problems = { first: undefined };
  const result = readFields(problems, document.parsed, cniVersion);
  if (problems.first !== undefined) return failed(fault("RESULT_INVALID", `${what}: ${problems.first}`));
  if (named !== "") return ok({ text: trimmed, result });
  return ok({ text: editMembers(document, new Map([["cniVersion", JSON.stringify(cniVersion)]])), result });
}
