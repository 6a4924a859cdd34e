// The checks of prevResult in ADD.

import { isDeepStrictEqual } from "node:util";
import { type Check, demand, Skip } from "../check.ts";
import { errorIn } from "../reply.ts";

/** The checks, in the order of the catalogue. */
export const prevResultChecks: readonly Check[] = [
  {
    id: "PREV-1",
    title: "ADD passes on the interfaces and addresses of prevResult.",
    section: "add",
    roles: ["chained"],
    since: "0.3.0",
    async run(lab) {
      if (["ips", "interfaces"].some((key) => lab.setup.changes.some((each) => each === key)))
        throw new Skip("the plugin changes them on purpose");
      const { result, attachment } = await lab.added();
      const earlier = lab.earlier(attachment);
      for (const { name, sandbox } of earlier.interfaces) {
        const found = result.interfaces.some((each) => each.name === name && each.sandbox === sandbox);
        demand(found, `the interface ${name} is lost`);
      }
      for (const { address, gateway } of earlier.ips) {
        const found = result.ips.some((each) => each.address === address && each.gateway === gateway);
        demand(found, `the address ${address} with its gateway is lost`);
      }
    },
  },
  {
    id: "PREV-2",
    title: "ADD passes on the routes of prevResult with all their members.",
    section: "add",
    roles: ["chained"],
    async run(lab) {
      if (lab.setup.changes.includes("routes")) throw new Skip("the plugin changes them on purpose");
      const { result, attachment } = await lab.added();
      for (const route of lab.earlier(attachment).routes) {
        const expected = lab.version === "1.1.0" ? route : { dst: route.dst, gw: route.gw };
        const found = result.routes.find(({ dst, gw }) => dst === route.dst && gw === route.gw);
        demand(found !== undefined, `the route ${route.dst} is lost`);
        demand(
          isDeepStrictEqual({ ...found, ...expected }, { ...found }),
          `the route ${route.dst} loses a member: ${JSON.stringify(found)}`,
        );
      }
    },
  },
  {
    id: "PREV-3",
    title: "ADD passes on the name servers of prevResult.",
    section: "add",
    roles: ["chained"],
    async run(lab) {
      if (lab.setup.changes.includes("dns")) throw new Skip("the plugin changes them on purpose");
      const { result, attachment } = await lab.added();
      const expected = lab.earlier(attachment).dns;
      demand(isDeepStrictEqual({ ...result.dns }, { ...expected }), `dns is ${JSON.stringify(result.dns ?? null)}`);
    },
  },
  {
    id: "PREV-4",
    title: "ADD refuses a prevResult that is not a result.",
    section: "error",
    kinds: ["native"],
    roles: ["chained"],
    async run(lab) {
      errorIn(
        await lab.run("ADD", await lab.pod(), { prevResult: `{"cniVersion":"${lab.version}","ips":"none"}` }),
        'ADD with the ips "none"',
      );
    },
  },
];
