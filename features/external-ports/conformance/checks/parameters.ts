// Checks of a definition's parameters, whose author may be hostile.

import { described, demandStatus, finalStatuses, invalidStatuses } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import { demand, Skip } from "../verdict.ts";

/** The checks. */
export const parameterChecks: readonly ProviderCheck[] = [
  {
    id: "PAR-1",
    title: "a parameter that the provider does not know is refused with 400 or 422",
    run: async (lab) => {
      const parameters = { ...lab.init.parameters, "plexus-conformance-unknown": "value" };
      const answer = await lab.ensure(lab.newKey(), { parameters });
      demandStatus(answer, invalidStatuses, "ensure with the parameter plexus-conformance-unknown");
    },
  },
  {
    id: "PAR-2",
    title: "a parameter of another type is refused with 400 or 422",
    run: async (lab) => {
      const names = Object.keys(lab.init.parameters);
      if (names.length === 0) throw new Skip("no parameters were given: --parameters");
      for (const name of names) {
        const parameters = { ...lab.init.parameters, [name]: [{ plexus: [] }] };
        const answer = await lab.ensure(lab.newKey(), { parameters });
        demandStatus(answer, invalidStatuses, `ensure with a list as parameter ${name}`);
      }
    },
  },
  {
    id: "PAR-3",
    title: "parameters that this cluster may not use are refused for good",
    run: async (lab) => {
      if (lab.init.forbidden.length === 0) throw new Skip("no such parameters were given: --bad-parameters");
      for (const parameters of lab.init.forbidden) {
        const answer = await lab.ensure(lab.newKey(), { parameters });
        demandStatus(answer, finalStatuses, `ensure with the parameters ${JSON.stringify(parameters)}`);
      }
    },
  },
  {
    id: "PAR-4",
    title: "parameters of 8 KiB, as long as an annotation, are refused as invalid or accepted, but not as too large",
    run: async (lab) => {
      const parameters = { ...lab.init.parameters, "plexus-conformance-long": "x".repeat(8000) };
      const answer = await lab.ensure(lab.newKey(), { parameters });
      demand(
        answer.status >= 200 && answer.status < 500 && answer.status !== 413,
        `ensure with parameters of 8 KiB: ${described(answer)}`,
      );
    },
  },
];
