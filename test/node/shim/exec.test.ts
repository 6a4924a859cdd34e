import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callWith, json, type EngineSide, type ShimAnswer } from "./testing/scripted-engine.ts";
import { isRunning, openWorkshop, soon, type Workshop } from "./testing/workshop.ts";

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.dispose());

function run(script: (engine: EngineSide) => Promise<void> | void, cniPath = shop.cniPath): Promise<ShimAnswer> {
  return callWith(script, { shim: shop.shim, env: { CNI_PATH: cniPath } });
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("EXEC", () => {
  test("L-09: a plugin gets the runtime's environment with the effect's variables, the effect's stdin, its path as only argument, and the runtime's working directory", async () => {
    const path = shop.probe("reports");
    shop.script("echoes", "cat");
    const answer = await callWith(
      async (engine) => {
        const environment = new Map([
          ["CNI_PROBE", "report"],
          ["CNI_ARGS", "A=ü"],
        ]);
        const reported = await engine.exec({ type: "reports", environment });
        expect(reported.outcome).toEqual({ kind: "exited", status: 0 });
        expect(reported.path).toBe(path);
        expect(json(text(reported.stdout))).toEqual({
          argc: 1,
          argv0: path,
          cwd: shop.directory,
          leads: true,
          SigBlk: "0000000000000000",
          SigIgn: "0000000000000000",
          SigCgt: "0000000000000000",
          fds: [0, 1, 2],
          env: [
            "PATH=/bin:/usr/bin",
            expect.stringMatching(/^PLEXUS_SOCKET=/),
            "LD_LIBRARY_PATH=/inherited",
            "CNI_PROBE=report",
            "CNI_ARGS=A=ü",
            `CNI_PATH=${shop.cniPath}`,
          ],
        });
        const echoed = await engine.exec({ type: "echoes", stdin: '{"big":18446744073709551615}\0\u00ff' });
        expect(text(echoed.stdout)).toBe('{"big":18446744073709551615}\0\u00ff');
        expect(echoed.stdoutTruncated).toBe(false);
      },
      {
        shim: shop.shim,
        cwd: shop.directory,
        env: { CNI_PATH: shop.cniPath, CNI_ARGS: "OF=the runtime", LD_LIBRARY_PATH: "/inherited", GOMAXPROCS: "2" },
      },
    );
    expect(answer).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });

  test("exit status, signal and both outputs are answered separately", async () => {
    shop.script("fails", "echo out; echo err >&2; exit 3");
    shop.probe("crashes");
    await run(async (engine) => {
      const failed = await engine.exec({ type: "fails" });
      expect([failed.outcome, text(failed.stdout), text(failed.stderr)]).toEqual([
        { kind: "exited", status: 3 },
        "out\n",
        "err\n",
      ]);
      expect(failed.microseconds).toBeGreaterThan(100);
      const crashed = await engine.exec({ type: "crashes", environment: new Map([["CNI_PROBE", "segfault"]]) });
      expect(crashed.outcome).toEqual({ kind: "signalled", signal: 11 });
    });
  });

  test("A-05, L-08: a type is found on CNI_PATH only, and only as a regular file", async () => {
    mkdirSync(join(shop.cniPath, "directory"));
    writeFileSync(join(shop.cniPath, "unexecutable"), "#!/bin/sh\n");
    writeFileSync(join(shop.cniPath, "no-format"), "neither script nor program", { mode: 0o755 });
    symlinkSync("missing", join(shop.cniPath, "dangling"));
    shop.component("only-wasm");
    await run(async (engine) => {
      for (const type of [
        "",
        ".",
        "..",
        "../cni/fails",
        "/bin/true",
        "directory",
        "dangling",
        "only-wasm",
        "absent",
        "x".repeat(300),
      ]) {
        const { outcome, path } = await engine.exec({ type });
        expect([type, outcome, path]).toEqual([type, { kind: "not-found" }, ""]);
      }
      expect((await engine.exec({ type: "unexecutable" })).outcome).toEqual({ kind: "not-startable", errno: 13 });
      expect((await engine.exec({ type: "no-format" })).outcome).toEqual({ kind: "not-startable", errno: 8 });
    });
  });

  test("an empty entry of CNI_PATH is not the working directory", async () => {
    shop.script("here", "echo here");
    const answer = await callWith(
      async (engine) => expect((await engine.exec({ type: "here" })).outcome).toEqual({ kind: "not-found" }),
      { shim: shop.shim, cwd: shop.cniPath, env: { CNI_PATH: `::/nonexistent:` } },
    );
    expect(answer.status).toBe(0);
  });

  test("many plugins run at once, and the end of each is answered on its own channel", async () => {
    shop.script("waits", 'read -r line <"$CNI_FIFO"; echo "$line"');
    const fifos = ["one", "two", "three"].map((name) => fifo(name));
    await run(async (engine) => {
      const running = fifos.map((path) => engine.exec({ type: "waits", environment: new Map([["CNI_FIFO", path]]) }));
      // The last one ends first. The write waits for the plugin that reads.
      for (const index of [2, 1, 0]) {
        await writeFile(fifos[index] ?? "", `${index}\n`);
        expect(text((await running[index])?.stdout ?? new Uint8Array())).toBe(`${index}\n`);
      }
    });
  });

  test("of 66 plugins at once, 64 run and two are refused", async () => {
    shop.script("naps", ': <"$CNI_FIFO"');
    const path = fifo("naps");
    await run(async (engine) => {
      const executed = Array.from({ length: 66 }, () =>
        engine.exec({ type: "naps", environment: new Map([["CNI_FIFO", path]]) }),
      );
      const outcome = async (index: number) => (await executed[index])?.outcome;
      // The refusals come while the others run: these end when the file has a writer.
      expect([await outcome(64), await outcome(65)]).toEqual(
        Array.from({ length: 2 }, () => ({ kind: "not-startable", errno: 11 })),
      );
      const writer = openSync(path, "r+");
      const others = await Promise.all(executed.slice(0, 64));
      closeSync(writer);
      expect(others.map(({ outcome: each }) => each)).toEqual(Array.from({ length: 64 }, () => ({ kind: "exited", status: 0 })));
    });
  });

  test("signals that the runtime ignores are at their default in a plugin", async () => {
    const runtime = join(shop.directory, "runtime");
    writeFileSync(runtime, `#!/bin/sh\ntrap '' INT HUP PIPE USR1\nexec ${shop.shim}\n`, { mode: 0o755 });
    await callWith(
      async (engine) => {
        const { stdout } = await engine.exec({ type: "reports", environment: new Map([["CNI_PROBE", "report"]]) });
        expect(json(text(stdout))).toMatchObject({ SigIgn: "0000000000000000", SigBlk: "0000000000000000" });
      },
      { shim: runtime, env: { CNI_PATH: shop.cniPath } },
    );
  });
});

/** Makes a named pipe. */
function fifo(name: string): string {
  const path = join(shop.directory, `fifo-${name}`);
  execFileSync("mkfifo", [path]);
  return path;
}

/**
 * Runs a plugin that never ends until its deadline; answers the pids that it and its child have written. A busy machine needs a longer
 * deadline until both are written.
 */
async function untilDeadline(engine: EngineSide, type: string, probe: string): Promise<{ readonly pids: readonly number[] }> {
  for (let deadlineMs = 300; ; deadlineMs *= 3) {
    const { outcome, stderr, microseconds } = await engine.exec({
      type,
      environment: new Map([["CNI_PROBE", probe]]),
      deadlineMs,
    });
    expect(outcome).toEqual({ kind: "deadline-passed" });
    expect(microseconds).toBeGreaterThanOrEqual(deadlineMs * 1000);
    const pids = /^([1-9]\d*) ([1-9]\d*)\n$/.exec(text(stderr));
    if (pids !== null) return { pids: pids.slice(1).map(Number) };
  }
}

describe("A-07: a plugin that", () => {
  test("never reads its stdin does not delay the answer, for any amount of stdin", async () => {
    shop.script("deaf", "echo done");
    await run(async (engine) => {
      const { outcome, stdout } = await engine.exec({ type: "deaf", stdin: new Uint8Array(4 << 20) });
      expect([outcome, text(stdout)]).toEqual([{ kind: "exited", status: 0 }, "done\n"]);
    });
  });

  test("closes its stdin early does not kill the shim", async () => {
    shop.script("closes", "exec <&-; sleep 0.2; echo done");
    await run(async (engine) => {
      const { outcome, stdout } = await engine.exec({ type: "closes", stdin: new Uint8Array(4 << 20) });
      expect([outcome, text(stdout)]).toEqual([{ kind: "exited", status: 0 }, "done\n"]);
    });
  });

  test("leaves a background process with its stdout is answered at its own end, and the background process continues", async () => {
    shop.probe("daemonizes");
    let daemon = 0;
    await run(async (engine) => {
      const { outcome, stdout } = await engine.exec({
        type: "daemonizes",
        environment: new Map([["CNI_PROBE", "leave-daemon"]]),
      });
      expect(outcome).toEqual({ kind: "exited", status: 0 });
      daemon = Number.parseInt(text(stdout), 10);
      expect(isRunning(daemon)).toBe(true);
    });
    process.kill(daemon, "SIGKILL");
  });

  test("ignores every signal is killed with its grandchildren at the deadline", async () => {
    shop.probe("stays");
    await run(async (engine) => {
      const { pids } = await untilDeadline(engine, "stays", "stay");
      expect(await soon(() => pids.every((pid) => !isRunning(pid)))).toBe(true);
    });
  });

  test("leaves its process group does not escape its deadline", async () => {
    shop.probe("joins");
    await run(async (engine) => {
      const { pids } = await untilDeadline(engine, "joins", "join");
      const [plugin = Number.NaN, child = Number.NaN] = pids;
      expect(await soon(() => !isRunning(plugin))).toBe(true);
      process.kill(child, "SIGKILL"); // what it left in a group that is not its own lives on
    });
  });

  test("has a deadline of 0 is not started", async () => {
    const mark = join(shop.directory, "started");
    shop.script("marks", `: > ${mark}`);
    await run(async (engine) => {
      expect((await engine.exec({ type: "marks", deadlineMs: 0 })).outcome).toEqual({ kind: "deadline-passed" });
      expect(() => readFileSync(mark)).toThrow("ENOENT");
    });
  });

  test.each([
    ["stdout", "1", 64],
    ["stderr", "2", 64],
    ["stdout", "1", 1024],
  ] as const)(
    "prints on %s (descriptor %s) %i MiB ends normally; its output is cut at the cap, and the shim's memory stays small",
    async (name, fd, mib) => {
      shop.probe("prints");
      await run(async (engine) => {
        const cap = 200_000;
        const environment = new Map([
          ["CNI_PROBE", "print"],
          ["CNI_PROBE_FD", fd],
          ["CNI_PROBE_MIB", String(mib)],
        ]);
        const executed = await engine.exec({ type: "prints", environment, stdoutCap: cap, stderrCap: cap });
        expect(executed.outcome).toEqual({ kind: "exited", status: 7 });
        expect([executed.stdoutTruncated, executed.stderrTruncated]).toEqual([name === "stdout", name === "stderr"]);
        expect(executed[name]).toHaveLength(cap);
        const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${engine.shim.pid}/status`, "utf8"))?.[1];
        expect(Number(peak)).toBeLessThan(4096);
      });
    },
  );

  test("prints exactly up to the cap is not truncated", async () => {
    await run(async (engine) => {
      const environment = new Map([
        ["CNI_PROBE", "print"],
        ["CNI_PROBE_FD", "1"],
        ["CNI_PROBE_MIB", "1"],
      ]);
      const { stdout, stdoutTruncated } = await engine.exec({ type: "prints", environment, stdoutCap: 1 << 20 });
      expect([stdout.length, stdoutTruncated]).toEqual([1 << 20, false]);
    });
  });

  test("has a cap above the maximum of a frame is cut at 16 MiB", async () => {
    await run(async (engine) => {
      const environment = new Map([
        ["CNI_PROBE", "print"],
        ["CNI_PROBE_FD", "1"],
        ["CNI_PROBE_MIB", "40"],
      ]);
      const { stdout, stdoutTruncated } = await engine.exec({
        type: "prints",
        environment,
        stdoutCap: 0xffff_ffff,
        stderrCap: 0xffff_ffff,
      });
      expect([stdout.length, stdoutTruncated]).toEqual([16 << 20, true]);
    });
  });
});

test("L-10: a plugin whose file is open for writing is answered at once with TEXT_BUSY", async () => {
  const writer = openSync(shop.probe("upgraded"), "r+");
  await run(async (engine) => {
    const { outcome, path } = await engine.exec({ type: "upgraded", environment: new Map([["CNI_PROBE", "report"]]) });
    expect([outcome, path]).toEqual([{ kind: "text-busy" }, join(shop.cniPath, "upgraded")]);
    closeSync(writer);
    expect(await engine.exec({ type: "upgraded", environment: new Map([["CNI_PROBE", "report"]]) })).toMatchObject({
      outcome: { kind: "exited", status: 0 },
    });
  });
});

test("the reply of an engine that closes the connection at once, with unread answers, is printed completely", async () => {
  const mark = join(shop.directory, "ran");
  shop.script("unheard", `echo x; : > ${mark}`);
  const stdout = "y".repeat(100_000);
  const answer = await callWith(
    async (engine) => {
      await engine.request();
      engine.pause();
      void engine.exec({ type: "unheard" });
      expect(await soon(() => existsSync(mark))).toBe(true);
      await setTimeout(100);
      engine.reply({ stdout });
      engine.end();
    },
    { shim: shop.shim, env: { CNI_PATH: shop.cniPath } },
  );
  expect(answer).toMatchObject({ status: 0, stdout });
});
