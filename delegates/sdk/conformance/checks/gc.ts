// The checks of GC.

import { type Check, demand, Skip } from "../check.ts";
import type { Attachment, Lab } from "../lab.ts";
import { wordsOf } from "../reply.ts";
import { changedKeys } from "../state-change.ts";
import type { Reply, State } from "../subject.ts";

/** The checks, in the order of the catalogue. */
export const gcChecks: readonly Check[] = [
  {
    id: "GC-1",
    title: "GC removes the leases and rules of attachments that are not valid.",
    section: "gc",
    since: "1.1.0",
    async run(lab) {
      const { leaked, after, reply } = await leak(lab);
      if (reply.status !== 0) throw new Skip(`GC fails, see GC-3: ${wordsOf(reply)}`);
      const left = leaked.filter((key) => after.has(key));
      demand(left.length === 0, `${left.join(", ")} remains`);
    },
  },
  {
    id: "GC-2",
    title: "GC keeps the leases and rules of valid attachments.",
    section: "gc",
    since: "1.1.0",
    async run(lab) {
      const { kept, after, reply } = await leak(lab);
      if (reply.status !== 0) throw new Skip(`GC fails, see GC-3: ${wordsOf(reply)}`);
      const lost = kept.filter((key) => !after.has(key));
      demand(lost.length === 0, `${lost.join(", ")} is gone`);
    },
  },
  {
    id: "GC-3",
    title: "GC succeeds, with stale attachments and without.",
    section: "gc",
    since: "1.1.0",
    async run(lab) {
      const empty = await collect(lab, []);
      demand(empty.status === 0, `GC on an unused node fails: ${wordsOf(empty)}`);
      const pod = await lab.pod();
      await lab.added(pod);
      for (const valid of [[pod], []]) {
        const reply = await collect(lab, valid);
        demand(reply.status === 0, `GC with ${valid.length} valid attachments fails: ${wordsOf(reply)}`);
      }
    },
  },
];

async function leak(lab: Lab): Promise<{ leaked: readonly string[]; kept: readonly string[]; after: State; reply: Reply }> {
  const [valid, stale] = [await lab.pod(), await lab.pod()];
  const before = await lab.state(valid);
  await lab.added(valid);
  const first = await lab.state(valid);
  await lab.added(stale);
  const second = await lab.state(valid);
  const kept = changedKeys(before, first, ["lease", "rules"]);
  const leaked = changedKeys(first, second, ["lease", "rules"]);
  if (leaked.length === 0) throw new Skip("ADD makes no leases or rules on the node");
  const reply = await collect(lab, [valid]);
  return { kept, leaked, after: await lab.state(valid), reply };
}

async function collect(lab: Lab, valid: readonly Attachment[]): Promise<Reply> {
  const attachments = valid.map(({ containerId }) => ({ containerID: containerId, ifname: lab.setup.ifname }));
  return lab.run("GC", undefined, { members: { "cni.dev/valid-attachments": attachments } });
}
