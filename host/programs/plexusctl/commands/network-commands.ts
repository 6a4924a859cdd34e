// Commands about configurations: what their steps may do, and how to make them.

import type { Command } from "../../../node/command-line/command.ts";
import { cniPathOption, configOption } from "../../../node/command-line/common-options.ts";

/** The commands. */
export const networkCommands: readonly Command[] = [
  {
    name: "explain",
    summary: "shows each step of a network: its plugin, and which capabilities are declared, granted and missing",
    synopsis: "[FILE|NAMESPACE/NAME]",
    count: [0, 1],
    completes: "file",
    details:
      "FILE is a network configuration, Plexus' own configuration, or a manifest with NetworkAttachmentDefinitions. NAMESPACE/NAME is a " +
      "definition in the cluster. Without an argument, the networks of the host configuration are explained.",
    options: [configOption, cniPathOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "NETWORK/TYPE of each step",
    attention: "a step would not load, or a configuration cannot be read",
    run: async (line) => (await import("../explain.ts")).explainCommand(line),
  },
  {
    name: "lint",
    summary: "finds mistakes in network configurations, NetworkAttachmentDefinitions and Plexus' configuration",
    synopsis: "[FILE...]",
    count: [0, Infinity],
    completes: "file",
    details:
      "FILE is a network configuration, Plexus' own configuration, or a manifest in YAML or JSON. Each finding has its file, line and column, " +
      "severity, rule and remedy: docs/reference/lint.md has all rules. Networks of all targets are compared with each other. Nothing runs.",
    options: [
      { name: "node", about: "lints all configurations of this node, in the directory of --config" },
      {
        name: "kubeconfig",
        value: "FILE",
        about: "lints the NetworkAttachmentDefinitions of a cluster; needs the right to list them, and pods",
        completes: "file",
      },
      { name: "strict", about: "warnings end with status 1, too" },
      { name: "sarif", about: "prints SARIF 2.1.0, for code hosts" },
      configOption,
      cniPathOption,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "FILE:LINE:COLUMN RULE of each finding",
    attention: "there is an error, or with --strict a warning",
    run: async (line) => (await import("../lint.ts")).lintCommand(line),
  },
  {
    name: "configure",
    summary: "makes Plexus' configuration from the network that the node has",
    synopsis: "--from FILE",
    count: [0, Infinity],
    details:
      "Without a template, components of the network get the grants that they need, and NetworkAttachmentDefinitions may use components that " +
      "change nothing on the node: docs/how-to/definitions.md.",
    options: [
      {
        name: "from",
        value: "FILE",
        about: "the node's network, such as /etc/cni/net.d/10-flannel.conflist",
        completes: "file",
      },
      { name: "write", about: "writes the configuration beside FILE, atomically; without it the configuration is printed" },
      {
        name: "name",
        value: "NAME",
        about: "its file name, which must sort before all other networks",
        usual: "00-plexus.conflist",
      },
      {
        name: "kubeconfig",
        value: "FILE",
        about: "the kubeconfig that it names",
        usual: "/etc/plexus/plexus.kubeconfig",
        completes: "file",
      },
      {
        name: "template",
        value: "FILE",
        about: "Plexus' configuration without a default network: its grants, rules for definitions and other keys",
        completes: "file",
      },
      {
        name: "grants",
        about:
          "adds to the built-in template every capability that a component on CNI_PATH declares, by type, with bounds to fill in",
      },
      cniPathOption,
      {
        name: "multus",
        about:
          "in place of --from, --kubeconfig and --template: after --, the flags of Multus' thin entry point, with their meaning",
      },
    ],
    attention: "no configuration is possible; nothing was written",
    run: async (line) => (await import("../configure.ts")).configureCommand(line),
  },
  {
    name: "migrate",
    summary: "prints Helm values that mean the same as Multus' configuration",
    synopsis: "[FILE|DIRECTORY|-]...",
    count: [0, Infinity],
    completes: "file",
    details:
      "Keys without a counterpart are comments, each with its reason. FILE is 00-multus.conf, 00-multus.conflist, daemon-config.json, or a " +
      "ConfigMap with such a file; - is stdin; DIRECTORY (/etc/cni/net.d) counts by its first configuration with Multus. With --check, the command " +
      "lists NetworkAttachmentDefinitions and pods that behave differently with these values, and why.",
    options: [
      { name: "check", about: "lists definitions and pods that behave differently" },
      {
        name: "kubeconfig",
        value: "FILE",
        about: "for --check: the cluster whose API has them; needs the right to list both",
        completes: "file",
      },
      {
        name: "objects",
        value: "FILE",
        about:
          "for --check, instead: what `kubectl get pods,network-attachment-definitions -A -o json` prints; a file, a directory, or - for stdin",
        completes: "file",
      },
      { name: "strict", about: 'for --check: as without profile "multus", so that rules for definitions apply' },
      { name: "cni-path", value: "DIR[:DIR…]", about: "for --check: directories of plugins", usual: "/opt/cni/bin" },
    ],
    forms: ["yaml", "json", "table", "wide", "name"],
    names: "for --check: each definition and pod",
    attention: "an unreadable configuration; for --check: a difference",
    run: async (line) => (await import("../migrate.ts")).migrateCommand(line),
  },
];
