import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createPodNamespace, type PodNamespace, whyNotPrivate } from "../../test/harness/namespaces.ts";
import { missing } from "../../test/harness/requires.ts";
import { callWith } from "../hands/testing/scripted-brain.ts";
import { openWorkshop, type Workshop } from "../hands/testing/workshop.ts";
import { sysctlFor, type SysctlImports, type SysctlScope } from "./scope.ts";

const ownKey = (name: string): string => `net/ipv4/conf/eth0.100/${name}`;

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

describe.skipIf(missing("capability sysctl", whyNotPrivate))("capability sysctl", () => {
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
  /** What the real hands make of it. */
  async function use<T>(own: Partial<SysctlScope>, act: (sysctl: SysctlImports) => Promise<T>): Promise<T> {
    const answers: T[] = [];
    await callWith(
      async (brain) => {
        answers.push(await act(sysctlFor({ ...scope, ...own }, { sysctl: (effect) => brain.sysctl(effect) })));
      },
      { hands: shop.hands },
    );
    const [answer] = answers;
    if (answer === undefined) throw new Error("no answer");
    return answer;
  }
  const write = (
    settings: readonly (readonly [string, string])[],
    own: Partial<SysctlScope> = {},
  ): ReturnType<SysctlImports["write"]> => use(own, (sysctl) => sysctl.write(settings.map(([key, value]) => ({ key, value }))));
  const read = (keys: readonly string[], own: Partial<SysctlScope> = {}): ReturnType<SysctlImports["read"]> =>
    use(own, (sysctl) => sysctl.read(keys));

  test("writes all, answers the values before, and reads them, of an interface with a dot in its name, too", async () => {
    const keys = [ownKey("rp_filter"), "net/ipv4/ip_local_port_range"];
    const before = keys.map(inPod);
    const settings = [
      [ownKey("rp_filter"), "2"],
      ["net/ipv4/ip_local_port_range", "2000 3000"],
    ] as const;
    expect(await write(settings)).toEqual({ ok: before });
    expect(await read(keys)).toEqual({ ok: ["2", "2000\t3000"] });
    expect(keys.map(inPod)).toEqual(["2", "2000\t3000"]);
    expect(await write([])).toEqual({ ok: [] });
  });

  test("writes none where one fails, and says which one and why", async () => {
    const keys = [ownKey("arp_notify"), "net/ipv4/ip_default_ttl", ownKey("arp_ignore")];
    const before = keys.map(inPod);
    const failed = await write([
      [ownKey("arp_notify"), "1"],
      ["net/ipv4/ip_default_ttl", "33"],
      [ownKey("nothing"), "1"],
      [ownKey("arp_ignore"), "1"],
    ]);
    const msg = `sysctl: writing ${ownKey("nothing")} ("1") in "${pod.path}": ENOENT, no such file or directory`;
    expect(failed).toMatchObject({ err: { code: 5, msg } });
    expect(keys.map(inPod)).toEqual(before);
    const refused = await write([
      [ownKey("arp_notify"), "1"],
      [ownKey("arp_notify"), "0"],
      [ownKey("rp_filter"), "many"],
    ]);
    expect(refused).toMatchObject({ err: { msg: expect.stringContaining("EINVAL, invalid argument") } });
    expect(keys.map(inPod)).toEqual(before);
  });

  test("says what it can't take back: a setting that can be written but not read", async () => {
    const secret = "net/ipv6/conf/eth0.100/stable_secret";
    const failed = await write([
      [secret, "2001:db8::1"],
      [ownKey("nothing"), "1"],
    ]);
    expect(failed).toMatchObject({
      err: { msg: expect.stringContaining(`${secret} can't be read, so what it had before is lost`) },
    });
  });

  test("E-7: a key that is not granted is refused by name, with the key of the grant, before anything is done", async () => {
    const before = inPod(ownKey("proxy_arp"));
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
          [ownKey("proxy_arp"), "1"],
          [key, "1"],
        ]),
      ).toMatchObject(denied);
      expect(await read([key])).toMatchObject(denied);
    }
    expect(await read([ownKey("proxy_arp")], { keys: [] })).toMatchObject({
      err: { msg: expect.stringContaining("has nothing") },
    });
    expect(inPod(ownKey("proxy_arp"))).toBe(before);
  });

  test("an interface whose name is a pattern's sign grants no other one", async () => {
    const own = { attachment: { ifname: "*" } };
    expect(await read([ownKey("rp_filter")], own)).toMatchObject({ err: { code: 7 } });
  });

  test("a key that is no path below net is refused, whatever the grant", async () => {
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
        err: { code: 999, msg: expect.stringContaining("is no path of a setting below net") },
      });
    expect(await write([[ownKey("rp_filter"), "1\0"]])).toMatchObject({ err: { code: 999 } });
    expect(await read(Array.from({ length: 257 }, () => ownKey("rp_filter")))).toMatchObject({ err: { code: 999 } });
  });

  test("the allow-list of the reference plugin holds for what is written, where it is there", async () => {
    const allowlist = join(directory, "allowlist.conf");
    const ttl = "net/ipv4/ip_default_ttl";
    writeFileSync(allowlist, " ^net.ipv4.conf.IFNAME.[a-z_]*$ \n\n^net\\.core\\.\n");
    expect(await write([[ownKey("rp_filter"), "1"]], { allowlist })).toMatchObject({ ok: ["2"] });
    const denied = await write(
      [
        [ownKey("rp_filter"), "0"],
        [ttl, "5"],
      ],
      { allowlist },
    );
    expect(denied).toMatchObject({ err: { code: 7, msg: `sysctl: "${ttl}" matches no line of ${allowlist}` } });
    expect(inPod(ownKey("rp_filter"))).toBe("1");
    expect(await read([ttl], { allowlist })).toEqual({ ok: [inPod(ttl)] });
    writeFileSync(allowlist, "");
    expect(await write([[ttl, "5"]], { allowlist })).toMatchObject({ err: { code: 7 } });
    writeFileSync(allowlist, "^net\n(?i)ipv4\n");
    expect(await write([[ownKey("rp_filter"), "1"]], { allowlist })).toMatchObject({ ok: ["1"] });
    writeFileSync(allowlist, "(?i)ipv4\n^net\n");
    expect(await write([[ttl, "5"]], { allowlist })).toMatchObject({ err: { code: 7, msg: expect.stringContaining("line 1:") } });
    expect(await write([[ttl, "5"]], { allowlist: directory })).toMatchObject({
      err: { code: 7, msg: expect.stringContaining("is no regular file") },
    });
  });

  test("CHECK reads only; without a namespace, in the node's own, and for no attachment nothing is done", async () => {
    expect(await write([[ownKey("rp_filter"), "1"]], { verb: "CHECK" })).toMatchObject({
      err: { code: 999, msg: expect.stringContaining("CHECK writes nothing") },
    });
    expect(await read([ownKey("rp_filter")], { verb: "CHECK" })).toMatchObject({ ok: [expect.any(String)] });
    expect(await read([ownKey("rp_filter")], { verb: "GC", attachment: undefined })).toMatchObject({ err: { code: 999 } });
    expect(await read(["net/ipv4/ip_forward"], { netns: "" })).toMatchObject({
      err: { code: 5, msg: expect.stringContaining("no network namespace") },
    });
    expect(await read(["net/ipv4/ip_forward"], { netns: "/nonexistent" })).toMatchObject({
      err: { code: 5, msg: expect.stringContaining("could not be entered: ENOENT") },
    });
    const own = { netns: `/proc/${process.pid}/ns/net` };
    expect(await write([["net/ipv4/ip_default_ttl", "5"]], own)).toMatchObject({
      err: { code: 4, msg: expect.stringContaining("is the node's own") },
    });
  });
});
