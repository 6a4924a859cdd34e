// The checks of a plugin that calls an IPAM plugin. The kit's own IPAM plugin records the calls.

import { isDeepStrictEqual } from "node:util";
import { type Check, demand, Skip } from "../check.ts";
import { kitIpam, type Lab } from "../lab.ts";
import { exactJson, wordsOf } from "../reply.ts";

const common = { section: "delegation", roles: ["interface"], delegates: true } as const;

/** The checks, in the order of the catalogue. */
export const delegationChecks: readonly Check[] = [
  {
    id: "DLG-1",
    title: "The IPAM plugin gets the whole configuration, with members that the plugin does not know, and the same parameters.",
    ...common,
    async run(lab) {
      const pod = await lab.pod();
      const execution = lab.execution("ADD", pod, { members: { "kit.example/unknown": { keep: [1, "two", null] } } });
      const reply = await lab.node.execute(execution);
      if (reply.status !== 0) throw new Skip(`ADD fails, see ADD-1: ${wordsOf(reply)}`);
      const [call] = await ipamCalls(lab, "ADD");
      demand(call !== undefined, "ADD does not call the IPAM plugin");
      for (const name of ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"]) {
        const [own, passed] = [execution.env[name], call.env[name]];
        demand(passed === own, `${name} is ${passed ?? "missing"}`);
      }
      if (call.config === undefined) return;
      const sent = exactJson(execution.stdin) ?? {};
      const lost = Object.keys(sent).filter((key) => !isDeepStrictEqual(sent[key], call.config?.[key]));
      demand(lost.length === 0, `these members are lost or changed: ${lost.join(", ")}`);
    },
  },
  {
    id: "DLG-2",
    title: "If ADD of the IPAM plugin fails, ADD fails and DEL of the IPAM plugin is called.",
    ...common,
    async run(lab) {
      await lab.added();
      await lab.node.failIpam("ADD");
      const reply = await lab.run("ADD", await lab.pod());
      demand(reply.status !== 0, "ADD succeeds");
      demand((await ipamCalls(lab, "DEL")).length > 0, "DEL of the IPAM plugin is not called");
    },
  },
  {
    id: "DLG-3",
    title: "DEL calls DEL of the IPAM plugin.",
    ...common,
    async run(lab) {
      const reply = await lab.deleted(await lab.added());
      if (reply.status !== 0) throw new Skip(`DEL fails, see DEL-1: ${wordsOf(reply)}`);
      demand((await ipamCalls(lab, "DEL")).length > 0, "the IPAM plugin is not called");
    },
  },
  {
    id: "DLG-4",
    title: "CHECK calls CHECK of the IPAM plugin and fails if that fails.",
    ...common,
    since: "0.4.0",
    async run(lab) {
      const { attachment, text } = await lab.added();
      const sound = await lab.run("CHECK", attachment, { prevResult: text });
      if (sound.status !== 0) throw new Skip(`CHECK fails, see CHK-1: ${wordsOf(sound)}`);
      demand((await ipamCalls(lab, "CHECK")).length > 0, "the IPAM plugin is not called");
      await lab.node.failIpam("CHECK");
      const reply = await lab.run("CHECK", attachment, { prevResult: text });
      demand(reply.status !== 0, "CHECK succeeds though CHECK of the IPAM plugin fails");
    },
  },
  {
    id: "DLG-5",
    title: "GC calls GC of the IPAM plugin.",
    ...common,
    since: "1.1.0",
    async run(lab) {
      const reply = await lab.run("GC", undefined, { members: { "cni.dev/valid-attachments": [] } });
      if (reply.status !== 0) throw new Skip(`GC fails, see GC-3: ${wordsOf(reply)}`);
      demand((await ipamCalls(lab, "GC")).length > 0, "the IPAM plugin is not called");
    },
  },
  {
    id: "DLG-6",
    title: "STATUS calls STATUS of the IPAM plugin and fails if that fails.",
    ...common,
    since: "1.1.0",
    async run(lab) {
      const sound = await lab.run("STATUS", undefined);
      if (sound.status !== 0) throw new Skip(`STATUS fails, see STA-1: ${wordsOf(sound)}`);
      demand((await ipamCalls(lab, "STATUS")).length > 0, "the IPAM plugin is not called");
      await lab.node.failIpam("STATUS");
      const reply = await lab.run("STATUS", undefined);
      demand(reply.status !== 0, `STATUS succeeds though STATUS of ${kitIpam} fails`);
    },
  },
];

async function ipamCalls(lab: Lab, verb: string) {
  return (await lab.node.ipamCalls()).filter((call) => call.verb === verb);
}
