// What has to be there before anything is begun: a step without its plugin, or in a version that nobody speaks, could neither be ended
// nor undone.

import { toVersion } from "../../src/cni/versions.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { AttachmentPlan } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";
import { itselfIn } from "./itself.ts";
import { notFound } from "./plugin-finder.ts";
import type { DelegateRunner } from "./step-runner.ts";

/**
 * That every step of every attachment has its plugin, and that components, those that a native plugin calls for IPAM too,
 * are admitted with what they are granted. Faults: VERSION_UNSUPPORTED, CONFIG_INVALID (plexus in its own chain), PLUGIN_NOT_FOUND, and those of admission, with network and type.
 */
export async function requirePlugins(
  context: Pick<CallContext, "call" | "configuration" | "plugins">,
  delegates: Pick<DelegateRunner, "admit">,
  attachments: readonly Pick<AttachmentPlan, "source" | "list">[],
): Promise<Result<void>> {
  await Promise.all(attachments.flatMap(typesOf).map((type) => context.plugins.find(type)));
  for (const { source, list } of attachments) {
    const version = toVersion(list.cniVersion);
    if (!version.ok) return failed({ ...version.fault, msg: `network ${source}: ${version.fault.msg}` });
    for (const { type, ipamType, document } of list.plugins) {
      const itself = itselfIn(document.parsed, context.configuration);
      if (itself !== undefined) {
        const why = `type "${itself}" can't be a plugin of a network that plexus attaches: it would be plexus itself`;
        return failed(fault("CONFIG_INVALID", `network ${source}: ${why}`));
      }
      const own = await requireOne(context, delegates, type, true);
      // A native plugin may do its IPAM itself, whatever type its configuration names: that one need not be there.
      const ipam = ipamType === undefined || !own.ok ? own : await requireOne(context, delegates, ipamType, false);
      if (!ipam.ok) return failed({ ...ipam.fault, msg: `network ${source}: ${ipam.fault.msg}` });
    }
  }
  return ok(undefined);
}

/** The types of an attachment's steps, and of what they call for IPAM. */
export function typesOf({ list }: Pick<AttachmentPlan, "list">): readonly string[] {
  return list.plugins.flatMap(({ type, ipamType }) => (ipamType === undefined ? [type] : [type, ipamType]));
}

async function requireOne(
  { call, configuration, plugins }: Pick<CallContext, "call" | "configuration" | "plugins">,
  delegates: Pick<DelegateRunner, "admit">,
  type: string,
  must: boolean,
): Promise<Result<void>> {
  const found = await plugins.find(type);
  if (found.what === "component") return delegates.admit(configuration, type, found);
  return found.what === "nothing" && must ? failed(notFound(type, call.path, found.path)) : ok(undefined);
}
