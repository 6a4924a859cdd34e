// Released versions stay: the contract keeps its types and functions, and components built for it work like today's.

import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { abiVersions } from "../../../host/sandbox/abi/versions.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";
import { command, iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";

const delegates = ["bridge-adapter", "ipam-host-local", "portmap", "tuning"] as const;

/**
 * SHA-256 of each version's model, without its spaces. The line of a version that was released with Plexus is never changed. 1.0.0 is released
 * with the next version of Plexus: until then, interfaces may be added to it, together with a new line.
 */
const released = {
  "0.1.0": "f6560f4dd59e161bef4d02ebf4f862c9256d6adfdf774386ec36631e20e4e87a",
  "1.0.0": "c552718237e6bfc8d3397cd6550bd55830b5683e1f4291180b013101f6b8d816",
} as const;

const versions = Object.entries(released).map(([version, model]) => ({ version, model }));
const directoryOf = (version: string): string => fileURLToPath(new URL(version, import.meta.url));

describe.each(versions)("E-12: the contract $version", ({ version, model }) => {
  test("has the types and functions that it was released with", () => {
    const text = readFileSync(new URL(`../../../wit/${version}/model.json`, import.meta.url), "utf8");
    const spaceless = JSON.stringify(JSON.parse(text));
    expect(createHash("sha256").update(spaceless).digest("hex")).toBe(model);
  });

  test("is spoken by this host, and components of its time are kept", () => {
    expect(Object.keys(abiVersions)).toContain(version);
    expect(readdirSync(directoryOf(version)).toSorted()).toEqual(delegates.map((name) => `${name}.wasm`));
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
  "components of earlier releases",
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  command("nft", "-v"),
);

describe.skipIf(unable)("E-12: components of released versions", () => {
  const stages: Stage[] = [];
  afterEach(() => {
    for (const stage of stages.splice(0)) stage.dispose();
  });
  let today: Promise<unknown> | undefined;

  /** The observable results of a pod's whole life. Values that differ from pod to pod are replaced by fixed words. */
  async function lifeWith(install: (cniPath: string) => void): Promise<unknown> {
    const stage = openStage({ components: delegates });
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

  /** A pod's life with these components of a version, and today's for the others. */
  function lifeWithReleased(version: string, names: readonly string[]): Promise<unknown> {
    return lifeWith((cniPath) => {
      for (const name of names) copyFileSync(join(directoryOf(version), `${name}.wasm`), join(cniPath, `${name}.wasm`));
    });
  }

  test.each([
    ["all of 0.1.0", "0.1.0", delegates],
    ["a bridge-adapter and a portmap of 0.1.0 beside today's others", "0.1.0", ["bridge-adapter", "portmap"]],
    ["all of 1.0.0", "1.0.0", delegates],
  ] as const)("E-12: %s attach, check, collect and detach a pod as today's do", async (_, version, names) => {
    const then = await lifeWithReleased(version, names);
    today ??= lifeWith(() => {});
    expect(then).toEqual(await today);
    expect(then).toMatchObject({
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
});
