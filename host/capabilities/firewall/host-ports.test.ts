// The holders of ports after any sequence of attachments, removals and collections.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { changePorts, type HostPorts, isHeld, type NodePort, type PortElement, type Share } from "./host-ports.ts";
import { chainName, containerOf } from "./owner.ts";
import { portKey, portKeyText, portPart, readPortKey } from "./rules.ts";

const chainOf = (containerId: string, network: string): string =>
  chainName("ports", { type: "portmap", network, containerId, ifname: "eth0" });

function port(hostPort: number, hostAddress?: string): NodePort {
  const address = hostAddress === undefined ? undefined : readAddress(hostAddress);
  const key = portKey({ protocol: "tcp", hostPort, hostAddress: address });
  return { map: hostAddress === undefined ? "hostports" : "hostports-at", key };
}

const textOf = ({ map, key }: NodePort): string => `${map} ${portKeyText(key)}`;

/** A node's ports in memory; `apply` refuses what the kernel refuses. */
class Node {
  elements = new Map<string, PortElement>();
  shares: Share[] = [];
  readonly wanted = new Map<string, readonly NodePort[]>();

  get ports(): HostPorts {
    return { elements: [...this.elements.values()], shares: this.shares };
  }

  /** Attaches, or with `ports` undefined removes. Answers the holder that has a port. */
  change(chains: readonly string[], ports?: readonly NodePort[]): string | undefined {
    const removed = new Set(chains);
    const [chain = ""] = chains;
    const changes = changePorts(this.ports, removed, ports && { chain, ports });
    if ("holder" in changes) return changes.holder;
    for (const each of changes.removed)
      if (!this.elements.delete(textOf(each))) throw new Error(`${textOf(each)} is removed, but is not there`);
    this.shares = [...this.shares.filter((share) => !removed.has(share.chain)), ...changes.shares];
    for (const element of changes.added) {
      const present = this.elements.get(textOf(element));
      if (present !== undefined && (present.chain ?? element.chain) !== undefined)
        throw new Error(`${textOf(element)} leads to ${present.chain}, not to ${element.chain}`);
      this.elements.set(textOf(element), element);
    }
    for (const each of chains) this.wanted.delete(each);
    if (ports !== undefined) this.wanted.set(chain, ports);
    return undefined;
  }

  /** The state's violations of the promise, as phrases. */
  mistakes(): readonly string[] {
    const all = [...this.wanted.values()].flat();
    const elements = [...this.elements.values()];
    return [
      ...[...this.wanted].flatMap(([chain, ports]) =>
        ports.filter((each) => !isHeld(this.ports, each, chain)).map((each) => `${textOf(each)} is not held by ${chain}`),
      ),
      ...elements
        .filter(
          (element) =>
            !all.some((each) => (element.chain === undefined ? collide(each, element) : textOf(each) === textOf(element))),
        )
        .map((element) => `nobody wants ${textOf(element)}`),
      // A port at a single address keeps other containers from it at all addresses.
      ...all
        .filter((each) => !this.elements.has(textOf({ map: "hostports", key: portPart(each.key) })))
        .map((each) => `${textOf(each)} has no element or mark at all addresses`),
      ...this.shares.filter(({ chain }) => !this.wanted.has(chain)).map(({ chain }) => `the share of ${chain} remains`),
      // A holder without a share is alone: its removal reads no other chains.
      ...elements
        .filter(
          (element) =>
            element.chain !== undefined &&
            element.map === "hostports" &&
            !this.shares.some(({ chain }) => chain === element.chain) &&
            [...this.wanted].some(([other, ports]) => other !== element.chain && ports.some((each) => collide(each, element))),
        )
        .map((element) => `${element.chain} has no share in ${textOf(element)}`),
    ];
  }
}

const [p, q] = ["192.0.2.1", "192.0.2.2"];
const allPorts = [port(80), port(80, p), port(80, q), port(81), port(81, p)];
const chains = ["a", "b"].flatMap((container) => ["one", "two", "three"].map((network) => chainOf(container, network)));

/** Whether two attachments could both get packets to a port's address. */
const collide = (one: NodePort, other: NodePort): boolean =>
  textOf(one) === textOf(other) ||
  (one.map !== other.map && Buffer.compare(Buffer.from(portPart(one.key)), portPart(other.key)) === 0);

describe("FI-10: holders of ports", () => {
  test("each port leads to an attachment that wants it, of one container alone, after any sequence of changes", () => {
    const attach = fc.record({ chain: fc.constantFrom(...chains), ports: fc.uniqueArray(fc.constantFrom(...allPorts)) });
    const remove = fc.record({ chains: fc.uniqueArray(fc.constantFrom(...chains), { minLength: 1 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(attach, attach, remove), { maxLength: 40 }), (changes) => {
        const node = new Node();
        const outcomes = changes.map((change) => {
          if ("chains" in change) return [node.change(change.chains), undefined, ...node.mistakes()];
          const container = containerOf(change.chain);
          const others = [...node.wanted].filter(([chain]) => containerOf(chain) !== container);
          const isTaken = others.some(([, ports]) => ports.some((each) => change.ports.some((own) => collide(each, own))));
          const holder = node.change([change.chain], change.ports);
          return [holder && containerOf(holder), isTaken ? (container === "a" ? "b" : "a") : undefined, ...node.mistakes()];
        });
        expect(outcomes.filter(([holder, expected, ...mistakes]) => holder !== expected || mistakes.length > 0)).toEqual([]);
        node.change(chains);
        expect([node.elements.size, node.shares]).toEqual([0, []]);
      }),
    );
  });

  test("the first attachment keeps a port until it is removed, then the next one in the order of attaching has it", () => {
    const node = new Node();
    const [one = "", two = "", three = ""] = chains;
    const holder = (): string | undefined => node.elements.get("hostports tcp any 80")?.chain;
    for (const chain of [one, two, three]) expect(node.change([chain], [port(80)])).toBe(undefined);
    expect(holder()).toBe(one);
    node.change([one], [port(80)]);
    expect(holder()).toBe(one);
    node.change([one]);
    expect(holder()).toBe(two);
    node.change([one], [port(80)]);
    expect(holder()).toBe(two);
    node.change([two, one]);
    expect(holder()).toBe(three);
  });

  test("a container is known by its name alone: a hash in a chain's name is no container", () => {
    const long = "c".repeat(200);
    const chain = chainName("ports", { type: "portmap", network: "n", containerId: long, ifname: "eth0" });
    expect(containerOf(chain)).toBe(undefined);
    const hashedNetwork = chainName("ports", { type: "portmap", network: "n".repeat(200), containerId: "a", ifname: "eth0" });
    expect(containerOf(hashedNetwork)).toBe("a");
    const both = chainName("ports", { type: "portmap", network: "n".repeat(200), containerId: long, ifname: "eth0" });
    expect(containerOf(both)).toBe(undefined);
    expect(containerOf("hostports")).toBe(undefined);
    expect(containerOf(chainOf("a", "one"))).toBe("a");
  });

  test.each(["tcp any 8080", "udp 192.0.2.1 53", "sctp 2001:db8::1 65535"])("the text of a port is read again: %s", (text) => {
    const key = readPortKey(text);
    expect(key && portKeyText(key)).toBe(text);
  });

  test.each(["", "tcp", "icmp any 1", "tcp host 1", "tcp any 8080 more"])("another text is no port: %s", (text) => {
    expect(readPortKey(text)).toBe(undefined);
  });
});
