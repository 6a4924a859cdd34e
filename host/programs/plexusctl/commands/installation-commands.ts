// Commands that install and remove Plexus.

import type { Command } from "../../../node/command-line/command.ts";
import {
  cniPathOption,
  configOption,
  dryRunOption,
  stateDirOption,
  statusSocketOption,
} from "../../../node/command-line/common-options.ts";

/** The commands. */
export const installationCommands: readonly Command[] = [
  {
    name: "install",
    summary: "installs Plexus on a node while pods start",
    details:
      "Each file is replaced by one rename, after the new programs have run once. A file that has the right content is not written. At last the node's Node " +
      "makes V8's code caches of the programs, with which they start faster.",
    options: [
      {
        name: "from",
        value: "DIR",
        about: "the release to install: an unpacked release or a build",
        usual: "the directory of this plexusctl",
        completes: "directory",
      },
      {
        name: "home",
        value: "DIR",
        about: "the directory of engine and Node on the node",
        usual: "/opt/plexus",
        completes: "directory",
      },
      {
        name: "cni-bin",
        value: "DIR",
        about: "the node's directory of plugins",
        usual: "/opt/cni/bin",
        completes: "directory",
      },
      {
        name: "root",
        value: "DIR",
        about: "where the node's root directory is mounted, for an installer in a container",
        usual: "/",
        completes: "directory",
      },
      {
        name: "one-shot",
        value: "WAY",
        about: "node or off; off: only shim and components are installed, so calls need the daemon",
        usual: "node",
        choices: ["node", "off"],
      },
      { name: "components", value: "LIST", about: "all, none, or names separated by commas", usual: "all" },
      {
        name: "own-caches",
        about: "also makes V8's code cache for sandbox processes of the release at --from, for a daemon that runs from an image",
      },
      {
        name: "remove",
        about: "removes what an installation wrote and nobody changed; no pod may need it for its DEL any more",
      },
      {
        name: "if-unneeded",
        about: "for --remove: asks the daemon, and removes nothing if a pod of this node may need the files",
      },
      {
        name: "purge-state",
        value: "DIR",
        about: "for --if-unneeded: removes this state directory, too",
        completes: "directory",
      },
      { ...statusSocketOption, about: "for --if-unneeded: the daemon's status socket" },
      dryRunOption,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each path that was written or removed",
    attention: "not installed; the node has what it had. For --remove: a file could not be removed",
    run: async (line) => (await import("../install.ts")).installCommand(line),
  },
  {
    name: "uninstall",
    summary: "deactivates Plexus' network configuration, and removes Plexus' files once no pod is attached",
    details:
      "With --wait, for a daemon that writes the configuration: new pods get the default network only; once no pod has other networks, or after " +
      "--timeout, the daemon removes the configuration.",
    options: [
      dryRunOption,
      { name: "force", about: "removes the files although attached pods need them for DEL" },
      { name: "wait", about: "waits for the pods, and lets the daemon remove its configuration" },
      { name: "timeout", value: "SECONDS", about: "for --wait: 0 to 86400", usual: "600" },
      { name: "cancel", about: "ends the removal that --wait began: new pods get their networks again" },
      {
        name: "hold",
        about: "the removal ends a minute after the last command with --hold; without --wait the command runs until it is killed",
      },
      {
        name: "cni-config-dir",
        value: "DIR",
        about:
          "for --wait and --hold: the runtime's directory; if no daemon answers for 20 s, Plexus' configuration is removed from it",
        completes: "directory",
      },
      { ...configOption, about: "the directory of network configurations", completes: "directory" },
      cniPathOption,
      statusSocketOption,
      stateDirOption,
    ],
    forms: ["table", "wide", "json", "yaml", "name"],
    names: "each path that was removed; for --wait: each pod that remains",
    attention: "the removal is unfinished",
    run: async (line) => (await import("../uninstall-command.ts")).uninstallCommand(line),
  },
];
