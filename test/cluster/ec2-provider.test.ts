// The provider for EC2 of deploy/examples, as a process, with a real emulator of EC2.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { providerChecks } from "../../features/external-ports/conformance/catalogue.ts";
import { runProviderChecks } from "../../features/external-ports/conformance/run-checks.ts";
import { httpProvider } from "../../features/external-ports/controller/http-provider.ts";
import type { PortProvider, PortRequest } from "../../features/external-ports/controller/provider.ts";
import { endChild, startChild } from "../lab/kube/child.ts";
import { root } from "../lab/compiled.ts";
import { type Ec2FaultProxy, startEc2FaultProxy } from "../lab/moto/fault-proxy.ts";
import { type Moto, motoRegion, startMoto } from "../lab/moto/fabric.ts";
import { ec2ProviderPackages, ec2ProviderSource, missingMoto } from "../lab/moto/toolchain.ts";
import { missing } from "../lab/requires.ts";

const token = "token-of-the-test";

describe.skipIf(missing("the EC2 provider", missingMoto))("the EC2 provider", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-ec2-"));
  const children: ReturnType<typeof startChild>[] = [];
  let moto: Moto;
  let proxy: Ec2FaultProxy;
  let provider: PortProvider;
  let url: string;
  let nodeName: string;
  /** The second interface of the node, and that in a subnet of 11 addresses. */
  let wide: string;
  let narrow: string;
  let narrowSubnet: string;

  /** Starts the provider; answers its URL. */
  const start = async (name: string, endpoint: string): Promise<string> => {
    const log = join(directory, `${name}.log`);
    const settings = {
      listen: { port: 0 },
      tokenFile: join(directory, "token"),
      region: motoRegion,
      endpoint,
      nodeName: "private-dns-name",
      deviceIndexes: [1, 2],
    };
    writeFileSync(join(directory, `${name}.json`), JSON.stringify(settings));
    const environment = ["AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true"];
    const program = [process.execPath, join(directory, "provider/main.ts"), join(directory, `${name}.json`)];
    children.push(startChild("env", [...environment, ...program], log));
    return vi.waitFor(
      () => {
        const text = readFileSync(log, "utf8");
        const [, found] = /listening on (\S+)/.exec(text) ?? [];
        if (found === undefined) throw new Error(`the provider does not listen: ${text}`);
        return found;
      },
      { timeout: 60_000, interval: 50 },
    );
  };
  const ask = (base: string, owner = "cluster-a"): PortProvider => httpProvider(base, owner, join(directory, "token"));
  const requestOf = (key: string, changes: Partial<PortRequest> = {}): PortRequest => {
    const pod = { namespace: "shop", name: "web", uid: "0b6c" };
    return { key, pod, nodeName, parameters: {}, requested: {}, ...changes };
  };
  /** The addresses and the tags of an interface. */
  const stateOf = async (id: string): Promise<{ readonly addresses: readonly string[]; readonly tags: readonly string[] }> => {
    const describeOne = { Action: "DescribeNetworkInterfaces", "NetworkInterfaceId.1": id };
    const addresses = [...new Set(await moto.request(describeOne, "privateIpAddress"))];
    return { addresses, tags: await moto.request(describeOne, "key") };
  };
  const tag = (id: string, key: string, value: string): Promise<unknown> =>
    moto.request({ Action: "CreateTags", "ResourceId.1": id, "Tag.1.Key": key, "Tag.1.Value": value });

  beforeAll(async () => {
    moto = await startMoto();
    proxy = await startEc2FaultProxy(moto.url);
    const only = async (parameters: Readonly<Record<string, string>>, element: string): Promise<string> =>
      (await moto.request(parameters, element))[0] ?? "";
    const vpc = await only({ Action: "CreateVpc", CidrBlock: "10.20.0.0/16" }, "vpcId");
    const subnetOf = (cidr: string): Promise<string> => only({ Action: "CreateSubnet", VpcId: vpc, CidrBlock: cidr }, "subnetId");
    const subnet = await subnetOf("10.20.1.0/24");
    narrowSubnet = await subnetOf("10.20.2.0/28");
    const run = { Action: "RunInstances", ImageId: "ami-12c6146b", MinCount: "1", MaxCount: "1", SubnetId: subnet };
    const instance = await only(run, "instanceId");
    nodeName = await only({ Action: "DescribeInstances", "InstanceId.1": instance }, "privateDnsName");
    const attach = async (subnetId: string, address: string, index: number): Promise<string> => {
      const create = { Action: "CreateNetworkInterface", SubnetId: subnetId, PrivateIpAddress: address };
      const id = await only(create, "networkInterfaceId");
      const to = { NetworkInterfaceId: id, InstanceId: instance, DeviceIndex: String(index) };
      await moto.request({ Action: "AttachNetworkInterface", ...to });
      return id;
    };
    wide = await attach(subnet, "10.20.1.10", 1);
    narrow = await attach(narrowSubnet, "10.20.2.4", 2);
    cpSync(ec2ProviderSource, join(directory, "provider"), { recursive: true, filter: (path) => !path.endsWith("node_modules") });
    symlinkSync(join(ec2ProviderPackages(), "node_modules"), join(directory, "provider/node_modules"));
    writeFileSync(join(directory, "token"), `${token}\n`);
    url = await start("provider", proxy.url);
    provider = ask(url);
  });
  afterEach(() => {
    proxy.fault = () => undefined;
  });
  afterAll(async () => {
    proxy?.dispose();
    await Promise.all(children.map(endChild));
    await moto?.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  test("passes each check of providers, and leaves no address and no tag of a port", async () => {
    const init = {
      url,
      owner: "plexus-conformance",
      token,
      parameters: { deviceIndex: 1 },
      forbidden: [{ deviceIndex: 0 }, { subnetId: "subnet-0123456789abcdef0" }],
      nodeName,
      ports: 8,
      answerMs: 120_000,
    };
    const report = await runProviderChecks(init, providerChecks);
    expect(report.outcomes.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
    expect(report.remaining).toEqual([]);
    expect(await stateOf(wide)).toEqual({ addresses: ["10.20.1.10"], tags: ["plexus.dev/owner"] });
  });

  test("gives a pod a secondary address of the node's interface, and takes it back", async () => {
    const made = await provider.ensure(requestOf("shop/0b6c-0", { requested: { ips: ["10.20.1.77"] } }));
    expect(made).toMatchObject({
      ok: true,
      value: {
        providerId: `${wide}/10.20.1.77`,
        addresses: [{ address: "10.20.1.77/24", gateway: "10.20.1.1" }],
        binding: { type: "address-only" },
      },
    });
    const port = { key: "shop/0b6c-0", providerId: `${wide}/10.20.1.77` };
    expect(await provider.active(port)).toEqual({ ok: true, value: true });
    expect(await provider.active({ ...port, key: "shop/0b6c-9" })).toEqual({ ok: true, value: false });
    expect(await provider.list()).toEqual({ ok: true, value: [port] });
    expect((await stateOf(wide)).addresses).toEqual(["10.20.1.10", "10.20.1.77"]);
    expect(await provider.release(port)).toEqual({ ok: true, value: undefined });
    expect(await provider.active(port)).toEqual({ ok: true, value: false });
    expect((await stateOf(wide)).addresses).toEqual(["10.20.1.10"]);
  });

  test("completes a port whose provider ended before EC2 assigned the address", async () => {
    await tag(wide, "plexus.dev/owner", "cluster-a");
    await tag(wide, "plexus.dev/address/10.20.1.88", "shop/0b6c-1");
    expect(await provider.ensure(requestOf("shop/0b6c-1"))).toMatchObject({
      value: { addresses: [{ address: "10.20.1.88/24" }] },
    });
    expect((await stateOf(wide)).addresses).toContain("10.20.1.88");
    await provider.release({ key: "shop/0b6c-1", providerId: "" });
    expect((await stateOf(wide)).addresses).toEqual(["10.20.1.10"]);
  });

  test("never takes the interface's own address away, whatever a tag says", async () => {
    const actions: string[] = [];
    proxy.fault = (action) => void actions.push(action);
    await tag(wide, "plexus.dev/address/10.20.1.10", "shop/0b6c-2");
    expect(await provider.release({ key: "shop/0b6c-2", providerId: `${wide}/10.20.1.10` })).toMatchObject({ ok: true });
    expect(await stateOf(wide)).toEqual({ addresses: ["10.20.1.10"], tags: ["plexus.dev/owner"] });
    expect(actions).toEqual(["DescribeNetworkInterfaces", "DeleteTags"]);
  });

  test("says that the fabric is full when the subnet has no free address", async () => {
    const inNarrow = { parameters: { subnetId: narrowSubnet } };
    const keys = Array.from({ length: 10 }, (_, index) => `shop/full-${index}`);
    for (const key of keys) expect(await provider.ensure(requestOf(key, inNarrow))).toMatchObject({ ok: true });
    expect(await provider.ensure(requestOf("shop/full-10", inNarrow))).toMatchObject({
      ok: false,
      reason: "quota",
      message: expect.stringContaining(`${narrowSubnet} has no free address`),
    });
    // Another cluster has no right to an interface with ports of this one.
    expect(await ask(url, "cluster-b").ensure(requestOf("shop/other-0", inNarrow))).toMatchObject({
      reason: "refused",
      message: expect.stringContaining(`interface ${narrow} has ports of owner cluster-a`),
    });
    for (const key of keys) await provider.release({ key, providerId: "" });
    expect((await stateOf(narrow)).addresses).toEqual(["10.20.2.4"]);
  });

  test.each([
    ["a node that EC2 does not know", { nodeName: "absent" }, "EC2 has no running instance with private-dns-name absent"],
    ["a device index that no interface has", { parameters: { deviceIndex: 0 } }, "deviceIndex 0 is not in the provider's"],
    ["a subnet without an interface", { parameters: { subnetId: "subnet-0123" } }, "has no permitted interface in subnet-0123"],
  ])("refuses %s for good", async (_, changes, message) => {
    expect(await provider.ensure(requestOf("shop/0b6c-3", changes))).toMatchObject({
      reason: "refused",
      message: expect.stringContaining(message),
    });
  });

  test("takes another address if EC2 has given the chosen one to somebody else, and keeps no tag of the first", async () => {
    let refused = 0;
    proxy.fault = (action) => {
      return action === "AssignPrivateIpAddresses" && refused++ === 0 ? "InvalidParameterValue" : undefined;
    };
    expect(await provider.ensure(requestOf("shop/0b6c-5"))).toMatchObject({ ok: true });
    expect(refused).toBe(2);
    expect((await stateOf(wide)).tags.filter((key) => key.startsWith("plexus.dev/address/"))).toHaveLength(1);
    await provider.release({ key: "shop/0b6c-5", providerId: "" });
  });

  test.each([
    ["PrivateIpAddressLimitExceeded", "quota"],
    ["RequestLimitExceeded", "unavailable"],
    ["UnauthorizedOperation", "unavailable"],
  ])("tells %s as %s, and keeps no tag", async (code, reason) => {
    proxy.fault = (action) => (action === "AssignPrivateIpAddresses" ? code : undefined);
    expect(await provider.ensure(requestOf("shop/0b6c-6"))).toMatchObject({ reason, message: expect.stringContaining(code) });
    expect((await stateOf(wide)).tags).toEqual(["plexus.dev/owner"]);
  });

  test("keeps the tag of an address that EC2 may have assigned, and completes the port", async () => {
    proxy.fault = (action) => (action === "AssignPrivateIpAddresses" ? 503 : undefined);
    expect(await provider.ensure(requestOf("shop/0b6c-7"))).toMatchObject({ reason: "unavailable" });
    const { addresses, tags } = await stateOf(wide);
    expect([addresses.length, tags]).toEqual([2, ["plexus.dev/owner", `plexus.dev/address/${addresses[1]}`]]);
    proxy.fault = () => undefined;
    expect(await provider.ensure(requestOf("shop/0b6c-7"))).toMatchObject({
      value: { addresses: [{ address: `${addresses[1]}/24` }] },
    });
    await provider.release({ key: "shop/0b6c-7", providerId: "" });
    expect((await stateOf(wide)).tags).toEqual(["plexus.dev/owner"]);
  });

  test("names file, key and mistake of wrong settings at its start", () => {
    const file = join(directory, "wrong.json");
    writeFileSync(file, JSON.stringify({ listen: { port: 0 }, tokenFile: "/token", region: motoRegion, deviceIndexes: [] }));
    const started = spawnSync(process.execPath, [join(directory, "provider/main.ts"), file], { encoding: "utf8" });
    expect([started.status, started.stderr]).toEqual([1, expect.stringContaining(`${file}: deviceIndexes: `)]);
  });

  test("its types are right", () => {
    const types = { types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
    const settings = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: types,
      include: ["*.ts"],
      exclude: ["node_modules"],
    };
    writeFileSync(join(directory, "provider/tsconfig.json"), JSON.stringify(settings));
    const checked = spawnSync(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", join(directory, "provider")], {
      encoding: "utf8",
    });
    expect([checked.stdout, checked.status]).toEqual(["", 0]);
  });

  test("asks for a later try while EC2 does not answer", async () => {
    const alone = ask(await start("alone", "http://127.0.0.1:9"));
    expect(await alone.ensure(requestOf("shop/0b6c-4"))).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("EC2 cannot be asked: connect ECONNREFUSED"),
    });
    expect(await alone.list()).toMatchObject({ ok: false, reason: "unavailable" });
  });
});
