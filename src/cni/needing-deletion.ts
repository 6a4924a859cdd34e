// Code 3 of an error tells a runtime that the container needs no DEL (CNI 1.1.0 section 5, Error). A plugin knows its own attachment only: the
// container may still have attachments of other plugins.

import { catalogue } from "../fault/catalogue.ts";
import type { Fault } from "../fault/fault.ts";

const containerUnknown = 3;

/** The fault of a call that leaves attachments behind, with another code than a plugin's 3, so that the runtime sends its DEL. */
export function needingDeletion(reason: Fault): Fault {
  if (reason.code !== containerUnknown) return reason;
  const why = `The plugin's code is ${containerUnknown}, which would tell the runtime that the container needs no DEL; it needs one.`;
  const { details } = reason;
  return { ...reason, code: catalogue.PLUGIN_FAILED.cni, details: details === undefined ? why : `${why}\n${details}` };
}
