import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { ok } from "../../../src/fault/result.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import { ClaimReports } from "./report-claims.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const claim = (name: string): PreparedClaim => ({
  namespace: "shop",
  name,
  uid: name,
  pods: ["u"],
  isShareable: false,
  networks: [
    {
      request: "r",
      pool: "n1",
      device: "d",
      shareId: "",
      isOfClass: false,
      source: { kind: "list", text: "{}" },
      link: { name: "eth1", kind: "link", isExclusive: false },
    },
  ],
});
const failedAdd = new Map([
  ["CNI_COMMAND", "ADD"],
  ["CNI_ARGS", "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=p;K8S_POD_UID=u"],
]);

const object = (path: string): Readonly<Record<string, unknown>> => ({ metadata: { uid: path.split("/").at(-1) } });

/** No status is replaced whose patch the API takes. */
const replace = (): Promise<ObjectAnswer> => Promise.reject(new Error("a status was replaced"));

/** Reports of failed ADDs of a pod with these claims. `get` plays the API's answer. */
function reports(names: readonly string[], get: (path: string) => "failed" | "conflict"): ClaimReports {
  const journal = { list: () => ok([]), load: () => ok(undefined) };
  return new ClaimReports(
    { candidates: () => ok({ claims: names.map(claim), damaged: [] }) },
    () =>
      Promise.resolve({
        get: (path) =>
          Promise.resolve(
            get(path) === "failed"
              ? { kind: "failed", why: "away", pauseMs: undefined }
              : { kind: "object", object: object(path) },
          ),
        patch: () => Promise.resolve({ kind: "conflict", why: "changed" }),
        replace,
      }),
    journal,
    systemClock,
    () => undefined,
  );
}

const configuration = { name: "n" } as HostConfiguration;

test("while the API is away, one try follows each pause, however many ADDs fail", async () => {
  let asked = 0;
  const of = reports(["a"], () => {
    asked += 1;
    return "failed";
  });
  for (let call = 0; call < 40; call++) of.noteCall(configuration, failedAdd, { status: 1, stdout: "{}" });
  await vi.advanceTimersByTimeAsync(10_500);
  of.stop();
  expect(asked).toBe(3);
});

test("a claim that changes with each write holds back no other claim", async () => {
  const asked: string[] = [];
  const of = reports(["a", "b"], (path) => {
    asked.push(path.split("/").at(-1) ?? "");
    return "conflict";
  });
  of.noteCall(configuration, failedAdd, { status: 1, stdout: "{}" });
  await vi.advanceTimersByTimeAsync(1);
  of.stop();
  expect(asked).toEqual(["a", "b"]);
});

/** The claim in the path of its status. */
const nameIn = (path: string): string => path.split("/").at(-2) ?? "";

/** Reports of a failed ADD of a pod with the claims a and b. `patch` answers for a claim; the names of the claims that were written are kept. */
function patched(patch: (name: string) => ObjectAnswer): {
  readonly of: ClaimReports;
  readonly written: string[];
  readonly warnings: string[];
} {
  const [written, warnings]: [string[], string[]] = [[], []];
  const of = new ClaimReports(
    { candidates: () => ok({ claims: ["a", "b"].map(claim), damaged: [] }) },
    async () => ({
      get: async (path) => ({ kind: "object", object: object(path) }),
      patch: async (path) => {
        const answer = patch(nameIn(path));
        if (answer.kind === "object") written.push(nameIn(path));
        return answer;
      },
      replace,
    }),
    { list: () => ok([]), load: () => ok(undefined) },
    systemClock,
    (_, text) => warnings.push(text),
  );
  of.noteCall(configuration, failedAdd, { status: 1, stdout: "{}" });
  return { of, written, warnings };
}

test("DR-07: a claim whose writes fail for long, as with an admission webhook that is away, holds back no other claim", async () => {
  const { of, written } = patched((name) =>
    name === "a"
      ? { kind: "failed", why: "HTTP 500: failed calling webhook", pauseMs: undefined }
      : { kind: "object", object: {} },
  );
  await vi.advanceTimersByTimeAsync(30_000);
  of.stop();
  expect(written).toEqual(["b"]);
});

test("DR-07: rights that a starting API server does not know yet are asked again, and a lasting refusal ends with one warning", async () => {
  let isStarting = true;
  const refused = { kind: "refused", status: 403, why: "HTTP 403" } as const;
  const { of, written, warnings } = patched((name) => (isStarting || name === "b" ? refused : { kind: "object", object: {} }));
  await vi.advanceTimersByTimeAsync(1);
  isStarting = false;
  await vi.advanceTimersByTimeAsync(60_000);
  of.stop();
  expect(written).toEqual(["a"]);
  expect(warnings).toEqual(["claims: the status of resource claim shop/b: HTTP 403"]);
});

/** The call of a runtime for the pod with this uid. */
const callOf = (verb: string, containerId: string): ReadonlyMap<string, string> =>
  new Map([
    ["CNI_COMMAND", verb],
    ["CNI_CONTAINERID", containerId],
    ["CNI_IFNAME", "eth0"],
    ["CNI_ARGS", "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=p;K8S_POD_UID=u"],
  ]);

/** A closed entry whose claim's interface has this hardware address. */
function entry(containerId: string, mac: string): readonly [JournalKey, JournalEntry] {
  const result = JSON.stringify({
    cniVersion: "1.0.0",
    interfaces: [{ name: "net1", mac, sandbox: "/n" }],
    ips: [{ address: "10.0.0.7/24", interface: 0 }],
  });
  const device = { namespace: "shop", name: "a", uid: "a", pool: "n1", device: "d", shareId: "" };
  const attachment = { network: "n", ifname: "net1", source: "s", conflist: "{}", capabilityArgs: {}, claim: device };
  const key = { containerId, network: "n", ifname: "eth0" };
  const plan = {
    kind: "plexusJournalV1",
    ...key,
    netns: "/n",
    cniArgs: "",
    cniPath: "",
    bootId: "b",
    attachments: [attachment],
  } as const;
  const progress = [{ attempted: true, undone: false, result }];
  return [key, { plan, progress, closed: true, failures: { count: 0, since: undefined } }];
}

/** A claim in an API that stores what is patched, and the reports that write it. */
function reported(): {
  readonly journal: Map<string, readonly [JournalKey, JournalEntry]>;
  readonly reports: ClaimReports;
  /** The reports of the daemon's next start. */
  readonly restarted: () => ClaimReports;
  readonly devices: () => Promise<unknown>;
  readonly writes: () => number;
  /** The entries that were read, by their containers. */
  readonly loads: string[];
} {
  const journal = new Map<string, readonly [JournalKey, JournalEntry]>();
  const loads: string[] = [];
  let [devices, writes]: [unknown, number] = [[{ driver: "gpu.example.com", device: "d", pool: "n1" }], 0];
  const clock = { ...systemClock, date: () => new Date(Date.UTC(2026, 0, 1, 0, 0, writes)) };
  const restarted = (): ClaimReports =>
    new ClaimReports(
      { candidates: () => ok({ claims: [claim("a")], damaged: [] }) },
      () =>
        Promise.resolve({
          get: () =>
            Promise.resolve({ kind: "object", object: { metadata: { uid: "a", resourceVersion: "1" }, status: { devices } } }),
          patch: (_: string, patch: object) => {
            writes += 1;
            ({ devices } = (patch as { readonly status: { readonly devices: unknown } }).status);
            return Promise.resolve({ kind: "object", object: {} });
          },
          replace,
        }),
      {
        list: () => ok([...journal.values()].map(([key]) => key)),
        load: ({ containerId }) => {
          loads.push(containerId);
          return ok(journal.get(containerId)?.[1]);
        },
      },
      clock,
      () => undefined,
    );
  const settled = async (): Promise<unknown> => {
    await vi.advanceTimersByTimeAsync(1);
    return devices;
  };
  return { journal, reports: restarted(), restarted, devices: settled, writes: () => writes, loads };
}

const since = (seconds: number): string => `2026-01-01T00:00:0${seconds}.000Z`;

test("DR-07: a lost link makes a claim's device not ready with the reason, a repair brings it back with its new hardware address", async () => {
  const { journal, reports: of, devices, writes } = reported();
  const other = { driver: "gpu.example.com" };
  const [key, attached] = entry("c1", "02:00:00:00:00:01");
  journal.set("c1", [key, attached]);
  of.noteCall(configuration, callOf("ADD", "c1"), { status: 0, stdout: "{}" });
  const ready = { type: "Ready", status: "True", reason: "Attached", lastTransitionTime: since(0) };
  const networkData = { interfaceName: "net1", ips: ["10.0.0.7/24"], hardwareAddress: "02:00:00:00:00:01" };
  expect(await devices()).toMatchObject([other, { device: "d", conditions: [ready], networkData }]);
  const lost = { type: "Ready", status: "False", reason: "InterfaceLost", message: "net1 has no carrier" };
  of.noteLinks(key, new Map([["net1", { why: "net1 has no carrier" }]]));
  expect(await devices()).toMatchObject([other, { conditions: [{ ...lost, lastTransitionTime: since(1) }], networkData }]);
  of.noteLinks(key, new Map([["net1", { why: "net1 is gone" }]]));
  const gone = { ...lost, message: "net1 is gone", lastTransitionTime: since(1) };
  expect(await devices()).toMatchObject([other, { conditions: [gone] }]);
  journal.set("c1", entry("c1", "02:00:00:00:00:02"));
  of.noteLinks(key, new Map());
  const repaired = { ...ready, lastTransitionTime: since(3) };
  expect(await devices()).toMatchObject([
    other,
    { conditions: [repaired], networkData: { ...networkData, hardwareAddress: "02:00:00:00:00:02" } },
  ]);
  // A status that the claim has already is not written again.
  of.noteLinks(key, new Map());
  await of.start();
  await devices();
  expect(writes()).toBe(4);
  of.stop();
});

test("DR-07: a lost link stays lost at another pod's DEL and at a restart of the daemon, until a look or, without a link watch, some minutes", async () => {
  const { journal, reports: of, restarted, devices, writes } = reported();
  const [key, attached] = entry("c1", "02:00:00:00:00:01");
  journal.set("c1", [key, attached]);
  of.noteCall(configuration, callOf("ADD", "c1"), { status: 0, stdout: "{}" });
  await devices();
  const faults = new Map([["net1", { why: "net1 is gone" }]]);
  of.noteLinks(key, faults);
  const lost = [{}, { conditions: [{ status: "False", reason: "InterfaceLost", lastTransitionTime: since(1) }] }];
  expect(await devices()).toMatchObject(lost);
  // Another pod of the claim.
  of.noteCall(configuration, callOf("DEL", "c0"), { status: 0, stdout: "" });
  expect(await devices()).toMatchObject(lost);
  of.stop();
  const next = restarted();
  await next.start();
  expect(await devices()).toMatchObject(lost);
  next.noteLinks(key, faults);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(await devices()).toMatchObject(lost);
  expect(writes()).toBe(2);
  next.stop();
  const unwatched = restarted();
  await unwatched.start();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(await devices()).toMatchObject([{}, { conditions: [{ status: "True", reason: "Attached" }] }]);
  unwatched.stop();
});

test("DR-07: a DEL removes the device's entry, unless the pod has a newer sandbox with the interface", async () => {
  const { journal, reports: of, devices } = reported();
  journal.set("c1", entry("c1", "02:00:00:00:00:01"));
  of.noteCall(configuration, callOf("ADD", "c1"), { status: 0, stdout: "{}" });
  await devices();
  // The older sandbox's DEL comes late.
  of.noteCall(configuration, callOf("DEL", "c0"), { status: 0, stdout: "" });
  expect(await devices()).toMatchObject([{}, { device: "d", conditions: [{ status: "True" }] }]);
  of.noteCall(configuration, callOf("DEL", "c1"), { status: 1, stdout: "{}" });
  expect(await devices()).toHaveLength(2);
  journal.clear();
  of.noteCall(configuration, callOf("DEL", "c1"), { status: 0, stdout: "" });
  expect(await devices()).toEqual([{ driver: "gpu.example.com", device: "d", pool: "n1" }]);
  of.stop();
});

test("DR-07: an attachment that a one-shot engine made is reported within half a minute, once", async () => {
  const { journal, reports: of, devices, writes } = reported();
  await of.start();
  const [key, attached] = entry("c1", "02:00:00:00:00:01");
  journal.set("c1", [key, { ...attached, closed: false }]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await devices()).toHaveLength(1);
  journal.set("c1", [key, attached]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await devices()).toMatchObject([{}, { device: "d", conditions: [{ status: "True" }] }]);
  await vi.advanceTimersByTimeAsync(90_000);
  expect(writes()).toBe(1);
  of.stop();
});

test("DR-07: a DEL between a one-shot engine's ADD and the search leaves the ADD's report to the search", async () => {
  const asked: string[] = [];
  const [key, { plan, ...rest }] = entry("c1", "02:00:00:00:00:01");
  const attachments = plan.attachments.map((each) => ({ ...each, claim: { ...each.claim, name: "b", uid: "b" } }));
  const attached = { ...rest, plan: { ...plan, attachments } } as JournalEntry;
  let keys: readonly JournalKey[] = [];
  const of = new ClaimReports(
    { candidates: () => ok({ claims: [claim("a")], damaged: [] }) },
    async () => ({
      get: async (path) => {
        asked.push(path.split("/").at(-1) ?? "");
        return { kind: "object", object: object(path) };
      },
      patch: async () => ({ kind: "object", object: {} }),
      replace,
    }),
    { list: () => ok(keys), load: () => ok(attached) },
    systemClock,
    () => undefined,
  );
  await of.start();
  // The engine attached a pod with the claim b, and the DEL is that of a pod with the claim a.
  keys = [key];
  of.noteCall(configuration, callOf("DEL", "c0"), { status: 0, stdout: "" });
  await vi.advanceTimersByTimeAsync(30_000);
  of.stop();
  expect(asked).toEqual(["a", "b"]);
});

test("a DEL reads the journal entries of its pod's claims and those that are new, and no other", async () => {
  const { journal, reports: of, devices, loads } = reported();
  const ofOtherClaim = (containerId: string): readonly [JournalKey, JournalEntry] => {
    const [key, { plan, ...rest }] = entry(containerId, "02:00:00:00:00:09");
    const attachments = plan.attachments.map((each) => ({ ...each, claim: { ...each.claim, uid: "b" } }));
    return [key, { ...rest, plan: { ...plan, attachments } } as JournalEntry];
  };
  for (const other of ["c2", "c3", "c4"]) journal.set(other, ofOtherClaim(other));
  journal.set("c1", entry("c1", "02:00:00:00:00:01"));
  await of.start();
  journal.set("new", ofOtherClaim("new"));
  loads.length = 0;
  of.noteCall(configuration, callOf("DEL", "c0"), { status: 0, stdout: "" });
  expect(loads.toSorted()).toEqual(["c1", "new"]);
  expect(await devices()).toHaveLength(2);
  journal.delete("c1");
  of.noteCall(configuration, callOf("DEL", "c1"), { status: 0, stdout: "" });
  expect(await devices()).toHaveLength(1);
  of.stop();
});
