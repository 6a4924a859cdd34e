// The device of an attachment. Plexus and the plugins exchange its description by a file (Device Information Specification).

import type { CniResult } from "../../../src/cni/result.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { type DeviceInfo, deviceInfoOf, deviceInfoCapability, deviceInfoFiles } from "../../../src/npwg/device-info.ts";
import { prepareDeviceInfo, readDeviceInfoFile } from "../../cluster/device-info/device-info-file.ts";
import type { AttachmentPlan } from "../planned/attachment-plan.ts";
import type { Call } from "../call.ts";

/** The plan with a device information file, if the attachment has a device or a plugin asks for the file (DI-07). */
export function withDeviceInfo(plan: AttachmentPlan): AttachmentPlan {
  const { attachment, device, list, claimedDevice } = plan;
  // A file that the runtime names is the runtime's own.
  if (attachment.capabilityArgs.has(deviceInfoCapability)) return plan;
  const files = deviceInfoFiles({
    capabilities: list.plugins.flatMap((plugin) => plugin.capabilities),
    containerId: attachment.containerId,
    ifname: attachment.ifname,
    resourceName: device?.resourceName,
    deviceId: device?.deviceId,
    content: claimedDevice === undefined ? undefined : JSON.stringify(claimedDevice),
  });
  if (files === undefined) return plan;
  const capabilityArgs = new Map([...attachment.capabilityArgs, [deviceInfoCapability, JSON.stringify(files.path)]]);
  return { ...plan, attachment: { ...attachment, capabilityArgs }, deviceInfo: files };
}

/**
 * Makes the file's directory before the chain runs. The first content is what the device plugin has published about the device.
 * Fault: STORE_FAILED.
 */
export function prepareDevice({ warn }: Call, { deviceInfo }: AttachmentPlan): Result<void> {
  if (deviceInfo === undefined) return ok(undefined);
  return prepareDeviceInfo(deviceInfo, (cause) =>
    warn(`${cause.msg}; the attachment's device information file is not prefilled`),
  );
}

/**
 * The device information after the chain: from the file, otherwise from the result; undefined if neither has any. An unusable file
 * causes a warning and no failure, because only the pod's network status needs the information.
 */
export function deviceOf({ warn }: Call, { deviceInfo, source }: AttachmentPlan, result: CniResult): DeviceInfo | undefined {
  const read = deviceInfo === undefined ? ok(undefined) : readDeviceInfoFile(deviceInfo.path);
  if (!read.ok) warn(`network ${source}: ${read.fault.msg}; the network status has no device information from this file`);
  return (read.ok ? read.value : undefined) ?? deviceInfoOf(result);
}
