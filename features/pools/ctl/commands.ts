// Commands about pools of addresses of a cluster.

import { accessOptions } from "../../../host/node/command-line/common-options.ts";
import type { Command } from "../../../host/node/command-line/command.ts";

/** The commands. */
export const poolCommands: readonly Command[] = [
  {
    name: "pools show",
    summary: "shows a cluster's pools of addresses: use by node and block, free addresses, reservations, conflicts",
    synopsis: "[POOL...]",
    count: [0, Infinity],
    details:
      "A conflict is an address that two pods have, that its pod's node has no right to, or a block that is not of its pool. The addresses of pods " +
      "come from their network status. Needs the right to list pools, blocks, reservations and pods.",
    options: [{ name: "blocks", about: "also lists each block" }, ...accessOptions],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each block",
    attention: "there is a conflict, a pool is not Ready, or the API cannot be read",
    run: async (line) => (await import("./show-pools.ts")).showPoolsCommand(line),
  },
  {
    name: "pools import",
    summary: "takes addresses that whereabouts or host-local has given out of a pool, while their pods live",
    synopsis: "POOL",
    count: [1, 1],
    details:
      "The addresses become exclusions of the pool, and their pods keep them. A repeated import releases addresses whose records are gone. With --write, " +
      "whereabouts gives no further address of the pool, and its DELs go on. Nothing is written if an address has two owners, or a definition still takes " +
      "addresses of the pool from whereabouts: docs/how-to/addresses-across-nodes.md.",
    options: [
      { name: "write", about: "closes whereabouts' IPPools and writes the exclusions; without it the command only reports" },
      {
        name: "host-local",
        value: "DIR",
        about: "imports leases of host-local in DIR and one level below, instead of whereabouts' IPPools",
        repeats: true,
        completes: "directory",
      },
      {
        name: "source",
        value: "NAME",
        about: "the name of this import among others of the pool",
        usual: "whereabouts, or host-local-HOST",
      },
      ...accessOptions,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each imported address",
    attention: "an address has two owners, or a record cannot be read; nothing was written",
    run: async (line) => (await import("./import-pools.ts")).importPoolsCommand(line),
  },
];
