// Random operations under random grants: the sent messages change only granted links. A decoder that shares no code with the encoder reads them.

import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LinkGrant } from "../../../../src/configuration/keys/grant-keys.ts";
import { type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import type { LinksOperation } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTests, openLinkTests } from "../../../../host/capabilities/links/testing/link-tests.ts";
import { messagesOf, type SentMessage } from "../../../../host/capabilities/links/testing/sent-messages.ts";
import { openTwoPods } from "../../../../host/capabilities/links/testing/two-pods.ts";

interface NodeLink {
  readonly index: number;
  readonly name: string;
  readonly kind: string;
}

/** The part of a message that the grant does not allow, by the rules of the WIT and without the capability's code; undefined: none. */
function mistakeOf(message: SentMessage, grant: LinkGrant, before: readonly NodeLink[]): string | undefined {
  const { place, type, changes, index, creates, master, parent, forbidden, namesNamespace } = message;
  if (forbidden.length > 0) return `attributes ${forbidden.join()}`;
  if (place === "pod") return namesNamespace ? "names another namespace from the pod's" : undefined;
  if (!changes) return undefined;
  const linkOf = (number: number | undefined): NodeLink | undefined => before.find((link) => link.index === number);
  const lists = (list: readonly string[] | undefined, link: NodeLink | undefined): boolean =>
    link !== undefined && (list ?? []).some((name) => name === "*" || name === link.name);
  // The attachment's own end is a port of this bridge: an undo makes it one again.
  const restored = linkOf(index)?.name === "vethown" && linkOf(master)?.name === "brgood";
  const masterLink = restored ? undefined : linkOf(master);
  if (masterLink !== undefined && !(lists(grant.bridges, masterLink) && masterLink.kind === "bridge"))
    return `master ${masterLink.name}`;
  const parentLink = linkOf(parent);
  if (creates) return parentLink === undefined || lists(grant.parents, parentLink) ? undefined : `parent ${parentLink.name}`;
  const link = linkOf(index);
  if (link === undefined || link.name === "vethown") return undefined; // made by this call, or the attachment's
  if (link.kind === "bridge" && lists(grant.bridges, link)) return undefined;
  const joins = type === 19 && master !== undefined && !message.hasFlags && message.attributes.every((each) => each === 10);
  const vlans = (type === 17 || type === 19) && message.attributes.every((each) => each === 26);
  return lists(grant.uplinks, link) && (joins || vlans) ? undefined : `${type} changes ${link.name}`;
}

function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined });
}

describe.skipIf(missing("scope of links", missingPrivateNamespaces))("the scope", () => {
  let links: LinkTests;
  let pod: PodNamespace;
  let neighbour: PodNamespace;
  beforeEach(async () => {
    links = await openLinkTests();
    ({ pod, neighbour } = openTwoPods(links));
  });
  afterEach(async () => {
    for (const namespace of [pod, neighbour]) namespace.dispose();
    await links.dispose();
  });

  test("changes only granted links, for random operations under random grants", async () => {
    links.ip("link set dev0 up");
    await fc.assert(
      fc.asyncProperty(grants, fc.array(operations, { maxLength: 6 }), async (grant, requested) => {
        const before = nodeLinks();
        const { capability, sent } = links.capability({ pod, grant });
        await capability.apply(requested);
        for (const message of sent.flatMap(messagesOf)) expect(mistakeOf(message, grant, before)).toBeUndefined();
        for (const name of ["brnew", "brgood.7"]) links.node.exec(["ip", "link", "delete", name]);
        pod.exec(["ip", "link", "delete", "net1"]);
        expect(nodeLinks().filter(({ name }) => ["brother", "dev1", "up0", "dev0peer", "vethnext"].includes(name)).length).toBe(
          5,
        );
      }),
      { numRuns: 60 },
    );
  });

  function nodeLinks(): readonly NodeLink[] {
    const shown: { ifindex: number; ifname: string; linkinfo?: { info_kind?: string } }[] = JSON.parse(links.ip("-j -d link"));
    return shown.map(({ ifindex, ifname, linkinfo }) => ({ index: ifindex, name: ifname, kind: linkinfo?.info_kind ?? "" }));
  }

  const names = ["brgood", "brother", "brnew", "dev0", "dev1", "vethown", "vethnext", "lo", "eth0", "net1", "other0", "brgood.7"];
  const name = fc.constantFrom(...names);
  const linkName = fc.record({ place: fc.constantFrom<"host" | "pod">("host", "pod"), name });
  const list = fc.option(fc.array(fc.constantFrom("brgood", "brnew", "dev0", "dev1", "net1", "*"), { maxLength: 3 }), {
    nil: undefined,
  });
  const grants: fc.Arbitrary<LinkGrant> = fc.record({
    bridges: list,
    parents: list,
    uplinks: list,
    podLinks: list,
    forwarding: fc.constant(false),
  });
  const vlan = fc.constant({ first: 7, last: 7, pvid: false, untagged: false });
  const address = fc.constantFrom("10.1.1.1/24", "fd01::1/64");
  const operations: fc.Arbitrary<LinksOperation> = fc.oneof(
    fc.record({ tag: fc.constant("ensure-bridge" as const), val: fc.record({ name, vlanFiltering: fc.constant(false) }) }),
    fc.record({
      tag: fc.constant("ensure-vlan-gateway" as const),
      val: fc.record({ bridge: name, id: fc.constant(7), keepDefaultVlan: fc.boolean() }),
    }),
    fc.record({
      tag: fc.constant("add-veth" as const),
      val: fc.record({
        name,
        master: maybe(name),
        hostName: maybe(fc.constantFrom("vethnew", "brgood", "vethnext")),
        vlans: fc.constant([]),
        keepDefaultVlan: fc.boolean(),
        up: fc.boolean(),
      }),
    }),
    fc.record({
      tag: fc.constant("add-macvlan" as const),
      val: fc.record({ name, parent: linkName, mode: fc.constantFrom("bridge" as const, "private" as const) }),
    }),
    fc.record({ tag: fc.constant("delete-link" as const), val: linkName }),
    fc.record({
      tag: fc.constant("change-link" as const),
      val: fc.record({
        link: linkName,
        up: maybe(fc.boolean()),
        mtu: maybe(fc.constant(1400)),
        master: maybe(fc.oneof(name, fc.constant(""))),
        alternativeNames: fc.constant([]),
      }),
    }),
    fc.record({ tag: fc.constant("change-port" as const), val: fc.record({ link: name, port: fc.constant({ hairpin: true }) }) }),
    fc.record({
      tag: fc.constantFrom("add-port-vlan" as const, "delete-port-vlan" as const),
      val: fc.record({ link: name, vlan }),
    }),
    fc.record({
      tag: fc.constantFrom("add-address" as const, "delete-address" as const),
      val: fc.record({ link: linkName, address, noDad: fc.boolean() }),
    }),
    fc.record({
      tag: fc.constant("ensure-address" as const),
      val: fc.record({ link: linkName, address, replace: fc.boolean() }),
    }),
    fc.record({
      tag: fc.constantFrom("add-route" as const, "delete-route" as const),
      val: fc.record({
        link: linkName,
        place: fc.constant("host" as const),
        route: fc.constant({ dst: "10.7.0.0/16" }),
        onLink: fc.boolean(),
      }),
    }),
    fc.record({
      tag: fc.constantFrom("add-neighbour" as const, "delete-neighbour" as const),
      val: fc.record({ link: linkName, neighbour: fc.constant({ address: "10.1.1.9", mac: "02:00:00:00:00:09", proxy: false }) }),
    }),
    fc.record({
      tag: fc.constant("set-interface" as const),
      val: fc.record({
        link: linkName,
        family: fc.constant("ipv4" as const),
        name: fc.constantFrom("arp_notify", "forwarding"),
        value: fc.constant("1"),
        required: fc.constant(false),
      }),
    }),
  );
});
