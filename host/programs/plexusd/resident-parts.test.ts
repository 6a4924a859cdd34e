// The calls of which a part of a feature is told.

import { expect, test } from "vitest";
import type { ResidentContext } from "../../../features/resident-part.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ResidentParts } from "./resident-parts.ts";

function configurationWith(more: object, name = "cluster"): HostConfiguration {
  const read = readHostConfiguration({ name, type: "plexus", delegates: [{ type: "bridge" }], ...more });
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value;
}

const on = configurationWith({ probes: true });
const off = configurationWith({});

/** The calls of which a part with the key `probes` is told, as `VERB on` or `VERB off`. */
async function toldOf(calls: readonly (readonly [verb: string, configuration: HostConfiguration])[]): Promise<readonly string[]> {
  const told: string[] = [];
  const parts = new ResidentParts([
    {
      sockets: [],
      make: async () => ({
        key: "probes",
        noteCall: ({ probes }, environment) => void told.push(`${environment.get("CNI_COMMAND")} ${probes ? "on" : "off"}`),
      }),
    },
  ]);
  await parts.make({} as Omit<ResidentContext, "linksSeen">);
  for (const [verb, configuration] of calls)
    parts.noteCall(configuration, new Map([["CNI_COMMAND", verb]]), { status: 0, stdout: "" });
  return told;
}

test("a part is told of each call whose configuration has its key", async () => {
  const calls = await toldOf([
    ["ADD", on],
    ["ADD", on],
    ["DEL", on],
  ]);
  expect(calls).toEqual(["ADD on", "ADD on", "DEL on"]);
});

test("a part that is off stays out of ADDs, but for the first of a configuration", async () => {
  const calls = await toldOf([
    ["ADD", off],
    ["ADD", off],
    ["ADD", configurationWith({}, "other")],
    ["ADD", off],
  ]);
  expect(calls).toEqual(["ADD off", "ADD off"]);
});

test("a part learns at once that its key has come or gone, also by another call's configuration", async () => {
  const calls = await toldOf([
    ["ADD", off],
    ["ADD", on],
    ["ADD", off],
    ["STATUS", on],
    ["ADD", off],
    ["ADD", off],
  ]);
  expect(calls).toEqual(["ADD off", "ADD on", "ADD off", "STATUS on", "ADD off"]);
});

test("a part that is off is told of a DEL: the container may be older than the configuration", async () => {
  const calls = await toldOf([
    ["DEL", off],
    ["DEL", off],
  ]);
  expect(calls).toEqual(["DEL off", "DEL off"]);
});
