// The delegate firewall on a node where firewalld runs: its chains reject forwarded packets that another table accepts, unless the pods' addresses are sources of
// a zone that forwards.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Firewalld, firewalldRuns, startFirewalld } from "../../lab/firewalld/firewalld.ts";
import type { PodNamespace } from "../../lab/namespaces.ts";
import { type Answer, missingBuild } from "../../lab/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces } from "../../lab/requires.ts";
import { type Attaching, fullGrant, openStage, type Stage } from "../../lab/stage.ts";

const components = ["bridge-adapter", "ipam-host-local", "firewall"] as const;
const needs = [privateNamespaces, iproute2, linkType("veth"), linkType("bridge"), firewalldRuns] as const;
const unable = missing("firewall beside firewalld", ...needs, () => missingBuild({ components: [...components] }));

const addressOf = (number: number): string => `10.85.${number}.2`;

describe.skipIf(unable)("firewall beside firewalld", () => {
  let stage: Stage;
  let firewalld: Firewalld;
  beforeEach(async () => {
    stage = openStage({ components: [...components] });
    firewalld = await startFirewalld(stage.node);
  });
  afterEach(async () => {
    await firewalld?.dispose();
    stage?.dispose();
  });

  /** A pod on a bridge of its own, so that the node forwards its packets to another one's pod. */
  function attaching(
    number: number,
    { step = {}, filter = {} }: { readonly step?: object; readonly filter?: object } = {},
  ): Attaching & {
    readonly pod: PodNamespace;
  } {
    const pod = stage.pod();
    const ipam = { type: "ipam-host-local", ranges: [[{ subnet: `10.85.${number}.0/24` }]], routes: [{ dst: "0.0.0.0/0" }] };
    const plugins = [
      { type: "bridge-adapter", bridge: `br${number}`, isGateway: true, ipam },
      { type: "firewall", ...step },
    ];
    const grants = {
      "bridge-adapter": { log: {}, links: { bridges: ["br*"], forwarding: true }, delegation: { plugins: ["ipam-host-local"] } },
      "ipam-host-local": fullGrant(stage.leases),
      firewall: { log: {}, filter: { zones: ["trusted"], ...filter } },
    };
    const delegates = [{ cniVersion: "1.1.0", name: `net${number}`, plugins }];
    return { config: stage.host({ cniVersion: "1.1.0", delegates, wasm: { grants } }), containerId: pod.name, pod };
  }

  /** The shim finds the bus as programs of the node do. */
  const environment = (): Readonly<Record<string, string>> => ({ DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${firewalld.bus}` });

  function call(verb: string, { config, containerId, pod }: Attaching & { readonly pod: PodNamespace }): Promise<Answer> {
    return stage.request({ verb, config, containerId, ifname: "eth0", netns: pod.path, env: environment() });
  }

  async function succeed(verb: string, attached: Attaching & { readonly pod: PodNamespace }): Promise<void> {
    const { status, stdout, stderr } = await call(verb, attached);
    expect([verb, status, status === 0 ? "" : stdout, stderr]).toEqual([verb, 0, "", ""]);
  }

  test("DE-FIREWALL-02: the backend firewalld puts the addresses into the zone: forwarded packets pass, and a DEL removes the addresses", async () => {
    const step = { backend: "firewalld" };
    const [one, two] = [attaching(1, { step }), attaching(2, { step })];
    for (const each of [one, two]) await succeed("ADD", each);
    expect(firewalld.sources("trusted").toSorted()).toEqual([`${addressOf(1)}/32`, `${addressOf(2)}/32`]);
    expect(one.pod.ping(addressOf(2))).toBe(true);
    for (const each of [one, two]) await succeed("CHECK", each);
    firewalld.removeSource("trusted", `${addressOf(1)}/32`);
    expect(await call("CHECK", one)).toMatchObject({
      json: { code: 100, msg: expect.stringContaining(`the zone trusted of firewalld lacks ${addressOf(1)}/32`) },
    });
    for (const each of [one, two, two]) await succeed("DEL", each);
    expect(firewalld.sources("trusted")).toEqual([]);
  });

  test("without a zone firewalld rejects the packets, whatever another table accepts", async () => {
    const [one, two] = [attaching(1, { step: { backend: "iptables" } }), attaching(2, { step: { backend: "iptables" } })];
    for (const each of [one, two]) await succeed("ADD", each);
    expect(firewalld.sources("trusted")).toEqual([]);
    expect(one.pod.ping(addressOf(2))).toBe(false);
    for (const each of [one, two]) await succeed("DEL", each);
  });

  test("DE-FIREWALL-04: a configuration that names no backend has the grant's zone, and a zone beyond the grant is refused by name", async () => {
    const usual = attaching(1);
    await succeed("ADD", usual);
    expect(firewalld.sources("trusted")).toEqual([`${addressOf(1)}/32`]);
    await succeed("DEL", usual);
    const beyond = attaching(2, { step: { firewalldZone: "public" } });
    expect(await call("ADD", beyond)).toMatchObject({ json: { code: 7, msg: expect.stringContaining("filter.zones") } });
    const without = attaching(3, { step: { backend: "firewalld" }, filter: { zones: [] } });
    expect(await call("ADD", without)).toMatchObject({ json: { code: 7, msg: expect.stringContaining("filter.zones") } });
    expect([firewalld.sources("public"), firewalld.sources("trusted")]).toEqual([[], []]);
  });

  test("GC removes the addresses of attachments that are gone, and no other source", async () => {
    const [gone, kept] = [attaching(1), attaching(2)];
    for (const each of [gone, kept]) await succeed("ADD", each);
    const valid = { "cni.dev/valid-attachments": [{ containerID: kept.containerId, ifname: "eth0" }] };
    const collected = await stage.request({ verb: "GC", config: { ...gone.config, ...valid }, env: environment() });
    expect([collected.status, collected.stdout]).toEqual([0, ""]);
    expect(firewalld.sources("trusted")).toEqual([`${addressOf(2)}/32`]);
    for (const each of [gone, kept]) await succeed("DEL", each);
    expect(firewalld.sources("trusted")).toEqual([]);
  });

  test("a node whose firewalld has ended needs no zone; without a bus an ADD fails by name, and a DEL succeeds", async () => {
    await firewalld.stop();
    const one = attaching(1);
    await succeed("ADD", one);
    await succeed("CHECK", one);
    await succeed("DEL", one);
    await firewalld.dispose();
    const two = attaching(2);
    expect(await call("ADD", two)).toMatchObject({
      json: { code: 5, msg: expect.stringContaining("there is no system bus") },
    });
    await succeed("DEL", two);
  });
});
