// The election of plexus-controller's leader on a real API server. No busy machine misses a renewal of the Lease: it is long, and the replicas'
// clocks are moved where a test waits for its end.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { root } from "../lab/compiled.ts";
import { startController, type TestController } from "../lab/controller.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { poolRequests } from "../lab/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import { setClocks } from "../lab/set-clocks.ts";

const leaseSeconds = 30;
/** A candidate's looks at a free Lease before it takes it: one may have been under way when the Lease became free. */
const maxLooks = 2;

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 50 });

async function leads(replica: TestController): Promise<void> {
  expect(await replica.leads()).toBe(true);
}

describe.skipIf(missing("plexus-controller's election", privateNamespaces, kubeApi))("plexus-controller", () => {
  let api: ApiServer;
  const replicas: TestController[] = [];
  const clocksOf = (identity: string): string => join(api.directory, `clocks-${identity}`);
  /** Moves a replica's clocks. */
  const pass = ({ identity }: TestController, seconds: number): void =>
    setClocks(clocksOf(identity), seconds * 1000, seconds * 1000);
  const start = async (identity: string, ...args: readonly string[]): Promise<TestController> => {
    setClocks(clocksOf(identity), 0, 0);
    const replica = await startController({
      identity,
      kubeconfig: api.adminKubeconfig,
      leaseSeconds,
      args,
      nodeArgs: ["--import", join(root, "test", "lab", "moved-clocks.ts")],
      env: { CLOCKS: clocksOf(identity) },
    });
    replicas.push(replica);
    return replica;
  };
  /**
   * The number of a replica's looks at the Lease before its first write, among the requests since the first `since` of the audit log; undefined if the
   * write came earlier.
   */
  const looksBeforeWrite = (since: number): number | undefined => {
    const requests = api
      .audit()
      .slice(since)
      .filter(({ agent, resource }) => agent === "plexus" && resource === "leases");
    const write = requests.findIndex(({ verb, code }) => verb === "update" && code === 200);
    return write === -1 ? undefined : requests.slice(0, write).filter(({ verb }) => verb === "get").length;
  };
  /** The number of looks at the Lease since the first `since` requests of the audit log. */
  const looks = (since: number): number =>
    api
      .audit()
      .slice(since)
      .filter(({ agent, resource, verb }) => agent === "plexus" && resource === "leases" && verb === "get").length;
  beforeAll(async () => {
    const watched = ["nodes", "ipamclaims", "statefulsets"].flatMap((each) => [`list ${each}`, `watch ${each}`]);
    api = await sharedApiServer({ alsoAllowed: ["get leases", "create leases", "update leases", ...poolRequests, ...watched] });
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await api?.dispose();
  });

  test("leads alone, and a second replica waits", async () => {
    const first = await start("first");
    await until(() => leads(first));
    const second = await start("second");
    await until(async () =>
      expect(await second.page("/readyz")).toEqual({ status: 200, body: "waits for the lease; API: answers\n" }),
    );
    expect(await second.leads()).toBe(false);
    expect((await first.page("/readyz")).body).toBe("leads; API: answers\n");
  });

  test("a killed leader is replaced at the first look after the end of its lease", async () => {
    const [first, second] = replicas;
    if (first === undefined || second === undefined) throw new Error("no replicas");
    await first.kill();
    // The last renewal may have come after the candidate's last look, and a candidate waits from the moment at which it sees a renewal.
    const killedAt = api.audit().length;
    await until(async () => expect(looks(killedAt)).toBeGreaterThanOrEqual(maxLooks));
    pass(second, leaseSeconds);
    const since = api.audit().length;
    await until(() => leads(second));
    expect(looksBeforeWrite(since)).toBeLessThanOrEqual(maxLooks);
  });

  test("a leader that is stopped gives the lease back, so that the next one leads at once", async () => {
    const [, second] = replicas;
    const third = await start("third", "--address-pools");
    await until(async () => expect((await third.page("/readyz")).body).toContain("waits for the lease"));
    expect(await second?.stop()).toBe(0);
    const since = api.audit().length;
    await until(() => leads(third));
    // The third replica may have led before the audit log was read.
    expect(looksBeforeWrite(since) ?? 0).toBeLessThanOrEqual(maxLooks);
  });

  test("a leader whose API server is gone stops two thirds into its lease, and leads again afterwards", async () => {
    const third = replicas[2];
    if (third === undefined) throw new Error("no replica");
    const queue = 'plexus_controller_queue_objects{part="pools"}';
    expect((await third.page("/metrics")).body).toContain(queue);
    await api.stop();
    pass(third, (leaseSeconds * 2) / 3);
    await until(async () => expect(await third.leads()).toBe(false));
    // The values of a past term would count beside those of the new leader.
    expect((await third.page("/metrics")).body).not.toContain(queue);
    expect((await third.page("/readyz")).status).toBe(503);
    await api.start();
    await until(() => leads(third));
    expect((await third.page("/metrics")).body).toContain(queue);
    expect(third.stderr()).toContain("the Lease kube-system/plexus-controller cannot be read or written");
  });

  test("a mistyped option ends the program with the option's form", async () => {
    const starting = startController({ identity: "x", kubeconfig: "relative" });
    await expect(starting).rejects.toThrow("--kubeconfig relative: must be an absolute path");
  });
});
