// What an ADD is going to do, decided before anything is done.

import type { Attachment } from "../../src/cni/attachment.ts";
import type { NetworkList } from "../../src/cni/network-list.ts";
import type { PluginResult } from "../../src/cni/result.ts";
import type { Result } from "../../src/fault/result.ts";
import type { DeviceInfo } from "../../src/npwg/device-info.ts";
import type { DeviceInfoFiles } from "../../src/npwg/device-info-files.ts";
import type { NetworkSelection } from "../../src/npwg/network-selection.ts";
import type { Verification } from "../../src/npwg/verification.ts";

/** One network for this pod. */
export interface AttachmentPlan {
  /** `default`, or `namespace/name` of the NetworkAttachmentDefinition. */
  readonly source: string;
  readonly list: NetworkList;
  /** What the status calls it; undefined: it is no entry of the status. */
  readonly statusName: string | undefined;
  /** What the chain's first plugin gets as its previous result. */
  readonly previous?: PluginResult | undefined;
  /** The list as one text with all its plugins, as it is journalled. */
  readonly conflist: string;
  readonly attachment: Attachment;
  /** What the pod asked for, and what of it is compared with the result; undefined for the default network. */
  readonly request: { readonly selection: NetworkSelection; readonly verification: Verification } | undefined;
  /** The device that the attachment uses, of the resource that its definition names. */
  readonly device?: { readonly resourceName: string; readonly deviceId: string } | undefined;
  /** Where its plugins and Plexus exchange what the device is; made before its chain runs. */
  readonly deviceInfo?: DeviceInfoFiles | undefined;
}

/** One attachment and what its chain answered. */
export interface Attached {
  readonly plan: AttachmentPlan;
  readonly result: PluginResult;
  readonly deviceInfo?: DeviceInfo | undefined;
}

export interface CallPlan {
  /** The default network first; never empty. */
  readonly attachments: readonly AttachmentPlan[];
  /** Makes the networks known on the pod; does nothing for a pod that no cluster knows. */
  readonly publish: (attached: readonly Attached[]) => Promise<Result<void>>;
}
