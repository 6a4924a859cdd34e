// An attachment's device: where its description is exchanged with its plugins, and what came of it.

import type { CniResult } from "../../src/cni/result.ts";
import { ok, type Result } from "../../src/fault/result.ts";
import { type DeviceInfo, deviceInfoOf } from "../../src/npwg/device-info.ts";
import { deviceInfoCapability, deviceInfoFiles } from "../../src/npwg/device-info-files.ts";
import { prepareDeviceInfo, readDeviceInfoFile } from "../device-info/device-info-file.ts";
import type { AttachmentPlan } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";

/** The plan with a file for device information, where it has a device or a plugin that asks for the file (DI-07). */
export function withDeviceInfo(plan: AttachmentPlan): AttachmentPlan {
  const { attachment, device, list } = plan;
  // What the runtime gave is the runtime's own file.
  if (attachment.capabilityArgs.has(deviceInfoCapability)) return plan;
  const files = deviceInfoFiles({
    capabilities: list.plugins.flatMap((plugin) => plugin.capabilities),
    containerId: attachment.containerId,
    ifname: attachment.ifname,
    resourceName: device?.resourceName,
    deviceId: device?.deviceId,
  });
  if (files === undefined) return plan;
  const capabilityArgs = new Map([...attachment.capabilityArgs, [deviceInfoCapability, JSON.stringify(files.path)]]);
  return { ...plan, attachment: { ...attachment, capabilityArgs }, deviceInfo: files };
}

/** Before the chain runs: the file's directory, and the device plugin's words as its first content. Fault STORE_FAILED. */
export function prepareDevice({ warn }: Pick<CallContext, "warn">, { deviceInfo }: AttachmentPlan): Result<void> {
  if (deviceInfo === undefined) return ok(undefined);
  return prepareDeviceInfo(deviceInfo, (cause) => warn(`${cause.msg}: the attachment goes on without it`));
}

/**
 * After the chain: what the file says, else what the result says of the device itself; undefined where neither says
 * anything. A file that can't be used is told of, and no failure: only the status would have had it.
 */
export function deviceOf(
  { warn }: Pick<CallContext, "warn">,
  { deviceInfo, source }: AttachmentPlan,
  result: CniResult,
): DeviceInfo | undefined {
  const told = deviceInfo === undefined ? ok(undefined) : readDeviceInfoFile(deviceInfo.path);
  if (!told.ok) warn(`network ${source}: ${told.fault.msg}: the status goes without it`);
  return (told.ok ? told.value : undefined) ?? deviceInfoOf(result);
}
