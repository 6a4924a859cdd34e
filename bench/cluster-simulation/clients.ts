// Light daemons: the real sources of pods and definitions (DaemonClusters) of many nodes in one process, without kernel and sandbox. Arguments: the
// kubeconfig, the number of the first node, the count of nodes. A line `restart` on stdin closes and opens all of them. Writes a line of JSON each 250 ms.

import { createInterface } from "node:readline";
import { argv } from "node:process";
import { DaemonClusters } from "../../host/programs/plexusd/daemon-clusters.ts";
import { systemClock } from "../../host/system/clock.ts";

/** The state of the daemons of one process. */
export interface ClientsState {
  /** Daemons whose watches of pods and of definitions are open. */
  readonly live: number;
  /** Rounds of starts so far. */
  readonly rounds: number;
  /** Objects in memory, of all daemons. */
  readonly objects: number;
  readonly lists: number;
  /** Changes of pods that the daemons were told of. */
  readonly podChanges: number;
  /** Lists and watches that failed or were silent for too long, and that began again. */
  readonly warnings: number;
  readonly rssMiB: number;
}

const [, , kubeconfig = "", from = "0", count = "0"] = argv;
/** Starts at once, as far as one process stands for many nodes. */
const atOnce = 50;
let podChanges = 0;
let warnings = 0;
let rounds = 0;
let daemons: readonly DaemonClusters[] = [];

const onPod = (): void => void (podChanges += 1);

function open(): void {
  daemons = Array.from({ length: Number(count) }, (_, index) => {
    const nodeName = `node-${Number(from) + index}`;
    return new DaemonClusters({
      nodeName,
      kubeconfig,
      clock: systemClock,
      warn: () => void (warnings += 1),
      onPod,
    });
  });
}

async function start(): Promise<void> {
  open();
  for (let at = 0; at < daemons.length; at += atOnce)
    await Promise.all(daemons.slice(at, at + atOnce).map((each) => each.start()));
  rounds += 1;
}

function state(): ClientsState {
  const states = daemons.flatMap((daemon) => daemon.informers.map(({ states: of }) => [...of.pods, ...of.definitions]));
  const sum = (of: (each: (typeof states)[number][number]) => number): number =>
    states.flat().reduce((all, each) => all + of(each), 0);
  return {
    live: states.filter((each) => each.length === 2 && each.every(({ live }) => live)).length,
    rounds,
    objects: sum(({ objects }) => objects),
    lists: sum(({ lists }) => lists),
    podChanges,
    warnings,
    rssMiB: process.memoryUsage().rss / 2 ** 20,
  };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "restart") void Promise.all(daemons.map((each) => each.close())).then(start);
});
setInterval(() => process.stdout.write(`${JSON.stringify(state())}\n`), 250);
await start();
