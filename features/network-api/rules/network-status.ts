// The status of a network in the CRI Network API, from the outcome of CNI's STATUS (CR-09).

/** Whether a network works. */
export interface NetworkStatus {
  /** Whether sandboxes can be created and deleted. */
  readonly sandboxManagement: boolean;
  /** Whether existing sandboxes have connectivity. */
  readonly connectivity: boolean;
  /** The reason if a value is false; otherwise empty. */
  readonly reason: string;
}

/** CNI's code for plugins that cannot serve an ADD while existing containers may have limited connectivity. */
const limitedConnectivity = 51;

/** The status of a network whose STATUS succeeded. */
export const healthy: NetworkStatus = { sandboxManagement: true, connectivity: true, reason: "" };

/** The status of a network whose STATUS failed with this code. A code other than 51 says nothing about existing sandboxes. */
export function failedStatus(code: number, reason: string): NetworkStatus {
  return { sandboxManagement: false, connectivity: code !== limitedConnectivity, reason };
}
