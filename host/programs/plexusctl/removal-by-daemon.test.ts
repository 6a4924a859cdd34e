// A daemon of another release answers, but knows no removal. Its configuration must not be taken away as if it were silent.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeThroughDaemon } from "./removal-by-daemon.ts";

test("a daemon that answers 405 keeps its configuration until the time is over, and the command says why", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-removal-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const configDirectory = join(directory, "net.d");
  mkdirSync(configDirectory);
  writeFileSync(join(configDirectory, "00-plexus.conflist"), "{}");
  const socketPath = join(directory, "status.sock");
  const server = createServer((_, response) => response.writeHead(405).end());
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  const outcome = await removeThroughDaemon(socketPath, 1, false, configDirectory);
  expect(outcome).toBe("the daemon knows no removal: plexusctl and the daemon must be of one release");
  expect(readdirSync(configDirectory)).toEqual(["00-plexus.conflist"]);
});
