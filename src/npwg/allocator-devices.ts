// Devices of a pod that the kubelet's device manager did not allocate.

/** The devices of one allocator. Each device is given once. */
export interface AllocatorDevices {
  /** The allocator in the plural, for messages. */
  readonly allocators: string;
  /** Why allocated devices cannot be used for a network, for messages. */
  readonly notes: readonly string[];
  /** The next device of the resource; undefined if the pod has fewer devices than its networks need. */
  next(resourceName: string): string | undefined;
  /** Takes the device that a selection names. False if the allocator did not give it to the pod, or another network has it. */
  take(resourceName: string, deviceId: string): boolean;
}
