// Commands about this node: what is attached, what fails, and whether Plexus can run here.

import type { Command } from "../../../node/command-line/command.ts";
import {
  cniPathOption,
  configOption,
  dryRunOption,
  stateDirOption,
  statusSocketOption,
} from "../../../node/command-line/common-options.ts";

const attachmentNames = "NAMESPACE/POD INTERFACE of each attachment";

/** The commands. */
export const nodeCommands: readonly Command[] = [
  {
    name: "status",
    summary: "shows readiness, attachments, networks, address pools, and the last failures with remedies",
    options: [statusSocketOption, stateDirOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: attachmentNames,
    attention: "no daemon answers, it is not ready, an attachment is abandoned, or a DEL fails",
    run: async (line) => (await import("../status.ts")).statusCommand(line),
  },
  {
    name: "attachments",
    summary: "lists all attachments",
    options: [statusSocketOption, stateDirOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: attachmentNames,
    attention: "a part of the state cannot be read, so that attachments may be missing",
    run: async (line) => (await import("../status.ts")).attachmentsCommand(line),
  },
  {
    name: "reconcile",
    summary: "makes the daemon remove stale attachments and leases now",
    options: [dryRunOption, statusSocketOption],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each finding",
    attention: "no daemon answers, it has no agent, or a finding could not be removed",
    run: async (line) => (await import("../reconcile.ts")).reconcileCommand(line),
  },
  {
    name: "doctor",
    summary: "tells whether this node can run Plexus, and what to do about each lack",
    details:
      "As root it also reads the kubeconfig as the daemon's user, and tries the parts of the kernel that policies, Services and the node's networks need, in a network namespace of its own. With --prove-sandbox, the command tries instead what the jail of sandbox processes holds, and runs hostile components that try each limit of a call.",
    options: [
      { name: "prove-sandbox", about: "starts sandbox processes, and tries each control of their jail from inside" },
      {
        name: "isolation",
        value: "LEVEL",
        about: "the level to prove: process or strict",
        usual: "the daemon's",
        choices: ["process", "strict"],
      },
      { name: "sandbox-uids", value: "FIRST:COUNT", about: "as of plexusd" },
      configOption,
      cniPathOption,
      statusSocketOption,
      stateDirOption,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each check, or each control",
    attention: "a check has failed; with --prove-sandbox: the level does not hold, or the daemon is not ready",
    run: async (line) => (await import("../doctor.ts")).doctorCommand(line),
  },
  {
    name: "sysdump",
    summary: "writes one archive about this node, without secrets",
    details:
      "The archive has status, node checks, sandbox proof, findings of lint, the explanation of the node's networks, the last calls, the newest chain traces, " +
      "metrics, versions, kernel features, links, routes, configurations, names of files and the ends of logs. " +
      "Tokens, keys, users of kubeconfigs and foreign annotations are taken out; look through the archive before you publish it. " +
      "contents.json says what was left out.",
    options: [
      {
        name: "output",
        short: "o",
        value: "FILE",
        about: "the archive; -: stdout",
        usual: "plexus-sysdump-HOST.tar.gz",
        completes: "file",
      },
      { name: "max-mib", value: "N", about: "maximum size before compression, 1 to 1000", usual: "20" },
      statusSocketOption,
      stateDirOption,
      { ...configOption, about: "the directory of network configurations", completes: "directory" },
      cniPathOption,
    ],
    attention: "the archive could not be written",
    run: async (line) => (await import("../sysdump.ts")).sysdumpCommand(line),
  },
  {
    name: "ui",
    summary: "shows this node as a page in a browser, or writes the page into a file",
    details:
      "The page only reads, and loads nothing from elsewhere. It is served on 127.0.0.1 until Ctrl-C. Its address has a token that changes with " +
      "each start: give the address to nobody. The page shows names of pods and messages of plugins; a file of --html has them, too.",
    options: [
      { name: "port", value: "N", about: "the port on 127.0.0.1, 0 to 65535; 0: any", usual: "0" },
      {
        name: "html",
        value: "FILE",
        about: "writes the present state as one file instead, which needs no server and no network; -: stdout",
        completes: "file",
      },
      statusSocketOption,
      stateDirOption,
      configOption,
      cniPathOption,
    ],
    attention: "the port is in use, or the file could not be written",
    run: async (line) => (await import("../ui/ui.ts")).uiCommand(line),
  },
];
