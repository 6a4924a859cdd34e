// The times at which devices got their taints. The API server fills a missing timeAdded at each write, so that each change of the pool would begin the
// tolerationSeconds of running pods anew.

import { isJsonObject } from "../../../src/json/document.ts";

/** The times as RFC 3339, by device, key and effect. */
export type TaintTimes = ReadonlyMap<string, string>;

/** The times in the devices of a stored slice. */
export function taintTimesOf(devices: unknown): TaintTimes {
  const times = new Map<string, string>();
  for (const device of objectsIn(devices))
    for (const taint of objectsIn(device["taints"])) {
      const { timeAdded } = taint;
      if (typeof timeAdded === "string") times.set(idOf(device, taint), timeAdded);
    }
  return times;
}

/** The devices with the known times of their taints. */
export function withTaintTimes(devices: readonly object[], times: TaintTimes): readonly object[] {
  return devices.map((device) => {
    const taints = isJsonObject(device) ? objectsIn(device["taints"]) : [];
    if (!isJsonObject(device) || taints.length === 0) return device;
    const timed = taints.map((taint) => {
      const timeAdded = times.get(idOf(device, taint));
      return timeAdded === undefined ? taint : { ...taint, timeAdded };
    });
    return { ...device, taints: timed };
  });
}

function idOf(device: Readonly<Record<string, unknown>>, taint: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([device["name"], taint["key"], taint["effect"]]);
}

function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
}
