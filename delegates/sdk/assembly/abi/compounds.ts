// Generated from WIT by delegates/sdk/generator. Do not edit: run `node scripts/build-delegates.ts --bindings`.

import { Fault as types_Fault } from "./types";
import { Reservation as leases_Reservation } from "./leases";
import { Dns as types_Dns } from "./types";
import { Link as links_Link } from "./links";
import { Route as types_Route } from "./types";
import { Neighbour as links_Neighbour } from "./links";
import { Success as types_Success } from "./types";
import { PortState as ovs_PortState } from "./ovs";

export class BoolOrFault {
  readonly isOk: bool;
  private _value: bool = false;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: bool): BoolOrFault {
    const made = new BoolOrFault(true);
    made._value = value;
    return made;
  }
  get value(): bool {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: types_Fault): BoolOrFault {
    const made = new BoolOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class OptionalReservationOrFault {
  readonly isOk: bool;
  private _value: leases_Reservation | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: leases_Reservation | null): OptionalReservationOrFault {
    const made = new OptionalReservationOrFault(true);
    made._value = value;
    return made;
  }
  get value(): leases_Reservation | null {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: types_Fault): OptionalReservationOrFault {
    const made = new OptionalReservationOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class TextListOrFault {
  readonly isOk: bool;
  private _value: Array<string> | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<string>): TextListOrFault {
    const made = new TextListOrFault(true);
    made._value = value;
    return made;
  }
  get value(): Array<string> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<string>;
  }

  static err(value: types_Fault): TextListOrFault {
    const made = new TextListOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class U32OrFault {
  readonly isOk: bool;
  private _value: u32 = 0;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: u32): U32OrFault {
    const made = new U32OrFault(true);
    made._value = value;
    return made;
  }
  get value(): u32 {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: types_Fault): U32OrFault {
    const made = new U32OrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class DnsOrFault {
  readonly isOk: bool;
  private _value: types_Dns | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: types_Dns): DnsOrFault {
    const made = new DnsOrFault(true);
    made._value = value;
    return made;
  }
  get value(): types_Dns {
    assert(this.isOk, "the result is an error");
    return this._value as types_Dns;
  }

  static err(value: types_Fault): DnsOrFault {
    const made = new DnsOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class LinkListOrFault {
  readonly isOk: bool;
  private _value: Array<links_Link> | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<links_Link>): LinkListOrFault {
    const made = new LinkListOrFault(true);
    made._value = value;
    return made;
  }
  get value(): Array<links_Link> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<links_Link>;
  }

  static err(value: types_Fault): LinkListOrFault {
    const made = new LinkListOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class RouteListOrFault {
  readonly isOk: bool;
  private _value: Array<types_Route> | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<types_Route>): RouteListOrFault {
    const made = new RouteListOrFault(true);
    made._value = value;
    return made;
  }
  get value(): Array<types_Route> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<types_Route>;
  }

  static err(value: types_Fault): RouteListOrFault {
    const made = new RouteListOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class OptionalTextOrFault {
  readonly isOk: bool;
  private _value: string | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: string | null): OptionalTextOrFault {
    const made = new OptionalTextOrFault(true);
    made._value = value;
    return made;
  }
  get value(): string | null {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: types_Fault): OptionalTextOrFault {
    const made = new OptionalTextOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class NeighbourListOrFault {
  readonly isOk: bool;
  private _value: Array<links_Neighbour> | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<links_Neighbour>): NeighbourListOrFault {
    const made = new NeighbourListOrFault(true);
    made._value = value;
    return made;
  }
  get value(): Array<links_Neighbour> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<links_Neighbour>;
  }

  static err(value: types_Fault): NeighbourListOrFault {
    const made = new NeighbourListOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class SuccessOrFault {
  readonly isOk: bool;
  private _value: types_Success | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: types_Success): SuccessOrFault {
    const made = new SuccessOrFault(true);
    made._value = value;
    return made;
  }
  get value(): types_Success {
    assert(this.isOk, "the result is an error");
    return this._value as types_Success;
  }

  static err(value: types_Fault): SuccessOrFault {
    const made = new SuccessOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class PortStateOrFault {
  readonly isOk: bool;
  private _value: ovs_PortState | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: ovs_PortState): PortStateOrFault {
    const made = new PortStateOrFault(true);
    made._value = value;
    return made;
  }
  get value(): ovs_PortState {
    assert(this.isOk, "the result is an error");
    return this._value as ovs_PortState;
  }

  static err(value: types_Fault): PortStateOrFault {
    const made = new PortStateOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class OptionalPortStateOrFault {
  readonly isOk: bool;
  private _value: ovs_PortState | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: ovs_PortState | null): OptionalPortStateOrFault {
    const made = new OptionalPortStateOrFault(true);
    made._value = value;
    return made;
  }
  get value(): ovs_PortState | null {
    assert(this.isOk, "the result is an error");
    return this._value;
  }

  static err(value: types_Fault): OptionalPortStateOrFault {
    const made = new OptionalPortStateOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}

export class PortStateListOrFault {
  readonly isOk: bool;
  private _value: Array<ovs_PortState> | null = null;
  private _error: types_Fault | null = null;

  private constructor(isOk: bool) {
    this.isOk = isOk;
  }

  static ok(value: Array<ovs_PortState>): PortStateListOrFault {
    const made = new PortStateListOrFault(true);
    made._value = value;
    return made;
  }
  get value(): Array<ovs_PortState> {
    assert(this.isOk, "the result is an error");
    return this._value as Array<ovs_PortState>;
  }

  static err(value: types_Fault): PortStateListOrFault {
    const made = new PortStateListOrFault(false);
    made._error = value;
    return made;
  }
  get error(): types_Fault {
    assert(!this.isOk, "the result is not an error");
    return this._error as types_Fault;
  }
}
