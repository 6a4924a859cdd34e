// Checks before an ADD that every step has its plugin and that the plugin supports the network's CNI version. Otherwise a step could
// neither run nor be undone. Native plugins are asked for their versions only if the network's version is before 0.3.0, which many plugins do not
// support (portmap, tuning). For later versions the answer is nearly always yes, and asking would slow down every ADD. If a plugin does refuse a
// later version, its step fails, and the DEL of the other steps still works.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { RunStep } from "../../../src/cni/chains.ts";
import { type EnvironmentPair, stepEnvironment } from "../../../src/cni/environment.ts";
import { type NetworkList, type PluginConf, pluginTypes } from "../../../src/cni/network-list.ts";
import { readVersionAnswer, VERSION_PROBE_CALL, VERSION_PROBE_STDIN } from "../../../src/cni/version-answer.ts";
import { type CniVersion, DEFAULT_VERSION, toVersion, versionAtLeast } from "../../../src/cni/versions.ts";
import { executesIpam } from "../../../src/cni/reference-plugins.ts";
import { grantsFor, plexusTypeIn } from "../../../src/configuration/definition-policy.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { nativePluginRefusal } from "../../../src/npwg/definition-plugins.ts";
import type { Found } from "../../protocol/messages.ts";
import type { Call } from "../call.ts";
import { notFound } from "../call/plugin-finder.ts";
import type { BoundNetwork, SourcedNetwork } from "../planned/attachment-plan.ts";

/**
 * Checks that every step of every attachment has its plugin. A component, also one that a native plugin calls for IPAM, must be
 * admitted with its grants and must support the network's version. Faults, with network and type: VERSION_UNSUPPORTED,
 * CONFIG_INVALID (Plexus in its own chain), PLUGIN_NOT_FOUND, and those of admission.
 */
export async function requirePlugins(call: Call, attachments: readonly SourcedNetwork[]): Promise<Result<void>> {
  await Promise.all(attachments.flatMap(({ list }) => pluginTypes(list)).map((type) => call.plugins.find(type)));
  for (const attachment of attachments) {
    const { source, list } = attachment;
    const version = toVersion(list.cniVersion);
    if (!version.ok) return failed({ ...version.fault, msg: `network ${source}: ${version.fault.msg}` });
    const forbidden = await forbiddenPlugin(call, attachment);
    if (forbidden !== undefined) return failed(forbidden);
    const { binding } = attachment;
    for (const plugin of list.plugins) {
      const { type, ipamType, document } = plugin;
      const plexusType = plexusTypeIn(document.parsed, call.configuration);
      if (plexusType !== undefined) {
        const why = `type "${plexusType}" can't be a plugin of a network that plexus attaches: it would be plexus itself`;
        return failed(fault("CONFIG_INVALID", `network ${source}: ${why}`));
      }
      const found = await requireOne(call, { type, binding, version: version.value, must: true });
      // Without this check the step fails, and so does its DEL: the pod stays in Terminating until DEL is given up.
      const ipam =
        ipamType === undefined || !found.ok
          ? found
          : await requireOne(call, { type: ipamType, binding, version: version.value, must: executesIpam(type) });
      if (!ipam.ok) return failed({ ...ipam.fault, msg: `network ${source}: ${ipam.fault.msg}` });
    }
  }
  return refuseVersions(call, attachments);
}

/** Asks native plugins for their versions. This check comes last, because it executes plugins. */
async function refuseVersions(
  { request, inherited, plugins, runStep }: Call,
  attachments: readonly SourcedNetwork[],
): Promise<Result<void>> {
  for (const { source, list } of attachments.filter((each) => mayLackVersion(each.list))) {
    for (const plugin of list.plugins) {
      const found = await plugins.find(plugin.type);
      if (found.what !== "native") continue;
      const run = runStep({ network: list.name, ifname: "" }, stepMs);
      const refusal = await versionRefusal(list, { plugin, found, path: request.path, inherited, run });
      if (refusal !== undefined) return failed({ ...refusal, msg: `network ${source}: ${refusal.msg}` });
    }
  }
  return ok(undefined);
}

/** The fault of the first native plugin that the attachment's definition may not use: DEFINITION_FORBIDDEN. */
async function forbiddenPlugin({ configuration, plugins }: Call, { binding }: BoundNetwork): Promise<Fault | undefined> {
  for (const { type, ipamType, document } of binding?.plugins ?? []) {
    if (binding === undefined || (await plugins.find(type)).what !== "native") continue;
    const isIpamComponent = ipamType !== undefined && (await plugins.find(ipamType)).what === "component";
    const isComponent = (each: string): boolean => each === ipamType && isIpamComponent;
    const plugin = { type, configuration: document.parsed, isComponent };
    const refused = nativePluginRefusal(configuration.definitions, binding.definition, plugin);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

interface RequiredPlugin {
  readonly binding: BoundNetwork["binding"];
  readonly type: string;
  readonly version: CniVersion;
  /** Whether the plugin must exist. */
  readonly must: boolean;
}

async function requireOne(
  { request, configuration, plugins, delegates }: Call,
  { type, binding, version, must }: RequiredPlugin,
): Promise<Result<void>> {
  const found = await plugins.find(type);
  if (found.what === "component") {
    const definition = binding?.definition;
    const admitted = await delegates.admit(
      { type, definition, grants: grantsFor(configuration, definition, type) },
      found,
      version,
    );
    const { prefer } = configuration.wasm;
    const chosen = typeof prefer === "boolean" ? prefer : prefer.includes(type);
    if (admitted.ok || admitted.fault.kind !== "CAPABILITY_NOT_GRANTED" || chosen) return admitted;
    const why = `no native plugin "${type}" is in ${searchedDirectories(request.path, found.path)}; the component that was found lacks a grant`;
    return failed({ ...admitted.fault, msg: `${why}: ${admitted.fault.msg}` });
  }
  return found.what === "nothing" && must ? failed(notFound(type, request.path, found.path)) : ok(undefined);
}

/** The directories of CNI_PATH that the search has read: up to the directory of the found file. */
function searchedDirectories(path: string, found: string): string {
  const directories = path.split(":").filter((directory) => directory !== "");
  const last = directories.findIndex((directory) => found === `${directory.replace(/\/+$/u, "")}/${found.split("/").at(-1)}`);
  return directories.slice(0, last === -1 ? undefined : last + 1).join(", ");
}

/** Maximum milliseconds for a plugin's answer to VERSION. */
const stepMs = 5000;
/** Maximum number of binaries in the cache of answers. */
const maxBinaries = 256;

/** The supported versions by path and identity of the binary. A replaced file has another identity. */
const answers = new Map<string, readonly string[]>();

/** One native plugin of a chain, and the means to execute it for VERSION. */
interface VersionQuestion {
  readonly plugin: PluginConf;
  readonly found: Found;
  /** The call's CNI_PATH, on which the shim finds the binary. */
  readonly path: string;
  readonly inherited: readonly EnvironmentPair[];
  readonly run: RunStep;
}

/** Whether the network's version is so old that current plugins may not support it. */
function mayLackVersion({ cniVersion }: NetworkList): boolean {
  const recent = versionAtLeast(cniVersion, "0.3.0");
  return recent.ok && !recent.value;
}

/**
 * The fault VERSION_UNSUPPORTED if the plugin says that it does not support the network's version; otherwise undefined, also if the
 * plugin does not answer.
 */
async function versionRefusal({ cniVersion }: NetworkList, question: VersionQuestion): Promise<Fault | undefined> {
  const version = cniVersion === "" ? DEFAULT_VERSION : cniVersion;
  const versions = await versionsOf(question);
  if (versions === undefined || versions.includes(version)) return undefined;
  const { plugin, found } = question;
  const why = `${plugin.type}: the network's cniVersion is "${version}", plugin ${found.path} supports ${versions.join(", ")}`;
  return fault("VERSION_UNSUPPORTED", why);
}

async function versionsOf({ plugin, found, path, inherited, run }: VersionQuestion): Promise<readonly string[] | undefined> {
  const key = `${found.path}:${found.identity}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const step: ChainStep = {
    index: 0,
    plugin,
    verb: "VERSION",
    stdin: VERSION_PROBE_STDIN,
    env: stepEnvironment({ ...VERSION_PROBE_CALL, path }, inherited),
    prevResult: undefined,
    attachment: undefined,
  };
  const read = readVersionAnswer(await run(step));
  if (!read.ok) return undefined;
  if (answers.size >= maxBinaries) answers.clear();
  answers.set(key, read.value);
  return read.value;
}
