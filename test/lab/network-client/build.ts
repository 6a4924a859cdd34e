// `node test/lab/network-client/build.ts` runs before the tests enter a network namespace without a route, so that Go can fetch the modules. The
// program never fails: without a client it prints one line.

import { buildGoClient, goClient } from "./go-client.ts";

const say = (text: string): void => void process.stderr.write(`plexus: ${text}\n`);
if (goClient() !== undefined) {
  say("building a client of the CRI Network API in Go (once: half a minute)");
  const failure = buildGoClient();
  if (failure !== undefined) say(`the client in Go was not built, its tests will be skipped: ${failure}`);
}
