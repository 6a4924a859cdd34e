// The checks of what a plugin prints, and of keys that it does not know.

import { type Check, demand, Skip } from "../check.ts";
import type { Lab } from "../lab.ts";
import { exactJson, wordsOf } from "../reply.ts";
import type { Reply } from "../subject.ts";

/** The checks, in the order of the catalogue. */
export const outputChecks: readonly Check[] = [
  {
    id: "OUT-1",
    title: "stdout of ADD and VERSION is one JSON object, with nothing before or after it.",
    section: "success",
    async run(lab) {
      for (const { verb, reply } of [
        { verb: "ADD", reply: await lab.run("ADD", await lab.pod()) },
        { verb: "VERSION", reply: await lab.run("VERSION", undefined, { stdin: `{"cniVersion":"${lab.version}"}` }) },
      ]) {
        if (reply.status !== 0) throw new Skip(`${verb} fails, see ADD-1 and VER-1`);
        demand(exactJson(reply.stdout) !== undefined, `${verb} prints ${JSON.stringify(reply.stdout.slice(0, 80))} …`);
      }
    },
  },
  {
    id: "OUT-2",
    title: "CHECK, DEL, GC and STATUS print nothing if they succeed.",
    section: "check",
    async run(lab) {
      const added = await lab.added();
      const { attachment, text } = added;
      silent("CHECK", since(lab, "0.4.0") ? await lab.run("CHECK", attachment, { prevResult: text }) : undefined);
      silent("STATUS", since(lab, "1.1.0") ? await lab.run("STATUS", undefined) : undefined);
      const members = { "cni.dev/valid-attachments": [{ containerID: attachment.containerId, ifname: lab.setup.ifname }] };
      silent("GC", since(lab, "1.1.0") ? await lab.run("GC", undefined, { members }) : undefined);
      silent("DEL", await lab.deleted(added));
    },
  },
  {
    id: "OUT-3",
    title: "No process keeps stdout open after the plugin's exit.",
    section: "parameters",
    kinds: ["native"],
    async run(lab) {
      const reply = await lab.run("ADD", await lab.pod());
      demand(!reply.heldStdout, "stdout is open after the exit of ADD");
    },
  },
  {
    id: "KEY-1",
    title: "Unknown members of args are ignored.",
    section: "configuration",
    async run(lab) {
      await lab.added();
      const known = lab.setup.configuration["args"];
      const args = { ...(typeof known === "object" ? known : {}), "kit.example": { labels: { "kit.example/app": "1" } } };
      const reply = await lab.run("ADD", await lab.pod(), { members: { args } });
      demand(reply.status === 0, `ADD fails: ${wordsOf(reply)}`);
    },
  },
];

function since(lab: Lab, version: (typeof lab.versions)[number]): boolean {
  return lab.versions.includes("1.1.0") || lab.versions.some((each) => each >= version);
}

function silent(verb: string, reply: Reply | undefined): void {
  // Other checks report a failure.
  if (reply === undefined || reply.status !== 0) return;
  demand(reply.stdout.trim() === "", `${verb} prints ${JSON.stringify(reply.stdout.slice(0, 80))}`);
}
