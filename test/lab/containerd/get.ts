// `node test/lab/containerd/get.ts` gets containerd and runc before the tests enter a network namespace without a route. The program never
// fails: without them it prints one line.

import { buildNewer, containers, newer, newerContainerd, unpackContainers } from "./programs.ts";

const wanted = process.env["PLEXUS_BUILD_CONTAINERD"] ?? "0";
const say = (text: string): void => void process.stderr.write(`plexus: ${text}\n`);

const packages = unpackContainers();
if (packages !== undefined) say(`containerd and runc were not unpacked: ${packages}`);
const lacking = containers();
if (lacking !== undefined) say(`tests in a container runtime will be skipped: ${lacking}`);
else {
  if (newerContainerd() === undefined && wanted !== "0") {
    say("building a containerd that calls STATUS (once: about 3 minutes of two cores)");
    const failure = buildNewer();
    if (failure !== undefined) say(`containerd was not built: ${failure}`);
  }
  const older = newer();
  if (older !== undefined) say(`tests in a newer containerd will be skipped: ${older}`);
}
