// The functions of WASI for Go, as V8 runs them: no import but the log.

import { parse } from "@bytecodealliance/jco";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CoreFunctionImport } from "./go-imports.ts";
import { goRuntimeText, wasiModule } from "./go-runtime.ts";

type Core = CoreFunctionImport["params"][number];

function imported(
  name: string,
  params: readonly Core[],
  results: readonly Core[] = ["i32"],
  uniqueName = name,
): CoreFunctionImport {
  return { module: wasiModule, name, uniqueName, params, results };
}

const four: readonly Core[] = ["i32", "i32", "i32", "i32"];
const imports: readonly CoreFunctionImport[] = [
  imported("fd_write", four),
  imported("fd_write", four, ["i32"], "fd_write_2"),
  imported("random_get", ["i32", "i32"]),
  imported("clock_time_get", ["i32", "i64", "i32"]),
  imported("poll_oneoff", four),
  imported("environ_sizes_get", ["i32", "i32"]),
  imported("proc_exit", ["i32"], []),
  imported("fd_prestat_get", ["i32", "i32"]),
  imported("path_open", ["i32", "i64"]),
  imported("plexus_buffer", ["i32", "i32"], []),
  imported("plexus_flush", [], []),
];
const log = "cni:delegate/log@1.1.0";
const [vector, text, buffer, answer, bufferBytes] = [0, 64, 1024, 16, 32];

describe("the functions of WASI for Go", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const view = new DataView(memory.buffer);
  const lines: string[] = [];
  let module: WebAssembly.Module;
  let calls: Record<string, (...args: (number | bigint)[]) => unknown>;

  beforeAll(async () => {
    module = new WebAssembly.Module(new Uint8Array(await parse(goRuntimeText(imports, log))));
  });
  beforeEach(() => {
    lines.length = 0;
    new Uint8Array(memory.buffer).fill(0);
    const strict = new TextDecoder("utf-8", { fatal: true });
    const write = (level: number, at: number, bytes: number): void =>
      void lines.push(`${level} ${strict.decode(new Uint8Array(memory.buffer, at, bytes).slice())}`);
    const instance = new WebAssembly.Instance(module, { env: { memory }, [log]: { write } });
    calls = instance.exports as typeof calls;
    calls["plexus_buffer"]?.(buffer, bufferBytes);
  });

  /** Writes bytes to a file descriptor. */
  function written(fd: number, bytes: Uint8Array | string, name = "fd_write"): unknown {
    const all = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    new Uint8Array(memory.buffer, text, all.length).set(all);
    // Two parts of the text, to be written in order.
    const half = Math.floor(all.length / 2);
    for (const [at, value] of [text, half, text + half, all.length - half].entries())
      view.setUint32(vector + 4 * at, value, true);
    return calls[name]?.(fd, vector, 2, answer);
  }

  test("without log has the memory as its only import", async () => {
    const silent = new WebAssembly.Module(new Uint8Array(await parse(goRuntimeText(imports, undefined))));
    const { exports } = new WebAssembly.Instance(silent, { env: { memory } });
    calls = exports as typeof calls;
    expect(written(1, "a line\n")).toBe(0);
    expect(lines).toEqual([]);
  });

  test("stdout and stderr become lines of the log, and an unfinished line ends with the call", () => {
    expect(written(2, "panic: no")).toBe(0);
    expect(view.getUint32(answer, true)).toBe(9);
    written(2, " luck\n\nat", "fd_write_2");
    expect(lines).toEqual(["3 panic: no luck"]);
    written(1, "out\n");
    expect(lines).toEqual(["3 panic: no luck", "3 at", "1 out"]);
    written(1, "end");
    calls["plexus_flush"]?.();
    expect(lines.at(-1)).toBe("1 end");
    expect(written(3, "x")).toBe(8);
    written(2, "exit");
    expect(() => calls["proc_exit"]?.(2)).toThrow(WebAssembly.RuntimeError);
    expect(lines.at(-1)).toBe("3 exit");
  });

  test("a long line is divided between characters", () => {
    const long = "aé€😀".repeat(9);
    written(1, `${long}\n`);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.map((line) => line.slice(2)).join("")).toBe(long);
  });

  test.each([
    [[0x61, 0xff, 0x62], "a?b"],
    [[0xc3, 0xa9, 0xc3], "???"],
    [[0xc0, 0x80], "??"],
    [[0xe0, 0x80, 0x80], "???"],
    [[0xed, 0xa0, 0x80], "???"],
    [[0xf0, 0x80, 0x80, 0x80], "????"],
    [[0xf4, 0x90, 0x80, 0x80], "????"],
    [[0xf5, 0x80], "??"],
    [[0xf4, 0x8f, 0xbf, 0xbf], "\u{10ffff}"],
    [[0xed, 0x9f, 0xbf, 0xee, 0x80, 0x80], "\ud7ff\ue000"],
  ])("the bytes %j are the line %j", (bytes, line) => {
    written(1, Uint8Array.from([...bytes, 10]));
    expect(lines).toEqual([`1 ${line}`]);
    // The next line is not affected.
    written(1, "é\n");
    expect(lines.at(-1)).toBe("1 é");
  });

  test("seeds once, and refuses randomness to all later callers", () => {
    expect(calls["random_get"]?.(text, 32)).toBe(0);
    expect(calls["random_get"]?.(text, 8)).toBe(52);
  });

  test("the clock counts its calls, and a sleep moves it", () => {
    const now = (): bigint => {
      calls["clock_time_get"]?.(1, 1n, text);
      return view.getBigUint64(text, true);
    };
    const begin = now();
    expect(now()).toBeGreaterThan(begin);
    // A subscription of type clock with the user's data 7.
    view.setBigUint64(512, 7n, true);
    view.setBigUint64(512 + 24, 3_600_000_000_000n, true);
    expect(calls["poll_oneoff"]?.(512, 768, 1, answer)).toBe(0);
    expect([view.getUint32(answer, true), view.getBigUint64(768, true)]).toEqual([1, 7n]);
    expect(now() - begin).toBeGreaterThan(3_600_000_000_000n);
  });

  test("the environment is empty, there is no directory, and any other function is not supported", () => {
    view.setUint32(text, 9, true);
    expect(calls["environ_sizes_get"]?.(text, text + 4)).toBe(0);
    expect(view.getUint32(text, true)).toBe(0);
    expect(calls["fd_prestat_get"]?.(3, text)).toBe(8);
    expect(calls["path_open"]?.(3, 0n)).toBe(52);
  });
});
