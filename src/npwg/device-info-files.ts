// Where device information is exchanged (Device Information Specification 1.1.0): the device plugin's file, and the file
// that one attachment's plugins read and write, whose path they get as the capability CNIDeviceInfoFile.

/** Below it all such files are; it is gone after a reboot. */
export const deviceInfoDirectory = "/var/run/k8s.cni.cncf.io/devinfo";

/** The capability by which a plugin asks for the path. */
export const deviceInfoCapability = "CNIDeviceInfoFile";

/** The files of one attachment. */
export interface DeviceInfoFiles {
  /** What its plugins read and write. */
  readonly path: string;
  /** The device plugin's file, which `path` begins as a copy of; undefined where no device was allocated. */
  readonly allocated: string | undefined;
}

/** The file that a device plugin writes for one device of one resource (`example.com/nic`). */
export function devicePluginFile(resourceName: string, deviceId: string): string {
  return `${deviceInfoDirectory}/dp/${flat(`${resourceName}-${deviceId}`)}-device.json`;
}

/** The file of one attachment: no two of a node share both names, and no container ID has an @. */
export function attachmentFile(containerId: string, ifname: string): string {
  return `${deviceInfoDirectory}/cni/${flat(`${containerId}@${ifname}`)}-device.json`;
}

/** What an attachment's network and device ask for. */
export interface DeviceInfoNeed {
  /** Capabilities that any of its plugins declares. */
  readonly capabilities: readonly string[];
  readonly containerId: string;
  readonly ifname: string;
  /** The definition's resource, and the device of it that the pod was given. */
  readonly resourceName: string | undefined;
  readonly deviceId: string | undefined;
}

/** The attachment's files; undefined where no plugin asks for one and no device was allocated that could have been described. */
export function deviceInfoFiles(need: DeviceInfoNeed): DeviceInfoFiles | undefined {
  const { capabilities, containerId, ifname, resourceName, deviceId } = need;
  const allocated = resourceName === undefined || deviceId === undefined ? undefined : devicePluginFile(resourceName, deviceId);
  if (allocated === undefined && !capabilities.includes(deviceInfoCapability)) return undefined;
  return { path: attachmentFile(containerId, ifname), allocated };
}

/** As the specification writes it: a resource's "/" becomes "-". Nothing else could lead out of the directory. */
function flat(name: string): string {
  return name.replaceAll("/", "-");
}
