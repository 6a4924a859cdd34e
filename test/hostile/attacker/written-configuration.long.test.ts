// A daemon that was taken over and that writes the runtime's network configuration: it has its launch server for that, and a domain of Landlock.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildLauncher } from "../../../host/sandbox/launcher/build.ts";
import { EINVAL, EKEYREJECTED, ELOOP, EPERM, ESTALE } from "../../../host/system/errno.ts";
import { dist } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";

const landlock: Requirement = () => {
  const args = ["--serve", "--", "/bin/false", "--", "/bin/sh", "-c", "echo $PLEXUS_LANDLOCK"];
  const found = Number(spawnSync(join(dist, "bin", "plexus-sandbox"), args, { encoding: "utf8" }).stdout);
  return found >= 2 ? undefined : "needs ABI 2 of Landlock, of Linux 5.19";
};

let place = "";
let launcher = "";
let netD = "";
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "plexus-written-"));
  ({ path: launcher } = await buildLauncher({ outDir: place }));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));
beforeEach(() => {
  netD = join(place, "net.d");
  rmSync(netD, { recursive: true, force: true });
  mkdirSync(netD);
});

const name = "00-plexus.conflist";
const path = (): string => join(netD, name);
const list = (...types: readonly string[]): string =>
  JSON.stringify({ cniVersion: "1.1.0", name: "plexus", plugins: types.map((type) => ({ type })), writtenBy: "plexusd" });

/** Executes a shell's script as the daemon, whose launch server writes `netD/00-plexus.conflist`. */
function asDaemon(script: string, ...options: readonly string[]) {
  const serve = ["--serve", "--configuration", path(), "--type", "plexus", ...options, "--", "/bin/false"];
  return spawnSync(launcher, [...serve, "--", "/bin/sh", "-c", script], { encoding: "utf8", timeout: 120_000 });
}

/** Asks the launch server; answers the errno. `before`: the content that the daemon has seen; undefined: no file. */
function write(content: string, before?: string, file = name, options: readonly string[] = []): number | null {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(before === undefined ? 0xffff_ffff : Buffer.byteLength(before));
  writeFileSync(join(place, "request"), Buffer.concat([size, Buffer.from(before ?? ""), Buffer.from(content)]));
  return asDaemon(`'${launcher}' --ask file write '${file}' < '${join(place, "request")}'`, ...options).status;
}
const template = (): string => join(place, "template.json");
const remove = (file: string): number | null => asDaemon(`'${launcher}' --ask file remove '${file}' < /dev/null`).status;

describe("FI-28: a daemon that was taken over", () => {
  test("writes its own file, whole, for root alone", () => {
    expect(write(list("plexus"))).toBe(0);
    expect([readFileSync(path(), "utf8"), statSync(path()).mode & 0o777]).toEqual([list("plexus"), 0o600]);
    const next = `${list("plexus")}\n`;
    expect(write(next, list("plexus"))).toBe(0);
    expect(readFileSync(path(), "utf8")).toBe(next);
    expect(remove(name)).toBe(0);
    expect(existsSync(path())).toBe(false);
  });

  const own = '{"type":"plexus"}';
  const bad = '{"type":"bridge"}';
  const forms: readonly (readonly [string, string])[] = [
    ["another program's step", list("plexus", "bridge")],
    ["another program's step first", list("bridge", "plexus")],
    ["only another program's step", list("bridge")],
    ["a second list", `{"name":"n","plugins":[${own}],"plugins":[${bad}]}`],
    ["a second list in another case", `{"name":"n","plugins":[${own}],"Plugins":[${bad}]}`],
    ["a key with an escape", `{"name":"n","plugins":[${own}],"plugin\\u0073":[${bad}]}`],
    ["a key with a letter that Go takes for an s", `{"name":"n","plugins":[${own}],"plugin\u017f":[${bad}]}`],
    ["a second type", '{"name":"n","plugins":[{"type":"plexus","type":"bridge"}]}'],
    ["a second type in another case", '{"name":"n","plugins":[{"type":"plexus","Type":"bridge"}]}'],
    ["a type's key with an escape", '{"name":"n","plugins":[{"type":"plexus","t\\u0079pe":"bridge"}]}'],
    ["a type with an escape", '{"name":"n","plugins":[{"type":"plexu\\u0073"}]}'],
    ["a step without a type", '{"name":"n","plugins":[{"type":"plexus"},{}]}'],
    ["a type that is no text", '{"name":"n","plugins":[{"type":["plexus"]}]}'],
    ["no steps", '{"name":"n","plugins":[]}'],
    ["no list", '{"name":"n","type":"plexus"}'],
    ["text after the list", `{"name":"n","plugins":[${own}]}{"name":"n","plugins":[${bad}]}`],
    ["a text that is cut off", '{"name":"n","plugins":[{"type":"plexus"}'],
    ["very deep arrays", `{"a":${"[".repeat(100_000)}`],
    // libcni adds the files of the directory NAME beside the list, and checks the name in ADD only.
    ["a name that leads to steps in the daemon's own directory", `{"name":"../state","plugins":[${own}]}`],
    ["the directory itself as the name", `{"name":".","plugins":[${own}]}`],
    ["a name with an escape", `{"name":"\\u002e./state","plugins":[${own}]}`],
    ["a second name", `{"name":"n","name":"../state","plugins":[${own}]}`],
    ["a name that is no text", `{"name":["n"],"plugins":[${own}]}`],
    ["no name", `{"plugins":[${own}]}`],
    ["nothing", ""],
  ];
  test.each(forms)("can't write %s, which the runtime would execute past the node's policy", (_, text) => {
    expect(write(text)).toBe(EKEYREJECTED);
    expect(existsSync(path())).toBe(false);
    writeFileSync(path(), list("plexus"));
    expect(write(text, list("plexus"))).toBe(EKEYREJECTED);
    expect(readFileSync(path(), "utf8")).toBe(list("plexus"));
  });

  describe("and that completes root's template", () => {
    const kubeconfig = "/run/plexus/credentials/kubeconfig";
    const members = String.raw`"logFile": "/var/log/plexus.log", "LogLevel":"debug","wasm":{"grants": [{"a":1.0}, "\"}"]}`;
    beforeEach(() => {
      rmSync(template(), { force: true });
      writeFileSync(template(), `{"name":"plexus","cniVersion":"1.1.0",${members}}\n`);
    });
    const bounded = (...steps: readonly string[]): number | null =>
      write(
        `{"cniVersion":"1.1.0","name":"plexus","writtenBy":"plexusd","plugins":[${steps.join(", ")}]}`,
        existsSync(path()) ? readFileSync(path(), "utf8") : undefined,
        name,
        ["--template", template(), "--kubeconfig", kubeconfig],
      );
    const step = (more = "", kept = members): string => `{${kept}, "type": "plexus"${more}}`;

    test("writes the template's members with the values of the node, also of a list", () => {
      const values = `,"capabilities":{"ips":true},"clusterNetwork":"/etc/cni/net.d/10-a.conflist","readinessindicatorfile":"/x","retired":true,"omitDefaultSteps":["a"],"disableCheck":true,"disableGC":true,"kubeconfig":"${kubeconfig}"`;
      expect(bounded(step())).toBe(0);
      expect(bounded(step(values))).toBe(0);
      expect(bounded(step("", members.replace("LogLevel", "logLevel")))).toBe(0);
      writeFileSync(
        template(),
        `{"disableCheck":true,"plugins":[{"type":"plexus",${members},"kubeconfig":"/etc/own"}],"name":"plexus"}`,
      );
      expect(bounded(step(',"disableCheck":true,"kubeconfig":"/etc/own"'))).toBe(0);
    });

    test.each([
      ["another file of the log", step("", members.replace("/var/log/plexus.log", "/etc/profile.d/plexus.sh"))],
      ["a second file of the log", step(',"logfile":"/etc/profile.d/plexus.sh"')],
      ["a file of traces", step(',"trace":"/etc/profile.d/plexus.sh"')],
      ["a file with further keys", step(',"configFile":"/var/lib/cni/plexus/evil.json"')],
      ["a directory of slots, which the shim makes", step(',"runDir":"/etc/nologin"')],
      ["a directory of the state", step(',"cniDir":"/etc/systemd/system"')],
      ["another kubeconfig", step(',"kubeconfig":"/var/lib/cni/plexus/kubeconfig"')],
      ["a second kubeconfig", step(`,"kubeconfig":"${kubeconfig}","Kubeconfig":"/var/lib/cni/plexus/kubeconfig"`)],
      ["another grant", step("", members.replace("1.0", "2.0"))],
      ["no grant at all", step("", '"logFile": "/var/log/plexus.log", "LogLevel":"debug"')],
      ["a key that nothing knows", step(',"x":1')],
    ])("can't write %s, which a one-shot engine of root would use", (_, text) => {
      expect(bounded(text)).toBe(EKEYREJECTED);
      expect(existsSync(path())).toBe(false);
      expect(bounded(step(), text)).toBe(EKEYREJECTED);
    });

    test("can't write without a template, or with one that is no JSON or that it may write itself", () => {
      rmSync(template());
      expect(bounded(step())).toBe(EKEYREJECTED);
      writeFileSync(template(), members);
      expect(bounded(step())).toBe(EKEYREJECTED);
      const uid = ["--daemon-uid", "1999999999", "--template", template()];
      const writeOwn = (): number | null => write(`{"name":"plexus","plugins":[${step()}]}`, undefined, name, uid);
      writeFileSync(template(), `{${members}}`);
      chmodSync(place, 0o755);
      const first = writeOwn();
      // This user may not change users.
      if (first === 125) return;
      expect(first).toBe(0);
      for (const [owner, group, mode] of [
        [1_999_999_999, 0, 0o644],
        [0, 1_999_999_999, 0o664],
        [0, 0, 0o646],
      ] as const) {
        rmSync(path(), { force: true });
        chownSync(template(), owner, group);
        chmodSync(template(), mode);
        expect([mode, writeOwn()]).toEqual([mode, EKEYREJECTED]);
      }
    });

    test("another program's step has members of its own", () => {
      const foreign = '{"type":"istio-cni","logFile":"/x","cniDir":"/y"}';
      writeFileSync(path(), `{"name":"plexus","plugins":[${step()},${foreign}]}`);
      expect(bounded(step(), foreign)).toBe(0);
    });
  });

  test("keeps a step that root has put into its file, and can't put it there again after it was removed", () => {
    const edited = list("plexus", "istio-cni");
    writeFileSync(path(), edited);
    expect(write(`${edited} `, edited)).toBe(0);
    expect(write(list("plexus"), `${edited} `)).toBe(0);
    expect(write(edited, list("plexus"))).toBe(EKEYREJECTED);
  });

  test("replaces nothing that it has not seen", () => {
    expect(write(list("plexus"), list("plexus"))).toBe(ESTALE);
    writeFileSync(path(), list("plexus", "istio-cni"));
    expect(write(list("plexus"), list("plexus"))).toBe(ESTALE);
    expect(write(list("plexus"))).toBe(ESTALE);
    expect(readFileSync(path(), "utf8")).toBe(list("plexus", "istio-cni"));
  });

  test("changes and removes no other program's file, and follows no link", () => {
    const other = join(netD, "10-calico.conflist");
    writeFileSync(other, list("calico").replace("plexusd", "calico"));
    const before = readFileSync(other, "utf8");
    for (const file of ["10-calico.conflist", "../request", "net.d/x", ".", "..", ""])
      expect([file, write(list("plexus"), before, file), remove(file)]).toEqual([file, EPERM, EPERM]);
    symlinkSync(other, path());
    expect([write(list("plexus"), before), remove(name)]).toEqual([ELOOP, ELOOP]);
    expect(readFileSync(other, "utf8")).toBe(before);
  });

  test("removes files of plexusd under other names, and what a killed server has left", () => {
    writeFileSync(join(netD, "05-plexus.conflist"), list("plexus"));
    writeFileSync(join(netD, `${name}.1.plexusd-new`), "");
    expect([remove("05-plexus.conflist"), remove(`${name}.1.plexusd-new`)]).toEqual([0, 0]);
  });

  test("gets no process from a server that has no uids", () => {
    expect(asDaemon(`'${launcher}' --ask 1000000000 '' 1 | tr -d '\\0'`).stdout).toContain("the request is not understood");
    expect(asDaemon(`'${launcher}' --ask file chmod '${name}' < /dev/null`).status).toBe(EINVAL);
  });

  test.skipIf(missing("directories of a daemon", landlock))(
    "changes nothing outside of its directories, though it is uid 0",
    () => {
      const state = join(place, "state");
      mkdirSync(state, { recursive: true });
      writeFileSync(join(netD, "10-calico.conflist"), "kept");
      chmodSync(join(netD, "10-calico.conflist"), 0o666);
      const { stdout } = asDaemon(
        `cd '${netD}'
      (echo x > 10-calico.conflist) && echo wrote
      (echo x > 11-evil.conflist) && echo made
      rm 10-calico.conflist && echo removed
      mv 10-calico.conflist 12.conflist && echo renamed
      mkdir plexus && echo made a directory
      ln 10-calico.conflist '${state}/link' && echo linked
      (echo x > /dev/null) && mkdir '${state}/journal' && echo x > '${state}/journal/entry' && mv '${state}/journal/entry' '${state}/other' && echo has its state`,
        "--write",
        state,
        "--write",
        "/dev/null",
      );
      expect(stdout).toBe("has its state\n");
      expect(readFileSync(join(netD, "10-calico.conflist"), "utf8")).toBe("kept");
      expect(write(list("plexus"))).toBe(0);
    },
  );
});
