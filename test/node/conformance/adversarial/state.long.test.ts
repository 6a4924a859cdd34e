// state directories and files that are links, pipes, files of another user, truncated, huge in number, or on a full or read-only
// disk. No call may hang, crash, execute a plugin of a planted file, or make DEL fail forever.

import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesBelow } from "../../../lab/namespaces.ts";
import type { Answer, Serving } from "../../../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../../../lab/recorder.ts";
import { iproute2, missing, privateNamespaces, type Requirement } from "../../../lab/requires.ts";
import { nothing, openStage, type Attaching, isPermanent, type Stage } from "../../../lab/stage.ts";

const mounts: Requirement = () =>
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0
    ? undefined
    : "this process may not mount a tmpfs";
/** A user namespace may map no second user. */
const otherUsers: Requirement = () =>
  spawnSync("setpriv", ["--reuid=65534", "true"]).status === 0 ? undefined : "this user namespace maps no other user";

const name = "victim@cluster@eth0";
const secret = "a file outside of Plexus' state\n";

/** Replacements of a state file. The original file has the suffix `.good`. */
const replacements: readonly (readonly [string, (path: string) => void])[] = [
  ["a link to a foreign file", (path) => symlinkSync(`${path}.secret`, path)],
  ["a link to the good file", (path) => symlinkSync(`${path}.good`, path)],
  ["a link to itself", (path) => symlinkSync(path, path)],
  ["a pipe", (path) => void execFileSync("mkfifo", [path])],
  ["a directory", (path) => mkdirSync(path)],
  ["a device that never ends", (path) => symlinkSync("/dev/zero", path)],
  ["empty", (path) => writeFileSync(path, "")],
  ["of zeros, as a power loss leaves it", (path) => writeFileSync(path, Buffer.alloc(4096))],
  ["cut in the middle", (path) => writeFileSync(path, readFileSync(`${path}.good`).subarray(0, 150))],
  ["of another kind", (path) => writeFileSync(path, '{"kind":"cniCacheV2","containerId":"victim"}\n')],
  ["of 1 GiB", (path) => (writeFileSync(path, ""), truncateSync(path, 1 << 30))],
];

/** Renames a file to `.good`, writes a foreign file `.secret`, and makes the replacement. */
const replace = (path: string, make: (path: string) => void): void => {
  renameSync(path, `${path}.good`);
  writeFileSync(`${path}.secret`, secret);
  make(path);
};

const removeOriginals = (path: string): void => {
  for (const suffix of [".good", ".secret"]) rmSync(`${path}${suffix}`, { force: true });
};

describe.skipIf(missing("hostile state files", privateNamespaces, iproute2))("A-09: state", () => {
  let stage: Stage;
  let recorder: RecorderPlugin;
  let state: string;
  let victim: Attaching;
  const open = (serving: Serving): void => {
    stage = openStage({ native: [], serving });
    recorder = installRecorder(stage.plexus.cniPath, "recorder");
    state = stage.plexus.state("cni");
    victim = { config: stage.network([{ type: "recorder" }]), containerId: "victim", pod: stage.pod() };
  };
  /** The run's daemon has no capability over other users' files, and does not see file systems that a test mounts. */
  const reopenWithoutDaemon = (): void => {
    stage.dispose();
    open("one-shot");
  };
  beforeEach(() => open("daemon"));
  afterEach(() => stage.dispose());

  const verbs = (): readonly (string | undefined)[] => recorder.calls().map(({ env }) => env["CNI_COMMAND"]);

  test.each(replacements)(
    "A-09, RT-07: DEL succeeds with a journal entry that is %s, and executes the plugin",
    async (_, make) => {
      await stage.succeed("ADD", victim);
      const path = join(state, "journal", name);
      replace(path, make);
      const deleted = await stage.call("DEL", { ...victim });
      expect([deleted.status, deleted.stdout, verbs()]).toEqual([0, "", ["ADD", "DEL"]]);
      expect(readFileSync(`${path}.secret`, "utf8")).toBe(secret);
      expect(existsSync(`${path}.good`)).toBe(true);
      removeOriginals(path);
      // A file that cannot be unlinked is moved to `abandoned`.
      const aside = join(state, "abandoned", `1@${name}`);
      expect(stage.left()).toEqual({ ...nothing, state: [] });
      if (existsSync(aside)) rmSync(aside, { recursive: true });
      await stage.succeed("ADD", victim);
      await stage.succeed("DEL", victim);
    },
  );

  test.each(replacements)("A-09: CHECK and DEL succeed with a cached result that is %s", async (_, make) => {
    await stage.succeed("ADD", victim);
    const path = join(state, "results", "pods-victim-eth0");
    replace(path, make);
    await stage.succeed("CHECK", victim);
    // DEL also succeeds without the journal.
    rmSync(join(state, "journal"), { recursive: true });
    const deleted = await stage.call("DEL", victim);
    expect([deleted.status, deleted.stdout, verbs()]).toEqual([0, "", ["ADD", "CHECK", "DEL"]]);
    expect(readFileSync(`${path}.secret`, "utf8")).toBe(secret);
    rmSync(path, { recursive: true, force: true });
    removeOriginals(path);
    expect(stage.left()).toEqual(nothing);
  });

  test.each(replacements.slice(0, 6))(
    "A-09: ADD neither opens nor waits for a trace file that is %s, and prints a warning",
    async (_, make) => {
      const trace = join(stage.plexus.directory, "other-trace");
      writeFileSync(trace, "");
      replace(trace, make);
      const config = { ...victim.config, trace };
      const added = await stage.call("ADD", { ...victim, config });
      expect([added.status, added.stderr]).toEqual([
        0,
        expect.stringMatching(/^plexus: warning: trace file: .*other-trace.*\n$/),
      ]);
      expect([readFileSync(`${trace}.secret`, "utf8"), readFileSync(`${trace}.good`, "utf8")]).toEqual([secret, ""]);
      expect((await stage.call("DEL", { ...victim, config })).status).toBe(0);
    },
  );

  test.each([
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path])],
    ["a device that never ends", (path: string) => symlinkSync("/dev/zero", path)],
    ["of 1 GiB", (path: string) => (writeFileSync(path, ""), truncateSync(path, 1 << 30))],
    ["a directory", (path: string) => mkdirSync(path)],
  ])("A-09: ADD fails and executes no plugin if the default network's file is %s", async (_, make) => {
    const directory = join(stage.plexus.directory, "confs");
    mkdirSync(directory);
    const path = join(directory, "10-pods.conflist");
    make(path);
    for (const clusterNetwork of [path, directory, "pods"]) {
      const config = stage.host({ clusterNetwork, confDir: directory });
      const added = await stage.call("ADD", { ...victim, config });
      expect([clusterNetwork, added.status, added.json?.["msg"]]).toEqual([
        clusterNetwork,
        1,
        expect.stringMatching(/clusterNetwork/),
      ]);
    }
    expect([verbs(), stage.left()]).toEqual([[], nothing]);
  });

  test("A-09: a configuration behind a symbolic link is read, as in a mounted ConfigMap", async () => {
    const directory = join(stage.plexus.directory, "confs");
    mkdirSync(join(directory, "..data"), { recursive: true });
    const list = { cniVersion: "1.0.0", name: "pods", plugins: [{ type: "recorder" }] };
    writeFileSync(join(directory, "..data", "pods.conflist"), JSON.stringify(list));
    symlinkSync("..data/pods.conflist", join(directory, "pods.conflist"));
    await stage.succeed("ADD", { ...victim, config: stage.host({ clusterNetwork: "pods", confDir: directory }) });
    expect(verbs()).toEqual(["ADD"]);
  });

  test.skipIf(missing("files of other users", otherUsers))(
    "A-09: files of another user are not used, and DEL still executes the plugin",
    async () => {
      reopenWithoutDaemon();
      await stage.succeed("ADD", victim);
      const planted = join(stage.plexus.directory, "planted");
      for (const path of [join(state, "journal", name), join(state, "results", "pods-victim-eth0")]) {
        // A planted file could name any plugin with any configuration.
        writeFileSync(
          path,
          readFileSync(path, "utf8").replaceAll(
            '\\"type\\":\\"recorder\\"',
            `\\"type\\":\\"recorder\\",\\"x\\":\\"${planted}\\"`,
          ),
        );
        chownSync(path, 65534, 65534);
      }
      const deleted = await stage.call("DEL", victim);
      expect([deleted.status, verbs()]).toEqual([0, ["ADD", "DEL"]]);
      for (const { stdin } of recorder.calls()) expect(stdin).not.toContain(planted);
    },
  );

  test.skipIf(missing("files of other users", otherUsers))(
    "A-09: root uses files of the user that owns the whole state directory",
    async () => {
      reopenWithoutDaemon();
      await stage.succeed("ADD", victim);
      execFileSync("chown", ["-R", "65534:65534", state]);
      await stage.succeed("CHECK", victim);
      await stage.succeed("DEL", victim);
      expect([verbs(), stage.left()]).toEqual([["ADD", "CHECK", "DEL"], nothing]);
    },
  );

  test("A-09: a container's calls do not read 100 000 results of other containers", async () => {
    const results = join(state, "results");
    mkdirSync(results, { recursive: true });
    execFileSync("sh", ["-c", `cd ${results} && seq -f 'pods-other%.0f-eth0' 100000 | xargs -n 5000 touch`]);
    const times: string[] = [];
    const timed = async (verb: string, more: Partial<Attaching> = {}): Promise<Answer> => {
      const answer = await stage.succeed(verb, { ...victim, ...more });
      times.push(`${verb} ${answer.ms.toFixed(0)} ms`);
      return answer;
    };
    for (const verb of ["ADD", "CHECK", "DEL"]) await timed(verb);
    await timed("DEL", { pod: "" });
    const gc = { ...stage.network([{ type: "recorder" }], { cniVersion: "1.1.0" }), "cni.dev/valid-attachments": [] };
    const collected = await stage.request({ verb: "GC", config: gc });
    times.push(`GC ${collected.ms.toFixed(0)} ms`);
    process.stderr.write(`among 100 000 cached results: ${times.join(", ")}\n`);
    expect(collected.stdout).toBe("");
    expect([verbs(), filesBelow(join(state, "journal"))]).toEqual([["ADD", "CHECK", "DEL", "DEL", "GC"], []]);
  });

  describe.skipIf(missing("full and read-only disks", mounts))("on a small disk", () => {
    let disk: string;
    beforeEach(() => {
      reopenWithoutDaemon();
      disk = join(stage.plexus.directory, "disk");
      mkdirSync(disk);
    });
    afterEach(() => void spawnSync("umount", [disk]));
    const mount = (options: string): void => void execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk]);
    const onDisk = (more: object = {}): Attaching => ({
      ...victim,
      config: { ...victim.config, cniDir: join(disk, "cni"), ...more },
    });
    const fill = (): void => void spawnSync("sh", ["-c", `cat /dev/zero >${disk}/fill 2>/dev/null`]);

    test.each(["size=64k", "nr_inodes=20,size=1m"])(
      "A-09: ADD on a full disk (%s) is refused before a plugin runs, and leaves nothing",
      async (options) => {
        mount(options);
        if (options.startsWith("size")) fill();
        else for (let i = 0; spawnSync("touch", [join(disk, `fill-${i}`)]).status === 0; i++) continue;
        const added = await stage.call("ADD", onDisk());
        expect([added.status, added.json]).toMatchObject([1, { code: 5, msg: expect.stringMatching(/disk\/cni.*ENOSPC/) }]);
        expect(verbs()).toEqual([]);
        spawnSync("sh", ["-c", `rm ${disk}/fill*`]);
        await stage.succeed("ADD", onDisk());
        await stage.succeed("DEL", onDisk());
        expect(filesBelow(join(disk, "cni")).filter((path) => !isPermanent(path))).toEqual([]);
      },
    );

    test("A-09: DEL on a disk that became full after the ADD reports the plugin's failure, and succeeds with the plugin", async () => {
      mount("size=256k");
      await stage.succeed("ADD", onDisk());
      fill();
      recorder.script("DEL", { stdout: '{"code":11,"msg":"not now"}', exit: 1 }, 1);
      expect((await stage.call("DEL", onDisk())).json).toMatchObject({ code: 11, msg: expect.stringContaining("not now") });
      await stage.succeed("DEL", onDisk());
      expect(filesBelow(join(disk, "cni")).filter((path) => !isPermanent(path))).toEqual([]);
    });

    test("A-09: an ADD whose result does not fit on the disk is undone", async () => {
      // The disk has space for the journal entry, but not for a result of a megabyte.
      mount("size=256k");
      const big = { cniVersion: "1.0.0", ips: [{ address: "10.0.0.2/24" }], padding: "p".repeat(1_000_000) };
      recorder.script("ADD", { stdout: JSON.stringify(big) });
      const added = await stage.call("ADD", onDisk());
      expect([added.status, added.json]).toMatchObject([1, { code: 5, msg: expect.stringMatching(/ENOSPC/) }]);
      expect(verbs()).toEqual(["ADD", "DEL"]);
      expect(filesBelow(join(disk, "cni")).filter((path) => !isPermanent(path))).toEqual([]);
    });

    test("A-09: on a read-only disk ADD is refused before a plugin runs, STATUS fails with code 50, and DEL fails until the disk is writable", async () => {
      mount("size=1m");
      await stage.succeed("ADD", onDisk());
      execFileSync("mount", ["-o", "remount,bind,ro", disk]);
      const refused = await stage.call("ADD", { ...onDisk(), containerId: "late" });
      expect([refused.status, refused.json]).toMatchObject([1, { code: 5, msg: expect.stringMatching(/EROFS|read-only/i) }]);
      const status = await stage.request({ verb: "STATUS", config: onDisk({ cniVersion: "1.1.0" }).config });
      expect([status.status, status.json]).toMatchObject([1, { code: 50, msg: expect.stringMatching(/EROFS|read-only/i) }]);
      const deleted = await stage.call("DEL", onDisk());
      expect([deleted.status, deleted.json]).toMatchObject([1, { code: 5 }]);
      execFileSync("mount", ["-o", "remount,bind,rw", disk]);
      await stage.succeed("DEL", onDisk());
      expect(verbs().filter((verb) => verb === "ADD")).toEqual(["ADD"]);
      expect(filesBelow(join(disk, "cni")).filter((path) => !isPermanent(path))).toEqual([]);
    });
  });

  test.each([
    ["journal", []],
    ["calls.lock", []],
    ["results", ["ADD", "DEL"]],
  ])("A-09: %s of the wrong file type is named in the error, and executed plugins are undone", async (part, executed) => {
    if (part === "calls.lock") mkdirSync(join(state, part));
    else writeFileSync(join(state, part), "a file in place of the directory");
    const added = await stage.call("ADD", victim);
    expect([added.status, added.json]).toMatchObject([1, { code: 5, msg: expect.stringContaining(`cni/${part}`) }]);
    expect(verbs()).toEqual(executed);
    rmSync(join(state, part), { recursive: true });
    await stage.succeed("DEL", victim);
    expect(stage.left()).toEqual(nothing);
  });
});
