// Paths of device information (Device Information Specification 1.1.0): the device plugin's file, and the attachment's file,
// which the attachment's plugins read and write. They get its path as the capability CNIDeviceInfoFile.

/** The directory of all such files, which a reboot removes. */
export const deviceInfoDirectory = "/var/run/k8s.cni.cncf.io/devinfo";

/** The capability of a plugin that wants the path. */
export const deviceInfoCapability = "CNIDeviceInfoFile";

/** The files of one attachment. */
export interface DeviceInfoFiles {
  /** The file that the attachment's plugins read and write. */
  readonly path: string;
  /** The device plugin's file, from which `path` is copied at first; undefined if no device was allocated. */
  readonly allocated: string | undefined;
  /** The first content of `path` without such a file; absent for none. */
  readonly content?: string;
}

/** The device plugin's file for one device of one resource (`example.com/nic`). */
export function devicePluginFile(resourceName: string, deviceId: string): string {
  return `${deviceInfoDirectory}/dp/${flat(`${resourceName}-${deviceId}`)}-device.json`;
}

/** The file of one attachment. Its name is unique on a node, because a container ID contains no @. */
export function attachmentFile(containerId: string, ifname: string): string {
  return `${deviceInfoDirectory}/cni/${flat(`${containerId}@${ifname}`)}-device.json`;
}

/** Facts about an attachment's network and device. */
export interface DeviceInfoNeed {
  /** Capabilities that at least one of its plugins declares. */
  readonly capabilities: readonly string[];
  readonly containerId: string;
  readonly ifname: string;
  /** The definition's resource, and the pod's device of it. */
  readonly resourceName: string | undefined;
  readonly deviceId: string | undefined;
  /** Device information that is known without a device plugin. */
  readonly content?: string | undefined;
}

/** The attachment's files; undefined if no plugin declares the capability and no device was allocated. */
export function deviceInfoFiles(need: DeviceInfoNeed): DeviceInfoFiles | undefined {
  const { capabilities, containerId, ifname, resourceName, deviceId, content } = need;
  const allocated = resourceName === undefined || deviceId === undefined ? undefined : devicePluginFile(resourceName, deviceId);
  if (allocated === undefined && content === undefined && !capabilities.includes(deviceInfoCapability)) return undefined;
  return { path: attachmentFile(containerId, ifname), allocated, ...(content === undefined ? {} : { content }) };
}

/** Replaces "/" of a resource by "-", as the specification says, so that the path cannot leave the directory. */
function flat(name: string): string {
  return name.replaceAll("/", "-");
}
