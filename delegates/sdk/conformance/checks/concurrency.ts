// The checks of many calls at once. A runtime may attach different containers in parallel.

import { type Check, demand, Skip } from "../check.ts";
import { addedBy, type Added, type Attachment, type Lab } from "../lab.ts";
import { wordsOf } from "../reply.ts";
import { remains } from "../state-change.ts";

/** The checks, in the order of the catalogue. */
export const concurrencyChecks: readonly Check[] = [
  {
    id: "CON-1",
    title: "ADDs of different containers succeed at once.",
    section: "concurrency",
    async run(lab) {
      await lab.added();
      const pods = await podsOf(lab);
      const replies = await lab.node.executeAtOnce(pods.map((pod) => lab.execution("ADD", pod)));
      const failed = replies.filter(({ status }) => status !== 0);
      const [first] = failed;
      demand(first === undefined, `${failed.length} of ${pods.length} fail: ${first === undefined ? "" : wordsOf(first)}`);
    },
  },
  {
    id: "CON-2",
    title: "ADDs at once assign different addresses.",
    section: "concurrency",
    roles: ["ipam"],
    async run(lab) {
      const addresses = (await attachAtOnce(lab, await podsOf(lab))).flatMap(({ result }) =>
        result.ips.map(({ address }) => address),
      );
      const twice = addresses.filter((address, index) => addresses.indexOf(address) !== index);
      demand(twice.length === 0, `${twice[0] ?? ""} is assigned twice`);
    },
  },
  {
    id: "CON-3",
    title: "DELs at once succeed and remove all.",
    section: "concurrency",
    async run(lab) {
      await lab.warmUp();
      const pod = await lab.pod();
      const pods = await podsOf(lab);
      const before = await lab.state(pod);
      const added = await attachAtOnce(lab, pods);
      const replies = await lab.node.executeAtOnce(
        added.map(({ attachment, text }) => lab.execution("DEL", attachment, { prevResult: text })),
      );
      const failed = replies.filter(({ status }) => status !== 0);
      const [first] = failed;
      demand(first === undefined, `${failed.length} of ${added.length} fail: ${first === undefined ? "" : wordsOf(first)}`);
      const left = remains(before, await lab.state(pod));
      // DEL-2 reports what a DEL alone leaves.
      if (left !== "" && (await leavesSomething(lab))) throw new Skip("DEL alone leaves something, see DEL-2");
      demand(left === "", left);
    },
  },
];

async function podsOf(lab: Lab): Promise<readonly Attachment[]> {
  const pods: Attachment[] = [];
  for (let made = 0; made < lab.setup.attachments; made += 1) pods.push(await lab.pod());
  return pods;
}

async function attachAtOnce(lab: Lab, pods: readonly Attachment[]): Promise<readonly Added[]> {
  const replies = await lab.node.executeAtOnce(pods.map((pod) => lab.execution("ADD", pod)));
  return replies.flatMap((reply, index) => {
    const pod = pods[index];
    if (reply.status !== 0) throw new Skip(`an ADD fails, see CON-1: ${wordsOf(reply)}`);
    return pod === undefined ? [] : [addedBy(reply, pod, lab.version)];
  });
}

async function leavesSomething(lab: Lab): Promise<boolean> {
  const pod = await lab.pod();
  const before = await lab.state(pod);
  await lab.deleted(await lab.added(pod));
  return remains(before, await lab.state(pod)) !== "";
}
