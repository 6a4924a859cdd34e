// The checks of errors.

import { type Check, demand, Skip } from "../check.ts";
import type { FailedCall, Lab } from "../lab.ts";
import { errorIn, exactJson, type JsonObject, jsonIn } from "../reply.ts";

const specified = [1, 2, 3, 4, 5, 6, 7, 8, 11, 50, 51];

/** The checks, in the order of the catalogue. */
export const errorChecks: readonly Check[] = [
  {
    id: "ERR-1",
    title: "A failed call prints one error object with code and msg, and its exit status is not 0.",
    section: "error",
    async run(lab) {
      const failures = await failedCalls(lab);
      for (const { what, reply } of failures) {
        demand(reply.status !== 0, `${what}: the exit status is 0`);
        const error = exactJson(reply.stdout);
        demand(error !== undefined, `${what}: stdout is not one JSON object`);
        demand(Number.isInteger(error["code"]) && Number(error["code"]) > 0, `${what}: code is ${JSON.stringify(error["code"])}`);
        demand(typeof error["msg"] === "string" && error["msg"] !== "", `${what}: msg is ${JSON.stringify(error["msg"])}`);
      }
    },
  },
  {
    id: "ERR-2",
    title: "An error has the cniVersion of the request.",
    section: "error",
    async run(lab) {
      for (const { what, error, version } of await printedErrors(lab)) {
        const found = error["cniVersion"];
        // A plugin answers an unknown version in one of its own.
        const holds = version === undefined ? typeof found === "string" : found === version;
        demand(holds, `${what}: cniVersion is ${JSON.stringify(found) ?? "missing"}`);
      }
    },
  },
  {
    id: "ERR-3",
    title: "An error code below 100 is one that the specification defines.",
    section: "error",
    async run(lab) {
      for (const { what, error } of await printedErrors(lab)) {
        const code = Number(error["code"]);
        demand(code >= 100 || specified.includes(code), `${what}: the code is ${code}`);
      }
    },
  },
  {
    id: "ERR-4",
    title: "A configuration that is not JSON is refused with code 6.",
    section: "error",
    kinds: ["native"],
    async run(lab) {
      const error = errorIn(await lab.run("ADD", await lab.pod(), { stdin: `{"cniVersion": ` }), "ADD with half a JSON object");
      demand(error["code"] === 6, `the code is ${String(error["code"])}`);
    },
  },
  {
    id: "ERR-5",
    title: "A missing CNI_CONTAINERID, CNI_NETNS or CNI_IFNAME in ADD is refused with code 4.",
    section: "parameters",
    kinds: ["native"],
    async run(lab) {
      const pod = await lab.pod();
      for (const name of ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"]) {
        const error = errorIn(await lab.run("ADD", pod, { env: { [name]: undefined } }), `ADD without ${name}`);
        demand(error["code"] === 4, `without ${name} the code is ${String(error["code"])}`);
      }
    },
  },
  {
    id: "ERR-6",
    title: "An unknown CNI_COMMAND is refused with code 4.",
    section: "parameters",
    kinds: ["native"],
    async run(lab) {
      const error = errorIn(await lab.run("FROBNICATE", await lab.pod()), "the verb FROBNICATE");
      demand(error["code"] === 4, `the code is ${String(error["code"])}`);
    },
  },
  {
    id: "ERR-7",
    title: "An invalid configuration is refused with code 7.",
    section: "error",
    async run(lab) {
      const { invalid } = lab.setup;
      if (invalid === undefined) throw new Skip("conformance.json has no invalid");
      await lab.added();
      const error = errorIn(await lab.run("ADD", await lab.pod(), { members: invalid }), "ADD with the invalid configuration");
      demand(error["code"] === 7, `the code is ${String(error["code"])}: ${String(error["msg"])}`);
    },
  },
  {
    id: "ERR-8",
    title: "A CNI_CONTAINERID with a path in it is refused.",
    section: "parameters",
    kinds: ["native"],
    async run(lab) {
      errorIn(await lab.run("ADD", await lab.pod(), { env: { CNI_CONTAINERID: "../kit" } }), "ADD with CNI_CONTAINERID ../kit");
    },
  },
];

/** The calls that failed. Throws a Skip if none did. */
async function failedCalls(lab: Lab): Promise<readonly FailedCall[]> {
  const calls = await lab.failedCalls();
  const failed = calls.filter(({ reply }) => reply.status !== 0 || jsonIn(reply.stdout)?.["code"] !== undefined);
  if (failed.length === 0) throw new Skip("no call fails, see VER-4 and ERR-7");
  return failed;
}

async function printedErrors(lab: Lab): Promise<readonly (FailedCall & { readonly error: JsonObject })[]> {
  return (await failedCalls(lab)).map((call) => ({ ...call, error: errorIn(call.reply, call.what) }));
}
