// The looks for orphans with providers whose lists are too long, or that make a mistake.

import { expect, test, vi } from "vitest";
import type { PartContext } from "../../../host/controller/part.ts";
import { lookForOrphans, releaseOrphans } from "./orphans.ts";
import type { OwnedPort, PortProvider, ProviderResult } from "./provider.ts";

/** A provider whose lists come from `list`, with the keys of the ports that it released. */
function listing(list: () => readonly OwnedPort[]): { readonly provider: PortProvider; readonly released: string[] } {
  const released: string[] = [];
  const release = async ({ key }: OwnedPort): Promise<ProviderResult<void>> => {
    released.push(key);
    return { ok: true, value: undefined };
  };
  return { provider: { list: async () => ({ ok: true, value: list() }), release } as unknown as PortProvider, released };
}

/** An API server in which the object at a path is what `get` answers, with the paths that were asked for and the log. */
function api(get: (path: string) => object): {
  readonly context: Pick<PartContext, "objects" | "log">;
  readonly asked: string[];
  readonly lines: string[];
} {
  const asked: string[] = [];
  const lines: string[] = [];
  const objects = {
    get: async (path: string) => {
      asked.push(path);
      return get(path);
    },
  } as unknown as PartContext["objects"];
  return { context: { objects, log: (level, text) => lines.push(`${level} ${text}`) }, asked, lines };
}

const ports = (count: number): readonly OwnedPort[] =>
  Array.from({ length: count }, (_, index) => ({ key: `shop/pod-${index}`, providerId: `port-${index}` }));

/** The API's ExternalPort of a key, whose port has this ID. */
function externalPort(providerId: string, metadata: object): object {
  return {
    metadata: { name: "pod-0", namespace: "shop", uid: "u", resourceVersion: "1", ...metadata },
    spec: {
      podName: "web",
      podUid: "u",
      nodeName: "n",
      index: 0,
      definition: { namespace: "shop", name: "fabric" },
      provider: "fabric",
    },
    status: { providerId, mac: "02:00:00:00:00:01", addresses: [], binding: { type: "address-only" } },
  };
}

test("a look asks the API about 2,000 ports at most", async () => {
  const { context, asked } = api(() => ({ kind: "failed", why: "HTTP 500" }));
  const { provider, released } = listing(() => ports(2_500));
  expect(await releaseOrphans(context, "fabric", provider)).toBe(0);
  expect(asked).toHaveLength(2_000);
  expect(released).toEqual([]);
});

test("a port in use needs no question, and does not count as one", async () => {
  const { context, asked } = api(() => ({ kind: "absent" }));
  const { provider, released } = listing(() => ports(2_501));
  expect(await releaseOrphans(context, "fabric", provider, ({ key }) => key !== "shop/pod-2500")).toBe(1);
  expect(asked).toHaveLength(1);
  expect(released).toEqual(["shop/pod-2500"]);
});

test("a look releases 500 ports at most", async () => {
  const { context } = api(() => ({ kind: "absent" }));
  const { provider, released } = listing(() => ports(600));
  expect(await releaseOrphans(context, "fabric", provider)).toBe(500);
  expect(released).toHaveLength(500);
});

test.each([
  ["stays while its object has the finalizer", ["plexus.dev/external-port", "example.com/keep"], []],
  ["is released if only a finalizer of another program keeps its object", ["example.com/keep"], ["shop/pod-0"]],
])("the port of a deleted object %s", async (_, finalizers, expected) => {
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
  const { context } = api(() => ({ kind: "object", object: externalPort("port-0", metadata) }));
  const { provider, released } = listing(() => ports(1));
  await releaseOrphans(context, "fabric", provider);
  expect(released).toEqual(expected);
});

test("a look ends with the tenth failure in a row: each may take the time limit of a request", async () => {
  const { context, asked } = api(() => ({ kind: "absent" }));
  let tries = 0;
  const release = async (): Promise<ProviderResult<void>> => {
    tries += 1;
    return { ok: false, reason: "unavailable", message: "no answer within 10 s" };
  };
  const provider = { list: async () => ({ ok: true, value: ports(600) }), release } as unknown as PortProvider;
  expect(await releaseOrphans(context, "fabric", provider)).toBe(0);
  expect([tries, asked.length]).toEqual([10, 10]);
});

test("the next look begins where the last one ended, so that ports that cannot be released keep no other from it", async () => {
  const { context } = api(() => ({ kind: "absent" }));
  const released: string[] = [];
  const release = async ({ key }: OwnedPort): Promise<ProviderResult<void>> => {
    const index = Number(key.slice("shop/pod-".length));
    if (index < 20) return { ok: false, reason: "unavailable", message: "HTTP 500" };
    released.push(key);
    return { ok: true, value: undefined };
  };
  const list = async (): Promise<ProviderResult<readonly OwnedPort[]>> => ({
    ok: true,
    value: ports(21).filter(({ key }) => !released.includes(key)),
  });
  const provider = { list, release } as unknown as PortProvider;
  const position = { index: 0 };
  for (let look = 0; look < 3; look++) await releaseOrphans(context, "fabric", provider, undefined, { position });
  expect(released).toEqual(["shop/pod-20"]);
});

test("keys of another form need no question, and keep no orphan from the look", async () => {
  const { context, asked } = api(() => ({ kind: "absent" }));
  const foreign = Array.from({ length: 2_500 }, (_, index) => ({ key: `other:${index}`, providerId: "" }));
  const { provider, released } = listing(() => [...foreign, ...ports(1)]);
  expect(await releaseOrphans(context, "fabric", provider)).toBe(1);
  expect([asked.length, released]).toEqual([1, ["shop/pod-0"]]);
});

test("a look begins nothing more once its term has ended", async () => {
  const { context, asked } = api(() => ({ kind: "absent" }));
  const ended = new AbortController();
  const { provider, released } = listing(() => {
    ended.abort();
    return ports(5);
  });
  expect(await releaseOrphans(context, "fabric", provider, undefined, { signal: ended.signal })).toBe(0);
  expect([asked, released]).toEqual([[], []]);
});

test("the looks go on after a mistake in the provider, with a line in the log", async () => {
  const { context, lines } = api(() => ({ kind: "absent" }));
  let looks = 0;
  const { provider, released } = listing(() => {
    looks += 1;
    if (looks === 1) throw new TypeError("a mistake");
    return ports(1);
  });
  const ended = new AbortController();
  const looking = lookForOrphans(context, "fabric", provider, { isInUse: () => false, intervalMs: 10 }, ended.signal);
  await Promise.race([looking, vi.waitFor(() => expect(released).toContain("shop/pod-0"), { timeout: 120_000 })]);
  expect(lines[0]).toBe('warn provider "fabric": the look for orphans failed: a mistake');
  ended.abort();
  await looking;
});
