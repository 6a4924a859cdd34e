// plexusd: starts the daemon, stops it on SIGTERM.

import { dirname, join } from "node:path";
import { realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Daemon } from "./daemon.ts";
import { nodeNameOf } from "./node-name.ts";

const { values } = parseArgs({
  options: {
    socket: { type: "string", default: "/run/plexus/plexus.sock" },
    calls: { type: "string", default: "64" },
    queue: { type: "string", default: "512" },
    sandboxes: { type: "string", default: String(Math.max(2, availableParallelism())) },
    "grace-ms": { type: "string", default: "10000" },
    "node-name": { type: "string" },
    kubeconfig: { type: "string" },
  },
});

const say = (text: string): void => void process.stderr.write(`plexusd: ${text}\n`);

function count(name: "calls" | "queue" | "sandboxes" | "grace-ms", most: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  say(`--${name} ${values[name]}: must be a whole number from 1 to ${most}`);
  process.exit(2);
}

async function main(): Promise<void> {
  const home = dirname(realpathSync(process.argv[1] ?? ""));
  const graceMs = count("grace-ms", 600_000);
  const sandboxes = count("sandboxes", 256);
  const node = nodeNameOf(values["node-name"], process.env);
  if (node.name === undefined) say(`${node.problem}${node.fatal ? "" : "; pods are not watched: give --node-name"}`);
  if (node.name === undefined && node.fatal) process.exit(2);
  const daemon = new Daemon({
    server: {
      socket: values.socket,
      active: count("calls", 4096),
      waiting: count("queue", 65_536),
      uids: [0, process.getuid?.() ?? 0],
      requestMs: 10_000,
    },
    delegates: { entry: join(home, "brain", "guest-process.cjs"), warm: Math.min(2, sandboxes), most: sandboxes },
    clusters: { nodeName: node.name, kubeconfig: values.kubeconfig },
    warn: say,
  });
  const started = await daemon.start();
  if (!started.ok) {
    say(started.fault.msg);
    process.exit(1);
  }
  let stopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      void daemon.stop(graceMs).then((cut) => {
        if (cut > 0) say(`cut off ${cut} calls after ${graceMs} ms; their next DEL undoes what they began`);
        process.exit(0);
      });
    });
  }
  say(`listens on ${values.socket}`);
}

void main();
