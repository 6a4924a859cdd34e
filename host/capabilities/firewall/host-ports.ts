// The holders of the node's ports. A map element leads a port to one attachment, so attachments of several containers cannot have it. Several
// attachments of one container may map one port, as podman does with each of its networks: the first is the port's holder, and each has a share.
// A share is a rule of an unreachable chain. The kernel refuses to remove a chain that a share leads to, so no removal overlooks a successor. No I/O.

import { containerOf } from "./owner.ts";
import { portPart } from "./rules.ts";

/** A map of ports: at all addresses of the node, or at single ones. */
export type PortMap = "hostports" | "hostports-at";

/** The chains whose rules are the shares in ports of each map. */
export const shareChains: Readonly<Record<PortMap, string>> = {
  hostports: "hostports-shared",
  "hostports-at": "hostports-at-shared",
};

/** A port of the node: a map and a key of it. */
export interface NodePort {
  readonly map: PortMap;
  readonly key: Uint8Array;
}

/** A port and a chain. For a map's element, an undefined chain is a mark: the port is mapped at single addresses only. */
export interface PortElement extends NodePort {
  readonly chain: string | undefined;
}

/** A share in a port. */
export interface Share extends NodePort {
  readonly chain: string;
}

/** The ports of the node in one address family. */
export interface HostPorts {
  readonly elements: readonly PortElement[];
  readonly shares: readonly Share[];
}

/** The changes of elements and shares. The removal of the removed chains' own shares is not listed. */
export interface PortChanges {
  readonly removed: readonly NodePort[];
  readonly added: readonly PortElement[];
  readonly shares: readonly Share[];
}

/** A port that another container has. */
export interface PortConflict {
  readonly port: NodePort;
  /** The chain of its holder. */
  readonly holder: string;
}

/** An attachment's chain, and the ports that shall lead to it. */
export interface WantedPorts {
  readonly chain: string;
  readonly ports: readonly NodePort[];
}

const textOf = ({ map, key }: NodePort): string => `${map} ${key.join(".")}`;

/** The port's element in `hostports`. */
function atAllAddresses({ key }: NodePort): NodePort {
  return { map: "hostports", key: portPart(key) };
}

/**
 * The changes that take the chains of `removed` from their ports, give `wanted` its ports, and lead a port without its holder to the next attachment
 * with a share in it.
 */
export function changePorts(ports: HostPorts, removed: ReadonlySet<string>, wanted?: WantedPorts): PortChanges | PortConflict {
  const draft = new PortDraft(ports, removed);
  const wantedPorts = wanted?.ports ?? [];
  draft.free(new Set(wantedPorts.map(textOf)));
  for (const port of wantedPorts) {
    const conflict = draft.give(port, wanted?.chain ?? "");
    if (conflict !== undefined) return conflict;
  }
  for (const port of [...draft.freed, ...wantedPorts].map(atAllAddresses)) {
    const conflict = draft.settle(port, wanted !== undefined);
    if (conflict !== undefined) return conflict;
  }
  return draft.changes(ports, removed, wantedPorts);
}

/** The ports of one family while they change. */
class PortDraft {
  /** The ports of the removed chains. */
  readonly freed: readonly NodePort[];
  /** The elements as they will be, by `textOf`. */
  readonly #after: Map<string, PortElement>;
  /** The shares of the chains that stay. */
  readonly #kept: readonly Share[];
  readonly #newShares: Share[] = [];

  constructor({ elements, shares }: HostPorts, removed: ReadonlySet<string>) {
    this.#after = new Map(elements.map((element) => [textOf(element), element]));
    this.#kept = shares.filter(({ chain }) => !removed.has(chain));
    const ownElements = elements.filter(({ chain }) => chain !== undefined && removed.has(chain));
    // A share without its port's element: an administrator removed the element.
    const ownShares = shares.filter((share) => removed.has(share.chain) && !this.#after.has(textOf(share)));
    this.freed = [...ownElements, ...ownShares];
  }

  /** Leads each freed port to the next attachment with a share in it. The ports with these texts get another holder later. */
  free(wantedTexts: ReadonlySet<string>): void {
    for (const { map, key } of this.freed) {
      const text = textOf({ map, key });
      const next = wantedTexts.has(text) ? undefined : this.#kept.find((share) => textOf(share) === text);
      if (next === undefined) this.#after.delete(text);
      else this.#after.set(text, { map, key, chain: next.chain });
    }
  }

  /** Leads the port to the chain, or gives the chain a share in the port of another chain of its container. */
  give({ map, key }: NodePort, chain: string): PortConflict | undefined {
    const port = { map, key };
    const text = textOf(port);
    const present = this.#after.get(text);
    const holders = present === undefined ? [] : present.chain === undefined ? this.#holdersAt(port) : [present.chain];
    const other = holders.find((holder) => !isOfSameContainer(holder, chain));
    if (other !== undefined) return { port, holder: other };
    if (present?.chain !== undefined && present.chain !== chain) {
      this.#newShares.push({ ...port, chain: present.chain }, { ...port, chain });
      return undefined;
    }
    this.#after.set(text, { ...port, chain });
    const isShared = this.#kept.some((share) => textOf(share) === text);
    // A share keeps the removal of this holder from overlooking other shares, and the mark that it has replaced.
    if (present !== undefined || isShared) this.#newShares.push({ ...port, chain });
    return undefined;
  }

  /** Sets or removes the mark of a port that is mapped at single addresses only. `isWanted`: another container's chain is a conflict. */
  settle(port: NodePort, isWanted: boolean): PortConflict | undefined {
    const text = textOf(port);
    const holders = this.#holdersAt(port);
    const present = this.#after.get(text);
    if (holders.length === 0) {
      if (present !== undefined && present.chain === undefined) this.#after.delete(text);
      return undefined;
    }
    if (present === undefined) {
      this.#after.set(text, { ...port, chain: undefined });
      return undefined;
    }
    const { chain } = present;
    const others = chain === undefined ? [] : holders.filter((each) => each !== chain);
    if (chain === undefined || others.length === 0) return undefined;
    if (isWanted && others.some((each) => !isOfSameContainer(each, chain))) return { port, holder: chain };
    // The share makes the removal of this holder restore the mark.
    this.#newShares.push({ ...port, chain });
    return undefined;
  }

  /** The changes that lead from these ports to the draft. */
  changes({ elements }: HostPorts, removed: ReadonlySet<string>, wantedPorts: readonly NodePort[]): PortChanges {
    const before = new Map(elements.map((element) => [textOf(element), element]));
    const isUnchanged = ({ chain, ...port }: PortElement): boolean => {
      const earlier = before.get(textOf(port));
      return earlier !== undefined && earlier.chain === chain && (chain === undefined || !removed.has(chain));
    };
    const after = [...this.#after.values()];
    const changed = after.filter((element) => !isUnchanged(element));
    const changedTexts = new Set(changed.map(textOf));
    // An equal mark is added again: the kernel refuses it if another attachment gets the port meanwhile.
    const singles = wantedPorts.filter(({ map }) => map === "hostports-at");
    const marks = new Set(singles.map((port) => textOf(atAllAddresses(port))));
    const confirmed = after.filter(
      (element) => element.chain === undefined && marks.has(textOf(element)) && !changedTexts.has(textOf(element)),
    );
    const shareText = (share: Share): string => `${textOf(share)} ${share.chain}`;
    const present = new Set(this.#kept.map(shareText));
    const newShares = new Map(this.#newShares.map((share) => [shareText(share), share]));
    return {
      removed: elements.filter((element) => !this.#after.has(textOf(element)) || changedTexts.has(textOf(element))),
      added: [...changed, ...confirmed],
      shares: [...newShares].flatMap(([text, share]) => (present.has(text) ? [] : [share])),
    };
  }

  /** The chains that have the port at single addresses. */
  #holdersAt(port: NodePort): readonly string[] {
    const part = portPart(port.key).join(".");
    return [...this.#after.values(), ...this.#kept, ...this.#newShares].flatMap(({ map, key, chain }) =>
      map === "hostports-at" && chain !== undefined && portPart(key).join(".") === part ? [chain] : [],
    );
  }
}

function isOfSameContainer(chain: string, other: string): boolean {
  const container = containerOf(chain);
  return chain === other || (container !== undefined && container === containerOf(other));
}

/** Whether packets to the port lead to the chain, or to another chain of the container whose port the chain shares. */
export function isHeld(
  { elements, shares }: HostPorts,
  port: Pick<NodePort, "key"> & { readonly map: string },
  chain: string,
): boolean {
  const isPort = ({ map, key }: NodePort): boolean => map === port.map && Buffer.compare(key, port.key) === 0;
  const holder = elements.find(isPort)?.chain;
  if (holder === undefined || holder === chain) return holder === chain;
  return isOfSameContainer(holder, chain) && shares.some((share) => share.chain === chain && isPort(share));
}
