// GC and STATUS of the delegate, which native host-local lacks, on lease directories of native host-local.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, referencePlugins } from "../../../lab/requires.ts";
import type { Answer, Ipam } from "./calls.ts";
import { contents } from "./directory.ts";
import { native, type NativeIpam } from "./native.ts";
import { wasm } from "./wasm.ts";

let root: string;
let delegate: Ipam;
let reference: NativeIpam;
let runs = 0;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-gc-"));
  delegate = await wasm({ directories: [root] });
  reference = native();
});
afterAll(() => {
  reference.close();
  rmSync(root, { recursive: true });
});

const dual = [[{ subnet: "10.1.0.0/29" }], [{ subnet: "fd00::/64" }]];

function stdin(dataDir: string, cniVersion: string, more: object = {}, ranges: object = dual): string {
  return JSON.stringify({ cniVersion, name: "net", type: "bridge", ipam: { type: "host-local", dataDir, ranges }, ...more });
}

function call(ipam: Ipam, verb: "ADD" | "GC" | "STATUS", containerId: string, text: string): Promise<Answer> {
  return ipam.call({ verb, containerId, ifname: "eth0", args: "", stdin: text });
}

describe.skipIf(missing("GC of native host-local's leases", referencePlugins("host-local")))("GC", () => {
  test("releases native leases of attachments that are not valid, and empty lease files, and no others", async () => {
    const dataDir = join(root, String(runs++));
    for (const id of ["c1", "c2", "c3"]) await call(reference, "ADD", id, stdin(dataDir, "1.0.0"));
    writeFileSync(join(dataDir, "net/10.1.0.6"), "");
    writeFileSync(join(dataDir, "net/notes"), "not a lease");
    const valid = { "cni.dev/valid-attachments": [{ containerID: "c2", ifname: "eth0" }] };
    expect(await call(delegate, "GC", "", stdin(dataDir, "1.1.0", valid))).toMatchObject({ ok: true });
    expect(contents(dataDir)).toEqual({
      "net/10.1.0.3": "c2\r\neth0",
      "net/fd00::3": "c2\r\neth0",
      "net/last_reserved_ip.0": "10.1.0.4",
      "net/last_reserved_ip.1": "fd00::4",
      "net/notes": "not a lease",
    });
    expect(await call(reference, "ADD", "c4", stdin(dataDir, "1.0.0"))).toMatchObject({
      result: { ips: [{ address: "10.1.0.5/29" }, { address: "fd00::5/64" }] },
    });
  });

  test("with an empty list releases all leases of this network, and none of another", async () => {
    const dataDir = join(root, String(runs++));
    await call(reference, "ADD", "c1", stdin(dataDir, "1.0.0"));
    await call(reference, "ADD", "c1", stdin(dataDir, "1.0.0", { name: "other" }));
    expect(await call(delegate, "GC", "", stdin(dataDir, "1.1.0", { "cni.dev/valid-attachments": [] }))).toMatchObject({
      ok: true,
    });
    const leases = Object.keys(contents(dataDir)).filter((name) => !name.includes("last_reserved_ip"));
    expect(leases.sort()).toEqual(["other/10.1.0.2", "other/fd00::2"]);
  });

  test("STATUS fails when native leases fill a range set", async () => {
    const dataDir = join(root, String(runs++));
    for (const id of ["c1", "c2", "c3", "c4"]) await call(reference, "ADD", id, stdin(dataDir, "1.0.0"));
    expect(await call(delegate, "STATUS", "", stdin(dataDir, "1.1.0"))).toMatchObject({ ok: true });
    await call(reference, "ADD", "c5", stdin(dataDir, "1.0.0"));
    expect(await call(delegate, "STATUS", "", stdin(dataDir, "1.1.0"))).toMatchObject({
      ok: false,
      code: 50,
      msg: expect.stringContaining("no address is free in ipam.ranges[0] (10.1.0.1-10.1.0.6): all 5 are taken"),
    });
  });
});

describe("STATUS", () => {
  test("succeeds for an unused network", async () => {
    expect(await call(delegate, "STATUS", "", stdin(join(root, String(runs++)), "1.1.0"))).toMatchObject({ ok: true });
  });

  test("fails with the reason why the lease directory cannot be used", async () => {
    const dataDir = join(root, String(runs++));
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "net"), "");
    expect(await call(delegate, "STATUS", "", stdin(dataDir, "1.1.0"))).toMatchObject({
      ok: false,
      code: 50,
      msg: expect.stringContaining(`${dataDir}/net is not a plain directory`),
    });
    expect(await call(delegate, "STATUS", "", stdin("/srv/elsewhere", "1.1.0"))).toMatchObject({
      ok: false,
      code: 50,
      msg: expect.stringContaining('ipam.dataDir "/srv/elsewhere" is not an allowed directory'),
    });
  });

  test("fails for a directory without write permission", async ({ skip }) => {
    if (process.getuid?.() === 0) return skip("root may write to every directory");
    const dataDir = join(root, String(runs++));
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o555);
    expect(await call(delegate, "STATUS", "", stdin(dataDir, "1.1.0"))).toMatchObject({ ok: false, code: 50 });
  });

  test("names the invalid field of a configuration", async () => {
    const text = stdin(join(root, String(runs++)), "1.1.0", {}, [[{ subnet: "10.1.0.9/29" }]]);
    expect(await call(delegate, "STATUS", "", text)).toMatchObject({
      ok: false,
      code: 7,
      msg: expect.stringContaining("ranges[0][0].subnet"),
    });
  });
});
