// The runtime's list of valid attachments in a GC request (CNI 1.1.0 section 2, `cni.dev/valid-attachments`).

import type { AttachmentId } from "./attachment.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { isJsonObject, type JsonObjectDocument, memberValue } from "../json/document.ts";

const key = "cni.dev/valid-attachments";

/**
 * The list of valid attachments. It is required: a missing list must not count as an empty one (L-43), because GC would then cut off
 * every pod of the node. `null` is an empty list: libcni writes a list of Go without an element so. Fault: CONFIG_INVALID.
 */
export function validAttachments(document: JsonObjectDocument): Result<readonly AttachmentId[]> {
  const written = [memberValue(document, key), memberValue(document, "cni.dev/attachments")].filter((each) => each !== undefined);
  const value = written.find((each) => each !== null) ?? (written.length > 0 ? [] : undefined);
  if (!Array.isArray(value)) return failed(fault("CONFIG_INVALID", `GC needs ${key}: a list of {containerID, ifname}`));
  const ids: AttachmentId[] = [];
  for (const [index, element] of value.entries()) {
    const id: unknown = element;
    const containerId = isJsonObject(id) ? id["containerID"] : undefined;
    const ifname = isJsonObject(id) ? id["ifname"] : undefined;
    if (typeof containerId !== "string" || typeof ifname !== "string" || containerId === "" || ifname === "") {
      return failed(fault("CONFIG_INVALID", `${key}[${index}] must have a containerID and an ifname, both non-empty strings`));
    }
    ids.push({ containerId, ifname });
  }
  return ok(ids);
}
