// Commands about providers of external ports.

import type { Command } from "../../../host/node/command-line/command.ts";

/** The commands. */
export const providerCommands: readonly Command[] = [
  {
    name: "provider conformance",
    summary: "checks a provider of external ports over HTTP against its rules",
    synopsis: "URL",
    count: [1, 1],
    details:
      "The command makes ports at the provider and releases them. The rules are in docs/how-to/write-a-provider.md, the checks in " +
      "docs/reference/provider-checks.md.",
    options: [
      { name: "owner", value: "NAME", about: "the cluster's name at the provider", usual: "plexus-conformance" },
      { name: "token-file", value: "FILE", about: "a file with the provider's bearer token", completes: "file" },
      { name: "node", value: "NAME", about: "the node of the ports", usual: "node-1" },
      { name: "parameters", value: "JSON", about: "parameters of a valid definition, without provider", usual: "{}" },
      {
        name: "bad-parameters",
        value: "JSON",
        about: "parameters that the provider must refuse, such as those of another cluster",
        repeats: true,
      },
      { name: "ports", value: "COUNT", about: "how many ports a check makes at most, 2 to 1000", usual: "8" },
      { name: "only", value: "IDS", about: "these checks only, separated by commas" },
      { name: "junit", about: "prints JUnit XML" },
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each failed check",
    attention: "a check failed, a port of the run remains, or the token cannot be read",
    run: async (line) => (await import("./check-provider.ts")).checkProviderCommand(line),
  },
];
