// Checks of requests in a wrong form, and of the form of errors.

import { type Answer, demandStatus, described, invalidStatuses, isDone } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import type { Lab } from "../lab.ts";
import { demand, Skip } from "../verdict.ts";

const operations = ["ensure", "release", "list", "active"] as const;
/** Maximum length of an error's message in UTF-16 units: the controller cuts the rest. */
const maxMessage = 500;
/** Bytes of a request that no controller sends. */
const hugeRequest = 4 * 1024 * 1024;

/** The checks. */
export const requestChecks: readonly ProviderCheck[] = [
  {
    id: "ERR-1",
    title: "a body that is not JSON is refused with 400 or 422",
    run: async (lab) => {
      for (const operation of operations) {
        const answer = await lab.send({ path: `/v1/${operation}`, body: '{"owner": ' });
        demandStatus(answer, invalidStatuses, `${operation} with a broken body`);
      }
    },
  },
  {
    id: "ERR-2",
    title: "a request that lacks a member, or has one of another type, is refused with 400 or 422",
    run: async (lab) => {
      const { owner } = lab.init;
      const request = lab.request(lab.newKey());
      const wrong: readonly (readonly [operation: string, body: object, what: string])[] = [
        ...operations.map((operation) => [operation, {}, "an empty object"] as const),
        ["list", { owner: 7 }, "a number as owner"],
        ["ensure", { owner }, "no request"],
        ["ensure", { owner, request: { ...request, key: "" } }, "an empty key"],
        ["ensure", { owner, request: { ...request, key: 7 } }, "a number as key"],
        ["ensure", { owner, request: { ...request, parameters: [] } }, "a list as parameters"],
        ["release", { owner }, "no port"],
        ["release", { owner, port: { key: 7, providerId: "" } }, "a number as key"],
        ["active", { owner, port: [] }, "a list as port"],
      ];
      for (const [operation, body, what] of wrong) {
        const answer = await lab.send({ path: `/v1/${operation}`, body: JSON.stringify(body) });
        demandStatus(answer, invalidStatuses, `${operation} with ${what}`);
      }
    },
  },
  {
    id: "ERR-3",
    title: "requested values that are no addresses are refused with 400 or 422",
    run: async (lab) => {
      for (const requested of [{ mac: "zz:00:00:00:00:01" }, { ips: ["10.0.0.300"] }, { ips: ["name.example"] }]) {
        const answer = await lab.ensure(lab.newKey(), { requested });
        demandStatus(answer, invalidStatuses, `ensure with ${JSON.stringify(requested)} requested`);
      }
    },
  },
  {
    id: "ERR-4",
    title: "an error has a JSON object with a message of 1 to 500 characters",
    run: async (lab) => {
      const answer = await refusal(lab);
      const message = answer.body?.["message"];
      demand(
        typeof message === "string" && message !== "" && message.length <= maxMessage,
        `HTTP ${answer.status} has ${answer.body === undefined ? "no JSON object as body" : typeof message === "string" ? `a message of ${message.length} characters` : "no text as message"}`,
      );
    },
  },
  {
    id: "ERR-5",
    title: "an unknown operation is answered with 404",
    run: async (lab) => {
      demandStatus(await lab.call("plexus-conformance", {}), [404], "POST /v1/plexus-conformance");
    },
  },
  {
    id: "ERR-6",
    title: "GET is refused with 404 or 405",
    run: async (lab) => {
      for (const operation of operations) {
        demandStatus(await lab.send({ method: "GET", path: `/v1/${operation}` }), [404, 405], `GET /v1/${operation}`);
      }
    },
  },
  {
    id: "ERR-7",
    title: "a request of 4 MiB is refused, and the provider answers the next request",
    run: async (lab) => {
      const answer = await lab.call("list", { padding: "x".repeat(hugeRequest) });
      demand(!isDone(answer), "list with a body of 4 MiB was accepted");
      const next = await lab.call("list", {});
      demand(next.status !== 0, `after a request of 4 MiB ${described(next)}`);
    },
  },
];

/** The answer to a request without its members. Throws a Skip if it is no error: check ERR-2 reports that. */
async function refusal(lab: Lab): Promise<Answer> {
  const answer = await lab.call("ensure", {});
  if (answer.status >= 400) return answer;
  throw new Skip(`the check needs a refusal, but ${described(answer)}`);
}
