// GOMAXPROCS in the environment of native plugins: the configuration key goMaxProcs limits the CPUs of plugins written in Go.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("GOMAXPROCS"))("GOMAXPROCS of a native plugin", () => {
  let stage: Stage;
  let probe: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    probe = installRecorder(stage.plexus.cniPath, "probe");
  });
  afterEach(() => stage.dispose());

  const call = async (verb: string, config: object, env: Readonly<Record<string, string>> = {}) => {
    const netns = stage.pod().path;
    expect(await stage.request({ verb, containerId: "many", netns, ifname: "eth0", config, env })).toMatchObject({ status: 0 });
  };
  const values = (): readonly (string | undefined)[] => probe.calls().map(({ env }) => env["GOMAXPROCS"]);

  test("is 1 for every verb", async () => {
    const config = stage.network([{ type: "probe" }], { cniVersion: "1.1.0" });
    for (const verb of ["STATUS", "ADD", "CHECK", "DEL"]) await call(verb, config);
    await call("GC", { ...config, "cni.dev/valid-attachments": [] });
    expect(probe.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["STATUS", "ADD", "CHECK", "DEL", "GC"]);
    expect(values()).toEqual(["1", "1", "1", "1", "1"]);
  });

  test.each([
    ["the configuration's value", { goMaxProcs: 3 }, {}, "3"],
    ["unset if the configuration has 0", { goMaxProcs: 0 }, {}, undefined],
    ["the runtime's value, whatever the configuration has", { goMaxProcs: 3 }, { GOMAXPROCS: "7" }, "7"],
    ["the runtime's value if the configuration has 0", { goMaxProcs: 0 }, { GOMAXPROCS: "7" }, "7"],
  ])("is %s", async (_, more, env, expected) => {
    await call("ADD", stage.network([{ type: "probe" }], more), env);
    expect(values()).toEqual([expected]);
  });
});
