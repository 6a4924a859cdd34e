// Readiness of the default network, capability arguments and the log (MC rows, N1-58 to N1-61).

import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { openRig, stdinOf, web, type Rig } from "../../../lab/multus/rig.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig("flannel", "macvlan");
  rig.pod(web);
});
afterEach(() => rig.dispose());

function config(more: object = {}): Record<string, unknown> {
  return rig.config({ cniVersion: "1.1.0", delegates: [{ cniVersion: "1.1.0", name: "cbr0", type: "flannel" }], ...more });
}

function configWithReadiness(more: object = {}): Record<string, unknown> {
  const readinessindicatorfile = join(rig.plexus.directory, "ready");
  return config({ readinessindicatorfile, readinessTimeoutMs: 400, readinessDelTimeoutMs: 300, ...more });
}

const token = "s3cr3t-t0ken";

/** A configuration that contains a secret. */
function configWithSecret(more: object): Record<string, unknown> {
  const delegates = [{ cniVersion: "1.0.0", name: "cbr0", type: "flannel", apiToken: token }];
  return config({ delegates, connectionLimit: 5, ...more });
}

function logFile(): string {
  return join(rig.plexus.directory, "log", "plexus.log");
}

/** The log's lines without their timestamps. */
function lines(): readonly string[] {
  const text = existsSync(logFile()) ? readFileSync(logFile(), "utf8") : "";
  const all = text.split("\n").filter((line) => line !== "");
  return all.map((line) => line.replace(/^\S+ /, ""));
}

describe("readinessindicatorfile", () => {
  it("MC-12 N1-61 an ADD waits until readinessTimeoutMs, then fails with code 11 without calling a plugin", async () => {
    const answer = await rig.call("ADD", configWithReadiness());
    expect(answer.json).toMatchObject({ code: 11, msg: expect.stringContaining("the default network isn't ready") });
    expect(answer.ms).toBeGreaterThanOrEqual(400);
    expect(rig.seen()).toEqual([]);
    // The ADD started no step, so its DEL succeeds.
    await rig.succeed("DEL", configWithReadiness());
  });

  it("MC-12 N1-61 an ADD continues as soon as the file exists", async () => {
    const added = rig.succeed("ADD", configWithReadiness({ readinessTimeoutMs: 60_000 }));
    await sleep(300);
    expect(rig.seen()).toEqual([]);
    rig.file("ready", "");
    await added;
    expect(rig.seen()).toEqual(["ADD flannel eth0"]);
  });

  it("MC-12 N1-61 D-07 a DEL waits until readinessDelTimeoutMs, then works from the journal and logs a warning", async () => {
    const ready = rig.file("ready", "");
    await rig.succeed("ADD", configWithReadiness());
    rmSync(ready);
    const { ms, stderr } = await rig.succeed("DEL", configWithReadiness());
    expect(ms).toBeGreaterThanOrEqual(300);
    expect(stderr).toContain("this DEL goes on without waiting further");
    expect(rig.seen()).toEqual(["ADD flannel eth0", "DEL flannel eth0"]);
  });

  it("MC-12 a waiting ADD does not delay the same container's DEL", async () => {
    const added = rig.call("ADD", configWithReadiness({ readinessTimeoutMs: 100_000 }));
    const deleted = rig.succeed("DEL", configWithReadiness());
    const first = await Promise.race([added.then(() => "ADD"), deleted.then(() => "DEL")]);
    expect(first).toBe("DEL");
    rig.file("ready", "");
    expect((await added).status).toBe(0);
  });

  it("MC-12 RT-04 STATUS answers code 50 without waiting, and succeeds as soon as the file exists", async () => {
    const patient = configWithReadiness({ readinessTimeoutMs: 100_000, readinessDelTimeoutMs: 60_000 });
    // A call is killed after a minute.
    const answer = await rig.call("STATUS", patient);
    expect(answer.json).toMatchObject({ code: 50, msg: expect.stringContaining("the default network isn't ready") });
    rig.file("ready", "");
    await rig.succeed("STATUS", patient);
  });

  it("N1-59 an ADD after a successful STATUS succeeds every time", async () => {
    const clusterNetwork = join(rig.plexus.directory, "net.d", "10-flannel.conflist");
    const following = rig.config({ cniVersion: "1.1.0", clusterNetwork });
    expect((await rig.call("STATUS", following)).json).toMatchObject({ code: 50 });
    const failed: number[] = [];
    for (let round = 0; round < 20; round++) {
      rig.file("net.d/10-flannel.conflist", { cniVersion: "1.1.0", name: "cbr0", plugins: [{ type: "flannel" }] });
      await rig.succeed("STATUS", following);
      const { status } = await rig.call("ADD", following, { containerId: `ctr-${round}` });
      if (status !== 0) failed.push(round);
      rmSync(clusterNetwork);
    }
    expect(failed).toEqual([]);
  });

  it("N1-60 the default network's directory may differ from the runtime's, which Plexus never reads", async () => {
    rig.file("runtime/00-plexus.conf", config());
    rig.file("runtime/05-other.conflist", { cniVersion: "1.1.0", name: "other", plugins: [{ type: "macvlan" }] });
    rig.file("default/10-flannel.conflist", { cniVersion: "1.1.0", name: "cbr0", plugins: [{ type: "flannel" }] });
    await rig.succeed("ADD", rig.config({ cniVersion: "1.1.0", clusterNetwork: rig.path("default") }));
    expect(rig.seen()).toEqual(["ADD flannel eth0"]);
  });
});

describe("capability arguments", () => {
  it("MC-17 MC-18 MC-19 N11-18 reach the default network's plugins that declare them, unchanged, and no other network's", async () => {
    const names = [
      "portMappings",
      "bandwidth",
      "dns",
      "ips",
      "mac",
      "ipRanges",
      "aliases",
      "cgroupPath",
      "infinibandGUID",
      "deviceID",
    ];
    const declared = Object.fromEntries(names.map((name) => [name, true]));
    const args = {
      portMappings: [{ HostPort: 80, ContainerPort: 8080, Protocol: "tcp", HostIP: "" }],
      bandwidth: { IngressRate: 9007199254740993n.toString(), ingressBurst: 1 },
      dns: { searches: ["a.b"], servers: ["10.0.0.1"], options: ["ndots:5"] },
      ips: ["10.1.2.3/24"],
      mac: "02:00:00:00:00:01",
      ipRanges: [[{ subnet: "10.1.0.0/16" }]],
      aliases: { cbr0: ["x"] },
      cgroupPath: "/kubepods/x",
      infinibandGUID: "24:8a:07:03:00:8d:ae:2e",
      deviceID: "0000:af:06.1",
    };
    rig.definition("shop", "net", { cniVersion: "1.0.0", name: "net", type: "macvlan", capabilities: declared });
    rig.pod(web, { "k8s.v1.cni.cncf.io/networks": "net" });
    const main = {
      cniVersion: "1.0.0",
      name: "cbr0",
      plugins: [{ type: "flannel", capabilities: declared }, { type: "macvlan" }],
    };
    await rig.succeed("ADD", config({ cniVersion: "1.0.0", delegates: [main], capabilities: declared, runtimeConfig: args }));
    const [first, second, other] = rig.calls();
    // containerd writes Go's upper-case keys; Plexus passes every key on unchanged.
    expect(stdinOf(first)["runtimeConfig"]).toEqual(args);
    expect([stdinOf(second)["runtimeConfig"], stdinOf(other)["runtimeConfig"]]).toEqual([undefined, undefined]);
    expect(stdinOf(other)["name"]).toBe("net");
  });
});

function doneLine(verb: string): unknown {
  return expect.stringMatching(new RegExp(`^\\[debug\\] ${verb} ctr-1 eth0 multus-cni-network: done in [0-9.]+ ms$`));
}

/** The log's lines after an ADD, an ADD that fails, and a DEL. */
async function linesAt(logLevel: string): Promise<readonly string[]> {
  rmSync(logFile(), { force: true });
  const logging = configWithSecret({ logFile: logFile(), logLevel, logToStderr: false });
  const answer = await rig.succeed("ADD", logging);
  expect(answer.stderr).toBe("");
  await rig.call("ADD", logging);
  await rig.succeed("DEL", logging);
  return lines();
}

describe("the log", () => {
  beforeEach(() => rig.file("log/other", ""));

  it("MC-15 goes to logFile at Multus' levels, a line per event, and not to stderr if logToStderr is off", async () => {
    const notice = expect.stringMatching(/^\[verbose\] plexus: warning: configuration: connectionLimit of Multus has no effect/);
    const failed = expect.stringMatching(
      /^\[error\] ADD ctr-1 eth0 multus-cni-network: failed with code 7: container ctr-1 is already/,
    );
    expect(await linesAt("panic")).toEqual([]);
    expect(await linesAt("error")).toEqual([failed]);
    expect(await linesAt("verbose")).toEqual([notice, notice, failed]);
    expect(await linesAt("DEBUG")).toEqual([notice, doneLine("ADD"), notice, failed, doneLine("DEL")]);
    expect(statSync(logFile()).mode & 0o777).toBe(0o600);
  });

  it("MC-15 never contains parts of a configuration or of CNI_ARGS, at any level", async () => {
    await rig.succeed("ADD", configWithSecret({ logFile: logFile(), logLevel: "debug" }), { args: `;TOKEN=${token}` });
    await rig.succeed("DEL", configWithSecret({ logFile: logFile(), logLevel: "debug" }), { args: `;TOKEN=${token}` });
    expect(lines().length).toBeGreaterThan(0);
    expect(readFileSync(logFile(), "utf8")).not.toContain(token);
  });

  it("MC-15 MC-16 goes to stderr by default; logOptions and an unwritable logFile cause a warning, not a failure", async () => {
    const { stderr } = await rig.succeed(
      "ADD",
      config({ logFile: rig.plexus.directory, logOptions: { maxAge: 5, maxSize: 100 } }),
    );
    expect(stderr).toContain("logOptions of Multus has no effect: Plexus does not rotate logFile: let logrotate do it");
    expect(stderr).toContain("plexus: warning: logFile: ");
  });
});
