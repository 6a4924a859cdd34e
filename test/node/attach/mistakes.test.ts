// An administrator's mistakes: an ADD that cannot work is refused before its first step, the error names the cause, and nothing remains after
// the mistake is corrected.

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("an administrator's mistakes"))("a mistake", () => {
  let stage: Stage;
  let recorder: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    recorder = installRecorder(stage.plexus.cniPath, "recorder");
  });
  afterEach(() => stage.dispose());

  const attaching = (config: object, more: Partial<Attaching> = {}): Attaching => ({
    config,
    containerId: "one",
    pod: stage.pod(),
    ...more,
  });

  test("an unknown cniVersion of a selected network: refused with code 1 before the default network is attached", async () => {
    const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.definition("storage", { config: '{"cniVersion":"7.0.0","name":"storage","plugins":[{"type":"recorder"}]}' });
    manifests.pod("web", "storage");
    const web = attaching(stage.network([bridgeStep()], { manifests: manifests.directory }), { args: manifests.argsOf("web") });
    const added = await stage.call("ADD", web);
    expect([added.status, added.json?.["code"], added.json?.["msg"]]).toEqual([
      1,
      1,
      expect.stringMatching(/^network shop\/storage: cniVersion "7\.0\.0" is not one of 0\.1\.0, .*1\.1\.0$/),
    ]);
    expect([stage.steps(), recorder.calls(), stage.left()]).toEqual([[], [], nothing]);
    await stage.succeed("DEL", web);
    expect(stage.left()).toEqual(nothing);
  });

  test("a plugin without execute permission: refused before the first step", async () => {
    const path = join(stage.plexus.cniPath, "locked");
    writeFileSync(path, "#!/bin/sh\n");
    chmodSync(path, 0o644);
    const added = await stage.call("ADD", attaching(stage.network([bridgeStep(), { type: "locked" }])));
    expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
      7,
      `network default: failed to find plugin "locked": ${path} exists, but is not an executable file`,
    ]);
    expect([stage.steps(), stage.left()]).toEqual([[], nothing]);
  });

  test.each([
    ["a core module", Buffer.from("\0asm\x01\0\0\0", "latin1")],
    ["an HTML page", Buffer.from("<!doctype html>")],
  ])("%s in place of a component: the file is named", async (_what, content) => {
    const path = join(stage.plexus.cniPath, "nearly.wasm");
    writeFileSync(path, content);
    const added = await stage.call("ADD", attaching(stage.network([{ type: "nearly" }])));
    expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
      7,
      expect.stringMatching(
        /^network default: failed to find plugin "nearly": .*\/nearly\.wasm exists, but is not a WebAssembly component/,
      ),
    ]);
  });

  test.each(["bridge", "macvlan"])(
    "a misspelt ipam.type of %s: refused before the default network is attached, so that the pod can be deleted at once",
    async (type) => {
      const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      manifests.network("storage", [{ type, master: "lo", ipam: { type: "host-locl", subnet: "10.9.0.0/24" } }]);
      manifests.pod("web", "storage");
      const web = attaching(stage.network([bridgeStep()], { manifests: manifests.directory }), { args: manifests.argsOf("web") });
      const added = await stage.call("ADD", web);
      expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
        7,
        expect.stringMatching(
          /^network shop\/storage: failed to find plugin "host-locl": looked for host-locl and host-locl\.wasm in /,
        ),
      ]);
      expect([stage.steps(), recorder.calls(), stage.left()]).toEqual([[], [], nothing]);
      await stage.succeed("DEL", web);
      expect(stage.left()).toEqual(nothing);
    },
  );

  test("an ipam.type that no file has, of a plugin that is not known to execute it: the plugin decides", async () => {
    const own = attaching(stage.network([{ type: "recorder", ipam: { type: "its-own" } }]));
    await stage.succeed("ADD", own);
    await stage.succeed("DEL", own);
    expect(recorder.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
  });

  test("a misspelt key of the annotation is named where the network is not found", async () => {
    const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.pod("web", JSON.stringify([{ name: "storage", namepsace: "infra" }]));
    const web = attaching(stage.network([bridgeStep()], { manifests: manifests.directory }), { args: manifests.argsOf("web") });
    const added = await stage.call("ADD", web);
    expect(added.json?.["msg"]).toMatch(
      /shop\/storage .*; annotation k8s\.v1\.cni\.cncf\.io\/networks: element 0: the key "namepsace" .*did you mean "namespace"\?$/,
    );
  });

  test("a misspelt plugin type: DEL fails until the configuration is corrected; GC succeeds meanwhile", async () => {
    const misspelt = attaching(stage.network([bridgeStep(), { type: "recordr" }]));
    expect((await stage.call("ADD", misspelt)).json).toMatchObject({ code: 7 });
    const deleted = await stage.call("DEL", misspelt);
    expect([deleted.status, deleted.json?.["details"]]).toEqual([
      1,
      expect.stringMatching(
        /DEL failed 1 times since .*; no attachment of the container is known, so DEL is given up after 10 failures$/,
      ),
    ]);
    const collected = await stage.request({
      verb: "GC",
      config: { ...misspelt.config, cniVersion: "1.1.0", "cni.dev/valid-attachments": [] },
    });
    expect([collected.status, collected.stderr]).toEqual([0, expect.stringContaining('"recordr"')]);

    expect((await stage.call("DEL", misspelt)).status).toBe(1);
    const corrected = { ...misspelt, config: stage.network([bridgeStep(), { type: "recorder" }]) };
    await stage.succeed("DEL", corrected);
    expect(stage.left()).toEqual(nothing);
    expect((await stage.call("DEL", misspelt)).status).toBe(1);
    await stage.succeed("ADD", corrected);
    await stage.succeed("DEL", corrected);
    expect(stage.left()).toEqual(nothing);
  });
});
