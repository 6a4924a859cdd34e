// Whether this node can run Plexus: each check with what was found, why it matters, and the remedy.

import type { NodePlaces } from "../command-line/common-options.ts";
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { statsOf } from "../../store/files/stats-of.ts";
import { lint } from "../lint/lint.ts";
import { readHostSettings } from "../explain/host-settings.ts";
import { checkKubeconfig } from "./check-kubeconfig.ts";
import { checkKernel, type KernelProbe } from "./kernel-probe.ts";
import { nativeUses, nativeUseText } from "./native-plugins.ts";
import { networkProbes } from "./network-probes.ts";
import { failed, type NodeCheck, noted, passed, verdict, warned } from "./node-check.ts";
import { nodeNetworks } from "./node-networks.ts";

/** The node as the checks see it. */
export interface CheckedNode extends NodePlaces {
  /** The directory of the installation. */
  readonly home: string;
  readonly nodeVersion: string;
  /** Why no daemon answers; undefined: a daemon answers. */
  readonly silent: string | undefined;
  /** Number of agents that are connected to the daemon; undefined: unknown. */
  readonly agents: number | undefined;
  /** Loads the C library through Node; answers the reason of a failure. */
  readonly loadLibrary: () => string | undefined;
  /** The remedy of a probe of the kernel that is refused a network namespace. */
  readonly kernelRemedy: string;
  /** The probes of the kernel that the features of this configuration need. */
  readonly featureProbes: (configuration: HostConfiguration) => Promise<readonly KernelProbe[]>;
}

/** The oldest Node that runs the engine. */
const minNode = 26;
const programs = ["plexusd.cjs", "engine/guest-process.cjs", "bin/node", "bin/plexus-sandbox"];
const groupOrOthers = 0o022;

/** Runs all checks, in the order in which an administrator mends them. Never rejects. */
export async function checkNode(checked: CheckedNode): Promise<readonly NodeCheck[]> {
  return [
    checkNodeVersion(checked),
    checkLibrary(checked),
    ...checkPrograms(checked),
    ...checkPlugins(checked),
    await checkConfiguration(checked),
    ...checkNativePlugins(checked),
    ...(await checkConfigured(checked)),
    checkState(checked),
    ...checkDaemon(checked),
  ];
}

function checkNodeVersion({ nodeVersion }: CheckedNode): NodeCheck {
  const isNew = Number.parseInt(nodeVersion, 10) >= minNode;
  const why = `the engine needs Node ${minNode} or newer`;
  return verdict(
    isNew,
    "node-version",
    `Node ${nodeVersion}`,
    why,
    "Install a complete release: plexusctl install brings its Node.",
  );
}

function checkLibrary({ loadLibrary }: CheckedNode): NodeCheck {
  const reason = loadLibrary();
  const why = "the engine calls flock, poll and fcntl of the C library; without them no state can be locked";
  const remedy = "Install a release for this architecture and C library, and start Node without --no-ffi.";
  return verdict(reason === undefined, "c-library", reason ?? "loads", why, remedy);
}

function checkPrograms({ home }: CheckedNode): readonly NodeCheck[] {
  const missing = programs.filter((name) => !existsSync(join(home, name)));
  const found = missing.length === 0 ? `${home} is complete` : `${home} lacks ${missing.join(", ")}`;
  return [
    verdict(
      missing.length === 0,
      "programs",
      found,
      "the shim starts the engine from there",
      "Run plexusctl install again, from a complete release.",
    ),
  ];
}

function checkPlugins({ cniPath }: CheckedNode): readonly NodeCheck[] {
  const directories = cniPath.split(":").filter((each) => each !== "");
  const absent = directories.filter((each) => statsOf(each)?.isDirectory() !== true);
  const shim = directories.map((each) => join(each, "plexus")).find((path) => isExecutable(path));
  const found = absent.length === 0 ? `${directories.join(", ")}: there` : `${absent.join(", ")}: no such directory`;
  return [
    verdict(
      absent.length === 0,
      "plugin-directories",
      found,
      "plugins are looked up there",
      "Create the directory, or name the right ones with --cni-path.",
    ),
    verdict(
      shim !== undefined,
      "shim",
      shim ?? `no executable plexus in ${directories.join(", ")}`,
      "the container runtime executes it for each pod",
      "Run plexusctl install --cni-bin DIR with the runtime's directory of plugins.",
    ),
  ];
}

async function checkConfiguration({ config, cniPath }: CheckedNode): Promise<NodeCheck> {
  const settings = readHostSettings(config, cniPath);
  const why = "a runtime calls Plexus only with a valid configuration, and each step needs its plugin";
  if (!settings.ok)
    return failed("configuration", settings.fault.msg, why, `Correct it: plexusctl lint --node --config ${config}.`);
  if (settings.value === undefined)
    return failed(
      "configuration",
      `${config} has no configuration of Plexus`,
      why,
      "Make it with plexusctl configure, or let the daemon write it.",
    );
  const { path } = settings.value;
  const { findings } = await lint({ files: [path], node: false, objects: [], config, cniPath });
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return passed("configuration", `${path}: its networks would load`);
  const [first] = errors;
  return failed("configuration", `${path}:${first?.line}:${first?.column}: ${first?.message}`, why, first?.remedy ?? "");
}

/** Names the networks whose plugins run as root. With `wasm.prefer: true` that is a warning, because the administrator wants components; else a note. */
function checkNativePlugins({ config, cniPath, stateDir }: CheckedNode): readonly NodeCheck[] {
  const settings = readHostSettings(config, cniPath);
  if (!settings.ok || settings.value === undefined) return [];
  const uses = nativeUses(settings.value, stateDir);
  const found = nativeUseText(uses);
  if (uses.length === 0) return [passed("native-plugins", found)];
  const why = "a native plugin runs as root";
  const components =
    "Nothing, or remove the binaries that have a component, or set wasm.prefer, once the component's grants are there.";
  const missing = "Install the component of each type, in the plugin's directory or an earlier one of CNI_PATH.";
  const isWarning = settings.value.configuration.wasm.prefer === true;
  return [isWarning ? warned("native-plugins", found, why, missing) : noted("native-plugins", found, why, components)];
}

/** The credentials and the parts of the kernel that the configuration needs. */
async function checkConfigured(checked: CheckedNode): Promise<readonly NodeCheck[]> {
  const { config, cniPath, stateDir, statusSocket, featureProbes, kernelRemedy } = checked;
  const settings = readHostSettings(config, cniPath);
  if (!settings.ok || settings.value === undefined) return [];
  const { configuration } = settings.value;
  const probes = [
    ...(await featureProbes(configuration)),
    ...networkProbes(nodeNetworks(settings.value, stateDir), settings.value),
  ];
  return [...(await checkKubeconfig(configuration, statusSocket)), ...(await checkKernel(probes, kernelRemedy))];
}

function checkState({ stateDir }: CheckedNode): NodeCheck {
  const why = "an attachment that cannot be recorded is refused";
  const info = statsOf(stateDir);
  // The first call makes it.
  if (info === undefined)
    return warned(
      "state-directory",
      `${stateDir} does not exist yet`,
      why,
      "Nothing, on a new node; else name cniDir with --state-dir.",
    );
  if (!info.isDirectory())
    return failed("state-directory", `${stateDir} is no directory`, why, "Remove the file, or change cniDir.");
  return verdict(
    isWritable(stateDir),
    "state-directory",
    `${stateDir} is ${isWritable(stateDir) ? "writable" : "not writable"}`,
    why,
    "Run plexusctl as root, or mount the file system writable.",
  );
}

function checkDaemon({ statusSocket, silent, agents }: CheckedNode): readonly NodeCheck[] {
  const socket = statsOf(statusSocket);
  // A daemon with a user of its own (--uid) lets its own group connect, which has the user's number.
  const foreign = socket !== undefined && socket.uid !== 0 && socket.gid === socket.uid ? groupOrOthers & 0o007 : groupOrOthers;
  const isOpen = socket !== undefined && (socket.mode & foreign) !== 0;
  const rights = `mode ${((socket?.mode ?? 0) & 0o777).toString(8)}`;
  const start = "systemctl start plexusd; if that fails, read journalctl -u plexusd.";
  const unknown = "unknown, because no daemon answers";
  const whyAgent = "without an agent the daemon undoes no stale attachment on its own";
  return [
    silent === undefined
      ? passed("daemon", `answers on ${statusSocket}`)
      : warned("daemon", `${statusSocket}: ${silent}`, "each call then starts an engine of its own, which is slower", start),
    socket === undefined
      ? warned("socket-rights", `${statusSocket} does not exist`, "plexusctl asks the daemon there", start)
      : verdict(
          !isOpen,
          "socket-rights",
          `${statusSocket} has ${rights}`,
          "other users could ask the daemon for changes",
          `chmod go-w ${statusSocket}, and restart plexusd with its own umask.`,
        ),
    agents === undefined
      ? warned("agent", unknown, whyAgent, start)
      : agents > 0
        ? passed("agent", `${agents} connected`)
        : warned("agent", "none is connected", whyAgent, "systemctl start plexus-agent."),
  ];
}

function isExecutable(path: string): boolean {
  const info = statsOf(path);
  return info?.isFile() === true && (info.mode & 0o111) !== 0;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
