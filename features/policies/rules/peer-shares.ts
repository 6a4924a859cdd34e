// Divides the elements of a pod's table among the namespaces of peers, so that pods of one namespace do not make another namespace's policies fail.

import type { Peer } from "./peers.ts";

/** Peers that a policy allows, and that a table has no place for. */
export interface OmittedPeers {
  /** `MultiNetworkPolicy web`. */
  readonly policy: string;
  /** The peers' namespace. */
  readonly namespace: string;
  readonly peers: number;
}

/** Peers of one rule. */
export interface FoundPeers {
  readonly found: readonly Peer[];
  /** The elements that a peer takes in the table. */
  readonly costOf: (peer: Peer) => number;
  /** `MultiNetworkPolicy web`. */
  readonly policy: string;
  /** The policy's namespace. */
  readonly namespace: string;
}

/** Chooses the peers of a rule that the table gets. */
export type AdmitPeers = (peers: FoundPeers) => readonly Peer[];

/** Chooses all peers. */
export const admitAll: AdmitPeers = ({ found }) => found;

/** Chooses the peers of the policy's own namespace: its tenant decides how many there are. */
export const admitOwn: AdmitPeers = ({ found, namespace }) => found.filter((peer) => isOwn(peer, namespace));

function isOwn(peer: Peer, namespace: string): boolean {
  return peer.namespace === undefined || peer.namespace === namespace;
}

/** The elements that each namespace asks for, besides the policies' own one. */
export class PeerDemand {
  readonly byNamespace = new Map<string, number>();

  readonly admit: AdmitPeers = ({ found, costOf, namespace: own }) => {
    for (const peer of found) {
      const { namespace = own } = peer;
      if (namespace !== own) this.byNamespace.set(namespace, (this.byNamespace.get(namespace) ?? 0) + costOf(peer));
    }
    return [];
  };
}

/** The elements that each namespace gets of `bound`: all that it asks for, or an equal share of what the modest namespaces leave. */
export function sharesOf(demand: ReadonlyMap<string, number>, bound: number): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  let [left, waiting] = [bound, demand.size];
  for (const [namespace, wanted] of [...demand].toSorted(([, one], [, other]) => one - other)) {
    const share = Math.min(wanted, Math.floor(left / waiting));
    shares.set(namespace, share);
    left -= share;
    waiting -= 1;
  }
  return shares;
}

/** Chooses all peers of the policy's own namespace, and those of other namespaces within their shares. */
export class SharedPeers {
  readonly #left: Map<string, number>;
  readonly #omitted = new Map<string, OmittedPeers>();

  constructor(shares: ReadonlyMap<string, number>) {
    this.#left = new Map(shares);
  }

  get omitted(): readonly OmittedPeers[] {
    return [...this.#omitted.values()];
  }

  readonly admit: AdmitPeers = ({ found, costOf, policy, namespace: own }) =>
    found.filter((peer) => {
      const { namespace = own } = peer;
      if (namespace === own) return true;
      const left = (this.#left.get(namespace) ?? 0) - costOf(peer);
      if (left >= 0) {
        this.#left.set(namespace, left);
        return true;
      }
      const key = `${policy}\n${namespace}`;
      this.#omitted.set(key, { policy, namespace, peers: (this.#omitted.get(key)?.peers ?? 0) + 1 });
      return false;
    });
}

/** The text of omitted peers for administrators. `namespace`: that of the policies. */
export function omittedText(omitted: readonly OmittedPeers[], namespace: string): string {
  const texts = omitted.slice(0, maxTexts).map(({ policy, namespace: peers, peers: count }) => {
    const [kind = "", name = ""] = policy.split(" ");
    return `${count} peers of namespace ${peers} in ${kind} ${namespace}/${name}`;
  });
  return omitted.length > maxTexts ? `${texts.join("; ")}; and ${omitted.length - maxTexts} more` : texts.join("; ");
}

const maxTexts = 5;
