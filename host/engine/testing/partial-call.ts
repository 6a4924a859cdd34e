// For tests of one function: a call with the members that the function reads.

import type { CallContext } from "../call/call-context.ts";

/** A member may itself be a part of the whole, for example a shim that only executes plugins. */
type Parts = { readonly [K in keyof CallContext]?: unknown };

/** The call with these members. Reading any other member throws, and so fails the test. */
export function partialCall(members: Parts): CallContext {
  const call: object = new Proxy(members, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name);
      throw new Error(`the test's call has no member ${String(name)}`);
    },
  });
  return call as CallContext;
}
