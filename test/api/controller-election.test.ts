// The election of plexus-controller's leader on a real API server.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startController, type TestController } from "../lab/controller.ts";
import { type ApiServer, startApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { poolRequests } from "../lab/kube/pool-objects.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const leaseSeconds = 3;

const until = (check: () => Promise<void>, timeout: number): Promise<void> => vi.waitFor(check, { timeout, interval: 50 });

async function leads(replica: TestController): Promise<void> {
  expect(await replica.leads()).toBe(true);
}

describe.skipIf(missing("plexus-controller's election", privateNamespaces, kubeApi))("plexus-controller", () => {
  let api: ApiServer;
  const replicas: TestController[] = [];
  const start = async (identity: string, ...args: readonly string[]): Promise<TestController> => {
    const replica = await startController({ identity, kubeconfig: api.adminKubeconfig, leaseSeconds, args });
    replicas.push(replica);
    return replica;
  };
  beforeAll(async () => {
    const watched = ["nodes", "ipamclaims", "statefulsets"].flatMap((each) => [`list ${each}`, `watch ${each}`]);
    api = await startApiServer({ alsoAllowed: ["get leases", "create leases", "update leases", ...poolRequests, ...watched] });
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await api?.dispose();
  });

  test("leads alone, and a second replica waits", async () => {
    const first = await start("first");
    await until(() => leads(first), 10_000);
    const second = await start("second");
    await until(
      async () => expect(await second.page("/readyz")).toEqual({ status: 200, body: "waits for the lease; API: answers\n" }),
      5_000,
    );
    expect(await second.leads()).toBe(false);
    expect((await first.page("/readyz")).body).toBe("leads; API: answers\n");
  });

  test("a killed leader is replaced within its lease and a sixth", async () => {
    const [first, second] = replicas;
    if (first === undefined || second === undefined) throw new Error("no replicas");
    const killedAt = performance.now();
    await first.kill();
    await until(() => leads(second), 20_000);
    // The default lease of 15 s thus ends within the 20 s of issue 21. A request's time is added on a busy machine.
    expect(performance.now() - killedAt).toBeLessThan(leaseSeconds * 1000 * (1 + 2 / 15 + 1 / 6) + 2_000);
  });

  test("a leader that is stopped gives the lease back, so that the next one leads at once", async () => {
    const [, second] = replicas;
    const third = await start("third", "--address-pools");
    const stoppedAt = performance.now();
    expect(await second?.stop()).toBe(0);
    await until(() => leads(third), 10_000);
    expect(performance.now() - stoppedAt).toBeLessThan(leaseSeconds * 1000);
  });

  test("a leader whose API server is gone stops before another may lead, and leads again afterwards", async () => {
    const third = replicas[2];
    if (third === undefined) throw new Error("no replica");
    const queue = 'plexus_controller_queue_objects{part="pools"}';
    expect((await third.page("/metrics")).body).toContain(queue);
    await api.stop();
    await until(async () => expect(await third.leads()).toBe(false), leaseSeconds * 1000 + 1_000);
    // The values of a past term would count beside those of the new leader.
    expect((await third.page("/metrics")).body).not.toContain(queue);
    expect((await third.page("/readyz")).status).toBe(503);
    await api.start();
    await until(() => leads(third), 15_000);
    expect((await third.page("/metrics")).body).toContain(queue);
    expect(third.stderr()).toContain("the Lease kube-system/plexus-controller cannot be read or written");
  });

  test("a mistyped option ends the program with the option's form", async () => {
    const starting = startController({ identity: "x", kubeconfig: "relative" });
    await expect(starting).rejects.toThrow("--kubeconfig relative: must be an absolute path");
  });
});
