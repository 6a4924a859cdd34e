// What was tried, and what did not come out as a refusal that names what it refuses.

import { Fault } from "plexus/abi/types";

export class Tries {
  count: i32 = 0;
  private wrong: Array<string> = new Array<string>();
  /** Whether refusals are by name; a verb that may do nothing of the kind needs none. */
  private named: bool;

  constructor(named: bool) {
    this.named = named;
  }

  /** What was asked for must be refused in words that have `name` in them; the empty name is in all. */
  refused(what: string, name: string, fault: Fault | null): void {
    this.count++;
    if (fault === null) this.wrong.push(`${what}: was done`);
    else if (this.named && !fault.msg.includes(name)) this.wrong.push(`${what}: refused without naming ${name}: ${fault.msg}`);
  }

  get isRight(): bool {
    return this.wrong.length == 0;
  }

  toString(): string {
    return this.wrong.slice(0, 40).join("\n");
  }
}
