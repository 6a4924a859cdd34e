// The one-shot engine: the shim starts it for one call if no daemon answers. It exchanges frames with the shim over file descriptor 3,
// synchronously, and ends after the answer.

import { planFeatures, recordCall } from "../../../features/list.ts";
import { CallSession } from "../../engine/session/call-session.ts";
import type { Node } from "../../engine/node.ts";
import { systemClock } from "../../system/clock.ts";
import { openCluster } from "../../cluster/open-cluster.ts";
import { synchronousWriter } from "../../store/files/file-writer.ts";
import { ShimGone } from "../../protocol/shim.ts";
import { OneShotShim } from "../../protocol/one-shot-shim.ts";
import { OneShotStream, receiveCall } from "../../protocol/one-shot-stream.ts";
import { type LockAnswer, lockSync, type LockRequest } from "../../store/locks/file-lock.ts";

async function main(): Promise<void> {
  try {
    const stream = new OneShotStream();
    const request = receiveCall(stream);
    const shim: OneShotShim = new OneShotShim(stream, (nested) => call.serveNested(nested));
    // A call that waits for a lock does not read the stream, so the wait checks the connection: if the shim is gone, its container may
    // already be deleted, and the call must not continue.
    const takeLock = (wanted: LockRequest): LockAnswer => lockSync(wanted, () => shim.ensureConnected());
    const node: Node = {
      clock: systemClock,
      takeLock: () => async (wanted) => takeLock(wanted),
      writer: synchronousWriter,
      features: planFeatures,
      recordCall,
      // Leases and the sandbox are loaded with the first delegate, so that a call without delegates starts faster.
      openDelegates: async ({ wasm, log, configuration }) => {
        const { delegatesForOneCall } = await import("./delegates-for-one-call.ts");
        return delegatesForOneCall({ shim, takeLock, wasm, log, cniDir: configuration?.cniDir });
      },
      openCluster,
    };
    const call = new CallSession(node, shim);
    shim.reply(await call.serve(request));
    // The runtime has its answer: the shim does not wait for the engine's end.
    await call.end();
  } catch (error) {
    // Without a shim no answer is needed. The journal has what the next DEL needs.
    if (!(error instanceof ShimGone)) throw error;
  }
  // Exit at once: sandbox processes end when their pipes close.
  process.exit();
}

void main();
