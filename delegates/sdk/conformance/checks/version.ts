// The checks of VERSION and of the versions that it names.

import { SUPPORTED_VERSIONS } from "../../../../src/cni/versions.ts";
import { type Check, demand, Skip } from "../check.ts";
import type { Lab } from "../lab.ts";
import { errorIn, jsonIn, wordsOf, type JsonObject } from "../reply.ts";

/** The checks, in the order of the catalogue. */
export const versionChecks: readonly Check[] = [
  {
    id: "VER-1",
    title: "VERSION prints the supported versions.",
    section: "version",
    async run(lab) {
      const reply = await lab.run("VERSION", undefined, { stdin: `{"cniVersion":"1.0.0"}` });
      demand(reply.status === 0, `VERSION fails: ${wordsOf(reply)}`);
      const found = jsonIn(reply.stdout);
      demand(found !== undefined, "VERSION prints no JSON object");
      demand(typeof found["cniVersion"] === "string", "cniVersion is not a string");
      const versions = found["supportedVersions"];
      demand(isTextList(versions) && versions.length > 0, "supportedVersions is not a list of versions");
    },
  },
  {
    id: "VER-2",
    title: "VERSION answers with the cniVersion of the request.",
    section: "versionResult",
    kinds: ["native"],
    async run(lab) {
      for (const version of lab.versions) {
        const found = await answer(lab, version);
        demand(found["cniVersion"] === version, `the answer to ${version} has the cniVersion ${String(found["cniVersion"])}`);
      }
    },
  },
  {
    id: "VER-3",
    title: "supportedVersions has released versions only, each once.",
    section: "versionResult",
    async run(lab) {
      const versions = (await answer(lab, "1.0.0"))["supportedVersions"];
      if (!isTextList(versions)) throw new Skip("supportedVersions is not a list, see VER-1");
      const released: readonly string[] = SUPPORTED_VERSIONS;
      const unknown = versions.filter((version) => !released.includes(version));
      demand(unknown.length === 0, `no such versions: ${unknown.join(", ")}`);
      demand(new Set(versions).size === versions.length, `a version is there twice: ${versions.join(", ")}`);
    },
  },
  {
    id: "VER-4",
    title: "A configuration of a version that the plugin does not support is refused with code 1.",
    section: "error",
    async run(lab) {
      const error = errorIn(await lab.run("ADD", await lab.pod(), { version: "9.9.9" }), "ADD with cniVersion 9.9.9");
      demand(error["code"] === 1, `the code is ${String(error["code"])}`);
    },
  },
];

async function answer(lab: Lab, version: string): Promise<JsonObject> {
  const reply = await lab.run("VERSION", undefined, { stdin: JSON.stringify({ cniVersion: version }) });
  const found = jsonIn(reply.stdout);
  if (reply.status !== 0 || found === undefined) throw new Skip("VERSION fails, see VER-1");
  return found;
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
