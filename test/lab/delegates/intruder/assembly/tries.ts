// Counts tries, and collects those that were not refused, or whose refusal does not name its target.

import { Fault } from "plexus/abi/types";

export class Tries {
  count: i32 = 0;
  private wrong: Array<string> = new Array<string>();
  /** Whether a refusal must name its target; verbs without any such effects refuse them without a name. */
  private named: bool;

  constructor(named: bool) {
    this.named = named;
  }

  /** Records a try, which must be refused with a message that contains `name`. Every message contains the empty name. */
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
