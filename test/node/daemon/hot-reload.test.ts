// Changes on the node while the daemon runs: plugins, components and configuration files take effect with the next call.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { dist, type Answer } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

const shaper = readFileSync(join(dist, "delegates", "status-shaper.wasm"));

const list = (type: string): string =>
  JSON.stringify({ cniVersion: "1.0.0", name: "agent", loadOnlyInlinedPlugins: false, plugins: [{ type }] });

describe.skipIf(missingForMixed("hot reload"))("with a daemon, the next call uses", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let calls = 0;
  beforeEach(async () => {
    stage = openStage({ ...mixedInstallation, components: ["ipam-host-local"] });
    daemon = await startDaemon({
      socket: join(stage.plexus.directory, "plexus.sock"),
      args: ["--state-dir", stage.plexus.state("daemon")],
    });
  });
  afterEach(async () => {
    await daemon.stop();
    stage.dispose();
  });

  const attaching = (config: object): { verb: string; containerId: string; netns: string; ifname: string; config: object } => ({
    verb: "ADD",
    containerId: `call-${calls++}`,
    netns: stage.pod().path,
    ifname: "eth0",
    config,
  });
  const call = (request: ReturnType<typeof attaching>): Promise<Answer> =>
    stage.request({ ...request, env: { PLEXUS_SOCKET: daemon.socket } });
  /** The answer to ADD. After a successful ADD this function sends DEL; nothing may remain. */
  const addAndDelete = async (config: object): Promise<Answer["json"]> => {
    const attachmentCall = attaching(config);
    const { json, status } = await call(attachmentCall);
    if (status === 0) expect(await call({ ...attachmentCall, verb: "DEL" })).toMatchObject({ status: 0 });
    expect(stage.left()).toEqual(nothing);
    return json;
  };

  test("MO-21 a component that was added, completed or replaced since the last call, even with an unchanged date", async () => {
    installRecorder(stage.plexus.cniPath, "main").script("ADD", {
      stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}',
    });
    const path = join(stage.plexus.cniPath, "status-shaper.wasm");
    const config = stage.network([{ type: "main" }, shaperStep], { wasm: { grants: { "status-shaper": { log: {} } } } });
    const shaped = { dns: { nameservers: ["10.10.0.1"] } };
    const replace = (bytes: Buffer): void => {
      writeFileSync(`${path}.new`, bytes);
      renameSync(`${path}.new`, path);
    };
    expect(await addAndDelete(config)).toMatchObject({ msg: expect.stringContaining('failed to find plugin "status-shaper"') });
    writeFileSync(path, shaper.subarray(0, shaper.length / 2));
    expect(await addAndDelete(config)).toMatchObject({ msg: expect.stringContaining("component refused") });
    writeFileSync(path, shaper);
    expect(await addAndDelete(config)).toMatchObject(shaped);
    // Overwrites the file in place; size and date stay the same.
    const { atime, mtime } = statSync(path);
    const broken = Buffer.from(shaper);
    broken.fill(0xff, Math.floor(broken.length / 2));
    writeFileSync(path, broken);
    utimesSync(path, atime, mtime);
    expect(await addAndDelete(config)).toMatchObject({ msg: expect.stringContaining("component refused") });
    replace(shaper);
    expect(await addAndDelete(config)).toMatchObject(shaped);
    // A native plugin takes precedence over a component of the same name in its directory.
    const native = installRecorder(stage.plexus.cniPath, "status-shaper");
    await addAndDelete(config);
    expect(native.calls().map(({ env }) => env["CNI_COMMAND"])).toEqual(["ADD", "DEL"]);
    rmSync(native.path);
    expect(await addAndDelete(config)).toMatchObject(shaped);
  });

  test("MO-21 MC-20 MC-21 the current configuration files, and refuses a truncated one", async () => {
    const directory = join(stage.plexus.directory, "net.d");
    mkdirSync(join(directory, "agent"), { recursive: true });
    const file = join(directory, "10-agent.conflist");
    const [one, two, more] = ["one", "two", "more"].map((name) => installRecorder(stage.plexus.cniPath, name));
    const configFile = join(stage.plexus.directory, "plexus.conf");
    const config = stage.host({ clusterNetwork: file, configFile: configFile });
    const callCounts = (): readonly number[] => [one, two, more].map((each) => each?.calls().length ?? 0);
    writeFileSync(configFile, "{}");
    writeFileSync(file, list("one"));
    await addAndDelete(config);
    expect(callCounts()).toEqual([2, 0, 0]);
    writeFileSync(file, list("two"));
    await addAndDelete(config);
    expect(callCounts()).toEqual([2, 2, 0]);
    writeFileSync(file, list("one").slice(0, -9));
    expect(await addAndDelete(config)).toMatchObject({ msg: expect.stringContaining("is not JSON") });
    expect(callCounts()).toEqual([2, 2, 0]);
    writeFileSync(file, list("one"));
    writeFileSync(join(directory, "agent", "50-more.conf"), JSON.stringify({ cniVersion: "1.0.0", name: "agent", type: "more" }));
    await addAndDelete(config);
    expect(callCounts()).toEqual([4, 2, 2]);
    writeFileSync(configFile, '{"profile":"none"}');
    expect(await addAndDelete(config)).toMatchObject({ msg: expect.stringContaining("profile") });
    expect(callCounts()).toEqual([4, 2, 2]);
    writeFileSync(configFile, "{}");
    await addAndDelete(config);
    expect(callCounts()).toEqual([6, 2, 4]);
  });
});
