// Checks of long names, tokens, requests at the same time, and times.

import { addressesOf, demandDone, described, demandStatus, isDone, portOf } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import type { Lab } from "../lab.ts";
import { demand, Skip, Violation } from "../verdict.ts";

const refusedTokens: readonly number[] = [401, 403];

/** The checks. */
export const limitChecks: readonly ProviderCheck[] = [
  {
    id: "SIZ-1",
    title: "the longest names of Kubernetes make ports, and keys that differ in the last character make two",
    run: async (lab) => {
      await lab.demandPorts();
      const [one = "", other = ""] = lab.newKeys(128, "n".repeat(63)).slice(-2);
      const pod = { namespace: "n".repeat(63), name: "p".repeat(253), uid: lab.request(one).pod.uid };
      const ids: string[] = [];
      for (const key of [one, other]) {
        const port = portOf(await lab.ensure(key, { pod }));
        if (typeof port === "string") throw new Violation(`ensure with a key of ${key.length} characters: ${port}`);
        ids.push(port.providerId);
      }
      demand(ids[0] !== ids[1], `the keys ${one} and ${other} have one port`);
    },
  },
  {
    id: "TOK-1",
    title: "a request without the token is refused with 401 or 403",
    run: async (lab) => {
      if (lab.init.token === undefined) throw new Skip("no token was given: --token-file");
      await demandRefused(lab, "", "without the token");
    },
  },
  {
    id: "TOK-2",
    title: "a request with another token is refused with 401 or 403",
    run: async (lab) => {
      if (lab.init.token === undefined) throw new Skip("no token was given: --token-file");
      await demandRefused(lab, `${lab.init.token}x`, "with another token");
    },
  },
  {
    id: "CON-1",
    title: "ensures of one key at the same time make one port",
    run: async (lab) => {
      await lab.demandPorts();
      const key = lab.newKey();
      const answers = await Promise.all(Array.from({ length: lab.init.ports }, () => lab.ensure(key)));
      const ids = new Set<string>();
      for (const answer of answers) {
        if (isBusy(answer.status)) continue;
        const port = portOf(answer);
        if (typeof port === "string") throw new Violation(`ensures of one key at the same time: ${port}`);
        ids.add(port.providerId);
      }
      demand(ids.size <= 1, `ensures of one key at the same time answer ${ids.size} ports: ${[...ids].join(", ")}`);
      const listed = (await lab.listed()).filter((port) => port.key === key);
      demand(listed.length <= 1, `list has ${listed.length} ports after ensures of one key at the same time`);
    },
  },
  {
    id: "CON-2",
    title: "ensures of several keys at the same time make ports with different providerIds and addresses",
    run: async (lab) => {
      await lab.demandPorts();
      const answers = await Promise.all(lab.newKeys(lab.init.ports).map((key) => lab.ensure(key)));
      const made = answers.flatMap((answer) => {
        if (isBusy(answer.status)) return [];
        const port = portOf(answer);
        if (typeof port === "string") throw new Violation(`ensures of several keys at the same time: ${port}`);
        return [port];
      });
      for (const values of [made.map(({ providerId }) => providerId), made.flatMap(addressesOf)]) {
        const twice = values.find((each, at) => values.indexOf(each) !== at);
        demand(twice === undefined, `${twice} belongs to two ports that were made at the same time`);
      }
    },
  },
  {
    id: "CON-3",
    title: "releases of one port at the same time succeed",
    run: async (lab) => {
      const key = lab.newKey();
      const port = { key, providerId: (await lab.port(key)).providerId };
      const answers = await Promise.all(Array.from({ length: lab.init.ports }, () => lab.release(port)));
      const again = await lab.release(port);
      if (!isDone(again)) throw new Skip(`the check needs a second release, but ${described(again)}`);
      for (const answer of answers) if (!isBusy(answer.status)) demandDone(answer, "releases of one port at the same time");
    },
  },
  {
    id: "TIM-1",
    title: "each answer comes within 10 s",
    judgesAll: true,
    run: async (lab) => {
      demandFast(lab);
      const key = lab.newKey();
      const { providerId } = await lab.port(key);
      await lab.call("active", { port: { key, providerId } });
      await lab.call("list", {});
      await lab.release({ key, providerId });
      demandFast(lab);
    },
  },
];

function demandFast({ slowest, init }: Lab): void {
  const late = [...slowest].filter(([, ms]) => ms >= init.answerMs);
  const shown = late.map(([path, ms]) => `${path} took ${(ms / 1000).toFixed(1)} s`);
  demand(late.length === 0, `${shown.join(", ")}; plexus-controller gives up after ${init.answerMs / 1000} s`);
}

/** Whether the provider asks for a later try, which is its right under load. */
function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

async function demandRefused(lab: Lab, token: string, how: string): Promise<void> {
  const body = JSON.stringify({ owner: lab.init.owner, port: { key: lab.newKey(), providerId: "" } });
  for (const operation of ["list", "release", "active"]) {
    const answer = await lab.send({ path: `/v1/${operation}`, body, token });
    demandStatus(answer, refusedTokens, `${operation} ${how}`);
  }
  const request = lab.request(lab.newKey());
  const answer = await lab.send({ path: "/v1/ensure", body: JSON.stringify({ owner: lab.init.owner, request }), token });
  demandStatus(answer, refusedTokens, `ensure ${how}`);
}
