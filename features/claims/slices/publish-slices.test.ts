import { expect, test } from "vitest";
import type { OfferedDevice } from "../rules/offered-devices.ts";
import { type PublishInit, SlicePublisher, verifyPauseMs } from "./publish-slices.ts";

type Slice = Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } };

const device = (isUp: boolean): OfferedDevice => ({
  name: "nic-eth1",
  link: {
    name: "eth1",
    kind: "link",
    isUp,
    isAdminUp: true,
    mtu: 1500,
    speed: undefined,
    driver: undefined,
    pciAddress: undefined,
    pcieRoot: undefined,
    pciVendor: undefined,
    numaNode: undefined,
    hasRdma: false,
  },
  settings: {
    name: "nic",
    match: { name: "eth1" },
    shared: undefined,
    vlans: undefined,
    networks: [],
    whenDown: "NoExecute",
    resourceName: undefined,
  },
});

/** A publisher with an API that keeps slices, and a clock that only the test moves. */
function published(): {
  readonly publisher: SlicePublisher;
  readonly slices: Map<string, Slice>;
  readonly roundAt: (ms: number) => Promise<void>;
  readonly node: { look: () => readonly OfferedDevice[] };
} {
  const slices = new Map<string, Slice>();
  const node = { look: (): readonly OfferedDevice[] => [device(true)] };
  let now = 0;
  const store = async (object: unknown) => {
    const { metadata, ...slice } = object as Slice;
    const stored = { ...slice, metadata: { ...metadata, resourceVersion: String(now) } };
    slices.set(metadata.name, stored);
    return { kind: "object", object: stored } as const;
  };
  const api: Awaited<ReturnType<PublishInit["api"]>> = {
    get: async () => ({ kind: "absent", why: "HTTP 404" }),
    list: async () => ({ kind: "list", items: [...slices.values()] }),
    create: async (_, object) => store(object),
    replace: async (_, object) => store(object),
    remove: async (path) => {
      slices.delete(path.split("/").at(-1) ?? "");
      return { kind: "object", object: {} };
    },
  };
  const publisher = new SlicePublisher({
    nodeName: "n1",
    api: async () => api,
    look: () => node.look(),
    log: () => undefined,
    now: () => now,
  });
  const roundAt = (ms: number): Promise<void> => {
    now = ms;
    return publisher.round();
  };
  return { publisher, slices, roundAt, node };
}

test("a registration during a round makes the next round look at the API, without a pause", async () => {
  let looks = 0;
  const answers: (() => void)[] = [];
  const publisher = new SlicePublisher({
    nodeName: "n1",
    // Without credentials a round fails, and pauses.
    api: () => {
      looks += 1;
      return new Promise((resolve) => answers.push(() => resolve(undefined)));
    },
    look: () => [],
    log: () => undefined,
    now: () => 1,
  });
  const first = publisher.round();
  publisher.renew();
  answers.pop()?.();
  await first;
  const second = publisher.round();
  answers.pop()?.();
  await second;
  await publisher.round();
  expect(looks).toBe(2);
});

test("DR-01: slices that a starting kubelet removes after the registration are back after at most the time that its removal took", async () => {
  // The kubelet removes the slices when it reaches the API, after pauses that double.
  for (const removedMs of [1_000, 30_000, 250_000]) {
    const { publisher, slices, roundAt } = published();
    await roundAt(0);
    publisher.renew();
    await new Promise((resolve) => setImmediate(resolve));
    let ms = 0;
    for (; ms < removedMs; ms += 2_000) await roundAt(ms);
    slices.clear();
    for (; slices.size === 0 && ms < 2 * verifyPauseMs; ms += 2_000) await roundAt(ms);
    expect(ms).toBeLessThanOrEqual(2 * removedMs + 12_000);
  }
});

test("DR-02: a look at the links that fails once leaves no change of them unpublished", async () => {
  const { publisher, slices, roundAt, node } = published();
  await roundAt(0);
  // Between two looks at the API without a reason.
  const last = 700_000;
  for (let ms = 2_000; ms < last; ms += 2_000) await roundAt(ms);
  const { look } = node;
  node.look = () => {
    throw new Error("EMFILE: too many open files, scandir '/sys/class/net'");
  };
  await roundAt(last);
  expect(publisher.failure).toContain("EMFILE");
  node.look = () => look().map((each) => ({ ...each, link: { ...each.link, isUp: false } }));
  for (let ms = last + 2_000; ms <= last + 12_000; ms += 2_000) await roundAt(ms);
  expect(publisher.failure).toBe("");
  expect([...slices.values()]).toMatchObject([{ spec: { devices: [{ taints: [{ effect: "NoExecute" }] }] } }]);
});
