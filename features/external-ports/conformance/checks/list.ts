// Checks of `list` and of owners: the controller releases listed ports that no ExternalPort has.

import { demandDone } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import { portsOf } from "../lab.ts";
import { demand, Violation } from "../verdict.ts";

/** The checks. */
export const listChecks: readonly ProviderCheck[] = [
  {
    id: "LST-1",
    title: "list has each port of its owner with key and providerId, once",
    run: async (lab) => {
      const keys = lab.newKeys(lab.init.ports);
      const made = new Map<string, string>();
      for (const key of keys) made.set(key, (await lab.port(key)).providerId);
      const answer = await lab.call("list", {});
      demandDone(answer, "list");
      const ports = portsOf(answer);
      if (typeof ports === "string") throw new Violation(`the answer to list: ${ports}`);
      for (const [key, providerId] of made) {
        const found = ports.filter((port) => port.key === key).map((port) => port.providerId);
        demand(
          found.length === 1 && found[0] === providerId,
          `list has ${found.length} ports of key ${key}${found.length === 0 ? "" : `: ${found.slice(0, 5).join(", ")}`}; expected is ${providerId} alone`,
        );
      }
    },
  },
  {
    id: "LST-2",
    title: "list has no port of another owner",
    run: async (lab) => {
      const key = lab.newKey();
      await lab.port(key);
      const listed = await lab.listed(`${lab.init.owner}-other`);
      demand(!listed.some((port) => port.key === key), `list of ${lab.init.owner}-other has a port of ${lab.init.owner}`);
    },
  },
  {
    id: "LST-3",
    title: "a release by another owner leaves the port",
    run: async (lab) => {
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      if (!(await lab.isListed(key))) return;
      await lab.call("release", { owner: `${lab.init.owner}-other`, port: { key, providerId } });
      demand(await lab.isListed(key), `${lab.init.owner}-other has released a port of ${lab.init.owner}`);
    },
  },
];
