// What one call may do with links: its verb, its attachment, and what the administrator granted to the delegate.

import type { Verb } from "../../src/cni/environment.ts";
import { matchesPattern } from "../../src/configuration/grant-patterns.ts";
import { type Denied, notGranted } from "../../src/configuration/not-granted.ts";
import type { LinkGrant } from "../../src/configuration/wasm-configuration.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { quote } from "../../src/json/quote.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";

export interface LinkScope {
  /** The delegate's type, under which its grant stands. */
  readonly type: string;
  readonly grant: LinkGrant;
  readonly verb: Verb;
  /** Undefined where the call is about none (GC, STATUS). */
  readonly attachment: PodSide | undefined;
}

export interface PodSide {
  readonly ifname: string;
  /** Path of the pod's network namespace; empty: there is none (any more). */
  readonly netns: string;
}

/** What a link of the node may be to a delegate. */
export type Role =
  /** A granted bridge. */
  | "bridge"
  /** The node's access to a VLAN of a granted bridge: `<bridge>.<id>`. */
  | "gateway"
  /** The node's end of the attachment's own veth. */
  | "own"
  /** May become a port of a granted bridge, and be given VLANs while it is one. */
  | "uplink"
  /** May have links of the pod lie on it. */
  | "parent";

export type GrantKey = "bridges" | "parents" | "uplinks" | "networks" | "podLinks" | "forwarding";

/** `<bridge>.<id>`. */
const GATEWAY = /^(.+)\.(\d{1,4})$/u;

/** Whether the pattern list has the name. */
export function isListed(patterns: readonly string[] | undefined, name: string): boolean {
  return patterns?.some((pattern) => matchesPattern(pattern, name)) ?? false;
}

/** What a link of the node of this name may be by the grant's words, whatever it is in truth. `own` is a matter of truth alone. */
export function rolesByName({ grant }: LinkScope, name: string): ReadonlySet<Role> {
  const bridge = GATEWAY.exec(name)?.[1];
  const roles: (Role | false)[] = [
    isListed(grant.bridges, name) && "bridge",
    bridge !== undefined && isListed(grant.bridges, bridge) && "gateway",
    isListed(grant.uplinks, name) && "uplink",
    isListed(grant.parents, name) && "parent",
  ];
  return new Set(roles.filter((role) => role !== false));
}

/** Whether a link of this name may be made in the pod. */
export function mayBeMadeInPod({ grant, attachment }: LinkScope, name: string): boolean {
  return name !== "lo" && (name === attachment?.ifname || isListed(grant.podLinks, name));
}

export function denied(scope: LinkScope, key: GrantKey, asked: string): Fault {
  const { forwarding, ...lists } = scope.grant;
  const granted = key === "forwarding" ? (forwarding === true ? ["true"] : []) : (lists[key] ?? []);
  return notGranted({ type: scope.type, key: `links.${key}`, asked: `links: ${asked}`, granted } satisfies Denied);
}

export function misused(what: string): Fault {
  return fault("CAPABILITY_MISUSED", `links: ${what}`);
}

/** A link in words, with its name made harmless. */
export function linkText(place: LinksPlace, name: string): string {
  return place === "host" ? `link ${quote(name, 40)} of the node` : `link ${quote(name, 40)} of the pod`;
}

/** How faults call an operation: by its number, which begins with 0, and its name. */
export function operationText(number: number, tag: string): string {
  return `operation ${number} (${tag})`;
}
