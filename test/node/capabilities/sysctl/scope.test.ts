import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, missingPrivateNamespaces } from "../../../lab/namespaces.ts";
import { missing } from "../../../lab/requires.ts";
import { callWith } from "../../shim/testing/scripted-engine.ts";
import { openWorkshop, type Workshop } from "../../shim/testing/workshop.ts";
import { sysctlFor, type SysctlImports, type SysctlScope } from "../../../../host/capabilities/sysctl/scope.ts";

const podKey = (name: string): string => `net/ipv4/conf/eth0.100/${name}`;

let shop: Workshop;
let directory: string;
beforeAll(async () => {
  shop = await openWorkshop();
  directory = mkdtempSync(join(tmpdir(), "plexus-sysctl-"));
});
afterAll(() => {
  shop.dispose();
  rmSync(directory, { recursive: true });
});

describe.skipIf(missing("capability sysctl", missingPrivateNamespaces))("capability sysctl", () => {
  let pod: PodNamespace;
  let scope: SysctlScope;
  beforeAll(() => {
    pod = createPodNamespace("sysctl");
    pod.exec(["ip", "link", "add", "eth0.100", "type", "veth", "peer", "name", "other"]);
  });
  beforeEach(() => {
    scope = {
      type: "tuning",
      verb: "ADD",
      attachment: { ifname: "eth0.100" },
      netns: pod.path,
      keys: ["net/ipv4/conf/IFNAME/*", "net/ipv6/conf/IFNAME/stable_secret", "net/ipv4/ip_*", "net/core/somaxconn"],
      allowlist: join(directory, "none"),
    };
  });
  afterAll(() => pod.dispose());

  const inPod = (key: string): string => pod.exec(["cat", `/proc/sys/${key}`]).stdout.trim();
  /** Uses the capability with the real shim. */
  async function use<T>(changes: Partial<SysctlScope>, act: (sysctl: SysctlImports) => Promise<T>): Promise<T> {
    const answers: T[] = [];
    await callWith(
      async (engine) => {
        answers.push(await act(sysctlFor({ ...scope, ...changes }, { sysctl: (effect) => engine.sysctl(effect) })));
      },
      { shim: shop.shim },
    );
    const [answer] = answers;
    if (answer === undefined) throw new Error("no answer");
    return answer;
  }
  const write = (
    settings: readonly (readonly [string, string])[],
    changes: Partial<SysctlScope> = {},
  ): ReturnType<SysctlImports["write"]> =>
    use(changes, (sysctl) => sysctl.write(settings.map(([key, value]) => ({ key, value }))));
  const read = (keys: readonly string[], changes: Partial<SysctlScope> = {}): ReturnType<SysctlImports["read"]> =>
    use(changes, (sysctl) => sysctl.read(keys));

  test("X-4: writes settings, returns their old values, and reads them, also for an interface with a dot in its name", async () => {
    const keys = [podKey("rp_filter"), "net/ipv4/ip_local_port_range"];
    const before = keys.map(inPod);
    const settings = [
      [podKey("rp_filter"), "2"],
      ["net/ipv4/ip_local_port_range", "2000 3000"],
    ] as const;
    expect(await write(settings)).toEqual({ ok: before });
    expect(await read(keys)).toEqual({ ok: ["2", "2000\t3000"] });
    expect(keys.map(inPod)).toEqual(["2", "2000\t3000"]);
    expect(await write([])).toEqual({ ok: [] });
  });

  test("X-4: restores all settings if one fails, and names the failing setting and the reason", async () => {
    const keys = [podKey("arp_notify"), "net/ipv4/ip_default_ttl", podKey("arp_ignore")];
    const before = keys.map(inPod);
    const failed = await write([
      [podKey("arp_notify"), "1"],
      ["net/ipv4/ip_default_ttl", "33"],
      [podKey("nothing"), "1"],
      [podKey("arp_ignore"), "1"],
    ]);
    const msg = `sysctl: writing ${podKey("nothing")} ("1") in "${pod.path}": ENOENT, no such file or directory`;
    expect(failed).toMatchObject({ err: { code: 5, msg } });
    expect(keys.map(inPod)).toEqual(before);
    const refused = await write([
      [podKey("arp_notify"), "1"],
      [podKey("arp_notify"), "0"],
      [podKey("rp_filter"), "many"],
    ]);
    expect(refused).toMatchObject({ err: { msg: expect.stringContaining("EINVAL, invalid argument") } });
    expect(keys.map(inPod)).toEqual(before);
  });

  test("X-4: a value of which the kernel takes a part fails, and the setting keeps its earlier value", async () => {
    const keys = [podKey("arp_notify"), "net/ipv4/ip_local_port_range"];
    const before = keys.map(inPod);
    const failed = await write([
      [podKey("arp_notify"), "1"],
      ["net/ipv4/ip_local_port_range", "2000 3000 4000"],
    ]);
    expect(failed).toMatchObject({ err: { code: 5, msg: expect.stringContaining("EIO, i/o error") } });
    expect(keys.map(inPod)).toEqual(before);
  });

  test("names a setting that cannot be restored, because it can be written but not read", async () => {
    const secret = "net/ipv6/conf/eth0.100/stable_secret";
    const failed = await write([
      [secret, "2001:db8::1"],
      [podKey("nothing"), "1"],
    ]);
    expect(failed).toMatchObject({
      err: { msg: expect.stringContaining(`${secret} can't be read, so its old value is lost`) },
    });
  });

  test("E-7: a key that is not granted is refused before any setting is written, and the fault names both keys", async () => {
    const before = inPod(podKey("proxy_arp"));
    for (const key of [
      "net/ipv4/conf/all/rp_filter",
      "net/ipv4/conf/other/rp_filter",
      "net/ipv4/conf/IFNAME/rp_filter",
      "net/ipv6/conf/eth0.100/accept_dad",
      "net/ipv4/conf/eth0.100",
      "net/core/rmem_max",
    ]) {
      const denied = {
        err: {
          code: 7,
          msg: `sysctl: "${key}" is not granted: wasm.grants.tuning.sysctl.keys has ${scope.keys?.join(", ")}`,
        },
      };
      expect(
        await write([
          [podKey("proxy_arp"), "1"],
          [key, "1"],
        ]),
      ).toMatchObject(denied);
      expect(await read([key])).toMatchObject(denied);
    }
    expect(await read([podKey("proxy_arp")], { keys: [] })).toMatchObject({
      err: { msg: expect.stringContaining("has nothing") },
    });
    expect(inPod(podKey("proxy_arp"))).toBe(before);
  });

  test("an interface with the name * matches no other interface", async () => {
    const changes = { attachment: { ifname: "*" } };
    expect(await read([podKey("rp_filter")], changes)).toMatchObject({ err: { code: 7 } });
  });

  test("a key that is not a path below net is refused, whatever the grant", async () => {
    const keys = ["*", "*/*", "*/*/*", "*/*/*/*"];
    for (const key of [
      "kernel/hostname",
      "net",
      "net/",
      "net/../kernel/hostname",
      "net//core",
      "net/./core/somaxconn",
      "/net/core/somaxconn",
      "",
      "net/a\0b",
    ])
      expect(await write([[key, "1"]], { keys })).toMatchObject({
        err: { code: 999, msg: expect.stringContaining("is not a path of a setting below net") },
      });
    expect(await write([[podKey("rp_filter"), "1\0"]])).toMatchObject({ err: { code: 999 } });
    expect(await read(Array.from({ length: 257 }, () => podKey("rp_filter")))).toMatchObject({ err: { code: 999 } });
  });

  test("the reference plugin's allow-list, if it exists, applies to writes", async () => {
    const allowlist = join(directory, "allowlist.conf");
    const ttl = "net/ipv4/ip_default_ttl";
    writeFileSync(allowlist, " ^net.ipv4.conf.IFNAME.[a-z_]*$ \n\n^net\\.core\\.\n");
    expect(await write([[podKey("rp_filter"), "1"]], { allowlist })).toMatchObject({ ok: ["2"] });
    const denied = await write(
      [
        [podKey("rp_filter"), "0"],
        [ttl, "5"],
      ],
      { allowlist },
    );
    expect(denied).toMatchObject({ err: { code: 7, msg: `sysctl: "${ttl}" matches no line of ${allowlist}` } });
    expect(inPod(podKey("rp_filter"))).toBe("1");
    expect(await read([ttl], { allowlist })).toEqual({ ok: [inPod(ttl)] });
    writeFileSync(allowlist, "");
    expect(await write([[ttl, "5"]], { allowlist })).toMatchObject({ err: { code: 7 } });
    writeFileSync(allowlist, "^net\n(?=ipv4)\n");
    expect(await write([[podKey("rp_filter"), "1"]], { allowlist })).toMatchObject({ ok: ["1"] });
    writeFileSync(allowlist, "(?=ipv4)\n^net\n");
    expect(await write([[ttl, "5"]], { allowlist })).toMatchObject({ err: { code: 7, msg: expect.stringContaining("line 1:") } });
    expect(await write([[ttl, "5"]], { allowlist: directory })).toMatchObject({
      err: { code: 7, msg: expect.stringContaining("is not a regular file") },
    });
  });

  test("CHECK may only read; GC, a missing namespace and the node's own namespace are refused", async () => {
    expect(await write([[podKey("rp_filter"), "1"]], { verb: "CHECK" })).toMatchObject({
      err: { code: 999, msg: expect.stringContaining("CHECK may only read settings") },
    });
    expect(await read([podKey("rp_filter")], { verb: "CHECK" })).toMatchObject({ ok: [expect.any(String)] });
    expect(await read([podKey("rp_filter")], { verb: "GC", attachment: undefined })).toMatchObject({ err: { code: 999 } });
    expect(await read(["net/ipv4/ip_forward"], { netns: "" })).toMatchObject({
      err: { code: 5, msg: expect.stringContaining("no network namespace") },
    });
    expect(await read(["net/ipv4/ip_forward"], { netns: "/nonexistent" })).toMatchObject({
      err: { code: 5, msg: expect.stringContaining("could not be entered: ENOENT") },
    });
    const changes = { netns: `/proc/${process.pid}/ns/net` };
    expect(await write([["net/ipv4/ip_default_ttl", "5"]], changes)).toMatchObject({
      err: { code: 4, msg: expect.stringMatching(/^CNI_NETNS: .*is the node's own/) },
    });
  });
});
