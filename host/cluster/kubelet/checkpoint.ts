// The kubelet's checkpoint of device allocations, for nodes without the pod-resources service, in the order of the kubelet's
// file.

import { readFileSync, statSync } from "node:fs";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import type { AllocatedDevices } from "../../../src/npwg/device-id.ts";
import { errnoOf } from "../../store/files/errno.ts";

const maxBytes = 16 * 1024 * 1024;

/** The devices of the pod with this uid; undefined without a checkpoint file. Fault KUBELET_UNREADABLE. */
export function checkpointDevices(path: string, podUid: string): Result<readonly AllocatedDevices[] | undefined> {
  let parsed: unknown;
  try {
    if (statSync(path).size > maxBytes) return unreadable(path, `has more than ${maxBytes} bytes`);
    parsed = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return ok(undefined);
    return unreadable(path, error instanceof Error ? error.message : String(error));
  }
  const data = isJsonObject(parsed) ? parsed["Data"] : undefined;
  const entries = isJsonObject(data) ? (data["PodDeviceEntries"] ?? []) : undefined;
  if (!Array.isArray(entries)) return unreadable(path, "has no list Data.PodDeviceEntries");
  const devices: AllocatedDevices[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (!isJsonObject(entry) || entry["PodUID"] !== podUid) continue;
    const resourceName = entry["ResourceName"];
    if (typeof resourceName !== "string") return unreadable(path, "has an entry without a ResourceName");
    devices.push({ resourceName, deviceIds: idsIn(entry["DeviceIDs"]) });
  }
  return ok(devices);
}

/** A list of ids; since Kubernetes 1.20 one list for each NUMA node. */
function idsIn(value: unknown): readonly string[] {
  const lists = isJsonObject(value) ? Object.values(value) : [value];
  return lists.flat().filter((each): each is string => typeof each === "string");
}

function unreadable(path: string, why: string): Result<never> {
  return failed(fault("KUBELET_UNREADABLE", `the kubelet's checkpoint ${path}: ${why}`));
}
