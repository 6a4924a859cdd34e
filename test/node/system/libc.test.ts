import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";

// As the daemon waits for its launch server, while its children end.
const waiting = `
import { isReadableWithin } from ${JSON.stringify(new URL("../../../host/system/libc/libc.ts", import.meta.url).href)};
import { writeSync } from "node:fs";
process.on("SIGUSR2", () => undefined);
writeSync(1, "waits\\n");
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
  await expect.poll(() => output, { timeout: 60_000 }).toBe("waits\n");
  for (let count = 0; count < 40; count++) {
    child.kill("SIGUSR2");
    await setTimeout(20);
  }
  expect(output).toBe("waits\n");
  socket.write("data");
  await ended;
  expect(output).toBe("waits\ntrue\n");
});
