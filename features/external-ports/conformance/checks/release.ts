// Checks of `release`.

import { demandDone } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import { demand } from "../verdict.ts";

/** The checks. */
export const releaseChecks: readonly ProviderCheck[] = [
  {
    id: "REL-1",
    title: "release removes the port",
    run: async (lab) => {
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      demandDone(await lab.release({ key, providerId }), "release");
      demand(!(await lab.isListed(key)), "list has the port after its release");
    },
  },
  {
    id: "REL-2",
    title: "a second release of a port succeeds",
    run: async (lab) => {
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      await lab.release({ key, providerId });
      demandDone(await lab.release({ key, providerId }), "a second release");
    },
  },
  {
    id: "REL-3",
    title: "release without a providerId removes the port of the key",
    run: async (lab) => {
      const key = lab.newKey();
      await lab.port(key);
      demandDone(await lab.release({ key, providerId: "" }), "release with an empty providerId");
      demand(!(await lab.isListed(key)), "list has the port after a release with an empty providerId");
    },
  },
  {
    id: "REL-4",
    title: "release of a port that never existed succeeds",
    run: async (lab) => {
      demandDone(await lab.release({ key: lab.newKey(), providerId: "" }), "release of an unknown key");
    },
  },
  {
    id: "REL-5",
    title: "release of another providerId leaves the port of the key: a fabric may have two ports of one key",
    run: async (lab) => {
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      if (!(await lab.isListed(key))) return;
      await lab.release({ key, providerId: `${providerId}-other` });
      demand(await lab.isListed(key), `the port is gone after a release of the providerId ${providerId}-other`);
    },
  },
];
