/** Holds what an option has when it is a number, a bool, an enum or itself an option: `null` says absent. */
export class Some<T> {
  constructor(public value: T) {}
}
