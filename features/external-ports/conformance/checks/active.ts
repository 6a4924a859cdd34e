// Checks of `active`.

import { described, demandDone, finalStatuses, isDone } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import { demand } from "../verdict.ts";

/** The checks. */
export const activeChecks: readonly ProviderCheck[] = [
  {
    id: "ACT-1",
    title: "active answers true or false for a port",
    run: async (lab) => {
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      const answer = await lab.call("active", { port: { key, providerId } });
      demandDone(answer, "active");
      demand(typeof answer.body?.["active"] === "boolean", "active of the answer is neither true nor false");
    },
  },
  {
    id: "ACT-2",
    title: "a port that does not exist is not active",
    run: async (lab) => {
      const answer = await lab.call("active", { port: { key: lab.newKey(), providerId: "plexus-conformance-unknown" } });
      demand(
        isDone(answer) ? answer.body?.["active"] !== true : finalStatuses.includes(answer.status),
        isDone(answer) ? "an unknown port is active" : `active of an unknown port: ${described(answer)}`,
      );
    },
  },
];
