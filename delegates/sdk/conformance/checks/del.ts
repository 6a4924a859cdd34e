// The checks of DEL.

import { type Check, demand, Skip } from "../check.ts";
import { wordsOf } from "../reply.ts";
import { changedKeys, remains } from "../state-change.ts";
import type { Reply } from "../subject.ts";

/** Kinds of state that outlive a pod's namespace. */
const ofTheNode = ["lease", "rules"];

/** The checks, in the order of the catalogue. */
export const delChecks: readonly Check[] = [
  {
    id: "DEL-1",
    title: "DEL after an ADD succeeds.",
    section: "del",
    async run(lab) {
      succeeded(await lab.deleted(await lab.added()));
    },
  },
  {
    id: "DEL-2",
    title: "DEL removes all that ADD made.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      const pod = await lab.pod();
      const before = await lab.state(pod);
      needed(await lab.deleted(await lab.added(pod)), "DEL-1");
      const left = remains(before, await lab.state(pod));
      demand(left === "", left);
    },
  },
  {
    id: "DEL-3",
    title: "A second DEL succeeds.",
    section: "del",
    async run(lab) {
      const added = await lab.added();
      needed(await lab.deleted(added), "DEL-1");
      succeeded(await lab.deleted(added));
    },
  },
  {
    id: "DEL-4",
    title: "DEL of an attachment without an ADD succeeds.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      needed(await lab.deleted(await lab.added(), { prevResult: null }), "DEL-9");
      succeeded(await lab.run("DEL", await lab.pod()));
    },
  },
  {
    id: "DEL-5",
    title: "DEL with an empty CNI_NETNS succeeds.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      const added = await lab.added();
      await lab.node.removePod(added.attachment.netns);
      succeeded(await lab.deleted(added, { env: { CNI_NETNS: "" } }));
    },
  },
  {
    id: "DEL-6",
    title: "DEL with an empty CNI_NETNS removes leases and rules.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      const pod = await lab.pod();
      const before = await lab.state(pod);
      const added = await lab.added(pod);
      if (changedKeys(before, await lab.state(pod), ofTheNode).length === 0)
        throw new Skip("ADD makes no leases or rules on the node");
      needed(await lab.deleted(added, { env: { CNI_NETNS: "" } }), "DEL-5");
      const left = changedKeys(before, await lab.state(pod), ofTheNode);
      demand(left.length === 0, `${left.join(", ")} remains`);
    },
  },
  {
    id: "DEL-7",
    title: "DEL succeeds if CNI_NETNS names a namespace that is gone.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      const added = await lab.added();
      await lab.node.removePod(added.attachment.netns);
      succeeded(await lab.deleted(added));
    },
  },
  {
    id: "DEL-8",
    title: "DEL leaves other attachments unchanged.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      const other = await lab.pod();
      await lab.added(other);
      const before = await lab.state(other);
      needed(await lab.deleted(await lab.added()), "DEL-1");
      const after = await lab.state(other);
      const lost = [...before.keys()].filter((key) => !after.has(key));
      demand(lost.length === 0, `${lost.join(", ")} of another attachment is gone`);
    },
  },
  {
    id: "DEL-9",
    title: "DEL without prevResult succeeds.",
    section: "del",
    async run(lab) {
      await lab.warmUp();
      succeeded(await lab.deleted(await lab.added(), { prevResult: null }));
    },
  },
];

function succeeded(reply: Reply): void {
  demand(reply.status === 0, `DEL fails: ${wordsOf(reply)}`);
}

/** Throws a Skip for a failure that another check reports. */
function needed(reply: Reply, check: string): void {
  if (reply.status !== 0) throw new Skip(`DEL fails, see ${check}: ${wordsOf(reply)}`);
}
