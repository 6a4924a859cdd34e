// Reads the links that are to be used, and verifies that those of the node are what the grant is about, or the attachment's own.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { SECOND_NAMESPACE } from "../hands/messages.ts";
import { linkRequest, namespaceIdRequest } from "../netlink/link-change.ts";
import { linkStateIn, type LinkState } from "../netlink/link-state.ts";
import { Attributes } from "../netlink/attributes.ts";
import type { NetlinkAnswer, NetlinkRequest } from "../netlink/message.ts";
import type { UsedLinks, Usage } from "./check-operations.ts";
import { usesOnNode } from "./demands.ts";
import { denied, isListed, linkText, type LinkScope, type Role, rolesByName } from "./link-scope.ts";
import { isGone, type Namespaces } from "./namespaces.ts";

export interface ReadLinks {
  readonly host: ReadonlyMap<string, LinkState>;
  readonly pod: ReadonlyMap<string, LinkState>;
  /** The answers to what was asked besides. */
  readonly further: readonly (NetlinkAnswer | undefined)[];
}

const NETNSA_NSID = 1;
const RTGENMSG = 4;

/** Reads all links that are used. `further`: what else is to be asked in the host's namespace with them. */
export async function readLinks(
  namespaces: Namespaces,
  scope: LinkScope,
  used: UsedLinks,
  further: readonly NetlinkRequest[] = [],
): Promise<Result<ReadLinks>> {
  // What the grant doesn't name can only be the attachment's own end, and that is told by the pod's end of it.
  const own = [...used.host].some(([name, usages]) => mayBeOwn(scope, name, usages)) && namespaces.pod !== "";
  const ifname = scope.attachment?.ifname;
  const podNames = [...new Set([...used.pod, ...(own && ifname !== undefined ? [ifname] : [])])];
  const hostRequests = [...[...used.host.keys()].map(linkRequest), ...further];
  const ask = own ? [...hostRequests, namespaceIdRequest(SECOND_NAMESPACE)] : hostRequests;
  const [first, inPod] = await Promise.all([
    ask.length === 0 ? undefined : namespaces.exchange("host", ask, own),
    podNames.length === 0 ? undefined : namespaces.exchange("pod", podNames.map(linkRequest)),
  ]);
  const onHost = own && first !== undefined && isGone(first) ? await namespaces.exchange("host", hostRequests) : first;
  for (const each of [onHost, inPod]) {
    if (each !== undefined && each.errno !== 0 && !isGone(each)) return failed(namespaces.unreachable(each.errno));
  }
  const answers = onHost?.answers ?? [];
  const host = states([...used.host.keys()], answers);
  const pod = states(podNames, inPod?.answers ?? []);
  const podId = own ? namespaceId(answers[hostRequests.length]) : undefined;
  const podEnd = ifname === undefined ? undefined : pod.get(ifname);
  for (const [name, usages] of used.host) {
    const link = host.get(name);
    if (link === undefined) continue;
    const joins = link.master === undefined && usages.some(({ use }) => use === "join");
    const isPort = joins || isPortOfGranted(scope, link, host);
    const refusal = refusalOf(scope, link, name, usages, { own: isOwnEnd(link, podEnd, podId), isPort });
    if (refusal !== undefined) return failed(refusal);
  }
  return ok({ host, pod, further: answers.slice(used.host.size, hostRequests.length) });
}

/** Whether a link of the node is the other end of the pod's, by what the node itself knows of it: a pod can't make this up. */
export function isOwnEnd(link: LinkState, podEnd: LinkState | undefined, podId: number | undefined): boolean {
  return (
    link.kind === "veth" &&
    podEnd !== undefined &&
    podId !== undefined &&
    link.linkNamespace === podId &&
    link.link === podEnd.index
  );
}

/** By which id the host's namespace knows the pod's; undefined where it has none. */
export function namespaceId(answer: NetlinkAnswer | undefined): number | undefined {
  const body = answer?.messages[0]?.body;
  const value = (body && new Attributes(body, RTGENMSG).i32(NETNSA_NSID)) ?? -1;
  return value < 0 ? undefined : value;
}

function mayBeOwn(scope: LinkScope, name: string, usages: readonly Usage[]): boolean {
  const roles = rolesByName(scope, name);
  return usages.some(
    ({ use }) => usesOnNode[use].roles.includes("own") && !usesOnNode[use].roles.some((role) => roles.has(role)),
  );
}

function states(names: readonly string[], answers: readonly (NetlinkAnswer | undefined)[]): ReadonlyMap<string, LinkState> {
  const found = names.map((name, index) => [name, answers[index]?.messages.map(linkStateIn)[0]] as const);
  // An alternative name leads to a link that is called otherwise: it is not the link that was named.
  return new Map(found.flatMap(([name, state]) => (state?.name === name ? [[name, state] as const] : [])));
}

/** Whether it is a port of a granted bridge among these, or becomes one by this call. */
function isPortOfGranted({ grant }: LinkScope, { master }: LinkState, host: ReadonlyMap<string, LinkState>): boolean {
  const bridge = [...host.values()].find(({ index }) => index === master);
  return bridge?.kind === "bridge" && isListed(grant.bridges, bridge.name);
}

function refusalOf(
  scope: LinkScope,
  link: LinkState,
  name: string,
  usages: readonly Usage[],
  { own, isPort }: { readonly own: boolean; readonly isPort: boolean },
): Fault | undefined {
  const roles = rolesInTruth(scope, link, name, own);
  for (const { use, by } of usages) {
    const { roles: allowed, key } = usesOnNode[use];
    if (allowed.some((role) => roles.has(role) && (role !== "uplink" || use !== "vlans" || isPort))) continue;
    const what = link.kind === "" ? "a device" : `a ${link.kind}`;
    return denied(scope, key, `${by}: ${linkText("host", name)}, ${what}, which is not ${wanted(allowed)},`);
  }
  return undefined;
}

const roleTexts: { readonly [R in Role]: string } = {
  bridge: "a bridge",
  gateway: "a VLAN's gateway",
  own: "the attachment's own",
  uplink: "an uplink",
  parent: "a parent",
};

function wanted(allowed: readonly Role[]): string {
  return allowed.map((role) => roleTexts[role]).join(" or ");
}

/** What the grant's words say, as far as the link is of that kind. */
function rolesInTruth(scope: LinkScope, link: LinkState, name: string, own: boolean): ReadonlySet<Role> {
  const byName = rolesByName(scope, name);
  const roles: (Role | false)[] = [
    byName.has("bridge") && link.kind === "bridge" && "bridge",
    byName.has("gateway") && link.kind === "veth" && link.linkNamespace === undefined && "gateway",
    byName.has("uplink") && link.kind !== "bridge" && "uplink",
    byName.has("parent") && "parent",
    own && "own",
  ];
  return new Set(roles.filter((role) => role !== false));
}
