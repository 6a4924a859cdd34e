// Faults with the codes that the CNI specification reserves (section 5, "Error"). A delegate's own codes are 100 and up.

import { Fault } from "./abi/types";

/** The error codes of CNI 1.1.0. */
export enum CniCode {
  IncompatibleVersion = 1,
  UnsupportedField = 2,
  UnknownContainer = 3,
  InvalidEnvironment = 4,
  IoFailure = 5,
  DecodingFailure = 6,
  InvalidConfig = 7,
  TryAgainLater = 11,
  /** STATUS: the plugin cannot serve ADD at present. */
  NotAvailable = 50,
  /** STATUS: like 50, and attached containers may have limited connectivity. */
  NotAvailableLimited = 51,
}

/** The configuration breaks a rule: `field` names the place, `why` the rule. */
export function invalidConfig(field: string, why: string): Fault {
  return new Fault(CniCode.InvalidConfig, `${field}: ${why}`);
}

/** The setting `field` needs an optional capability that is not granted. */
export function lacksCapability(field: string, capability: string): Fault {
  const remedy = "which is not granted to this plugin: grant it, or leave this setting out";
  return invalidConfig(field, `needs the capability ${capability}, ${remedy}`);
}

/** The configuration or a result cannot be decoded. */
export function notDecoded(what: string): Fault {
  return new Fault(CniCode.DecodingFailure, what);
}

/** A CNI_ variable is missing or malformed. */
export function invalidEnvironment(what: string): Fault {
  return new Fault(CniCode.InvalidEnvironment, what);
}

/** The runtime may repeat the call, which it does automatically. */
export function tryAgainLater(why: string): Fault {
  return new Fault(CniCode.TryAgainLater, why);
}

/** A fault of the delegate itself; `code` is 100 or more. */
export function ownFault(code: u32, msg: string): Fault {
  assert(code >= 100, "codes below 100 are the specification's");
  return new Fault(code, msg);
}

/** Adds details. Answers the fault. */
export function withDetails(fault: Fault, details: string): Fault {
  fault.details = details;
  return fault;
}
