// Edits a result after the pod's default routes have been planned, so that the result lists the routes that the network namespace
// has (NPWG 4.1.2.1.9: "the default route and gateway will be cleared"). CHECK, status and runtime rely on it.

import { failed, ok, type Result } from "../fault/result.ts";
import { editMembers, elementTexts, type JsonObjectDocument, memberText, memberValue, parseDocument } from "../json/document.ts";
import { type Family, readCidr } from "../net/ip.ts";
import { readResult } from "../cni/read-result.ts";
import type { PluginResult } from "../cni/result.ts";
import { versionGroup } from "../cni/versions.ts";
import { anywhere, defaultFamilyOf, type NewRoute, type ResultRoutes } from "./default-route.ts";

const families: readonly Family[] = [4, 6];

/**
 * The result with its default routes as planned; all other bytes stay. In 0.1.0 and 0.2.0 a family without an address cannot hold
 * a route. Fault RESULT_INVALID: never for a result that was read before.
 */
export function withDefaultRoutes(from: PluginResult, routes: ResultRoutes): Result<PluginResult> {
  const touched = families.filter((family) => routes.cleared.has(family) || routes.replaced.has(family));
  if (touched.length === 0) return ok(from);
  const what = { what: "result", kind: "RESULT_INVALID" } as const;
  const document = parseDocument(from.text, what);
  if (!document.ok) return document;
  const edits = new Map<string, string | undefined>();
  if (versionGroup(from.result.cniVersion) === "020") {
    for (const family of touched) {
      const familyText = memberText(document.value, `ip${family}`);
      if (familyText === undefined || memberValue(document.value, `ip${family}`) === null) continue;
      const ip = parseDocument(familyText, what);
      if (!ip.ok) return ip;
      const changed = new Map([["routes", routesText(ip.value, routes, false)]]);
      if (routes.cleared.has(family)) changed.set("gateway", undefined);
      edits.set(`ip${family}`, editMembers(ip.value, changed));
    }
  } else {
    edits.set("routes", routesText(document.value, routes, from.result.cniVersion === "1.1.0"));
    const ips = ipsText(document.value, routes.cleared);
    if (!ips.ok) return failed(ips.fault);
    edits.set("ips", ips.value);
  }
  return readResult(editMembers(document.value, edits), from.result.cniVersion);
}

/** The list `routes`; undefined if it becomes empty. `priorities`: whether the version's routes have a metric. */
function routesText(holder: JsonObjectDocument, { cleared, replaced }: ResultRoutes, priorities: boolean): string | undefined {
  const kept = listIn(holder, "routes").filter((text) => {
    const family = defaultFamily(text);
    return family === undefined || !(cleared.has(family) || replaced.has(family));
  });
  const added = [...replaced.values()].flatMap((list) => list.map((route, index) => routeText(route, index, priorities)));
  const all = [...kept, ...added];
  return all.length === 0 ? undefined : `[${all.join(",")}]`;
}

function routeText({ family, gateway, metric }: NewRoute, index: number, priorities: boolean): string {
  const priority = priorities && index > 0 ? { priority: metric } : {};
  return JSON.stringify({ dst: anywhere[family], gw: gateway, ...priority });
}

/** The list `ips`, without the gateways of the cleared families. */
function ipsText(document: JsonObjectDocument, cleared: ReadonlySet<Family>): Result<string | undefined> {
  const text = memberText(document, "ips");
  if (text === undefined) return ok(undefined);
  const texts: string[] = [];
  for (const each of listIn(document, "ips")) {
    const ip = parseDocument(each, { what: "result", kind: "RESULT_INVALID" });
    if (!ip.ok) return ip;
    const address = memberValue(ip.value, "address");
    const family = typeof address === "string" ? readCidr(address)?.address.family : undefined;
    const gone = family !== undefined && cleared.has(family);
    texts.push(gone ? editMembers(ip.value, new Map([["gateway", undefined]])) : each);
  }
  return ok(texts.length === 0 ? text : `[${texts.join(",")}]`);
}

function listIn(holder: JsonObjectDocument, key: string): readonly string[] {
  const text = memberText(holder, key);
  return text === undefined || !Array.isArray(memberValue(holder, key)) ? [] : elementTexts(text);
}

/** The family of a default route of the main table; undefined for any other route. Routes of other tables stay in the pod. */
function defaultFamily(route: string): Family | undefined {
  const document = parseDocument(route, { what: "route" });
  if (!document.ok) return undefined;
  const [dst, table] = [memberValue(document.value, "dst"), memberValue(document.value, "table")];
  return typeof dst === "string" ? defaultFamilyOf(dst, typeof table === "number" ? table : undefined) : undefined;
}
