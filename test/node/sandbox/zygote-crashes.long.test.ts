// Copies of a zygote that crash, end or lie at each step, and kills of everything that the launch server has started: each is noticed and replaced, no call
// gets a wrong answer, and no process stays behind.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { serveArguments } from "../../../host/sandbox/launcher/launch-server.ts";
import { zygoteCommand } from "../../../host/sandbox/launcher/zygote-program.ts";
import { guestProgram } from "../../../host/sandbox/process/sandbox-process.ts";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { root } from "../../lab/compiled.ts";
import type { FaultReport } from "../../lab/copies/pool-with-faults.ts";
import { dist } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";

const otherUids: Requirement = () => (canBecome(defaultUids) ? undefined : "this user may not change users");
const limitMs = 300_000;

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-faulty-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs three calls beside a zygote whose copies execute `fault` in place of the sandbox process' code. */
function callsWith(name: string, fault: string): FaultReport {
  const scripts = join(directory, name);
  cpSync(join(dist, "engine"), scripts, { recursive: true });
  const script = `
    const [, , path, ...launcher] = process.argv;
    const loaded = { exports: {} };
    process.dlopen(loaded, path);
    const addon = loaded.exports;
    const { readSync, writeSync } = require("node:fs");
    addon.serve(["plexus-zygote", ...launcher]);
    const ready = () => writeSync(1, Buffer.from([11, 0, 0, 0, 16, 0, 0, 0, 0, 2, 0, 0, 0, 123, 125]));
    const request = () => readSync(0, Buffer.alloc(1000));
    ${fault}
  `;
  writeFileSync(join(scripts, "zygote.cjs"), script);
  const program = guestProgram({ node: execPath, entry: join(scripts, "guest-process.cjs"), readable: scripts });
  const launcher = join(dist, "bin", "plexus-sandbox");
  const zygote = zygoteCommand(launcher, defaultUids, program) ?? [];
  const pool = join(root, "test/lab/copies/pool-with-faults.ts");
  const daemon = [execPath, "--disable-warning=ExperimentalWarning", pool, dist, scripts];
  const args = serveArguments(defaultUids, program, { configuration: undefined, writable: [] }, daemon, zygote);
  const { stdout, stderr } = spawnSync(launcher, args, { encoding: "utf8", timeout: limitMs });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as FaultReport;
}

describe.skipIf(missing("crashes of copies", otherUids))(
  "FI-43: copies of a zygote that fail",
  () => {
    test.each([
      ["crashes in its jail", "process.abort();"],
      ["ends before it is ready", "addon.end(1);"],
      ["ends before it is ready as if all were well", "addon.end(0);"],
      ["sends something else than READY", "writeSync(1, Buffer.alloc(64, 255)); request();"],
      ["is silent", "for (;;) request();"],
    ])("a copy that %s is replaced by a new Node, which answers", (name, fault) => {
      const { answers, left } = callsWith(name.replaceAll(" ", "-"), fault);
      expect([answers, left]).toEqual([["OK", "OK", "OK"], 0]);
    });

    test("a copy that crashes ends the zygote, whose addresses may be known: the next copy has another one", () => {
      const { zygotes } = callsWith("crash", "process.abort();");
      expect(new Set(zygotes.filter((pid) => pid !== 0)).size).toBe(zygotes.filter((pid) => pid !== 0).length);
    });

    test.each([
      ["crashes in a call", "ready(); request(); process.abort();"],
      ["ends in a call", "ready(); request(); addon.end(0);"],
      ["answers bytes that are no frame", "ready(); request(); writeSync(1, Buffer.alloc(64, 255)); request();"],
    ])("a copy that %s fails that call with SANDBOX_UNAVAILABLE", (name, fault) => {
      const { answers, left } = callsWith(name.replaceAll(" ", "-"), fault);
      // The crash of a copy ends its zygote. While the next zygote starts, a new Node serves a call.
      expect([answers[0], left]).toEqual(["SANDBOX_UNAVAILABLE", 0]);
      expect(answers.filter((answer) => answer !== "SANDBOX_UNAVAILABLE" && answer !== "OK")).toEqual([]);
    });

    test(
      "processes are killed at every moment: no answer is wrong, and none is left",
      () => {
        const args = [join(root, "test/lab/copies/soak.ts"), "--copies", "200", "--at-once", "4", "--kills", "150"];
        const { stdout } = spawnSync(execPath, ["--disable-warning=ExperimentalWarning", ...args], {
          encoding: "utf8",
          timeout: limitMs,
        });
        const [figures, kills] = stdout
          .trim()
          .split("\n")
          .map((line): unknown => JSON.parse(line));
        expect(figures).toMatchObject({ copies: 200, wrong: 0, left: 0 });
        expect(Object(kills)).toHaveProperty("killed");
        expect(Number(Reflect.get(Object(kills), "killed"))).toBeGreaterThan(10);
      },
      limitMs,
    );
  },
  limitMs,
);
