import { expect, test } from "vitest";
import type { AttachmentState, NetworkState } from "../../../../node/state/node-state.ts";
import { type Box, connectedWith, layoutPicture, maxPods, type PictureLayout } from "./picture-layout.ts";

function attachment(number: number, more: Partial<AttachmentState> = {}): AttachmentState {
  const pod = `shop/cart-${String(number).padStart(4, "0")}`;
  const place = { ifname: "eth0", network: "pods", source: "default", addresses: [`10.0.0.${number}/24`] };
  return { pod, container: `c${number}`, ...place, state: "attached", since: undefined, failures: 0, why: undefined, ...more };
}

const pods: NetworkState = {
  name: "pods",
  source: "default",
  chain: ["bridge/host-local", "tuning"],
  links: [{ kind: "bridge", name: "br0", type: "bridge" }],
  pools: ["/leases/pods"],
  attachments: 2,
};
const storage: NetworkState = { ...pods, name: "storage", source: "shop/storage", pools: ["/leases/shop.storage"] };
const overlay: NetworkState = { ...pods, name: "overlay", source: "shop/overlay", links: [], pools: [] };
const pools = [
  { directory: "/leases/pods", used: 2, size: 253 },
  { directory: "/leases/shop.storage", used: 61, size: 64 },
  { directory: "/leases/gone", used: 1, size: undefined },
];

function boxOf({ boxes }: PictureLayout, id: string): Box {
  const box = boxes.find((each) => each.id === id);
  if (box === undefined) throw new Error(`no box ${id}`);
  return box;
}

function overlaps(one: Box, other: Box): boolean {
  const beside = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !beside && one.y < other.y + other.height && other.y < one.y + one.height;
}

test("joins each interface with its network's link, and each network with its pool", () => {
  const second = attachment(1, { ifname: "net1", network: "storage", source: "shop/storage" });
  const layout = layoutPicture({ attachments: [attachment(1), second, attachment(2)], networks: [pods, storage], pools });
  expect(layout.edges.map(({ from, to }) => [from, to])).toEqual([
    ["pod shop/cart-0001\nc1", "link br0"],
    ["pod shop/cart-0001\nc1", "link br0"],
    ["pod shop/cart-0002\nc2", "link br0"],
    ["link br0", "pool /leases/pods"],
    ["link br0", "pool /leases/shop.storage"],
  ]);
  expect(boxOf(layout, "link br0")).toMatchObject({ kind: "bridge", title: "br0", lines: { length: 4 } });
  expect(boxOf(layout, "pod shop/cart-0001\nc1")).toMatchObject({ title: "cart-0001", subtitle: "shop", lines: { length: 2 } });
  expect(boxOf(layout, "pool /leases/pods").fill).toBeCloseTo(2 / 253);
  expect(boxOf(layout, "pool /leases/gone").fill).toBeUndefined();
  expect(layout.boxes.filter(({ urgent }) => urgent).map(({ id }) => id)).toEqual(["pool /leases/shop.storage"]);
});

test("a network without a known link has a box of its own", () => {
  const layout = layoutPicture({
    attachments: [attachment(1, { network: "overlay", source: "shop/overlay" })],
    networks: [overlay],
    pools,
  });
  expect(layout.edges).toMatchObject([{ from: "pod shop/cart-0001\nc1", to: "network shop/overlay\noverlay" }]);
});

test("boxes never overlap, whatever the node has, and all lie within the picture", () => {
  for (const count of [0, 1, 7, 300]) {
    const networks = [pods, storage, overlay, ...Array.from({ length: 30 }, (_, index) => ({ ...overlay, name: `n${index}` }))];
    const attachments = Array.from({ length: count }, (_, index) => attachment(index, networks[index % networks.length]));
    const { boxes, width, height } = layoutPicture({
      attachments: attachments.map((each) => ({ ...each, state: "attached" })),
      networks,
      pools,
    });
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(index + 1)) expect(overlaps(one, other), `${one.id} and ${other.id}`).toBe(false);
      expect(one.x >= 0 && one.y >= 0 && one.x + one.width <= width && one.y + one.height <= height).toBe(true);
    }
  }
});

test("draws at most a bounded number of pods, those that need attention first, and the others as one box", () => {
  const many = Array.from({ length: 250 }, (_, index) => attachment(index, index === 240 ? { failures: 3 } : {}));
  const layout = layoutPicture({ attachments: many, networks: [pods], pools });
  const drawn = layout.boxes.filter(({ kind }) => kind === "pod");
  expect([drawn.length, drawn[0]?.title, drawn[0]?.urgent]).toEqual([maxPods, "cart-0240", true]);
  expect(boxOf(layout, "more").title).toBe(`and ${250 - maxPods} more pods`);
  expect(layout.edges.filter(({ from }) => from === "more")).toMatchObject([{ to: "link br0" }]);
});

test("follows a pod to its pools and a pool to its pods, but not to their neighbours", () => {
  const other = attachment(2, { network: "overlay", source: "shop/overlay" });
  const layout = layoutPicture({ attachments: [attachment(1), other], networks: [pods, overlay], pools });
  expect([...connectedWith(layout, "pod shop/cart-0001\nc1")]).toEqual([
    "pod shop/cart-0001\nc1",
    "link br0",
    "pool /leases/pods",
  ]);
  expect([...connectedWith(layout, "pool /leases/pods")]).toEqual(["pool /leases/pods", "link br0", "pod shop/cart-0001\nc1"]);
});

test("names of objects' own members are names as any other", () => {
  const odd = attachment(1, { pod: "__proto__/constructor", network: "__proto__", source: "toString" });
  const network = { ...pods, name: "__proto__", source: "toString" };
  expect(layoutPicture({ attachments: [odd], networks: [network], pools: [] }).edges).toHaveLength(1);
});
