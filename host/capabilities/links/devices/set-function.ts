// The operation `set-vf`: settings of a virtual function, which `give-back`, a GC and an undo restore.

import { fault } from "../../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../../src/fault/result.ts";
import type { LinksVfSettings } from "../../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { VfSettings } from "../../../system/netlink/virtual-function.ts";
import { type DeviceScope, misused } from "../link-scope.ts";
import type { LinkTransaction } from "../link-transaction.ts";
import { linksAt, selectDevice } from "./find-device.ts";
import type { FunctionKey, FunctionRecord } from "./function-record.ts";
import { functionPlace, readFunction, restoreFunction, setFunction } from "./restore-function.ts";

/** Sets a granted virtual function that no other attachment has. Faults: NOT_GRANTED, NETLINK_FAILED, STORE_FAILED. */
export async function setVf(transaction: LinkTransaction, wanted: LinksVfSettings): Promise<Result<void>> {
  const { scope, effects, namespaces, label } = transaction;
  const { devices, attachment, type } = scope;
  if (attachment === undefined || devices === undefined)
    return failed(misused(`${label}: a ${scope.verb} call has no pod, and so no virtual function`));
  if (!(await effects.flush())) return transaction.failed();
  const { store, sysfs, network, containerId } = devices;
  const { pciAddress } = wanted;
  const links = await linksAt(namespaces, "host");
  if (!links.ok) return links;
  const found = selectDevice(scope, sysfs, links.value, { deviceId: pciAddress }, label);
  if (!found.ok) return found;
  if (found.value === undefined)
    return failed(fault("NETLINK_FAILED", `links: ${label}: the node has no device with the PCI address ${pciAddress}`));
  const { link } = found.value;
  if (link === undefined && sysfs.hasLink({ bus: "pci", name: pciAddress })) {
    const why = "its link is in another network namespace; it is free after the DEL of the attachment that has it";
    return failed(fault("NETLINK_FAILED", `links: ${label}: virtual function ${pciAddress} cannot be set: ${why}`));
  }
  const place = functionPlace(sysfs, links.value, pciAddress, label);
  if (!place.ok) return place;
  const key = { containerId, ifname: attachment.ifname, pciAddress };
  const freed = await freeFromOthers(transaction, devices, key, link !== undefined);
  if (!freed.ok) return freed;
  const present = await readFunction(namespaces, place.value, label);
  if (!present.ok) return present;
  const known = store.functions.load(key);
  if (!known.ok) return known;
  const settings = settingsOf(wanted, present.value);
  const before = { ...earlierValues(settings, present.value), ...known.value?.before };
  const record: FunctionRecord = { type, network, ...key, linkMac: known.value?.linkMac ?? link?.mac, before };
  const saved = store.functions.save(record);
  if (!saved.ok) return saved;
  const action = `setting virtual function ${pciAddress}`;
  effects.record({ action, run: () => undoSetting(transaction, devices, record) });
  const own = link === undefined || settings.mac === undefined ? undefined : { link, mac: settings.mac };
  const reason = await setFunction(namespaces, place.value, settings, own);
  return reason === undefined ? ok(undefined) : failed(fault("NETLINK_FAILED", `links: ${label}: ${reason}`));
}

/** Restores what an attachment without DEL has set: its pod is gone if the link is on the node again. */
async function freeFromOthers(
  { namespaces, label }: LinkTransaction,
  { store, sysfs }: DeviceScope,
  { containerId, ifname, pciAddress }: FunctionKey,
  isOnNode: boolean,
): Promise<Result<void>> {
  const listed = store.functions.list();
  if (!listed.ok) return listed;
  const { records, damaged } = listed.value;
  // A damaged record may be that of this function: its earlier settings are unknown.
  const lost = damaged.find(({ podName }) => podName === pciAddress.replaceAll(":", "-"));
  if (lost !== undefined) return failed(lost.fault);
  for (const other of records) {
    if (other.pciAddress !== pciAddress || (other.containerId === containerId && other.ifname === ifname)) continue;
    const reason = isOnNode
      ? await restoreFunction(namespaces, sysfs, store.functions, other)
      : `it belongs to container ${other.containerId}, network ${other.network}, as ${other.ifname}; it is free after the DEL of that attachment`;
    if (reason !== undefined)
      return failed(fault("NETLINK_FAILED", `links: ${label}: virtual function ${pciAddress} cannot be set: ${reason}`));
  }
  return ok(undefined);
}

/** The settings that the operation asks for. Of two rates an absent one stays unchanged. */
function settingsOf(wanted: LinksVfSettings, present: VfSettings): VfSettings {
  const { mac, vlan, vlanQos, vlanServiceTag, minRate, maxRate, spoofCheck, trust, linkState } = wanted;
  const setsRate = minRate !== undefined || maxRate !== undefined;
  return {
    mac: mac?.toLowerCase(),
    vlan: vlan === undefined ? undefined : { id: vlan, qos: vlanQos ?? 0, serviceTag: vlanServiceTag },
    rate: setsRate ? { min: minRate ?? present.rate?.min ?? 0, max: maxRate ?? present.rate?.max ?? 0 } : undefined,
    spoofCheck,
    trust,
    linkState,
  };
}

/** The present values of what changes. A flag that the driver does not tell is restored to the safe value. */
function earlierValues(settings: VfSettings, present: VfSettings): VfSettings {
  const { mac, vlan, rate, spoofCheck, trust, linkState } = settings;
  return {
    ...(mac === undefined ? {} : { mac: present.mac }),
    ...(vlan === undefined ? {} : { vlan: present.vlan ?? { id: 0, qos: 0, serviceTag: false } }),
    ...(rate === undefined ? {} : { rate: present.rate ?? { min: 0, max: 0 } }),
    ...(spoofCheck === undefined ? {} : { spoofCheck: present.spoofCheck ?? true }),
    ...(trust === undefined ? {} : { trust: present.trust ?? false }),
    ...(linkState === undefined ? {} : { linkState: present.linkState ?? "auto" }),
  };
}

/** The undo of `take-device` restores the settings with the device, so that nothing may be left to do. */
async function undoSetting(
  { namespaces }: LinkTransaction,
  { store, sysfs }: DeviceScope,
  record: FunctionRecord,
): Promise<string | undefined> {
  const current = store.functions.load(record);
  if (current.ok && current.value === undefined) return undefined;
  return restoreFunction(namespaces, sysfs, store.functions, (current.ok ? current.value : undefined) ?? record);
}
