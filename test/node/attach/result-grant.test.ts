// The bound on a delegate's result (`result.change` of its grants), through the installed binary in real network namespaces.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("bounds on results"))("a delegate whose result is bounded", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  /** A pod whose status-shaper sets `dns` and may change these places of the result. */
  const podWith = (change: readonly string[]) => ({
    config: stage.network([bridgeStep(), shaperStep], {
      wasm: {
        grants: {
          "status-shaper": { log: {}, result: { change } },
          "ipam-host-local": {
            leases: { directories: [stage.leases] },
            resolver: {},
            log: {},
            result: { change: ["ips", "routes"] },
          },
        },
      },
    }),
    containerId: "one",
    pod: stage.pod(),
  });

  test("X-3: a change of a granted member is served", async () => {
    const call = podWith(["dns"]);
    const { json } = await stage.succeed("ADD", call);
    expect(json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }], dns: { nameservers: ["10.10.0.1"] } });
    await stage.succeed("DEL", call);
    expect(stage.left()).toEqual(nothing);
  });

  test("X-3: a change beside the granted member fails the ADD, which names the place and is undone", async () => {
    const call = podWith(["dns/nameservers"]);
    const { status, json } = await stage.call("ADD", call);
    expect(status).toBe(1);
    expect(json).toMatchObject({
      code: 7,
      msg: expect.stringContaining(
        "status-shaper: the change of dns/search/0 in the result is not granted: wasm.grants.status-shaper.result.change has dns/nameservers",
      ),
    });
    expect(leases(stage.leases)).toEqual([]);
    await stage.succeed("DEL", call);
    expect(stage.left()).toEqual(nothing);
  });
});
