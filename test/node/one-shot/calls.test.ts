// Calls that a one-shot engine serves, with components in the engine's process and in sandbox processes. The suites of test/node/attach run against
// a daemon; these tests show that the engine's life for one call changes nothing of an answer.

import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installTestDelegate, testDelegate } from "../../lab/delegates/built.ts";
import { killStep } from "../../lab/kill-step.ts";
import { missingForMixed, mixedInstallation, mixedNetwork, mixedSteps } from "../../lab/mixed-network.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { type Attaching, fullGrant, nothing, openStage, shown, type Stage } from "../../lab/stage.ts";

const secret = "hunter2-of-the-backend";

describe.skipIf(missingForMixed("one-shot calls")).each(["in-process", "process"])(
  "a one-shot engine, isolation %s",
  (isolation) => {
    let stage: Stage;
    beforeAll(() => testDelegate("puppet"));
    beforeEach(async () => {
      stage = openStage({ ...mixedInstallation, serving: "one-shot" });
      await installTestDelegate("puppet", stage.plexus.cniPath, ["puppet", "second"]);
    });
    afterEach(() => stage.dispose());

    const logFile = (): string => join(stage.plexus.directory, "log");
    const log = (): string => (existsSync(logFile()) ? readFileSync(logFile(), "utf8") : "");

    /** A pod whose only step is the delegate `puppet`, which carries out `actions`. */
    function puppetPod(plugins: readonly string[], actions: object, more: object = {}): Attaching {
      const delegation = { log: {}, delegation: { plugins } };
      const grants = { "ipam-host-local": fullGrant(stage.leases), puppet: delegation, second: delegation };
      const step = { type: "puppet", do: actions, ...more };
      return {
        config: stage.network([step], { wasm: { isolation, grants }, logFile: logFile() }),
        containerId: "one",
        pod: stage.pod(),
      };
    }

    test("attaches a mixed chain, checks, collects and deletes it", async () => {
      const grants = { "ipam-host-local": fullGrant(stage.leases) };
      const config = mixedNetwork(stage, { wasm: { isolation, grants } });
      const web: Attaching = { config, containerId: "web", pod: stage.pod() };
      const added = await stage.succeed("ADD", web);
      expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }], dns: { search: ["shop.example"] } });
      expect(shown(stage.steps())).toEqual(mixedSteps.ADD);
      await stage.succeed("CHECK", web);
      expect(shown(stage.steps())).toEqual(mixedSteps.CHECK);
      const valid = { "cni.dev/valid-attachments": [{ containerID: "web", ifname: "eth0" }] };
      expect(await stage.request({ verb: "GC", config: { ...config, cniVersion: "1.1.0", ...valid } })).toMatchObject({
        status: 0,
      });
      expect(stage.files().leases).toEqual(["pods/10.10.0.2"]);
      expect(await stage.request({ verb: "STATUS", config: { ...config, cniVersion: "1.1.0" } })).toMatchObject({ status: 0 });
      stage.steps();
      await stage.succeed("DEL", web);
      expect(shown(stage.steps())).toEqual(mixedSteps.DEL);
      expect(stage.left()).toEqual(nothing);
    });

    test("a delegate calls another delegate, and gives its address back", async () => {
      const call = { type: "ipam-host-local" };
      const actions = { ADD: [{ call: "ADD", ...call }], DEL: [{ call: "DEL", ...call }] };
      const pod = puppetPod(["ipam-host-local"], actions, { ipam: { type: "ipam-host-local", subnet: "10.20.0.0/24" } });
      expect((await stage.succeed("ADD", pod)).json).toMatchObject({ ips: [{ address: "10.20.0.2/24" }] });
      expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD puppet wasm"]);
      await stage.succeed("DEL", pod);
      expect(stage.left()).toEqual(nothing);
    });

    test("a cycle of delegates is refused", async () => {
      const callPuppet = { do: { ADD: [{ call: "ADD", type: "puppet" }] } };
      const cycle = puppetPod(["*"], { ADD: [{ call: "ADD", type: "second", config: callPuppet }] });
      const refused = await stage.call("ADD", cycle);
      expect(refused.json?.["msg"]).toContain('plugin "puppet" would call itself: "puppet" > "second" > "puppet"');
      expect(stage.left()).toEqual(nothing);
    });

    test("no lease leaks when the engine is killed after the IPAM's ADD: the next DEL releases it", async () => {
      copyFileSync(killStep(), join(stage.plexus.cniPath, "killer"));
      writeFileSync(join(stage.plexus.cniPath, "killer.ADD.one"), "engine");
      const ipam = { type: "host-local", dataDir: stage.leases, ranges: [[{ subnet: "10.20.0.0/24" }]] };
      const actions = {
        ADD: [
          { call: "ADD", type: "host-local" },
          { call: "ADD", type: "killer" },
        ],
        DEL: [{ call: "DEL", type: "host-local" }],
      };
      const pod = puppetPod(["*"], actions, { ipam });
      expect((await stage.call("ADD", pod)).status).not.toBe(0);
      expect(stage.files().leases).toEqual(["pods/10.20.0.2"]);
      await stage.succeed("DEL", pod);
      expect(stage.left()).toEqual(nothing);
    });

    test("the error of a component has no secret of its configuration, nor has any log", async () => {
      const said = `dial tcp 10.0.0.1:443: refused (${secret})`;
      const actions = { ADD: [{ log: said }, { end: "fail", msg: said, details: said }] };
      const failed = await stage.call("ADD", puppetPod([], actions, { ipam: { backend: { password: secret } } }));
      expect(failed.json).toMatchObject({ code: 133 });
      for (const text of [failed.stdout, failed.stderr, log()]) {
        expect(text).toContain("refused ([redacted]");
        expect(text).not.toContain(secret);
      }
    });

    test("the stderr of a plugin that a delegate calls reaches the runtime and the log", async () => {
      const local = installRecorder(stage.plexus.cniPath, "local-ipam");
      const ips = [{ address: "10.20.0.7/24" }];
      local.script("ADD", { stdout: JSON.stringify({ cniVersion: "1.0.0", ips }), stderr: "the range is nearly full\n" });
      const pod = puppetPod(["local-ipam"], { ADD: [{ call: "ADD", type: "local-ipam" }] }, { ipam: { type: "local-ipam" } });
      const added = await stage.call("ADD", pod);
      expect([added.status, added.stderr]).toEqual([0, "local-ipam eth0: the range is nearly full\n"]);
      expect(log()).toContain("local-ipam eth0: the range is nearly full");
    });
  },
);
