/** Wraps the value of an option of a number, a bool, an enum or another option: `null` means absent. */
export class Some<T> {
  constructor(public value: T) {}
}
