// Files by which other programs learn of a claim's exclusive PCI devices: device information for Multus and KubeVirt (Device Information Specification 1.1.0),
// and environment variables of the containers (Container Device Interface 0.6.0).

import { driverName } from "./names.ts";
import type { ClaimedLink, PreparedClaim } from "./prepared-claim.ts";

/** The kind of the devices in CDI specifications. */
const cdiKind = `${driverName}/claim`;

/** An exclusive PCI device of a claim. */
export interface ExclusiveDevice {
  readonly request: string;
  readonly pciAddress: string;
  readonly resourceName: string | undefined;
}

/** The exclusive PCI devices of a claim. */
export function exclusiveDevices({
  networks,
  devices = [],
}: Pick<PreparedClaim, "networks" | "devices">): readonly ExclusiveDevice[] {
  return [...networks, ...devices].flatMap(({ request, link }: { readonly request: string; readonly link: ClaimedLink }) =>
    link.isExclusive && link.pciAddress !== undefined
      ? [{ request, pciAddress: link.pciAddress, resourceName: link.resourceName }]
      : [],
  );
}

/** The device information of a PCI device. */
export function pciDeviceInfo(pciAddress: string): object {
  return { type: "pci", version: "1.1.0", pci: { "pci-address": pciAddress } };
}

/** The CDI device of a request, which the kubelet names to the runtime. A CDI device has no `/` in its name. */
export function cdiDeviceId(uid: string, request: string): string {
  return `${cdiKind}=${cdiName(uid, request)}`;
}

/** The name of the claim's CDI specification. */
export function cdiFile(uid: string): string {
  return `${cdiKind.replace("/", "-")}_${uid}.json`;
}

/**
 * The CDI specification of a claim: one device for each request, which may have several links; CDI refuses a name that occurs twice. `PLEXUS_PCI_REQUEST` has
 * the request's addresses, and `PCIDEVICE_RESOURCE`, as the device plugin of SR-IOV names it, all addresses that the claim has of the resource.
 */
export function cdiSpecification(uid: string, devices: readonly ExclusiveDevice[]): object {
  const ofResource = Map.groupBy(devices, ({ resourceName }) => resourceName);
  return {
    cdiVersion: "0.6.0",
    kind: cdiKind,
    devices: [...Map.groupBy(devices, ({ request }) => request)].map(([request, own]) => {
      const env = [`PLEXUS_PCI_${variable(request)}=${addressesOf(own)}`];
      for (const resourceName of new Set(own.map((each) => each.resourceName)))
        if (resourceName !== undefined)
          env.push(`PCIDEVICE_${variable(resourceName)}=${addressesOf(ofResource.get(resourceName) ?? [])}`);
      return { name: cdiName(uid, request), containerEdits: { env } };
    }),
  };
}

function addressesOf(devices: readonly ExclusiveDevice[]): string {
  return devices.map(({ pciAddress }) => pciAddress).join(",");
}

function cdiName(uid: string, request: string): string {
  return `${uid}-${request.replaceAll("/", ".")}`;
}

function variable(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}
