// Whether operations stay within the scope, all of them before the first is done. No I/O: what a link of the node is in truth is
// verified when it has been read (own-links.ts).

import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { LinksLinkName, LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type Demand, demandsOf, type Use, usesOnNode } from "./demands.ts";
import { denied, linkText, type LinkScope, mayBeMadeInPod, misused, operationText, rolesByName } from "./link-scope.ts";
import { foreignNetwork } from "./networks.ts";
import { nameMistake, operationMistake } from "./operation-mistake.ts";

/** More in one call is none that attaches a pod. */
const mostOperations = 256;
/** All waiting of one call: who called the delegate waits for it, too, even where the delegate itself was ended meanwhile. */
const mostSettlingMs = 30_000;

/** Links that are used and not made before; each has to be known before anything is done, but for those of the pod that only go. */
export interface UsedLinks {
  readonly host: ReadonlyMap<string, readonly Usage[]>;
  readonly pod: ReadonlySet<string>;
}

export interface Usage {
  readonly use: Use;
  /** What faults call it. */
  readonly by: string;
}

/** Faults: NOT_GRANTED, CAPABILITY_MISUSED; each names the operation and the link. */
export function checkOperations(scope: LinkScope, operations: readonly LinksOperation[]): Result<UsedLinks> {
  if (scope.verb !== "ADD" && scope.verb !== "DEL")
    return failed(misused(`apply is for ADD and DEL, this call is ${scope.verb}`));
  if (operations.length > mostOperations) return failed(misused(`${operations.length} operations, ${mostOperations} at most`));
  const host = new Map<string, Usage[]>();
  const pod = new Set<string>();
  const made = { host: new Set<string>(), pod: new Set<string>() };
  let settlingMs = 0;
  for (const [number, operation] of operations.entries()) {
    const by = operationText(number, operation.tag);
    const mistake = operationMistake(operation);
    if (mistake !== undefined) return failed(misused(`${by}: ${mistake}`));
    settlingMs += operation.tag === "settle" ? operation.val.milliseconds : 0;
    if (settlingMs > mostSettlingMs)
      return failed(misused(`${by}: waiting for ${settlingMs} ms in all, ${mostSettlingMs} at most`));
    const switched = switchesOnForwarding(operation);
    if (switched !== undefined && scope.grant.forwarding !== true)
      return failed(denied(scope, "forwarding", `${by}: ${switched}`));
    for (const demand of demandsOf(operation)) {
      const { place, name, use } = demand;
      const allowed = made[place].has(name) ? madeBefore(scope, by, demand) : mayBeUsed(scope, by, demand);
      if (!allowed.ok) return allowed;
      if (use === "make") made[place].add(name);
      else if (made[place].has(name)) {
        if (use === "remove") made[place].delete(name);
      } else if (place === "host") host.set(name, [...(host.get(name) ?? []), { use, by }]);
      else if (use !== "remove") pod.add(name);
    }
    const foreign = foreignNetwork(scope, operation);
    if (foreign !== undefined) return failed(denied(scope, "networks", `${by}: ${foreign}`));
  }
  return ok({ host, pod });
}

/** The same for links that are only read. */
export function checkNames(scope: LinkScope, names: readonly LinksLinkName[]): Result<UsedLinks> {
  if (names.length > mostOperations) return failed(misused(`${names.length} links, ${mostOperations} at most`));
  const host = new Map<string, Usage[]>();
  const pod = new Set<string>();
  for (const { place, name } of names) {
    const mistake = nameMistake(name);
    if (mistake !== undefined) return failed(misused(`read: ${mistake}`));
    const allowed = mayBeUsed(scope, "read", { place, name, use: "read" });
    if (!allowed.ok) return allowed;
    if (place === "pod") pod.add(name);
    else host.set(name, [{ use: "read", by: "read" }]);
  }
  return ok({ host, pod });
}

/** What an operation would let the node do for others, in words. */
function switchesOnForwarding(operation: LinksOperation): string | undefined {
  if (operation.tag === "enable-forwarding") return `forwarding ${operation.val} on the node`;
  if (operation.tag !== "set-interface" || operation.val.name !== "forwarding" || operation.val.link.place !== "host")
    return undefined;
  return `setting forwarding of ${linkText("host", operation.val.link.name)}`;
}

/** What the same call made belongs to the attachment, but on the node only a bridge can have ports or addresses. */
function madeBefore(scope: LinkScope, by: string, { place, name, use }: Demand): Result<void> {
  if (use === "make") return failed(misused(`${by}: ${linkText(place, name)} was made before`));
  if (place === "pod" || usesOnNode[use].roles.includes("own")) return ok(undefined);
  return failed(denied(scope, usesOnNode[use].key, `${by}: ${linkText(place, name)}`));
}

function mayBeUsed(scope: LinkScope, by: string, { place, name, use }: Demand): Result<void> {
  const link = linkText(place, name);
  if (place === "pod") {
    if (scope.attachment === undefined) return failed(misused(`${by}: ${scope.verb} has no pod, so there is no ${link}`));
    const given = mayBeMadeInPod(scope, name) || (name === "lo" && use !== "make" && use !== "remove");
    return given ? ok(undefined) : failed(denied(scope, "podLinks", `${by}: ${link}`));
  }
  if (use === "make") return ok(undefined);
  const { roles, key } = usesOnNode[use];
  const byName = rolesByName(scope, name);
  if (roles.some((role) => byName.has(role))) return ok(undefined);
  // Whether it is the attachment's own end is known when it has been read.
  const mayBeOwn = roles.includes("own") && scope.attachment !== undefined;
  return mayBeOwn ? ok(undefined) : failed(denied(scope, key, `${by}: ${link}`));
}
