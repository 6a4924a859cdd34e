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

/** The ports of the node in one family. */
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
export function changePorts(
  { elements, shares }: HostPorts,
  removed: ReadonlySet<string>,
  wanted?: WantedPorts,
): PortChanges | PortConflict {
  const after = new Map(elements.map((element) => [textOf(element), element]));
  const kept = shares.filter(({ chain }) => !removed.has(chain));
  const newShares: Share[] = [];
  const ownElements = elements.filter(({ chain }) => chain !== undefined && removed.has(chain));
  // A share without its port's element: an administrator removed the element.
  const freed = [...ownElements, ...shares.filter((share) => removed.has(share.chain) && !after.has(textOf(share)))];
  const wantedKeys = new Set(wanted?.ports.map(textOf));
  for (const { map, key } of freed) {
    const text = textOf({ map, key });
    const next = wantedKeys.has(text) ? undefined : kept.find((share) => textOf(share) === text);
    if (next === undefined) after.delete(text);
    else after.set(text, { map, key, chain: next.chain });
  }
  const isShared = (text: string): boolean => kept.some((share) => textOf(share) === text);
  /** The chains that have the port at single addresses. */
  const holdersAt = (port: NodePort): readonly string[] => {
    const part = portPart(port.key).join(".");
    return [...after.values(), ...kept, ...newShares].flatMap(({ map, key, chain }) =>
      map === "hostports-at" && chain !== undefined && portPart(key).join(".") === part ? [chain] : [],
    );
  };

  for (const { map, key } of wanted?.ports ?? []) {
    const [port, own] = [{ map, key }, wanted?.chain ?? ""];
    const text = textOf(port);
    const present = after.get(text);
    const holders = present === undefined ? [] : present.chain === undefined ? holdersAt(port) : [present.chain];
    const other = holders.find((holder) => !isOfSameContainer(holder, own));
    if (other !== undefined) return { port, holder: other };
    if (present?.chain === undefined || present.chain === own) {
      after.set(text, { ...port, chain: own });
      // A share keeps the removal of this holder from overlooking other shares, and the mark that it has replaced.
      if (present !== undefined || isShared(text)) newShares.push({ ...port, chain: own });
    } else newShares.push({ ...port, chain: present.chain }, { ...port, chain: own });
  }

  for (const port of [...freed, ...(wanted?.ports ?? [])].map(atAllAddresses)) {
    const text = textOf(port);
    const [holder] = holdersAt(port);
    const present = after.get(text);
    if (holder === undefined) {
      if (present !== undefined && present.chain === undefined) after.delete(text);
    } else if (present === undefined) after.set(text, { ...port, chain: undefined });
    else {
      const { chain } = present;
      const others = chain === undefined ? [] : holdersAt(port).filter((each) => each !== chain);
      if (chain === undefined || others.length === 0) continue;
      if (wanted !== undefined && others.some((each) => !isOfSameContainer(each, chain))) return { port, holder: chain };
      // The share makes the removal of this holder restore the mark.
      newShares.push({ ...port, chain });
    }
  }

  const before = new Map(elements.map((element) => [textOf(element), element]));
  const isUnchanged = ({ chain, ...port }: PortElement): boolean => {
    const earlier = before.get(textOf(port));
    return earlier !== undefined && earlier.chain === chain && (chain === undefined || !removed.has(chain));
  };
  const changed = [...after.values()].filter((element) => !isUnchanged(element));
  const changedKeys = new Set(changed.map(textOf));
  // An equal mark is added again: the kernel refuses it if another attachment gets the port meanwhile.
  const marks = new Set(wanted?.ports.filter(({ map }) => map === "hostports-at").map((port) => textOf(atAllAddresses(port))));
  const confirmed = [...after.values()].filter(
    (element) => element.chain === undefined && marks.has(textOf(element)) && !changedKeys.has(textOf(element)),
  );
  const present = new Set(kept.map((share) => `${textOf(share)} ${share.chain}`));
  return {
    removed: elements.filter((element) => !after.has(textOf(element)) || changedKeys.has(textOf(element))),
    added: [...changed, ...confirmed],
    shares: [...new Map(newShares.map((share) => [`${textOf(share)} ${share.chain}`, share]))].flatMap(([text, share]) =>
      present.has(text) ? [] : [share],
    ),
  };
}

function isOfSameContainer(chain: string, other: string): boolean {
  const container = containerOf(chain);
  return chain === other || (container !== undefined && container === containerOf(other));
}

/** Whether packets to the port lead to the chain, or to another chain of its container in which ports it has a share. */
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
