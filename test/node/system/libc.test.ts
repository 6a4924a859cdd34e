import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";

// The program has a socket as descriptor 3, as the one-shot engine does. It prints whether the socket's other end is closed.
const program = `
import { isHungUp } from ${JSON.stringify(new URL("../../../host/system/libc/libc.ts", import.meta.url).href)};
import { readSync, writeSync } from "node:fs";
writeSync(1, String(isHungUp(3)) + "\\n");
readSync(0, Buffer.alloc(1));
for (let tries = 0; tries < 1000 && !isHungUp(3); tries++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
writeSync(1, String(isHungUp(3)) + "\\n");
`;

test.each([
  ["no unread data", ""],
  ["unread data", "data"],
])("isHungUp is true for a closed socket and false for an open one, with %s", async (_, unread) => {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "--eval", program];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit", "pipe"] });
  const [stdin, stdout, , socket] = child.stdio;
  if (stdin === null || stdout === null || socket === null || socket === undefined || !("write" in socket))
    throw new Error("no pipes");
  if (unread !== "") socket.write(unread);
  expect(String((await once(stdout, "data"))[0])).toBe("false\n");
  socket.destroy();
  await once(socket, "close");
  child.stdin?.write("\n");
  expect(String((await once(stdout, "data"))[0])).toBe("true\n");
});

// As the daemon waits for its launch server, while its children end.
const waiting = `
import { isHungUp, isReadableWithin } from ${JSON.stringify(new URL("../../../host/system/libc/libc.ts", import.meta.url).href)};
import { writeSync } from "node:fs";
process.on("SIGUSR2", () => undefined);
writeSync(1, String(isHungUp(3)) + "\\n");
writeSync(1, String(isReadableWithin(3, 300_000)) + "\\n");
`;

test("isReadableWithin waits on after a signal", async () => {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "--eval", waiting];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit", "pipe"] });
  const [, stdout, , socket] = child.stdio;
  if (stdout === null || socket === null || socket === undefined || !("write" in socket)) throw new Error("no pipes");
  let output = "";
  stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // The program ends without reading.
  socket.on("error", () => undefined);
  const ended = once(child, "close");
  await expect.poll(() => output, { timeout: 60_000 }).toBe("false\n");
  for (let count = 0; count < 40; count++) {
    child.kill("SIGUSR2");
    await setTimeout(20);
  }
  expect(output).toBe("false\n");
  socket.write("data");
  await ended;
  expect(output).toBe("false\ntrue\n");
});
