// Released contracts stay: a contract keeps its types and functions, and components that were built for it work like today's.

import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { abiVersions } from "../../../host/sandbox/abi/versions.ts";
import { frozenComponents, modelDigest, readReleased } from "../../../scripts/release/freeze-contract.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";

const compat = fileURLToPath(new URL(".", import.meta.url));
/** Empty before the first release. The digest of a released version never changes. */
const released = Object.entries(readReleased(compat)).map(([version, digest]) => ({ version, digest }));
const directories = readdirSync(compat, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

test("E-12: each released contract has its components, and no other has", () => {
  expect(directories.toSorted()).toEqual(released.map(({ version }) => version).toSorted());
});

describe.each(released)("E-12: the contract $version", ({ version, digest }) => {
  test("has the types and functions that it was released with", () => {
    expect(modelDigest(readFileSync(new URL(`../../../wit/${version}/generated/model.json`, import.meta.url), "utf8"))).toBe(
      digest,
    );
  });

  test("is spoken by this host, and components of its time are kept", () => {
    expect(Object.keys(abiVersions)).toContain(version);
    expect(readdirSync(join(compat, version)).toSorted()).toEqual(frozenComponents.map((name) => `${name}.wasm`));
  });
});

const resolvConf = fileURLToPath(new URL("resolv.conf", import.meta.url));

/** A pod on a bridge, with masquerading, a mapped port, a setting of its link and a sysctl, and dns from a file. */
function attaching(stage: Stage): Attaching & { readonly pod: ReturnType<Stage["pod"]> } {
  const ipam = {
    type: "ipam-host-local",
    ranges: [[{ subnet: "10.10.0.0/29" }], [{ subnet: "fd00:10::/64" }]],
    resolvConf,
  };
  const config = stage.network(
    [
      { type: "bridge-adapter", bridge: "br0", isDefaultGateway: true, ipMasq: true, hairpinMode: true, ipam },
      { type: "tuning", mtu: 1400, sysctl: { "net.ipv4.conf.IFNAME.log_martians": "1" }, dataDir: stage.tuning },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
    {
      cniVersion: "1.1.0",
      capabilities: { portMappings: true },
      runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp" }] },
      wasm: {
        grants: {
          "bridge-adapter": {
            log: {},
            links: { bridges: ["br0"], forwarding: true },
            delegation: { plugins: ["ipam-host-local"] },
            firewall: { masquerade: true },
          },
          "ipam-host-local": { ...fullGrant(stage.leases), resolver: { files: [resolvConf] } },
          tuning: { log: {}, links: {}, state: { directories: [stage.tuning] }, sysctl: { keys: ["net/ipv4/conf/IFNAME/*"] } },
          portmap: { log: {}, firewall: { hostPorts: ["8080"] } },
        },
      },
    },
  );
  return { config, containerId: "one", pod: stage.pod() };
}

const unable = missing(
  "the life of a pod with components",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  command("nft", "-v"),
);

describe.skipIf(unable)("E-12: components", () => {
  const stages: Stage[] = [];
  afterEach(() => {
    for (const stage of stages.splice(0)) stage.dispose();
  });
  let today: Promise<unknown> | undefined;

  /** The observable results of a pod's whole life. Values that differ from pod to pod are replaced by fixed words. */
  async function lifeWith(install: (cniPath: string) => void): Promise<unknown> {
    const stage = openStage({ components: frozenComponents });
    stages.push(stage);
    install(stage.plexus.cniPath);
    const one = attaching(stage);
    const own = (text: string): string =>
      text
        .replaceAll(one.pod.path, "NETNS")
        .replaceAll(/veth\w+/gu, "VETH")
        .replaceAll(/(?:[0-9a-f]{2}:){5}[0-9a-f]{2}/gu, "MAC");
    const request = (verb: string, more: object): ReturnType<Stage["request"]> =>
      stage.request({ verb, config: { ...one.config, ...more } });
    const added = await stage.succeed("ADD", one);
    const attached = [one.pod.ping("10.10.0.1"), one.pod.links().map(({ mtu }) => mtu)];
    // A new bridge tries its IPv6 address first.
    await expect.poll(() => one.pod.ping("fd00:10::1")).toBe(true);
    await stage.succeed("CHECK", one);
    const status = await request("STATUS", {});
    const valid = [{ containerID: "one", ifname: "eth0" }];
    const collected = await request("GC", { "cni.dev/valid-attachments": valid });
    await stage.succeed("DEL", one);
    return {
      added: own(added.stdout),
      attached,
      others: [status, collected].map((answer) => [answer.status, own(answer.stdout), answer.stderr]),
      steps: shown(stage.steps()),
      left: stage.left(),
    };
  }

  /** The life with today's components, which runs once. */
  function lifeToday(): Promise<unknown> {
    today ??= lifeWith(() => {});
    return today;
  }

  test("E-12: today's components attach, check, collect and detach a pod", async () => {
    expect(await lifeToday()).toMatchObject({
      added: expect.stringContaining("10.10.0.2/29"),
      attached: [true, [1400]],
      others: [
        [0, "", ""],
        [0, "", ""],
      ],
      steps: expect.arrayContaining(["ADD ipam-host-local wasm nested", "GC portmap wasm", "DEL tuning wasm"]),
      left: nothing,
    });
  });

  const mixtures = directories.flatMap((version) => [
    { about: `all of ${version}`, version, names: frozenComponents },
    {
      about: `a bridge-adapter and a portmap of ${version} beside today's others`,
      version,
      names: ["bridge-adapter", "portmap"],
    },
  ]);
  test.each(mixtures)("E-12: $about attach, check, collect and detach a pod as today's do", async ({ version, names }) => {
    const then = await lifeWith((cniPath) => {
      for (const name of names) copyFileSync(join(compat, version, `${name}.wasm`), join(cniPath, `${name}.wasm`));
    });
    expect(then).toEqual(await lifeToday());
  });
});
