// Changes the pod's routes after the plugin that made the interface. README.md has the configuration.

import { AttachmentRequest, GcRequest } from "plexus/abi/plugin";
import { Fault, StatusRequest } from "plexus/abi/types";
import { Settings } from "./settings";

export { add } from "./add";
export { check } from "./check";

/** The routes go with the interface. Like the reference plugin, DEL restores none. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

/** Ready if the configuration is valid. */
export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
