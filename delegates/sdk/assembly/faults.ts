// Faults with the codes that the CNI specification reserves (section 5, "Error"). A delegate's own are 100 and up.

import { Fault } from "./abi/types";

export enum CniCode {
  IncompatibleVersion = 1,
  UnsupportedField = 2,
  UnknownContainer = 3,
  InvalidEnvironment = 4,
  IoFailure = 5,
  DecodingFailure = 6,
  InvalidConfig = 7,
  TryAgainLater = 11,
  /** STATUS: the plugin can't serve ADD now. */
  NotAvailable = 50,
  /** STATUS: as 50, and containers that are attached may have limited connectivity. */
  NotAvailableLimited = 51,
}

/** The configuration breaks a rule: `field` names where, `why` says what. */
export function invalidConfig(field: string, why: string): Fault {
  return new Fault(CniCode.InvalidConfig, `${field}: ${why}`);
}

/** The configuration or a result can't be read. */
export function notDecoded(what: string): Fault {
  return new Fault(CniCode.DecodingFailure, what);
}

/** A CNI_ variable is missing or malformed. */
export function invalidEnvironment(what: string): Fault {
  return new Fault(CniCode.InvalidEnvironment, what);
}

/** The runtime may try again: it does so by itself. */
export function tryAgainLater(why: string): Fault {
  return new Fault(CniCode.TryAgainLater, why);
}

/** A fault of the delegate's own; `code` is 100 or more. */
export function ownFault(code: u32, msg: string): Fault {
  assert(code >= 100, "codes below 100 are the specification's");
  return new Fault(code, msg);
}

/** Adds the long story. Answers the fault. */
export function withDetails(fault: Fault, details: string): Fault {
  fault.details = details;
  return fault;
}
