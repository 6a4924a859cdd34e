// The shim without a libc: the functions of bare/ behave like a libc's, and have the same protections.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { BARE_FLAGS, bareSources, buildShim, shimSources, LANGUAGE_FLAGS, type Linkage } from "../../../host/shim/build.ts";
import { fileURLToPath } from "node:url";

const compiler = process.env["CC"] ?? "cc";
const check = fileURLToPath(new URL("testing/bare-check.c", import.meta.url));

/** The functions that `bare-check.c` calls under another name. */
const compared =
  "memcpy memmove memset memcmp memchr strlen strcmp strncmp strchr strrchr strspn strcspn strcpy vsnprintf snprintf sprintf dprintf strerror malloc realloc free".split(
    " ",
  );

let place = "";
let linkage: Linkage | undefined;
let shim = "";
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), "plexus-bare-"));
  ({ linkage, path: shim } = await buildShim({ outDir: place }));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function compiled(name: string, ...args: readonly string[]): string {
  const output = join(place, name);
  execFileSync(compiler, [...LANGUAGE_FLAGS, "-O2", ...args, "-o", output], { stdio: ["ignore", "ignore", "inherit"] });
  return output;
}

/** Links a test program with bare/ instead of the shim. */
function bareProgram(name: string, main: string): string {
  const source = join(place, `${name}.c`);
  writeFileSync(source, main);
  return compiled(name, "-fstack-protector-strong", ...BARE_FLAGS, source, ...bareSources());
}

describe("beneath the shim", () => {
  test.runIf(process.arch === "x64" && process.platform === "linux")("there is no libc on x86-64", () => {
    expect(linkage).toBe("bare");
  });

  test.for([1, 2, 3])("texts, formats, errors and memory are a libc's (seed %i)", (seed, context) => {
    if (linkage !== "bare") return context.skip("the shim is linked with a libc here");
    const sources = bareSources().filter((path) => ["text.c", "format.c", "errors.c", "heap.c"].includes(basename(path)));
    const renamed = compared.map((name) => `-D${name}=bare_${name}`);
    // The compiler must not treat the renamed functions as its builtins.
    const objects = sources.map((path) => compiled(`${basename(path)}-${seed}.o`, "-fno-builtin", ...renamed, "-c", path));
    const program = compiled(`check-${seed}`, "-fno-builtin", check, ...objects);
    expect(spawnSync(program, [String(seed)], { encoding: "utf8" })).toMatchObject({ stdout: "same\n", status: 0 });
  });

  test("the sources use only conversions that bare/format.c has", () => {
    const conversions = shimSources().flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/"(?:[^"\\\n]|\\.)*"/g)].flatMap(([literal]) =>
        [...literal.matchAll(/%[^"%a-z]*(?:ll|z)?[a-z%]/g)].map(([each]) => each),
      ),
    );
    const known = ["%%", "%.*s", "%04x", "%d", "%lld", "%llu", "%s", "%u", "%zu"];
    expect(conversions.length).toBeGreaterThan(30);
    expect([...new Set(conversions)].filter((each) => !known.includes(each))).toEqual([]);
  });

  test("relocated data is read-only, and is at different addresses in two runs", async (context) => {
    if (linkage !== "bare") return context.skip("the shim is linked with a libc here");
    const starts: string[] = [];
    for (let run = 0; run < 3; run++) {
      // Without a daemon an agent waits, so the process stays.
      const child = spawn(shim, ["agent"], { env: { PLEXUS_SOCKET: join(place, "none") }, stdio: ["ignore", "ignore", "pipe"] });
      await once(child.stderr, "data");
      const segments = readFileSync(`/proc/${child.pid}/maps`, "utf8")
        .split("\n")
        .filter((line) => line.endsWith(shim));
      child.kill();
      await once(child, "close");
      // Segments: headers, code, constants, relocated data; then writable data.
      expect(segments.map((line) => line.split(" ")[1])).toEqual(["r--p", "r-xp", "r--p", "r--p", "rw-p"]);
      starts.push(segments[0]?.split("-")[0] ?? "");
    }
    expect(new Set(starts).size).toBeGreaterThan(1);
  });

  test("a function that writes past its own memory ends the process", (context) => {
    if (linkage !== "bare") return context.skip("the shim is linked with a libc here");
    const program = bareProgram(
      "overrun",
      `#include <string.h>
       static __attribute__((noinline)) void fill(char *text, size_t size) { memset(text, 'x', size); }
       static __attribute__((noinline)) int run(size_t size) { char text[16]; fill(text, size); return text[3] == 'x' ? 7 : 0; }
       int main(int argc, char **argv) { return (void)argv, run(argc > 1 ? 64 : 16); }`,
    );
    expect(spawnSync(program)).toMatchObject({ status: 7, signal: null });
    expect(spawnSync(program, ["more"])).toMatchObject({ status: null, signal: "SIGILL" });
  });

  test("environment, arguments and errno are like a libc's, and a child of vfork leaves its parent intact", (context) => {
    if (linkage !== "bare") return context.skip("the shim is linked with a libc here");
    const program = bareProgram(
      "process",
      `#include <errno.h>
       #include <fcntl.h>
       #include <stdio.h>
       #include <stdlib.h>
       #include <string.h>
       #include <sys/wait.h>
       #include <unistd.h>
       int main(int argc, char **argv) {
         char *list[] = {"sh", "-c", "exit 5", NULL};
         int kept = argc, status = 0;
         if (setenv("MADE", "new", 1) != 0 || setenv("GIVEN", "other", 0) != 0 || setenv("GIVEN2", "changed", 1) != 0) return 1;
         pid_t child = vfork();
         if (child == 0) { execve("/bin/sh", list, environ); _exit(9); }
         if (waitpid(child, &status, 0) != child) return 2;
         int fd = open("/nonexistent/file", O_RDONLY);
         dprintf(1, "%d %s %s %s %s %s %d %d %s\\n", kept, argv[1], program_invocation_short_name, getenv("GIVEN"), getenv("GIVEN2"), getenv("MADE"), WEXITSTATUS(status), fd, strerror(errno));
         return getenv("ABSENT") == NULL ? 0 : 3;
       }`,
    );
    const result = spawnSync(program, ["one"], { env: { GIVEN: "stays", GIVEN2: "old", GIVENX: "" }, encoding: "utf8" });
    expect(result).toMatchObject({ status: 0, stdout: "2 one process stays changed new 5 -1 No such file or directory\n" });
  });
});
