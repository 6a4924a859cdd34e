// Commands about the networks of a node, by the CRI Network API.

import type { Command } from "../../../host/node/command-line/command.ts";
import { networkSocketOption } from "./network-socket.ts";

const named = "NAME is NAMESPACE/NAME for a network with a namespace.";

/** The commands. */
export const nodeNetworkCommands: readonly Command[] = [
  {
    name: "network ls",
    summary: "lists the networks of the CRI Network API, with their status",
    details: "The first network on the disk has the name _fallback. STATUS of the plugins runs through the agent.",
    options: [networkSocketOption, { name: "no-status", about: "runs no plugin" }],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each network",
    attention: "no answer, or a network is not ready",
    run: async (line) => (await import("./list-networks.ts")).listNetworksCommand(line),
  },
  {
    name: "network set",
    summary: "creates or replaces a network of the CRI Network API",
    synopsis: "FILE",
    count: [1, 1],
    completes: "file",
    details:
      "FILE, or - for stdin, is JSON or YAML: a network configuration, or a NetworkConfig message (docs/reference/network-api.md). Without a " +
      "generation in the message, the network gets the next one.",
    options: [
      networkSocketOption,
      { name: "name", value: "NAME", about: "for a network configuration: the network's name", usual: "the name in the file" },
      { name: "namespace", value: "NAME", about: "for a network configuration: the network's namespace", usual: "none" },
      { name: "range", value: "CIDR", about: "for a network configuration: addresses for its ipam", repeats: true },
    ],
    attention: "the network was refused, or no daemon answered",
    run: async (line) => (await import("./set-network.ts")).setNetworkCommand(line),
  },
  {
    name: "network rm",
    summary: "removes networks of the CRI Network API; running sandboxes keep theirs",
    synopsis: "NAME...",
    count: [1, Infinity],
    details: `${named} A network that does not exist counts as removed.`,
    options: [networkSocketOption],
    attention: "a network was not removed",
    run: async (line) => (await import("./remove-networks.ts")).removeNetworksCommand(line),
  },
  {
    name: "network watch",
    summary: "prints the networks of the CRI Network API, and each change",
    options: [
      networkSocketOption,
      { name: "json", about: "prints each event as a line of JSON" },
      { name: "for", value: "SECONDS", about: "ends after this time, 1 to 86400", usual: "until the command is ended" },
    ],
    attention: "no answer, or the daemon ended",
    run: async (line) => (await import("./watch-networks.ts")).watchNetworksCommand(line),
  },
];
