// The checks of STATUS.

import { type Check, demand, Skip } from "../check.ts";
import { errorIn, wordsOf } from "../reply.ts";
import { remains } from "../state-change.ts";

/** The checks, in the order of the catalogue. */
export const statusChecks: readonly Check[] = [
  {
    id: "STA-1",
    title: "STATUS succeeds if the plugin can serve an ADD.",
    section: "status",
    since: "1.1.0",
    async run(lab) {
      const reply = await lab.run("STATUS", undefined);
      demand(reply.status === 0, `STATUS fails: ${wordsOf(reply)}`);
    },
  },
  {
    id: "STA-2",
    title: "STATUS answers code 50 or 51 if the plugin cannot serve an ADD.",
    section: "status",
    since: "1.1.0",
    async run(lab) {
      if (lab.setup.notReady === undefined) throw new Skip("conformance.json has no notReady");
      const sound = await lab.run("STATUS", undefined);
      if (sound.status !== 0) throw new Skip(`STATUS always fails, see STA-1: ${wordsOf(sound)}`);
      const error = errorIn(
        await lab.run("STATUS", undefined, { members: lab.setup.notReady }),
        "STATUS of a plugin that is not ready",
      );
      demand(error["code"] === 50 || error["code"] === 51, `the code is ${String(error["code"])}`);
    },
  },
  {
    id: "STA-3",
    title: "STATUS changes nothing.",
    section: "status",
    since: "1.1.0",
    async run(lab) {
      const pod = await lab.pod();
      const before = await lab.state(pod);
      await lab.run("STATUS", undefined);
      const changed = remains(before, await lab.state(pod));
      demand(changed === "", changed);
    },
  },
];
