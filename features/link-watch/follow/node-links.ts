// The node's links, kept up to date by the kernel's notifications.

import type { LinkIdentity } from "../../../src/pod-link/link-identity.ts";
import { ENOBUFS } from "../../../host/system/errno.ts";
import { linkEventsIn } from "../../../host/system/netlink/link-event.ts";
import type { LinkState } from "../../../host/system/netlink/link-state.ts";
import { lookIntoNamespace } from "../../../host/system/netlink/namespace-links.ts";
import type { ChangeEffects, NetlinkEffects } from "../../../host/protocol/shim.ts";
import type { NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import type { SeenNodeEnd } from "../rules/judge-link.ts";

/** The effects that the view needs. */
export interface NodeEffects extends NetlinkEffects, ChangeEffects {}

/** Kinds of links that a repair itself makes on the node, and that no attachment needs as a master. */
const ofAttachments: ReadonlySet<string> = new Set(["veth", "ifb"]);

/** Changed links by their indexes; `all`: any link may have changed. `made`: a link came that may be a master. */
export interface NodeChange {
  readonly indexes: ReadonlySet<number> | "all";
  readonly made: boolean;
}

/** Longest wait for a notification, in ms. */
const timeoutMs = 30_000;

/** The view of one daemon. */
export class NodeLinks {
  readonly #links = new Map<number, LinkState>();
  /** The master's name of each node's end, when it was first seen with one. */
  readonly #masters = new Map<number, string>();

  /** Waits for changes through this agent, and takes them into the view. Undefined: nothing changed for some time. Throws ShimGone. */
  async next(shim: NodeEffects): Promise<NodeChange | undefined> {
    const { errno, sent, reply } = await shim.changes({ deadlineMs: timeoutMs });
    if (errno !== 0 && errno !== ENOBUFS) return undefined;
    if (!sent || errno === ENOBUFS) return (await this.list(shim)) ? { indexes: "all", made: true } : undefined;
    const indexes = new Set<number>();
    let made = false;
    for (const { kind, link } of linkEventsIn(reply)) {
      const before = this.#links.get(link.index);
      made ||= kind === "changed" && before === undefined && !ofAttachments.has(link.kind);
      // A link with the index of an earlier one is another link.
      if (kind === "gone" || (before !== undefined && before.kind !== link.kind)) this.#forget(link.index);
      if (kind === "changed") this.#links.set(link.index, link);
      for (const index of [link.index, link.master, before?.master]) if (index !== undefined) indexes.add(index);
    }
    return indexes.size === 0 ? undefined : { indexes, made };
  }

  /** Lists all links of the node anew. False: they could not be listed. */
  async list(shim: NetlinkSender): Promise<boolean> {
    const seen = await lookIntoNamespace(shim, "");
    if (!seen.ok || seen.value === "gone") return false;
    this.#links.clear();
    for (const link of seen.value.links) this.#links.set(link.index, link);
    for (const index of this.#masters.keys()) if (!this.#links.has(index)) this.#masters.delete(index);
    return true;
  }

  /** The node's end of a veth; undefined for links of other kinds. `names`: the node's links in the attachment's result. */
  endOf({ kind, index, peer, nodeMaster }: LinkIdentity, names: readonly string[]): SeenNodeEnd | undefined {
    if (kind !== "veth" || peer === undefined) return undefined;
    const link = this.#links.get(peer);
    // The other end keeps its index where the index is free; a link with this index may be another one.
    const isOwn = link?.kind === "veth" && link.link === index && link.linkNamespace !== undefined;
    if (!isOwn) return { link: undefined, master: undefined, expectedMaster: undefined };
    const master = link.master === undefined ? undefined : this.#links.get(link.master)?.name;
    const expectedMaster = this.#masters.get(peer) ?? nodeMaster ?? this.#namedMaster(names, link.name);
    if (expectedMaster === undefined && master !== undefined) this.#masters.set(peer, master);
    else if (expectedMaster !== undefined && master === expectedMaster) this.#masters.set(peer, expectedMaster);
    return { link, master, expectedMaster };
  }

  /**
   * The bridge that the result names, also one that is gone: an end without a master has lost it. A port of Open vSwitch has the master `ovs-system`,
   * which no result names, so another master than the named one counts. The plugin bridge names its bridge before the end, and other plugins name links of their own
   * behind it, such as bandwidth its ifb.
   */
  #namedMaster(names: readonly string[], end: string): string | undefined {
    const links = [...this.#links.values()];
    const bridge = links.find(({ kind, name }) => kind === "bridge" && name !== end && names.includes(name));
    if (bridge !== undefined || links.find(({ name }) => name === end)?.master !== undefined) return bridge?.name;
    return names.slice(0, Math.max(0, names.indexOf(end))).find((name) => !links.some((link) => link.name === name));
  }

  #forget(index: number): void {
    this.#links.delete(index);
    this.#masters.delete(index);
  }
}
